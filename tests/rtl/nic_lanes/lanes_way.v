// SPDX-License-Identifier: Apache-2.0
// gn_nic_lanes with one of its directions at the bench's streams. The other has nothing to do.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module lanes_way #(
    parameter LANES       = 2,
    parameter FROM_WIRE   = 0,  // from the wire to the host, not the other way
    parameter BUFFER_LOG2 = 10,
    parameter FLOWS_LOG2  = 0
) (
    input  wire         clk,
    input  wire         rst,

    input  wire [511:0] s_axis_tdata,
    input  wire [63:0]  s_axis_tkeep,
    input  wire         s_axis_tlast,
    input  wire [3:0]   s_axis_tuser,   // {bad, stored, head}; from the wire only bad counts
    input  wire [15:0]  s_axis_side,
    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    output wire [511:0] m_axis_tdata,
    output wire [63:0]  m_axis_tkeep,
    output wire         m_axis_tlast,
    output wire [15:0]  m_axis_side,
    output wire [16:0]  m_axis_length,
    output wire         m_axis_tvalid,
    input  wire         m_axis_tready,
    output wire [15:0]  drop_side,
    output wire         drop_valid,
    input  wire         drop_ready,

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

    wire [511:0] w_data, h_data;
    wire [63:0]  w_keep, h_keep;
    wire         w_last, w_valid, h_last, h_valid, host_ready, wire_ready, w_drop_valid, h_drop_valid;
    wire [15:0]  w_side, h_side, w_drop_side, h_drop_side;
    wire [16:0]  w_length, h_length;
    wire         up = FROM_WIRE != 0;

    gn_nic_lanes #(.LANES(LANES), .TX_SIDE_WIDTH(16), .RX_SIDE_WIDTH(16), .BUFFER_LOG2(BUFFER_LOG2), .FLOWS_LOG2(FLOWS_LOG2)) nic (
        .clk(clk), .rst(rst),
        .s_axis_host_tdata(s_axis_tdata), .s_axis_host_tkeep(s_axis_tkeep), .s_axis_host_tlast(s_axis_tlast),
        .s_axis_host_tuser(s_axis_tuser), .s_axis_host_side(s_axis_side), .s_axis_host_tvalid(s_axis_tvalid && !up),
        .s_axis_host_tready(host_ready),
        .m_axis_wire_tdata(w_data), .m_axis_wire_tkeep(w_keep), .m_axis_wire_tlast(w_last), .m_axis_wire_side(w_side),
        .m_axis_wire_length(w_length), .m_axis_wire_tvalid(w_valid), .m_axis_wire_tready(m_axis_tready),
        .tx_drop_side(w_drop_side), .tx_drop_valid(w_drop_valid), .tx_drop_ready(drop_ready),
        .s_axis_wire_tdata(s_axis_tdata), .s_axis_wire_tkeep(s_axis_tkeep), .s_axis_wire_tlast(s_axis_tlast),
        .s_axis_wire_tuser(s_axis_tuser[3]), .s_axis_wire_side(s_axis_side), .s_axis_wire_tvalid(s_axis_tvalid && up),
        .s_axis_wire_tready(wire_ready),
        .m_axis_host_tdata(h_data), .m_axis_host_tkeep(h_keep), .m_axis_host_tlast(h_last), .m_axis_host_side(h_side),
        .m_axis_host_length(h_length), .m_axis_host_tvalid(h_valid), .m_axis_host_tready(m_axis_tready),
        .rx_drop_side(h_drop_side), .rx_drop_valid(h_drop_valid), .rx_drop_ready(drop_ready),
        .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
        .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready), .s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready), .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid),
        .s_axil_rready(s_axil_rready));

    assign s_axis_tready = up ? wire_ready : host_ready;
    assign m_axis_tdata  = up ? h_data : w_data;
    assign m_axis_tkeep  = up ? h_keep : w_keep;
    assign m_axis_tlast  = up ? h_last : w_last;
    assign m_axis_side   = up ? h_side : w_side;
    assign m_axis_length = up ? h_length : w_length;
    assign m_axis_tvalid = up ? h_valid : w_valid;
    assign drop_side     = up ? h_drop_side : w_drop_side;
    assign drop_valid    = up ? h_drop_valid : w_drop_valid;

endmodule

`resetall
