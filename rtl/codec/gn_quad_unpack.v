// SPDX-License-Identifier: Apache-2.0
// Profile dense: turns the bit planes of a group into eight words. One stage and the logic of a
// second, whose result the next block registers. No enable: a group a cycle.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_quad_unpack (
    input  wire         clk,

    input  wire [263:0] s_payload,  // what is above the class's bytes does not matter
    input  wire [3:0]   s_class,

    // one cycle later
    output wire [255:0] m_words,    // q as int32, or where the mask has a bit a binary32
    output wire [7:0]   m_raw       // mask
);

    // ---- planes: which there are, and which is the sign

    reg [4:0] width;    // planes of classes below 15
    reg [7:0] sign;
    integer   b;

    always @* begin
        case (s_class)
        4'd9, 4'd10, 4'd11: width = {3'd0, s_class[1:0]};
        4'd12:              width = 5'd10;
        4'd13:              width = 5'd12;
        4'd14, 4'd15:       width = 5'd16;
        default:            width = {1'b0, s_class};
        endcase
        sign = 8'd0;
        for (b = 0; b < 16; b = b + 1)
            if (width == b[4:0] + 5'd1) sign = s_payload[8*b +: 8];
        if (s_class >= 4'd9 && s_class <= 4'd11) sign = 8'd0;
    end

    reg [263:0] payload_reg;
    reg [15:0]  there_reg;  // planes 0..15
    reg [7:0]   sign_reg;
    reg         words_reg;  // class 15

    always @(posedge clk) begin
        payload_reg <= s_payload;
        sign_reg    <= sign;
        words_reg   <= s_class == 4'd15;
        there_reg   <= ~(16'hffff << width);
    end

    // ---- planes to words

    assign m_raw = payload_reg[263:256] & {8{words_reg}};

    `include "bit_planes.vh"

    genvar i, j;
    generate
        for (i = 0; i < 4; i = i + 1) begin : g_byte
            wire [63:0] eight, bytes;  // planes; the same byte of all words

            for (j = 0; j < 8; j = j + 1) begin : g_plane
                assign eight[8*j +: 8] = (i < 2 ? there_reg[(8*i + j) & 15] : words_reg) ? payload_reg[64*i + 8*j +: 8] : sign_reg;
                assign m_words[32*j + 8*i +: 8] = bytes[8*j +: 8];
            end
            assign bytes = bit_planes(eight);
        end
    endgenerate

endmodule

`resetall
