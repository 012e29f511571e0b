// SPDX-License-Identifier: Apache-2.0
// gn_slot_add, with values of two bits, and by one word of eight sums, any, that is followed.
// Whatever packets come, with whatever words of them, and whatever gaps: the word is what the
// contributions say, each counted once, and the first of a chunk instead of what was there. A
// result has it once if a contribution of its chunk had it, and otherwise not; and its words come
// in order. None goes to gn_sum_pack without room there, and none of int32 leaves while one of
// dense is inside. A sum that has left its range once is told with every result of that chunk. Each
// packet has one end, with its own words, in order; one of int32 that is made by adding, with its
// last beat. None waits for room that it does not need.
// method: bmc 20
// seconds: 200
// sources: lib/gn_block_ram.v lib/gn_credit_fifo.v switch/gn_slot_add.v
// reduce: s/SLOTS_LOG2 = 6/SLOTS_LOG2 = 1/
// reduce: s/BEATS_LOG2 = 5/BEATS_LOG2 = 2/
// reduce: s/META_WIDTH = 142/META_WIDTH = 2/
// reduce: s/32\*i \+: 32/2*i +: 2/g
// reduce: s/32\*i\+31/2*i+1/g
// reduce: s/32'd0/2'd0/g
// reduce: s/\[255:0\]/[15:0]/g
// reduce: s/WIDTH\(256\)/WIDTH(16)/
// cut: sums rows overs
// expose: address_0 address_3 write_at put_at end_at add_at sum_3 fetched fetched_row fetched_over
// expose: n_valid n_wait n_add n_first n_read n_beats n_result n_dense n_copy n_values
// expose: start run_reg move ending adds w_next w_number copy_reg add_reg row over
// mutant: switch/gn_slot_add.v s/n_wait   <= 2.d3/n_wait <= 2'd1/
// mutant: switch/gn_slot_add.v s/n_same \? row : f_row/f_row/
// mutant: switch/gn_slot_add.v s/n_same \? low : f_low/f_low/
// mutant: switch/gn_slot_add.v s/row_reg \| \(marks/(marks/
// mutant: switch/gn_slot_add.v s/again_2\[0\] \? sum_3/1'b0 ? sum_3/
// mutant: switch/gn_slot_add.v s/again_2\[2\] \? sum_5/1'b0 ? sum_5/
// mutant: switch/gn_slot_add.v s/address_0 == address_2 \&\& write_at\[2\]/address_0 == address_2/
// mutant: switch/gn_slot_add.v s/w_next \|\| row_reg\[v_number\]/w_next/
// mutant: switch/gn_slot_add.v s/\|\| v_number <= w_number\)/|| v_number < w_number)/
// mutant: switch/gn_slot_add.v s/\(!w_valid \|\| !w_more\) \&\& meet/meet/
// mutant: switch/gn_slot_add.v s/v_none \|\| v_number == w_number/1'b1/
// mutant: switch/gn_slot_add.v s/fresh \? .WORDS.1.b0.. : //
// mutant: switch/gn_slot_add.v s/out_3    <= out;/out_3 <= 8'd0;/
// mutant: switch/gn_slot_add.v s/if \(end_at\[3\]\) over_reg/if (!end_at[3]) over_reg/
// mutant: switch/gn_slot_add.v s/same_at\[3\] \? over_reg : before_3/before_3/
// mutant: switch/gn_slot_add.v s/!start_at\[3\] \&\& out_reg/out_reg/
// mutant: switch/gn_slot_add.v s/!start_at\[3\] \&\& out_reg/1'b0/
// mutant: switch/gn_slot_add.v s/lanes_2\[i\] \&\&/1'b1 \&\&/
// mutant: switch/gn_slot_add.v s/n_wait == 2.d0 \&\& room/n_wait == 2'd0/
// mutant: switch/gn_slot_add.v s/!n_sums \|\| ring_left/ring_left/
// mutant: switch/gn_slot_add.v s/\(n_dense \|\| pack_idle\)/1'b1/
// mutant: switch/gn_slot_add.v s/!packs_reg \|\| pack_room/1'b1/
// mutant: switch/gn_slot_add.v s/ring_left >= .2.d0, n_needed./ring_left >= {2'd0, n_words}/
`default_nettype none

module proof (
    input wire        clk,
    input wire        rst,
    input wire        s_add,
    input wire        s_first,
    input wire        s_read,
    input wire        s_beats,
    input wire        s_result,
    input wire        s_dense,
    input wire [1:0]  s_copy,
    input wire [11:0] s_values,
    input wire [1:0]  s_meta,
    input wire        s_valid,
    input wire [15:0] v_data,
    input wire [1:0]  v_number,
    input wire        v_none,
    input wire        v_last,
    input wire        v_valid,
    input wire [4:0]  ring_left,
    input wire        ring_announce,
    input wire        pack_room,
    input wire        pack_idle
);
    wire        s_ready, v_ready, reserve, pack_begins, pack_moves, m_put, m_end, m_summed, m_overflow;
    wire [2:0]  reserve_beats;
    wire [15:0] m_data, sum_3;
    wire [31:0] m_keep;
    wire [1:0]  m_meta, m_number, m_final, copy, w_number, n_wait, n_copy;
    wire [3:0]  address_0, address_3, write_at, put_at, end_at, add_at, row, fetched_row;
    wire [15:0] fetched;
    wire [11:0] n_values;
    wire        fetched_over, over, start, run, move, ending, adds, w_next, adding;
    wire        n_valid, n_add, n_first, n_read, n_beats, n_result, n_dense;

    gn_slot_add dut (
        .clk(clk), .rst(rst), .s_add(s_add), .s_first(s_first), .s_read(s_read), .s_beats(s_beats), .s_result(s_result),
        .s_dense(s_dense), .pack_room(pack_room), .pack_idle(pack_idle), .pack_begins(pack_begins), .pack_moves(pack_moves),
        .s_copy(s_copy), .s_values(s_values), .s_words(s_beats_of), .s_needed(s_beats_of + {2'd0, s_dense}), .s_meta(s_meta),
        .s_valid(s_valid), .s_ready(s_ready), .v_data(v_data), .v_number(v_number), .v_none(v_none), .v_last(v_last),
        .v_valid(v_valid), .v_ready(v_ready), .ring_left(ring_left), .ring_announce(ring_announce),
        .reserve(reserve), .reserve_beats(reserve_beats), .m_data(m_data), .m_number(m_number), .m_final(m_final),
        .m_keep(m_keep), .m_put(m_put), .m_end(m_end), .m_summed(m_summed), .m_overflow(m_overflow), .m_meta(m_meta),
        .\address_0 (address_0), .\address_3 (address_3), .\write_at (write_at), .\put_at (put_at), .\end_at (end_at),
        .\add_at (add_at), .\sum_3 (sum_3), .\fetched (fetched), .\fetched_row (fetched_row), .\fetched_over (fetched_over),
        .\n_valid (n_valid), .\n_wait (n_wait), .\n_add (n_add), .\n_first (n_first), .\n_read (n_read), .\n_beats (n_beats),
        .\n_result (n_result), .\n_dense (n_dense), .\n_copy (n_copy), .\n_values (n_values), .\start (start),
        .\run_reg (run), .\move (move), .\ending (ending), .\adds (adds), .\w_next (w_next), .\w_number (w_number),
        .\copy_reg (copy), .\add_reg (adding), .\row (row), .\over (over));

    wire on;
    reset_first first (.clk(clk), .rst(rst), .on(on));

    function [2:0] beats_of(input [11:0] values);
        beats_of = {1'b0, values[4:3]} + {2'd0, |values[2:0]} + {values[5], 2'd0};
    endfunction

    // ---- packets, as gn_slot_judge and the FIFOs give them

    wire       takes      = s_valid && s_ready;
    wire [2:0] s_beats_of = beats_of(s_values);
    wire       n_sums     = n_add || n_read;  // it goes over words
    wire [2:0] n_of       = beats_of(n_values);
    wire [2:0] needed     = n_result && n_sums ? n_of + {2'd0, n_dense} : 3'd0;
    wire       mixes      = n_result && !n_dense && !pack_idle;

    reg        held = 1'b0;
    reg [21:0] was;
    reg [2:0]  b_beats;                // of the packet that is worked on
    reg [7:0]  b_lanes;                // of its last beat
    reg        b_sums, b_result, b_dense, b_add;
    reg        v_held = 1'b0;
    reg [19:0] v_was;
    reg        b_more = 1'b0;          // a beat of it has come,
    reg [1:0]  b_number;               // with this number
    always @(posedge clk) begin
        held <= s_valid && !s_ready && !rst;
        was  <= {s_add, s_first, s_read, s_beats, s_result, s_dense, s_copy, s_values, s_meta};
        v_held <= v_valid && !v_ready && !rst;
        v_was  <= {v_data, v_number, v_none, v_last};
        if (v_valid && v_ready) {b_more, b_number} <= {!v_last, v_number};
        if (start) begin
            b_beats  <= n_of;
            b_lanes  <= n_values[2:0] == 3'd0 ? 8'hff : ~(8'hff << n_values[2:0]);
            b_sums   <= n_sums;
            b_result <= n_result;
            b_dense  <= n_dense;
            b_add    <= n_add;
        end
        if (rst) b_more <= 1'b0;
    end
    always @* begin
        if (held) assume (s_valid && was == {s_add, s_first, s_read, s_beats, s_result, s_dense, s_copy, s_values, s_meta});
        if (v_held) assume (v_valid && v_was == {v_data, v_number, v_none, v_last});
        assume (s_values <= 12'd32);
        if (s_add || s_read) assume (s_values != 12'd0 && !(s_add && s_read));
        if (s_add) assume (s_beats);
        if (s_read) assume (s_result);
        if (v_valid) assume ((!b_more || v_none || v_number > b_number) && (!v_none || v_last));
        // those of one that is added are words of its copy; with int32 they are all
        if (run && adding) assume (v_none || {1'b0, v_number} < b_beats);
        if (run && adding && !b_dense)
            assume (!v_none && v_number == (b_more ? b_number + 2'd1 : 2'd0) && v_last == ({1'b0, v_number} + 3'd1 == b_beats));
    end

    // ---- one word is followed: whether its chunk has it, and what it should hold

    (* anyconst *) wire [3:0] word;

    reg  [3:0]  open = 4'd0;   // copies that have a chunk
    reg         known = 1'b0;  // its copy has,
    reg [11:0]  values;        // of so many values, in this format
    reg         dense;
    reg         has, left;     // the chunk has the word; a sum of it has left its range
    reg [15:0]  holds;
    reg [15:0]  next;
    reg         next_left;
    integer     i;
    wire [1:0]  number = adds ? v_number : w_number;
    wire        here   = move && (adds || w_next) && {copy, number} == word;
    wire        begins = start && n_sums && n_copy == word[3:2];
    wire [7:0]  lanes  = {1'b0, number} + 3'd1 == b_beats ? b_lanes : 8'hff;

    always @* begin
        next      = holds;
        next_left = left;
        if (adds) begin
            for (i = 0; i < 8; i = i + 1) begin
                next[2*i +: 2] = (has ? holds[2*i +: 2] : 2'd0) + v_data[2*i +: 2];
                // the sum in three bits, with the sign of each
                if (has && lanes[i] && ({holds[2*i+1], holds[2*i +: 2]} + {v_data[2*i+1], v_data[2*i +: 2]}) !=
                                       {next[2*i+1], next[2*i +: 2]})
                    next_left = 1'b1;
            end
        end
    end

    reg [3:0]  here_at = 4'd0;             // it was in the pass, four cycles ago
    reg [15:0] e_0, e_1, e_2, e_3;         // and should be that afterwards
    always @(posedge clk) begin
        here_at              <= rst ? 4'd0 : {here_at[2:0], here};
        {e_3, e_2, e_1, e_0} <= {e_2, e_1, e_0, next};
        if (here) begin
            holds <= next;
            left  <= next_left;
            has   <= 1'b1;
        end
        if (begins && n_add && n_first) begin
            {known, has, left} <= 3'b100;
            values             <= n_values;
            dense              <= n_dense;
        end
        if (start && n_add && n_first) open <= open | 4'd1 << n_copy;
        if (rst) {known, open} <= 5'd0;  // what was under way is lost
    end

    // The memories: what was written there last, two cycles behind the address. In the cycle in
    // which it is written it may be anything.
    reg        stored_known = 1'b0, at_1 = 1'b0, at_2 = 1'b0;
    reg [15:0] stored, at_1_was, at_2_was;
    wire       writes = write_at[3] && address_3 == word;
    reg        row_known = 1'b0, row_1 = 1'b0, row_2 = 1'b0;
    reg [3:0]  row_stored, row_1_was, row_2_was;
    wire       row_writes = ending && adding && copy == word[3:2];
    reg        over_known = 1'b0, over_1 = 1'b0, over_2 = 1'b0;
    reg        over_stored, over_1_was, over_2_was;
    wire       over_writes = end_at[3] && add_at[3] && address_3[3:2] == word[3:2];
    always @(posedge clk) begin
        if (writes) {stored_known, stored} <= {1'b1, sum_3};
        {at_1, at_1_was} <= {address_0 == word && stored_known && !writes, stored};
        {at_2, at_2_was} <= {at_1, at_1_was};
        if (row_writes) {row_known, row_stored} <= {1'b1, row};
        {row_1, row_1_was} <= {n_copy == word[3:2] && row_known && !row_writes, row_stored};
        {row_2, row_2_was} <= {row_1, row_1_was};
        if (over_writes) {over_known, over_stored} <= {1'b1, over};
        {over_1, over_1_was} <= {address_0[3:2] == word[3:2] && over_known && !over_writes, over_stored};
        {over_2, over_2_was} <= {over_1, over_1_was};
    end
    always @* begin
        if (at_2) assume (fetched == at_2_was);
        if (row_2) assume (fetched_row == row_2_was);
        if (over_2) assume (fetched_over == over_2_was);
        // chunks begin with a first contribution, and have one size and format
        if (start && n_sums) assume ((n_add && n_first) || open[n_copy]);
        if (begins) assume ((n_add && n_first) || (known && n_values == values && n_dense == dense));
        if (here) assert (adds || has);
        if (here_at[3]) assert (address_3 == word && sum_3 == e_3);
        if (writes) assert (here_at[3]);
        if (m_put && address_3 == word) assert (here_at[3] && m_data == e_3);
    end

    // ---- the end of a packet: in order, with its words, and with what is true of its sums

    reg        put = 1'b0, some = 1'b0;   // the word is in the result; a word is,
    reg  [1:0] last;                      // and this was the last
    reg  [7:0] p_0, p_1, p_2, p_word;     // of the packet that ends: four cycles behind its last move
    wire       mine = b_sums && copy == word[3:2];
    wire       had  = here || has;
    wire [5:0] unused_inside;
    queue #(.WIDTH(2), .PLACES(10)) metas (
        .clk(clk), .rst(rst), .s_data(s_meta), .s_count({1'b0, takes}), .s_second(2'd0), .m_data(m_meta), .m_valid(m_end),
        .m_take(m_end), .count(unused_inside));
    wire puts = m_put && address_3 == word;
    always @(posedge clk) begin
        {p_word, p_2, p_1, p_0} <= {p_2, p_1, p_0, mine && b_beats == 3'd1 && word[1:0] == 2'd0, b_add && !b_dense, mine, mine && had, mine && (here ? next_left : left), b_result && b_sums,
                                    b_sums, b_result && b_sums && mine};
        put  <= !m_end && (put || puts);
        some <= !m_end && (some || m_put);
        if (m_put) last <= m_number;
        if (rst) {put, some} <= 2'd0;
    end
    always @* begin
        if (m_put) assert (!some || m_number > last);
        if (puts) assert (!put);
        if (m_end) begin
            if (p_word[0]) assert ((put || puts) == p_word[4]);
            assert (m_summed == p_word[2]);
            assert (!p_word[3] || m_overflow);
            // the copy has no other word
            if (p_word[7]) assert (m_overflow == p_word[3]);
            assert (!m_overflow || p_word[1]);
            // the checksum of beats that leave as they are ends with one
            if (p_word[6] && p_word[5] && m_summed) assert (m_put);
        end
        assert (reserve == (start && n_result));
        assert (pack_begins == (reserve && n_dense));
        // a beat for it is four cycles on its way
        assert (pack_moves == (move && (adds || w_next) && b_result && b_dense));
        if (pack_moves) assert (pack_room);
        if (reserve) assert (!mixes && ring_announce && reserve_beats == needed && ring_left >= {2'd0, needed});
    end

    // ---- it begins as soon as it may

    wire may = n_valid && n_wait == 2'd0 && !mixes && (!n_result || (ring_announce && ring_left >= {2'd0, needed}));
    moves #(.CYCLES(3)) begins_soon (.clk(clk), .rst(rst), .wants(may && !run), .moves(start));
    always @* if (!n_valid) assert (s_ready);

    wire unused = &{1'b0, on, m_keep, m_final, put_at, n_beats};
endmodule

`resetall
