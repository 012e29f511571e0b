// SPDX-License-Identifier: Apache-2.0
// Counts the free places of a credit_fifo: whoever sends something its way takes first, whoever removes it gives back.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module credit_counter #(
    parameter CREDITS = 17,  // places in all
    parameter MOST    = 1    // most that one take asks for; `ok` promises as many
) (
    input  wire       clk,
    input  wire       rst,    // synchronous, active high

    output wire       ok,     // from a register: MOST may be taken
    output wire       idle,   // from a register: all places are free
    input  wire [2:0] take,   // 0..MOST, only when ok
    input  wire [2:0] give    // only what was taken
);

    reg [5:0] free_reg = CREDITS[5:0];
    reg       ok_reg   = 1'b0;
    reg       idle_reg = 1'b1;

    assign ok   = ok_reg;
    assign idle = idle_reg;

    wire [5:0] free_next = free_reg - {3'd0, take} + {3'd0, give};

    always @(posedge clk) begin
        free_reg <= free_next;
        ok_reg   <= free_next >= MOST[5:0];
        idle_reg <= free_next == CREDITS[5:0];
        if (rst) begin
            free_reg <= CREDITS[5:0];
            ok_reg   <= 1'b0;
            idle_reg <= 1'b1;
        end
    end

    generate
        if (CREDITS < 1 || CREDITS > 56 || MOST < 1 || MOST > 7 || MOST > CREDITS) begin : g_check
            credit_counter_takes_1_to_56_credits_and_a_most_of_1_to_7 error();
        end
    endgenerate

endmodule

`resetall
