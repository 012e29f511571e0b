// SPDX-License-Identifier: Apache-2.0
// Included inside a module. Eight bytes to eight planes of their bits, or back: bit 8i + j to bit
// 8j + i. Only wires. In three steps on whole words, because Verilator evaluates that ten times
// faster than bit by bit.
function [63:0] bit_planes(input [63:0] bytes);
    reg [63:0] twos, fours;
    begin
        twos       = (bytes & 64'haa55aa55aa55aa55) | (bytes & 64'h00aa00aa00aa00aa) << 7 | (bytes >> 7 & 64'h00aa00aa00aa00aa);
        fours      = (twos & 64'hcccc3333cccc3333) | (twos & 64'h0000cccc0000cccc) << 14 | (twos >> 14 & 64'h0000cccc0000cccc);
        bit_planes = (fours & 64'hf0f0f0f00f0f0f0f) | (fours & 64'h00000000f0f0f0f0) << 28 | (fours >> 28 & 64'h00000000f0f0f0f0);
    end
endfunction
