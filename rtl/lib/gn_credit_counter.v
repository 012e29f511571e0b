// SPDX-License-Identifier: Apache-2.0
// Counts the free places of a gn_credit_fifo. A sender takes a place before it sends, and a place
// is given back when its word is removed.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_credit_counter #(
    parameter CREDITS = 17,  // places in all
    parameter MOST    = 1,   // most that one take asks for; `ok` promises as many. More than 1:
                             // only with LATE
    parameter LATE    = 0    // 1: take and give count in the next cycle, because they come late in
                             // theirs; MOST places stay in reserve for that
) (
    input  wire       clk,
    input  wire       rst,    // synchronous, active high

    output wire       ok,     // from a register: MOST may be taken
    output wire       idle,   // from a register: all places are free
    input  wire [2:0] take,   // 0..MOST, only when ok
    input  wire [2:0] give    // only what was taken; at most 1, or LATE
);

    localparam [5:0] ALL = CREDITS[5:0];

    reg [5:0] free_reg = ALL;
    reg       ok_reg   = 1'b0;
    reg       idle_reg = 1'b1;

    assign ok   = ok_reg;
    assign idle = idle_reg;

    wire [2:0] taken, given;
    wire [5:0] free_next;
    wire       ok_next, idle_next;

    always @(posedge clk) begin
        free_reg <= free_next;
        ok_reg   <= ok_next;
        idle_reg <= idle_next;
        if (rst) begin
            free_reg <= ALL;
            ok_reg   <= 1'b0;
            idle_reg <= 1'b1;
        end
    end

    generate
        if (LATE) begin : g_late
            localparam LEAST = 2 * MOST;

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
            assign free_next = free_reg - {3'd0, taken} + {3'd0, given};
            assign ok_next   = free_next >= LEAST[5:0];
            assign idle_next = free_next == ALL && take == 3'd0;
        end else begin : g_at_once
            // both answers are worked out before take and give are known
            wire down = taken[0] && !given[0];
            wire up   = given[0] && !taken[0];
            assign {taken, given} = {take, give};
            assign free_next = up ? free_reg + 6'd1 : down ? free_reg - 6'd1 : free_reg;
            assign ok_next   = up || (down ? free_reg > 6'd1 : free_reg != 6'd0);
            assign idle_next = up ? free_reg == ALL - 6'd1 : !down && free_reg == ALL;
            wire unused_more = &{1'b0, taken[2:1], given[2:1]};
        end
        if (CREDITS < 1 || CREDITS > 56 || MOST < 1 || MOST > 7 || (LATE ? 2 * MOST > CREDITS : MOST > 1)) begin : g_check
            credit_counter_takes_1_to_56_credits_and_a_most_of_1_or_when_late_of_up_to_7_and_half_the_credits error();
        end
    endgenerate

endmodule

`resetall
