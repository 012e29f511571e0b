// SPDX-License-Identifier: Apache-2.0
// Turns beats into aligned records, one a cycle (the paper's burst buffer and tag decoder, its Fig.
// 10). A record says how long it is, so it says where the next begins; a frame ends by its count.
// Profile dense: a group of a quad a cycle, zero runs unrolled.
//
// The window holds three beats, because a record of 34 bytes at offset 31 has bytes in all three.
// Latency 5.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_record_window #(
    parameter PROFILES    = 7,  // those built: bit 0 paper, bit 1 lattice, bit 2 dense
    parameter COUNT_WIDTH = 24  // bits of a frame's number of values
) (
    input  wire                   clk,
    input  wire                   rst,          // synchronous, active high

    // AXI4-Stream (sink): bytes
    input  wire [255:0]           s_axis_tdata,
    input  wire [31:0]            s_axis_tkeep, // all ones except in a frame's last beat: from
                                                // bit 0, at least one
    input  wire                   s_axis_tlast,
    input  wire [COUNT_WIDTH+9:0] s_axis_tuser, // in a frame's first beat:
                                                // {count, bound_exp[7:0], profile[1:0]}
    input  wire                   s_axis_tvalid,
    output wire                   s_axis_tready,

    // records; each has room before it starts
    input  wire                   m_room,       // a record may start: it comes out two cycles later
    output wire                   m_started,    // one does
    output reg  [279:0]           m_record,     // what is above the record does not matter
    output reg  [1:0]             m_profile,
    output reg  [7:0]             m_bound_exp,
    output reg  [4:0]             m_low_bytes,  // paper, lattice: payload bytes of lanes 0 to 3
    output reg  [3:0]             m_class,      // dense: of the group
    output reg                    m_header,     // dense: the group's payload is behind its quad's
                                                // header
    output reg  [2:0]             m_lanes,      // of the last record: its values, 0 for eight
    output reg                    m_valid = 1'b0,
    output reg                    m_last,       // of its frame; every frame has one
    output wire                   m_error       // the frame does not hold what its count says
);

    localparam RECORDS = (PROFILES & 3) != 0;
    localparam DENSE   = (PROFILES & 4) != 0;
    localparam GROUPS  = COUNT_WIDTH - 3;     // bits of a number of groups

    `include "class_bytes.vh"
    `include "ends.vh"

    wire [COUNT_WIDTH-1:0] s_count;
    wire [7:0]             s_bound_exp;
    wire [1:0]             s_profile;
    assign {s_count, s_bound_exp, s_profile} = s_axis_tuser;

    // ---- beats in: a ring of 16, in four memories of 8 bytes a beat

    wire [5:0] s_bytes;
    wire       take = s_axis_tvalid && s_axis_tready;
    wire       leave;  // beat 0
    wire       unused_idle;

    gn_keep_count s_keep (.keep(s_axis_tkeep), .count(s_bytes));

    gn_credit_counter #(.CREDITS(16), .MOST(1), .LATE(1)) beats (
        .clk(clk), .rst(rst), .ok(s_axis_tready), .idle(unused_idle), .take({2'd0, take}), .give({2'd0, leave}));

    reg        s_first_reg = 1'b1;  // a frame's first beat comes
    reg        s_dense_reg;
    wire       s_dense = s_first_reg ? s_profile == 2'd2 : s_dense_reg;
    reg  [3:0] write_reg = 4'd0;
    // numbers of the window's beats
    reg  [3:0] beat0_reg = 4'd0, beat1_reg = 4'd1, beat2_reg = 4'd2;

    always @(posedge clk) begin
        if (take) begin
            s_first_reg <= s_axis_tlast;
            s_dense_reg <= s_dense;
            write_reg   <= write_reg + 4'd1;
        end
        if (leave) begin
            beat0_reg <= beat1_reg;
            beat1_reg <= beat2_reg;
            beat2_reg <= beat2_reg + 4'd1;
        end
        if (rst) begin
            s_first_reg <= 1'b1;
            write_reg   <= 4'd0;
            beat0_reg   <= 4'd0;
            beat1_reg   <= 4'd1;
            beat2_reg   <= 4'd2;
        end
    end

    // ---- frames in: groups less one, whether that is 0 or 1, lanes of the last group, no values
    // at all, bound, profile. A beat's table takes longer, so there is time for a register.

    localparam FRAME = GROUPS + 2 + 3 + 1 + 8 + 2;

    reg [COUNT_WIDTH-1:0] count_reg;
    reg [7:0]             bound_reg;
    reg [1:0]             profile_reg;
    reg                   frame_in_reg = 1'b0;  // by a frame's first beat

    always @(posedge clk) begin
        count_reg    <= s_count;
        bound_reg    <= s_bound_exp;
        profile_reg  <= s_profile;
        frame_in_reg <= take && s_first_reg && !rst;
    end

    wire [COUNT_WIDTH-1:0] less   = count_reg - {{COUNT_WIDTH-1{1'b0}}, 1'b1};
    wire                   none   = count_reg == {COUNT_WIDTH{1'b0}};
    wire [GROUPS-1:0]      groups = none ? {GROUPS{1'b0}} : less[COUNT_WIDTH-1:3];  // less one
    wire                   unused_less = &{1'b0, less};

    wire [GROUPS-1:0] frame_groups;
    wire [7:0]        frame_bound;
    wire [2:0]        frame_lanes;
    wire [1:0]        frame_profile;
    wire              frame_one, frame_two, frame_none, frame_done, unused_frame;

    gn_credit_fifo #(.WIDTH(FRAME), .LOG2(4)) frames (
        .clk(clk), .rst(rst),
        .s_data({groups == {GROUPS{1'b0}}, groups == {{GROUPS-1{1'b0}}, 1'b1}, groups, count_reg[2:0], none, bound_reg, profile_reg}),
        .s_valid(frame_in_reg),
        .m_data({frame_one, frame_two, frame_groups, frame_lanes, frame_none, frame_bound, frame_profile}),
        .m_valid(unused_frame), .m_ready(frame_done));

    // ---- the loop: a record a cycle. It may begin at offsets 0 to 39 of the window. At 32 and
    // above, beat 0 is used up, and leaves with the record. So a record or a frame that ends two
    // beats on does not cost the next one a cycle.

    reg [5:0] at_reg     = 6'd0;
    reg [5:0] not_at_reg = 6'h3f;  // its complement, for the data: a copy that is not merged again
    reg       used_reg  = 1'b0;  // beat 0 belongs to the frame before, offset 32 begins a frame
    reg       skip_reg  = 1'b0;  // drop what is left of a frame
    reg       start_reg = 1'b1;  // the next record is a frame's first
    reg       over_reg  = 1'b0;  // the last record needs bytes that its frame does not have: the
                                 // frame ends with it
    reg       ended_0_reg;       // in what was beat 0 then
    reg       far_reg   = 1'b0;  // at 40 and above: first beat 0 has to leave

    reg [GROUPS-1:0] left_groups_reg;  // groups behind the next one
    reg              one_reg;          // none
    wire             inner;       // dense: the next group is not the first of an item
    wire [5:0]       inner_bytes; // and has so many bytes

    wire [2:0]  w_valid, w_last;
    wire [17:0] w_bytes;
    wire        use_0 = !inner && !at_reg[5];  // what the tables say of beat 0 counts
    wire        use_1 = !inner && at_reg[5];   // what they say of beat 1
    wire [39:0] ends;
    wire [4:0]  about;
    wire [5:0]  data_at = ~not_at_reg;

    gn_record_table #(.PROFILES(PROFILES)) window_table (
        .clk(clk), .rst(rst),
        .s_data(s_axis_tdata), .s_dense(s_dense), .s_last(s_axis_tlast), .s_bytes(s_bytes), .s_valid(take),
        .m_valid(w_valid), .m_last(w_last), .m_bytes(w_bytes), .m_leave(leave),
        .at(at_reg[4:0]), .about_at({at_reg[4:3], data_at[2:0]}), .use_0(use_0), .use_1(use_1), .m_ends(ends), .m_about(about));

    wire              dense = DENSE && (!RECORDS || frame_profile == 2'd2);
    wire [GROUPS-1:0] left  = start_reg ? frame_groups : left_groups_reg;
    wire              one   = start_reg ? frame_one : one_reg;
    wire              opens = dense && !inner;  // an item

    wire present = used_reg ? w_valid[1] : w_valid[0] && (w_last[0] || w_valid[1]);
    wire fire    = present && m_room && !far_reg && !skip_reg && !over_reg;

    wire ends_w0 = !used_reg && w_last[0];     // the frame ends in beat 0
    wire ends_w1 = w_valid[1] && w_last[1];    // or in beat 1

    // Where the record ends: inside an item by adding, else as the tables say, which is known last.
    // All words are as ends.vh says. All except one are 0, and they meet in one `or`. Nothing there
    // waits for `fire` or `one`: these say whether the offset's registers take it.
    wire [6:0] added      = {1'b0, at_reg} + {1'b0, inner_bytes};
    // what ends exactly with a frame's last beat stays in it
    wire       added_32   = ends_w0 && added[5:0] == 6'd32;
    wire       added_step = |added[6:5] && !added_32;
    wire       added_over = ends_w0 ? added_step : added[6] && |added[4:0];
    wire [7:0] by_adding  = {added_over, added_step, added[6] || added_32, added[4:0]} & {8{inner}};
    wire [7:0] by_table   = ends[8*0 +: 8] | ends[8*1 +: 8] | ends[8*2 +: 8] | ends[8*3 +: 8];
    wire [7:0] by_beat_1  = {ends[8*4 + OVER] || ends_w0, ends[8*4 +: OVER]} & {8{use_1}};
    wire [6:0] next       = by_table[STEP:0] | by_beat_1[STEP:0] | by_adding[STEP:0];

    wire next_over  = by_table[OVER] || by_beat_1[OVER] || by_adding[OVER];
    wire next_step  = by_table[STEP] || by_beat_1[STEP] || by_adding[STEP];
    wire next_upper = by_beat_1[UPPER] || by_adding[UPPER];
    wire next_8     = |(by_beat_1[UPPER-1:3] | by_adding[UPPER-1:3]);  // offset 8 or more
    wire over       = fire && !one && (ends_w0 || ends_w1) && next_over;
    wire far        = fire && !one && next_upper && next_8;
    wire leave_hold = w_valid[0] && (over_reg ? !ended_0_reg : far_reg || skip_reg);

    assign leave      = (fire && (next_step || one)) || leave_hold;
    assign frame_done = (fire && one) || over_reg;
    assign m_started  = fire;

    always @(posedge clk) begin
        if (fire) begin
            start_reg       <= one;
            left_groups_reg <= left - {{GROUPS-1{1'b0}}, 1'b1};
            one_reg         <= start_reg ? frame_two : left_groups_reg == {{GROUPS-1{1'b0}}, 1'b1};
            used_reg        <= one && !ends_w0 && ends_w1;
            skip_reg        <= one && !ends_w0 && !ends_w1;
        end else if (over_reg) begin
            start_reg <= 1'b1;
        end else if (skip_reg && w_valid[0] && w_last[0]) begin
            skip_reg <= 1'b0;
        end
        over_reg    <= over;
        ended_0_reg <= ends_w0;
        // beat 0's table says no more than 66
        far_reg     <= far || (!fire && far_reg && !over_reg && !w_valid[0]);
        if (rst) begin
            used_reg  <= 1'b0;
            skip_reg  <= 1'b0;
            start_reg <= 1'b1;
            over_reg  <= 1'b0;
            far_reg   <= 1'b0;
        end
    end

    // A frame begins at offset 0, or at 32 when the frame before ended in beat 1.
    wire       at_32   = one ? !ends_w0 && ends_w1 : next[UPPER];
    wire [5:0] at_next = {at_32, next[UPPER-1:0]};

    always @(posedge clk) begin
        if (fire) begin
            at_reg     <= at_next;
            not_at_reg <= ~at_next;
        end
        if (over_reg || (far_reg && w_valid[0])) begin
            at_reg[5]     <= 1'b0;
            not_at_reg[5] <= 1'b1;
        end
        if (frame_done) begin
            at_reg[4:0]     <= 5'd0;
            not_at_reg[4:0] <= 5'h1f;
        end
        if (rst) begin
            at_reg     <= 6'd0;
            not_at_reg <= 6'h3f;
        end
    end

    // ---- the data: 42 bytes, from the word of 8 bytes on in which the record begins (one of the
    // first five)

    wire [591:0] words;  // of the window

    genvar g;
    generate
        for (g = 0; g < 4; g = g + 1) begin : g_ring
            reg [63:0] ring [0:15];
            always @(posedge clk) if (take) ring[write_reg] <= s_axis_tdata[64*g +: 64];
            assign words[64*g +: 64]       = ring[beat0_reg];
            assign words[64*g + 256 +: 64] = ring[beat1_reg];
            if (g < 2) begin : g_third
                wire [63:0] word = ring[beat2_reg];
                assign words[64*g + 512 +: (g == 0 ? 64 : 16)] = word[(g == 0 ? 63 : 15):0];
                wire unused_word = &{1'b0, word};
            end
        end
    endgenerate

    reg [335:0] coarse;

    always @* begin
        case (data_at[4:3])
        2'd0: coarse = words[335:0];
        2'd1: coarse = words[64 +: 336];
        2'd2: coarse = words[128 +: 336];
        2'd3: coarse = words[192 +: 336];
        endcase
        if (data_at[5]) coarse = words[256 +: 336];
    end

    reg  [335:0] c_data;
    reg  [2:0]   c_shift, c_not_shift;  // by bytes yet; a complement, as above
    // a quad's header: wanted at once, so by registers of its own
    wire [79:0]  fine_low  = c_data[79:0] >> {c_shift, 3'd0};
    wire [335:0] fine_high = c_data >> {~c_not_shift, 3'd0};
    wire [279:0] fine      = {fine_high[279:16], fine_low[15:0]};
    wire         unused_fine = &{1'b0, fine_high, fine_low};

    wire [3:0]  inner_class;
    wire        in_run;              // zero quads follow
    // dense: a quad's header, or a run of zero quads: a header of 0 and how many follow
    wire [15:0] m_quad    = m_record[15:0];
    wire [7:0]  m_run     = m_record[23:16];
    wire        run_found = m_header && m_quad == 16'd0;

    generate
        if (DENSE) begin : g_items
            reg [1:0]  group_reg = 2'd0;    // of the quad
            reg        inner_reg = 1'b0;
            reg        fresh_reg = 1'b0;    // an item began a cycle ago: its header is in `fine`
            reg [11:0] classes_reg;         // of the groups that follow
            reg [5:0]  bytes_reg;           // of the first of them
            reg [7:0]  run_reg = 8'd0;      // zero quads that follow
            reg [1:0]  opened_reg = 2'b00;  // an item began one, two cycles ago; its frame goes on

            wire [11:0] classes = fresh_reg ? fine[15:4] : classes_reg;

            assign inner       = inner_reg;
            assign inner_class = classes[3:0];
            assign inner_bytes = bytes_reg;
            assign in_run      = run_reg != 8'd0;

            always @(posedge clk) begin
                if (fire) begin
                    group_reg <= dense ? group_reg + 2'd1 : 2'd0;
                    inner_reg <= dense && (group_reg != 2'd3 || in_run);
                    // behind an item's first group `about`, where 17 stands for 33; else 0
                    bytes_reg <= (class_bytes(classes[7:4]) & {6{inner_reg}}) |
                                 {about[4] && about[0], about[4] && !about[0], about[3:0]};
                end
                fresh_reg   <= fire && opens;
                classes_reg <= fire && inner_reg ? {4'd0, classes[11:4]} : classes;
                // the length of a run is known two cycles after it began, before its first quad
                // ends
                if (run_found && opened_reg[1]) run_reg <= m_run;
                else if (fire && group_reg == 2'd3 && in_run) run_reg <= run_reg - 8'd1;
                opened_reg <= {opened_reg[0], fire && opens};
                if (rst || frame_done) begin
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

    // ---- first stage behind the loop: where the record ended and where it should have

    reg [4:0]   c_about;
    reg [3:0]   c_class;      // inside an item
    reg [6:0]   c_next;       // as ends.vh says, without OVER
    reg [6:0]   c_end;
    reg [1:0]   c_profile;
    reg [7:0]   c_bound;
    reg [2:0]   c_lanes;
    reg         c_valid = 1'b0, c_one, c_wrong, c_open, c_opens, c_quad_last;
    reg [1:0]   c_groups;     // of an item's last quad, less one

    always @(posedge clk) begin
        c_data      <= coarse;
        c_shift     <= data_at[2:0];
        c_not_shift <= not_at_reg[2:0];
        c_about     <= about;
        c_class     <= inner_class;
        c_next      <= next;
        c_end       <= ends_w0 ? {1'b0, w_bytes[6*0 +: 6]} :
                       ends_w1 ? 7'd32 + {1'b0, w_bytes[6*1 +: 6]} : 7'd64 + {1'b0, w_bytes[6*2 +: 6]};
        c_open      <= !ends_w0 && !ends_w1 && !(w_valid[2] && w_last[2]);
        c_wrong     <= frame_none || (one && in_run);
        c_one       <= one;
        c_profile   <= frame_profile;
        c_bound     <= frame_bound;
        c_lanes     <= frame_lanes;
        c_opens     <= opens;
        c_groups    <= left[1:0];
        c_quad_last <= left[GROUPS-1:2] == {GROUPS-2{1'b0}};
        c_valid     <= fire;
        if (rst) c_valid <= 1'b0;
    end

    // ---- second stage: shift by bytes

    // the offset from the window's begin
    wire [6:0]  c_ends   = {c_next[STEP] && c_next[UPPER], c_next[STEP] ^ c_next[UPPER], c_next[UPPER-1:0]};
    reg         m_wrong, m_quad_last;
    reg [1:0]   m_groups;

    always @(posedge clk) begin
        m_record    <= fine;
        m_profile   <= c_profile;
        m_bound_exp <= c_bound;
        m_low_bytes <= c_about - 5'd1;
        m_class     <= c_opens ? fine[3:0] : c_class;
        m_header    <= c_opens;
        m_lanes     <= c_lanes;
        m_last      <= c_one || over_reg;
        m_valid     <= c_valid;
        m_wrong     <= c_wrong || over_reg || (c_one && (c_open || c_ends != c_end));
        m_quad_last <= c_opens && c_quad_last;
        m_groups    <= c_groups;
        if (rst) m_valid <= 1'b0;
    end

    // ---- and what a frame's last quad must not have: classes of groups that do not exist, a run
    // that goes on

    wire no_class = (m_quad >> {m_groups, 2'd0}) >> 4 == 16'd0;

    assign m_error = m_wrong || (m_quad_last && (!no_class || (run_found && m_run != 8'd0)));

    generate
        if (PROFILES < 1 || PROFILES > 7 || COUNT_WIDTH < 6) begin : g_check
            PROFILES_must_name_one_to_three_profiles_and_COUNT_WIDTH_be_6_or_more error();
        end
    endgenerate

endmodule

`resetall
