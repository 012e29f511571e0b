// SPDX-License-Identifier: Apache-2.0
// Profile dense: the bit planes of a group of integers, and the class that keeps them
// (docs/codec.md). Two stages. No enable: a group a cycle.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_group_class #(
    parameter SUMS = 0  // 1: integers of 32 bits; 0: of 16, as gn_lane_compress gives them
) (
    input  wire         clk,

    input  wire [15:0]  s_tags,       // of gn_lane_compress: 3 for a raw lane
    input  wire [255:0] s_words,      // q as int32, or the raw value

    // two cycles later
    output reg  [255:0] m_planes,
    output reg  [7:0]   m_raw,
    output reg  [3:0]   m_class
);

    integer j, n;

    // ---- first stage: planes, and which of them differ from the sign's

    wire [255:0] planes;
    reg [14:0]  used;       // bit b: in some lane bit b is not the sign
    reg         negative;   // some lane is
    reg [7:0]   raw;
    reg         wide;       // some lane is beyond 32767, either way

    always @* begin
        negative = 1'b0;
        wide     = 1'b0;
        used     = 15'd0;
        for (j = 0; j < 8; j = j + 1) begin
            raw[j]   = &s_tags[2*j +: 2];
            negative = negative | s_words[32*j + 15];
            wide     = wide | (SUMS != 0 && (s_words[32*j + 15 +: 17] != {17{s_words[32*j + 31]}} || s_words[32*j +: 16] == 16'h8000));
            used     = used | (s_words[32*j +: 15] ^ {15{s_words[32*j + 15]}});
        end
    end

    `include "bit_planes.vh"

    genvar g, h;
    generate
        for (g = 0; g < 4; g = g + 1) begin : g_planes  // of the same byte of all words
            wire [63:0] bytes;
            for (h = 0; h < 8; h = h + 1) begin : g_byte
                assign bytes[8*h +: 8] = s_words[32*h + 8*g +: 8];
            end
            assign planes[64*g +: 64] = bit_planes(bytes);
        end
    endgenerate

    reg [255:0] a_planes;
    reg [14:0]  a_used;
    reg [7:0]   a_raw;
    reg         a_negative, a_wide;

    // ---- second stage: the class

    reg [3:0] length;       // bits of the largest magnitude, as a sum over lanes' OR
    reg [3:0] class_;

    always @* begin
        length = 4'd0;
        for (n = 0; n < 15; n = n + 1)
            if (a_used[n]) length = n[3:0] + 4'd1;
        if (|a_raw || a_wide)                    class_ = 4'd15;
        else if (!a_negative && length == 4'd0)  class_ = 4'd0;
        else if (!a_negative && length <= 4'd3)  class_ = 4'd8 + length;
        else if (length <= 4'd7)                 class_ = length + 4'd1;
        else if (length <= 4'd9)                 class_ = 4'd12;
        else if (length <= 4'd11)                class_ = 4'd13;
        else                                     class_ = 4'd14;
    end

    always @(posedge clk) begin
        a_planes   <= planes;
        a_used     <= used;
        a_raw      <= raw;
        a_negative <= negative;
        a_wide     <= wide;

        m_planes <= a_planes;
        m_raw    <= a_raw;
        m_class  <= class_;
    end

endmodule

`resetall
