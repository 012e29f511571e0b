// SPDX-License-Identifier: Apache-2.0
// gn_frame_store. No beat of a frame that is open, or announced and not yet freed, is written over.
// A frame is announced only whole. Each frame that ends is announced once: as gone if it is bad or
// too long, which is told once. With all frames taken and freed, a beat waits no longer than 6
// cycles, however long its frame is.
// method: pdr
// seconds: 30
// sources: lib/gn_block_ram.v lib/gn_credit_counter.v lib/gn_credit_fifo.v frame/gn_frame_store.v
// reduce: s/LOG2       = 10/LOG2       = 3/
// reduce: s/INFO_WIDTH = 106/INFO_WIDTH = 1/
// reduce: s/CREDITS\(17\)/CREDITS(5)/
// reduce: s/\.LOG2\(4\)/.LOG2(2)/
// reduce: s/256/1/g
// reduce: s/255:0/0:0/
// expose: left_reg give_reg back_reg open_reg long_reg write write_any announce close
// expose: frames.write_reg frames.read_reg frames.out_valid_reg frames.empty_reg
// expose: credits.free_reg credits.taken credits.given
// mutant: frame/gn_frame_store.v s/\(left_sum\[0\] \&\& !write\)/left_sum[0]/
// mutant: frame/gn_frame_store.v s/^ +back_reg +<= \{LOG2\+1\{1'b0\}\};$//
// mutant: frame/gn_frame_store.v s/MOST\(2\)/MOST(1)/
// mutant: frame/gn_frame_store.v s/write_any = room_reg/write_any = 1'b1/
// mutant: frame/gn_frame_store.v s/free_beats \+ back_reg/free_beats/
// mutant: frame/gn_frame_store.v s/s_valid\(close\)/s_valid(announce)/
`default_nettype none
module proof (
    input wire       clk,
    input wire       rst,
    input wire       s_last,
    input wire       s_valid,
    input wire       s_bad,
    input wire       m_ready,
    input wire [3:0] free_beats
);
    wire       s_ready, bad, long, m_valid, write, write_any, announce, close, m_gone, is_long, out, empty;
    wire [3:0] left, give, back, open;
    wire [2:0] fifo_write, fifo_read;
    wire [5:0] credits;
    wire [2:0] taken, given;
    gn_frame_store dut (
        .clk(clk), .rst(rst), .s_axis_tdata(1'b0), .s_axis_tlast(s_last), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .s_bad(s_bad),
        .s_info(1'b0), .dropped_bad(bad), .dropped_long(long), .m_valid(m_valid), .m_ready(m_ready), .a_address(3'd0), .b_address(3'd0),
        .free_beats(free_beats), .\left_reg (left), .\give_reg (give), .\back_reg (back), .\open_reg (open), .\long_reg (is_long),
        .\write (write), .\write_any (write_any), .\announce (announce), .\close (close), .m_gone(m_gone), .\frames.write_reg (fifo_write), .\frames.read_reg (fifo_read), .\frames.out_valid_reg (out), .\frames.empty_reg (empty),
        .\credits.free_reg (credits), .\credits.taken (taken), .\credits.given (given));

    reg [3:0] kept = 4'd0;     // beats of frames that are announced and not yet freed
    reg [2:0] waiting = 3'd0;  // frames that are announced, gone or not, and not yet taken
    reg       ended = 1'b0, announced = 1'b0;
    wire      take = s_valid && s_ready;
    always @(posedge clk) begin
        kept      <= rst ? 4'd0 : kept - free_beats + (announce ? open + 4'd1 : 4'd0);
        waiting   <= rst ? 3'd0 : waiting + {2'd0, close} - {2'd0, m_valid && m_ready};
        ended     <= take && s_last && !rst;
        announced <= announce;
    end
    always @* begin
        assume (free_beats <= kept);
        assert (kept <= 4'd8 && open <= 4'd8);
        assert (!write || write_any);
        assert (!write_any || {1'b0, kept} + {1'b0, open} <= 5'd7);
        assert (close == (take && s_last) && (!announce || (close && !s_bad)));
        if (ended) assert ({2'd0, bad} + {2'd0, long} + {2'd0, announced} == 3'd1);
        else assert (!bad && !long);
        // where the places are
        assert ({1'b0, left} + {1'b0, give} + {1'b0, back} + {1'b0, open} + {1'b0, kept} == 5'd8);
        assert (!is_long || open == 4'd0);
        assert (fifo_write - fifo_read <= 3'd4 && credits <= 6'd5);
        assert ({3'd0, waiting} + credits + {3'd0, given} == 6'd5 + {3'd0, taken} && taken <= 3'd1 && given <= 3'd1 && fifo_write - fifo_read + {2'd0, out} == waiting && (out || fifo_write == fifo_read) && empty == (fifo_write == fifo_read));
    end
    moves #(.CYCLES(6)) m_moves (.clk(clk), .rst(rst), .wants(s_valid && kept == 4'd0 && waiting == 3'd0), .moves(s_ready));
endmodule

`resetall
