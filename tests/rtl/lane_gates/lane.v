// SPDX-License-Identifier: Apache-2.0
// Bench only: one lane, compressed and decompressed again; without its clock, since gates.py makes
// its registers wires.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module lane (
    input  wire        clk,
    input  wire [1:0]  profile,
    input  wire [7:0]  bound_exp,
    input  wire [31:0] value,
    output wire [1:0]  tag,
    output wire [31:0] payload,
    output wire [31:0] back
);

    gn_lane_compress compress (.clk(clk), .profile(profile), .bound_exp(bound_exp), .value(value), .tag(tag), .payload(payload));

    // dense has no tags between its lanes: a lane is raw, or an integer
    gn_lane_decompress decompress (
        .clk(clk), .profile(profile), .bound_exp(bound_exp), .tag(profile == 2'd2 ? {1'b1, &tag} : tag), .payload(payload), .value(back));

endmodule

`resetall
