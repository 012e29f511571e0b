// SPDX-License-Identifier: Apache-2.0
// Stand for gn_lane_compress and gn_lane_decompress where a proof is about what is around them. The
// one gives any tag, and any payload of that many bytes. The other gives the bytes that count.
`default_nettype none

module gn_lane_compress #(
    parameter PROFILES = 7
) (
    input  wire        clk,
    input  wire [1:0]  profile,
    input  wire [7:0]  bound_exp,
    input  wire [31:0] value,
    output wire [1:0]  tag,
    output wire [31:0] payload
);
    (* anyseq *) wire [1:0]  any_tag;
    (* anyseq *) wire [31:0] any;
    assign tag     = any_tag;
    assign payload = tag == 2'd3 || profile == 2'd2 ? any : tag == 2'd2 ? {16'd0, any[15:0]} : tag == 2'd1 ? {24'd0, any[7:0]} : 32'd0;
endmodule

module gn_lane_decompress #(
    parameter PROFILES = 7
) (
    input  wire        clk,
    input  wire [1:0]  profile,
    input  wire [7:0]  bound_exp,
    input  wire [1:0]  tag,
    input  wire [31:0] payload,
    output wire [31:0] value
);
    assign value = tag == 2'd3 ? payload : tag == 2'd2 ? {16'd0, payload[15:0]} : tag == 2'd1 ? {24'd0, payload[7:0]} : 32'd0;
endmodule

`resetall
