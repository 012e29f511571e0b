// SPDX-License-Identifier: Apache-2.0
// Turns a stream of docs/codec.md into its values: a frame of bytes in, a frame of binary32 out.
// Line rate: an output beat a cycle, as long as what comes in is no more than a beat a cycle. It
// checks the stream as gn_stream_decode() does.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_stream_decompress #(
    parameter PROFILES    = 7,  // those built: bit 0 paper, bit 1 lattice, bit 2 dense
    parameter COUNT_WIDTH = 24  // bits of a frame's number of values
) (
    input  wire                   clk,
    input  wire                   rst,            // synchronous, active high

    // AXI4-Stream (sink): bytes
    input  wire [255:0]           s_axis_tdata,
    input  wire [31:0]            s_axis_tkeep,   // all ones except in a frame's last beat: from
                                                  // bit 0, at least one
    input  wire                   s_axis_tlast,
    input  wire [COUNT_WIDTH+9:0] s_axis_tuser,   // in a frame's first beat:
                                                  // {count, bound_exp[7:0], profile[1:0]}
    input  wire                   s_axis_tvalid,
    output wire                   s_axis_tready,

    // AXI4-Stream (source): values, eight a beat, lane 0 in the lowest bits
    output wire [255:0]           m_axis_tdata,
    output wire [31:0]            m_axis_tkeep,   // all ones except in a frame's last beat
    output wire                   m_axis_tlast,
    output wire                   m_axis_tuser,   // in a frame's last beat: the frame is bad, drop
                                                  // it (it may be short)
    output wire                   m_axis_tvalid,
    input  wire                   m_axis_tready
);

    wire         room, started, unused_idle;
    wire [279:0] record;
    wire [1:0]   profile;
    wire [7:0]   bound_exp;
    wire [4:0]   low_bytes;
    wire [3:0]   class_;
    wire [2:0]   lanes;
    wire         header, valid, last, error;

    gn_credit_counter #(.CREDITS(17), .MOST(1), .LATE(1)) credits (
        .clk(clk), .rst(rst), .ok(room), .idle(unused_idle), .take({2'd0, started}),
        .give({2'd0, m_axis_tvalid && m_axis_tready}));

    gn_record_window #(.PROFILES(PROFILES), .COUNT_WIDTH(COUNT_WIDTH)) window (
        .clk(clk), .rst(rst),
        .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tlast(s_axis_tlast), .s_axis_tuser(s_axis_tuser),
        .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready),
        .m_room(room), .m_started(started),
        .m_record(record), .m_profile(profile), .m_bound_exp(bound_exp), .m_low_bytes(low_bytes), .m_class(class_), .m_header(header),
        .m_lanes(lanes), .m_valid(valid), .m_last(last), .m_error(error));

    wire [255:0] u_values;
    wire [2:0]   u_lanes, m_lanes;
    wire         u_valid, u_last, u_error;

    gn_decompress_unit #(.PROFILES(PROFILES)) unit (
        .clk(clk), .rst(rst),
        .s_record(record), .s_profile(profile), .s_bound_exp(bound_exp), .s_low_bytes(low_bytes), .s_class(class_), .s_header(header),
        .s_lanes(lanes), .s_valid(valid), .s_last(last), .s_error(error),
        .m_values(u_values), .m_lanes(u_lanes), .m_valid(u_valid), .m_last(u_last), .m_error(u_error));

    gn_credit_fifo #(.WIDTH(261), .LOG2(4)) fifo (
        .clk(clk), .rst(rst), .s_data({u_last, u_error && u_last, u_lanes, u_values}), .s_valid(u_valid),
        .m_data({m_axis_tlast, m_axis_tuser, m_lanes, m_axis_tdata}), .m_valid(m_axis_tvalid), .m_ready(m_axis_tready));

    wire [3:0] values = {m_lanes == 3'd0, m_lanes};

    genvar i;
    generate
        for (i = 0; i < 8; i = i + 1) begin : g_keep
            assign m_axis_tkeep[4*i +: 4] = {4{values > i}};
        end
    endgenerate

endmodule

`resetall
