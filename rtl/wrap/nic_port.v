// SPDX-License-Identifier: Apache-2.0
// nic_top as NICs have it: streams of 64 to 512 bits, and in each direction a side-band that comes
// with a frame and leaves with it (queue, tag, port, time stamp). Frames that nic_top drops take
// their side-band with them.
//
// At 64 and 128 bits, the streams set the rate. At 512 bits, nic_top does: 256 bits a cycle.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_port #(
    parameter DATA_WIDTH    = 256,  // 64, 128, 256, 512
    parameter TX_SIDE_WIDTH = 1,
    parameter RX_SIDE_WIDTH = 1,
    parameter PROFILES      = 7,    // these four as nic_top says
    parameter RULES         = 4,
    parameter BUFFER_LOG2   = 10,
    parameter FRAME_MAX     = 1522
) (
    input  wire                     clk,
    input  wire                     rst,                 // synchronous, active high

    // From the host: Ethernet frames without check sequence, with complete checksums.
    input  wire [DATA_WIDTH-1:0]    s_axis_host_tdata,
    input  wire [DATA_WIDTH/8-1:0]  s_axis_host_tkeep,   // all ones except in the last beat
    input  wire                     s_axis_host_tlast,
    input  wire [2:0]               s_axis_host_tuser,   // in the last beat: {stored, head[1:0]},
                                                         // as nic_tx says
    input  wire [TX_SIDE_WIDTH-1:0] s_axis_host_side,    // in the last beat
    input  wire                     s_axis_host_tvalid,
    output wire                     s_axis_host_tready,
    // to the wire
    output wire [DATA_WIDTH-1:0]    m_axis_wire_tdata,
    output wire [DATA_WIDTH/8-1:0]  m_axis_wire_tkeep,
    output wire                     m_axis_wire_tlast,
    output wire [TX_SIDE_WIDTH-1:0] m_axis_wire_side,    // in all beats
    output wire                     m_axis_wire_tvalid,
    input  wire                     m_axis_wire_tready,

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
    output wire                     m_axis_host_tvalid,
    input  wire                     m_axis_host_tready,

    // registers: AXI4-Lite (slave), as nic_regs says
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

    localparam WIDTH   = 256;  // of nic_top
    localparam TX_USER = 3 + TX_SIDE_WIDTH;
    localparam RX_USER = 1 + RX_SIDE_WIDTH;

    // ---- into nic_top

    wire [WIDTH-1:0]         h_data, w_data;
    wire [WIDTH/8-1:0]       h_keep, w_keep;
    wire                     h_last, h_valid, h_ready, w_last, w_valid, w_ready, w_bad;
    wire [2:0]               h_user;
    wire [TX_SIDE_WIDTH-1:0] h_side;
    wire [RX_SIDE_WIDTH-1:0] w_side;

    axis_resize #(.S_WIDTH(DATA_WIDTH), .M_WIDTH(WIDTH), .USER_WIDTH(TX_USER)) from_host (
        .clk(clk), .rst(rst), .s_axis_tdata(s_axis_host_tdata), .s_axis_tkeep(s_axis_host_tkeep), .s_axis_tlast(s_axis_host_tlast),
        .s_axis_tuser({s_axis_host_side, s_axis_host_tuser}), .s_axis_tvalid(s_axis_host_tvalid), .s_axis_tready(s_axis_host_tready),
        .m_axis_tdata(h_data), .m_axis_tkeep(h_keep), .m_axis_tlast(h_last), .m_axis_tuser({h_side, h_user}),
        .m_axis_tvalid(h_valid), .m_axis_tready(h_ready));
    axis_resize #(.S_WIDTH(DATA_WIDTH), .M_WIDTH(WIDTH), .USER_WIDTH(RX_USER)) from_wire (
        .clk(clk), .rst(rst), .s_axis_tdata(s_axis_wire_tdata), .s_axis_tkeep(s_axis_wire_tkeep), .s_axis_tlast(s_axis_wire_tlast),
        .s_axis_tuser({s_axis_wire_side, s_axis_wire_tuser}), .s_axis_tvalid(s_axis_wire_tvalid), .s_axis_tready(s_axis_wire_tready),
        .m_axis_tdata(w_data), .m_axis_tkeep(w_keep), .m_axis_tlast(w_last), .m_axis_tuser({w_side, w_bad}),
        .m_axis_tvalid(w_valid), .m_axis_tready(w_ready));

    // ---- the NIC

    wire [WIDTH-1:0]   o_data, i_data;
    wire [WIDTH/8-1:0] o_keep, i_keep;
    wire               o_last, o_valid, o_ready, i_last, i_valid, i_ready;
    wire               host_ready, wire_ready, host_room, wire_room, fate_valid, fate_drop;

    nic_top #(.PROFILES(PROFILES), .RULES(RULES), .BUFFER_LOG2(BUFFER_LOG2), .FRAME_MAX(FRAME_MAX)) nic (
        .clk(clk), .rst(rst),
        .s_axis_host_tdata(h_data), .s_axis_host_tkeep(h_keep), .s_axis_host_tlast(h_last),
        .s_axis_host_tuser({1'b0, h_user}), .s_axis_host_tvalid(h_valid && host_room), .s_axis_host_tready(host_ready),
        .m_axis_wire_tdata(o_data), .m_axis_wire_tkeep(o_keep), .m_axis_wire_tlast(o_last),
        .m_axis_wire_tvalid(o_valid), .m_axis_wire_tready(o_ready),
        .s_axis_wire_tdata(w_data), .s_axis_wire_tkeep(w_keep), .s_axis_wire_tlast(w_last), .s_axis_wire_tuser(w_bad),
        .s_axis_wire_tvalid(w_valid && wire_room), .s_axis_wire_tready(wire_ready),
        .m_axis_host_tdata(i_data), .m_axis_host_tkeep(i_keep), .m_axis_host_tlast(i_last),
        .m_axis_host_tvalid(i_valid), .m_axis_host_tready(i_ready),
        .wire_fate_valid(fate_valid), .wire_fate_drop(fate_drop),
        .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
        .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready), .s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready), .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid),
        .s_axil_rready(s_axil_rready));

    assign h_ready = host_ready && host_room;
    assign w_ready = wire_ready && wire_room;

    // ---- side-bands. A frame that the store of its direction drops gets no fate, so its side-band
    // stays outside: one that is bad, has a last beat without a byte, or is longer than the store.

    reg [BUFFER_LOG2:0] h_beats = 0, w_beats = 0;  // of the frame, before this one; stays at full

    wire h_take = h_valid && h_ready;
    wire w_take = w_valid && w_ready;
    always @(posedge clk) begin
        if (h_take) h_beats <= h_last ? 0 : h_beats + {{BUFFER_LOG2{1'b0}}, !h_beats[BUFFER_LOG2]};
        if (w_take) w_beats <= w_last ? 0 : w_beats + {{BUFFER_LOG2{1'b0}}, !w_beats[BUFFER_LOG2]};
        if (rst) begin
            h_beats <= 0;
            w_beats <= 0;
        end
    end
    wire h_push = h_take && h_last && h_keep[0] && !h_beats[BUFFER_LOG2];
    wire w_push = w_take && w_last && w_keep[0] && !w_beats[BUFFER_LOG2] && !w_bad;

    reg h_pushed = 1'b0;  // to the wire nothing else is dropped: the fate is known at once
    always @(posedge clk) h_pushed <= h_push && !rst;

    wire m_wire_taken, m_host_taken;
    frame_side #(.WIDTH(TX_SIDE_WIDTH)) host_side (
        .clk(clk), .rst(rst), .ready(host_room), .s_data(h_side), .s_valid(h_push),
        .verdict_valid(h_pushed), .verdict_drop(1'b0), .m_data(m_axis_wire_side), .m_taken(m_wire_taken));
    frame_side #(.WIDTH(RX_SIDE_WIDTH)) wire_side (
        .clk(clk), .rst(rst), .ready(wire_room), .s_data(w_side), .s_valid(w_push),
        .verdict_valid(fate_valid), .verdict_drop(fate_drop), .m_data(m_axis_host_side), .m_taken(m_host_taken));

    // ---- out of nic_top

    wire unused_o, unused_i;
    axis_resize #(.S_WIDTH(WIDTH), .M_WIDTH(DATA_WIDTH), .USER_WIDTH(1)) to_wire (
        .clk(clk), .rst(rst), .s_axis_tdata(o_data), .s_axis_tkeep(o_keep), .s_axis_tlast(o_last), .s_axis_tuser(1'b0),
        .s_axis_tvalid(o_valid), .s_axis_tready(o_ready),
        .m_axis_tdata(m_axis_wire_tdata), .m_axis_tkeep(m_axis_wire_tkeep), .m_axis_tlast(m_axis_wire_tlast),
        .m_axis_tuser(unused_o), .m_axis_tvalid(m_axis_wire_tvalid), .m_axis_tready(m_axis_wire_tready));
    axis_resize #(.S_WIDTH(WIDTH), .M_WIDTH(DATA_WIDTH), .USER_WIDTH(1)) to_host (
        .clk(clk), .rst(rst), .s_axis_tdata(i_data), .s_axis_tkeep(i_keep), .s_axis_tlast(i_last), .s_axis_tuser(1'b0),
        .s_axis_tvalid(i_valid), .s_axis_tready(i_ready),
        .m_axis_tdata(m_axis_host_tdata), .m_axis_tkeep(m_axis_host_tkeep), .m_axis_tlast(m_axis_host_tlast),
        .m_axis_tuser(unused_i), .m_axis_tvalid(m_axis_host_tvalid), .m_axis_tready(m_axis_host_tready));

    assign m_wire_taken = m_axis_wire_tvalid && m_axis_wire_tready && m_axis_wire_tlast;
    assign m_host_taken = m_axis_host_tvalid && m_axis_host_tready && m_axis_host_tlast;

    wire unused_users = &{1'b0, unused_o, unused_i};

endmodule

`resetall
