// SPDX-License-Identifier: Apache-2.0
// Short scenes at the main interfaces, for waves.py: what each signal is in each cycle, as a line
// "SCENE name=value ...". A stream's data are not told, but which frame and beat they are of.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module waves;

    reg clk = 1'b0, rst = 1'b1;
    always #5 clk = !clk;

    // ---- gn_nic_port: frame A passes, B is bad and is dropped; the receiver pauses for two cycles

    reg  [255:0] h_data = 256'd0;
    reg  [31:0]  h_keep = 32'd0;
    reg          h_last = 1'b0, h_valid = 1'b0, w_ready = 1'b1;
    reg  [3:0]   h_user = 4'd0;
    reg  [7:0]   h_side = 8'd0;
    wire         h_ready, w_last, w_valid, d_valid;
    wire [31:0]  w_keep;
    wire [7:0]   w_side, d_side;
    wire [16:0]  w_length;

    reg  [11:0]  awaddr = 12'd0, araddr = 12'd0;
    reg  [31:0]  wdata = 32'd0;
    reg          awvalid = 1'b0, wvalid = 1'b0, bready = 1'b0, arvalid = 1'b0, rready = 1'b0;
    wire         awready, wready, bvalid, arready, rvalid;
    wire [31:0]  rdata;
    wire [1:0]   bresp, rresp;

    gn_nic_port #(.TX_SIDE_WIDTH(8)) nic (
        .clk(clk), .rst(rst), .s_axis_host_tdata(h_data), .s_axis_host_tkeep(h_keep), .s_axis_host_tlast(h_last), .s_axis_host_tuser(h_user),
        .s_axis_host_side(h_side), .s_axis_host_tvalid(h_valid), .s_axis_host_tready(h_ready),
        .m_axis_wire_tdata(), .m_axis_wire_tkeep(w_keep), .m_axis_wire_tlast(w_last), .m_axis_wire_side(w_side), .m_axis_wire_length(w_length),
        .m_axis_wire_tvalid(w_valid), .m_axis_wire_tready(w_ready), .tx_drop_side(d_side), .tx_drop_valid(d_valid), .tx_drop_ready(1'b1),
        .s_axis_wire_tdata(256'd0), .s_axis_wire_tkeep(32'd0), .s_axis_wire_tlast(1'b0), .s_axis_wire_tuser(1'b0), .s_axis_wire_side(1'b0),
        .s_axis_wire_tvalid(1'b0), .s_axis_wire_tready(),
        .m_axis_host_tdata(), .m_axis_host_tkeep(), .m_axis_host_tlast(), .m_axis_host_side(), .m_axis_host_length(), .m_axis_host_tvalid(),
        .m_axis_host_tready(1'b1), .rx_drop_side(), .rx_drop_valid(), .rx_drop_ready(1'b1),
        .s_axil_awaddr(awaddr), .s_axil_awvalid(awvalid), .s_axil_awready(awready), .s_axil_wdata(wdata), .s_axil_wstrb(4'hf),
        .s_axil_wvalid(wvalid), .s_axil_wready(wready), .s_axil_bresp(bresp), .s_axil_bvalid(bvalid), .s_axil_bready(bready),
        .s_axil_araddr(araddr), .s_axil_arvalid(arvalid), .s_axil_arready(arready), .s_axil_rdata(rdata), .s_axil_rresp(rresp),
        .s_axil_rvalid(rvalid), .s_axil_rready(rready));

    // ---- the engines: two frames to the compressor; what it makes, stored, to the decompressor

    reg  [255:0] v_data = 256'd0;
    reg  [31:0]  v_keep = 32'd0;
    reg          v_last = 1'b0, v_valid = 1'b0;
    reg  [9:0]   v_user = 10'd0;
    wire         v_ready, c_last, c_valid;
    wire [255:0] c_data;
    wire [31:0]  c_keep;
    wire [23:0]  c_count;

    gn_stream_compress compress (
        .clk(clk), .rst(rst), .s_axis_tdata(v_data), .s_axis_tkeep(v_keep), .s_axis_tlast(v_last), .s_axis_tuser(v_user), .s_axis_tvalid(v_valid),
        .s_axis_tready(v_ready), .m_axis_tdata(c_data), .m_axis_tkeep(c_keep), .m_axis_tlast(c_last), .m_axis_tuser(c_count),
        .m_axis_tvalid(c_valid), .m_axis_tready(1'b1));

    reg  [255:0] s_data = 256'd0;
    reg  [31:0]  s_keep = 32'd0;
    reg          s_last = 1'b0, s_valid = 1'b0;
    reg  [33:0]  s_user = 34'd0;
    wire         s_ready, r_last, r_bad, r_valid;
    wire [31:0]  r_keep;

    gn_stream_decompress decompress (
        .clk(clk), .rst(rst), .s_axis_tdata(s_data), .s_axis_tkeep(s_keep), .s_axis_tlast(s_last), .s_axis_tuser(s_user), .s_axis_tvalid(s_valid),
        .s_axis_tready(s_ready), .m_axis_tdata(), .m_axis_tkeep(r_keep), .m_axis_tlast(r_last), .m_axis_tuser(r_bad),
        .m_axis_tvalid(r_valid), .m_axis_tready(1'b1));

    // ---- what is told

    reg [8*12-1:0] scene = "";
    always @(posedge clk) case (scene)
        "nic": $display("nic s_tvalid=%b s_tready=%b s_tlast=%b s_tkeep=%h s_tuser=%h s_side=%h m_tvalid=%b m_tready=%b m_tlast=%b m_tkeep=%h m_side=%h m_length=%0d d_valid=%b d_side=%h",
            h_valid, h_ready, h_last, h_keep, h_user, h_side, w_valid, w_ready, w_last, w_keep, w_side, w_length, d_valid, d_side);
        "registers": $display("registers awaddr=%h awvalid=%b awready=%b wdata=%h wvalid=%b wready=%b bresp=%h bvalid=%b bready=%b araddr=%h arvalid=%b arready=%b rdata=%h rresp=%h rvalid=%b rready=%b",
            awaddr, awvalid, awready, wdata, wvalid, wready, bresp, bvalid, bready, araddr, arvalid, arready, rdata, rresp, rvalid, rready);
        "compress": $display("compress s_tvalid=%b s_tready=%b s_tlast=%b s_tkeep=%h s_tuser=%h m_tvalid=%b m_tready=1 m_tlast=%b m_tkeep=%h m_tuser=%0d",
            v_valid, v_ready, v_last, v_keep, v_user, c_valid, c_last, c_keep, c_count);
        "decompress": $display("decompress s_tvalid=%b s_tready=%b s_tlast=%b s_tkeep=%h s_tuser=%h m_tvalid=%b m_tready=1 m_tlast=%b m_tkeep=%h m_tuser=%b",
            s_valid, s_ready, s_last, s_keep, s_user, r_valid, r_last, r_keep, r_bad);
    endcase

    // ---- the scenes. A frame for the host's side: a type that is not IP's, so it passes

    task host_beat;
        input [31:0] keep;
        input        last;
        input [3:0]  user;
        input [7:0]  side;
        begin
            h_data  <= {32{8'h55}};
            h_keep  <= keep;
            h_last  <= last;
            h_user  <= user;
            h_side  <= side;
            h_valid <= 1'b1;
            @(posedge clk);
            while (!h_ready) @(posedge clk);
        end
    endtask

    task values_beat;  // 1.0 in lane 0, 0 in the others
        input [31:0] keep;
        input        last;
        input [9:0]  user;
        begin
            v_data  <= {224'd0, 32'h3f800000};
            v_keep  <= keep;
            v_last  <= last;
            v_user  <= user;
            v_valid <= 1'b1;
            @(posedge clk);
            while (!v_ready) @(posedge clk);
        end
    endtask

    reg [255:0] stored;
    reg [31:0]  stored_keep;
    always @(posedge clk) if (c_valid) begin
        stored      <= c_data;
        stored_keep <= c_keep;
    end

    initial begin
        repeat (4) @(posedge clk);
        rst <= 1'b0;
        repeat (60) @(posedge clk);

        scene <= "nic";
        @(posedge clk);
        host_beat(32'hffffffff, 1'b0, 4'h0, 8'h00);
        host_beat(32'hffffffff, 1'b0, 4'h0, 8'h00);
        host_beat(32'h0000003f, 1'b1, 4'h0, 8'ha1);
        host_beat(32'hffffffff, 1'b0, 4'h0, 8'h00);
        host_beat(32'h000000ff, 1'b1, 4'h8, 8'hb2);
        h_valid <= 1'b0;
        @(posedge clk);
        while (!w_valid) @(posedge clk);
        w_ready <= 1'b0;
        repeat (2) @(posedge clk);
        w_ready <= 1'b1;
        while (!d_valid) @(posedge clk);
        repeat (2) @(posedge clk);

        scene <= "registers";
        @(posedge clk);
        awaddr <= 12'h018; awvalid <= 1'b1; wdata <= 32'd9008; wvalid <= 1'b1; bready <= 1'b1;
        @(posedge clk);
        while (!awready || !wready) @(posedge clk);
        awvalid <= 1'b0; wvalid <= 1'b0;
        while (!bvalid) @(posedge clk);
        araddr <= 12'h018; arvalid <= 1'b1; rready <= 1'b1;
        @(posedge clk);
        while (!arready) @(posedge clk);
        arvalid <= 1'b0;
        while (!rvalid) @(posedge clk);
        @(posedge clk);

        scene <= "compress";
        @(posedge clk);
        values_beat(32'hffffffff, 1'b0, {8'd10, 2'd1});
        values_beat(32'h00000fff, 1'b1, 10'd0);
        v_valid <= 1'b0;
        while (!(c_valid && c_last)) @(posedge clk);
        @(posedge clk);

        scene <= "decompress";
        @(posedge clk);
        s_data <= stored; s_keep <= stored_keep; s_last <= 1'b1; s_valid <= 1'b1; s_user <= {24'd11, 8'd10, 2'd1};
        @(posedge clk);
        while (!s_ready) @(posedge clk);
        s_valid <= 1'b0;
        while (!(r_valid && r_last)) @(posedge clk);
        @(posedge clk);
        $finish;
    end

    initial begin
        #100000 $display("waves: the scenes do not end");
        $finish;
    end

endmodule

`resetall
