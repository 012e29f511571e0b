// SPDX-License-Identifier: Apache-2.0
// Eight lanes, and for paper and lattice the record that they make: tag word and payloads, closed
// up by a tree of shifters (the paper's Fig. 9). Three stages and the logic of a fourth, whose
// result the next block registers. No enable: a group a cycle.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_compress_unit #(
    parameter PROFILES = 7  // those built: bit 0 paper, bit 1 lattice, bit 2 dense
) (
    input  wire         clk,
    input  wire         rst,             // synchronous, active high

    // as gn_lane_compress, a cycle ahead of their group
    input  wire [1:0]   s_profile,
    input  wire [7:0]   s_bound_exp,

    // a group
    input  wire [255:0] s_values,        // lane 0 in the lowest bits
    input  wire         s_valid,
    input  wire         s_last,          // of its frame

    // its codes, two cycles later: what gn_quad_pack takes
    output wire [15:0]  lane_tags,
    output wire [255:0] lane_payloads,
    output wire         lane_dense,      // profile dense, if it is built
    output wire         lane_valid,
    output wire         lane_last,

    // its record, three cycles later; not for profile dense
    output wire [271:0] m_record,        // zero above its length
    output wire [5:0]   m_length,        // bytes, 2..34
    output wire         m_valid,
    output wire         m_last
);

    // ---- lanes: two stages

    // Where dense is not built, its groups have no way of their own: every group goes the way of
    // records, whatever profile is asked for.
    localparam DENSE = (PROFILES & 4) != 0;

    reg [1:0] valid_reg = 2'b00, last_reg = 2'b00;
    reg [2:0] dense_reg = 3'b000;

    assign {lane_valid, lane_last, lane_dense} = {valid_reg[1], last_reg[1], dense_reg[2]};

    always @(posedge clk) begin
        valid_reg <= {valid_reg[0], s_valid};
        last_reg  <= {last_reg[0], s_last};
        dense_reg <= {dense_reg[1:0], DENSE && s_profile == 2'd2};
        if (rst) valid_reg <= 2'b00;
    end

    // ---- pairs and quads of lanes: 0..16 bytes

    wire [255:0] quad;
    wire [9:0]   quad_bytes;

    genvar i;
    generate
        for (i = 0; i < 8; i = i + 1) begin : g_lane
            gn_lane_compress #(.PROFILES(PROFILES)) lane (
                .clk(clk), .profile(s_profile), .bound_exp(s_bound_exp), .value(s_values[32*i +: 32]),
                .tag(lane_tags[2*i +: 2]), .payload(lane_payloads[32*i +: 32]));
        end
        for (i = 0; i < 2; i = i + 1) begin : g_quad
            wire [127:0] lanes = lane_payloads[128*i +: 128];
            wire [7:0]   tags  = lane_tags[8*i +: 8];
            wire [63:0]  low   = pair(tags[1:0], lanes[63:0]);
            wire [63:0]  high  = pair(tags[5:4], lanes[127:64]);
            wire [3:0]   low_bytes = bytes(tags[1:0]) + bytes(tags[3:2]);
            assign quad[128*i +: 128]     = {64'd0, low} | ({64'd0, high} << {low_bytes, 3'd0});
            assign quad_bytes[5*i +: 5]   = {1'b0, low_bytes} + {1'b0, bytes(tags[5:4]) + bytes(tags[7:6])};
        end
    endgenerate

    function [3:0] bytes(input [1:0] tag);
        bytes = {1'b0, tag == 2'd3, tag == 2'd2, tag == 2'd1};
    endfunction

    function [63:0] pair(input [1:0] low_tag, input [63:0] lanes);
        case (low_tag)
        2'd0: pair = {32'd0, lanes[63:32]};
        2'd1: pair = {24'd0, lanes[63:32], lanes[7:0]};
        2'd2: pair = {16'd0, lanes[63:32], lanes[15:0]};
        2'd3: pair = lanes;
        endcase
    endfunction

    reg [255:0] quad_reg;
    reg [9:0]   quad_bytes_reg;
    // the complement of its lower half, for half of what is shifted: a copy that is not merged
    // again
    reg [4:0]   not_bytes_reg;
    reg [15:0]  tags_reg;
    reg         quad_valid_reg = 1'b0, quad_last_reg;

    always @(posedge clk) begin
        quad_reg       <= quad;
        quad_bytes_reg <= quad_bytes;
        not_bytes_reg  <= ~quad_bytes[4:0];
        tags_reg       <= lane_tags;
        quad_last_reg  <= lane_last;
        quad_valid_reg <= lane_valid && !lane_dense;
        if (rst) quad_valid_reg <= 1'b0;
    end

    // ---- the record

    wire [127:0] second    = quad_reg[255:128];
    wire [255:0] from_low  = {128'd0, second} << {quad_bytes_reg[4:0], 3'd0};
    wire [255:0] from_high = {128'd0, second} << {~not_bytes_reg, 3'd0};
    wire [255:0] payloads  = {from_high[255:128], from_low[127:0] | quad_reg[127:0]};
    wire         unused_shifted = &{1'b0, from_high[127:0], from_low[255:128]};

    assign m_record = {payloads, tags_reg};
    assign m_length = {1'b0, quad_bytes_reg[4:0]} + {1'b0, quad_bytes_reg[9:5]} + 6'd2;
    assign m_valid  = quad_valid_reg;
    assign m_last   = quad_last_reg;

endmodule

`resetall
