// SPDX-License-Identifier: Apache-2.0
// gn_opennic_box with one tuser a stream, {size, src, dst}, as the bench's streams have it.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module opennic_pins #(
    parameter LANES = 2
) (
    input  wire         axis_aclk,
    input  wire         axis_rst,
    input  wire         axil_aclk,
    input  wire         axil_rst,

    input  wire [31:0]  s_axil_awaddr,
    input  wire         s_axil_awvalid,
    output wire         s_axil_awready,
    input  wire [31:0]  s_axil_wdata,
    input  wire [3:0]   s_axil_wstrb,
    input  wire         s_axil_wvalid,
    output wire         s_axil_wready,
    output wire [1:0]   s_axil_bresp,
    output wire         s_axil_bvalid,
    input  wire         s_axil_bready,
    input  wire [31:0]  s_axil_araddr,
    input  wire         s_axil_arvalid,
    output wire         s_axil_arready,
    output wire [31:0]  s_axil_rdata,
    output wire [1:0]   s_axil_rresp,
    output wire         s_axil_rvalid,
    input  wire         s_axil_rready,

    input  wire [511:0] s_axis_h2c_tdata,
    input  wire [63:0]  s_axis_h2c_tkeep,
    input  wire         s_axis_h2c_tlast,
    input  wire [47:0]  s_axis_h2c_tuser,
    input  wire         s_axis_h2c_tvalid,
    output wire         s_axis_h2c_tready,
    output wire [511:0] m_axis_tx_tdata,
    output wire [63:0]  m_axis_tx_tkeep,
    output wire         m_axis_tx_tlast,
    output wire [47:0]  m_axis_tx_tuser,
    output wire         m_axis_tx_tvalid,
    input  wire         m_axis_tx_tready,
    input  wire [511:0] s_axis_rx_tdata,
    input  wire [63:0]  s_axis_rx_tkeep,
    input  wire         s_axis_rx_tlast,
    input  wire [47:0]  s_axis_rx_tuser,
    input  wire         s_axis_rx_tvalid,
    output wire         s_axis_rx_tready,
    output wire [511:0] m_axis_c2h_tdata,
    output wire [63:0]  m_axis_c2h_tkeep,
    output wire         m_axis_c2h_tlast,
    output wire [47:0]  m_axis_c2h_tuser,
    output wire         m_axis_c2h_tvalid,
    input  wire         m_axis_c2h_tready
);

    wire unused_strobes = &{1'b0, s_axil_wstrb};

    gn_opennic_box #(.LANES(LANES)) box (
        .axis_aclk(axis_aclk), .axis_rst(axis_rst), .axil_aclk(axil_aclk), .axil_rst(axil_rst),
        .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata),
        .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp), .s_axil_bvalid(s_axil_bvalid),
        .s_axil_bready(s_axil_bready), .s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid), .s_axil_arready(s_axil_arready),
        .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid), .s_axil_rready(s_axil_rready),
        .s_axis_qdma_h2c_tdata(s_axis_h2c_tdata), .s_axis_qdma_h2c_tkeep(s_axis_h2c_tkeep), .s_axis_qdma_h2c_tlast(s_axis_h2c_tlast),
        .s_axis_qdma_h2c_tuser_size(s_axis_h2c_tuser[47:32]), .s_axis_qdma_h2c_tuser_src(s_axis_h2c_tuser[31:16]),
        .s_axis_qdma_h2c_tuser_dst(s_axis_h2c_tuser[15:0]), .s_axis_qdma_h2c_tvalid(s_axis_h2c_tvalid),
        .s_axis_qdma_h2c_tready(s_axis_h2c_tready),
        .m_axis_adap_tx_tdata(m_axis_tx_tdata), .m_axis_adap_tx_tkeep(m_axis_tx_tkeep), .m_axis_adap_tx_tlast(m_axis_tx_tlast),
        .m_axis_adap_tx_tuser_size(m_axis_tx_tuser[47:32]), .m_axis_adap_tx_tuser_src(m_axis_tx_tuser[31:16]),
        .m_axis_adap_tx_tuser_dst(m_axis_tx_tuser[15:0]), .m_axis_adap_tx_tvalid(m_axis_tx_tvalid),
        .m_axis_adap_tx_tready(m_axis_tx_tready),
        .s_axis_adap_rx_tdata(s_axis_rx_tdata), .s_axis_adap_rx_tkeep(s_axis_rx_tkeep), .s_axis_adap_rx_tlast(s_axis_rx_tlast),
        .s_axis_adap_rx_tuser_size(s_axis_rx_tuser[47:32]), .s_axis_adap_rx_tuser_src(s_axis_rx_tuser[31:16]),
        .s_axis_adap_rx_tuser_dst(s_axis_rx_tuser[15:0]), .s_axis_adap_rx_tvalid(s_axis_rx_tvalid),
        .s_axis_adap_rx_tready(s_axis_rx_tready),
        .m_axis_qdma_c2h_tdata(m_axis_c2h_tdata), .m_axis_qdma_c2h_tkeep(m_axis_c2h_tkeep), .m_axis_qdma_c2h_tlast(m_axis_c2h_tlast),
        .m_axis_qdma_c2h_tuser_size(m_axis_c2h_tuser[47:32]), .m_axis_qdma_c2h_tuser_src(m_axis_c2h_tuser[31:16]),
        .m_axis_qdma_c2h_tuser_dst(m_axis_c2h_tuser[15:0]), .m_axis_qdma_c2h_tvalid(m_axis_c2h_tvalid),
        .m_axis_qdma_c2h_tready(m_axis_c2h_tready));

endmodule

`resetall
