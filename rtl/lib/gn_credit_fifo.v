// SPDX-License-Identifier: Apache-2.0
// FIFO behind a pipeline that cannot stop. It has no ready towards its source, which counts credits
// instead (gn_credit_counter). A word that meets an empty FIFO lands in the output register, so the
// FIFO costs no cycle.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_credit_fifo #(
    parameter WIDTH   = 256,  // bits of a word
    parameter LOG2    = 4     // holds 2^LOG2 words, and one in the output register
) (
    input  wire             clk,
    input  wire             rst,      // synchronous, active high

    input  wire [WIDTH-1:0] s_data,
    input  wire             s_valid,  // always taken: at most 2^LOG2 + 1 words may be in here

    output wire [WIDTH-1:0] m_data,
    output wire             m_valid,
    input  wire             m_ready
);

    reg [WIDTH-1:0] store [0:(1<<LOG2)-1];
    reg [LOG2:0]    write_reg = {LOG2+1{1'b0}};
    reg [LOG2:0]    read_reg  = {LOG2+1{1'b0}};
    reg [WIDTH-1:0] out_reg;
    reg             out_valid_reg = 1'b0;
    reg             empty_reg = 1'b1;  // nothing is stored

    assign m_data  = out_reg;
    assign m_valid = out_valid_reg;

    // A word that does not stay in the store is written there all the same. So writing does not
    // wait for m_ready, which may come late.
    wire free = m_ready || !out_valid_reg;
    wire some = s_valid || !empty_reg;
    wire one  = read_reg + 1'b1 == write_reg;

    always @(posedge clk) begin
        if (s_valid) store[write_reg[LOG2-1:0]] <= s_data;
        if (s_valid) write_reg <= write_reg + 1'b1;
        if (free) out_reg <= empty_reg ? s_data : store[read_reg[LOG2-1:0]];

        if (free) out_valid_reg <= some;
        if (free) read_reg <= read_reg + {{LOG2{1'b0}}, some};
        empty_reg <= empty_reg ? free || !s_valid : free && one && !s_valid;

        if (rst) begin
            out_valid_reg <= 1'b0;
            empty_reg     <= 1'b1;
            write_reg     <= {LOG2+1{1'b0}};
            read_reg      <= {LOG2+1{1'b0}};
        end
    end

endmodule

`resetall
