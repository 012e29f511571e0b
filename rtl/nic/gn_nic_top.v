// SPDX-License-Identifier: Apache-2.0
// The NIC's path of frames, between a DMA engine and a MAC: both directions and their registers
// (the paper's Fig. 8).
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_nic_top #(
    parameter PROFILES    = 7,  // bit 0 paper, bit 1 lattice, bit 2 dense
    parameter RULES       = 4,  // 1..12
    parameter BUFFER_LOG2 = 10, // frames have at most 32 << BUFFER_LOG2 bytes, and a direction has
                                // three memories of that size; 4..11
    parameter RESULT_LOG2 = BUFFER_LOG2,  // as gn_nic_rx says
    parameter TX_SIDE_WIDTH = 1,  // bits that come with a frame from the host, and leave with it
    parameter RX_SIDE_WIDTH = 1,  // the same from the wire
    parameter FLOWS_LOG2  = 0,  // not 0: a table of 2^FLOWS_LOG2 TCP flows, 3 to 16, and of tuser of
                                // the host only bad counts
    parameter [31:0] FLOWS_SEED = 32'h6e6f7661,  // as gn_tcp_flows says
    parameter MAX_RESTORED = 9000, // longest IP packet that is restored, until software says another:
                                   // no longer than the host's buffers
    parameter FRAME_MAX   = 1522  // longest frame that the DMA engine or the MAC hands over, without
                                  // check sequence: a longer one than the buffer holds is dropped
) (
    input  wire         clk,
    input  wire         rst,                   // synchronous, active high

    // from the host: Ethernet frames without check sequence, AXI4-Stream (sink)
    input  wire [255:0] s_axis_host_tdata,
    input  wire [31:0]  s_axis_host_tkeep,     // all ones except in the last beat: bytes from bit
                                               // 0. If there are none the frame is bad
    input  wire         s_axis_host_tlast,
    input  wire [3:0]   s_axis_host_tuser,     // in the last beat: {bad, stored, head[1:0]}, as
                                               // gn_nic_tx says
    input  wire [TX_SIDE_WIDTH-1:0] s_axis_host_side,   // in the last beat: leaves with the frame
    input  wire         s_axis_host_tvalid,
    output wire         s_axis_host_tready,
    // to the wire: AXI4-Stream (source)
    output wire [255:0] m_axis_wire_tdata,
    output wire [31:0]  m_axis_wire_tkeep,
    output wire         m_axis_wire_tlast,
    output wire [TX_SIDE_WIDTH-1:0] m_axis_wire_side,   // in all beats
    output wire [16:0]  m_axis_wire_length,    // in all beats: bytes of the frame
    output wire         m_axis_wire_tvalid,
    input  wire         m_axis_wire_tready,
    // of each frame from the host that does not leave, as gn_nic_tx says
    output wire [TX_SIDE_WIDTH-1:0] tx_drop_side,
    output wire         tx_drop_valid,
    input  wire         tx_drop_ready,

    // from the wire: AXI4-Stream (sink)
    input  wire [255:0] s_axis_wire_tdata,
    input  wire [31:0]  s_axis_wire_tkeep,     // as s_axis_host_tkeep
    input  wire         s_axis_wire_tlast,
    input  wire         s_axis_wire_tuser,     // in the last beat: bad
    input  wire [RX_SIDE_WIDTH-1:0] s_axis_wire_side,
    input  wire         s_axis_wire_tvalid,
    output wire         s_axis_wire_tready,
    // to the host: AXI4-Stream (source)
    output wire [255:0] m_axis_host_tdata,
    output wire [31:0]  m_axis_host_tkeep,
    output wire         m_axis_host_tlast,
    output wire [RX_SIDE_WIDTH-1:0] m_axis_host_side,
    output wire [16:0]  m_axis_host_length,
    output wire         m_axis_host_tvalid,
    input  wire         m_axis_host_tready,
    // of each frame from the wire that does not leave
    output wire [RX_SIDE_WIDTH-1:0] rx_drop_side,
    output wire         rx_drop_valid,
    input  wire         rx_drop_ready,

    // registers: AXI4-Lite (slave), as gn_nic_regs says
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

    wire                tx_bypass, rx_bypass;
    wire [RULES*64-1:0] rules;
    wire [RULES*8-1:0]  heads;
    wire [15:0]         mtu, max_restored;

    wire        tx_event, tx_bad, tx_long, rx_event, rx_bad, rx_long;
    wire [3:0]  tx_kind, tx_rule;
    wire [16:0] tx_length, tx_payload_bytes, tx_wire_bytes, rx_length;
    wire [14:0] tx_values;
    wire [4:0]  rx_kind;
    wire [15:0] rx_wire_bytes, rx_payload_bytes;
    wire        flow_added, flow_evicted, flow_closed;

    gn_nic_tx #(.PROFILES(PROFILES), .RULES(RULES), .BUFFER_LOG2(BUFFER_LOG2), .FLOWS_LOG2(FLOWS_LOG2), .FLOWS_SEED(FLOWS_SEED),
             .SIDE_WIDTH(TX_SIDE_WIDTH)) tx (
        .clk(clk), .rst(rst), .cfg_bypass(tx_bypass), .cfg_rules(rules), .cfg_heads(heads), .cfg_mtu(mtu),
        .s_axis_tdata(s_axis_host_tdata), .s_axis_tkeep(s_axis_host_tkeep), .s_axis_tlast(s_axis_host_tlast),
        .s_axis_tuser(s_axis_host_tuser), .s_axis_side(s_axis_host_side), .s_axis_tvalid(s_axis_host_tvalid), .s_axis_tready(s_axis_host_tready),
        .m_axis_tdata(m_axis_wire_tdata), .m_axis_tkeep(m_axis_wire_tkeep), .m_axis_tlast(m_axis_wire_tlast),
        .m_axis_side(m_axis_wire_side), .m_axis_length(m_axis_wire_length), .m_axis_tvalid(m_axis_wire_tvalid), .m_axis_tready(m_axis_wire_tready),
        .drop_side(tx_drop_side), .drop_valid(tx_drop_valid), .drop_ready(tx_drop_ready),
        .event_valid(tx_event), .event_kind(tx_kind), .event_length(tx_length), .event_rule(tx_rule), .event_values(tx_values),
        .event_payload_bytes(tx_payload_bytes), .event_wire_bytes(tx_wire_bytes), .event_dropped_bad(tx_bad),
        .event_dropped_long(tx_long),
        .event_flow_added(flow_added), .event_flow_evicted(flow_evicted), .event_flow_closed(flow_closed));

    gn_nic_rx #(.PROFILES(PROFILES), .RULES(RULES), .BUFFER_LOG2(BUFFER_LOG2), .RESULT_LOG2(RESULT_LOG2),
             .SIDE_WIDTH(RX_SIDE_WIDTH)) rx (
        .clk(clk), .rst(rst), .cfg_bypass(rx_bypass), .cfg_rules(rules), .cfg_max_restored(max_restored),
        .s_axis_tdata(s_axis_wire_tdata), .s_axis_tkeep(s_axis_wire_tkeep), .s_axis_tlast(s_axis_wire_tlast),
        .s_axis_tuser(s_axis_wire_tuser), .s_axis_side(s_axis_wire_side), .s_axis_tvalid(s_axis_wire_tvalid), .s_axis_tready(s_axis_wire_tready),
        .m_axis_tdata(m_axis_host_tdata), .m_axis_tkeep(m_axis_host_tkeep), .m_axis_tlast(m_axis_host_tlast),
        .m_axis_side(m_axis_host_side), .m_axis_length(m_axis_host_length), .m_axis_tvalid(m_axis_host_tvalid), .m_axis_tready(m_axis_host_tready),
        .drop_side(rx_drop_side), .drop_valid(rx_drop_valid), .drop_ready(rx_drop_ready),
        .event_valid(rx_event), .event_kind(rx_kind), .event_length(rx_length), .event_wire_bytes(rx_wire_bytes),
        .event_payload_bytes(rx_payload_bytes), .event_dropped_bad(rx_bad), .event_dropped_long(rx_long));

    gn_nic_regs #(.PROFILES(PROFILES), .RULES(RULES), .BUFFER_LOG2(BUFFER_LOG2), .FLOWS_LOG2(FLOWS_LOG2),
                .FLOWS_SEED(FLOWS_SEED), .MAX_RESTORED(MAX_RESTORED)) regs (
        .clk(clk), .rst(rst),
        .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid), .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(s_axil_wstrb), .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
        .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready), .s_axil_araddr(s_axil_araddr), .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready), .s_axil_rdata(s_axil_rdata), .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid),
        .s_axil_rready(s_axil_rready),
        .cfg_tx_bypass(tx_bypass), .cfg_rx_bypass(rx_bypass), .cfg_rules(rules), .cfg_heads(heads),
        .cfg_mtu(mtu), .cfg_max_restored(max_restored),
        .tx_event_valid(tx_event), .tx_event_kind(tx_kind), .tx_event_length(tx_length), .tx_event_rule(tx_rule),
        .tx_event_values(tx_values), .tx_event_payload_bytes(tx_payload_bytes), .tx_event_wire_bytes(tx_wire_bytes),
        .tx_event_dropped_bad(tx_bad), .tx_event_dropped_long(tx_long),
        .tx_event_flow_added(flow_added), .tx_event_flow_evicted(flow_evicted), .tx_event_flow_closed(flow_closed),
        .rx_event_valid(rx_event), .rx_event_kind(rx_kind), .rx_event_length(rx_length), .rx_event_wire_bytes(rx_wire_bytes),
        .rx_event_payload_bytes(rx_payload_bytes), .rx_event_dropped_bad(rx_bad), .rx_event_dropped_long(rx_long));

    generate
        if (FRAME_MAX > 32 << BUFFER_LOG2) begin : g_check
            BUFFER_LOG2_is_too_small_for_frames_of_FRAME_MAX_bytes error();
        end
    endgenerate

endmodule

`resetall
