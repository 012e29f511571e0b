// SPDX-License-Identifier: Apache-2.0
// Turns values into the stream of docs/codec.md: a frame of binary32 in, a frame of bytes out. Line
// rate: an input beat a cycle, as long as what comes out is no more than a beat a cycle.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_stream_compress #(
    parameter PROFILES    = 7,  // those built: bit 0 paper, bit 1 lattice, bit 2 dense
    parameter COUNT_WIDTH = 24  // bits of a frame's number of values
) (
    input  wire                   clk,
    input  wire                   rst,            // synchronous, active high

    // AXI4-Stream (sink): values, eight a beat, lane 0 in the lowest bits
    input  wire [255:0]           s_axis_tdata,
    input  wire [31:0]            s_axis_tkeep,   // all ones except in the last beat: whole values
                                                  // from bit 0, at least one
    input  wire                   s_axis_tlast,
    input  wire [9:0]             s_axis_tuser,   // {bound_exp, profile}: of a frame's first beat
    input  wire                   s_axis_tvalid,
    output wire                   s_axis_tready,

    // AXI4-Stream (source): bytes; all beats full but the last
    output wire [255:0]           m_axis_tdata,
    output wire [31:0]            m_axis_tkeep,
    output wire                   m_axis_tlast,
    output wire [COUNT_WIDTH-1:0] m_axis_tuser,   // in a frame's last beat its number of values,
                                                  // modulo 2^COUNT_WIDTH; in others 0
    output wire                   m_axis_tvalid,
    input  wire                   m_axis_tready
);

    localparam RECORDS = (PROFILES & 3) != 0;
    localparam DENSE   = (PROFILES & 4) != 0;

    // ---- input: lanes that are not kept become +0.0. The registers have no enable: credits say
    // when a beat may come. A frame's profile and bound hold from its first beat on.

    wire         take = s_axis_tvalid && s_axis_tready;

    reg  [255:0] i_values;
    reg  [3:0]   i_lanes;
    reg          i_last, i_valid = 1'b0;
    reg          first_reg = 1'b1;
    wire [7:0]   s_bound_exp, bound_exp;
    wire [1:0]   s_profile, profile;
    reg  [7:0]   bound_exp_reg;
    reg  [1:0]   profile_reg;
    assign {s_bound_exp, s_profile} = s_axis_tuser;
    wire         dense = DENSE && (!RECORDS || s_profile == 2'd2);
    assign bound_exp = first_reg ? s_bound_exp : bound_exp_reg;
    assign profile   = !first_reg ? profile_reg : dense ? 2'd2 : s_profile;
    integer      n;

    // a value is kept when its first byte is
    wire unused_keep = &{1'b0, s_axis_tkeep};

    always @(posedge clk) begin
        for (n = 0; n < 8; n = n + 1) i_values[32*n +: 32] <= s_axis_tkeep[4*n] ? s_axis_tdata[32*n +: 32] : 32'd0;
        i_lanes <= s_axis_tkeep[28] ? 4'd8 : s_axis_tkeep[24] ? 4'd7 : s_axis_tkeep[20] ? 4'd6 : s_axis_tkeep[16] ? 4'd5 :
                   s_axis_tkeep[12] ? 4'd4 : s_axis_tkeep[8] ? 4'd3 : s_axis_tkeep[4] ? 4'd2 : 4'd1;
        i_last  <= s_axis_tlast;
        i_valid <= take;
        if (take) first_reg <= s_axis_tlast;
        bound_exp_reg <= bound_exp;
        profile_reg   <= profile;
        if (rst) begin
            first_reg <= 1'b1;
            i_valid   <= 1'b0;
        end
    end

    // ---- values of a frame

    reg  [COUNT_WIDTH-1:0] values_reg = {COUNT_WIDTH{1'b0}};
    wire [COUNT_WIDTH-1:0] values = values_reg + {{COUNT_WIDTH-4{1'b0}}, i_lanes};

    always @(posedge clk) begin
        if (i_valid) values_reg <= i_last ? {COUNT_WIDTH{1'b0}} : values;
        if (rst) values_reg <= {COUNT_WIDTH{1'b0}};
    end

    // ---- groups to records, and to pieces of quads

    wire [15:0]  lane_tags;
    wire [255:0] lane_payloads;
    wire         lane_dense, lane_valid, lane_last;
    wire [271:0] u_record;
    wire [5:0]   u_length;
    wire         u_last, u_valid;

    gn_compress_unit #(.PROFILES(PROFILES)) unit (
        .clk(clk), .rst(rst),
        .s_profile(profile), .s_bound_exp(bound_exp), .s_values(i_values), .s_valid(i_valid), .s_last(i_last),
        .lane_tags(lane_tags), .lane_payloads(lane_payloads), .lane_dense(lane_dense), .lane_valid(lane_valid),
        .lane_last(lane_last),
        .m_record(u_record), .m_length(u_length), .m_valid(u_valid), .m_last(u_last));

    wire [271:0] r_record;
    wire [5:0]   r_length;
    wire         r_last, r_valid, r_ready;
    wire [279:0] q_piece;
    wire [5:0]   q_length;
    wire         q_last, q_valid, q_ready;
    wire [2:0]   q_released;
    wire         p_ready;

    wire unused_idle;
    gn_credit_counter #(.CREDITS(16), .MOST(1), .LATE(1)) credits (
        .clk(clk), .rst(rst), .ok(s_axis_tready), .idle(unused_idle),
        .take({2'd0, take}), .give(q_released + {2'd0, r_valid && r_ready}));

    generate
        if (RECORDS) begin : g_records
            gn_credit_fifo #(.WIDTH(279), .LOG2(4)) records (
                .clk(clk), .rst(rst), .s_data({u_last, u_length, u_record}), .s_valid(u_valid),
                .m_data({r_last, r_length, r_record}), .m_valid(r_valid), .m_ready(r_ready));
        end else begin : g_no_records
            wire unused_record = &{1'b0, u_record, u_length, u_last, u_valid, 1'b0};
            assign {r_record, r_length, r_last, r_valid} = 280'd0;
        end
        if (DENSE) begin : g_dense
            gn_quad_pack quads (
                .clk(clk), .rst(rst),
                .s_tags(lane_tags), .s_words(lane_payloads), .s_valid(lane_valid && lane_dense), .s_last(lane_last),
                .s_released(q_released),
                .m_piece(q_piece), .m_length(q_length), .m_last(q_last), .m_valid(q_valid), .m_ready(q_ready));
        end else begin : g_no_dense
            wire unused_lanes = &{1'b0, lane_tags, lane_payloads, lane_dense, lane_valid, lane_last, q_ready, 1'b0};
            assign {q_piece, q_length, q_last, q_valid, q_released} = 291'd0;
        end
    endgenerate

    // ---- to beats: records and pieces of quads take different ways, and the order of frames says
    // from which one the next comes

    wire order_dense;  // way of the oldest frame that is not all in the packer
    wire p_last, p_valid;

    generate
        if (RECORDS && DENSE) begin : g_order
            wire unused_order;
            gn_credit_fifo #(.WIDTH(1), .LOG2(5)) order (
                .clk(clk), .rst(rst), .s_data(dense), .s_valid(take && first_reg),
                .m_data(order_dense), .m_valid(unused_order), .m_ready(p_valid && p_ready && p_last));
        end else begin : g_no_order
            assign order_dense = DENSE;
            wire unused_order = &{1'b0, first_reg, 1'b0};
        end
    endgenerate

    assign p_last  = order_dense ? q_last : r_last;
    assign p_valid = order_dense ? q_valid : r_valid;
    assign q_ready = p_ready && order_dense;
    assign r_ready = p_ready && !order_dense;

    localparam RECORD_BYTES = DENSE ? 35 : 34;

    wire [279:0] p_record = order_dense ? q_piece : {8'd0, r_record};
    wire unused_top = &{1'b0, p_record};

    gn_record_packer #(.RECORD_BYTES(RECORD_BYTES)) packer (
        .clk(clk), .rst(rst),
        .s_record(p_record[8*RECORD_BYTES-1:0]), .s_length(order_dense ? q_length : r_length), .s_last(p_last),
        .s_valid(p_valid), .s_ready(p_ready),
        .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tlast(m_axis_tlast),
        .m_axis_tvalid(m_axis_tvalid), .m_axis_tready(m_axis_tready));

    // A frame inside has at least a group or a beat here: fewer than 60 frames are. A frame's count
    // comes only with its last beat in, and is needed with its last beat out.
    wire                   unused_valid;
    wire [COUNT_WIDTH-1:0] count;
    gn_credit_fifo #(.WIDTH(COUNT_WIDTH), .LOG2(6)) counts (
        .clk(clk), .rst(rst), .s_data(values), .s_valid(i_valid && i_last),
        .m_data(count), .m_valid(unused_valid), .m_ready(m_axis_tvalid && m_axis_tready && m_axis_tlast));

    assign m_axis_tuser = count & {COUNT_WIDTH{m_axis_tlast}};  // a beat that waits must not change

    generate
        if (PROFILES < 1 || PROFILES > 7 || COUNT_WIDTH < 5) begin : g_check
            PROFILES_must_name_one_to_three_profiles_and_COUNT_WIDTH_be_5_or_more error();
        end
    endgenerate

endmodule

`resetall
