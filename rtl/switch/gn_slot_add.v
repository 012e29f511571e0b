// SPDX-License-Identifier: Apache-2.0
// The slots' sums: adds 8 int32 a cycle to them, writes the first ones, and reads them again. What
// gn_slot_judge says of a packet comes in its order, and so do the beats of values. A result's sums
// leave in the pass that makes them whole, so the slots are not read once more for it.
//
// A packet passes over the words that it has values for, and no other. Of each copy is known which
// words its chunk has: the first values of a word are written, later ones added. A result has these
// words: so the pass that makes it goes over those of the chunk and those of the packet, in order.
//
// A word is read, added to and written in four cycles. One that comes again sooner is taken from
// where it is. A packet takes at least four cycles, so that what is known of a copy is fetched in
// time.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_slot_add #(
    parameter SLOTS_LOG2 = 6,   // 2^SLOTS_LOG2 slots, each in two copies
    parameter BEATS_LOG2 = 5,   // of 2^BEATS_LOG2 beats of 8 values
    parameter META_WIDTH = 142  // bits that go with a packet
) (
    input  wire                  clk,
    input  wire                  rst,        // synchronous, active high

    // packets, as gn_slot_judge says
    input  wire                  s_add,
    input  wire                  s_first,
    input  wire                  s_read,
    input  wire                  s_beats,
    input  wire                  s_result,   // a packet will leave because of it
    input  wire                  s_dense,    // its sums are packed (gn_sum_pack)
    input  wire [SLOTS_LOG2:0]   s_copy,     // slot, version
    input  wire [11:0]           s_values,   // of the copy,
    input  wire [BEATS_LOG2:0]   s_words,    // in so many beats,
    input  wire [BEATS_LOG2:0]   s_needed,   // and room in the ring for a result of them
    input  wire [META_WIDTH-1:0] s_meta,
    input  wire                  s_valid,
    output wire                  s_ready,

    // beats of values, of those packets that have some
    input  wire [255:0]          v_data,     // value 0 in the lowest bits
    input  wire [BEATS_LOG2-1:0] v_number,   // of the beat in the packet: they rise
    input  wire                  v_none,     // no values, but an end
    input  wire                  v_last,     // of the packet
    input  wire                  v_valid,
    output wire                  v_ready,

    // room for a result: beats that are free, and whether one more can be announced
    input  wire [BEATS_LOG2+2:0] ring_left,
    input  wire                  ring_announce,
    output wire                  reserve,    // a packet with s_result begins
    output wire [BEATS_LOG2:0]   reserve_beats,
    input  wire                  pack_room,  // a beat of sums can be packed
    input  wire                  pack_idle,  // none is being packed
    output wire                  pack_begins,
    output wire                  pack_moves, // a beat is on its way there

    // a result's beats, and behind the last one (or alone) what became of the packet
    output wire [255:0]          m_data,
    output wire [BEATS_LOG2-1:0] m_number,   // of the beat: those that are left out are zero
    output wire [BEATS_LOG2-1:0] m_final,    // the last one's, left out or not
    output wire [31:0]           m_keep,
    output wire                  m_put,      // a beat of a result
    output wire                  m_end,      // the packet is done
    output wire                  m_summed,   // its result has sums, with beats or all zero
    output wire                  m_overflow, // a sum of the chunk has left int32, now or before
    output wire [META_WIDTH-1:0] m_meta
);

    localparam WORDS = 1 << BEATS_LOG2;

    // What is known of a set of words: whether there is one, the lowest, and whether there are more
    localparam LOW = BEATS_LOG2 + 2;
    function [LOW-1:0] lowest(input [WORDS-1:0] set);
        integer                     k;
        reg [2*WORDS-1:0]           any, many;       // a tree: 1 is its root
        reg [2*WORDS*BEATS_LOG2-1:0] at;
        begin
            any  = {set, {WORDS{1'b0}}};
            many = {2*WORDS{1'b0}};
            at   = {2*WORDS*BEATS_LOG2{1'b0}};
            for (k = 0; k < WORDS; k = k + 1) at[(WORDS + k)*BEATS_LOG2 +: BEATS_LOG2] = k[BEATS_LOG2-1:0];
            for (k = WORDS - 1; k > 0; k = k - 1) begin
                any[k]  = any[2*k] || any[2*k + 1];
                many[k] = many[2*k] || many[2*k + 1] || (any[2*k] && any[2*k + 1]);
                at[k*BEATS_LOG2 +: BEATS_LOG2] = any[2*k] ? at[2*k*BEATS_LOG2 +: BEATS_LOG2] : at[(2*k + 1)*BEATS_LOG2 +: BEATS_LOG2];
            end
            lowest = {many[1], any[1], at[BEATS_LOG2 +: BEATS_LOG2]};
        end
    endfunction

    // ---- the next packet, while the words of its copy's chunk are fetched

    reg                  n_valid = 1'b0;
    reg                  n_add, n_first, n_read, n_beats, n_result, n_dense;
    reg [SLOTS_LOG2:0]   n_copy;
    reg [11:0]           n_values;
    reg [BEATS_LOG2:0]   n_words, n_needed;
    reg [META_WIDTH-1:0] n_meta;
    reg [1:0]            n_wait;      // cycles until they are there: so none begins sooner than four
                                      // cycles behind another
    reg                  n_same;      // it is the copy of the packet that is worked on, or was last
    wire                 start;

    wire [WORDS-1:0]     fetched_row;
    reg  [WORDS-1:0]     f_row;
    reg  [LOW-1:0]       f_low;

    assign s_ready = !n_valid || start;

    // ---- the packet that is worked on: beats to skip or to add, and words to read

    reg                  run_reg = 1'b0;
    reg                  left_reg, add_reg, walk_reg, packs_reg, summed_reg, start_reg;
    reg                  first_reg;
    reg [SLOTS_LOG2:0]   copy_reg;
    reg [WORDS-1:0]      row_reg;     // words that the chunk has
    reg [LOW-1:0]        low_reg;     // the same, as lowest() says
    reg [WORDS-1:0]      todo_reg;    // words to read, from this one on
    reg                  w_more, w_valid;
    reg [BEATS_LOG2-1:0] w_number;    // the next
    reg [BEATS_LOG2-1:0] last_number_reg;
    reg [7:0]            last_lanes_reg;

    // a result without sums needs no room in the ring
    wire n_sums  = n_add || n_read;
    wire room    = !n_result || (ring_announce && (n_dense || pack_idle) && (!n_sums || ring_left >= {2'd0, n_needed}));
    wire move    = run_reg && (!left_reg || v_valid) && (!packs_reg || pack_room);
    // Which of the two is next; both when they are one word. A packet that is not added goes by
    // before anything is read.
    wire v_next  = left_reg && (!add_reg || v_none || !w_valid || v_number <= w_number);
    wire w_next  = w_valid && (!left_reg || (add_reg && (v_none || w_number <= v_number)));
    wire adds    = v_next && add_reg && !v_none;
    // Both are at their last, and are one word, or only one of them has any left. So the end does
    // not wait for which of two words is lower.
    wire meet    = !left_reg || !w_valid || (add_reg && (v_none || v_number == w_number));
    wire ending  = run_reg && (!left_reg || (v_valid && v_last)) && (!w_valid || !w_more) && meet &&
                   (!packs_reg || pack_room);
    assign start = n_valid && n_wait == 2'd0 && room && (!run_reg || ending);

    assign v_ready       = move && v_next;
    assign reserve       = start && n_result;
    assign reserve_beats = n_sums ? n_needed : {BEATS_LOG2+1{1'b0}};

    assign pack_begins   = reserve && n_dense;
    assign pack_moves    = move && packs_reg && (adds || w_next);

    // the chunk's words with the one that is added to
    wire             marks    = move && adds;
    localparam [WORDS-1:0] ONE = {{WORDS-1{1'b0}}, 1'b1};
    wire [WORDS-1:0] row      = row_reg | (marks ? ONE << v_number : {WORDS{1'b0}});
    wire             low_new  = !low_reg[BEATS_LOG2] || v_number < low_reg[BEATS_LOG2-1:0];
    wire             low_more = low_reg[LOW-1] || (low_reg[BEATS_LOG2] && v_number != low_reg[BEATS_LOG2-1:0]);
    wire [LOW-1:0]   low      = marks ? {low_more, 1'b1, low_new ? v_number : low_reg[BEATS_LOG2-1:0]} : low_reg;

    // what is to read behind this one
    wire [WORDS-1:0] todo = todo_reg & ~(ONE << w_number);

    wire             fresh     = n_first && n_add;
    wire             n_walks   = (n_result && n_add && !n_first) || n_read;
    wire [WORDS-1:0] start_row = fresh ? {WORDS{1'b0}} : n_same ? row : f_row;
    wire [LOW-1:0]   start_low = fresh ? {LOW{1'b0}} : n_same ? low : f_low;
    wire             unused_values = &{1'b0, n_values[11:3], n_words};

    always @(posedge clk) begin
        if (s_ready) begin
            n_valid  <= s_valid;
            n_add    <= s_add;
            n_first  <= s_first;
            n_read   <= s_read;
            n_beats  <= s_beats;
            n_result <= s_result;
            n_dense  <= s_dense;
            n_copy   <= s_copy;
            n_values <= s_values;
            n_words  <= s_words;
            n_needed <= s_needed;
            n_meta   <= s_meta;
            n_wait   <= 2'd3;
        end else if (n_wait != 2'd0) begin
            n_wait <= n_wait - 2'd1;
        end
        n_same <= n_copy == copy_reg;
        if (n_wait == 2'd1) begin  // the row is there; only the packet ahead may still change it
            f_row <= fetched_row;
            f_low <= lowest(fetched_row);
        end

        if (move) begin
            start_reg <= 1'b0;
            if (v_next && v_last) left_reg <= 1'b0;
            if (w_next) begin
                {w_more, w_valid, w_number} <= lowest(todo);
                todo_reg                    <= todo;
            end
        end
        row_reg <= row;
        low_reg <= low;
        if (ending) run_reg <= 1'b0;
        if (start) begin
            run_reg         <= 1'b1;
            start_reg       <= 1'b1;
            left_reg        <= n_beats;
            add_reg         <= n_add;
            walk_reg        <= n_sums;
            first_reg       <= n_first;
            packs_reg       <= n_result && n_dense && n_sums;
            summed_reg      <= n_result && n_sums;
            copy_reg        <= n_copy;
            row_reg         <= start_row;
            low_reg         <= start_low;
            todo_reg        <= start_row;
            {w_more, w_number} <= {start_low[LOW-1], start_low[BEATS_LOG2-1:0]};
            w_valid         <= start_low[BEATS_LOG2] && n_walks;
            last_number_reg <= n_words[BEATS_LOG2-1:0] - 1'b1;
            last_lanes_reg  <= n_values[2:0] == 3'd0 ? 8'hff : ~(8'hff << n_values[2:0]);
        end
        if (rst) begin
            n_valid <= 1'b0;
            run_reg <= 1'b0;
        end
    end

    gn_block_ram #(.WIDTH(WORDS), .LOG2(SLOTS_LOG2 + 1)) rows (
        .clk(clk), .write(ending && add_reg), .write_address(copy_reg), .write_data(row),
        .read_address(n_copy), .read_data(fetched_row));

    // ---- 0 to 3: address, fetch, add, write

    reg [SLOTS_LOG2+BEATS_LOG2:0] address_0, address_1, address_2, address_3;
    reg [255:0] data_0, data_1, data_2, sum_3, sum_4, sum_5;
    reg [BEATS_LOG2-1:0] last_0, last_1, last_2, last_3;
    reg [7:0]   last_lanes_0, lanes_1, lanes_2, lanes_3, out_3;
    reg [3:0]   start_at = 4'd0, end_at = 4'd0, write_at = 4'd0, put_at = 4'd0;
    reg [2:0]   old_at = 3'd0, new_at = 3'd0;  // what a sum is made of
    reg [2:0]   again_1, again_2;  // the word was in the pass one, two, three cycles ago
    reg [3:0]   pass_at, summed_at, same_at, add_at, first_at;  // of the packet
    reg         same_reg;  // its copy is that of the packet before

    wire [255:0] fetched;
    reg  [255:0] old, sum;
    reg  [7:0]   out;

    integer i;
    always @* begin
        old = again_2[0] ? sum_3 : again_2[1] ? sum_4 : again_2[2] ? sum_5 : fetched;
        for (i = 0; i < 8; i = i + 1) begin
            sum[32*i +: 32] = (old_at[2] ? old[32*i +: 32] : 32'd0) + (new_at[2] ? data_2[32*i +: 32] : 32'd0);
            out[i] = old_at[2] && new_at[2] && lanes_2[i] && old[32*i+31] == data_2[32*i+31] &&
                     sum[32*i+31] != data_2[32*i+31];
        end
    end

    always @(posedge clk) begin
        if (start) same_reg <= n_same;
        address_0    <= {copy_reg, adds ? v_number : w_number};
        data_0       <= v_data;
        last_0       <= last_number_reg;
        last_lanes_0 <= last_lanes_reg;
        lanes_1      <= address_0[BEATS_LOG2-1:0] == last_0 ? last_lanes_0 : 8'hff;
        {address_3, address_2, address_1} <= {address_2, address_1, address_0};
        {lanes_3, lanes_2}                <= {lanes_2, lanes_1};
        {data_2, data_1}                  <= {data_1, data_0};
        {last_3, last_2, last_1}          <= {last_2, last_1, last_0};
        again_1 <= {address_0 == address_3 && write_at[3], address_0 == address_2 && write_at[2],
                    address_0 == address_1 && write_at[1]};
        again_2 <= again_1;
        start_at <= {start_at[2:0], move && start_reg};
        end_at   <= {end_at[2:0], ending};
        write_at <= {write_at[2:0], move && adds};
        put_at   <= {put_at[2:0], move && summed_reg && (adds || w_next)};
        old_at   <= {old_at[1:0], move && (w_next || row_reg[v_number])};
        new_at   <= {new_at[1:0], move && adds};
        {pass_at, summed_at, same_at} <= {pass_at[2:0], walk_reg, summed_at[2:0], summed_reg, same_at[2:0], same_reg};
        {add_at, first_at}            <= {add_at[2:0], add_reg, first_at[2:0], first_reg};
        {sum_5, sum_4, sum_3} <= {sum_4, sum_3, sum};
        out_3    <= out;
        if (rst) begin
            start_at <= 4'd0;
            end_at   <= 4'd0;
            write_at <= 4'd0;
            put_at   <= 4'd0;
        end
    end

    gn_block_ram #(.WIDTH(256), .LOG2(SLOTS_LOG2 + 1 + BEATS_LOG2)) sums (
        .clk(clk), .write(write_at[3]), .write_address(address_3), .write_data(sum_3),
        .read_address(address_0), .read_data(fetched));

    // ---- whether a sum of the copy's chunk has left int32: looked up at the packet's end

    reg  out_reg, before_3, over_reg;
    wire fetched_over;
    wire out_now = |out_3 || (!start_at[3] && out_reg);        // in this packet
    wire earlier = same_at[3] ? over_reg : before_3;           // or in one before
    wire over    = out_now || (earlier && !(add_at[3] && first_at[3]));

    always @(posedge clk) begin
        out_reg  <= out_now;
        before_3 <= fetched_over;
        if (end_at[3]) over_reg <= over;
    end

    gn_block_ram #(.WIDTH(1), .LOG2(SLOTS_LOG2 + 1)) overs (
        .clk(clk), .write(end_at[3] && add_at[3]), .write_address(address_3[BEATS_LOG2 +: SLOTS_LOG2 + 1]), .write_data(over),
        .read_address(address_0[BEATS_LOG2 +: SLOTS_LOG2 + 1]), .read_data(fetched_over));

    // ---- what goes with the packet: it is at most four ahead

    wire unused_meta_valid;
    gn_credit_fifo #(.WIDTH(META_WIDTH), .LOG2(3)) metas (
        .clk(clk), .rst(rst), .s_data(n_meta), .s_valid(start), .m_data(m_meta), .m_valid(unused_meta_valid), .m_ready(end_at[3]));

    assign m_data     = sum_3;
    assign m_number   = address_3[BEATS_LOG2-1:0];
    assign m_final    = last_3;
    assign m_put      = put_at[3];
    assign m_end      = end_at[3];
    assign m_summed   = summed_at[3];
    assign m_overflow = pass_at[3] && over;

    genvar l;
    generate
        for (l = 0; l < 8; l = l + 1) begin : g_keep
            assign m_keep[4*l +: 4] = {4{lanes_3[l]}};
        end
        if (SLOTS_LOG2 < 1 || SLOTS_LOG2 > 15 || BEATS_LOG2 < 1 || BEATS_LOG2 > 8) begin : g_check
            SLOTS_LOG2_must_be_1_to_15_and_BEATS_LOG2_1_to_8 error();
        end
    endgenerate

endmodule

`resetall
