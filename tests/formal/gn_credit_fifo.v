// SPDX-License-Identifier: Apache-2.0
// gn_credit_fifo. Words stay until they are taken, and come out in their order, none lost, none
// made. Each comes at once when it is the first.
// method: pdr
// sources: lib/gn_credit_fifo.v
// mutant: lib/gn_credit_fifo.v s/empty_reg \? free \|\| !s_valid/empty_reg ? 1'b1/
// mutant: lib/gn_credit_fifo.v s/if \(free\) out_reg/out_reg/
`default_nettype none

module proof #(
    parameter WIDTH = 2,
    parameter LOG2  = 2
) (
    input wire             clk,
    input wire             rst,
    input wire [WIDTH-1:0] s_data,
    input wire             s_valid,
    input wire             m_ready
);
    wire             m_valid;
    wire [WIDTH-1:0] m_data;
    wire [5:0]       count;

    gn_credit_fifo #(.WIDTH(WIDTH), .LOG2(LOG2)) dut (
        .clk(clk), .rst(rst), .s_data(s_data), .s_valid(s_valid), .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready));

    stays #(.WIDTH(WIDTH)) m_stays (.clk(clk), .rst(rst), .data(m_data), .valid(m_valid), .ready(m_ready));
    queue #(.WIDTH(WIDTH), .PLACES((1 << LOG2) + 1)) inside (
        .clk(clk), .rst(rst), .s_data(s_data), .s_count({1'b0, s_valid}), .s_second(s_data),
        .m_data(m_data), .m_valid(m_valid), .m_take(m_valid && m_ready), .count(count));

    always @* begin
        assume (!s_valid || count <= 1 << LOG2);
        assert (m_valid == (count != 0));
    end
endmodule

`resetall
