// SPDX-License-Identifier: Apache-2.0
// The slots' sums: adds 8 int32 a cycle to them, writes the first ones, and reads them again. What
// gn_slot_judge says of a packet comes in its order, and so do the beats of values. A result's sums
// leave in the pass that makes them whole, so the slots are not read once more for it.
//
// A word is read, added to and written in four cycles. A packet takes at least four cycles: so a
// word that two packets have in common is written before it is read again.
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
    output wire [31:0]           m_keep,
    output wire                  m_put,      // a beat of a result
    output wire                  m_end,      // the packet is done
    output wire                  m_summed,   // it had beats of a result
    output wire                  m_overflow, // a sum of the chunk has left int32, now or before
    output wire [META_WIDTH-1:0] m_meta
);

    // ---- the packet that is worked on: beats to skip, then beats to read; or beats to add

    reg                  run_reg = 1'b0;
    reg                  skip_reg, add_reg, read_reg, first_reg, result_reg, packs_reg, start_reg;
    reg [SLOTS_LOG2:0]   copy_reg;
    reg [BEATS_LOG2-1:0] number_reg, last_number_reg;
    reg [7:0]            last_lanes_reg;
    reg [1:0]            gap_reg = 2'd0;

    // a result without sums needs no room in the ring
    wire                has_sums = s_add || s_read;
    wire                room    = !s_result || (ring_announce && (s_dense || pack_idle) && (!has_sums || ring_left >= {2'd0, s_needed}));
    wire                unused_values = &{1'b0, s_values[11:3], s_words};
    wire                takes   = skip_reg || add_reg;                       // beats come
    wire                move    = run_reg && (!takes || v_valid) && (!packs_reg || skip_reg || pack_room);
    wire                at_last = number_reg == last_number_reg;
    wire                ending  = move && (add_reg ? v_last : skip_reg ? v_last && !read_reg : !read_reg || at_last);
    wire                start   = s_valid && room && gap_reg == 2'd0 && (!run_reg || ending);

    assign s_ready       = room && gap_reg == 2'd0 && (!run_reg || ending);
    assign v_ready       = move && takes;
    assign reserve       = start && s_result;
    assign reserve_beats = has_sums ? s_needed : {BEATS_LOG2+1{1'b0}};

    assign pack_begins   = reserve && s_dense;
    assign pack_moves    = move && packs_reg && !skip_reg;

    always @(posedge clk) begin
        // The beats of a packet, and cycles behind it, until four are over: a packet that began
        // sooner would read what this one has not written yet.
        if (gap_reg != 2'd0 && (move || !run_reg)) gap_reg <= gap_reg - 2'd1;
        if (move) begin
            start_reg <= 1'b0;
            if (!skip_reg) number_reg <= number_reg + 1'b1;
            if (skip_reg && v_last) skip_reg <= 1'b0;
        end
        if (ending) run_reg <= 1'b0;
        if (start) begin
            run_reg         <= 1'b1;
            start_reg       <= 1'b1;
            skip_reg        <= s_beats && !s_add;
            add_reg         <= s_add;
            read_reg        <= s_read;
            first_reg       <= s_first;
            result_reg      <= s_result;
            packs_reg       <= s_result && s_dense && has_sums;
            copy_reg        <= s_copy;
            number_reg      <= {BEATS_LOG2{1'b0}};
            last_number_reg <= s_words[BEATS_LOG2-1:0] - 1'b1;
            last_lanes_reg  <= s_values[2:0] == 3'd0 ? 8'hff : ~(8'hff << s_values[2:0]);
            gap_reg         <= 2'd3;
        end
        if (rst) begin
            run_reg <= 1'b0;
            gap_reg <= 2'd0;
        end
    end

    // ---- 0 to 3: address, fetch, add, write

    wire pass = add_reg || (read_reg && !skip_reg);

    reg [SLOTS_LOG2+BEATS_LOG2:0] address_0, address_1, address_2, address_3;
    reg [255:0] data_0, data_1, data_2, sum_3;
    reg [7:0]   lanes_0, lanes_1, lanes_2, lanes_3, out_3;
    reg [3:0]   start_at = 4'd0, end_at = 4'd0, write_at = 4'd0, put_at = 4'd0;
    reg [2:0]   old_at = 3'd0, new_at = 3'd0;  // what a sum is made of
    reg         before_3;  // the word had overflowed already
    reg         all_reg;   // a word of the packet has, up to here

    wire [256:0] fetched;  // the highest bit: a sum has left int32
    reg  [255:0] sum;
    reg  [7:0]   out;
    wire         any_3 = before_3 || |out_3;
    wire         all_3 = any_3 || (!start_at[3] && all_reg);

    integer i;
    always @* begin
        for (i = 0; i < 8; i = i + 1) begin
            sum[32*i +: 32] = (old_at[2] ? fetched[32*i +: 32] : 32'd0) + (new_at[2] ? data_2[32*i +: 32] : 32'd0);
            out[i] = old_at[2] && new_at[2] && lanes_2[i] && fetched[32*i+31] == data_2[32*i+31] &&
                     sum[32*i+31] != data_2[32*i+31];
        end
    end

    always @(posedge clk) begin
        address_0 <= {copy_reg, number_reg};
        data_0    <= v_data;
        lanes_0   <= at_last ? last_lanes_reg : 8'hff;
        {address_3, address_2, address_1} <= {address_2, address_1, address_0};
        {lanes_3, lanes_2, lanes_1}       <= {lanes_2, lanes_1, lanes_0};
        {data_2, data_1}                  <= {data_1, data_0};
        start_at <= {start_at[2:0], move && start_reg};
        end_at   <= {end_at[2:0], ending};
        write_at <= {write_at[2:0], move && add_reg};
        put_at   <= {put_at[2:0], move && pass && result_reg};
        old_at   <= {old_at[1:0], move && pass && !(add_reg && first_reg)};
        new_at   <= {new_at[1:0], move && add_reg};
        sum_3    <= sum;
        out_3    <= out;
        before_3 <= old_at[2] && fetched[256];
        if (start_at[3]) all_reg <= any_3;
        else             all_reg <= all_reg || any_3;
        if (rst) begin
            start_at <= 4'd0;
            end_at   <= 4'd0;
            write_at <= 4'd0;
            put_at   <= 4'd0;
        end
    end

    gn_block_ram #(.WIDTH(257), .LOG2(SLOTS_LOG2 + 1 + BEATS_LOG2)) sums (
        .clk(clk), .write(write_at[3]), .write_address(address_3), .write_data({any_3, sum_3}),
        .read_address(address_0), .read_data(fetched));

    // ---- what goes with the packet: it is at most four ahead

    wire unused_meta_valid;
    reg  summed_reg = 1'b0;  // a beat of the result has left
    gn_credit_fifo #(.WIDTH(META_WIDTH), .LOG2(3)) metas (
        .clk(clk), .rst(rst), .s_data(s_meta), .s_valid(start), .m_data(m_meta), .m_valid(unused_meta_valid), .m_ready(end_at[3]));

    always @(posedge clk) summed_reg <= !rst && !end_at[3] && (summed_reg || put_at[3]);

    assign m_data     = sum_3;
    assign m_put      = put_at[3];
    assign m_end      = end_at[3];
    assign m_summed   = summed_reg || put_at[3];
    assign m_overflow = all_3;

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
