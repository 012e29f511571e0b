// SPDX-License-Identifier: Apache-2.0
// Bench only: a group of eight lanes, compressed and decompressed again, or decompressed from codes
// of the bench's. All inputs but what gn_lane_compress registers itself are registered: Verilator
// evaluates what hangs on an input at both edges of the clock, what hangs on a register at one.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module lanes #(
    parameter PROFILES = 7
) (
    input  wire         clk,
    input  wire [1:0]   profile,
    input  wire [7:0]   bound_exp,
    input  wire [255:0] values,     // in
    output wire [15:0]  tags,       // three cycles later
    output wire [255:0] payloads,
    input  wire         from_codes, // decompress these instead
    input  wire [15:0]  code_tags,
    input  wire [255:0] code_payloads,
    output reg  [255:0] back        // six cycles after values, four after codes
);

    reg  [1:0]   profile_reg;
    reg  [7:0]   bound_exp_reg;
    reg  [255:0] values_reg, code_payloads_reg;
    reg  [15:0]  code_tags_reg;
    reg          from_codes_reg;
    wire [255:0] value;

    always @(posedge clk) begin
        profile_reg       <= profile;
        bound_exp_reg     <= bound_exp;
        values_reg        <= values;
        from_codes_reg    <= from_codes;
        code_tags_reg     <= code_tags;
        code_payloads_reg <= code_payloads;
        back              <= value;
    end

    genvar i;
    generate
        for (i = 0; i < 8; i = i + 1) begin : g_lane
            gn_lane_compress #(.PROFILES(PROFILES)) compress (
                .clk(clk), .profile(profile), .bound_exp(bound_exp), .value(values_reg[32*i +: 32]),
                .tag(tags[2*i +: 2]), .payload(payloads[32*i +: 32]));

            // dense has no tags between its lanes: a lane is raw, or an integer
            wire [1:0] tag = profile_reg == 2'd2 ? {1'b1, &tags[2*i +: 2]} : tags[2*i +: 2];
            gn_lane_decompress #(.PROFILES(PROFILES)) decompress (
                .clk(clk), .profile(profile_reg), .bound_exp(bound_exp_reg),
                .tag(from_codes_reg ? code_tags_reg[2*i +: 2] : tag),
                .payload(from_codes_reg ? code_payloads_reg[32*i +: 32] : payloads[32*i +: 32]),
                .value(value[32*i +: 32]));
        end
    endgenerate

endmodule

`resetall
