// SPDX-License-Identifier: Apache-2.0
// Both engines, with inputs that have an initial value and never change, but for tvalid. As
// SystemVerilog, initial values are there before any process begins. So an always @* that reads
// inputs alone never runs. Frames of one beat of zeros, profiles paper and lattice.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module still;
    localparam FRAMES = 20;

    reg clk = 1'b0, rst = 1'b1;
    always #5 clk = !clk;

    reg         last = 1'b1, valid = 1'b0, ready = 1'b1;
    reg [255:0] data = 256'd0;
    reg [31:0]  keep = 32'hffffffff;
    reg [7:0]   bound_exp = 8'd10;
    reg [1:0]   profile = PROFILE;
    reg [23:0]  count = 24'd128;  // of records of two bytes of tags

    parameter PROFILE = 0;

    wire         c_ready, c_last, c_valid, d_ready, d_last, d_bad, d_valid;
    wire [255:0] c_data, d_data;
    wire [31:0]  c_keep, d_keep;
    wire [23:0]  c_count;

    gn_stream_compress compress (
        .clk(clk), .rst(rst), .s_axis_tdata(data), .s_axis_tkeep(keep), .s_axis_tlast(last),
        .s_axis_tuser({bound_exp, profile}), .s_axis_tvalid(valid), .s_axis_tready(c_ready),
        .m_axis_tdata(c_data), .m_axis_tkeep(c_keep), .m_axis_tlast(c_last),
        .m_axis_tuser(c_count), .m_axis_tvalid(c_valid), .m_axis_tready(ready));
    gn_stream_decompress decompress (
        .clk(clk), .rst(rst), .s_axis_tdata(data), .s_axis_tkeep(keep), .s_axis_tlast(last),
        .s_axis_tuser({count, bound_exp, profile}), .s_axis_tvalid(valid), .s_axis_tready(d_ready),
        .m_axis_tdata(d_data), .m_axis_tkeep(d_keep), .m_axis_tlast(d_last),
        .m_axis_tuser(d_bad), .m_axis_tvalid(d_valid), .m_axis_tready(ready));

    task stop(input [8*40:1] what);
        begin
            $display("FAILED: %0s, at %0d ns", what, $time);
            $finish;
        end
    endtask

    integer streams = 0, values = 0;
    initial begin
        repeat (4) @(negedge clk);
        rst = 1'b0;
        repeat (4) @(negedge clk);
        valid = 1'b1;
        repeat (FRAMES) @(negedge clk) while (!(c_ready && d_ready)) @(negedge clk);
        valid = 1'b0;
        repeat (2000) @(negedge clk);
        if (streams < FRAMES || values < FRAMES) stop("not all comes");
        $display("still: %0d streams, %0d beats of values are right", streams, values);
        $finish;
    end
    always @(posedge clk) if (!rst) begin
        if (^{c_ready, c_valid, d_ready, d_valid} === 1'bx) stop("ready or valid is undefined");
        if (c_valid) begin
            if ({c_last, c_keep, c_data[15:0], c_count} !== {1'b1, 32'd3, 16'd0, 24'd8})
                stop("compress: not two bytes of tags");
            streams <= streams + 1;
        end
        if (d_valid) begin
            if ({d_bad && d_last, d_keep, d_data} !== {1'b0, 32'hffffffff, 256'd0}) stop("decompress: not zeros");
            values <= values + 1;
        end
    end
endmodule

`resetall
