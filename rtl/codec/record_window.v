// SPDX-License-Identifier: Apache-2.0
// Beats to the next record, aligned, one a cycle (the paper's burst buffer and tag decoder, its Fig. 10): finds where each begins, since a
// record says how long it is, and ends a frame by its count. Profile dense: a group of a quad a cycle, zero runs unrolled.
//
// The window holds three beats, because a record of 34 bytes at offset 31 has bytes in all three. Latency 5.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module record_window #(
    parameter PROFILES    = 7,  // those built: bit 0 paper, bit 1 lattice, bit 2 dense
    parameter COUNT_WIDTH = 24  // bits of a frame's number of values
) (
    input  wire                   clk,
    input  wire                   rst,          // synchronous, active high

    // AXI4-Stream (sink): bytes
    input  wire [255:0]           s_axis_tdata,
    input  wire [31:0]            s_axis_tkeep, // all ones, but in a frame's last beat: from bit 0, at least one
    input  wire                   s_axis_tlast,
    input  wire [COUNT_WIDTH+9:0] s_axis_tuser, // {number of values, bound_exp, profile}: of a frame's first beat
    input  wire                   s_axis_tvalid,
    output wire                   s_axis_tready,

    // records; whoever takes them has promised room before
    input  wire                   m_room,       // a record may be started, that comes out two cycles later
    output wire                   m_started,    // one is
    output reg  [279:0]           m_record,     // what is above the record does not matter
    output reg  [1:0]             m_profile,
    output reg  [7:0]             m_bound_exp,
    output reg  [4:0]             m_low_bytes,  // paper, lattice: payload bytes of lanes 0 to 3
    output reg  [3:0]             m_class,      // dense: of the group
    output reg                    m_header,     // dense: the group's payload is behind its quad's header
    output reg  [2:0]             m_lanes,      // of the last record: its values, 0 for eight
    output reg                    m_valid,
    output reg                    m_last,       // of its frame; every frame has one
    output wire                   m_error       // the frame does not hold what its count says
);

    localparam RECORDS = (PROFILES & 3) != 0;
    localparam DENSE   = (PROFILES & 4) != 0;
    localparam GROUPS  = COUNT_WIDTH - 3;     // bits of a number of groups

    integer i, j;

    `include "class_bytes.vh"

    function [4:0] lane_bytes(input [1:0] tag);
        lane_bytes = {2'd0, tag == 2'd3, tag == 2'd2, tag == 2'd1};
    endfunction

    // payload bytes that the four tags in a byte stand for
    function [5:0] tag_bytes(input [7:0] tags);
        tag_bytes = {1'b0, (lane_bytes(tags[1:0]) + lane_bytes(tags[3:2])) + (lane_bytes(tags[5:4]) + lane_bytes(tags[7:6]))};
    endfunction

    // Length of what begins with these two bytes: a record; a quad's header and first group; a zero run.
    function [5:0] item_bytes(input dense, input [7:0] first, input [7:0] second);
        item_bytes = 6'd2 + (dense ? ({second, first} == 16'd0 ? 6'd1 : class_bytes(first[3:0])) : tag_bytes(first) + tag_bytes(second));
    endfunction

    // ---- beat 2 of the window: what has come last

    wire [COUNT_WIDTH-1:0] s_count = s_axis_tuser[COUNT_WIDTH+9:10];
    wire [COUNT_WIDTH-1:0] s_less  = s_count - {{COUNT_WIDTH-1{1'b0}}, 1'b1};
    wire                   s_none  = s_count == {COUNT_WIDTH{1'b0}};
    wire [5:0]             s_bytes;
    wire                   unused_less = &{1'b0, s_less};

    keep_count s_keep (.keep(s_axis_tkeep), .count(s_bytes));

    // of a frame: its groups less one, lanes of the last, no values at all, bound, profile
    localparam FRAME = GROUPS + 3 + 1 + 8 + 2;

    wire [FRAME-1:0] i_frame;
    wire [255:0]     w2_data;
    wire [5:0]       w2_bytes;
    wire             w2_last, w2_valid, w2_move;

    skid_buffer #(.WIDTH(FRAME + 263)) slice (
        .clk(clk), .rst(rst),
        .s_data({s_none ? {GROUPS{1'b0}} : s_less[COUNT_WIDTH-1:3], s_count[2:0], s_none, s_axis_tuser[9:0],
                 s_axis_tlast, s_bytes, s_axis_tdata}),
        .s_valid(s_axis_tvalid), .s_ready(s_axis_tready),
        .m_data({i_frame, w2_last, w2_bytes, w2_data}), .m_valid(w2_valid), .m_ready(w2_move));

    reg              first_reg = 1'b1;
    reg  [FRAME-1:0] frame_reg;
    wire [FRAME-1:0] w2_frame = first_reg ? i_frame : frame_reg;
    wire             w2_dense = DENSE && (!RECORDS || w2_frame[1:0] == 2'd2);

    // ---- beat 1: with the length of what would begin at each of its offsets

    reg [255:0]      w1_data;
    reg [185:0]      w1_known;    // 6 bits an offset; the first eight with their offset added
    reg [5:0]        w1_bytes;
    reg [FRAME-1:0]  w1_frame;
    reg              w1_last, w1_dense, w1_valid = 1'b0;
    reg              w1_one, w1_two;  // the frame has one group; two
    wire             w1_move;

    assign w2_move = w2_valid && (!w1_valid || w1_move);

    always @(posedge clk) begin
        if (w2_move) begin
            first_reg <= w2_last;
            frame_reg <= w2_frame;
            w1_data   <= w2_data;
            w1_bytes  <= w2_bytes;
            w1_frame  <= w2_frame;
            w1_last   <= w2_last;
            w1_dense  <= w2_dense;
            w1_one    <= w2_frame[FRAME-1:14] == {GROUPS{1'b0}};
            w1_two    <= w2_frame[FRAME-1:14] == {{GROUPS-1{1'b0}}, 1'b1};
            for (i = 0; i < 31; i = i + 1)
                w1_known[6*i +: 6] <= item_bytes(w2_dense, w2_data[8*i +: 8], w2_data[8*i + 8 +: 8]) + (i < 8 ? i[5:0] : 6'd0);
        end
        w1_valid <= w2_move || (w1_valid && !w1_move);
        if (rst) begin
            first_reg <= 1'b1;
            w1_valid  <= 1'b0;
        end
    end

    // that of the last offset needs the next beat: here it is made of what each of the two bytes gives
    reg  [5:0]   w1_first;    // dense: all of it
    wire [5:0]   w1_second   = w1_dense ? {5'd0, w1_zero && w2_data[7:0] == 8'd0} : tag_bytes(w2_data[7:0]);
    reg          w1_zero;     // dense: perhaps a zero run
    wire [191:0] w1_lengths  = {w1_first + w1_second, w1_known};

    always @(posedge clk) if (w2_move) begin
        w1_first <= item_bytes(w2_dense, w2_data[255:248], w2_dense ? 8'hff : 8'h00);
        w1_zero  <= w2_data[255:248] == 8'd0;
    end

    // ---- beat 0: with the offset, in the window, of what follows what would begin at each of its offsets

    reg [255:0]      w0_data;
    reg [255:0]      w0_next;     // 8 bits an offset, of which 7 are used: a choice by shifting
    reg [63:0]       w0_where;    // 2 bits an offset: whether beat 0 is used up then; whether that is more than 64
    reg [5:0]        w0_bytes;
    reg [FRAME-1:0]  w0_frame;
    reg              w0_last, w0_dense, w0_valid = 1'b0;
    reg              w0_one, w0_two;
    wire             shift;

    wire [223:0]     w1_next;

    genvar g;
    generate
        for (g = 0; g < 32; g = g + 1) begin : g_next
            assign w1_next[7*g +: 7] = {1'b0, w1_lengths[6*g +: 6]} + (g < 8 ? 7'd0 : g);
        end
    endgenerate

    // a beat's last offset is known with the next beat
    wire w1_ready = w1_valid && (w1_last || w2_valid);
    assign w1_move = w1_ready && (!w0_valid || shift);

    always @(posedge clk) begin
        if (w1_move) begin
            w0_data  <= w1_data;
            w0_bytes <= w1_bytes;
            w0_frame <= w1_frame;
            w0_last  <= w1_last;
            w0_dense <= w1_dense;
            w0_one   <= w1_one;
            w0_two   <= w1_two;
            for (j = 0; j < 32; j = j + 1) begin
                w0_next[8*j +: 8]  <= {1'b0, w1_next[7*j +: 7]};
                // what ends exactly with a frame's last beat stays there: groups without payload may follow
                w0_where[2*j +: 2] <= {j == 31 || (|w1_next[7*j + 5 +: 2] && !(w1_last && w1_next[7*j +: 6] == 6'd32)),
                                       w1_next[7*j + 6] && |w1_next[7*j +: 6]};
            end
        end
        w0_valid <= w1_move || (w0_valid && !shift);
        if (rst) w0_valid <= 1'b0;
    end

    // ---- the loop: a record a cycle. It may begin at offsets 0 to 39 of the window: at 32 and above, beat 0 is used up, and
    // leaves with the record, so that a record or a frame that ends two beats on does not cost the next one a cycle.

    reg [5:0] at_reg     = 6'd0;
    reg [5:0] not_at_reg = 6'h3f;  // its complement, for the data alone: a copy that is not merged again
    reg       used_reg  = 1'b0;  // beat 0 belongs to the frame before, offset 32 begins a frame
    reg       skip_reg  = 1'b0;  // drop what is left of a frame
    reg       start_reg = 1'b1;  // the next record is a frame's first

    reg [GROUPS-1:0] left_reg;   // groups behind the next one
    reg              one_reg;    // none
    wire             inner;       // dense: the next group is not the first of an item
    wire [5:0]       inner_bytes; // but has so many bytes

    wire             dense = used_reg ? w1_dense : w0_dense;
    wire [FRAME-1:0] frame = used_reg ? w1_frame : w0_frame;
    wire [GROUPS-1:0] left = start_reg ? frame[FRAME-1:14] : left_reg;
    wire             one   = start_reg ? (used_reg ? w1_one : w0_one) : one_reg;
    wire             opens = dense && !inner;  // an item
    wire             two   = used_reg ? w1_two : w0_two;

    wire       far     = at_reg[5] && |at_reg[4:3];
    wire       present = used_reg ? w1_ready : w0_valid && (w0_last || w1_ready);
    wire       fire    = present && m_room && !far && !skip_reg;

    wire ends_w0 = !used_reg && w0_last;      // the frame ends in beat 0
    wire ends_w1 = w1_valid && w1_last;       // or in beat 1

    // The choice: at 32 and above among the first eight of beat 1, inside an item by adding, else among the 32 of beat 0. Each brings
    // along where that is, so that nothing need be compared behind it.
    wire [63:0]  first_eight = {2'd0, w1_known[47:42], 2'd0, w1_known[41:36], 2'd0, w1_known[35:30], 2'd0, w1_known[29:24],
                                2'd0, w1_known[23:18], 2'd0, w1_known[17:12], 2'd0, w1_known[11:6], 2'd0, w1_known[5:0]};
    wire [63:0]  chosen_1    = first_eight >> {at_reg[2:0], 3'd0};
    wire [5:0]   above       = chosen_1[5:0];
    wire [255:0] chosen_0    = w0_next >> {at_reg[4:0], 3'd0};
    wire [63:0]  where_0     = w0_where >> {at_reg[4:0], 1'b0};
    wire [6:0]   added       = {1'b0, at_reg} + {1'b0, inner_bytes};
    wire         unused_chosen = &{1'b0, chosen_1, chosen_0, where_0};

    wire [6:0] next  = inner ? added : at_reg[5] ? {above[5], !above[5], above[4:0]} : chosen_0[6:0];
    wire [1:0] where = inner ? {|added[6:5] && !(ends_w0 && added[5:0] == 6'd32), added[6] && |added[5:0]} :
                       at_reg[5] ? {1'b1, above[5] && |above[4:0]} : where_0[1:0];

    wire step    = where[1];
    wire over    = ends_w0 ? where[1] : ends_w1 && where[0];  // it needs bytes that the frame does not have
    wire last    = one || over;

    // (what is over is a step too)
    assign shift = fire ? step || one : w0_valid && (far || skip_reg);

    assign m_started = fire;

    wire [5:0] at_next = fire ? (last ? {!ends_w0 && ends_w1, 5'd0} : step ? {next[6], next[4:0]} : next[5:0]) :
                         far && w0_valid ? {1'b0, at_reg[4:0]} : at_reg;

    always @(posedge clk) begin
        if (fire) begin
            start_reg <= last;
            left_reg  <= left - {{GROUPS-1{1'b0}}, 1'b1};
            one_reg   <= start_reg ? two : left_reg == {{GROUPS-1{1'b0}}, 1'b1};
            used_reg  <= last && !ends_w0 && ends_w1;
            skip_reg  <= last && !ends_w0 && !ends_w1;
        end else if (skip_reg && w0_valid && w0_last) begin
            skip_reg <= 1'b0;
        end
        at_reg     <= at_next;
        not_at_reg <= ~at_next;
        if (rst) begin
            at_reg     <= 6'd0;
            not_at_reg <= 6'h3f;
            used_reg  <= 1'b0;
            skip_reg  <= 1'b0;
            start_reg <= 1'b1;
        end
    end

    // ---- dense: the groups of an item

    wire [5:0]   data_at = ~not_at_reg;
    wire [327:0] heads = {w1_data[71:0], w0_data};
    wire [327:0] headed = heads >> {data_at, 3'd0};
    wire [15:0] head   = headed[15:0];  // tag word, or a quad's header; 0 for a zero run
    wire        unused_headed = &{1'b0, headed};

    wire [3:0] inner_class;
    wire       in_run;               // zero quads follow
    wire       run_found;

    generate
        if (DENSE) begin : g_items
            reg [1:0]  group_reg = 2'd0;    // of the quad
            reg        inner_reg = 1'b0;
            reg [5:0]  inner_bytes_reg;
            reg [11:0] classes_reg;         // of the groups that follow
            reg [7:0]  run_reg = 8'd0;      // zero quads that follow
            reg [1:0]  opened_reg = 2'b00;  // an item began one, two cycles ago, and its frame still goes on

            assign inner       = inner_reg;
            assign inner_bytes = inner_bytes_reg;
            assign inner_class = classes_reg[3:0];
            assign in_run      = run_reg != 8'd0;

            always @(posedge clk) begin
                if (fire) begin
                    group_reg       <= dense ? group_reg + 2'd1 : 2'd0;
                    inner_reg       <= dense && (group_reg != 2'd3 || in_run);
                    classes_reg     <= inner_reg ? {4'd0, classes_reg[11:4]} : head[15:4];
                    inner_bytes_reg <= class_bytes(inner_reg ? classes_reg[7:4] : head[7:4]);
                end
                // the length of a run is known two cycles after it began, before its first quad ends
                if (run_found && opened_reg[1]) run_reg <= m_record[23:16];
                else if (fire && group_reg == 2'd3 && in_run) run_reg <= run_reg - 8'd1;
                opened_reg <= {opened_reg[0], fire && opens};
                if (rst || (fire && last)) begin
                    group_reg  <= 2'd0;
                    inner_reg  <= 1'b0;
                    run_reg    <= 8'd0;
                    opened_reg <= 2'b00;
                end
            end
        end else begin : g_no_items
            assign {inner, inner_bytes, inner_class, in_run} = 12'd0;
            wire unused_items = &{1'b0, run_found};
        end
    endgenerate

    // ---- first stage behind the loop: shift by eights of bytes; where the record ended and where it should have

    reg [335:0] c_data;
    reg [2:0]   c_shift;
    reg [15:0]  c_head;
    reg [3:0]   c_class;
    reg [6:0]   c_next, c_end;
    reg [1:0]   c_profile;
    reg [7:0]   c_bound;
    reg [2:0]   c_lanes;
    reg         c_valid = 1'b0, c_last, c_wrong, c_open, c_opens, c_quad_last;
    reg [1:0]   c_groups;     // of an item's last quad, less one

    wire [767:0] beats   = {w2_data, w1_data, w0_data};
    wire [767:0] shifted = beats >> {data_at[5:3], 6'd0};
    wire         unused_shifted = &{1'b0, shifted[767:336]};

    always @(posedge clk) begin
        c_data      <= shifted[335:0];
        c_shift     <= data_at[2:0];
        c_head      <= head;
        c_class     <= inner ? inner_class : head[3:0];
        c_next      <= next;
        c_end       <= ends_w0 ? {1'b0, w0_bytes} : ends_w1 ? 7'd32 + {1'b0, w1_bytes} : 7'd64 + {1'b0, w2_bytes};
        c_open      <= !ends_w0 && !ends_w1 && !(w2_valid && w2_last);
        c_wrong     <= over || frame[10] || (one && in_run);
        c_profile   <= frame[1:0];
        c_bound     <= frame[9:2];
        c_lanes     <= frame[13:11];
        c_last      <= last;
        c_opens     <= opens;
        c_groups    <= left[1:0];
        c_quad_last <= left[GROUPS-1:2] == {GROUPS-2{1'b0}};
        c_valid     <= fire;
        if (rst) c_valid <= 1'b0;
    end

    // ---- second stage: shift by bytes; what must not be: classes of groups that do not exist

    wire [5:0]  low_bytes = tag_bytes(c_head[7:0]);
    wire        unused_low = &{1'b0, low_bytes};
    wire        no_class = (c_head >> {c_groups, 2'd0}) >> 4 == 16'd0;
    reg         m_wrong, m_run_too_long;
    wire [335:0] fine = c_data >> {c_shift, 3'd0};
    wire         unused_fine = &{1'b0, fine[335:280]};

    always @(posedge clk) begin
        m_record    <= fine[279:0];
        m_profile   <= c_profile;
        m_bound_exp <= c_bound;
        m_low_bytes <= low_bytes[4:0];
        m_class     <= c_class;
        m_header    <= c_opens;
        m_lanes     <= c_lanes;
        m_last      <= c_last;
        m_valid     <= c_valid;
        m_wrong     <= c_wrong || (c_last && (c_open || c_next != c_end)) || (c_opens && c_quad_last && !no_class);
        m_run_too_long <= c_opens && c_quad_last && c_head == 16'd0;
        if (rst) m_valid <= 1'b0;
    end

    assign run_found = m_header && m_record[15:0] == 16'd0;
    assign m_error   = m_wrong || (m_run_too_long && m_record[23:16] != 8'd0);

    generate
        if (PROFILES < 1 || PROFILES > 7 || COUNT_WIDTH < 6) begin : g_check
            PROFILES_must_name_one_to_three_profiles_and_COUNT_WIDTH_be_6_or_more error();
        end
    endgenerate

endmodule

`resetall
