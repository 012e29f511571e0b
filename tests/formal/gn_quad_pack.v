// SPDX-License-Identifier: Apache-2.0
// gn_quad_pack. What goes into its FIFO of pieces has 1 to 35 bytes and finds room. Abstracted:
// what the ring of groups holds.
// method: pdr
// seconds: 30
// sources: lib/gn_credit_counter.v lib/gn_credit_fifo.v codec/gn_group_class.v codec/gn_quad_pack.v
// reduce: s/r_payload <= ring.*/r_payload <= 264'd0;/
// expose: credits.free_reg credits.taken credits.given pieces.write_reg pieces.read_reg
// expose: pieces.out_valid_reg pieces.empty_reg r_valid bytes
// mutant: codec/gn_quad_pack.v s/present  = !q_zero \&\& .*/present = !q_zero;/
// mutant: codec/gn_quad_pack.v s/CREDITS\(9\)/CREDITS(10)/
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire [15:0]  s_tags,
    input wire [255:0] s_words,
    input wire         s_valid,
    input wire         s_last,
    input wire         m_ready
);
    wire [5:0] free, bytes;
    wire [2:0] taken, given;
    wire [3:0] write, read;
    wire       out, empty, piece;
    gn_quad_pack dut (
        .clk(clk), .rst(rst), .s_tags(s_tags), .s_words(s_words), .s_valid(s_valid), .s_last(s_last), .m_ready(m_ready),
        .\credits.free_reg (free), .\credits.taken (taken), .\credits.given (given), .\pieces.write_reg (write), .\pieces.read_reg (read),
        .\pieces.out_valid_reg (out), .\pieces.empty_reg (empty), .\r_valid (piece), .\bytes (bytes));

    wire [5:0] inside = {2'd0, write - read} + {5'd0, out};
    always @* begin
        if (piece) assert (bytes >= 6'd1 && bytes <= 6'd35);
        assert (inside + {5'd0, piece} <= 6'd9 && write - read <= 4'd8 && (out || write == read) && empty == (write == read));
        assert (free <= 6'd9 && 6'd9 - free + {3'd0, taken} - {3'd0, given} == inside + {5'd0, piece});
    end
endmodule

`resetall
