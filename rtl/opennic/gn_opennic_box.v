// SPDX-License-Identifier: Apache-2.0
// The NIC for one interface of OpenNIC's 250 MHz box: between QDMA and the adapter of a MAC, 512
// bits wide. The host's queue and the port go along with a packet (tuser_src, tuser_dst). Its size
// (tuser_size) is what leaves. Registers are at the AXI4-Lite clock.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_opennic_box #(
    parameter LANES       = 2,  // NICs that share the work: 1, 2 or 4
    parameter PROFILES    = 7,  // these as gn_nic_top says
    parameter RULES       = 4,
    parameter BUFFER_LOG2 = 10,
    parameter FLOWS_LOG2  = 11, // of each lane; 0: no table of TCP flows, and TCP goes stored
    parameter [31:0] FLOWS_SEED = 32'h6e6f7661,
    parameter MAX_RESTORED = 1500  // of the register after a reset: the shell's driver has no room for
                                   // more, unless it was built for it
) (
    input  wire         axis_aclk,
    input  wire         axis_rst,       // synchronous to axis_aclk, active high
    input  wire         axil_aclk,
    input  wire         axil_rst,       // synchronous to axil_aclk, active high; together with axis_rst

    // the lowest 12 bits count: 4 KiB, as gn_nic_regs says
    input  wire [31:0]  s_axil_awaddr,
    input  wire         s_axil_awvalid,
    output wire         s_axil_awready,
    input  wire [31:0]  s_axil_wdata,   // OpenNIC has no strobes: words are written whole
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

    input  wire [511:0] s_axis_qdma_h2c_tdata,
    input  wire [63:0]  s_axis_qdma_h2c_tkeep,
    input  wire         s_axis_qdma_h2c_tlast,
    input  wire [15:0]  s_axis_qdma_h2c_tuser_size,  // not looked at: tkeep says the same
    input  wire [15:0]  s_axis_qdma_h2c_tuser_src,
    input  wire [15:0]  s_axis_qdma_h2c_tuser_dst,
    input  wire         s_axis_qdma_h2c_tvalid,
    output wire         s_axis_qdma_h2c_tready,

    output wire [511:0] m_axis_adap_tx_tdata,
    output wire [63:0]  m_axis_adap_tx_tkeep,
    output wire         m_axis_adap_tx_tlast,
    output wire [15:0]  m_axis_adap_tx_tuser_size,
    output wire [15:0]  m_axis_adap_tx_tuser_src,
    output wire [15:0]  m_axis_adap_tx_tuser_dst,
    output wire         m_axis_adap_tx_tvalid,
    input  wire         m_axis_adap_tx_tready,

    input  wire [511:0] s_axis_adap_rx_tdata,
    input  wire [63:0]  s_axis_adap_rx_tkeep,
    input  wire         s_axis_adap_rx_tlast,
    input  wire [15:0]  s_axis_adap_rx_tuser_size,   // not looked at
    input  wire [15:0]  s_axis_adap_rx_tuser_src,
    input  wire [15:0]  s_axis_adap_rx_tuser_dst,
    input  wire         s_axis_adap_rx_tvalid,
    output wire         s_axis_adap_rx_tready,

    output wire [511:0] m_axis_qdma_c2h_tdata,
    output wire [63:0]  m_axis_qdma_c2h_tkeep,
    output wire         m_axis_qdma_c2h_tlast,
    output wire [15:0]  m_axis_qdma_c2h_tuser_size,
    output wire [15:0]  m_axis_qdma_c2h_tuser_src,
    output wire [15:0]  m_axis_qdma_c2h_tuser_dst,
    output wire         m_axis_qdma_c2h_tvalid,
    input  wire         m_axis_qdma_c2h_tready
);

    localparam WIDTH = 512, LEAST = 60;

    // ---- registers, at the clock of the streams

    wire [11:0] awaddr, araddr;
    wire [31:0] wdata, rdata;
    wire [3:0]  wstrb;
    wire [1:0]  bresp, rresp;
    wire        awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
    wire        unused_address = &{1'b0, s_axil_awaddr[31:12], s_axil_araddr[31:12]};

    gn_axil_cross #(.ADDR_WIDTH(12)) crossing (
        .s_clk(axil_aclk), .s_rst(axil_rst),
        .s_axil_awaddr(s_axil_awaddr[11:0]), .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready),
        .s_axil_wdata(s_axil_wdata), .s_axil_wstrb(4'b1111), .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready),
        .s_axil_bresp(s_axil_bresp), .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready),
        .s_axil_araddr(s_axil_araddr[11:0]), .s_axil_arvalid(s_axil_arvalid), .s_axil_arready(s_axil_arready),
        .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid), .s_axil_rready(s_axil_rready),
        .m_clk(axis_aclk), .m_rst(axis_rst),
        .m_axil_awaddr(awaddr), .m_axil_awvalid(awvalid), .m_axil_awready(awready), .m_axil_wdata(wdata), .m_axil_wstrb(wstrb),
        .m_axil_wvalid(wvalid), .m_axil_wready(wready), .m_axil_bresp(bresp), .m_axil_bvalid(bvalid), .m_axil_bready(bready),
        .m_axil_araddr(araddr), .m_axil_arvalid(arvalid), .m_axil_arready(arready), .m_axil_rdata(rdata), .m_axil_rresp(rresp),
        .m_axil_rvalid(rvalid), .m_axil_rready(rready));

    // ---- the NIC. It says how long a packet is that leaves

    wire [16:0] w_length, h_length;
    wire [31:0] unused_tx_side, unused_rx_side;
    wire        unused_tx_drop, unused_rx_drop;
    wire        unused_sizes = &{1'b0, s_axis_qdma_h2c_tuser_size, s_axis_adap_rx_tuser_size, w_length[16], h_length[16]};
    assign m_axis_qdma_c2h_tuser_size = h_length[15:0];

    // a short frame has one beat
    wire [WIDTH-1:0]   w_data;
    wire [WIDTH/8-1:0] w_keep;
    wire               short = w_length < LEAST;
    genvar b;
    generate
        for (b = 0; b < LEAST; b = b + 1) begin : g_byte
            assign m_axis_adap_tx_tdata[8*b +: 8] = w_data[8*b +: 8] & {8{w_keep[b] || !short}};
            assign m_axis_adap_tx_tkeep[b]        = w_keep[b] || short;
        end
    endgenerate
    assign m_axis_adap_tx_tdata[WIDTH-1:8*LEAST]   = w_data[WIDTH-1:8*LEAST];
    assign m_axis_adap_tx_tkeep[WIDTH/8-1:LEAST]   = w_keep[WIDTH/8-1:LEAST];
    assign m_axis_adap_tx_tuser_size               = short ? LEAST : w_length[15:0];

    // Where a TCP segment's values begin, only a table of flows knows here.
    gn_nic_lanes #(.LANES(LANES), .DATA_WIDTH(WIDTH), .TX_SIDE_WIDTH(32), .RX_SIDE_WIDTH(32), .PROFILES(PROFILES), .RULES(RULES),
                .BUFFER_LOG2(BUFFER_LOG2), .FLOWS_LOG2(FLOWS_LOG2), .FLOWS_SEED(FLOWS_SEED), .MAX_RESTORED(MAX_RESTORED),
                .FRAME_MAX(9600)) lanes (
        .clk(axis_aclk), .rst(axis_rst),
        .s_axis_host_tdata(s_axis_qdma_h2c_tdata), .s_axis_host_tkeep(s_axis_qdma_h2c_tkeep), .s_axis_host_tlast(s_axis_qdma_h2c_tlast),
        .s_axis_host_tuser(4'b0100), .s_axis_host_side({s_axis_qdma_h2c_tuser_src, s_axis_qdma_h2c_tuser_dst}),
        .s_axis_host_tvalid(s_axis_qdma_h2c_tvalid), .s_axis_host_tready(s_axis_qdma_h2c_tready),
        .m_axis_wire_tdata(w_data), .m_axis_wire_tkeep(w_keep), .m_axis_wire_tlast(m_axis_adap_tx_tlast),
        .m_axis_wire_side({m_axis_adap_tx_tuser_src, m_axis_adap_tx_tuser_dst}), .m_axis_wire_length(w_length),
        .m_axis_wire_tvalid(m_axis_adap_tx_tvalid), .m_axis_wire_tready(m_axis_adap_tx_tready),
        .tx_drop_side(unused_tx_side), .tx_drop_valid(unused_tx_drop), .tx_drop_ready(1'b1),
        .s_axis_wire_tdata(s_axis_adap_rx_tdata), .s_axis_wire_tkeep(s_axis_adap_rx_tkeep), .s_axis_wire_tlast(s_axis_adap_rx_tlast),
        .s_axis_wire_tuser(1'b0), .s_axis_wire_side({s_axis_adap_rx_tuser_src, s_axis_adap_rx_tuser_dst}),
        .s_axis_wire_tvalid(s_axis_adap_rx_tvalid), .s_axis_wire_tready(s_axis_adap_rx_tready),
        .m_axis_host_tdata(m_axis_qdma_c2h_tdata), .m_axis_host_tkeep(m_axis_qdma_c2h_tkeep), .m_axis_host_tlast(m_axis_qdma_c2h_tlast),
        .m_axis_host_side({m_axis_qdma_c2h_tuser_src, m_axis_qdma_c2h_tuser_dst}), .m_axis_host_length(h_length),
        .m_axis_host_tvalid(m_axis_qdma_c2h_tvalid), .m_axis_host_tready(m_axis_qdma_c2h_tready),
        .rx_drop_side(unused_rx_side), .rx_drop_valid(unused_rx_drop), .rx_drop_ready(1'b1),
        .s_axil_awaddr(awaddr), .s_axil_awvalid(awvalid), .s_axil_awready(awready), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
        .s_axil_wvalid(wvalid), .s_axil_wready(wready), .s_axil_bresp(bresp), .s_axil_bvalid(bvalid), .s_axil_bready(bready),
        .s_axil_araddr(araddr), .s_axil_arvalid(arvalid), .s_axil_arready(arready), .s_axil_rdata(rdata), .s_axil_rresp(rresp),
        .s_axil_rvalid(rvalid), .s_axil_rready(rready));

endmodule

`resetall
