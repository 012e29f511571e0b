// SPDX-License-Identifier: Apache-2.0
// checksum. No carry is lost anywhere, whatever beats come and however many: each sum is what it is
// in 24 bits, where the upper bits of a sum go in again below. Nothing of a frame is in the sum of
// the next. What comes out is 0 only if the sum was 0.
// method: pdr
// sources: frame/gn_checksum.v
// expose: a_sum b_sum b_more c_sum c_valid c_last sum_reg whole_reg out_reg whole_odd_reg
// mutant: frame/gn_checksum.v /c_sum +<=/s/ \+ \{14'd0, b_sum\[19:16\]\}//
// mutant: frame/gn_checksum.v s/\{16'd0, sum_reg\[17:16\]\}/{17'd0, sum_reg[16]}/
// mutant: frame/gn_checksum.v s/\{15'd0, whole_reg\[17:16\]\}/{16'd0, whole_reg[16]}/
// mutant: frame/gn_checksum.v s/c_last \? 18'd0 : sum/sum/
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire [255:0] s_data,
    input wire [31:0]  s_keep,
    input wire         s_last,
    input wire         s_odd,
    input wire [15:0]  s_more,
    input wire         s_valid
);
    wire [71:0] a_sum;
    wire [19:0] b_sum;
    wire [17:0] c_sum, sum_reg, whole_reg;
    wire [15:0] b_more, out_reg, m_sum;
    wire        c_valid, c_last, whole_odd, m_valid;
    gn_checksum dut (
        .clk(clk), .rst(rst), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .s_odd(s_odd), .s_more(s_more), .s_valid(s_valid),
        .m_sum(m_sum), .m_valid(m_valid), .\a_sum (a_sum), .\b_sum (b_sum), .\b_more (b_more), .\c_sum (c_sum), .\c_valid (c_valid),
        .\c_last (c_last), .\sum_reg (sum_reg), .\whole_reg (whole_reg), .\out_reg (out_reg), .\whole_odd_reg (whole_odd));

    // as they were a cycle ago; what is asserted of two cycles ago holds from the third on, for
    // registers begin with anything
    reg        on = 1'b0, on_2 = 1'b0;
    reg [71:0] a;
    reg [19:0] b;
    reg [15:0] more;
    reg [17:0] c, kept, whole;
    reg        c_there, c_end, odd, reset;
    always @(posedge clk) begin
        on   <= 1'b1;
        on_2 <= on;
        {a, b, more, c, kept, whole} <= {a_sum, b_sum, b_more, c_sum, sum_reg, whole_reg};
        {c_there, c_end, odd, reset} <= {c_valid, c_last, whole_odd, rst};
    end

    wire [15:0] out  = odd ? {out_reg[7:0], out_reg[15:8]} : out_reg;
    wire [16:0] fold = {1'b0, whole[15:0]} + {15'd0, whole[17:16]};

    always @* begin
        if (on) begin
            assert ({4'd0, b_sum} == ({6'd0, a[17:0]} + {6'd0, a[35:18]}) + ({6'd0, a[53:36]} + {6'd0, a[71:54]}));
            assert ({6'd0, c_sum} == ({8'd0, b[15:0]} + {20'd0, b[19:16]}) + {8'd0, more});
            assert (c_sum <= 18'h2000d);
            assert (sum_reg == (reset || (c_there && c_end) ? 18'd0 : c_there ? whole_reg : kept));
            assert ({8'd0, out} == (fold[16] ? {8'd0, fold[15:0]} + 24'd1 : {8'd0, fold[15:0]}));
            assert ((out == 16'd0) == (whole == 18'd0));
        end
        if (on_2) assert ({6'd0, whole_reg} == ({6'd0, c} + {8'd0, kept[15:0]}) + {22'd0, kept[17:16]});
    end
endmodule

`resetall
