// SPDX-License-Identifier: Apache-2.0
// gn_result_store, whatever the engine gives. No beat of a frame that is kept and not yet freed is
// written over. Every frame that comes is announced once, in order, with the number of its bytes
// and where its beats begin. It is kept if and only if it is not bad and no longer than was
// reserved. All that is reserved comes back: with all frames announced, taken and freed, a
// reservation waits no longer than 5 cycles. FIFOs have room for what comes, and what is offered
// stays. Abstracted: the bytes; a ring of 8 beats; FIFOs are what their proofs say, the one of
// limits also with their sum.
// method: induct
// seconds: 60
// stubs: any_fifos.v any_limits.v
// sources: lib/gn_keep_count.v lib/gn_block_ram.v lib/gn_credit_counter.v frame/gn_checksum.v
// sources: frame/gn_result_store.v
// reduce: s/LOG2 = 10/LOG2 = 3/
// reduce: s/gn_credit_fifo (#\(\.WIDTH\(LOG2 \+ 18\), \.LOG2\(4\)\) limits)/any_limits \1/
// expose: left_reg asked_reg need_reg limit_reg ok_reg give_reg reserve release_reg limit reserved
// expose: number_reg a_bytes a_number a_last a_bad a_valid b_bytes b_limit b_beats b_reserved
// expose: b_inside b_last b_bad b_valid
// expose: c_bytes c_beats c_reserved c_inside c_fits c_last c_bad c_valid write_reg start_reg close
// expose: kept may_expect unused_end_valid credits.free_reg
// expose: limits.beats limits.words limits.fifo.any.words ends.any.words end_sums.any.words
// expose: sums.a_valid sums.a_last sums.b_valid sums.b_last sums.c_valid sums.c_last
// expose: sums.whole_valid_reg sums.out_valid_reg
// mutant: frame/gn_result_store.v s/left_reg >= need_reg/1'b1/
// mutant: frame/gn_result_store.v s/(kept \? c_reserved - c_beats :) c_reserved/\1 c_beats/
// mutant: frame/gn_result_store.v s/b_inside \&\& b_bytes <= b_limit/b_inside/
// mutant: frame/gn_result_store.v s/write_reg <= start_reg;/write_reg <= write_reg;/
// mutant: frame/gn_result_store.v s/limit_ready = a_valid \&\& a_last/limit_ready = a_valid/
`default_nettype none
module proof (
    input wire        clk,
    input wire        rst,
    input wire [16:0] reserve_bytes,
    input wire        reserve_valid,
    input wire [5:0]  s_bytes,
    input wire        s_last,
    input wire        s_bad,
    input wire        s_valid,
    input wire        m_ready,
    input wire [3:0]  free_beats
);
    wire        asked_there, reserve_soon, reserve_ready, m_kept, m_bad, m_valid, ok, reserve, a_last, a_bad, a_valid, b_inside, b_last, b_bad, b_valid, c_inside, c_fits, c_last, c_bad, c_valid;
    wire        close, is_kept, may_expect, end_there, k_a, k_a_last, k_b, k_b_last, k_c, k_c_last, k_whole, k_out;
    wire [2:0]  m_first, write_at, start;
    wire [16:0] m_bytes, limit_reg, limit, b_bytes, b_limit, c_bytes;
    wire [15:0] m_sum;
    wire [3:0]  left, need, give, release_beats, reserved, b_beats, b_reserved, c_beats, c_reserved;
    wire [11:0] number, a_number, expected_beats;
    wire [5:0]  a_bytes, credits;
    wire [6:0]  limits, limits_2, ends, end_sums;
    gn_result_store dut (
        .clk(clk), .rst(rst), .reserve_bytes(reserve_bytes), .reserve_valid(reserve_valid), .reserve_soon(reserve_soon), .reserve_ready(reserve_ready), .s_data(256'd0),
        .s_keep(~(32'hffffffff << s_bytes)), .s_last(s_last), .s_bad(s_bad), .s_valid(s_valid), .m_first(m_first), .m_bytes(m_bytes), .m_kept(m_kept), .m_bad(m_bad),
        .m_sum(m_sum), .m_valid(m_valid), .m_ready(m_ready), .address(3'd0), .free_beats(free_beats),
        .\left_reg (left), .\asked_reg (asked_there), .\need_reg (need), .\limit_reg (limit_reg), .\ok_reg (ok), .\give_reg (give), .\reserve (reserve), .\release_reg (release_beats), .\limit (limit),
        .\reserved (reserved), .\number_reg (number), .\a_bytes (a_bytes), .\a_number (a_number), .\a_last (a_last), .\a_bad (a_bad), .\a_valid (a_valid),
        .\b_bytes (b_bytes), .\b_limit (b_limit), .\b_beats (b_beats), .\b_reserved (b_reserved), .\b_inside (b_inside), .\b_last (b_last), .\b_bad (b_bad), .\b_valid (b_valid),
        .\c_bytes (c_bytes), .\c_beats (c_beats), .\c_reserved (c_reserved), .\c_inside (c_inside), .\c_fits (c_fits), .\c_last (c_last), .\c_bad (c_bad), .\c_valid (c_valid),
        .\write_reg (write_at), .\start_reg (start), .\close (close), .\kept (is_kept), .\may_expect (may_expect), .\unused_end_valid (end_there), .\credits.free_reg (credits),
        .\limits.beats (expected_beats), .\limits.words (limits), .\limits.fifo.any.words (limits_2), .\ends.any.words (ends), .\end_sums.any.words (end_sums),
        .\sums.a_valid (k_a), .\sums.a_last (k_a_last), .\sums.b_valid (k_b), .\sums.b_last (k_b_last), .\sums.c_valid (k_c), .\sums.c_last (k_c_last),
        .\sums.whole_valid_reg (k_whole), .\sums.out_valid_reg (k_out));

    // ---- the neighbours: a reservation stays until it is taken, has room in an empty ring, and
    // comes at least two cycles before its frame, which has 4096 beats at most (of 65535 bytes an
    // engine makes less); only what is kept is freed

    reg        asks = 1'b0, soon = 1'b0;
    reg [16:0] asked;
    reg [6:0]  expected = 7'd0;  // frames that were reserved for and have not ended
    reg [3:0]  held = 4'd0;      // beats of frames that are kept and not freed
    always @(posedge clk) begin
        asks     <= reserve_valid && !reserve_ready && !rst;
        soon     <= reserve_soon && !rst;
        asked    <= reserve_bytes;
        expected <= rst ? 7'd0 : expected + {6'd0, reserve} - {6'd0, s_valid && s_last};
        held     <= rst ? 4'd0 : held - free_beats + (close && is_kept ? c_beats : 4'd0);
    end
    always @* begin
        assume (reserve_bytes <= 17'd256 && (!asks || (reserve_valid && reserve_bytes == asked)));
        assume (!s_valid || (expected != 7'd0 && s_bytes >= 6'd1 && s_bytes <= 6'd32 && (s_last || (s_bytes == 6'd32 && number != 12'd4095))));
        assume (free_beats <= held);
    end

    // ---- frames on their way: of each stage, the older first, how many beats and bytes of the
    // open one came, and what is reserved for it

    reg        open = 1'b0;                   // a frame is, behind the last stage
    reg [11:0] beats = 12'd0;
    reg [3:0]  room;
    reg [16:0] limit_c;
    reg [17:0] total = 18'd0;                 // bytes of the frame that comes, before this beat
    reg [17:0] total_a, total_b, total_c;     // with the beat of each stage
    wire [17:0] total_s = total + {12'd0, s_bytes};
    always @(posedge clk) begin
        if (s_valid) total <= s_last ? 18'd0 : total_s;
        {total_a, total_b, total_c} <= {total_s, total_a, total_b};
        limit_c <= b_limit;
        if (c_valid) begin
            open  <= !c_last;
            beats <= c_last ? 12'd0 : beats + 12'd1;
            room  <= c_reserved;
        end
        if (rst) begin
            open  <= 1'b0;
            beats <= 12'd0;
            total <= 18'd0;
        end
    end
    wire        open_c  = c_valid ? !c_last : open;
    wire        open_b  = b_valid ? !b_last : open_c;
    wire        open_a  = a_valid ? !a_last : open_b;
    wire [3:0]  room_c  = c_valid ? c_reserved : room;
    wire [3:0]  room_b  = b_valid ? b_reserved : room_c;
    wire [11:0] beats_c = c_valid ? (c_last ? 12'd0 : beats + 12'd1) : beats;
    wire [11:0] beats_b = b_valid ? (b_last ? 12'd0 : beats_c + 12'd1) : beats_c;
    wire [11:0] beats_a = a_valid ? (a_last ? 12'd0 : beats_b + 12'd1) : beats_b;
    // so many bytes end in the beat behind so many
    function right(input [11:0] beats, input is_last, input [17:0] total);
        right = total > {1'b0, beats, 5'd0} && total <= {1'b0, beats, 5'd0} + 18'd32 && (is_last || (total[4:0] == 5'd0 && beats != 12'd4095));
    endfunction
    always @* begin
        assert ((open || beats == 12'd0) && open_a == (number != 12'd0 || total != 18'd0) && number == beats_a && total == {1'b0, number, 5'd0});
        if (a_valid) assert (a_number == beats_b && right(beats_b, a_last, total_a) && total_a == {1'b0, a_number, 5'd0} + {12'd0, a_bytes});
        if (b_valid) assert (right(beats_c, b_last, total_b) && b_bytes == total_b[16:0] && b_beats == beats_c[3:0] + 4'd1 && b_inside == (beats_c < {8'd0, b_reserved}));
        if (c_valid) assert (right(beats, c_last, total_c) && c_bytes == total_c[16:0] && c_beats == beats[3:0] + 4'd1 && c_inside == (beats < {8'd0, c_reserved}));
        if (c_valid) assert (c_fits == (total_c <= {1'b0, limit_c}) && {14'd0, c_reserved} == ({1'b0, limit_c} + 18'd31) >> 5);
        if (b_valid) assert ({14'd0, b_reserved} == ({1'b0, b_limit} + 18'd31) >> 5);
        // what is reserved for the open frame is still expected
        if (c_valid && open) assert (c_reserved == room);
        if (b_valid && open_c) assert (b_reserved == room_c);
        if (open_b) assert (limits != 7'd0 && reserved == room_b);
        if (a_valid) assert (limits != 7'd0);
    end

    // ---- the ring: places are left, on their way back, expected, or kept; where the open frame is
    // written there is room

    wire [12:0] awaited = {1'b0, expected_beats} + (b_valid && b_last ? {9'd0, b_reserved} : 13'd0) + (c_valid && c_last ? {9'd0, c_reserved} : 13'd0);
    wire [3:0]  written = beats < {8'd0, room} ? beats[3:0] : room;  // of the open frame
    always @* begin
        assert ({9'd0, left} + {9'd0, give} + {9'd0, release_beats} + awaited + {9'd0, held} == 13'd8);
        if (ok) assert (need <= left && may_expect && asks && need == (asked + 17'd31) >> 5 && limit_reg == asked);
        assert (write_at == start + (open ? written[2:0] : 3'd0));
        if (c_valid && c_inside) assert ({1'b0, held} + (open ? {1'b0, written} : 5'd0) < 5'd8);
        // kept, if and only if
        if (close) assert (is_kept == (!c_bad && total_c <= {1'b0, limit_c}));
        if (close && is_kept) assert (c_beats >= 4'd1 && c_beats <= 4'd8 && c_beats == (total_c + 18'd31) >> 5);
    end

    // ---- frames: those expected, on their way, announced

    wire [6:0] ending  = {6'd0, b_valid && b_last} + {6'd0, c_valid && c_last};
    wire [6:0] summing = {6'd0, k_c && k_c_last} + {6'd0, k_whole} + {6'd0, k_out};
    always @* begin
        assert (limits == limits_2 && limits == expected + {6'd0, a_valid && a_last});
        assert (credits <= 6'd17 && {1'b0, 6'd17 - credits} == limits + ending + ends && (!may_expect || credits != 6'd0));
        assert (ends == end_sums + summing);
        assert ((k_a && k_a_last) == (b_valid && b_last) && (k_b && k_b_last) == (c_valid && c_last));
        assert (!m_valid || end_there);
    end
    stays #(.WIDTH(38)) m_stays (.clk(clk), .rst(rst), .data({m_first, m_bytes, m_kept, m_bad, m_sum}), .valid(m_valid), .ready(m_ready));

    // ---- no deadlock: with all frames announced, taken and freed, what may be reserved is

    reg [2:0] waits = 3'd0;
    wire      clear = reserve_valid && limits == 7'd0 && ending == 7'd0 && ends == 7'd0 && held == 4'd0;
    always @(posedge clk) waits <= rst || !clear || reserve_ready ? 3'd0 : waits + 3'd1;
    always @* begin
        assert (asked_there == asks && (asks || waits == 3'd0) && (!asks || asked <= 17'd256) && (!asks || (need == (asked + 17'd31) >> 5 && limit_reg == asked)));
        assert (ok == soon && (!reserve_soon || (reserve_valid && !ok)));
        assert (waits <= 3'd5);
        assert (waits == 3'd0 || release_beats == 4'd0);
        assert (waits < 3'd2 || (give == 4'd0 && may_expect));
        assert (waits < 3'd4 || ok);
    end
endmodule

`resetall
