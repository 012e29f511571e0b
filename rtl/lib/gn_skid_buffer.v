// SPDX-License-Identifier: Apache-2.0
// Register slice of two words: full rate, registered ready.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_skid_buffer #(
    parameter WIDTH = 256  // bits of a word
) (
    input  wire             clk,
    input  wire             rst,      // synchronous, active high

    input  wire [WIDTH-1:0] s_data,
    input  wire             s_valid,
    output wire             s_ready,  // from a register: depends on nothing of this cycle

    output wire [WIDTH-1:0] m_data,
    output wire             m_valid,
    input  wire             m_ready
);

    // Words take turns in two registers. So what loads the data on the input side does not depend
    // on m_ready.
    reg [WIDTH-1:0] even_reg, odd_reg;
    reg             even_valid_reg = 1'b0, odd_valid_reg = 1'b0;
    reg             write_odd_reg = 1'b0, read_odd_reg = 1'b0;
    reg             ready_reg = 1'b0;  // one of them is free

    assign s_ready = ready_reg;
    assign m_data  = read_odd_reg ? odd_reg : even_reg;
    assign m_valid = read_odd_reg ? odd_valid_reg : even_valid_reg;

    wire take = s_valid && ready_reg;
    wire give = m_valid && m_ready;

    wire even_valid_next = take && !write_odd_reg ? 1'b1 : give && !read_odd_reg ? 1'b0 : even_valid_reg;
    wire odd_valid_next  = take && write_odd_reg ? 1'b1 : give && read_odd_reg ? 1'b0 : odd_valid_reg;

    always @(posedge clk) begin
        if (!even_valid_reg) even_reg <= s_data;
        if (!odd_valid_reg)  odd_reg  <= s_data;

        even_valid_reg <= even_valid_next;
        odd_valid_reg  <= odd_valid_next;
        write_odd_reg  <= write_odd_reg ^ take;
        read_odd_reg   <= read_odd_reg ^ give;
        ready_reg      <= !(even_valid_next && odd_valid_next);

        if (rst) begin
            even_valid_reg <= 1'b0;
            odd_valid_reg  <= 1'b0;
            write_odd_reg  <= 1'b0;
            read_odd_reg   <= 1'b0;
            ready_reg      <= 1'b0;
        end
    end

endmodule

`resetall
