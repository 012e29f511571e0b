// SPDX-License-Identifier: Apache-2.0
// CRC-32 as zlib has it, without the inversions at begin and end: some bytes further. No register:
// each bit is the parity of some of what comes in. Which ones is worked out before anything runs.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_crc_step #(
    parameter BITS = 64  // of data
) (
    input  wire [31:0]     crc,
    input  wire [BITS-1:0] data,  // byte 0 in the lowest bits
    output wire [31:0]     next
);

    localparam WIDE = BITS + 32;

    // Bit WIDE*i + k: bit k of {data, crc} counts for bit i of the result.
    function [WIDE*32-1:0] parities;
        input        unused;
        integer      k, i;
        reg [31:0]   sum;
        reg [BITS-1:0] bytes;
        begin
            parities = {WIDE*32{unused}};
            for (k = 0; k < WIDE; k = k + 1) begin
                sum   = k < 32 ? 32'd1 << k : 32'd0;
                bytes = k < 32 ? {BITS{1'b0}} : {{BITS-1{1'b0}}, 1'b1} << (k - 32);
                for (i = 0; i < BITS; i = i + 1) begin
                    sum   = {1'b0, sum[31:1]} ^ (sum[0] ^ bytes[0] ? 32'hedb88320 : 32'd0);
                    bytes = {1'b0, bytes[BITS-1:1]};
                end
                for (i = 0; i < 32; i = i + 1) parities[WIDE*i + k] = sum[i];
            end
        end
    endfunction

    localparam [WIDE*32-1:0] PARITIES = parities(1'b0);

    genvar i;
    generate
        for (i = 0; i < 32; i = i + 1) begin : g_bit
            assign next[i] = ^({data, crc} & PARITIES[WIDE*i +: WIDE]);
        end
    endgenerate

endmodule

`resetall
