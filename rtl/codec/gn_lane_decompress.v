// SPDX-License-Identifier: Apache-2.0
// Turns a code into its value (docs/codec.md). Two stages and the logic of a third, whose result
// the next block registers. No enable: a code a cycle.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_lane_decompress #(
    parameter PROFILES = 7  // those built: bit 0 paper, bit 1 lattice, bit 2 dense
) (
    input  wire        clk,

    input  wire [1:0]  profile,    // 0 paper, 1 lattice, 2 dense; one of those built
    input  wire [7:0]  bound_exp,  // k, two's complement, in the profile's range
    input  wire [1:0]  tag,        // as docs/codec.md; dense: 3 for a raw value, otherwise not 0
    input  wire [31:0] payload,    // what is above the tag's bits does not matter; dense: q as
                                   // int32 where not raw

    // two cycles later
    output wire [31:0] value       // a binary32
);

    localparam PAPER    = (PROFILES & 1) != 0;
    localparam QUANTISE = (PROFILES & 6) != 0;
    localparam DENSE    = (PROFILES & 4) != 0;
    localparam WIDTH    = DENSE ? 32 : 16;  // bits of a magnitude: only dense has sums, of int32
    localparam LOG2     = DENSE ? 5 : 4;

    wire is_paper = PAPER && (!QUANTISE || profile == 2'd0);
    wire is_dense = DENSE && profile == 2'd2;

    // ---- first stage: sign and magnitude of an integer, and the place of its leading one

    // The payload, inverted where it is negative: what two's complement adds to that, the final +
    // 1, comes below. Above a narrow integer it is 0. Paper has its sign beside a left-aligned
    // magnitude.
    wire       wide     = is_dense || tag[1];
    wire       fraction = is_paper && !tag[1];
    wire       negative = is_dense ? payload[31] : tag[1] ? payload[15] : payload[7];
    wire       flip     = !is_paper && negative;
    wire [WIDTH-1:0] flipped;

    assign flipped[7:0]  = (payload[7:0] ^ {8{flip}}) & {8{!fraction}};
    assign flipped[14:8] = wide ? payload[14:8] ^ {7{flip}} : payload[6:0] & {7{fraction}};
    generate
        if (WIDTH == 32) begin : g_above
            assign flipped[WIDTH-1:15] = (payload[WIDTH-1:15] ^ {WIDTH-15{payload[31]}}) & {WIDTH-15{is_dense}};
        end else begin : g_none_above
            assign flipped[15] = 1'b0;
        end
    endgenerate

    // Leading zeros by nibbles of `flipped`, not of the magnitude, which is one more where the
    // integer is negative: so this does not wait for that adder. Where the two differ, a bit moves
    // out of the nibble, and adds to the exponent in the third stage.
    localparam NIBBLES = WIDTH / 4;

    wire [NIBBLES-1:1] some;
    genvar             b;
    generate
        for (b = 1; b < NIBBLES; b = b + 1) begin : g_some
            assign some[b] = |flipped[4*b +: 4];
        end
    endgenerate

    // exponent of bit WIDTH-1, one less because adding the leading one in the third stage adds one
    wire [7:0] origin = 8'd126 + WIDTH[7:0] - (is_paper ? 8'd16 : bound_exp);

    // nibbles that are zero: the half that the leading one is in, and of each half
    wire            upper = |some[NIBBLES-1:NIBBLES/2];
    wire [LOG2-3:0] nibbles;
    generate
        if (WIDTH == 32) begin : g_halves
            wire [1:0] of_upper = {!some[7] && !some[6], !some[7] && (some[6] || !some[5])};
            wire [1:0] of_lower = {!some[3] && !some[2], !some[3] && (some[2] || !some[1])};
            assign nibbles = {!upper, upper ? of_upper : of_lower};
        end else begin : g_whole
            assign nibbles = {!upper, !some[3] && (some[2] || !some[1])};
        end
    endgenerate

    reg [31:0]      a_payload;
    reg [WIDTH-1:0] a_magnitude;
    reg [LOG2-3:0]  a_nibbles;
    reg [7:0]       a_origin;
    reg             a_negative, a_raw, a_empty;

    always @(posedge clk) begin
        a_payload   <= payload;
        a_magnitude <= flipped + {{WIDTH-1{1'b0}}, flip};
        a_nibbles   <= nibbles;
        a_origin    <= origin;
        a_negative  <= negative;
        a_raw       <= tag == 2'd3;
        a_empty     <= tag == 2'd0;
    end

    // ---- second stage: shift by nibbles; the leading one in its nibble

    wire [WIDTH:0] coarse = {1'b0, a_magnitude} << {a_nibbles, 2'd0};
    wire [3:0]     first  = coarse[WIDTH-1:WIDTH-4];

    reg [31:0]    b_payload;
    reg [WIDTH:0] b_coarse;
    reg [1:0]     b_left;      // to shift yet, and to subtract from the exponent
    reg [7:0]     b_exponent;
    reg           b_negative, b_raw, b_zero;

    always @(posedge clk) begin
        b_payload  <= a_payload;
        b_coarse   <= coarse;
        b_left     <= first[3] || first == 4'd0 ? 2'd0 : first[2] ? 2'd1 : first[1] ? 2'd2 : 2'd3;
        b_exponent <= a_origin - {{8-LOG2{1'b0}}, a_nibbles, 2'd0};
        b_negative <= a_negative;
        b_raw      <= a_raw;
        b_zero     <= a_empty || a_magnitude == {WIDTH{1'b0}};
    end

    // ---- third stage: the rest of the shift. Leading one, rounding (to nearest, ties to even) and
    // their carries into the exponent are one adder

    // the leading one is bit WIDTH-1, or, of a power of two, WIDTH
    wire [WIDTH:0] normal = b_coarse << b_left;
    wire [24:0]    kept;
    wire           round;
    generate
        if (WIDTH == 32) begin : g_round
            // for each shift that is left, before it is known
            reg [3:0] b_round;
            always @(posedge clk)
                b_round <= {coarse[4] && (|coarse[3:0] || coarse[5]), coarse[5] && (|coarse[4:0] || coarse[6]),
                            coarse[6] && (|coarse[5:0] || coarse[7]), coarse[7] && (|coarse[6:0] || coarse[8])};
            wire unused_low = &{1'b0, normal[7:0]};
            assign kept  = normal[32:8];
            assign round = b_round[b_left];
        end else begin : g_exact
            assign kept  = {normal, 8'd0};
            assign round = 1'b0;
        end
    endgenerate
    wire [7:0]  exponent = b_exponent - {6'd0, b_left};
    wire [30:0] bits = {exponent, 23'd0} + {6'd0, kept} + {30'd0, round};

    assign value = b_raw ? b_payload : b_zero ? 32'd0 : {b_negative, bits};

    generate
        if (PROFILES < 1 || PROFILES > 7) begin : g_check
            PROFILES_must_name_one_to_three_profiles error();
        end
    endgenerate

endmodule

`resetall
