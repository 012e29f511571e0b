// SPDX-License-Identifier: Apache-2.0
// A switch that adds gradients (docs/switch.md): mode partitioned, formats int32 and dense, up to
// eight children, the root of its tree. Packets of the children come in as Ethernet frames, and
// results leave as such, one for each child. It does what gn_switch_rx() does, for the same
// packets. What it leaves to software: jobs and their children, packets of binary32, and all that
// takes time into account.
//
//     frames -> gn_frame_parse -> gn_frame_store -> gn_frame_feed -> gn_slot_judge
//               checksum: wrong ones are not judged      |
//                          gn_value_feed -> gn_slot_add -> gn_sum_pack -> gn_slot_reader -> frames
//
// Software's words, cfg_address in the highest two bits, then:
//     0  job[..], word[1:0]: 0 {k[7:0], 0[5:0], dense, used, number[15:0]}; 1 {slots as a power of
//        two[3:0], level[3:0], 0, children - 1[2:0], generation[15:0]}; 2 its first slot; 3 so many
//        slots from there on become empty. Its used bit is off while the others are written
//     1  job[..], child[2:0], word[3:0]: 0 to 7 as gn_slot_reader says, 8 the port where it is
//     2  most values of a packet
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_aggregator #(
    parameter JOBS_LOG2   = 4,  // 2^JOBS_LOG2 jobs; 1 to 6
    parameter SLOTS_LOG2  = 6,  // 2^SLOTS_LOG2 slots of all jobs, each in two copies; 1 to 15
    parameter BEATS_LOG2  = 5,  // of 8 << BEATS_LOG2 values; 1 to 8
    parameter BUFFER_LOG2 = 8   // frames of at most 32 << BUFFER_LOG2 bytes; 4 to 11
) (
    input  wire                  clk,
    input  wire                  rst,            // synchronous, active high

    // What software says. A job's words are written while none of its packets is inside.
    input  wire                  cfg_write,
    input  wire [15:0]           cfg_address,
    input  wire [31:0]           cfg_data,
    output wire                  cfg_busy,       // write nothing: slots are being emptied

    // Frames from the children, without check sequence: AXI4-Stream (sink)
    input  wire [255:0]          s_axis_tdata,   // byte 0 in the lowest bits
    input  wire [31:0]           s_axis_tkeep,   // all ones except in the last beat
    input  wire                  s_axis_tlast,
    input  wire [16:0]           s_axis_tuser,   // in the last beat: bad, and the port it came from
    input  wire                  s_axis_tvalid,
    output wire                  s_axis_tready,

    // Frames to the children, without check sequence: AXI4-Stream (source)
    output wire [255:0]          m_axis_tdata,
    output wire [31:0]           m_axis_tkeep,
    output wire                  m_axis_tlast,
    output wire [15:0]           m_axis_tuser,   // the port that it is for
    output wire                  m_axis_tvalid,
    input  wire                  m_axis_tready,

    // Frames that nobody judges: bad or too long; not UDP, or with a wrong checksum or none.
    output wire                  event_dropped_bad,
    output wire                  event_dropped_long,
    output wire                  event_not_udp,
    // What became of a packet, in their order, for counters and for software's own picture
    output wire                  event_valid,
    output wire [4:0]            event_verdict,  // as agg.vh says
    output wire                  event_poison,   // the chunk has no sum of integers
    output wire [JOBS_LOG2-1:0]  event_index,    // of the job; anything for reasons 1 and 3
    output wire [2:0]            event_child,    // from reason 8 on
    output wire [SLOTS_LOG2-1:0] event_slot,     // and the slot in the memory
    output wire                  event_version,
    output wire                  event_used,     // its copy afterwards: it is not empty
    output wire                  event_whole,    // all have contributed
    output wire [31:0]           event_psn,
    output wire [7:0]            event_seen,     // who has contributed
    output wire [11:0]           event_values,
    output wire                  event_ecn,
    output wire                  event_late,
    output wire [7:0]            event_exponent,
    output wire [7:0]            event_next,
    output wire [15:0]           event_priority
);

    `include "agg.vh"

    // ---- frames in: parsed, and stored until it is known that they are whole

    wire [255:0] p_data;
    wire [31:0]  unused_keep;
    wire         p_last, p_valid, p_ready;
    wire [2:0]   p_code;
    wire [16:0]  p_length, p_end;
    wire [15:0]  p_checksum, p_sum, unused_source_port, unused_destination_port, p_port;
    wire [7:0]   unused_tos, p_payload, unused_flags;
    wire [6:0]   unused_l4;
    wire [63:0]  p_front;
    wire         p_bad, unused_tagged, unused_six, p_tcp, unused_port_valid, unused_key_end;
    wire [1:0]   unused_flow;
    wire [290:0] unused_key;

    gn_frame_parse parse (
        .clk(clk), .rst(rst), .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tlast(s_axis_tlast),
        .s_axis_tuser(s_axis_tuser[16]), .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready),
        .m_axis_tdata(p_data), .m_axis_tkeep(unused_keep), .m_axis_tlast(p_last), .m_axis_tvalid(p_valid),
        .m_axis_tready(p_ready), .m_code(p_code), .m_bad(p_bad), .m_length(p_length), .m_tagged(unused_tagged),
        .m_six(unused_six), .m_tcp(p_tcp), .m_tos(unused_tos), .m_flags(unused_flags),
        .m_source_port(unused_source_port), .m_destination_port(unused_destination_port), .m_l4(unused_l4),
        .m_payload(p_payload), .m_end(p_end), .m_front(p_front), .m_checksum(p_checksum), .m_sum(p_sum),
        .m_flow(unused_flow), .k_end(unused_key_end), .k_key(unused_key));

    // The port goes beside. There are no more frames in gn_frame_parse than beats: 17.
    gn_credit_fifo #(.WIDTH(16), .LOG2(4)) ports (
        .clk(clk), .rst(rst), .s_data(s_axis_tuser[15:0]), .s_valid(s_axis_tvalid && s_axis_tready && s_axis_tlast),
        .m_data(p_port), .m_valid(unused_port_valid), .m_ready(p_valid && p_ready && p_last));

    // UDP, with a checksum that holds. Without one, nobody knows what the values were.
    `include "shim.vh"
    wire p_magic = p_front[15:0] == SHIM_MAGIC;
    wire p_ours = p_code == 3'd0 && !p_tcp && p_checksum != 16'd0 && p_sum == 16'hffff;

    wire [BUFFER_LOG2-1:0] t_first, feed_address;
    wire [16:0]  t_length, t_end;
    wire [15:0]  t_port;
    wire [7:0]   t_payload;
    wire         t_gone, t_ours, t_magic, t_valid, t_ready;
    wire [47:0]  t_front;
    wire [255:0] feed_data, unused_data;
    wire [BUFFER_LOG2:0] frame_free;

    gn_frame_store #(.LOG2(BUFFER_LOG2), .INFO_WIDTH(108)) frames (
        .clk(clk), .rst(rst), .s_axis_tdata(p_data), .s_axis_tlast(p_last), .s_axis_tvalid(p_valid), .s_axis_tready(p_ready),
        .s_bad(p_bad), .dropped_bad(event_dropped_bad), .dropped_long(event_dropped_long),
        .s_info({p_length, p_end, p_payload, p_port, p_ours, p_magic, p_front[63:16]}),
        .m_info({t_length, t_end, t_payload, t_port, t_ours, t_magic, t_front}),
        .m_gone(t_gone), .m_first(t_first), .m_valid(t_valid), .m_ready(t_ready || t_gone),
        .a_address(feed_address), .a_data(feed_data), .b_address({BUFFER_LOG2{1'b0}}), .b_data(unused_data),
        .free_beats(frame_free));

    // ---- read: a frame that is ours gives its UDP payload, any other nothing. Its sums say that
    // it has been read; they come in the order of the frames. One that is gone is passed over.

    wire t_read = t_valid && t_ready && !t_gone;

    wire         may_read, unused_read_idle, feed_ready, read_done, unused_length_valid;
    wire [11:0]  read_beats, done_beats;
    wire [16:0]  read_last = t_length - 17'd1;
    wire         unused_read = &{1'b0, read_last[4:0], done_beats};
    wire [63:0]  unused_sums;
    wire [255:0] u_data;
    wire [31:0]  u_keep;
    wire [81:0]  u_user;  // shim but its magic, there is one; length from the header on, port
    wire         u_last, u_valid, u_ready;

    assign read_beats = read_last[16:5] + 12'd1;
    assign t_ready    = may_read && feed_ready;

    // the beats of the frames that are being read
    gn_credit_counter #(.CREDITS(9), .MOST(1)) read_credits (
        .clk(clk), .rst(rst), .ok(may_read), .idle(unused_read_idle), .take({2'd0, t_read}), .give({2'd0, read_done}));
    gn_credit_fifo #(.WIDTH(12), .LOG2(3)) lengths (
        .clk(clk), .rst(rst), .s_data(read_beats), .s_valid(t_read), .m_data(done_beats), .m_valid(unused_length_valid),
        .m_ready(read_done));
    assign frame_free = read_done ? done_beats[BUFFER_LOG2:0] : {BUFFER_LOG2+1{1'b0}};

    reg event_not_udp_reg = 1'b0;
    always @(posedge clk) event_not_udp_reg <= t_read && !t_ours && !rst;
    assign event_not_udp = event_not_udp_reg;

    // A frame that is not ours may say any positions: then all of it is one range.
    // What is behind a shim is as if there was none.
    wire [16:0] behind    = {9'd0, t_payload} + 17'd8;
    wire        t_shimmed = t_magic && t_end > behind;
    wire [16:0] from = !t_ours ? t_length : t_shimmed ? behind : {9'd0, t_payload};
    wire [16:0] stop = t_ours ? t_end : t_length;

    gn_frame_feed #(.LOG2(BUFFER_LOG2), .USER_WIDTH(82)) feed (
        .clk(clk), .rst(rst), .s_first(t_first), .s_tagged(1'b0), .s_six(1'b0), .s_tcp(1'b0), .s_l4(7'd34),
        .s_payload(8'd42), .s_from(from), .s_start(from), .s_stop(stop), .s_end(t_length), .s_engine(t_ours),
        .s_user({t_front, t_shimmed, stop - from, t_port}), .s_valid(t_valid && may_read && !t_gone), .s_ready(feed_ready),
        .address(feed_address), .data(feed_data),
        .m_axis_tdata(u_data), .m_axis_tkeep(u_keep), .m_axis_tlast(u_last), .m_axis_tuser(u_user), .m_axis_tvalid(u_valid),
        .m_axis_tready(u_ready),
        .sums_lead(unused_sums[15:0]), .sums_rest(unused_sums[31:16]), .sums_tail(unused_sums[47:32]),
        .sums_field(unused_sums[63:48]), .sums_valid(read_done));

    // ---- the first beat of a payload is the header, the others have values

    localparam [1:0] PLAIN = 2'd0, DENSE = 2'd1, DROP = 2'd2;

    reg  u_first_reg = 1'b1;
    wire h_room, unused_h_idle, v_ready_in;
    reg  h_gone = 1'b0;
    wire h_there, h_valid, h_ready, v_valid, v_ready, v_last, v_none;
    wire f_valid, f_ready, f_last, f_none;
    wire [BEATS_LOG2-1:0] f_number, v_number;
    wire [255:0] f_data, h_data, v_data;
    wire [81:0]  h_user;
    wire         h_beats, h_stream;

    // Only streams that a slot has room for are looked into. The length is compared as it comes:
    // a difference would be a path too long.
    localparam [16:0] LENGTH_MAX = 17'd32 + (17'd32 << BEATS_LOG2);
    wire [15:0] u_length = {u_user[57:50], u_user[65:58]};  // of the shim: bytes
    wire [11:0] u_count  = u_length[13:2] - 12'd8;           // of values
    wire        u_holds  = u_user[41:34] == {SHIM_VERSION, 4'd3} && u_length[1:0] == 2'd0 && u_length > 16'd32 &&
                           {1'b0, u_length} <= LENGTH_MAX;
    wire [1:0]  u_way    = !u_user[33] ? PLAIN : u_holds ? DENSE : DROP;

    assign u_ready = u_first_reg ? h_room : v_ready_in;
    wire u_head = u_valid && u_first_reg && h_room;

    always @(posedge clk) begin
        if (u_valid && u_ready) u_first_reg <= u_last;
        if (rst) u_first_reg <= 1'b1;
    end

    gn_credit_counter #(.CREDITS(9), .MOST(1)) head_credits (
        .clk(clk), .rst(rst), .ok(h_room), .idle(unused_h_idle), .take({2'd0, u_head}), .give({2'd0, h_gone}));
    gn_credit_fifo #(.WIDTH(340), .LOG2(3)) heads (
        .clk(clk), .rst(rst), .s_data({!u_last && u_way != DROP, !u_last && u_way == DENSE, u_user, u_data}), .s_valid(u_head),
        .m_data({h_beats, h_stream, h_user, h_data}), .m_valid(h_there), .m_ready(h_gone));

    // a header waits for what its stream is found to be
    wire stream_bad, stream_raw, stream_there;
    assign h_valid = h_there && (!h_stream || stream_there);

    // It leaves a cycle after it was judged, so the judge's word crosses the chip in a cycle of its
    // own. The next one is there long before the judge, who asks every four cycles, looks.
    always @(posedge clk) h_gone <= h_valid && h_ready && !rst;

    gn_value_feed #(.BEATS_LOG2(BEATS_LOG2)) values (
        .clk(clk), .rst(rst), .s_begin(u_head && !u_last), .s_way(u_way), .s_count(u_count), .s_data(u_data),
        .s_keep(u_keep), .s_last(u_last), .s_valid(u_valid && !u_first_reg), .s_ready(v_ready_in),
        .m_data(f_data), .m_number(f_number), .m_none(f_none), .m_last(f_last),
        .m_valid(f_valid), .m_ready(f_ready), .verdict_bad(stream_bad), .verdict_raw(stream_raw),
        .verdict_valid(stream_there), .verdict_ready(h_gone && h_stream));

    // Whether gn_slot_add takes a beat depends on its number. So that does not go back to the ring
    // in the same cycle.
    gn_skid_buffer #(.WIDTH(258 + BEATS_LOG2)) slice (
        .clk(clk), .rst(rst), .s_data({f_last, f_none, f_number, f_data}), .s_valid(f_valid), .s_ready(f_ready),
        .m_data({v_last, v_none, v_number, v_data}), .m_valid(v_valid), .m_ready(v_ready));

    // ---- judged

    localparam META   = 64 + JOBS_LOG2 + SLOTS_LOG2 + STATE;  // what gn_slot_add has no use for
    localparam ANSWER = META + 2*BEATS_LOG2 + 6;

    wire [4:0]            j_verdict;
    wire                  j_add, j_first, j_read, j_beats, j_dense, j_version, j_valid, judge_room, unused_judge_idle;
    wire [JOBS_LOG2-1:0]  j_index;
    wire [2:0]            j_child, j_last_child;
    wire [SLOTS_LOG2-1:0] j_slot;
    wire [15:0]           j_job, j_gen;
    wire [14:0]           j_slot_field;
    wire [3:0]            j_level;
    wire [STATE-1:0]      j_state;

    wire                  o_add, o_first, o_read, o_beats, o_there, o_valid, o_ready;
    wire [BEATS_LOG2:0]   o_words, o_needed;
    wire [META-1:0]       o_meta;

    gn_slot_judge #(.JOBS_LOG2(JOBS_LOG2), .SLOTS_LOG2(SLOTS_LOG2)) judge (
        .clk(clk), .rst(rst), .cfg_write(cfg_write), .cfg_address(cfg_address), .cfg_data(cfg_data), .cfg_busy(cfg_busy),
        .s_header(h_data), .s_length(h_user[32:16]), .s_port(h_user[15:0]), .s_shimmed(h_user[33]),
        .s_shim(h_user[81:34]), .s_beats(h_beats), .s_bad(h_stream && stream_bad), .s_raw(h_stream && stream_raw), .s_valid(h_valid), .s_ready(h_ready), .room(judge_room),
        .m_verdict(j_verdict), .m_add(j_add), .m_first(j_first), .m_read(j_read), .m_beats(j_beats), .m_dense(j_dense), .m_index(j_index),
        .m_child(j_child), .m_last_child(j_last_child), .m_slot(j_slot), .m_version(j_version), .m_job(j_job), .m_gen(j_gen),
        .m_level(j_level), .m_slot_field(j_slot_field), .m_state(j_state), .m_valid(j_valid));

    // An answer leaves a cycle after it was taken, because o_ready comes late in its cycle.
    reg  answer_gone = 1'b0;
    always @(posedge clk) answer_gone <= !rst && o_valid && o_ready;
    assign o_valid = o_there && !answer_gone;
    gn_credit_counter #(.CREDITS(9), .MOST(1)) judge_credits (
        .clk(clk), .rst(rst), .ok(judge_room), .idle(unused_judge_idle),
        .take({2'd0, h_valid && h_ready}), .give({2'd0, answer_gone}));
    // The beats of its values, and the room that a result of them needs, a cycle ahead. Packed,
    // sums of 32 bits take 134 bytes for 128: up to a sixteenth and a beat more.
    wire [11:0] j_values = j_state[AT_VALUES +: 12];
    wire [11:0] j_words  = {3'd0, j_values[11:3]} + {11'd0, |j_values[2:0]};
    reg  [11:0] k_words;
    reg         k_dense;
    reg  [META+3:0] k_answer;
    reg         k_valid = 1'b0;
    wire [12:0] k_sum    = {k_words, 1'b1} + {4'd0, k_words[11:4] & {8{k_dense}}, k_dense};  // bit 0 carries
    wire [11:0] k_needed = k_sum[12:1];
    wire        unused_k = &{1'b0, k_words, k_needed, k_sum[0]};

    always @(posedge clk) begin
        k_answer <= {j_add, j_first, j_read, j_beats, j_dense, j_verdict, j_index, j_child, j_last_child, j_slot, j_version, j_job,
                     j_gen, j_level, j_slot_field, j_state};
        k_words  <= j_words;
        k_dense  <= j_dense;
        k_valid  <= j_valid && !rst;
    end

    gn_credit_fifo #(.WIDTH(ANSWER), .LOG2(3)) answers (
        .clk(clk), .rst(rst), .s_valid(k_valid), .s_data({k_words[BEATS_LOG2:0], k_needed[BEATS_LOG2:0], k_answer}),
        .m_data({o_words, o_needed, o_add, o_first, o_read, o_beats, o_meta}),
        .m_valid(o_there), .m_ready(answer_gone));

    wire [4:0]            o_verdict;
    wire [JOBS_LOG2-1:0]  unused_o_index;
    wire [2:0]            unused_o_child, unused_o_last_child;
    wire [SLOTS_LOG2-1:0] o_slot;
    wire [15:0]           unused_o_job, unused_o_gen;
    wire [14:0]           unused_o_slot_field;
    wire [3:0]            unused_o_level;
    wire [STATE-1:0]      o_state;
    wire                  o_version, o_dense;
    assign {o_dense, o_verdict, unused_o_index, unused_o_child, unused_o_last_child, o_slot, o_version, unused_o_job, unused_o_gen,
            unused_o_level, unused_o_slot_field, o_state} = o_meta;
    wire unused_o = &{1'b0, o_state};

    // ---- added, and answered

    wire                  ring_announce, reserve, pack_room, pack_idle, pack_begins, pack_moves, e_put, e_end, e_summed, e_overflow;
    wire [BEATS_LOG2+2:0] ring_left;
    wire [BEATS_LOG2:0]   reserve_beats;
    wire [255:0]          e_data;
    wire [BEATS_LOG2-1:0] e_number, e_final;
    wire [BEATS_LOG2+7:0] e_number_wide = {8'd0, e_number}, e_final_wide = {8'd0, e_final};
    wire                  unused_wide = &{1'b0, e_number_wide, e_final_wide};
    wire [31:0]           e_keep;
    wire [META-1:0]       e_meta;

    gn_slot_add #(.SLOTS_LOG2(SLOTS_LOG2), .BEATS_LOG2(BEATS_LOG2), .META_WIDTH(META)) add (
        .clk(clk), .rst(rst), .s_add(o_add), .s_first(o_first), .s_read(o_read), .s_beats(o_beats),
        .s_result(o_verdict == DONE_WHOLE || o_verdict == DONE_REPEATED), .s_dense(o_dense), .s_copy({o_slot, o_version}),
        .s_values(o_state[AT_VALUES +: 12]), .s_words(o_words), .s_needed(o_needed), .s_meta(o_meta), .s_valid(o_valid), .s_ready(o_ready),
        .v_data(v_data), .v_number(v_number), .v_none(v_none), .v_last(v_last), .v_valid(v_valid), .v_ready(v_ready),
        .ring_left(ring_left), .ring_announce(ring_announce), .reserve(reserve), .reserve_beats(reserve_beats),
        .pack_room(pack_room), .pack_idle(pack_idle), .pack_begins(pack_begins), .pack_moves(pack_moves),
        .m_data(e_data), .m_number(e_number), .m_final(e_final), .m_keep(e_keep), .m_put(e_put), .m_end(e_end), .m_summed(e_summed), .m_overflow(e_overflow),
        .m_meta(e_meta));

    wire [4:0]            e_verdict;
    wire [JOBS_LOG2-1:0]  e_index;
    wire [2:0]            e_child, unused_e_last_child;
    wire [SLOTS_LOG2-1:0] e_slot;
    wire [15:0]           unused_e_job, unused_e_gen;
    wire [14:0]           unused_e_slot_field;
    wire [3:0]            unused_e_level;
    wire [STATE-1:0]      e_state;
    wire                  e_version, e_dense;
    assign {e_dense, e_verdict, e_index, e_child, unused_e_last_child, e_slot, e_version, unused_e_job, unused_e_gen,
            unused_e_level, unused_e_slot_field, e_state} = e_meta;
    wire e_poison = e_state[AT_POISON] || e_overflow;

    // ---- results: packed, and sent

    wire                  r_put, r_end, r_summed, r_poison, r_dense, r_version, unused_r_dense;
    wire [255:0]          r_data;
    wire [31:0]           r_keep;
    wire [META-1:0]       r_meta;
    wire [4:0]            r_verdict;
    wire [JOBS_LOG2-1:0]  r_index;
    wire [2:0]            r_child, r_last_child;
    wire [SLOTS_LOG2-1:0] unused_r_slot;
    wire [15:0]           r_job, r_gen;
    wire [14:0]           r_slot_field;
    wire [3:0]            r_level;
    wire [STATE-1:0]      r_state;

    gn_sum_pack #(.META_WIDTH(META)) pack (
        .clk(clk), .rst(rst), .begins(pack_begins), .moves(pack_moves), .room(pack_room), .idle(pack_idle),
        .s_data(e_data), .s_number(e_number_wide[7:0]), .s_final(e_final_wide[7:0]), .s_keep(e_keep), .s_put(e_put), .s_end(e_end),
        .s_result(e_verdict == DONE_WHOLE || e_verdict == DONE_REPEATED), .s_summed(e_summed), .s_poison(e_poison),
        .s_dense(e_dense), .s_meta(e_meta), .m_data(r_data), .m_keep(r_keep), .m_put(r_put), .m_end(r_end),
        .m_summed(r_summed), .m_poison(r_poison), .m_dense(r_dense), .m_meta(r_meta));

    assign {unused_r_dense, r_verdict, r_index, r_child, r_last_child, unused_r_slot, r_version, r_job, r_gen, r_level,
            r_slot_field, r_state} = r_meta;
    wire unused_r = &{1'b0, r_state};

    gn_slot_reader #(.JOBS_LOG2(JOBS_LOG2), .BEATS_LOG2(BEATS_LOG2)) reader (
        .clk(clk), .rst(rst), .cfg_write(cfg_write), .cfg_address(cfg_address), .cfg_data(cfg_data),
        .ring_left(ring_left), .ring_announce(ring_announce), .reserve(reserve), .reserve_beats(reserve_beats),
        .s_data(r_data), .s_keep(r_keep), .s_put(r_put), .s_end(r_end), .s_summed(r_summed), .s_poison(r_poison),
        .s_dense(r_dense), .s_again(r_verdict == DONE_REPEATED), .s_index(r_index), .s_child(r_child),
        .s_last_child(r_last_child), .s_job(r_job), .s_gen(r_gen), .s_level(r_level),
        .s_slot_field({r_version, r_slot_field}), .s_psn(r_state[AT_PSN +: 32]), .s_values(r_state[AT_VALUES +: 12]),
        .s_ecn(r_state[AT_ECN]), .s_late(r_state[AT_LATE]), .s_exponent(r_state[AT_EXPONENT +: 8]),
        .s_next(r_state[AT_NEXT +: 8]),
        .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser),
        .m_axis_tvalid(m_axis_tvalid), .m_axis_tready(m_axis_tready));

    assign event_valid    = e_end;
    assign event_verdict  = e_verdict;
    assign event_poison   = e_poison;
    assign event_index    = e_index;
    assign event_child    = e_child;
    assign event_slot     = e_slot;
    assign event_version  = e_version;
    assign event_used     = e_state[AT_USED];
    assign event_whole    = e_state[AT_WHOLE];
    assign event_psn      = e_state[AT_PSN +: 32];
    assign event_seen     = e_state[AT_SEEN +: 8];
    assign event_values   = e_state[AT_VALUES +: 12];
    assign event_ecn      = e_state[AT_ECN];
    assign event_late     = e_state[AT_LATE];
    assign event_exponent = e_state[AT_EXPONENT +: 8];
    assign event_next     = e_state[AT_NEXT +: 8];
    assign event_priority = e_state[AT_PRIORITY +: 16];

    generate
        if (BUFFER_LOG2 < 4 || BUFFER_LOG2 > 11) begin : g_check
            BUFFER_LOG2_must_be_4_to_11 error();
        end
    endgenerate

endmodule

`resetall
