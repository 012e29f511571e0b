// SPDX-License-Identifier: Apache-2.0
// gn_slot_add, with values of two bits, and by one word of eight sums, any, that is followed.
// Whatever packets come, with whatever gaps: the word is what the contributions say, each counted
// once, and the first of a chunk instead of what was there. So are the beats of a result, as many
// as are reserved, or fewer of dense. None goes to gn_sum_pack without room there, and none of
// int32 leaves while one of dense is inside. A sum that has left its range once is told with every
// result of that chunk. Each packet has one end, with its own words, in order; and none waits for
// room that it does not need.
// method: bmc 18
// seconds: 200
// sources: lib/gn_block_ram.v lib/gn_credit_fifo.v switch/gn_slot_add.v
// reduce: s/SLOTS_LOG2 = 6/SLOTS_LOG2 = 1/
// reduce: s/BEATS_LOG2 = 5/BEATS_LOG2 = 2/
// reduce: s/META_WIDTH = 142/META_WIDTH = 2/
// reduce: s/32\*i \+: 32/2*i +: 2/g
// reduce: s/32\*i\+31/2*i+1/g
// reduce: s/32'd0/2'd0/g
// reduce: s/\[255:0\]/[15:0]/g
// reduce: s/\[256:0\]/[16:0]/
// reduce: s/fetched\[256\]/fetched[16]/
// reduce: s/WIDTH\(257\)/WIDTH(17)/
// cut: sums
// expose: address_0 address_3 write_at put_at end_at any_3 sum_3 fetched run_reg number_reg
// expose: copy_reg add_reg move pass
// mutant: switch/gn_slot_add.v s/gap_reg         <= 2.d3/gap_reg <= 2'd2/
// mutant: switch/gn_slot_add.v s/out_3    <= out;/out_3 <= 8'd0;/
// mutant: switch/gn_slot_add.v s/before_3 \|\| \|out_3/|out_3/
// mutant: switch/gn_slot_add.v s/before_3 <= old_at\[2\] \&\&/before_3 <=/
// mutant: switch/gn_slot_add.v s/any_3 \|\| \(!start_at\[3\] \&\& all_reg\)/any_3/
// mutant: switch/gn_slot_add.v s/\(old_at\[2\] \? fetched/(1'b1 ? fetched/
// mutant: switch/gn_slot_add.v s/!\(add_reg \&\& first_reg\)/1'b1/
// mutant: switch/gn_slot_add.v s/move \&\& pass \&\& result_reg/move \&\& result_reg/
// mutant: switch/gn_slot_add.v s/lanes_2\[i\] \&\&/1'b1 \&\&/
// mutant: switch/gn_slot_add.v s/!skip_reg\) number_reg/1'b1) number_reg/
// mutant: switch/gn_slot_add.v s/!end_at\[3\] \&\& \(summed_reg/(summed_reg/
// mutant: switch/gn_slot_add.v s/room \&\& gap_reg == 2.d0 /gap_reg == 2'd0 /
// mutant: switch/gn_slot_add.v s/!has_sums \|\| ring_left/ring_left/
// mutant: switch/gn_slot_add.v s/\(s_dense \|\| pack_idle\)/1'b1/
// mutant: switch/gn_slot_add.v s/skip_reg \|\| pack_room/1'b1/
// mutant: switch/gn_slot_add.v s/ring_left >= .2.d0, s_needed./ring_left >= {2'd0, s_words}/
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
    wire [1:0]  m_meta, number, copy;
    wire [3:0]  address_0, address_3, write_at, put_at, end_at;
    wire [16:0] fetched;
    wire        any_3, run, adding, move, pass;

    gn_slot_add dut (
        .clk(clk), .rst(rst), .s_add(s_add), .s_first(s_first), .s_read(s_read), .s_beats(s_beats), .s_result(s_result),
        .s_dense(s_dense), .pack_room(pack_room), .pack_idle(pack_idle), .pack_begins(pack_begins), .pack_moves(pack_moves),
        .s_copy(s_copy), .s_values(s_values), .s_words(beats), .s_needed(beats + {2'd0, s_dense}), .s_meta(s_meta), .s_valid(s_valid), .s_ready(s_ready), .v_data(v_data),
        .v_last(v_last), .v_valid(v_valid), .v_ready(v_ready), .ring_left(ring_left), .ring_announce(ring_announce),
        .reserve(reserve), .reserve_beats(reserve_beats), .m_data(m_data), .m_keep(m_keep), .m_put(m_put), .m_end(m_end),
        .m_summed(m_summed), .m_overflow(m_overflow), .m_meta(m_meta), .\address_0 (address_0), .\address_3 (address_3),
        .\write_at (write_at), .\put_at (put_at), .\end_at (end_at), .\any_3 (any_3), .\sum_3 (sum_3), .\fetched (fetched),
        .\run_reg (run), .\number_reg (number), .\copy_reg (copy), .\add_reg (adding), .\move (move), .\pass (pass));

    wire on;
    reset_first first (.clk(clk), .rst(rst), .on(on));

    // ---- packets, as gn_slot_judge and the FIFOs give them

    wire       takes  = s_valid && s_ready;
    wire       sums   = s_add || s_read;  // it goes over its words
    wire [2:0] beats  = {1'b0, s_values[4:3]} + {2'd0, |s_values[2:0]} + {s_values[5], 2'd0};
    wire [2:0] needed = s_result && sums ? beats + {2'd0, s_dense} : 3'd0;
    wire       mixes  = s_result && !s_dense && !pack_idle;

    reg        held = 1'b0;
    reg [21:0] was;
    reg [2:0]  b_beats;                // of the packet that is worked on
    reg [7:0]  b_lanes;                // of its last beat
    reg        b_sums, b_result, b_dense, b_first, b_add;
    reg [2:0]  came;                   // beats of values
    always @(posedge clk) begin
        held <= s_valid && !s_ready && !rst;
        was  <= {s_add, s_first, s_read, s_beats, s_result, s_dense, s_copy, s_values, s_meta};
        if (v_valid && v_ready) came <= came + 3'd1;
        if (takes) begin
            b_beats  <= beats;
            b_lanes  <= s_values[2:0] == 3'd0 ? 8'hff : ~(8'hff << s_values[2:0]);
            b_sums   <= sums;
            b_result <= s_result;
            b_dense  <= s_dense;
            b_first  <= s_first;
            b_add    <= s_add;
            came     <= 3'd0;
        end
    end
    always @* begin
        if (held) assume (s_valid && was == {s_add, s_first, s_read, s_beats, s_result, s_dense, s_copy, s_values, s_meta});
        assume (s_values <= 12'd32);
        if (sums) assume (s_values != 12'd0 && !(s_add && s_read));
        if (s_add) assume (s_beats);
        if (s_read) assume (s_result);
        // those of one that is added are as many as its copy says
        if (run && adding) assume (v_last == (came + 3'd1 == b_beats));
    end

    // ---- one word is followed: what it should hold

    (* anyconst *) wire [3:0] word;

    reg         known = 1'b0;  // it has been written
    reg [15:0]  holds;
    reg         over;
    reg [15:0]  next;
    reg         next_over;
    integer     i;
    wire        here  = move && pass && {copy, number} == word;
    wire [7:0]  lanes = {1'b0, number} + 3'd1 == b_beats ? b_lanes : 8'hff;

    always @* begin
        next      = holds;
        next_over = over;
        if (b_add) begin
            next_over = !b_first && over;
            for (i = 0; i < 8; i = i + 1) begin
                next[2*i +: 2] = (b_first ? 2'd0 : holds[2*i +: 2]) + v_data[2*i +: 2];
                // the sum in three bits, with the sign of each
                if (!b_first && lanes[i] && ({holds[2*i+1], holds[2*i +: 2]} + {v_data[2*i+1], v_data[2*i +: 2]}) !=
                                            {next[2*i+1], next[2*i +: 2]})
                    next_over = 1'b1;
            end
        end
    end

    reg [3:0]  here_at = 4'd0;             // it was in the pass, four cycles ago
    reg [16:0] e_0, e_1, e_2, e_3;         // and should be that afterwards
    always @(posedge clk) begin
        here_at              <= rst ? 4'd0 : {here_at[2:0], here};
        {e_3, e_2, e_1, e_0} <= {e_2, e_1, e_0, next_over, next};
    end

    // the memory: what was written there last, two cycles behind the address
    reg        stored_known = 1'b0, at_1 = 1'b0, at_2 = 1'b0;
    reg [16:0] stored, at_1_was, at_2_was;
    wire       writes = write_at[3] && address_3 == word;
    always @(posedge clk) begin
        if (here) begin
            known <= known || (b_add && b_first);
            holds <= next;
            over  <= next_over;
        end
        if (writes) begin
            stored_known <= 1'b1;
            stored       <= {any_3, sum_3};
        end
        // in the cycle in which it is written it may be anything
        at_1     <= address_0 == word && stored_known && !writes;
        at_1_was <= stored;
        at_2     <= at_1;
        at_2_was <= at_1_was;
        if (rst) known <= 1'b0;  // what was under way is lost
    end
    always @* begin
        if (at_2) assume (fetched == at_2_was);
        // chunks begin with a first contribution
        if (here) assume (known || (b_add && b_first));
        if (here_at[3]) assert (address_3 == word && {any_3, sum_3} == e_3);
        if (writes) assert (here_at[3]);
        if (m_put && address_3 == word) assert (here_at[3] && m_data == e_3[15:0]);
    end

    // ---- the end of a packet: in order, with its beats, and with what is true of its sums

    reg        told = 1'b0;           // its overflow has to be told at the packet's end
    reg  [2:0] put = 3'd0;            // beats of a result
    reg  [4:0] p_0, p_1, p_2, p_word;  // of the packet that ends: four cycles behind its last move
    wire [5:0] unused_inside;
    queue #(.WIDTH(2), .PLACES(9)) metas (
        .clk(clk), .rst(rst), .s_data(s_meta), .s_count({1'b0, takes}), .s_second(2'd0), .m_data(m_meta), .m_valid(m_end),
        .m_take(m_end), .count(unused_inside));
    wire tells = here_at[3] && e_3[16];
    always @(posedge clk) begin
        {p_word, p_2, p_1, p_0} <= {p_2, p_1, p_0, b_sums, b_result && b_sums, b_result && b_sums ? b_beats : 3'd0};
        told    <= !m_end && (told || tells);
        put     <= m_end ? 3'd0 : put + {2'd0, m_put};
        if (rst) begin
            told    <= 1'b0;
            put     <= 3'd0;
        end
    end
    always @* begin
        if (m_end) begin
            assert (put + {2'd0, m_put} == p_word[2:0] && m_summed == p_word[3]);
            assert (!(told || tells) || m_overflow);
            assert (!m_overflow || p_word[4]);
        end
        assert (reserve == (takes && s_result));
        assert (pack_begins == (reserve && s_dense));
        // a beat for it is four cycles on its way
        assert (pack_moves == (move && pass && b_result && b_dense));
        if (pack_moves) assert (pack_room);
        if (reserve) assert (!mixes && ring_announce && reserve_beats == needed && ring_left >= {2'd0, needed});
    end

    // ---- it begins as soon as it may

    wire may = s_valid && !mixes && (!s_result || (ring_announce && ring_left >= {2'd0, needed}));
    moves #(.CYCLES(3)) begins (.clk(clk), .rst(rst), .wants(may && !run), .moves(takes));

    wire unused = &{1'b0, on, m_keep, end_at};
endmodule

`resetall
