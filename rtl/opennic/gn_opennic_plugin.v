// SPDX-License-Identifier: Apache-2.0
// What stands in OpenNIC's 250 MHz box: a gn_opennic_box for each interface, with the ports of the
// shell's own plugin, p2p_250mhz. generic_reset is the shell's.
//
// The shell's adapter drops what is not for its MAC, and QDMA names none. So the plugin writes
// where packets go, as p2p_250mhz does: from interface i to MAC i, and back.
//
// The shell gives each interface two windows of registers. The first is the NIC's. Nothing is in
// the second: it answers with DECERR.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_opennic_plugin #(
    parameter NUM_QDMA    = 1,  // others are not built
    parameter NUM_INTF    = 1,
    parameter LANES       = 2,  // these as gn_opennic_box says
    parameter PROFILES    = 7,
    parameter RULES       = 4,
    parameter BUFFER_LOG2 = 10,
    parameter FLOWS_LOG2  = 11
) (
    // of window w bit w, or the w-th field; interface i has windows 2i and 2i + 1
    input  wire [NUM_INTF*2-1:0]    s_axil_awvalid,
    input  wire [32*NUM_INTF*2-1:0] s_axil_awaddr,
    output wire [NUM_INTF*2-1:0]    s_axil_awready,
    input  wire [NUM_INTF*2-1:0]    s_axil_wvalid,
    input  wire [32*NUM_INTF*2-1:0] s_axil_wdata,
    output wire [NUM_INTF*2-1:0]    s_axil_wready,
    output wire [NUM_INTF*2-1:0]    s_axil_bvalid,
    output wire [2*NUM_INTF*2-1:0]  s_axil_bresp,
    input  wire [NUM_INTF*2-1:0]    s_axil_bready,
    input  wire [NUM_INTF*2-1:0]    s_axil_arvalid,
    input  wire [32*NUM_INTF*2-1:0] s_axil_araddr,
    output wire [NUM_INTF*2-1:0]    s_axil_arready,
    output wire [NUM_INTF*2-1:0]    s_axil_rvalid,
    output wire [32*NUM_INTF*2-1:0] s_axil_rdata,
    output wire [2*NUM_INTF*2-1:0]  s_axil_rresp,
    input  wire [NUM_INTF*2-1:0]    s_axil_rready,

    input  wire [NUM_INTF*NUM_QDMA-1:0]     s_axis_qdma_h2c_tvalid,
    input  wire [512*NUM_INTF*NUM_QDMA-1:0] s_axis_qdma_h2c_tdata,
    input  wire [64*NUM_INTF*NUM_QDMA-1:0]  s_axis_qdma_h2c_tkeep,
    input  wire [NUM_INTF*NUM_QDMA-1:0]     s_axis_qdma_h2c_tlast,
    input  wire [16*NUM_INTF*NUM_QDMA-1:0]  s_axis_qdma_h2c_tuser_size,
    input  wire [16*NUM_INTF*NUM_QDMA-1:0]  s_axis_qdma_h2c_tuser_src,
    input  wire [16*NUM_INTF*NUM_QDMA-1:0]  s_axis_qdma_h2c_tuser_dst,
    output wire [NUM_INTF*NUM_QDMA-1:0]     s_axis_qdma_h2c_tready,

    output wire [NUM_INTF*NUM_QDMA-1:0]     m_axis_qdma_c2h_tvalid,
    output wire [512*NUM_INTF*NUM_QDMA-1:0] m_axis_qdma_c2h_tdata,
    output wire [64*NUM_INTF*NUM_QDMA-1:0]  m_axis_qdma_c2h_tkeep,
    output wire [NUM_INTF*NUM_QDMA-1:0]     m_axis_qdma_c2h_tlast,
    output wire [16*NUM_INTF*NUM_QDMA-1:0]  m_axis_qdma_c2h_tuser_size,
    output wire [16*NUM_INTF*NUM_QDMA-1:0]  m_axis_qdma_c2h_tuser_src,
    output wire [16*NUM_INTF*NUM_QDMA-1:0]  m_axis_qdma_c2h_tuser_dst,
    input  wire [NUM_INTF*NUM_QDMA-1:0]     m_axis_qdma_c2h_tready,

    output wire [NUM_INTF-1:0]      m_axis_adap_tx_250mhz_tvalid,
    output wire [512*NUM_INTF-1:0]  m_axis_adap_tx_250mhz_tdata,
    output wire [64*NUM_INTF-1:0]   m_axis_adap_tx_250mhz_tkeep,
    output wire [NUM_INTF-1:0]      m_axis_adap_tx_250mhz_tlast,
    output wire [16*NUM_INTF-1:0]   m_axis_adap_tx_250mhz_tuser_size,
    output wire [16*NUM_INTF-1:0]   m_axis_adap_tx_250mhz_tuser_src,
    output wire [16*NUM_INTF-1:0]   m_axis_adap_tx_250mhz_tuser_dst,
    input  wire [NUM_INTF-1:0]      m_axis_adap_tx_250mhz_tready,

    input  wire [NUM_INTF-1:0]      s_axis_adap_rx_250mhz_tvalid,
    input  wire [512*NUM_INTF-1:0]  s_axis_adap_rx_250mhz_tdata,
    input  wire [64*NUM_INTF-1:0]   s_axis_adap_rx_250mhz_tkeep,
    input  wire [NUM_INTF-1:0]      s_axis_adap_rx_250mhz_tlast,
    input  wire [16*NUM_INTF-1:0]   s_axis_adap_rx_250mhz_tuser_size,
    input  wire [16*NUM_INTF-1:0]   s_axis_adap_rx_250mhz_tuser_src,
    input  wire [16*NUM_INTF-1:0]   s_axis_adap_rx_250mhz_tuser_dst,
    output wire [NUM_INTF-1:0]      s_axis_adap_rx_250mhz_tready,

    input  wire                     mod_rstn,
    output wire                     mod_rst_done,
    // the shell has it for these cards
`ifdef __au55n__
    input  wire                     ref_clk_100mhz,
`elsif __au55c__
    input  wire                     ref_clk_100mhz,
`elsif __au50__
    input  wire                     ref_clk_100mhz,
`elsif __au280__
    input  wire                     ref_clk_100mhz,
`endif
    input  wire                     axil_aclk,
    input  wire                     axis_aclk
);

    // The slower clock is the first.
    wire axis_rstn, axil_rstn;
    generic_reset #(.NUM_INPUT_CLK(2), .RESET_DURATION(100)) resets (
        .mod_rstn(mod_rstn), .mod_rst_done(mod_rst_done), .clk({axis_aclk, axil_aclk}), .rstn({axis_rstn, axil_rstn}));

    genvar i;
    generate
        if (NUM_QDMA != 1) begin : g_qdma
            NUM_QDMA_must_be_1 error();
        end

        for (i = 0; i < NUM_INTF; i = i + 1) begin : g_interface
            wire [15:0] unused_tx_dst, unused_rx_dst;

            gn_opennic_box #(.LANES(LANES), .PROFILES(PROFILES), .RULES(RULES), .BUFFER_LOG2(BUFFER_LOG2), .FLOWS_LOG2(FLOWS_LOG2)) box (
                .axis_aclk(axis_aclk), .axis_rst(!axis_rstn), .axil_aclk(axil_aclk), .axil_rst(!axil_rstn),
                .s_axil_awaddr(s_axil_awaddr[64*i +: 32]), .s_axil_awvalid(s_axil_awvalid[2*i]), .s_axil_awready(s_axil_awready[2*i]),
                .s_axil_wdata(s_axil_wdata[64*i +: 32]), .s_axil_wvalid(s_axil_wvalid[2*i]), .s_axil_wready(s_axil_wready[2*i]),
                .s_axil_bresp(s_axil_bresp[4*i +: 2]), .s_axil_bvalid(s_axil_bvalid[2*i]), .s_axil_bready(s_axil_bready[2*i]),
                .s_axil_araddr(s_axil_araddr[64*i +: 32]), .s_axil_arvalid(s_axil_arvalid[2*i]), .s_axil_arready(s_axil_arready[2*i]),
                .s_axil_rdata(s_axil_rdata[64*i +: 32]), .s_axil_rresp(s_axil_rresp[4*i +: 2]), .s_axil_rvalid(s_axil_rvalid[2*i]),
                .s_axil_rready(s_axil_rready[2*i]),
                .s_axis_qdma_h2c_tdata(s_axis_qdma_h2c_tdata[512*i +: 512]), .s_axis_qdma_h2c_tkeep(s_axis_qdma_h2c_tkeep[64*i +: 64]),
                .s_axis_qdma_h2c_tlast(s_axis_qdma_h2c_tlast[i]), .s_axis_qdma_h2c_tuser_size(s_axis_qdma_h2c_tuser_size[16*i +: 16]),
                .s_axis_qdma_h2c_tuser_src(s_axis_qdma_h2c_tuser_src[16*i +: 16]),
                .s_axis_qdma_h2c_tuser_dst(s_axis_qdma_h2c_tuser_dst[16*i +: 16]),
                .s_axis_qdma_h2c_tvalid(s_axis_qdma_h2c_tvalid[i]), .s_axis_qdma_h2c_tready(s_axis_qdma_h2c_tready[i]),
                .m_axis_adap_tx_tdata(m_axis_adap_tx_250mhz_tdata[512*i +: 512]),
                .m_axis_adap_tx_tkeep(m_axis_adap_tx_250mhz_tkeep[64*i +: 64]), .m_axis_adap_tx_tlast(m_axis_adap_tx_250mhz_tlast[i]),
                .m_axis_adap_tx_tuser_size(m_axis_adap_tx_250mhz_tuser_size[16*i +: 16]),
                .m_axis_adap_tx_tuser_src(m_axis_adap_tx_250mhz_tuser_src[16*i +: 16]), .m_axis_adap_tx_tuser_dst(unused_tx_dst),
                .m_axis_adap_tx_tvalid(m_axis_adap_tx_250mhz_tvalid[i]), .m_axis_adap_tx_tready(m_axis_adap_tx_250mhz_tready[i]),
                .s_axis_adap_rx_tdata(s_axis_adap_rx_250mhz_tdata[512*i +: 512]),
                .s_axis_adap_rx_tkeep(s_axis_adap_rx_250mhz_tkeep[64*i +: 64]), .s_axis_adap_rx_tlast(s_axis_adap_rx_250mhz_tlast[i]),
                .s_axis_adap_rx_tuser_size(s_axis_adap_rx_250mhz_tuser_size[16*i +: 16]),
                .s_axis_adap_rx_tuser_src(s_axis_adap_rx_250mhz_tuser_src[16*i +: 16]),
                .s_axis_adap_rx_tuser_dst(s_axis_adap_rx_250mhz_tuser_dst[16*i +: 16]),
                .s_axis_adap_rx_tvalid(s_axis_adap_rx_250mhz_tvalid[i]), .s_axis_adap_rx_tready(s_axis_adap_rx_250mhz_tready[i]),
                .m_axis_qdma_c2h_tdata(m_axis_qdma_c2h_tdata[512*i +: 512]), .m_axis_qdma_c2h_tkeep(m_axis_qdma_c2h_tkeep[64*i +: 64]),
                .m_axis_qdma_c2h_tlast(m_axis_qdma_c2h_tlast[i]), .m_axis_qdma_c2h_tuser_size(m_axis_qdma_c2h_tuser_size[16*i +: 16]),
                .m_axis_qdma_c2h_tuser_src(m_axis_qdma_c2h_tuser_src[16*i +: 16]), .m_axis_qdma_c2h_tuser_dst(unused_rx_dst),
                .m_axis_qdma_c2h_tvalid(m_axis_qdma_c2h_tvalid[i]), .m_axis_qdma_c2h_tready(m_axis_qdma_c2h_tready[i]));

            assign m_axis_adap_tx_250mhz_tuser_dst[16*i +: 16] = 16'd1 << (6 + i);
            assign m_axis_qdma_c2h_tuser_dst[16*i +: 16]       = 16'd1 << i;

            // ---- the second window: an address and a word are taken, and answered

            localparam W = 2*i + 1;
            reg have_a_reg = 1'b0, have_w_reg = 1'b0, reads_reg = 1'b0;

            assign s_axil_awready[W]         = !have_a_reg;
            assign s_axil_wready[W]          = !have_w_reg;
            assign s_axil_bvalid[W]          = have_a_reg && have_w_reg;
            assign s_axil_bresp[2*W +: 2]    = 2'b11;
            assign s_axil_arready[W]         = !reads_reg;
            assign s_axil_rvalid[W]          = reads_reg;
            assign s_axil_rresp[2*W +: 2]    = 2'b11;
            assign s_axil_rdata[32*W +: 32]  = 32'd0;

            always @(posedge axil_aclk) begin
                if (s_axil_awvalid[W]) have_a_reg <= 1'b1;
                if (s_axil_wvalid[W])  have_w_reg <= 1'b1;
                if (s_axil_bvalid[W] && s_axil_bready[W]) begin
                    have_a_reg <= 1'b0;
                    have_w_reg <= 1'b0;
                end
                reads_reg <= reads_reg ? !s_axil_rready[W] : s_axil_arvalid[W];
                if (!axil_rstn) begin
                    have_a_reg <= 1'b0;
                    have_w_reg <= 1'b0;
                    reads_reg  <= 1'b0;
                end
            end
        end
    endgenerate

    wire unused = &{1'b0, s_axil_awaddr, s_axil_wdata, s_axil_araddr};

endmodule

`resetall
