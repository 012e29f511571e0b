// SPDX-License-Identifier: Apache-2.0
// gn_compress_unit and gn_decompress_unit, paper and lattice, whatever tags and payloads the eight
// lanes have. A record is as long as its tags say, is zero above that, and gives the same tags and
// payloads back. Registers are wires; lanes are any_lanes.v.
// method: sat
// seconds: 120
// stubs: any_lanes.v
// sources: codec/gn_compress_unit.v codec/gn_quad_unpack.v codec/gn_decompress_unit.v
// expose: tag_reg
// mutant: codec/gn_compress_unit.v s/24'd0, lanes\[63:32\], lanes\[7:0\]/24'd0, lanes[63:32], 8'd0/
// mutant: codec/gn_decompress_unit.v s/2'd2: second = pair\[47:16\]/2'd2: second = pair[39:8]/
`default_nettype none
module proof (
    input wire        clk,
    input wire        rst,
    input wire        profile,
    input wire [34:0] above  // what comes behind a record is any
);
    wire [15:0]  tags, tags_back;
    wire [255:0] payloads, back;
    wire [271:0] record;
    wire [5:0]   length;

    gn_compress_unit pack (
        .clk(clk), .rst(rst), .s_profile({1'b0, profile}), .s_bound_exp(8'd10), .s_values(256'd0), .s_valid(1'b1), .s_last(1'b0),
        .lane_tags(tags), .lane_payloads(payloads), .m_record(record), .m_length(length));

    function [5:0] bytes(input [7:0] t);
        bytes = size(t[1:0]) + size(t[3:2]) + size(t[5:4]) + size(t[7:6]);
    endfunction
    function [5:0] size(input [1:0] t);
        size = t == 2'd3 ? 6'd4 : {4'd0, t};
    endfunction

    wire [5:0]   low   = bytes(tags[7:0]);
    wire [5:0]   all   = low + bytes(tags[15:8]) + 6'd2;
    wire [271:0] other = {8{above[33:0]}} << {all, 3'd0};

    gn_decompress_unit unpack (
        .clk(clk), .rst(rst), .s_record({8'd0, record | other}), .s_profile({1'b0, profile}), .s_bound_exp(8'd10), .s_low_bytes(low[4:0]),
        .s_class(4'd0), .s_header(1'b0), .s_lanes(3'd0), .s_valid(1'b1), .s_last(1'b0), .s_error(1'b0), .m_values(back), .\tag_reg (tags_back));

    always @* begin
        assert (record[15:0] == tags);
        assert (length == all && length >= 6'd2 && length <= 6'd34);
        assert (record >> {length, 3'd0} == 272'd0);
        assert (tags_back == tags);
        assert (back == payloads);
    end
endmodule

`resetall
