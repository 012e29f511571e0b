// SPDX-License-Identifier: Apache-2.0
// Both engines in another simulator (Icarus Verilog): values to streams to values, gaps and
// back-pressure between, beside what the C model made of them.
`timescale 1ns / 1ps
`default_nettype none

module engines;
    localparam BEATS = 32768;  // lines of a file at most

    reg clk = 1'b0, rst = 1'b1;
    always #5 clk = !clk;

    reg [327:0] values [0:BEATS-1], streams [0:BEATS-1], back [0:BEATS-1];
    reg [8*1024:1] directory;
    integer     seed = 1, cycles = 0;

    // ---- values in

    integer      v_at = 0;
    reg          v_valid = 1'b0;
    wire         v_ready;
    wire [327:0] v = values[v_at];

    // ---- streams between: looked at, then sent on, with what the decompressor is to know of a
    // frame

    wire [255:0] s_data, d_data;
    wire [31:0]  s_keep, d_keep;
    wire [23:0]  s_count;
    wire         s_last, s_valid, d_last, d_bad, d_valid, t_ready;
    reg          s_open = 1'b0, d_ready = 1'b0;
    integer      s_at = 0, d_at = 0;
    wire [327:0] s = streams[s_at], d = back[d_at];

    gn_stream_compress compress (
        .clk(clk), .rst(rst), .s_axis_tdata(v[255:0]), .s_axis_tkeep(v[287:256]), .s_axis_tlast(v[324]), .s_axis_tuser(v[297:288]),
        .s_axis_tvalid(v_valid), .s_axis_tready(v_ready), .m_axis_tdata(s_data), .m_axis_tkeep(s_keep), .m_axis_tlast(s_last),
        .m_axis_tuser(s_count), .m_axis_tvalid(s_valid), .m_axis_tready(t_ready && s_open));
    gn_stream_decompress decompress (
        .clk(clk), .rst(rst), .s_axis_tdata(s_data), .s_axis_tkeep(s_keep), .s_axis_tlast(s_last), .s_axis_tuser(s[321:288]),
        .s_axis_tvalid(s_valid && s_open), .s_axis_tready(t_ready), .m_axis_tdata(d_data), .m_axis_tkeep(d_keep), .m_axis_tlast(d_last),
        .m_axis_tuser(d_bad), .m_axis_tvalid(d_valid), .m_axis_tready(d_ready));

    function [255:0] kept(input [255:0] data, input [31:0] keep);
        integer i;
        for (i = 0; i < 32; i = i + 1) kept[8*i +: 8] = keep[i] ? data[8*i +: 8] : 8'd0;
    endfunction

    task stop(input [8*40:1] what, input integer line);
        begin
            $display("FAILED: %0s, beat %0d of %0s", what, line, directory);
            $finish;
        end
    endtask

    initial begin
        if (!$value$plusargs("vectors=%s", directory)) stop("no +vectors=DIRECTORY", 0);
        $readmemh({directory, "/values.hex"}, values);
        $readmemh({directory, "/streams.hex"}, streams);
        $readmemh({directory, "/back.hex"}, back);
        repeat (4) @(negedge clk);
        rst = 1'b0;
    end

    // All is set when the clock falls; who takes what is known before it rises.
    always @(negedge clk) if (!rst) begin
        v_valid = ^v !== 1'bx && (v_valid || $random(seed) % 4 != 0);
        s_open  = s_open || $random(seed) % 4 != 0;
        d_ready = cycles % 2048 < 1024 || $random(seed) % 4 == 0;
    end
    always @(posedge clk) if (!rst) begin
        if (v_valid && v_ready) begin
            v_at    <= v_at + 1;
            v_valid <= 1'b0;
        end
        if (s_valid && t_ready && s_open) begin
            if ({s_last, s_keep, kept(s_data, s_keep)} !== {s[324], s[287:0]}) stop("compress: not the model's stream", s_at);
            if (s_count !== (s_last ? s[321:298] : 24'd0)) stop("compress: not its number of values", s_at);
            s_at   <= s_at + 1;
            s_open <= 1'b0;
        end
        if (d_valid && d_ready) begin
            if ({d_last, d_keep, kept(d_data, d_keep)} !== {d[324], d[287:0]}) stop("decompress: not the model's values", d_at);
            if (d_last && d_bad !== 1'b0) stop("decompress: a good stream refused", d_at);
            d_at <= d_at + 1;
        end
        if ((^{v_ready, s_valid, t_ready, d_valid}) === 1'bx) stop("ready or valid is undefined, cycle", cycles);
        cycles <= cycles + 1;
        if (cycles == 60000) stop("the rest does not come", d_at);
        if (d_at != 0 && ^back[d_at] === 1'bx) begin
            if (^streams[s_at] !== 1'bx || ^values[v_at] !== 1'bx) stop("more values than were sent", d_at);
            $display("%0d beats of values and %0d of streams as the model says, %0d cycles", d_at, s_at, cycles);
            $finish;
        end
    end
endmodule

`resetall
