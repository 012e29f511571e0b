// SPDX-License-Identifier: Apache-2.0
// Several NICs that work as one, for links that one is too slow for: 512 bits at 250 MHz, with two
// or four of 256 bits. Frames are dealt to them and collected in their order. Registers are as of
// one NIC, and so are all ports (gn_nic_port). With one lane it is a gn_nic_port.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_nic_lanes #(
    parameter LANES         = 2,    // 1, 2 or 4
    parameter DATA_WIDTH    = 512,  // one lane: 64 to 512; else 512
    parameter TX_SIDE_WIDTH = 1,
    parameter RX_SIDE_WIDTH = 1,
    parameter PROFILES      = 7,    // these four as gn_nic_top says
    parameter RULES         = 4,
    parameter BUFFER_LOG2   = 10,   // beside the stores of gn_nic_top each lane has four FIFOs of as
                                    // many bytes
    parameter FLOWS_LOG2    = 11,   // as gn_nic_top says, a table in each lane. Then all segments of a
                                    // TCP flow go to one lane, so that its table has seen the SYN
    parameter [31:0] FLOWS_SEED = 32'h6e6f7661,
    parameter MAX_RESTORED  = 9000, // as gn_nic_top says
    parameter FRAME_MAX     = 1522
) (
    input  wire                     clk,
    input  wire                     rst,                 // synchronous, active high

    // From the host: Ethernet frames without check sequence, with complete checksums.
    input  wire [DATA_WIDTH-1:0]    s_axis_host_tdata,
    input  wire [DATA_WIDTH/8-1:0]  s_axis_host_tkeep,   // all ones except in the last beat
    input  wire                     s_axis_host_tlast,
    input  wire [3:0]               s_axis_host_tuser,   // in the last beat: {bad, stored,
                                                         // head[1:0]}, as gn_nic_tx says
    input  wire [TX_SIDE_WIDTH-1:0] s_axis_host_side,    // in the last beat
    input  wire                     s_axis_host_tvalid,
    output wire                     s_axis_host_tready,
    // to the wire
    output wire [DATA_WIDTH-1:0]    m_axis_wire_tdata,
    output wire [DATA_WIDTH/8-1:0]  m_axis_wire_tkeep,
    output wire                     m_axis_wire_tlast,
    output wire [TX_SIDE_WIDTH-1:0] m_axis_wire_side,    // in all beats
    output wire [16:0]              m_axis_wire_length,  // in all beats: bytes of the frame
    output wire                     m_axis_wire_tvalid,
    input  wire                     m_axis_wire_tready,
    // Each frame from the host that does not leave, in its turn. Nothing leaves until it is taken
    output wire [TX_SIDE_WIDTH-1:0] tx_drop_side,
    output wire                     tx_drop_valid,
    input  wire                     tx_drop_ready,

    // from the wire
    input  wire [DATA_WIDTH-1:0]    s_axis_wire_tdata,
    input  wire [DATA_WIDTH/8-1:0]  s_axis_wire_tkeep,
    input  wire                     s_axis_wire_tlast,
    input  wire                     s_axis_wire_tuser,   // in the last beat: bad, to be dropped
    input  wire [RX_SIDE_WIDTH-1:0] s_axis_wire_side,    // in the last beat
    input  wire                     s_axis_wire_tvalid,
    output wire                     s_axis_wire_tready,
    // to the host
    output wire [DATA_WIDTH-1:0]    m_axis_host_tdata,
    output wire [DATA_WIDTH/8-1:0]  m_axis_host_tkeep,
    output wire                     m_axis_host_tlast,
    output wire [RX_SIDE_WIDTH-1:0] m_axis_host_side,    // in all beats
    output wire [16:0]              m_axis_host_length,  // in all beats
    output wire                     m_axis_host_tvalid,
    input  wire                     m_axis_host_tready,
    // each frame from the wire that does not leave
    output wire [RX_SIDE_WIDTH-1:0] rx_drop_side,
    output wire                     rx_drop_valid,
    input  wire                     rx_drop_ready,

    // registers: AXI4-Lite (slave), as gn_nic_regs says
    input  wire [11:0]              s_axil_awaddr,
    input  wire                     s_axil_awvalid,
    output wire                     s_axil_awready,
    input  wire [31:0]              s_axil_wdata,
    input  wire [3:0]               s_axil_wstrb,
    input  wire                     s_axil_wvalid,
    output wire                     s_axil_wready,
    output wire [1:0]               s_axil_bresp,
    output wire                     s_axil_bvalid,
    input  wire                     s_axil_bready,
    input  wire [11:0]              s_axil_araddr,
    input  wire                     s_axil_arvalid,
    output wire                     s_axil_arready,
    output wire [31:0]              s_axil_rdata,
    output wire [1:0]               s_axil_rresp,
    output wire                     s_axil_rvalid,
    input  wire                     s_axil_rready
);

    localparam KEEP    = DATA_WIDTH / 8;
    localparam TX_USER = TX_SIDE_WIDTH + 4;
    localparam RX_USER = RX_SIDE_WIDTH + 1;
    localparam LOG2    = BUFFER_LOG2 - 1;  // of a lane's FIFOs

    // ---- to each lane and from it: bit n of a flag, or the field of that number

    wire [LANES*DATA_WIDTH-1:0]    h_data, o_data, w_data, i_data;
    wire [LANES*KEEP-1:0]          h_keep, o_keep, w_keep, i_keep;
    wire [LANES-1:0]               h_last, o_last, w_last, i_last, h_valid, o_valid, w_valid, i_valid, h_ready, o_ready, w_ready, i_ready;
    wire [LANES*TX_USER-1:0]       h_user;
    wire [LANES*RX_USER-1:0]       w_user;
    wire [LANES*TX_SIDE_WIDTH-1:0] o_side, o_drop_side;
    wire [LANES*RX_SIDE_WIDTH-1:0] i_side, i_drop_side;
    wire [LANES*17-1:0]            o_length, i_length;
    wire [LANES-1:0]               o_drop_valid, o_drop_ready, i_drop_valid, i_drop_ready;

    wire [11:0]         awaddr, araddr;
    wire [31:0]         wdata;
    wire [3:0]          wstrb;
    wire [LANES-1:0]    awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
    wire [LANES*2-1:0]  bresp, rresp;
    wire [LANES*32-1:0] rdata;

    genvar lane;
    generate
        for (lane = 0; lane < LANES; lane = lane + 1) begin : g_lane
            gn_nic_port #(.DATA_WIDTH(DATA_WIDTH), .TX_SIDE_WIDTH(TX_SIDE_WIDTH), .RX_SIDE_WIDTH(RX_SIDE_WIDTH), .PROFILES(PROFILES),
                       .RULES(RULES), .BUFFER_LOG2(BUFFER_LOG2), .FLOWS_LOG2(FLOWS_LOG2), .FLOWS_SEED(FLOWS_SEED),
                       .MAX_RESTORED(MAX_RESTORED), .FRAME_MAX(FRAME_MAX)) port (
                .clk(clk), .rst(rst),
                .s_axis_host_tdata(h_data[lane*DATA_WIDTH +: DATA_WIDTH]), .s_axis_host_tkeep(h_keep[lane*KEEP +: KEEP]),
                .s_axis_host_tlast(h_last[lane]), .s_axis_host_tuser(h_user[lane*TX_USER +: 4]),
                .s_axis_host_side(h_user[lane*TX_USER + 4 +: TX_SIDE_WIDTH]), .s_axis_host_tvalid(h_valid[lane]), .s_axis_host_tready(h_ready[lane]),
                .m_axis_wire_tdata(o_data[lane*DATA_WIDTH +: DATA_WIDTH]), .m_axis_wire_tkeep(o_keep[lane*KEEP +: KEEP]),
                .m_axis_wire_tlast(o_last[lane]), .m_axis_wire_side(o_side[lane*TX_SIDE_WIDTH +: TX_SIDE_WIDTH]),
                .m_axis_wire_length(o_length[lane*17 +: 17]), .m_axis_wire_tvalid(o_valid[lane]), .m_axis_wire_tready(o_ready[lane]),
                .tx_drop_side(o_drop_side[lane*TX_SIDE_WIDTH +: TX_SIDE_WIDTH]), .tx_drop_valid(o_drop_valid[lane]), .tx_drop_ready(o_drop_ready[lane]),
                .s_axis_wire_tdata(w_data[lane*DATA_WIDTH +: DATA_WIDTH]), .s_axis_wire_tkeep(w_keep[lane*KEEP +: KEEP]),
                .s_axis_wire_tlast(w_last[lane]), .s_axis_wire_tuser(w_user[lane*RX_USER]),
                .s_axis_wire_side(w_user[lane*RX_USER + 1 +: RX_SIDE_WIDTH]), .s_axis_wire_tvalid(w_valid[lane]), .s_axis_wire_tready(w_ready[lane]),
                .m_axis_host_tdata(i_data[lane*DATA_WIDTH +: DATA_WIDTH]), .m_axis_host_tkeep(i_keep[lane*KEEP +: KEEP]),
                .m_axis_host_tlast(i_last[lane]), .m_axis_host_side(i_side[lane*RX_SIDE_WIDTH +: RX_SIDE_WIDTH]),
                .m_axis_host_length(i_length[lane*17 +: 17]), .m_axis_host_tvalid(i_valid[lane]), .m_axis_host_tready(i_ready[lane]),
                .rx_drop_side(i_drop_side[lane*RX_SIDE_WIDTH +: RX_SIDE_WIDTH]), .rx_drop_valid(i_drop_valid[lane]), .rx_drop_ready(i_drop_ready[lane]),
                .s_axil_awaddr(awaddr), .s_axil_awvalid(awvalid[lane]), .s_axil_awready(awready[lane]), .s_axil_wdata(wdata),
                .s_axil_wstrb(wstrb), .s_axil_wvalid(wvalid[lane]), .s_axil_wready(wready[lane]), .s_axil_bresp(bresp[2*lane +: 2]),
                .s_axil_bvalid(bvalid[lane]), .s_axil_bready(bready[lane]), .s_axil_araddr(araddr), .s_axil_arvalid(arvalid[lane]),
                .s_axil_arready(arready[lane]), .s_axil_rdata(rdata[32*lane +: 32]), .s_axil_rresp(rresp[2*lane +: 2]),
                .s_axil_rvalid(rvalid[lane]), .s_axil_rready(rready[lane]));
        end

        if (LANES == 1) begin : g_one
            // ---- what comes goes to it, what leaves comes from it
            assign h_data  = s_axis_host_tdata;
            assign h_keep  = s_axis_host_tkeep;
            assign h_last  = s_axis_host_tlast;
            assign h_user  = {s_axis_host_side, s_axis_host_tuser};
            assign h_valid = s_axis_host_tvalid;
            assign w_data  = s_axis_wire_tdata;
            assign w_keep  = s_axis_wire_tkeep;
            assign w_last  = s_axis_wire_tlast;
            assign w_user  = {s_axis_wire_side, s_axis_wire_tuser};
            assign w_valid = s_axis_wire_tvalid;
            assign s_axis_host_tready = h_ready;
            assign s_axis_wire_tready = w_ready;

            assign m_axis_wire_tdata  = o_data;
            assign m_axis_wire_tkeep  = o_keep;
            assign m_axis_wire_tlast  = o_last;
            assign m_axis_wire_side   = o_side;
            assign m_axis_wire_length = o_length;
            assign m_axis_wire_tvalid = o_valid;
            assign m_axis_host_tdata  = i_data;
            assign m_axis_host_tkeep  = i_keep;
            assign m_axis_host_tlast  = i_last;
            assign m_axis_host_side   = i_side;
            assign m_axis_host_length = i_length;
            assign m_axis_host_tvalid = i_valid;
            assign o_ready       = m_axis_wire_tready;
            assign i_ready       = m_axis_host_tready;
            assign tx_drop_side  = o_drop_side;
            assign tx_drop_valid = o_drop_valid;
            assign o_drop_ready  = tx_drop_ready;
            assign rx_drop_side  = i_drop_side;
            assign rx_drop_valid = i_drop_valid;
            assign i_drop_ready  = rx_drop_ready;

            assign awaddr  = s_axil_awaddr;
            assign awvalid = s_axil_awvalid;
            assign wdata   = s_axil_wdata;
            assign wstrb   = s_axil_wstrb;
            assign wvalid  = s_axil_wvalid;
            assign bready  = s_axil_bready;
            assign araddr  = s_axil_araddr;
            assign arvalid = s_axil_arvalid;
            assign rready  = s_axil_rready;
            assign s_axil_awready = awready;
            assign s_axil_wready  = wready;
            assign s_axil_bresp   = bresp;
            assign s_axil_bvalid  = bvalid;
            assign s_axil_arready = arready;
            assign s_axil_rdata   = rdata;
            assign s_axil_rresp   = rresp;
            assign s_axil_rvalid  = rvalid;
        end else if (LANES == 2 || LANES == 4) begin : g_more
            wire [LANES-1:0] tx_lane, rx_lane;
            wire             tx_valid, tx_ready, rx_valid, rx_ready;
            wire             unused_keep = &{1'b0, o_keep, i_keep};

            wire [DATA_WIDTH-1:0] t_data;
            wire [KEEP-1:0]       t_keep;
            wire                  t_last, t_valid, t_ready, t_tcp;
            wire [TX_USER-1:0]    t_user;
            wire [1:0]            t_hash;

            gn_flow_lane #(.USER_WIDTH(TX_USER)) flow (
                .clk(clk), .rst(rst), .s_axis_tdata(s_axis_host_tdata), .s_axis_tkeep(s_axis_host_tkeep), .s_axis_tlast(s_axis_host_tlast),
                .s_axis_tuser({s_axis_host_side, s_axis_host_tuser}), .s_axis_tvalid(s_axis_host_tvalid), .s_axis_tready(s_axis_host_tready),
                .m_axis_tdata(t_data), .m_axis_tkeep(t_keep), .m_axis_tlast(t_last), .m_axis_tuser(t_user), .m_axis_tvalid(t_valid),
                .m_axis_tready(t_ready), .m_tcp(t_tcp), .m_hash(t_hash));
            gn_frame_deal #(.LANES(LANES), .DATA_WIDTH(DATA_WIDTH), .USER_WIDTH(TX_USER), .LOG2(LOG2)) from_host (
                .clk(clk), .rst(rst), .s_axis_tdata(t_data), .s_axis_tkeep(t_keep), .s_axis_tlast(t_last),
                .s_axis_tuser(t_user), .s_axis_tvalid(t_valid), .s_axis_tready(t_ready), .s_fixed(t_tcp && FLOWS_LOG2 != 0), .s_lane(t_hash),
                .m_axis_tdata(h_data), .m_axis_tkeep(h_keep), .m_axis_tlast(h_last), .m_axis_tuser(h_user), .m_axis_tvalid(h_valid),
                .m_axis_tready(h_ready), .order_lane(tx_lane), .order_valid(tx_valid), .order_ready(tx_ready));
            gn_frame_collect #(.LANES(LANES), .DATA_WIDTH(DATA_WIDTH), .SIDE_WIDTH(TX_SIDE_WIDTH), .LOG2(LOG2)) to_wire (
                .clk(clk), .rst(rst), .s_axis_tdata(o_data), .s_axis_tlast(o_last), .s_axis_side(o_side), .s_axis_length(o_length),
                .s_axis_tvalid(o_valid), .s_axis_tready(o_ready), .s_drop_side(o_drop_side), .s_drop_valid(o_drop_valid),
                .s_drop_ready(o_drop_ready), .order_lane(tx_lane), .order_valid(tx_valid), .order_ready(tx_ready),
                .m_axis_tdata(m_axis_wire_tdata), .m_axis_tkeep(m_axis_wire_tkeep), .m_axis_tlast(m_axis_wire_tlast),
                .m_axis_side(m_axis_wire_side), .m_axis_length(m_axis_wire_length), .m_axis_tvalid(m_axis_wire_tvalid),
                .m_axis_tready(m_axis_wire_tready), .drop_side(tx_drop_side), .drop_valid(tx_drop_valid), .drop_ready(tx_drop_ready));

            gn_frame_deal #(.LANES(LANES), .DATA_WIDTH(DATA_WIDTH), .USER_WIDTH(RX_USER), .LOG2(LOG2)) from_wire (
                .clk(clk), .rst(rst), .s_axis_tdata(s_axis_wire_tdata), .s_axis_tkeep(s_axis_wire_tkeep), .s_axis_tlast(s_axis_wire_tlast),
                .s_axis_tuser({s_axis_wire_side, s_axis_wire_tuser}), .s_axis_tvalid(s_axis_wire_tvalid), .s_axis_tready(s_axis_wire_tready),
                .s_fixed(1'b0), .s_lane(2'd0), .m_axis_tdata(w_data), .m_axis_tkeep(w_keep), .m_axis_tlast(w_last), .m_axis_tuser(w_user), .m_axis_tvalid(w_valid),
                .m_axis_tready(w_ready), .order_lane(rx_lane), .order_valid(rx_valid), .order_ready(rx_ready));
            gn_frame_collect #(.LANES(LANES), .DATA_WIDTH(DATA_WIDTH), .SIDE_WIDTH(RX_SIDE_WIDTH), .LOG2(LOG2)) to_host (
                .clk(clk), .rst(rst), .s_axis_tdata(i_data), .s_axis_tlast(i_last), .s_axis_side(i_side), .s_axis_length(i_length),
                .s_axis_tvalid(i_valid), .s_axis_tready(i_ready), .s_drop_side(i_drop_side), .s_drop_valid(i_drop_valid),
                .s_drop_ready(i_drop_ready), .order_lane(rx_lane), .order_valid(rx_valid), .order_ready(rx_ready),
                .m_axis_tdata(m_axis_host_tdata), .m_axis_tkeep(m_axis_host_tkeep), .m_axis_tlast(m_axis_host_tlast),
                .m_axis_side(m_axis_host_side), .m_axis_length(m_axis_host_length), .m_axis_tvalid(m_axis_host_tvalid),
                .m_axis_tready(m_axis_host_tready), .drop_side(rx_drop_side), .drop_valid(rx_drop_valid), .drop_ready(rx_drop_ready));

            gn_axil_lanes #(.LANES(LANES)) registers (
                .clk(clk), .rst(rst),
                .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata),
                .s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
                .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready), .s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid),
                .s_axil_arready(s_axil_arready), .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid),
                .s_axil_rready(s_axil_rready),
                .m_axil_awaddr(awaddr), .m_axil_awvalid(awvalid), .m_axil_awready(awready), .m_axil_wdata(wdata), .m_axil_wstrb(wstrb),
                .m_axil_wvalid(wvalid), .m_axil_wready(wready), .m_axil_bresp(bresp), .m_axil_bvalid(bvalid), .m_axil_bready(bready),
                .m_axil_araddr(araddr), .m_axil_arvalid(arvalid), .m_axil_arready(arready), .m_axil_rdata(rdata), .m_axil_rresp(rresp),
                .m_axil_rvalid(rvalid), .m_axil_rready(rready));
        end else begin : g_check
            LANES_must_be_1_2_or_4 error();
        end
        if (LANES != 1 && DATA_WIDTH != 512) begin : g_width
            more_than_one_lane_takes_a_DATA_WIDTH_of_512 error();
        end
    endgenerate

endmodule

`resetall
