// SPDX-License-Identifier: Apache-2.0
// gn_nic_top, or with NIC_LANES so many lanes of gn_nic_lanes, with what leaves for the wire coming
// back from it: the bench sees the wire, may hold it up, and may call a frame bad.
`resetall
`timescale 1ns / 1ps
`default_nettype none

`ifdef NIC_LANES
    `define NIC_WIDTH 512
    `define NIC gn_nic_lanes #(.LANES(`NIC_LANES))
`else
    `define NIC_WIDTH 256
    `define NIC gn_nic_top
`endif

module nic_loop (
    input  wire         clk,
    input  wire         rst,

    // the host's side
    input  wire [`NIC_WIDTH-1:0] s_axis_tdata,
    input  wire [`NIC_WIDTH/8-1:0] s_axis_tkeep,
    input  wire         s_axis_tlast,
    input  wire [3:0]   s_axis_tuser,
    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    output wire [`NIC_WIDTH-1:0] m_axis_tdata,
    output wire [`NIC_WIDTH/8-1:0] m_axis_tkeep,
    output wire         m_axis_tlast,
    output wire         m_axis_tvalid,
    input  wire         m_axis_tready,

    // the wire
    output wire [`NIC_WIDTH-1:0] wire_tdata,
    output wire [`NIC_WIDTH/8-1:0] wire_tkeep,
    output wire         wire_tlast,
    output wire         wire_taken,
    input  wire         wire_hold,
    input  wire         wire_bad,

    input  wire [11:0]  s_axil_awaddr,
    input  wire         s_axil_awvalid,
    output wire         s_axil_awready,
    input  wire [31:0]  s_axil_wdata,
    input  wire [3:0]   s_axil_wstrb,
    input  wire         s_axil_wvalid,
    output wire         s_axil_wready,
    output wire [1:0]   s_axil_bresp,
    output wire         s_axil_bvalid,
    input  wire         s_axil_bready,
    input  wire [11:0]  s_axil_araddr,
    input  wire         s_axil_arvalid,
    output wire         s_axil_arready,
    output wire [31:0]  s_axil_rdata,
    output wire [1:0]   s_axil_rresp,
    output wire         s_axil_rvalid,
    input  wire         s_axil_rready
);

    wire        wire_tvalid, wire_tready, side, unused_side, unused_tx_side, unused_tx_drop, unused_rx_side, unused_rx_drop;
    wire [16:0] unused_wire_length, unused_host_length;
    assign wire_taken = wire_tvalid && wire_tready && !wire_hold;

    `NIC nic (
        .clk(clk), .rst(rst),
        .s_axis_host_tdata(s_axis_tdata), .s_axis_host_tkeep(s_axis_tkeep), .s_axis_host_tlast(s_axis_tlast),
        .s_axis_host_tuser(s_axis_tuser), .s_axis_host_side(1'b1), .s_axis_host_tvalid(s_axis_tvalid), .s_axis_host_tready(s_axis_tready),
        .m_axis_wire_tdata(wire_tdata), .m_axis_wire_tkeep(wire_tkeep), .m_axis_wire_tlast(wire_tlast),
        .m_axis_wire_side(side), .m_axis_wire_length(unused_wire_length), .m_axis_wire_tvalid(wire_tvalid), .m_axis_wire_tready(wire_tready && !wire_hold),
        .tx_drop_side(unused_tx_side), .tx_drop_valid(unused_tx_drop), .tx_drop_ready(1'b1),
        .s_axis_wire_tdata(wire_tdata), .s_axis_wire_tkeep(wire_tkeep), .s_axis_wire_tlast(wire_tlast), .s_axis_wire_tuser(wire_bad),
        .s_axis_wire_side(side), .s_axis_wire_tvalid(wire_tvalid && !wire_hold), .s_axis_wire_tready(wire_tready),
        .m_axis_host_tdata(m_axis_tdata), .m_axis_host_tkeep(m_axis_tkeep), .m_axis_host_tlast(m_axis_tlast),
        .m_axis_host_side(unused_side), .m_axis_host_length(unused_host_length), .m_axis_host_tvalid(m_axis_tvalid), .m_axis_host_tready(m_axis_tready),
        .rx_drop_side(unused_rx_side), .rx_drop_valid(unused_rx_drop), .rx_drop_ready(1'b1),
        .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
        .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready), .s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready), .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid),
        .s_axil_rready(s_axil_rready));

endmodule

`resetall
