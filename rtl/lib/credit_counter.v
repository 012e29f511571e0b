// SPDX-License-Identifier: Apache-2.0
// Counts the free places of a credit_fifo: whoever sends something its way takes first, whoever removes it gives back.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module credit_counter #(
    parameter CREDITS = 17,  // places in all
    parameter MOST    = 1,   // most that one take asks for; `ok` promises as many
    parameter LATE    = 0    // 1: take and give, where they come late in a cycle, count in the next; MOST places stay in reserve for that
) (
    input  wire       clk,
    input  wire       rst,    // synchronous, active high

    output wire       ok,     // from a register: MOST may be taken
    output wire       idle,   // from a register: all places are free
    input  wire [2:0] take,   // 0..MOST, only when ok
    input  wire [2:0] give    // only what was taken
);

    localparam LEAST = LATE ? 2 * MOST : MOST;

    reg [5:0] free_reg = CREDITS[5:0];
    reg       ok_reg   = 1'b0;
    reg       idle_reg = 1'b1;

    assign ok   = ok_reg;
    assign idle = idle_reg;

    wire [2:0] taken, given;
    wire [5:0] free_next = free_reg - {3'd0, taken} + {3'd0, given};

    always @(posedge clk) begin
        free_reg <= free_next;
        ok_reg   <= free_next >= LEAST[5:0];
        idle_reg <= free_next == CREDITS[5:0] && (LATE == 0 || take == 3'd0);
        if (rst) begin
            free_reg <= CREDITS[5:0];
            ok_reg   <= 1'b0;
            idle_reg <= 1'b1;
        end
    end

    generate
        if (LATE) begin : g_late
            reg [2:0] taken_reg = 3'd0, given_reg = 3'd0;
            always @(posedge clk) begin
                taken_reg <= take;
                given_reg <= give;
                if (rst) begin
                    taken_reg <= 3'd0;
                    given_reg <= 3'd0;
                end
            end
            assign {taken, given} = {taken_reg, given_reg};
        end else begin : g_at_once
            assign {taken, given} = {take, give};
        end
        if (CREDITS < 1 || CREDITS > 56 || MOST < 1 || MOST > 7 || LEAST > CREDITS) begin : g_check
            credit_counter_takes_1_to_56_credits_and_a_most_of_1_to_7_twice_that_when_late error();
        end
    endgenerate

endmodule

`resetall
