// SPDX-License-Identifier: Apache-2.0
// One's complement sum (RFC 1071) of the kept bytes of a frame, a beat a cycle: what
// gn_checksum_add() gives, folded to 16 bits and not complemented. It watches a stream and never
// holds it up. Latency 5.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_checksum (
    input  wire         clk,
    input  wire         rst,      // synchronous, active high: the open frame is forgotten

    input  wire [255:0] s_data,   // byte 0 in the lowest bits
    input  wire [31:0]  s_keep,   // any: a byte that is not kept counts as zero
    input  wire         s_last,   // of the frame
    input  wire         s_odd,    // in the last beat: the sum begins at an odd offset, so odd
                                  // bytes are the high ones of their words
    input  wire [15:0]  s_more,   // in the last beat: what else belongs to the sum, such as a
                                  // pseudo header's
    input  wire         s_valid,  // always taken

    output wire [15:0]  m_sum,    // 0 only if all was 0
    output wire         m_valid   // for one cycle
);

    // ---- sums of four words, their sum, folded to 17 bits. At an odd offset the bytes of all
    // words are swapped (RFC 1071, 2(B)): so s_more is swapped ahead, and the whole at the end

    reg [71:0] a_sum;
    reg [19:0] b_sum;
    reg [17:0] c_sum;
    reg [15:0] a_more, b_more;
    reg        a_odd, b_odd, c_odd;
    reg        a_last, b_last, c_last;
    reg        a_valid = 1'b0, b_valid = 1'b0, c_valid = 1'b0;

    wire [287:0] words;  // 18 bits each
    genvar i;
    generate
        for (i = 0; i < 16; i = i + 1) begin : g_word
            assign words[18*i +: 18] = {2'd0, s_keep[2*i] ? s_data[16*i +: 8] : 8'd0, s_keep[2*i+1] ? s_data[16*i+8 +: 8] : 8'd0};
        end
        for (i = 0; i < 4; i = i + 1) begin : g_four
            always @(posedge clk)
                a_sum[18*i +: 18] <= (words[72*i +: 18] + words[72*i+18 +: 18]) + (words[72*i+36 +: 18] + words[72*i+54 +: 18]);
        end
    endgenerate

    always @(posedge clk) begin
        a_more  <= !s_last ? 16'd0 : s_odd ? {s_more[7:0], s_more[15:8]} : s_more;
        a_odd   <= s_odd;
        a_last  <= s_last;
        a_valid <= s_valid;

        b_sum   <= ({2'd0, a_sum[17:0]} + {2'd0, a_sum[35:18]}) + ({2'd0, a_sum[53:36]} + {2'd0, a_sum[71:54]});
        b_more  <= a_more;
        b_odd   <= a_odd;
        b_last  <= a_last;
        b_valid <= a_valid;

        c_sum   <= ({2'd0, b_sum[15:0]} + {14'd0, b_sum[19:16]}) + {2'd0, b_more};
        c_odd   <= b_odd;
        c_last  <= b_last;
        c_valid <= b_valid;

        if (rst) begin
            a_valid <= 1'b0;
            b_valid <= 1'b0;
            c_valid <= 1'b0;
        end
    end

    // ---- the frame's sum: its carries, 0 to 3, go in with the next beat

    reg [17:0] sum_reg = 18'd0;  // 0 between frames
    reg [17:0] whole_reg;
    reg        whole_odd_reg;
    reg        whole_valid_reg = 1'b0;

    wire [17:0] sum = c_sum + {2'd0, sum_reg[15:0]} + {16'd0, sum_reg[17:16]};

    always @(posedge clk) begin
        if (c_valid) sum_reg <= c_last ? 18'd0 : sum;
        whole_reg       <= sum;
        whole_odd_reg   <= c_odd;
        whole_valid_reg <= c_valid && c_last;
        if (rst) begin
            sum_reg         <= 18'd0;
            whole_valid_reg <= 1'b0;
        end
    end

    // ---- folded to 16 bits, twice: the first time may carry once more

    reg [15:0] out_reg;
    reg        out_valid_reg = 1'b0;

    wire [16:0] once = {1'b0, whole_reg[15:0]} + {15'd0, whole_reg[17:16]};
    wire [15:0] all  = once[15:0] + {15'd0, once[16]};

    always @(posedge clk) begin
        out_reg       <= whole_odd_reg ? {all[7:0], all[15:8]} : all;
        out_valid_reg <= whole_valid_reg && !rst;
    end

    assign m_sum   = out_reg;
    assign m_valid = out_valid_reg;

endmodule

`resetall
