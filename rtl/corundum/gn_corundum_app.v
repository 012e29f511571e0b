// SPDX-License-Identifier: Apache-2.0
// The NIC for Corundum's application block: between the "if" streams of each interface, where tid,
// tdest and tuser go along. There, the transmit checksum has been completed, and the receive hash
// and checksum are not computed yet. The transmit engine waits for a completion of each packet: for
// one that does not leave, it comes from here. Interface i has its registers at 4096 * i of the
// application's control space.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_corundum_app #(
    // as Corundum's mqnic_app_block has them
    parameter IF_COUNT              = 1,
    parameter AXIS_IF_DATA_WIDTH    = 256,  // 64, 128, 256, 512
    parameter AXIS_IF_KEEP_WIDTH    = AXIS_IF_DATA_WIDTH/8,
    parameter AXIS_IF_TX_ID_WIDTH   = 12,
    parameter AXIS_IF_TX_DEST_WIDTH = 4,
    parameter AXIS_IF_TX_USER_WIDTH = 17,
    parameter AXIS_IF_RX_ID_WIDTH   = 1,
    parameter AXIS_IF_RX_DEST_WIDTH = 8,
    parameter AXIS_IF_RX_USER_WIDTH = 97,   // bit 0: the frame is bad
    parameter PTP_TS_WIDTH          = 96,
    parameter TX_TAG_WIDTH          = AXIS_IF_TX_USER_WIDTH-1,  // above bit 0 of tuser
    parameter AXIL_ADDR_WIDTH       = 16,
    parameter MAX_TX_SIZE           = 9214, // bytes of the longest frame, without check sequence
    parameter MAX_RX_SIZE           = 9214,
    // NICs that share the work: 1, or at 512 bits 2 or 4
    parameter LANES                 = AXIS_IF_DATA_WIDTH == 512 ? 2 : 1,
    // as gn_nic_top has them
    parameter PROFILES              = 7,
    parameter RULES                 = 4,
    parameter BUFFER_LOG2           = 10,
    parameter FLOWS_LOG2            = 11,   // of each lane; 0: no table of TCP flows, and TCP goes
                                            // stored
    parameter [31:0] FLOWS_SEED     = 32'h6e6f7661
) (
    input  wire                                      clk,
    input  wire                                      rst,

    input  wire [AXIL_ADDR_WIDTH-1:0]                s_axil_awaddr,
    input  wire                                      s_axil_awvalid,
    output wire                                      s_axil_awready,
    input  wire [31:0]                               s_axil_wdata,
    input  wire [3:0]                                s_axil_wstrb,
    input  wire                                      s_axil_wvalid,
    output wire                                      s_axil_wready,
    output wire [1:0]                                s_axil_bresp,
    output wire                                      s_axil_bvalid,
    input  wire                                      s_axil_bready,
    input  wire [AXIL_ADDR_WIDTH-1:0]                s_axil_araddr,
    input  wire                                      s_axil_arvalid,
    output wire                                      s_axil_arready,
    output wire [31:0]                               s_axil_rdata,
    output wire [1:0]                                s_axil_rresp,
    output wire                                      s_axil_rvalid,
    input  wire                                      s_axil_rready,

    input  wire [IF_COUNT*AXIS_IF_DATA_WIDTH-1:0]    s_axis_if_tx_tdata,
    input  wire [IF_COUNT*AXIS_IF_KEEP_WIDTH-1:0]    s_axis_if_tx_tkeep,
    input  wire [IF_COUNT-1:0]                       s_axis_if_tx_tvalid,
    output wire [IF_COUNT-1:0]                       s_axis_if_tx_tready,
    input  wire [IF_COUNT-1:0]                       s_axis_if_tx_tlast,
    input  wire [IF_COUNT*AXIS_IF_TX_ID_WIDTH-1:0]   s_axis_if_tx_tid,
    input  wire [IF_COUNT*AXIS_IF_TX_DEST_WIDTH-1:0] s_axis_if_tx_tdest,
    input  wire [IF_COUNT*AXIS_IF_TX_USER_WIDTH-1:0] s_axis_if_tx_tuser,

    output wire [IF_COUNT*AXIS_IF_DATA_WIDTH-1:0]    m_axis_if_tx_tdata,
    output wire [IF_COUNT*AXIS_IF_KEEP_WIDTH-1:0]    m_axis_if_tx_tkeep,
    output wire [IF_COUNT-1:0]                       m_axis_if_tx_tvalid,
    input  wire [IF_COUNT-1:0]                       m_axis_if_tx_tready,
    output wire [IF_COUNT-1:0]                       m_axis_if_tx_tlast,
    output wire [IF_COUNT*AXIS_IF_TX_ID_WIDTH-1:0]   m_axis_if_tx_tid,
    output wire [IF_COUNT*AXIS_IF_TX_DEST_WIDTH-1:0] m_axis_if_tx_tdest,
    output wire [IF_COUNT*AXIS_IF_TX_USER_WIDTH-1:0] m_axis_if_tx_tuser,

    input  wire [IF_COUNT*PTP_TS_WIDTH-1:0]          s_axis_if_tx_cpl_ts,
    input  wire [IF_COUNT*TX_TAG_WIDTH-1:0]          s_axis_if_tx_cpl_tag,
    input  wire [IF_COUNT-1:0]                       s_axis_if_tx_cpl_valid,
    output wire [IF_COUNT-1:0]                       s_axis_if_tx_cpl_ready,

    output wire [IF_COUNT*PTP_TS_WIDTH-1:0]          m_axis_if_tx_cpl_ts,
    output wire [IF_COUNT*TX_TAG_WIDTH-1:0]          m_axis_if_tx_cpl_tag,
    output wire [IF_COUNT-1:0]                       m_axis_if_tx_cpl_valid,
    input  wire [IF_COUNT-1:0]                       m_axis_if_tx_cpl_ready,

    input  wire [IF_COUNT*AXIS_IF_DATA_WIDTH-1:0]    s_axis_if_rx_tdata,
    input  wire [IF_COUNT*AXIS_IF_KEEP_WIDTH-1:0]    s_axis_if_rx_tkeep,
    input  wire [IF_COUNT-1:0]                       s_axis_if_rx_tvalid,
    output wire [IF_COUNT-1:0]                       s_axis_if_rx_tready,
    input  wire [IF_COUNT-1:0]                       s_axis_if_rx_tlast,
    input  wire [IF_COUNT*AXIS_IF_RX_ID_WIDTH-1:0]   s_axis_if_rx_tid,
    input  wire [IF_COUNT*AXIS_IF_RX_DEST_WIDTH-1:0] s_axis_if_rx_tdest,
    input  wire [IF_COUNT*AXIS_IF_RX_USER_WIDTH-1:0] s_axis_if_rx_tuser,

    output wire [IF_COUNT*AXIS_IF_DATA_WIDTH-1:0]    m_axis_if_rx_tdata,
    output wire [IF_COUNT*AXIS_IF_KEEP_WIDTH-1:0]    m_axis_if_rx_tkeep,
    output wire [IF_COUNT-1:0]                       m_axis_if_rx_tvalid,
    input  wire [IF_COUNT-1:0]                       m_axis_if_rx_tready,
    output wire [IF_COUNT-1:0]                       m_axis_if_rx_tlast,
    output wire [IF_COUNT*AXIS_IF_RX_ID_WIDTH-1:0]   m_axis_if_rx_tid,
    output wire [IF_COUNT*AXIS_IF_RX_DEST_WIDTH-1:0] m_axis_if_rx_tdest,
    output wire [IF_COUNT*AXIS_IF_RX_USER_WIDTH-1:0] m_axis_if_rx_tuser
);

    localparam TX_SIDE = AXIS_IF_TX_ID_WIDTH + AXIS_IF_TX_DEST_WIDTH + AXIS_IF_TX_USER_WIDTH;
    localparam RX_SIDE = AXIS_IF_RX_ID_WIDTH + AXIS_IF_RX_DEST_WIDTH + AXIS_IF_RX_USER_WIDTH;

    wire [11:0]            awaddr, araddr;
    wire [31:0]            wdata;
    wire [3:0]             wstrb;
    wire [IF_COUNT-1:0]    awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
    wire [IF_COUNT*2-1:0]  bresp, rresp;
    wire [IF_COUNT*32-1:0] rdata;

    gn_axil_windows #(.COUNT(IF_COUNT), .ADDR_WIDTH(AXIL_ADDR_WIDTH)) windows (
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

    genvar i;
    generate
        for (i = 0; i < IF_COUNT; i = i + 1) begin : g_if
            wire [TX_SIDE-1:0] drop_side;
            wire [RX_SIDE-1:0] unused_drop_side;
            wire               drop_valid, drop_ready, unused_drop_valid;
            wire [16:0]        unused_wire_length, unused_host_length;
            wire               unused_side = &{1'b0, drop_side};

            gn_completions #(.TS_WIDTH(PTP_TS_WIDTH), .TAG_WIDTH(TX_TAG_WIDTH)) completions (
                .clk(clk), .rst(rst), .s_ts(s_axis_if_tx_cpl_ts[i*PTP_TS_WIDTH +: PTP_TS_WIDTH]),
                .s_tag(s_axis_if_tx_cpl_tag[i*TX_TAG_WIDTH +: TX_TAG_WIDTH]), .s_valid(s_axis_if_tx_cpl_valid[i]),
                .s_ready(s_axis_if_tx_cpl_ready[i]),
                .drop_tag(drop_side[1 +: TX_TAG_WIDTH]), .drop_valid(drop_valid), .drop_ready(drop_ready),
                .m_ts(m_axis_if_tx_cpl_ts[i*PTP_TS_WIDTH +: PTP_TS_WIDTH]),
                .m_tag(m_axis_if_tx_cpl_tag[i*TX_TAG_WIDTH +: TX_TAG_WIDTH]), .m_valid(m_axis_if_tx_cpl_valid[i]),
                .m_ready(m_axis_if_tx_cpl_ready[i]));

            // Where a TCP segment's values begin, only a table of flows knows here.
            gn_nic_lanes #(.LANES(LANES), .DATA_WIDTH(AXIS_IF_DATA_WIDTH), .TX_SIDE_WIDTH(TX_SIDE), .RX_SIDE_WIDTH(RX_SIDE),
                        .PROFILES(PROFILES), .RULES(RULES), .BUFFER_LOG2(BUFFER_LOG2), .FLOWS_LOG2(FLOWS_LOG2),
                        .FLOWS_SEED(FLOWS_SEED),
                        .FRAME_MAX(MAX_TX_SIZE > MAX_RX_SIZE ? MAX_TX_SIZE : MAX_RX_SIZE)) lanes (
                .clk(clk), .rst(rst),
                .s_axis_host_tdata(s_axis_if_tx_tdata[i*AXIS_IF_DATA_WIDTH +: AXIS_IF_DATA_WIDTH]),
                .s_axis_host_tkeep(s_axis_if_tx_tkeep[i*AXIS_IF_KEEP_WIDTH +: AXIS_IF_KEEP_WIDTH]),
                .s_axis_host_tlast(s_axis_if_tx_tlast[i]), .s_axis_host_tuser(4'b0100),
                .s_axis_host_side({s_axis_if_tx_tid[i*AXIS_IF_TX_ID_WIDTH +: AXIS_IF_TX_ID_WIDTH],
                                   s_axis_if_tx_tdest[i*AXIS_IF_TX_DEST_WIDTH +: AXIS_IF_TX_DEST_WIDTH],
                                   s_axis_if_tx_tuser[i*AXIS_IF_TX_USER_WIDTH +: AXIS_IF_TX_USER_WIDTH]}),
                .s_axis_host_tvalid(s_axis_if_tx_tvalid[i]), .s_axis_host_tready(s_axis_if_tx_tready[i]),
                .m_axis_wire_tdata(m_axis_if_tx_tdata[i*AXIS_IF_DATA_WIDTH +: AXIS_IF_DATA_WIDTH]),
                .m_axis_wire_tkeep(m_axis_if_tx_tkeep[i*AXIS_IF_KEEP_WIDTH +: AXIS_IF_KEEP_WIDTH]),
                .m_axis_wire_tlast(m_axis_if_tx_tlast[i]),
                .m_axis_wire_side({m_axis_if_tx_tid[i*AXIS_IF_TX_ID_WIDTH +: AXIS_IF_TX_ID_WIDTH],
                                   m_axis_if_tx_tdest[i*AXIS_IF_TX_DEST_WIDTH +: AXIS_IF_TX_DEST_WIDTH],
                                   m_axis_if_tx_tuser[i*AXIS_IF_TX_USER_WIDTH +: AXIS_IF_TX_USER_WIDTH]}),
                .m_axis_wire_length(unused_wire_length), .tx_drop_side(drop_side), .tx_drop_valid(drop_valid), .tx_drop_ready(drop_ready),
                .m_axis_wire_tvalid(m_axis_if_tx_tvalid[i]), .m_axis_wire_tready(m_axis_if_tx_tready[i]),
                .s_axis_wire_tdata(s_axis_if_rx_tdata[i*AXIS_IF_DATA_WIDTH +: AXIS_IF_DATA_WIDTH]),
                .s_axis_wire_tkeep(s_axis_if_rx_tkeep[i*AXIS_IF_KEEP_WIDTH +: AXIS_IF_KEEP_WIDTH]),
                .s_axis_wire_tlast(s_axis_if_rx_tlast[i]), .s_axis_wire_tuser(s_axis_if_rx_tuser[i*AXIS_IF_RX_USER_WIDTH]),
                .s_axis_wire_side({s_axis_if_rx_tid[i*AXIS_IF_RX_ID_WIDTH +: AXIS_IF_RX_ID_WIDTH],
                                   s_axis_if_rx_tdest[i*AXIS_IF_RX_DEST_WIDTH +: AXIS_IF_RX_DEST_WIDTH],
                                   s_axis_if_rx_tuser[i*AXIS_IF_RX_USER_WIDTH +: AXIS_IF_RX_USER_WIDTH]}),
                .s_axis_wire_tvalid(s_axis_if_rx_tvalid[i]), .s_axis_wire_tready(s_axis_if_rx_tready[i]),
                .m_axis_host_tdata(m_axis_if_rx_tdata[i*AXIS_IF_DATA_WIDTH +: AXIS_IF_DATA_WIDTH]),
                .m_axis_host_tkeep(m_axis_if_rx_tkeep[i*AXIS_IF_KEEP_WIDTH +: AXIS_IF_KEEP_WIDTH]),
                .m_axis_host_tlast(m_axis_if_rx_tlast[i]),
                .m_axis_host_side({m_axis_if_rx_tid[i*AXIS_IF_RX_ID_WIDTH +: AXIS_IF_RX_ID_WIDTH],
                                   m_axis_if_rx_tdest[i*AXIS_IF_RX_DEST_WIDTH +: AXIS_IF_RX_DEST_WIDTH],
                                   m_axis_if_rx_tuser[i*AXIS_IF_RX_USER_WIDTH +: AXIS_IF_RX_USER_WIDTH]}),
                .m_axis_host_length(unused_host_length), .rx_drop_side(unused_drop_side), .rx_drop_valid(unused_drop_valid),
                .rx_drop_ready(1'b1),
                .m_axis_host_tvalid(m_axis_if_rx_tvalid[i]), .m_axis_host_tready(m_axis_if_rx_tready[i]),
                .s_axil_awaddr(awaddr), .s_axil_awvalid(awvalid[i]), .s_axil_awready(awready[i]), .s_axil_wdata(wdata),
                .s_axil_wstrb(wstrb), .s_axil_wvalid(wvalid[i]), .s_axil_wready(wready[i]), .s_axil_bresp(bresp[2*i +: 2]),
                .s_axil_bvalid(bvalid[i]), .s_axil_bready(bready[i]), .s_axil_araddr(araddr), .s_axil_arvalid(arvalid[i]),
                .s_axil_arready(arready[i]), .s_axil_rdata(rdata[32*i +: 32]), .s_axil_rresp(rresp[2*i +: 2]),
                .s_axil_rvalid(rvalid[i]), .s_axil_rready(rready[i]));
        end
        if (AXIS_IF_KEEP_WIDTH != AXIS_IF_DATA_WIDTH / 8) begin : g_keep
            AXIS_IF_KEEP_WIDTH_must_be_an_eighth_of_AXIS_IF_DATA_WIDTH error();
        end
        if (TX_TAG_WIDTH < 1 || TX_TAG_WIDTH >= AXIS_IF_TX_USER_WIDTH) begin : g_tag
            TX_TAG_WIDTH_must_be_less_than_AXIS_IF_TX_USER_WIDTH error();
        end
    endgenerate

endmodule

`resetall
