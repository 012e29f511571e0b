// SPDX-License-Identifier: Apache-2.0
// A gn_credit_fifo that takes up to two words a cycle, and gives one.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_pair_fifo #(
    parameter WIDTH = 256,  // bits of a word
    parameter LOG2  = 4     // holds 2^LOG2 words, and one in the output register
) (
    input  wire             clk,
    input  wire             rst,      // synchronous, active high

    input  wire [1:0]       s_count,  // words, 0..2, always taken: at most 2^LOG2 + 1 may be inside
    input  wire [WIDTH-1:0] s_first,
    input  wire [WIDTH-1:0] s_second,

    output wire [WIDTH-1:0] m_data,
    output wire             m_valid,
    input  wire             m_ready
);

    // words of even and of odd numbers
    reg [WIDTH-1:0] even [0:(1<<(LOG2-1))-1];
    reg [WIDTH-1:0] odd  [0:(1<<(LOG2-1))-1];
    reg [LOG2:0]    write_reg = {LOG2+1{1'b0}};
    reg [LOG2:0]    read_reg  = {LOG2+1{1'b0}};
    reg [WIDTH-1:0] out_reg;
    reg             out_valid_reg = 1'b0;
    reg             empty_reg = 1'b1;  // nothing is stored

    assign m_data  = out_reg;
    assign m_valid = out_valid_reg;

    // As in gn_credit_fifo, a word that does not stay in the store is written there all the same.
    wire            free = m_ready || !out_valid_reg;
    wire            some = s_count != 2'd0 || !empty_reg;
    wire            one  = read_reg + 1'b1 == write_reg;
    wire            at_odd = write_reg[0];
    wire [LOG2-2:0] row    = write_reg[LOG2-1:1];
    // A wire: Icarus Verilog 11 does not wrap a sum that is an index.
    wire [LOG2-2:0] row_up = row + 1'b1;

    always @(posedge clk) begin
        if (at_odd ? s_count[1] : |s_count) even[at_odd ? row_up : row] <= at_odd ? s_second : s_first;
        if (at_odd ? |s_count : s_count[1]) odd[row] <= at_odd ? s_first : s_second;
        write_reg <= write_reg + {{LOG2-1{1'b0}}, s_count};
        if (free) out_reg <= empty_reg ? s_first : read_reg[0] ? odd[read_reg[LOG2-1:1]] : even[read_reg[LOG2-1:1]];

        if (free) out_valid_reg <= some;
        if (free) read_reg <= read_reg + {{LOG2{1'b0}}, some};
        empty_reg <= empty_reg ? (free ? !s_count[1] : s_count == 2'd0) : free && one && s_count == 2'd0;

        if (rst) begin
            out_valid_reg <= 1'b0;
            empty_reg     <= 1'b1;
            write_reg     <= {LOG2+1{1'b0}};
            read_reg      <= {LOG2+1{1'b0}};
        end
    end

endmodule

`resetall
