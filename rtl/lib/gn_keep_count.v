// SPDX-License-Identifier: Apache-2.0
// Number of bytes that a contiguous tkeep keeps: its bits are set from bit 0 upwards.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_keep_count (
    input  wire [31:0] keep,
    output wire [5:0]  count  // 0..32
);

    // Bit b of the number n is set if the highest kept byte, i = n - 1, has bit b set in i + 1.
    // That byte is the only kept one whose neighbour above is not kept.
    // A function: an always @* would wait for a change, which never comes when all beats are full.
    function [5:0] count_of(input [31:0] top);
        integer i;
        begin
            count_of = 6'd0;
            for (i = 0; i < 32; i = i + 1)
                if (top[i]) count_of = count_of | (i[5:0] + 6'd1);
        end
    endfunction

    assign count = count_of(keep & ~{1'b0, keep[31:1]});

endmodule

`resetall
