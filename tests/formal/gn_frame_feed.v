// SPDX-License-Identifier: Apache-2.0
// gn_frame_feed, whatever frames come. Each is read once, all its beats in order, and its sums come
// once, 7 cycles after its last beat. Of each frame with something for the engine one range leaves,
// with as many bytes as it has, and no other. gn_byte_realign gets ranges as its proof asks for
// them, both FIFOs have room for what comes, and the places taken are those of beats inside. Beats
// stay, tkeep is contiguous, only a range's last beat is partial, and tuser is there and the same
// in all of them. A frame that is read goes on within two cycles if the engine takes what it is
// offered: no deadlock. A frame that may come in may do so until it does. Abstracted: the bytes.
// method: induct
// seconds: 60
// stubs: any_fifos.v
// sources: lib/gn_credit_counter.v frame/gn_checksum.v frame/gn_byte_realign.v
// sources: frame/gn_frame_sums.v
// sources: frame/gn_frame_feed.v
// reduce: s/USER_WIDTH = 10/USER_WIDTH = 2/
// expose: p_valid p_ready p_first p_engine p_start p_stop p_end p_user busy_reg issue number_reg
// expose: more_reg ahead_reg range_more_reg places_reg last_reg range_first_reg range_last_reg
// expose: places_left_reg
// expose: within_reg engine_reg start_reg stop_reg end_reg to_reg user_reg place valid_pipe
// expose: first_pipe last_pipe from_1 from_2 to_1 to_2 r_bytes r_last r_valid m_bytes
// expose: unused_user_valid
// expose: credits.free_reg credits.ok_reg realign.a_valid realign.a_first realign.a_last
// expose: realign.a_from realign.a_to realign.b_valid realign.b_first realign.b_last realign.b_from
// expose: realign.b_to realign.flush_reg realign.over_bytes_reg
// expose: sums.a_valid sums.a_last sums.b_valid sums.b_last sums.lead.a_valid sums.lead.a_last
// expose: sums.lead.b_valid sums.lead.b_last sums.lead.c_valid sums.lead.c_last
// expose: sums.lead.whole_valid_reg
// expose: beats.any.words beats.any.marks beats.any.newest users.any.words
// mutant: frame/gn_frame_feed.v s/p_round   = p_bytes \+ 17'd31/p_round   = p_bytes + 17'd30/
// mutant: frame/gn_frame_feed.v s/CREDITS\(17\)/CREDITS(18)/
// mutant: gn_frame_feed.v s/s_valid\(issue \&\& range_first_reg\)/s_valid(issue \&\& in_range)/
// mutant: frame/gn_frame_feed.v s/within_reg      <= 1'b0;//
// mutant: frame/gn_frame_feed.v s/last_reg        <= p_last_of\[16:5\] == 12'd0/last_reg <= 1'b0/
// mutant: frame/gn_frame_feed.v s/range_last_reg  <= p_span == 12'd0;//
`default_nettype none
module proof (
    input wire        clk,
    input wire        rst,
    input wire [9:0]  s_first,
    input wire [16:0] s_start,
    input wire [16:0] s_stop,
    input wire [16:0] s_end,
    input wire        s_engine,
    input wire [1:0]  s_user,
    input wire        s_valid,
    input wire        m_ready
);
    wire        s_ready, m_last, m_valid, sums_valid;
    wire [9:0]  address;
    wire [31:0] m_keep;
    wire [1:0]  m_user;
    wire        p_valid, p_ready, p_engine, busy, issue, last, range_first, range_last, places_left, within, engine, place, r_last, r_valid, user_there;
    wire        credits_ok, flush, a_valid, a_first, a_last, b_valid, b_first, b_last;
    wire        newest, s_a, s_a_last, s_b, s_b_last, l_a, l_a_last, l_b, l_b_last, l_c, l_c_last, l_whole;
    wire [5:0]  over_bytes;
    wire [9:0]  p_first;
    wire [16:0] p_start, p_stop, p_end, start, stop, ends;
    wire [1:0]  p_user, user, valid_pipe, first_pipe, last_pipe;
    wire [11:0] number, more, ahead, range_more, places;
    wire [4:0]  at_0, at_1;
    wire [5:0]  to_0, to_1;
    wire [5:0]  to, r_bytes, m_bytes, credits_free, a_to, b_to;
    wire [4:0]  a_from, b_from;
    wire [6:0]  words, marks, users;
    gn_frame_feed dut (
        .clk(clk), .rst(rst), .s_first(s_first), .s_start(s_start), .s_stop(s_stop), .s_end(s_end), .s_engine(s_engine), .s_user(s_user),
        .s_valid(s_valid), .s_ready(s_ready), .address(address), .m_axis_tkeep(m_keep), .m_axis_tlast(m_last), .m_axis_tuser(m_user),
        .m_axis_tvalid(m_valid), .m_axis_tready(m_ready), .sums_valid(sums_valid),
        .\p_valid (p_valid), .\p_ready (p_ready), .\p_first (p_first), .\p_engine (p_engine), .\p_start (p_start), .\p_stop (p_stop), .\p_end (p_end), .\p_user (p_user),
        .\busy_reg (busy), .\issue (issue), .\number_reg (number), .\more_reg (more), .\ahead_reg (ahead), .\range_more_reg (range_more), .\places_reg (places),
        .\last_reg (last), .\range_first_reg (range_first), .\range_last_reg (range_last), .\places_left_reg (places_left), .\within_reg (within),
        .\engine_reg (engine), .\start_reg (start), .\stop_reg (stop), .\end_reg (ends), .\to_reg (to), .\user_reg (user), .\place (place),
        .\valid_pipe (valid_pipe), .\first_pipe (first_pipe), .\last_pipe (last_pipe), .\from_1 (at_0), .\from_2 (at_1), .\to_1 (to_0), .\to_2 (to_1),
        .\r_bytes (r_bytes), .\r_last (r_last), .\r_valid (r_valid), .\m_bytes (m_bytes), .\unused_user_valid (user_there),
        .\credits.free_reg (credits_free), .\credits.ok_reg (credits_ok), .\realign.a_valid (a_valid), .\realign.a_first (a_first), .\realign.a_last (a_last),
        .\realign.a_from (a_from), .\realign.a_to (a_to), .\realign.b_valid (b_valid), .\realign.b_first (b_first), .\realign.b_last (b_last),
        .\realign.b_from (b_from), .\realign.b_to (b_to), .\realign.flush_reg (flush),
        .\realign.over_bytes_reg (over_bytes), .\beats.any.newest (newest), .\sums.a_valid (s_a), .\sums.a_last (s_a_last), .\sums.b_valid (s_b), .\sums.b_last (s_b_last),
        .\sums.lead.a_valid (l_a), .\sums.lead.a_last (l_a_last), .\sums.lead.b_valid (l_b), .\sums.lead.b_last (l_b_last),
        .\sums.lead.c_valid (l_c), .\sums.lead.c_last (l_c_last), .\sums.lead.whole_valid_reg (l_whole),
        .\beats.any.words (words), .\beats.any.marks (marks), .\users.any.words (users));

    // ---- a frame, as its ports ask for it: gn_rx_judge and gn_tx_judge say so, and gn_frame_store
    // holds no more than 2^11 beats

    always @* if (s_valid) assume (s_end >= 17'd1 && s_end <= 17'd65536 && s_start <= s_stop && s_stop <= s_end && (!s_engine || s_start < s_stop));

    // ---- the frame that is read: its beats, those of its range, and places for what the range
    // gives

    reg  [9:0]  first_of;
    reg  [1:0]  user_of;
    always @(posedge clk) if (p_valid && p_ready) {first_of, user_of} <= {p_first, p_user};
    wire [16:0] last_byte = ends - 17'd1, stop_byte = stop - 17'd1;
    wire [11:0] of_last = last_byte[16:5], of_start = start[16:5], of_stop = stop_byte[16:5];
    wire        over = to > {1'b0, start[4:0]};  // the range's last beat gives one of its own
    wire [11:0] gives = of_stop - of_start + {11'd0, over};
    wire        in_range = engine && number >= of_start && number <= of_stop;
    always @* begin
        if (p_valid) assert (p_end >= 17'd1 && p_end <= 17'd65536 && p_start <= p_stop && p_stop <= p_end && (!p_engine || p_start < p_stop));
        if (busy) begin
            assert (ends >= 17'd1 && ends <= 17'd65536 && start <= stop && stop <= ends && (!engine || start < stop));
            assert (address == first_of + number[9:0] && user == user_of);
            assert (number <= of_last && more == of_last - number && last == (number == of_last));
            assert (ahead == of_start - number && range_first == (engine && number == of_start));
            assert (within == (in_range && number != of_start));
            assert (to == {1'b0, stop_byte[4:0]} + 6'd1);
            if (engine && number <= of_stop) begin
                assert (range_more == of_stop - (number < of_start ? of_start : number) && range_last == (range_more == 12'd0));
                assert (places == (number < of_start ? gives : gives - (number - of_start)));
                assert (places_left == (places != 12'd0));
            end
        end
        if (issue) assert (place == (in_range && (number != of_stop || over)));
        assert (!issue || busy);
    end

    // ---- ranges on their way to the FIFO. Of each stage, the older first: what its beat is, and
    // whether a range is open behind it

    reg  [3:0] placed = 4'd0;    // a place was taken with it
    reg        held = 1'b0;      // gn_byte_realign has a beat of an open range, and waits for the next
    reg  [4:0] held_from;        // where the range begins
    // of the range's bytes those up to the beat's end, for each stage
    reg [16:0] upto_0, upto_1, upto_a, upto_b;
    // and to that of the beat that gn_byte_realign had last, and the one before
    reg [16:0] held_came, total;
    reg        flushed = 1'b0;
    wire [16:0] to_here = (number == of_stop ? stop : {number + 12'd1, 5'd0}) - start;
    always @(posedge clk) begin
        placed <= rst ? 4'd0 : {placed[2:0], place};
        if (b_valid) held <= !b_last;
        if (b_valid) held_from <= b_from;
        if (b_valid) held_came <= upto_b;
        {upto_0, upto_1, upto_a, upto_b} <= {to_here, upto_0, upto_1, upto_a};
        total   <= held_came;
        flushed <= flush && !rst;
        if (rst) held <= 1'b0;
    end
    wire       open_b = b_valid ? !b_last : held;
    wire       open_a = a_valid ? !a_last : open_b;
    wire       open_1 = valid_pipe[1] ? !last_pipe[1] : open_a;
    wire       open_0 = valid_pipe[0] ? !last_pipe[0] : open_1;
    wire [4:0] from_b = b_valid ? b_from : held_from;
    wire [4:0] from_a = a_valid ? a_from : from_b;
    wire [4:0] from_1 = valid_pipe[1] ? at_1 : from_a;
    wire [4:0] from_0 = valid_pipe[0] ? at_0 : from_1;
    wire [16:0] came_b = b_valid ? upto_b : held_came;
    wire [16:0] came_a = a_valid ? upto_a : came_b;
    wire [16:0] came_1 = valid_pipe[1] ? upto_1 : came_a;
    wire [16:0] came_0 = valid_pipe[0] ? upto_0 : came_1;
    // as gn_byte_realign wants it
    function fits(input open, input [4:0] open_from, input [16:0] before, input first, input is_last, input [4:0] from, input [5:0] to, input [16:0] came);
        fits = first == !open && (first || from == open_from) && to >= 6'd1 && to <= 6'd32 && (!(first && is_last) || to > {1'b0, from}) &&
               came == (first ? 17'd0 - {12'd0, from} : before) + (is_last ? {11'd0, to} : 17'd32);
    endfunction
    always @* begin
        if (b_valid) assert (fits(held, held_from, held_came, b_first, b_last, b_from, b_to, upto_b));
        if (a_valid) assert (fits(open_b, from_b, came_b, a_first, a_last, a_from, a_to, upto_a));
        if (valid_pipe[1]) assert (fits(open_a, from_a, came_a, first_pipe[1], last_pipe[1], at_1, to_1, upto_1));
        if (valid_pipe[0]) assert (fits(open_1, from_1, came_1, first_pipe[0], last_pipe[0], at_0, to_0, upto_0));
        assert (open_0 == (busy && within));
        if (busy && within) assert (from_0 == start[4:0] && came_0 == {number, 5'd0} - start);
        if (issue && range_last && in_range) assert (to_here == stop - start);
        assert (placed[0] == (valid_pipe[0] && (!last_pipe[0] || to_0 > {1'b0, at_0})));
        assert (placed[1] == (valid_pipe[1] && (!last_pipe[1] || to_1 > {1'b0, at_1})));
        assert (placed[2] == (a_valid && (!a_last || a_to > {1'b0, a_from})));
        assert (placed[3] == (b_valid && (!b_last || b_to > {1'b0, b_from})));
    end

    // ---- bytes: with its last beat all of the range's have left

    reg  [16:0] left = 17'd0;  // of the range that leaves gn_byte_realign, ahead of its beat
    wire [16:0] left_next = !r_valid ? left : r_last ? 17'd0 : left + {11'd0, r_bytes};
    always @(posedge clk) left <= rst ? 17'd0 : left_next;
    always @* begin
        if (r_valid && r_last) assert (left + {11'd0, r_bytes} == (flushed ? total : held_came));
        assert (left_next == (flush ? held_came - {11'd0, over_bytes} : held ? held_came - (17'd32 - {12'd0, held_from}) : 17'd0));
        if (r_valid) assert (r_last || !flushed);
        if (flushed) assert (r_valid);
    end

    // ---- places: those taken are of beats in here; and as many ranges leave as were begun

    wire [6:0] inside = {6'd0, placed[0]} + {6'd0, placed[1]} + {6'd0, placed[2]} + {6'd0, placed[3]} + {6'd0, held} + {6'd0, flush} + {6'd0, r_valid} + words;
    wire [6:0] ranges = {6'd0, open_0} + {6'd0, valid_pipe[0] && last_pipe[0]} + {6'd0, valid_pipe[1] && last_pipe[1]} + {6'd0, a_valid && a_last} +
                        {6'd0, b_valid && b_last} + {6'd0, flush} + {6'd0, r_valid && r_last} + marks;
    always @* begin
        assert (credits_free <= 6'd17 && {1'b0, 6'd17 - credits_free} == inside && (!credits_ok || credits_free != 6'd0));
        assert (users == ranges);
        assert (!m_valid || user_there);
        // a beat that is not its range's last is followed by others
        assert (!(r_valid && !r_last) || flush || held);
        assert (words == 7'd0 || newest || r_valid || flush || held);
        assert (!(held && flush));
    end

    // ---- the output's protocol; what comes out of the FIFO went in

    beat is_beat (.there(r_valid), .word({r_last, r_bytes}));
    always @* if (flush) assert (over_bytes >= 6'd1 && over_bytes <= 6'd32);
    always @* if (m_valid) assume (m_bytes >= 6'd1 && m_bytes <= 6'd32 && (m_last || m_bytes == 6'd32));
    keeps m_keeps (.bytes(m_bytes), .keep(m_keep));
    stays #(.WIDTH(35)) m_stays (.clk(clk), .rst(rst), .data({m_keep, m_last, m_user}), .valid(m_valid), .ready(m_ready));
    reg       between = 1'b1;
    reg [1:0] user_was;
    always @(posedge clk) begin
        if (m_valid && m_ready) between <= m_last;
        user_was <= m_user;
        if (rst) between <= 1'b1;
    end
    always @* begin
        if (m_valid) assert (m_keep[0] && (m_keep & (m_keep + 32'd1)) == 32'd0 && (m_last || &m_keep));
        if (!between) assert (user_there && m_user == user_was);
    end

    // ---- each frame's sums, once; no deadlock; a frame that may come in, may until it does

    reg [6:0] summing = 7'd0;
    reg       was_ready = 1'b0, waits = 1'b0, was_rst = 1'b0;
    wire      moves = issue || (p_valid && p_ready);
    always @(posedge clk) begin
        summing   <= rst ? 7'd0 : {summing[5:0], issue && last};
        was_ready <= s_ready && !s_valid;
        waits     <= (p_valid || busy) && (m_ready || !m_valid) && !moves && !rst;
        was_rst   <= rst;
    end
    always @* begin
        assert (sums_valid == summing[6]);
        assert (summing[5:0] == {l_whole, l_c && l_c_last, l_b && l_b_last, l_a && l_a_last, s_b && s_b_last, s_a && s_a_last});
        if (was_ready) assert (s_ready);
        assert (!credits_ok == (credits_free == 6'd0) || (!p_valid && !busy));
        if (waits) assert (moves);
    end
endmodule

`resetall
