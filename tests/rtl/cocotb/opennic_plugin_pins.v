// SPDX-License-Identifier: Apache-2.0
// Interface 1 of two of gn_opennic_plugin: its streams with one tuser, {size, src, dst}, and both
// of its windows of registers. Interface 0 does nothing.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module opennic_plugin_pins #(
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
    input  wire [31:0]  s_axil_other_awaddr,
    input  wire         s_axil_other_awvalid,
    output wire         s_axil_other_awready,
    input  wire [31:0]  s_axil_other_wdata,
    input  wire [3:0]   s_axil_other_wstrb,
    input  wire         s_axil_other_wvalid,
    output wire         s_axil_other_wready,
    output wire [1:0]   s_axil_other_bresp,
    output wire         s_axil_other_bvalid,
    input  wire         s_axil_other_bready,
    input  wire [31:0]  s_axil_other_araddr,
    input  wire         s_axil_other_arvalid,
    output wire         s_axil_other_arready,
    output wire [31:0]  s_axil_other_rdata,
    output wire [1:0]   s_axil_other_rresp,
    output wire         s_axil_other_rvalid,
    input  wire         s_axil_other_rready,
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

    wire        unused_strobes = &{1'b0, s_axil_wstrb, s_axil_other_wstrb, axis_rst};
    wire        unused_done;
    wire [1:0] unused_awready;
    wire [1:0] unused_wready;
    wire [3:0] unused_bresp;
    wire [1:0] unused_bvalid;
    wire [1:0] unused_arready;
    wire [63:0] unused_rdata;
    wire [3:0] unused_rresp;
    wire [1:0] unused_rvalid;
    wire unused_h2c_tready;
    wire [511:0] unused_tx_tdata;
    wire [63:0] unused_tx_tkeep;
    wire unused_tx_tlast;
    wire unused_tx_tvalid;
    wire [15:0] unused_tx_size;
    wire [15:0] unused_tx_src;
    wire [15:0] unused_tx_dst;
    wire unused_rx_tready;
    wire [511:0] unused_c2h_tdata;
    wire [63:0] unused_c2h_tkeep;
    wire unused_c2h_tlast;
    wire unused_c2h_tvalid;
    wire [15:0] unused_c2h_size;
    wire [15:0] unused_c2h_src;
    wire [15:0] unused_c2h_dst;

    gn_opennic_plugin #(.NUM_INTF(2), .LANES(LANES)) plugin (
        .axis_aclk(axis_aclk), .axil_aclk(axil_aclk), .mod_rstn(!axil_rst), .mod_rst_done(unused_done),
        .s_axil_awaddr({s_axil_other_awaddr, s_axil_awaddr, 64'd0}),
        .s_axil_awvalid({s_axil_other_awvalid, s_axil_awvalid, 2'd0}),
        .s_axil_awready({s_axil_other_awready, s_axil_awready, unused_awready}),
        .s_axil_wdata({s_axil_other_wdata, s_axil_wdata, 64'd0}),
        .s_axil_wvalid({s_axil_other_wvalid, s_axil_wvalid, 2'd0}),
        .s_axil_wready({s_axil_other_wready, s_axil_wready, unused_wready}),
        .s_axil_bresp({s_axil_other_bresp, s_axil_bresp, unused_bresp}),
        .s_axil_bvalid({s_axil_other_bvalid, s_axil_bvalid, unused_bvalid}),
        .s_axil_bready({s_axil_other_bready, s_axil_bready, 2'd0}),
        .s_axil_araddr({s_axil_other_araddr, s_axil_araddr, 64'd0}),
        .s_axil_arvalid({s_axil_other_arvalid, s_axil_arvalid, 2'd0}),
        .s_axil_arready({s_axil_other_arready, s_axil_arready, unused_arready}),
        .s_axil_rdata({s_axil_other_rdata, s_axil_rdata, unused_rdata}),
        .s_axil_rresp({s_axil_other_rresp, s_axil_rresp, unused_rresp}),
        .s_axil_rvalid({s_axil_other_rvalid, s_axil_rvalid, unused_rvalid}),
        .s_axil_rready({s_axil_other_rready, s_axil_rready, 2'd0}),
        .s_axis_qdma_h2c_tdata({s_axis_h2c_tdata, 512'd0}),
        .s_axis_qdma_h2c_tkeep({s_axis_h2c_tkeep, 64'd0}),
        .s_axis_qdma_h2c_tlast({s_axis_h2c_tlast, 1'd0}),
        .s_axis_qdma_h2c_tvalid({s_axis_h2c_tvalid, 1'd0}),
        .s_axis_qdma_h2c_tready({s_axis_h2c_tready, unused_h2c_tready}),
        .s_axis_qdma_h2c_tuser_size({s_axis_h2c_tuser[47:32], 16'd0}),
        .s_axis_qdma_h2c_tuser_src({s_axis_h2c_tuser[31:16], 16'd0}),
        .s_axis_qdma_h2c_tuser_dst({s_axis_h2c_tuser[15:0], 16'd0}),
        .m_axis_adap_tx_250mhz_tdata({m_axis_tx_tdata, unused_tx_tdata}),
        .m_axis_adap_tx_250mhz_tkeep({m_axis_tx_tkeep, unused_tx_tkeep}),
        .m_axis_adap_tx_250mhz_tlast({m_axis_tx_tlast, unused_tx_tlast}),
        .m_axis_adap_tx_250mhz_tvalid({m_axis_tx_tvalid, unused_tx_tvalid}),
        .m_axis_adap_tx_250mhz_tready({m_axis_tx_tready, 1'b1}),
        .m_axis_adap_tx_250mhz_tuser_size({m_axis_tx_tuser[47:32], unused_tx_size}),
        .m_axis_adap_tx_250mhz_tuser_src({m_axis_tx_tuser[31:16], unused_tx_src}),
        .m_axis_adap_tx_250mhz_tuser_dst({m_axis_tx_tuser[15:0], unused_tx_dst}),
        .s_axis_adap_rx_250mhz_tdata({s_axis_rx_tdata, 512'd0}),
        .s_axis_adap_rx_250mhz_tkeep({s_axis_rx_tkeep, 64'd0}),
        .s_axis_adap_rx_250mhz_tlast({s_axis_rx_tlast, 1'd0}),
        .s_axis_adap_rx_250mhz_tvalid({s_axis_rx_tvalid, 1'd0}),
        .s_axis_adap_rx_250mhz_tready({s_axis_rx_tready, unused_rx_tready}),
        .s_axis_adap_rx_250mhz_tuser_size({s_axis_rx_tuser[47:32], 16'd0}),
        .s_axis_adap_rx_250mhz_tuser_src({s_axis_rx_tuser[31:16], 16'd0}),
        .s_axis_adap_rx_250mhz_tuser_dst({s_axis_rx_tuser[15:0], 16'd0}),
        .m_axis_qdma_c2h_tdata({m_axis_c2h_tdata, unused_c2h_tdata}),
        .m_axis_qdma_c2h_tkeep({m_axis_c2h_tkeep, unused_c2h_tkeep}),
        .m_axis_qdma_c2h_tlast({m_axis_c2h_tlast, unused_c2h_tlast}),
        .m_axis_qdma_c2h_tvalid({m_axis_c2h_tvalid, unused_c2h_tvalid}),
        .m_axis_qdma_c2h_tready({m_axis_c2h_tready, 1'b1}),
        .m_axis_qdma_c2h_tuser_size({m_axis_c2h_tuser[47:32], unused_c2h_size}),
        .m_axis_qdma_c2h_tuser_src({m_axis_c2h_tuser[31:16], unused_c2h_src}),
        .m_axis_qdma_c2h_tuser_dst({m_axis_c2h_tuser[15:0], unused_c2h_dst}));

endmodule

`resetall
