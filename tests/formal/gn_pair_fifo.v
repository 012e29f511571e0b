// SPDX-License-Identifier: Apache-2.0
// gn_pair_fifo: as gn_credit_fifo, with up to two words a cycle.
// method: pdr
// sources: lib/gn_pair_fifo.v
// mutant: lib/gn_pair_fifo.v s/at_odd \? row_up : row/row/
`default_nettype none

module proof #(
    parameter WIDTH = 2,
    parameter LOG2  = 2
) (
    input wire             clk,
    input wire             rst,
    input wire [1:0]       s_count,
    input wire [WIDTH-1:0] s_first,
    input wire [WIDTH-1:0] s_second,
    input wire             m_ready
);
    wire             m_valid;
    wire [WIDTH-1:0] m_data;
    wire [5:0]       count;

    gn_pair_fifo #(.WIDTH(WIDTH), .LOG2(LOG2)) dut (
        .clk(clk), .rst(rst), .s_count(s_count), .s_first(s_first), .s_second(s_second),
        .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready));

    stays #(.WIDTH(WIDTH)) m_stays (.clk(clk), .rst(rst), .data(m_data), .valid(m_valid), .ready(m_ready));
    queue #(.WIDTH(WIDTH), .PLACES((1 << LOG2) + 1)) inside (
        .clk(clk), .rst(rst), .s_data(s_first), .s_count(s_count), .s_second(s_second),
        .m_data(m_data), .m_valid(m_valid), .m_take(m_valid && m_ready), .count(count));

    always @* begin
        assume (s_count != 2'd3 && count + s_count <= (1 << LOG2) + 1);
        assert (m_valid == (count != 0));
    end
endmodule

`resetall
