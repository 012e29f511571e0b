// SPDX-License-Identifier: Apache-2.0
// Stand for gn_credit_fifo and gn_pair_fifo where a proof is about what is around them. They
// promise what the proofs of those two show, and no more. As many words are inside as came and were
// not taken. One is offered whenever there is one, and stays until it is taken. Which word it is,
// is any. But of the words' highest bits, the marks, as many come out as went in, and the newest
// word's mark comes out last. It is asserted here that a word always finds a place.
`default_nettype none
module gn_credit_fifo #(
    parameter WIDTH = 256,
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
    gn_pair_fifo #(.WIDTH(WIDTH), .LOG2(LOG2)) any (
        .clk(clk), .rst(rst), .s_count({1'b0, s_valid}), .s_first(s_data), .s_second(s_data),
        .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready));
endmodule

module gn_pair_fifo #(
    parameter WIDTH = 256,
    parameter LOG2  = 4
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [1:0]       s_count,
    input  wire [WIDTH-1:0] s_first,
    input  wire [WIDTH-1:0] s_second,
    output wire [WIDTH-1:0] m_data,
    output wire             m_valid,
    input  wire             m_ready
);
    reg [6:0]                    words = 7'd0, marks = 7'd0;
    reg                          newest;  // its mark
    reg [WIDTH-1:0]              word;
    (* anyseq *) wire [WIDTH-1:0] next;
    wire                         take = m_valid && m_ready;

    assign m_valid = words != 7'd0;
    assign m_data  = word;
    always @(posedge clk) begin
        words <= words + {5'd0, s_count} - {6'd0, take};
        marks <= marks + {6'd0, s_count != 2'd0 && s_first[WIDTH-1]} + {6'd0, s_count == 2'd2 && s_second[WIDTH-1]} - {6'd0, take && word[WIDTH-1]};
        if (!m_valid || m_ready) word <= next;
        if (s_count != 2'd0) newest <= s_count == 2'd2 ? s_second[WIDTH-1] : s_first[WIDTH-1];
        if (rst) begin
            words <= 7'd0;
            marks <= 7'd0;
        end
    end
    always @* begin
        // of one word it is that; of more there is one beside the newest
        if (words == 7'd1) assume (word[WIDTH-1] == newest);
        if (words > 7'd1) assume (word[WIDTH-1] ? marks > {6'd0, newest} : words - marks > {6'd0, !newest});
        assert (!m_valid || (newest ? marks != 7'd0 : marks != words));
        assert (s_count != 2'd3 && marks <= words && {5'd0, s_count} + words <= (1 << LOG2) + 1);
    end
endmodule

`resetall
