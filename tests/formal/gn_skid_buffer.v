// SPDX-License-Identifier: Apache-2.0
// gn_skid_buffer. A word stays until it is taken. Words come out in their order, none lost, none
// made, no cycle lost.
// method: pdr
// sources: lib/gn_skid_buffer.v
// mutant: lib/gn_skid_buffer.v s/if \(!odd_valid_reg\)  odd_reg/odd_reg/
// mutant: gn_skid_buffer.v /ready_reg +<=/s/even_valid_next \&\& odd_valid_next/even_valid_next/
// mutant: gn_skid_buffer.v /if \(rst\)/,$s/ready_reg +<= 1'b0;//
`default_nettype none
module proof #(
    parameter WIDTH = 4
) (
    input wire             clk,
    input wire             rst,
    input wire [WIDTH-1:0] s_data,
    input wire             s_valid,
    input wire             m_ready
);
    wire             s_ready, m_valid;
    wire [5:0]       count;
    wire [WIDTH-1:0] m_data;

    gn_skid_buffer #(.WIDTH(WIDTH)) dut (
        .clk(clk), .rst(rst), .s_data(s_data), .s_valid(s_valid), .s_ready(s_ready),
        .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready));

    stays  #(.WIDTH(WIDTH)) m_stays (.clk(clk), .rst(rst), .data(m_data), .valid(m_valid), .ready(m_ready));
    queue  #(.WIDTH(WIDTH), .PLACES(2)) inside (
        .clk(clk), .rst(rst), .s_data(s_data), .s_count({1'b0, s_valid && s_ready}), .s_second(s_data),
        .m_data(m_data), .m_valid(m_valid), .m_take(m_valid && m_ready), .count(count));

    // ready as long as a place is free, and never in the cycle behind a reset: what came then would
    // be lost if the reset goes on
    reg was_rst = 1'b1;
    always @(posedge clk) was_rst <= rst;
    always @* assert (s_ready == (count != 2 && !was_rst));
endmodule

`resetall
