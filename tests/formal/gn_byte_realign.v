// SPDX-License-Identifier: Apache-2.0
// gn_byte_realign. Only whole beats come out, and as the last of a range one with at least a byte.
// As many ranges come out as went in.
// method: pdr
// sources: frame/gn_byte_realign.v
// mutant: frame/gn_byte_realign.v s/reach\[5:0\] \+ 6'd32/reach[5:0] + 6'd30/
// mutant: frame/gn_byte_realign.v s/flush_reg <= b_valid \&\& b_last/flush_reg <= b_last/
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire [255:0] s_data,
    input wire [4:0]   s_from,
    input wire [5:0]   s_to,
    input wire         s_first,
    input wire         s_last,
    input wire         s_valid
);
    wire [5:0] m_bytes;
    wire       m_last, m_valid;
    gn_byte_realign dut (
        .clk(clk), .rst(rst), .s_data(s_data), .s_from(s_from), .s_to(s_to), .s_first(s_first), .s_last(s_last), .s_valid(s_valid),
        .m_bytes(m_bytes), .m_last(m_last), .m_valid(m_valid));

    reg       open = 1'b0;  // a range has begun and has not ended
    reg [4:0] from;
    reg [2:0] inside = 3'd0;
    reg [2:0] quiet = 3'd0;
    always @(posedge clk) begin
        if (s_valid) open <= !s_last;
        if (s_valid) from <= s_from;
        inside <= inside + {2'd0, s_valid && s_last} - {2'd0, m_valid && m_last};
        quiet  <= s_valid ? 3'd0 : quiet == 3'd7 ? quiet : quiet + 3'd1;
        if (rst) begin
            open   <= 1'b0;
            inside <= 3'd0;
        end
    end
    always @* begin
        assume (!s_valid || s_first == !open);
        assume (s_first || s_from == from);
        assume (s_to >= 6'd1 && s_to <= 6'd32 && (!s_first || !s_last || s_to > {1'b0, s_from}));
        assert (!m_valid || inside != 3'd0 || !m_last);
        assert (inside <= 3'd4 && (quiet < 3'd5 || inside == 3'd0));
    end
    beat is_beat (.there(m_valid), .word({m_last, m_bytes}));
endmodule

`resetall
