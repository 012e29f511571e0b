// SPDX-License-Identifier: Apache-2.0
// Stands for gn_result_store's FIFO of limits, {beats, bytes}: as any_fifos.v says. Each limit has
// as many beats as its bytes need, and as many beats come out as went in.
`default_nettype none
module any_limits #(
    parameter WIDTH = 21,
    parameter LOG2  = 4
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] s_data,
    input  wire             s_valid,
    output wire [WIDTH-1:0] m_data,
    output wire             m_valid,
    input  wire             m_ready
);
    gn_credit_fifo #(.WIDTH(WIDTH), .LOG2(LOG2)) fifo (
        .clk(clk), .rst(rst), .s_data(s_data), .s_valid(s_valid), .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready));

    reg  [11:0] beats = 12'd0;
    reg  [6:0]  words = 7'd0;
    localparam BYTES = 17;  // width; beats are above
    wire [BYTES-1:0] s_bytes = s_data[BYTES-1:0], m_bytes = m_data[BYTES-1:0];
    wire [11:0]      in = s_data[WIDTH-1:BYTES], out = m_data[WIDTH-1:BYTES];
    always @(posedge clk) begin
        beats <= rst ? 12'd0 : beats + (s_valid ? in : 12'd0) - (m_valid && m_ready ? out : 12'd0);
        words <= rst ? 7'd0 : words + {6'd0, s_valid} - {6'd0, m_valid && m_ready};
    end

    function fits(input [11:0] beats, input [16:0] bytes);
        fits = {1'b0, beats} == ({1'b0, bytes} + 18'd31) >> 5;
    endfunction
    always @* begin
        if (s_valid) assert (fits(in, s_bytes));
        if (m_valid) assume (fits(out, m_bytes) && (words == 7'd1 ? beats == out : beats >= out));
        assert (words != 7'd0 || beats == 12'd0);
    end
endmodule

`resetall
