// SPDX-License-Identifier: Apache-2.0
// Finds the groups of streams of profile dense that are not of class 0, one a cycle. Zeros cost
// nothing but the item that says them: an item a cycle is found, at most one that ends in a later
// beat for each beat. gn_record_window does the same for all profiles, and gives all groups.
//
// A stream ends with its last beat. How many quads it should have is compared at its end.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_group_window #(
    parameter BEATS_LOG2 = 5  // streams have up to 2^BEATS_LOG2 groups; 1 to 8
) (
    input  wire                  clk,
    input  wire                  rst,           // synchronous, active high

    // AXI4-Stream (sink): bytes
    input  wire [255:0]          s_axis_tdata,
    input  wire [31:0]           s_axis_tkeep,  // all ones except in a stream's last beat
    input  wire                  s_axis_tlast,
    input  wire [11:0]           s_axis_tuser,  // in a stream's first beat: its values, 1 or more
    input  wire                  s_axis_tvalid,
    output wire                  s_axis_tready,

    // groups; each has room before it starts
    input  wire                  m_room,        // a group may start: it comes out four cycles later
    output wire                  m_started,     // one does
    output reg  [263:0]          m_payload,     // what is above the class's bytes does not matter
    output reg  [3:0]            m_class,
    output reg  [BEATS_LOG2-1:0] m_number,      // in the stream
    output reg                   m_none,        // no group, but the end of a stream: then of class 0
    output reg                   m_final,       // the stream's last group, with so many values:
    output reg  [2:0]            m_lanes,       // 0 for eight
    output reg                   m_last,        // nothing of the stream follows
    output reg                   m_bad,         // with m_last: it is no stream of so many values
    output reg                   m_valid
);

    `include "class_bytes.vh"

    // ---- beats in: into two memories in turn, for their data, and into a FIFO that the items are
    // looked for in. 16 may be inside

    wire [5:0] s_bytes;
    wire       take = s_axis_tvalid && s_axis_tready;
    wire       release_, unused_beats_idle;

    gn_keep_count s_keep (.keep(s_axis_tkeep), .count(s_bytes));
    gn_credit_counter #(.CREDITS(16), .MOST(1), .LATE(1)) beats (
        .clk(clk), .rst(rst), .ok(s_axis_tready), .idle(unused_beats_idle), .take({2'd0, take}), .give({2'd0, release_}));

    reg [3:0]   write_reg = 4'd0;
    reg [255:0] even [0:7];
    reg [255:0] odd [0:7];

    always @(posedge clk) begin
        if (take && !write_reg[0]) even[write_reg[3:1]] <= s_axis_tdata;
        if (take && write_reg[0])  odd[write_reg[3:1]]  <= s_axis_tdata;
        if (take) write_reg <= write_reg + 4'd1;
        if (rst) write_reg <= 4'd0;
    end

    // what a byte of a header adds to the length of its item
    function [6:0] gives(input [7:0] byte_);
        gives = {1'b0, class_bytes(byte_[3:0])} + {1'b0, class_bytes(byte_[7:4])};
    endfunction

    wire [255:0] x_data;
    wire [6:0]   x_first;  // what its first byte gives
    wire [5:0]   x_bytes;
    wire         x_last, x_valid, x_move;

    gn_credit_fifo #(.WIDTH(270), .LOG2(4)) ahead (
        .clk(clk), .rst(rst), .s_data({s_axis_tlast, s_bytes, gives(s_axis_tdata[7:0]), s_axis_tdata}), .s_valid(take),
        .m_data({x_last, x_bytes, x_first, x_data}), .m_valid(x_valid), .m_ready(x_move));

    // ---- where an item would end that begins at an offset: two bytes behind that, and what these
    // two give; or three, if both are 0. At the last offset the second is in the next beat

    genvar g;

    reg [255:0] y_data;
    reg [255:0] y_from;    // 8 bits an offset: the first of these sums
    reg [223:0] y_gives;   // 7 bits a byte
    reg [31:0]  y_zero;
    reg [5:0]   y_bytes;
    reg         y_last, y_valid = 1'b0;
    wire        z_load;

    assign x_move = x_valid && (!y_valid || z_load);

    integer k, j;  // one for each block

    always @(posedge clk) begin
        if (x_move) begin
            for (k = 0; k < 32; k = k + 1) begin
                y_gives[7*k +: 7] <= gives(x_data[8*k +: 8]);
                y_from[8*k +: 8]  <= {1'b0, gives(x_data[8*k +: 8])} + k[7:0] + 8'd2;
                y_zero[k]         <= x_data[8*k +: 8] == 8'd0;
            end
            y_data  <= x_data;
            y_bytes <= x_bytes;
            y_last  <= x_last;
        end
        if (!y_valid || z_load) y_valid <= x_valid;
        if (rst) y_valid <= 1'b0;
    end

    wire [230:0] y_second = {x_first, y_gives};
    wire [32:0]  y_both   = {x_data[7:0] == 8'd0, y_zero};
    reg [255:0] z_data, z_ends;
    reg [5:0]   z_bytes;
    reg         z_last, z_valid = 1'b0;
    wire        t_load;
    wire        unused_second = &{1'b0, y_second[6:0]};

    assign z_load = y_valid && (y_last || x_valid) && (!z_valid || t_load);

    always @(posedge clk) begin
        if (z_load) begin
            for (j = 0; j < 32; j = j + 1)
                z_ends[8*j +: 8] <= y_from[8*j +: 8] + {1'b0, y_second[7*j + 7 +: 7]} + {7'd0, y_both[j] && y_both[j+1]};
            z_data  <= y_data;
            z_bytes <= y_bytes;
            z_last  <= y_last;
        end
        if (!z_valid || t_load) z_valid <= z_load;
        if (rst) z_valid <= 1'b0;
    end

    // What is known of it then. OVER: it ends behind the stream's last byte. END: with that, or
    // OVER. CROSS: not in this beat; then MORE beats are between. LEAVE: one of these. Else at
    // offset AT of this beat, or of that one.

    localparam LEAVE = 11, OVER = 10, END = 9, CROSS = 8, MORE = 5, AT = 0;

    // bit 0 of all offsets, bit 1, ...
    function [383:0] table_of(input [255:0] all, input last, input [5:0] bytes);
        integer    n, m_;
        reg [7:0]  ends_;
        reg        end_, crosses;
        reg [2:0]  more;
        reg [11:0] word;
        begin
            for (n = 0; n < 32; n = n + 1) begin
                ends_ = all[8*n +: 8];
                end_  = last && ends_ >= {2'd0, bytes};
                crosses = |ends_[7:5];
                more  = ends_[7:5] - 3'd1;
                word  = {end_ || crosses, last && ends_ > {2'd0, bytes}, end_,
                         {9{!end_}} & {crosses, more & {3{crosses}}, ends_[4:0]}};
                for (m_ = 0; m_ < 12; m_ = m_ + 1) table_of[32*m_ + n] = word[m_];
            end
        end
    endfunction

    reg [383:0] t_table;
    reg [271:0] t_data;  // and two bytes of the next beat
    reg [5:0]   t_bytes;
    reg         t_last, t_valid = 1'b0;
    reg [3:0]   t_number = 4'd0;
    wire        t_leave;

    assign t_load = z_valid && (!t_valid || t_leave);

    always @(posedge clk) begin
        if (t_load) begin
            t_table <= table_of(z_ends, z_last, z_bytes);
            t_data  <= {y_data[15:0], z_data};
            t_bytes <= z_bytes;
            t_last  <= z_last;
        end
        if (!t_valid || t_leave) t_valid <= t_load;
        if (t_leave) t_number <= t_number + 4'd1;
        if (rst) begin
            t_valid  <= 1'b0;
            t_number <= 4'd0;
        end
    end

    // ---- the loop: an item a cycle, or a beat that one goes over

    reg [4:0] at_reg    = 5'd0;
    reg [2:0] more_reg  = 3'd0;   // beats to leave before that offset counts
    reg       cross_reg = 1'b0;   // the last item ends there

    wire [11:0] entry;
    wire [23:0] head;
    generate
        for (g = 0; g < 12; g = g + 1) begin : g_entry
            wire [31:0] all = t_table[32*g +: 32];
            assign entry[g] = all[at_reg];
        end
    endgenerate
    wire [271:0] turned = t_data >> {at_reg, 3'd0};
    wire         unused_turned = &{1'b0, turned[271:24]};
    assign head = turned[23:0];

    wire       items_ok;
    wire       waits   = more_reg != 3'd0;
    wire       beyond  = t_last && {1'b0, at_reg} >= t_bytes;
    wire       passes  = t_valid && waits;
    wire       closes  = t_valid && !waits && cross_reg && beyond;
    wire       opens   = t_valid && !waits && !(cross_reg && beyond) && items_ok;
    wire       crossed = cross_reg && (opens || closes || (passes && t_last));  // the last item is whole
    wire       ends    = closes || (passes && t_last);
    wire       wrong   = waits ? more_reg != 3'd1 || at_reg != 5'd0 || t_bytes != 6'd32 : {1'b0, at_reg} != t_bytes;

    assign t_leave = passes || closes || (opens && entry[LEAVE]);

    reg [23:0] i_head;
    reg [4:0]  i_at;
    reg [3:0]  i_beat, i_to;  // where it begins; where what is behind it begins
    reg        i_end, i_bad, i_whole = 1'b0;

    always @(posedge clk) begin
        if (opens) begin
            at_reg    <= entry[AT +: 5];
            more_reg  <= entry[MORE +: 3];
            cross_reg <= entry[CROSS];
        end else if (passes) begin
            more_reg <= more_reg - 3'd1;
        end
        if (ends || rst) begin
            at_reg    <= 5'd0;
            more_reg  <= 3'd0;
            cross_reg <= 1'b0;
        end
        if (opens) begin
            i_head <= head;
            i_at   <= at_reg;
            i_beat <= t_number;
            i_to   <= t_number + {3'd0, entry[END]};
            i_end  <= entry[END];
            i_bad  <= entry[OVER];
        end
        i_whole <= opens && !entry[CROSS] && !rst;
    end

    // ---- whole items: how many quads there are, and how many there should be

    reg [23:0] p_head;
    reg [4:0]  p_at;
    reg [3:0]  p_beat, p_to;
    reg        p_next;  // p_to is of the beat before
    reg        p_end, p_bad, p_run, p_valid = 1'b0;

    always @(posedge clk) begin
        p_head  <= i_head;
        p_run   <= i_head[15:0] == 16'd0;
        p_at    <= i_at;
        p_beat  <= i_beat;
        p_to    <= i_whole ? i_to : t_number;
        p_next  <= !i_whole && ends;
        p_end   <= i_whole ? i_end : ends;
        p_bad   <= i_whole ? i_bad : ends && wrong;
        p_valid <= (i_whole || crossed) && !rst;
    end

    reg         s_first_reg = 1'b1;
    reg  [11:0] count_reg;
    reg         count_in_reg = 1'b0;

    always @(posedge clk) begin
        if (take) s_first_reg <= s_axis_tlast;
        count_reg    <= s_axis_tuser;
        count_in_reg <= take && s_first_reg && !rst;
        if (rst) s_first_reg <= 1'b1;
    end

    wire [11:0] less = count_reg - 12'd1;
    wire [8:0]  last_group;  // number
    wire [2:0]  last_lanes;
    wire        unused_less = &{1'b0, less[2:0]};
    wire        unused_count;

    gn_credit_fifo #(.WIDTH(12), .LOG2(4)) counts (
        .clk(clk), .rst(rst), .s_data({less[11:3], count_reg[2:0]}), .s_valid(count_in_reg), .m_data({last_group, last_lanes}),
        .m_valid(unused_count), .m_ready(p_valid && p_end));

    reg  [8:0] quad_reg = 9'd0;
    reg        much_reg = 1'b0;  // there are too many, and this number is not kept
    wire [9:0] p_behind = {1'b0, quad_reg} + {2'd0, p_head[23:16] & {8{p_run}}} + 10'd1;

    reg [15:0] q_classes;
    reg [8:0]  q_at;
    reg [5:0]  q_bytes;
    reg [6:0]  q_two, q_three;
    reg [8:0]  q_quad;
    reg [9:0]  q_behind;
    reg [8:0]  q_last_group;
    reg [2:0]  q_lanes;
    reg [3:0]  q_to;
    reg        q_run, q_much, q_end, q_bad, q_valid = 1'b0;

    always @(posedge clk) begin
        q_classes    <= p_head[15:0];
        q_at         <= {p_beat, p_at} + 9'd2;
        q_bytes      <= class_bytes(p_head[3:0]);
        q_two        <= gives(p_head[7:0]);
        q_three      <= gives(p_head[7:0]) + {1'b0, class_bytes(p_head[11:8])};
        q_quad       <= quad_reg;
        q_behind     <= p_behind;
        q_last_group <= last_group;
        q_lanes      <= last_lanes;
        q_to         <= p_to + {3'd0, p_next};
        q_run        <= p_run;
        q_much       <= much_reg;
        q_end        <= p_end;
        q_bad        <= much_reg || p_bad;
        q_valid      <= p_valid && !rst;
        if (p_valid) begin
            quad_reg <= p_end ? 9'd0 : p_behind[8:0];
            much_reg <= !p_end && (much_reg || |p_behind[9:7]);
        end
        if (rst) begin
            quad_reg <= 9'd0;
            much_reg <= 1'b0;
        end
    end

    // ---- where each group begins. A group that should not be there is none: so no stream has more
    // than there is room for

    reg [3:0]  r_mask;     // groups that are not of class 0
    reg [15:0] r_classes;
    reg [35:0] r_at;       // 9 bits a group
    reg [5:0]  r_quad;
    reg [1:0]  r_group;    // the number of the stream's last group, in the last quad
    reg [2:0]  r_lanes;
    reg [3:0]  r_to;
    reg        r_final, r_run, r_beyond, r_end, r_bad, r_valid = 1'b0;
    wire       q_final  = !q_much && q_quad == {2'd0, q_last_group[8:2]};
    wire       q_beyond = q_much || q_quad > {2'd0, q_last_group[8:2]};  // it should not be there
    wire [3:0] q_never  = q_final ? 4'hE << q_last_group[1:0] : {4{q_beyond}};
    wire       q_amiss  = q_end && q_behind != {3'd0, q_last_group[8:2]} + 10'd1;  // how many there are
    wire [3:0] q_mask   = {|q_classes[15:12], |q_classes[11:8], |q_classes[7:4], |q_classes[3:0]};

    always @(posedge clk) begin
        r_mask    <= q_mask & ~q_never;
        r_classes <= q_classes;
        r_at      <= {q_at + {2'd0, q_three}, q_at + {2'd0, q_two}, q_at + {3'd0, q_bytes}, q_at};
        r_quad    <= q_quad[5:0];
        r_group   <= q_last_group[1:0];
        r_lanes   <= q_lanes;
        r_to      <= q_to;
        r_final   <= q_final;
        r_run     <= q_run;
        r_beyond  <= q_beyond;
        r_end     <= q_end;
        r_bad     <= q_bad || q_amiss || |(q_mask & q_never);
        r_valid   <= q_valid && !rst;
    end

    // ---- an item with groups waits for the next: a run that ends the stream says only that it is
    // the last. Other runs are not kept. But what is behind the last quad gives its beats back, an
    // item at a time. Whatever is wrong with an item, the stream's last one is wrong, too: either
    // it is that one, or there are more quads than there should be.

    reg [3:0]  h_mask;
    reg [15:0] h_classes;
    reg [35:0] h_at;
    reg [5:0]  h_quad;
    reg [1:0]  h_group;
    reg [2:0]  h_lanes;
    reg [3:0]  h_to;
    reg        h_final, h_end, h_bad, h_valid = 1'b0;

    wire       ending = r_valid && r_run && r_end && h_valid && !h_end;  // it is the last
    wire       drop   = r_valid && r_run && (r_end ? ending : !r_beyond);
    wire       push   = h_valid && (h_end || r_valid);

    always @(posedge clk) begin
        if (r_valid) begin
            h_mask    <= r_mask;
            h_classes <= r_classes;
            h_at      <= r_at;
            h_quad    <= r_quad;
            h_group   <= r_group;
            h_lanes   <= r_lanes;
            h_to      <= r_to;
            h_final   <= r_final;
            h_end     <= r_end;
            h_bad     <= r_bad;
        end
        h_valid <= r_valid ? !drop : h_valid && !push;
        if (rst) h_valid <= 1'b0;
    end

    wire [3:0]  d_mask;
    wire [15:0] d_classes;
    wire [35:0] d_at;
    wire [5:0]  d_quad;
    wire [1:0]  d_group;
    wire [2:0]  d_lanes;
    wire [3:0]  d_to;
    wire        d_final, d_end, d_bad, d_valid, d_take, unused_items_idle;

    gn_credit_counter #(.CREDITS(16), .MOST(1), .LATE(1)) items (
        .clk(clk), .rst(rst), .ok(items_ok), .idle(unused_items_idle), .take({2'd0, opens}),
        .give({1'b0, drop && d_take, drop != d_take}));
    gn_credit_fifo #(.WIDTH(74), .LOG2(4)) found (
        .clk(clk), .rst(rst),
        .s_data({h_mask, h_classes, h_at, h_quad, h_group, h_lanes, ending ? r_to : h_to, h_final, h_end || ending,
                 ending ? r_bad : h_bad}),
        .s_valid(push), .m_data({d_mask, d_classes, d_at, d_quad, d_group, d_lanes, d_to, d_final, d_end, d_bad}),
        .m_valid(d_valid), .m_ready(d_take));

    // ---- a group a cycle

    reg  [3:0] left_reg;
    reg        begun_reg = 1'b0;
    wire [3:0] left  = begun_reg ? left_reg : d_mask;
    wire [3:0] pick  = {left[3] && left[2:0] == 3'd0, left[2] && left[1:0] == 2'd0, left[1] && !left[0], left[0]};
    wire [3:0] rest  = left & ~pick;
    wire       some  = d_mask != 4'd0;
    wire       fire  = d_valid && m_room;
    wire [1:0] group = {pick[3] || pick[2], pick[3] || pick[1]};

    assign d_take    = fire && rest == 4'd0;
    assign m_started = fire && (some || d_end);

    reg [8:0] e_at;
    reg [3:0] e_class;
    reg [7:0] e_number;
    reg [2:0] e_lanes;
    reg       e_none, e_final, e_last, e_bad, e_valid = 1'b0;
    reg [3:0] to_reg = 4'd0, free_reg = 4'd0;  // beats up to there may leave, and have left
    integer   n;

    assign release_ = free_reg != to_reg;

    always @(posedge clk) begin
        if (fire) begin
            left_reg  <= rest;
            begun_reg <= rest != 4'd0;
        end
        e_at    <= (d_at[0 +: 9] & {9{pick[0]}}) | (d_at[9 +: 9] & {9{pick[1]}}) | (d_at[18 +: 9] & {9{pick[2]}}) |
                   (d_at[27 +: 9] & {9{pick[3]}});
        e_class <= (d_classes[3:0] & {4{pick[0]}}) | (d_classes[7:4] & {4{pick[1]}}) | (d_classes[11:8] & {4{pick[2]}}) |
                   (d_classes[15:12] & {4{pick[3]}});
        e_number <= {d_quad, group};
        e_lanes  <= d_lanes;
        e_none   <= !some;
        e_final  <= some && d_final && group == d_group;
        e_last   <= d_end && rest == 4'd0;
        e_bad    <= d_bad;
        e_valid  <= m_started && !rst;
        if (d_take) to_reg <= d_to;
        if (release_) free_reg <= free_reg + 4'd1;
        if (rst) begin
            begun_reg <= 1'b0;
            to_reg    <= 4'd0;
            free_reg  <= 4'd0;
        end
    end

    // ---- its bytes: from two beats, turned by eights of bytes, then by bytes

    localparam SIDE = 4 + BEATS_LOG2 + 3 + 4;  // what goes with them

    reg  [511:0]    f_data;
    reg  [5:0]      f_turn;
    reg  [319:0]    g_data;
    reg  [2:0]      g_turn;
    reg  [SIDE-1:0] f_side, g_side;
    reg             f_valid = 1'b0, g_valid = 1'b0;
    wire [2:0]      even_at = e_at[8:6] + {2'd0, e_at[5]};
    wire [831:0]    around  = {f_data[319:0], f_data};
    wire [319:0]    fine    = g_data >> {g_turn, 3'd0};
    wire            unused_fine = &{1'b0, fine[319:264], e_number};

    initial m_valid = 1'b0;

    always @(posedge clk) begin
        f_data  <= {odd[e_at[8:6]], even[even_at]};
        f_turn  <= e_at[5:0];
        f_side  <= {e_class, e_number[BEATS_LOG2-1:0], e_lanes, e_none, e_final, e_last, e_bad};
        f_valid <= e_valid && !rst;
        for (n = 0; n < 8; n = n + 1)
            if (f_turn[5:3] == n[2:0]) g_data <= around[64*n +: 320];
        g_turn  <= f_turn[2:0];
        g_side  <= f_side;
        g_valid <= f_valid && !rst;
        m_payload <= fine[263:0];
        {m_class, m_number, m_lanes, m_none, m_final, m_last, m_bad} <= g_side;
        m_valid <= g_valid && !rst;
    end

    generate
        if (BEATS_LOG2 < 1 || BEATS_LOG2 > 8) begin : g_check
            BEATS_LOG2_must_be_1_to_8 error();
        end
    endgenerate

endmodule

`resetall
