// SPDX-License-Identifier: Apache-2.0
// The NIC in a plain design: gn_nic_lanes between four AXI4-Streams with tid, tdest and tuser, as
// MACs and DMA engines of taxi have them (taxi_axis_if), and registers on AXI4-Lite (taxi_axil_if).
// What comes with a frame leaves with it. Bit 0 of tuser, in the last beat: the frame is bad.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module plain_pins #(
    parameter LANES      = 1,
    parameter DATA_WIDTH = 64
) (
    input  wire                    clk,
    input  wire                    rst,

    input  wire [11:0]             s_axil_awaddr,
    input  wire                    s_axil_awvalid,
    output wire                    s_axil_awready,
    input  wire [31:0]             s_axil_wdata,
    input  wire [3:0]              s_axil_wstrb,
    input  wire                    s_axil_wvalid,
    output wire                    s_axil_wready,
    output wire [1:0]              s_axil_bresp,
    output wire                    s_axil_bvalid,
    input  wire                    s_axil_bready,
    input  wire [11:0]             s_axil_araddr,
    input  wire                    s_axil_arvalid,
    output wire                    s_axil_arready,
    output wire [31:0]             s_axil_rdata,
    output wire [1:0]              s_axil_rresp,
    output wire                    s_axil_rvalid,
    input  wire                    s_axil_rready,

    input  wire [DATA_WIDTH-1:0]   s_axis_host_tdata,
    input  wire [DATA_WIDTH/8-1:0] s_axis_host_tkeep,
    input  wire                    s_axis_host_tlast,
    input  wire [7:0]              s_axis_host_tid,
    input  wire [7:0]              s_axis_host_tdest,
    input  wire [15:0]             s_axis_host_tuser,
    input  wire                    s_axis_host_tvalid,
    output wire                    s_axis_host_tready,
    output wire [DATA_WIDTH-1:0]   m_axis_wire_tdata,
    output wire [DATA_WIDTH/8-1:0] m_axis_wire_tkeep,
    output wire                    m_axis_wire_tlast,
    output wire [7:0]              m_axis_wire_tid,
    output wire [7:0]              m_axis_wire_tdest,
    output wire [15:0]             m_axis_wire_tuser,
    output wire                    m_axis_wire_tvalid,
    input  wire                    m_axis_wire_tready,

    input  wire [DATA_WIDTH-1:0]   s_axis_wire_tdata,
    input  wire [DATA_WIDTH/8-1:0] s_axis_wire_tkeep,
    input  wire                    s_axis_wire_tlast,
    input  wire [7:0]              s_axis_wire_tid,
    input  wire [7:0]              s_axis_wire_tdest,
    input  wire [15:0]             s_axis_wire_tuser,
    input  wire                    s_axis_wire_tvalid,
    output wire                    s_axis_wire_tready,
    output wire [DATA_WIDTH-1:0]   m_axis_host_tdata,
    output wire [DATA_WIDTH/8-1:0] m_axis_host_tkeep,
    output wire                    m_axis_host_tlast,
    output wire [7:0]              m_axis_host_tid,
    output wire [7:0]              m_axis_host_tdest,
    output wire [15:0]             m_axis_host_tuser,
    output wire                    m_axis_host_tvalid,
    input  wire                    m_axis_host_tready
);

    localparam SIDE = 8 + 8 + 16;

    wire [SIDE-1:0] unused_tx_side, unused_rx_side;
    wire            unused_tx_drop, unused_rx_drop;
    wire [16:0]     unused_wire_length, unused_host_length;

    gn_nic_lanes #(.LANES(LANES), .DATA_WIDTH(DATA_WIDTH), .TX_SIDE_WIDTH(SIDE), .RX_SIDE_WIDTH(SIDE), .FLOWS_LOG2(11)) nic (
        .clk(clk), .rst(rst),
        .s_axis_host_tdata(s_axis_host_tdata), .s_axis_host_tkeep(s_axis_host_tkeep), .s_axis_host_tlast(s_axis_host_tlast),
        .s_axis_host_tuser({s_axis_host_tuser[0], 3'b100}), .s_axis_host_side({s_axis_host_tid, s_axis_host_tdest, s_axis_host_tuser}),
        .s_axis_host_tvalid(s_axis_host_tvalid), .s_axis_host_tready(s_axis_host_tready),
        .m_axis_wire_tdata(m_axis_wire_tdata), .m_axis_wire_tkeep(m_axis_wire_tkeep), .m_axis_wire_tlast(m_axis_wire_tlast),
        .m_axis_wire_side({m_axis_wire_tid, m_axis_wire_tdest, m_axis_wire_tuser}), .m_axis_wire_length(unused_wire_length),
        .m_axis_wire_tvalid(m_axis_wire_tvalid), .m_axis_wire_tready(m_axis_wire_tready),
        .tx_drop_side(unused_tx_side), .tx_drop_valid(unused_tx_drop), .tx_drop_ready(1'b1),
        .s_axis_wire_tdata(s_axis_wire_tdata), .s_axis_wire_tkeep(s_axis_wire_tkeep), .s_axis_wire_tlast(s_axis_wire_tlast),
        .s_axis_wire_tuser(s_axis_wire_tuser[0]), .s_axis_wire_side({s_axis_wire_tid, s_axis_wire_tdest, s_axis_wire_tuser}),
        .s_axis_wire_tvalid(s_axis_wire_tvalid), .s_axis_wire_tready(s_axis_wire_tready),
        .m_axis_host_tdata(m_axis_host_tdata), .m_axis_host_tkeep(m_axis_host_tkeep), .m_axis_host_tlast(m_axis_host_tlast),
        .m_axis_host_side({m_axis_host_tid, m_axis_host_tdest, m_axis_host_tuser}), .m_axis_host_length(unused_host_length),
        .m_axis_host_tvalid(m_axis_host_tvalid), .m_axis_host_tready(m_axis_host_tready),
        .rx_drop_side(unused_rx_side), .rx_drop_valid(unused_rx_drop), .rx_drop_ready(1'b1),
        .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
        .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready), .s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready), .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid),
        .s_axil_rready(s_axil_rready));

endmodule

`resetall
