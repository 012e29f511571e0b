// SPDX-License-Identifier: Apache-2.0
// gn_nic_top in four states, its wire looped back. All that AXI4-Stream leaves open is X: an idle
// stream, bytes that tkeep leaves out, tuser ahead of the last beat. All registers without an
// initial value are X too. Nothing that leaves may be X, each frame comes back as it went in, and
// counters can be read. +first=N: the kind of frame that finds all registers as after power-up.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_x;
    parameter  FLOWS = 0;  // as gn_nic_top's FLOWS_LOG2
    localparam KINDS = 8, MOST = 2048;

    reg clk = 1'b0, rst = 1'b1;
    always #5 clk = !clk;

    // ---- the device, with every byte X that does not count

    reg  [255:0] h_data = {256{1'bx}};
    reg  [31:0]  h_keep = {32{1'bx}};
    reg          h_last = 1'bx, h_valid = 1'b0;
    reg  [3:0]   h_user = 4'bx;
    wire         h_ready, w_valid, w_ready, w_last, m_valid, m_last;
    wire [255:0] w_data, m_data;
    wire [31:0]  w_keep, m_keep;
    reg  [255:0] l_data;  // on the wire
    integer      i;
    always @* for (i = 0; i < 32; i = i + 1) l_data[8*i +: 8] = w_valid && w_keep[i] ? w_data[8*i +: 8] : 8'bx;

    reg  [11:0] address = 12'bx;
    reg         ar_valid = 1'b0;
    wire        ar_ready, r_valid;
    wire [31:0] r_data;

    gn_nic_top #(.FLOWS_LOG2(FLOWS)) nic (
        .clk(clk), .rst(rst), .s_axis_host_tdata(h_data), .s_axis_host_tkeep(h_keep), .s_axis_host_tlast(h_last), .s_axis_host_tuser(h_user),
        .s_axis_host_side(h_valid && h_last ? 1'b0 : 1'bx), .s_axis_host_tvalid(h_valid), .s_axis_host_tready(h_ready),
        .m_axis_wire_tdata(w_data), .m_axis_wire_tkeep(w_keep), .m_axis_wire_tlast(w_last), .m_axis_wire_tvalid(w_valid), .m_axis_wire_tready(w_ready),
        .s_axis_wire_tdata(l_data), .s_axis_wire_tkeep(w_valid ? w_keep : 32'bx), .s_axis_wire_tlast(w_valid ? w_last : 1'bx),
        .m_axis_wire_side(), .m_axis_wire_length(), .tx_drop_side(), .tx_drop_valid(), .tx_drop_ready(1'b1),
        .s_axis_wire_tuser(w_valid && w_last ? 1'b0 : 1'bx), .s_axis_wire_side(w_valid && w_last ? 1'b1 : 1'bx), .s_axis_wire_tvalid(w_valid), .s_axis_wire_tready(w_ready),
        .m_axis_host_tdata(m_data), .m_axis_host_tkeep(m_keep), .m_axis_host_tlast(m_last), .m_axis_host_tvalid(m_valid), .m_axis_host_tready(1'b1),
        .m_axis_host_side(), .m_axis_host_length(), .rx_drop_side(), .rx_drop_valid(), .rx_drop_ready(1'b1),
        .s_axil_awaddr(12'bx), .s_axil_awvalid(1'b0), .s_axil_wdata(32'bx), .s_axil_wstrb(4'bx), .s_axil_wvalid(1'b0), .s_axil_bready(1'b1),
        .s_axil_araddr(address), .s_axil_arvalid(ar_valid), .s_axil_arready(ar_ready), .s_axil_rdata(r_data), .s_axil_rvalid(r_valid), .s_axil_rready(1'b1),
        .s_axil_awready(), .s_axil_wready(), .s_axil_bresp(), .s_axil_bvalid(), .s_axil_rresp());

    task fail;
        input [8*40-1:0] what;
        begin
            $display("nic_x: %0s, at %0d ns, after %0d frames", what, $time, sent);
            $finish;
        end
    endtask

    // ---- nothing that counts is X

    integer n;
    always @(posedge clk) if (!rst) begin
        if (^{h_ready, w_valid, w_ready, m_valid, ar_ready, r_valid} === 1'bx) fail("a handshake is X");
        if (w_valid && ^{w_last, w_keep} === 1'bx) fail("to the wire, last or keep is X");
        if (m_valid && ^{m_last, m_keep} === 1'bx) fail("to the host, last or keep is X");
        for (n = 0; n < 32; n = n + 1) begin
            if (w_valid && w_keep[n] && ^w_data[8*n +: 8] === 1'bx) fail("to the wire, a byte is X");
            if (m_valid && m_keep[n] && ^m_data[8*n +: 8] === 1'bx) fail("to the host, a byte is X");
        end
        if (r_valid && ^r_data === 1'bx) fail("a register reads X");
    end

    // ---- frames: an Ethernet header, and what is said of it

    reg [7:0] frame [0:MOST-1], got [0:MOST-1];
    integer   length, taken = 0, came = 0, sent = 0, kept, k, sum;

    task put16;
        input integer at, value;
        begin
            frame[at]     = value >> 8;
            frame[at + 1] = value;
        end
    endtask

    // kind 0 ARP, 1 EtherType of IPv4 and no more, 2 IPv4 and UDP, 3 IPv4 and TCP without a byte of
    // TCP, 4 IPv6 and TCP without a byte of TCP, 5 UDP of zeros under the default rule, 6 the same
    // behind a tag with values so large that the codec keeps them, 7 IPv4 with options, cut
    task make;
        input integer kind, bytes;
        integer at;
        begin
            length = bytes;
            for (k = 0; k < length; k = k + 1) frame[k] = kind == 6 ? k * 157 | 8'h60 : 8'd0;
            for (k = 0; k < 12; k = k + 1) frame[k] = k + 2;
            at = 14;
            if (kind == 6) begin
                put16(12, 16'h8100);
                put16(14, 5);
                at = 18;
            end
            put16(at - 2, kind == 0 ? 16'h0806 : kind == 4 ? 16'h86dd : 16'h0800);
            if (kind == 4) begin
                frame[at] = 8'h60;
                put16(at + 4, 0);
                frame[at + 6] = 8'd6;
            end else if (kind >= 2) begin
                put16(at, kind == 7 ? 16'h4f00 : kind == 5 || kind == 6 ? 16'h4528 : 16'h4500);
                put16(at + 2, kind == 3 ? 20 : length - at);
                put16(at + 4, 1);
                put16(at + 6, 16'h4000);
                put16(at + 8, kind == 3 ? 16'h4006 : 16'h4011);
                put16(at + 10, 0);
                put16(at + 24, length - at - 20);  // of UDP
                put16(at + 26, 0);
                sum = 17 + length - at - 20;
                for (k = at + 12; k < length; k = k + 2) sum = sum + {frame[k], k + 1 < length ? frame[k + 1] : 8'd0};
                while (sum > 16'hffff) sum = sum[15:0] + (sum >> 16);
                if (kind == 5 || kind == 6) put16(at + 26, sum == 16'hffff ? 16'hffff : ~sum);
            end
        end
    endtask

    task send;
        integer left;
        begin
            for (k = 0; k < length; k = k + 32) begin
                left   = length - k;
                h_data = {256{1'bx}};
                h_keep = 32'd0;
                for (kept = 0; kept < 32 && kept < left; kept = kept + 1) begin
                    h_data[8*kept +: 8] = frame[k + kept];
                    h_keep[kept] = 1'b1;
                end
                h_last  = left <= 32;
                h_user  = h_last ? 4'd0 : 4'bx;
                h_valid = 1'b1;
                @(posedge clk);
                while (h_ready !== 1'b1) @(posedge clk);
                #1 h_valid = 1'b0;
            end
            h_data = {256{1'bx}};
            h_keep = 32'bx;
            h_last = 1'bx;
            h_user = 4'bx;
            sent = sent + 1;
        end
    endtask

    // The frame comes back as it is.
    task there_and_back;
        input integer kind, bytes;
        integer       before, patience;
        begin
            make(kind, bytes);
            before = came;
            send;
            for (patience = 0; came == before && patience < 2000; patience = patience + 1) @(posedge clk);
            #1;
            if (came == before) fail("a frame does not come back");
            if (taken != length) fail("a frame comes back with another length");
            for (k = 0; k < length; k = k + 1) if (got[k] !== frame[k]) fail("a frame comes back changed");
        end
    endtask

    integer filled = 0, j;
    always @(posedge clk) if (!rst && m_valid) begin
        for (j = 0; j < 32; j = j + 1)
            if (m_keep[j] === 1'b1 && filled + j < MOST) got[filled + j] = m_data[8*j +: 8];
        for (j = 0; j < 32; j = j + 1) if (m_keep[j] === 1'b1) filled = filled + 1;
        if (m_last) begin
            taken  = filled;
            filled = 0;
            came   = came + 1;
        end
    end

    task expect_counter;
        input [11:0]  from;
        input integer value;
        begin
            address  = from;
            ar_valid = 1'b1;
            @(posedge clk);
            while (ar_ready !== 1'b1) @(posedge clk);
            #1 ar_valid = 1'b0;
            address = 12'bx;
            while (r_valid !== 1'b1) @(posedge clk);
            if (r_data !== value) fail("a register has another value");
            #1;
        end
    endtask

    integer first, kind, bytes;
    initial begin
        if (!$value$plusargs("first=%d", first)) first = 0;
        repeat (4) @(posedge clk);
        #1 rst = 1'b0;
        repeat (4) @(posedge clk);
        #1;
        // each kind as short as can be, and longer; the first kind before all others
        for (kind = first; kind < first + KINDS; kind = kind + 1)
            for (bytes = 0; bytes < 64; bytes = 4 * bytes + 3)
                case (kind % KINDS)
                0: there_and_back(0, 1 + bytes);
                1: there_and_back(1, 14 + bytes);
                2: there_and_back(2, 42 + bytes);
                3: there_and_back(3, 34 + bytes);
                4: there_and_back(4, 54 + bytes);
                5: there_and_back(5, 43 + 5 * bytes);
                6: there_and_back(6, 47 + 5 * bytes);
                default: there_and_back(7, 34 + bytes);
                endcase
        expect_counter(12'h000, 32'h474e4943);
        expect_counter(12'h400, 0);  // without a snapshot
        $display("nic_x: %0d frames come back as they went in, and nothing is X", came);
        $finish;
    end

    initial begin
        #10000000 fail("no end");
    end
endmodule

`resetall
