// SPDX-License-Identifier: Apache-2.0
// Turns a value into its code: tag and payload (docs/codec.md). Two stages, and one ahead for
// profile and bound. No enable: a value a cycle.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_lane_compress #(
    parameter PROFILES = 7  // those built: bit 0 paper, bit 1 lattice, bit 2 dense
) (
    input  wire        clk,

    // a cycle ahead of its value
    input  wire [1:0]  profile,    // 0 paper, 1 lattice, 2 dense; one of those built
    input  wire [7:0]  bound_exp,  // k, two's complement, in the profile's range

    input  wire [31:0] value,      // a binary32

    // two cycles after it
    output reg  [1:0]  tag,        // as docs/codec.md; dense: 3 when raw
    output reg  [31:0] payload     // low 0, 8, 16 or 32 bits, the rest 0; dense: q as int32, or the
                                   // value when raw
);

    localparam PAPER    = (PROFILES & 1) != 0;
    localparam QUANTISE = (PROFILES & 6) != 0;
    localparam DENSE    = (PROFILES & 4) != 0;

    // ---- what profile and bound say, worked out before the value is there

    wire is_paper = PAPER && (!QUANTISE || profile == 2'd0);
    wire is_dense = DENSE && profile == 2'd2;

    reg [8:0] unit_reg;             // 126, or 142 - k: less the exponent, the distance to shift
    reg [7:0] least_reg;            // paper: exponents from here on are not 0: 127 - k
    reg [7:0] least_16_reg;         // or have 16 bits: 127 - floor(k / 2)
    reg       paper_reg, dense_reg;

    always @(posedge clk) begin
        unit_reg     <= is_paper ? 9'd126 : 9'd142 - {bound_exp[7], bound_exp};
        least_reg    <= 8'd127 - bound_exp;
        least_16_reg <= 8'd127 - {1'b0, bound_exp[7:1]};
        paper_reg    <= is_paper;
        dense_reg    <= is_dense;
    end

    // ---- first stage: the distance to shift, and the half of the shift that needs only its low
    // bits

    // Both rules keep the 15 bits of {1, mantissa} above bit 9, shifted right by `shift`: 126 - e
    // for paper (15 fractional bits), 142 - k - e for the others (units of 2^(1-k)). Below 0 the
    // value is too large and stays raw. So do infinities and NaNs. Zeros and subnormals have the
    // longest shifts.
    wire [7:0] exponent = value[30:23];
    wire [8:0] total    = unit_reg - {1'b0, exponent};
    wire       shift_0  = unit_reg == {1'b0, exponent};  // total is 0, without waiting for it
    wire       unused_total = &{1'b0, total[1:0]};

    // the low bits, which steer the first half of the shift, do without the adder
    wire [8:0] shift = {total[8:2], unit_reg[1] ^ exponent[1] ^ (!unit_reg[0] && exponent[0]), unit_reg[0] ^ exponent[0]};

    wire [23:0] significand = {1'b1, value[22:0]};
    wire [23:0] shifted     = significand >> shift[1:0];
    wire        lost        = (shift[1:0] == 2'd1 && value[0]) || (shift[1:0] == 2'd2 && |value[1:0]) ||
                              (shift[1:0] == 2'd3 && |value[2:0]);

    reg [31:0] a_value;
    reg [23:8] a_shifted;       // bits 23..9 are the integer, 8 the guard bit
    // what is below the guard bit, in fours: bits 7..0 and those shifted out, 11..8, 15..12, 19..16
    reg [3:0]  a_some;
    reg [1:0]  a_shift;         // what is left to shift, in fours
    reg        a_raw, a_far;    // shift > 15
    reg        a_below, a_wide; // paper: tag 0, tag 2
    reg        a_paper, a_dense;

    always @(posedge clk) begin
        a_value   <= value;
        a_shifted <= shifted[23:8];
        a_some    <= {|shifted[19:16], |shifted[15:12], |shifted[11:8], |shifted[7:0] || lost};
        a_shift   <= shift[3:2];
        // too large; or, in the next unit, all of it ones, so that it would be rounded to |q| =
        // 32768
        a_raw     <= shift[8] || (!paper_reg && shift_0 && &value[22:8]);
        a_far     <= !shift[8] && |shift[7:4];
        a_below   <= exponent < least_reg;
        a_wide    <= exponent >= least_16_reg;
        a_paper   <= paper_reg;
        a_dense   <= dense_reg;
    end

    // ---- second stage: the rest of the shift, rounding and sign, the tag

    // To nearest, ties to even. Whether to round up is known for each shift before the shift is
    // known.
    reg [14:0] magnitude;
    reg        round;

    always @* begin
        case (a_shift)
        2'd0: {magnitude, round} = {a_shifted[23:9], a_shifted[8] && (a_some[0] || a_shifted[9])};
        2'd1: {magnitude, round} = {4'd0, a_shifted[23:13], a_shifted[12] && (|a_some[1:0] || a_shifted[13])};
        2'd2: {magnitude, round} = {8'd0, a_shifted[23:17], a_shifted[16] && (|a_some[2:0] || a_shifted[17])};
        2'd3: {magnitude, round} = {12'd0, a_shifted[23:21], a_shifted[20] && (|a_some[3:0] || a_shifted[21])};
        endcase
    end

    // q is m or m + 1, or, negated, ~m or ~(m - 1). Which of both is known last, and the sum does
    // not wait for it
    wire        negative = a_value[31];
    wire [15:0] m        = {1'b0, magnitude};
    wire [15:0] next     = m + {{15{negative}}, 1'b1};
    wire [15:0] q        = (negative == round ? m : next) ^ {16{negative}};
    wire        q_zero   = a_far || (magnitude == 15'd0 && !round);
    wire        q_wide   = |magnitude[14:7] || (&magnitude[6:0] && round);

    wire [14:0] fraction = a_far ? 15'd0 : magnitude;

    wire zero = a_paper ? a_below : q_zero;
    wire none = a_paper ? a_below : a_far;  // zero, known at once; where not, q is zero by itself
    wire wide = a_paper ? a_wide  : q_wide;

    always @(posedge clk) begin
        tag <= a_raw ? 2'd3 : zero ? 2'd0 : wide ? 2'd2 : 2'd1;
        if (a_raw)        payload <= a_value;
        else if (none)    payload <= 32'd0;
        else if (a_dense) payload <= {{16{negative && !q_zero}}, q};  // the sign, before q is known
        else if (a_paper) payload <= wide ? {16'd0, negative, fraction} : {24'd0, negative, fraction[14:8]};
        else              payload <= wide ? {16'd0, q} : {24'd0, q[7:0]};
    end

    generate
        if (PROFILES < 1 || PROFILES > 7) begin : g_check
            PROFILES_must_name_one_to_three_profiles error();
        end
    endgenerate

endmodule

`resetall
