// SPDX-License-Identifier: Apache-2.0
// gn_nic_top with streams of 64 to 512 bits. In each direction a side-band comes with a frame and
// leaves with it (queue, tag, port, time stamp). Of a frame that is dropped it leaves by itself.
//
// At 64 and 128 bits, the streams set the rate. At 512 bits, gn_nic_top does: 256 bits a cycle.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_nic_port #(
    parameter DATA_WIDTH    = 256,  // 64, 128, 256, 512
    parameter TX_SIDE_WIDTH = 1,
    parameter RX_SIDE_WIDTH = 1,
    parameter PROFILES      = 7,    // these seven as gn_nic_top says
    parameter RULES         = 4,
    parameter BUFFER_LOG2   = 10,
    parameter FLOWS_LOG2    = 11,   // 0: then tuser must say how TCP lies, or call it stored
    parameter [31:0] FLOWS_SEED = 32'h6e6f7661,
    parameter MAX_RESTORED  = 9000,
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

    localparam WIDTH   = 256;  // of gn_nic_top
    localparam TX_USER = 4 + TX_SIDE_WIDTH;
    localparam RX_USER = 1 + RX_SIDE_WIDTH;

    // ---- into gn_nic_top

    wire [WIDTH-1:0]         h_data, w_data;
    wire [WIDTH/8-1:0]       h_keep, w_keep;
    wire                     h_last, h_valid, h_ready, w_last, w_valid, w_ready, w_bad;
    wire [3:0]               h_user;
    wire [TX_SIDE_WIDTH-1:0] h_side;
    wire [RX_SIDE_WIDTH-1:0] w_side;

    gn_axis_resize #(.S_WIDTH(DATA_WIDTH), .M_WIDTH(WIDTH), .USER_WIDTH(TX_USER)) from_host (
        .clk(clk), .rst(rst), .s_axis_tdata(s_axis_host_tdata), .s_axis_tkeep(s_axis_host_tkeep), .s_axis_tlast(s_axis_host_tlast),
        .s_axis_tuser({s_axis_host_side, s_axis_host_tuser}), .s_axis_tvalid(s_axis_host_tvalid), .s_axis_tready(s_axis_host_tready),
        .m_axis_tdata(h_data), .m_axis_tkeep(h_keep), .m_axis_tlast(h_last), .m_axis_tuser({h_side, h_user}),
        .m_axis_tvalid(h_valid), .m_axis_tready(h_ready));
    gn_axis_resize #(.S_WIDTH(DATA_WIDTH), .M_WIDTH(WIDTH), .USER_WIDTH(RX_USER)) from_wire (
        .clk(clk), .rst(rst), .s_axis_tdata(s_axis_wire_tdata), .s_axis_tkeep(s_axis_wire_tkeep), .s_axis_tlast(s_axis_wire_tlast),
        .s_axis_tuser({s_axis_wire_side, s_axis_wire_tuser}), .s_axis_tvalid(s_axis_wire_tvalid), .s_axis_tready(s_axis_wire_tready),
        .m_axis_tdata(w_data), .m_axis_tkeep(w_keep), .m_axis_tlast(w_last), .m_axis_tuser({w_side, w_bad}),
        .m_axis_tvalid(w_valid), .m_axis_tready(w_ready));

    // ---- the NIC

    wire [WIDTH-1:0]         o_data, i_data;
    wire [WIDTH/8-1:0]       o_keep, i_keep;
    wire                     o_last, o_valid, o_ready, i_last, i_valid, i_ready;
    wire [TX_SIDE_WIDTH-1:0] o_side;
    wire [RX_SIDE_WIDTH-1:0] i_side;
    wire [16:0]              o_length, i_length;
    wire                     o_drop_valid, i_drop_valid;

    // gn_nic_top tells of a drop when the frames ahead of it have left there. They may be on their
    // way out of a register here. Nothing comes behind them until the drop is taken.
    wire o_drop_turn = DATA_WIDTH == WIDTH || !m_axis_wire_tvalid;
    wire i_drop_turn = DATA_WIDTH == WIDTH || !m_axis_host_tvalid;
    assign tx_drop_valid = o_drop_valid && o_drop_turn;
    assign rx_drop_valid = i_drop_valid && i_drop_turn;

    gn_nic_top #(.PROFILES(PROFILES), .RULES(RULES), .BUFFER_LOG2(BUFFER_LOG2), .FLOWS_LOG2(FLOWS_LOG2), .FLOWS_SEED(FLOWS_SEED),
              .TX_SIDE_WIDTH(TX_SIDE_WIDTH), .RX_SIDE_WIDTH(RX_SIDE_WIDTH), .MAX_RESTORED(MAX_RESTORED),
              .FRAME_MAX(FRAME_MAX)) nic (
        .clk(clk), .rst(rst),
        .s_axis_host_tdata(h_data), .s_axis_host_tkeep(h_keep), .s_axis_host_tlast(h_last), .s_axis_host_tuser(h_user),
        .s_axis_host_side(h_side), .s_axis_host_tvalid(h_valid), .s_axis_host_tready(h_ready),
        .m_axis_wire_tdata(o_data), .m_axis_wire_tkeep(o_keep), .m_axis_wire_tlast(o_last), .m_axis_wire_side(o_side),
        .m_axis_wire_length(o_length), .m_axis_wire_tvalid(o_valid), .m_axis_wire_tready(o_ready),
        .tx_drop_side(tx_drop_side), .tx_drop_valid(o_drop_valid), .tx_drop_ready(tx_drop_ready && o_drop_turn),
        .s_axis_wire_tdata(w_data), .s_axis_wire_tkeep(w_keep), .s_axis_wire_tlast(w_last), .s_axis_wire_tuser(w_bad),
        .s_axis_wire_side(w_side), .s_axis_wire_tvalid(w_valid), .s_axis_wire_tready(w_ready),
        .m_axis_host_tdata(i_data), .m_axis_host_tkeep(i_keep), .m_axis_host_tlast(i_last), .m_axis_host_side(i_side),
        .m_axis_host_length(i_length), .m_axis_host_tvalid(i_valid), .m_axis_host_tready(i_ready),
        .rx_drop_side(rx_drop_side), .rx_drop_valid(i_drop_valid), .rx_drop_ready(rx_drop_ready && i_drop_turn),
        .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
        .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready), .s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready), .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid),
        .s_axil_rready(s_axil_rready));

    // ---- out of gn_nic_top

    gn_axis_resize #(.S_WIDTH(WIDTH), .M_WIDTH(DATA_WIDTH), .USER_WIDTH(TX_SIDE_WIDTH + 17)) to_wire (
        .clk(clk), .rst(rst), .s_axis_tdata(o_data), .s_axis_tkeep(o_keep), .s_axis_tlast(o_last), .s_axis_tuser({o_side, o_length}),
        .s_axis_tvalid(o_valid), .s_axis_tready(o_ready),
        .m_axis_tdata(m_axis_wire_tdata), .m_axis_tkeep(m_axis_wire_tkeep), .m_axis_tlast(m_axis_wire_tlast),
        .m_axis_tuser({m_axis_wire_side, m_axis_wire_length}), .m_axis_tvalid(m_axis_wire_tvalid), .m_axis_tready(m_axis_wire_tready));
    gn_axis_resize #(.S_WIDTH(WIDTH), .M_WIDTH(DATA_WIDTH), .USER_WIDTH(RX_SIDE_WIDTH + 17)) to_host (
        .clk(clk), .rst(rst), .s_axis_tdata(i_data), .s_axis_tkeep(i_keep), .s_axis_tlast(i_last), .s_axis_tuser({i_side, i_length}),
        .s_axis_tvalid(i_valid), .s_axis_tready(i_ready),
        .m_axis_tdata(m_axis_host_tdata), .m_axis_tkeep(m_axis_host_tkeep), .m_axis_tlast(m_axis_host_tlast),
        .m_axis_tuser({m_axis_host_side, m_axis_host_length}), .m_axis_tvalid(m_axis_host_tvalid), .m_axis_tready(m_axis_host_tready));

    generate
        if (DATA_WIDTH != 64 && DATA_WIDTH != 128 && DATA_WIDTH != 256 && DATA_WIDTH != 512) begin : g_check
            DATA_WIDTH_must_be_64_128_256_or_512 error();
        end
    endgenerate

endmodule

`resetall
