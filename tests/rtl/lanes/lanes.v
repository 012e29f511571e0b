// SPDX-License-Identifier: Apache-2.0
// Bench only: a group of eight lanes, compressed and decompressed again, or decompressed from codes of the bench's.
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
    output wire [15:0]  tags,       // two cycles later
    output wire [255:0] payloads,
    input  wire         from_codes, // decompress these instead
    input  wire [15:0]  code_tags,
    input  wire [255:0] code_payloads,
    output reg  [255:0] back        // five cycles after values, three after codes
);

    wire [255:0] value;

    genvar i;
    generate
        for (i = 0; i < 8; i = i + 1) begin : g_lane
            lane_compress #(.PROFILES(PROFILES)) compress (
                .clk(clk), .profile(profile), .bound_exp(bound_exp), .value(values[32*i +: 32]),
                .tag(tags[2*i +: 2]), .payload(payloads[32*i +: 32]));

            // dense has no tags between its lanes: a lane is raw, or an integer
            wire [1:0] tag = profile == 2'd2 ? {1'b1, &tags[2*i +: 2]} : tags[2*i +: 2];
            lane_decompress #(.PROFILES(PROFILES)) decompress (
                .clk(clk), .profile(profile), .bound_exp(bound_exp),
                .tag(from_codes ? code_tags[2*i +: 2] : tag),
                .payload(from_codes ? code_payloads[32*i +: 32] : payloads[32*i +: 32]),
                .value(value[32*i +: 32]));
        end
    endgenerate

    always @(posedge clk) back <= value;

endmodule

`resetall
