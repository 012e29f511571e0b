// SPDX-License-Identifier: Apache-2.0
// gn_nic_lanes, or gn_nic_port as its one lane, at each width of its streams. Without any reset the
// first frame leaves whole. One that is offered within a reset waits for its end, and leaves whole.
// A frame that does not leave is told of behind the frames before it. It ends with PASS, or with
// what is wrong.
`timescale 1ns / 1ps

module port;
    parameter DATA_WIDTH = 64, LANES = 1;
    localparam KEEP = DATA_WIDTH / 8, LONG = 1514;

    reg                   clk = 1'b0, rst = 1'b0;
    reg  [DATA_WIDTH-1:0] data;
    reg  [KEEP-1:0]       keep;
    reg                   last, valid = 1'b0, to_wire = 1'b0, sink = 1'b0;
    reg  [3:0]            user;
    reg  [7:0]            side;
    wire                  host_ready, wire_ready;
    // what leaves: to the wire and to the host
    wire [DATA_WIDTH-1:0] wire_data, host_data;
    wire [KEEP-1:0]       wire_keep, host_keep;
    wire                  wire_last, wire_valid, host_last, host_valid, tx_drop, rx_drop;
    wire [7:0]            wire_side, host_side, tx_drop_side, rx_drop_side;

    always #2 clk = !clk;

    gn_nic_lanes #(.LANES(LANES), .DATA_WIDTH(DATA_WIDTH), .TX_SIDE_WIDTH(8), .RX_SIDE_WIDTH(8), .FLOWS_LOG2(0)) nic (
        .clk(clk), .rst(rst), .s_axis_host_tdata(data), .s_axis_host_tkeep(keep), .s_axis_host_tlast(last), .s_axis_host_tuser(user),
        .s_axis_host_side(side), .s_axis_host_tvalid(valid && to_wire), .s_axis_host_tready(host_ready),
        .m_axis_wire_tdata(wire_data), .m_axis_wire_tkeep(wire_keep), .m_axis_wire_tlast(wire_last), .m_axis_wire_side(wire_side),
        .m_axis_wire_tvalid(wire_valid), .m_axis_wire_tready(sink), .tx_drop_side(tx_drop_side), .tx_drop_valid(tx_drop), .tx_drop_ready(1'b1),
        .s_axis_wire_tdata(data), .s_axis_wire_tkeep(keep), .s_axis_wire_tlast(last), .s_axis_wire_tuser(user[3]), .s_axis_wire_side(side),
        .s_axis_wire_tvalid(valid && !to_wire), .s_axis_wire_tready(wire_ready), .m_axis_host_tdata(host_data), .m_axis_host_tkeep(host_keep),
        .m_axis_host_tlast(host_last), .m_axis_host_side(host_side), .m_axis_host_tvalid(host_valid), .m_axis_host_tready(sink),
        .rx_drop_side(rx_drop_side), .rx_drop_valid(rx_drop), .rx_drop_ready(1'b1),
        .s_axil_awvalid(1'b0), .s_axil_wvalid(1'b0), .s_axil_bready(1'b1), .s_axil_arvalid(1'b0), .s_axil_rready(1'b1));

    wire ready = to_wire ? host_ready : wire_ready;

    task wrong(input [8*40-1:0] what);
        begin
            $display("WRONG: %0s, %0d bits, %0d lanes, %0s, at %0t", what, DATA_WIDTH, LANES, to_wire ? "to the wire" : "to the host", $time);
            $finish;
        end
    endtask

    // Frames by number. Byte i is the number and i.
    function [7:0] byte_of(input [7:0] number, input integer i);
        byte_of = number * 8'd31 + i;
    endfunction

    task send(input integer bytes, input [7:0] number, input bad);
        integer at, i;
        begin
            for (at = 0; at < bytes; at = at + KEEP) begin
                valid = 1'b1;
                last  = at + KEEP >= bytes;
                user  = {bad, 3'b100};  // stored: no bytes of a flow are looked for
                side  = number;
                for (i = 0; i < KEEP; i = i + 1) begin
                    keep[i]        = at + i < bytes;
                    data[8*i +: 8] = byte_of(number, at + i);
                end
                @(negedge clk);
                while (!took) @(negedge clk);
            end
            valid = 1'b0;
        end
    endtask
    reg took;  // the beat of the last cycle
    always @(posedge clk) took <= valid && ready;

    // ---- what leaves

    integer     frames = 0, drops = 0, bytes = 0, b;
    wire        out_valid = to_wire ? wire_valid : host_valid, out_last = to_wire ? wire_last : host_last;
    wire        out_drop  = to_wire ? tx_drop : rx_drop;
    wire [7:0]  out_side  = to_wire ? wire_side : host_side, drop_side = to_wire ? tx_drop_side : rx_drop_side;
    wire [KEEP-1:0]       out_keep = to_wire ? wire_keep : host_keep;
    wire [DATA_WIDTH-1:0] out_data = to_wire ? wire_data : host_data;
    integer     length = 0;  // of the last frame that left

    always @(posedge clk) begin
        if (out_valid && sink) begin
            for (b = 0; b < KEEP; b = b + 1)
                if (out_keep[b]) begin
                    if (out_data[8*b +: 8] !== byte_of(out_side, bytes)) wrong("a byte that leaves");
                    bytes = bytes + 1;
                end
            if (out_last) begin
                if (out_side !== frames + drops) wrong("a frame that leaves");
                frames = frames + 1;
                length = bytes;
                bytes  = 0;
            end
        end
        if (out_drop) begin
            if (out_valid) wrong("a drop beside a frame");
            if (drop_side !== frames + drops) wrong("a drop out of its turn");
            drops = drops + 1;
        end
    end

    integer     way, waited;
    reg [1:0]   resets = 2'b00;  // the last two cycles had one
    always @(posedge clk) begin
        resets <= {resets[0], rst};
        if (resets[1] && resets[0] && (host_ready || wire_ready || wire_valid || host_valid || tx_drop || rx_drop))
            wrong("something moves within a reset");
    end

    initial begin
        // without any reset
        sink = 1'b1;
        repeat (40) @(negedge clk);
        for (way = 0; way < 2; way = way + 1) begin
            to_wire = way;
            frames  = 0;
            send(LONG, 0, 1'b0);
            for (waited = 0; !frames && waited < 3000; waited = waited + 1) @(negedge clk);
            if (frames != 1 || length != LONG) wrong("the first frame");
        end
        for (way = 0; way < 2; way = way + 1) begin
            to_wire = way;
            // a reset amid a frame: nothing is left of it
            rst = 1'b1;
            repeat (3) @(negedge clk);
            rst = 1'b0;
            repeat (40) @(negedge clk);
            valid = 1'b1;
            last  = 1'b0;
            keep  = {KEEP{1'b1}};
            repeat (5) @(negedge clk);
            rst = 1'b1;
            @(negedge clk);
            valid = 1'b0;
            frames = 0;
            drops  = 0;
            bytes  = 0;
            sink   = 1'b1;
            fork
                begin
                    repeat (20) @(negedge clk);
                    rst = 1'b0;
                end
                begin
                    repeat (2) @(negedge clk);
                    send(LONG, 0, 1'b0);
                end
            join
            for (waited = 0; !frames && waited < 3000; waited = waited + 1) @(negedge clk);
            if (frames != 1 || length != LONG) wrong("the frame of the reset");
            // two frames and two bad ones, while nothing can leave
            sink = 1'b0;
            send(60, 1, 1'b0);
            send(KEEP * 3 + 7, 2, 1'b0);
            send(60, 3, 1'b1);
            send(60, 4, 1'b1);
            repeat (600) @(negedge clk);
            if (drops) wrong("a drop ahead of frames");
            sink = 1'b1;
            send(60, 5, 1'b0);
            for (waited = 0; frames != 4 && waited < 3000; waited = waited + 1) @(negedge clk);
            if (frames != 4 || drops != 2) wrong("frames that are left");
        end
        $display("PASS");
        $finish;
    end
endmodule
