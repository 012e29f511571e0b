// SPDX-License-Identifier: Apache-2.0
// The check of a shim header: CRC-8 of its first seven bytes, polynomial x^8 + x^2 + x + 1, from 0,
// no reflection (as cmodel/shim.c). No register: each bit is the parity of some of the 56.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_shim_check (
    input  wire [55:0] shim,   // byte 0 in the lowest bits
    output wire [7:0]  check
);

    function [7:0] crc;
        input [55:0] bytes;
        integer      i;
        begin
            crc = 8'd0;
            // bytes from the first on, in each the highest bit first
            for (i = 0; i < 56; i = i + 1)
                crc = {crc[6:0], 1'b0} ^ (crc[7] ^ bytes[8*(i/8) + 7 - i%8] ? 8'h07 : 8'h00);
        end
    endfunction

    assign check = crc(shim);

endmodule

`resetall
