// SPDX-License-Identifier: Apache-2.0
// gn_record_packer. What goes into its FIFO is a full beat, or a frame's last with at least a byte,
// and finds room. With a sink that takes, a record waits for no more than 8 cycles. Records have up
// to 38 bytes, as gn_frame_assemble's; the compressor's are shorter. (The proof gn_pair_fifo says
// that the FIFO gives words unchanged, in order, and lets them stay.)
// method: pdr
// sources: lib/gn_pair_fifo.v lib/gn_credit_counter.v codec/gn_record_packer.v
// reduce: s/RECORD_BYTES = 35/RECORD_BYTES = 38/
// expose: m_bytes credits.free_reg credits.ok_reg credits.taken credits.given fifo.s_count
// expose: fifo.s_first fifo.s_second fifo.write_reg fifo.read_reg fifo.out_valid_reg a_valid
// expose: a_beats b_count b_third
// seconds: 30
// mutant: codec/gn_record_packer.v s/s_ready = room \&\& !pause_reg/s_ready = room/
// mutant: codec/gn_record_packer.v s/\{!part, end_/{1'b0, end_/
`default_nettype none

module proof (
    input wire         clk,
    input wire         rst,
    input wire [303:0] s_record,
    input wire [5:0]   s_length,
    input wire         s_last,
    input wire         s_valid,
    input wire         m_ready
);
    wire         s_ready, m_valid, m_last;
    wire [255:0] m_data;
    wire [31:0]  m_keep;
    wire [5:0]   m_bytes, free;
    wire [1:0]   count, a_beats, b_count;
    wire [262:0] first, second;
    wire [4:0]   write, read;
    wire [2:0]   taken, given;         // counted in the next cycle
    wire         out, a_valid, third, ok;

    gn_record_packer dut (
        .clk(clk), .rst(rst), .s_record(s_record), .s_length(s_length), .s_last(s_last), .s_valid(s_valid), .s_ready(s_ready),
        .m_axis_tdata(m_data), .m_axis_tkeep(m_keep), .m_axis_tlast(m_last), .m_axis_tvalid(m_valid), .m_axis_tready(m_ready),
        .\m_bytes (m_bytes), .\credits.free_reg (free), .\credits.ok_reg (ok), .\credits.taken (taken), .\credits.given (given), .\fifo.s_count (count), .\fifo.s_first (first), .\fifo.s_second (second),
        .\fifo.write_reg (write), .\fifo.read_reg (read), .\fifo.out_valid_reg (out),
        .\a_valid (a_valid), .\a_beats (a_beats), .\b_count (b_count), .\b_third (third));

    always @* assume (s_length >= 6'd1 && s_length <= 6'd38);

    beat first_is_beat (.there(count != 2'd0), .word(first[262:256]));
    beat second_is_beat (.there(count == 2'd2), .word(second[262:256]));
    keeps m_keeps (.bytes(m_bytes), .keep(m_keep));
    moves #(.CYCLES(8)) m_moves (.clk(clk), .rst(rst), .wants(m_ready), .moves(s_ready));

    // places taken are those of beats in the stages and in the FIFO
    wire [5:0] inside = {1'b0, write - read} + {5'd0, out};
    reg        was_rst = 1'b1;
    always @(posedge clk) was_rst <= rst;
    always @* begin
        assert (free <= 6'd17);
        assert (6'd17 - free + {3'd0, taken} - {3'd0, given} == inside + (a_valid ? {4'd0, a_beats} : 6'd0) + {4'd0, b_count} + {5'd0, third});
        assert (ok == (free >= 6'd6) || (was_rst && !ok));
        assert (inside <= 6'd17 && write - read <= 5'd16 && (out || write == read));
        assert (!(third && a_valid));
        assert ({4'd0, count} + inside <= 6'd17);
    end
endmodule

`resetall
