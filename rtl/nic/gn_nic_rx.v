// SPDX-License-Identifier: Apache-2.0
// Takes frames from the wire to the host (as gn_rx_packet() behind gn_frame_ethernet_offset()). A
// packet with a shim header gets its payload back; a malformed one is dropped; every other frame
// leaves as it came. The order stays. A frame has at most 32 << BUFFER_LOG2 bytes, before and
// after.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_nic_rx #(
    parameter PROFILES    = 7,  // built: bit 0 paper, bit 1 lattice, bit 2 dense
    parameter RULES       = 4,
    parameter BUFFER_LOG2 = 10, // 2^BUFFER_LOG2 beats of 32 bytes for frames, and as many for what
                                // the engine makes; 4 to 11
    parameter RESULT_LOG2 = BUFFER_LOG2,  // of what the engine makes: at least that. With one more,
                                          // values as long as the buffer come at the full rate
    parameter SIDE_WIDTH  = 1   // bits that come with a frame and leave with it
) (
    input  wire                clk,
    input  wire                rst,                 // synchronous, active high

    // What stands when a frame's turn comes decides about it. As gn_rx_judge says
    input  wire                cfg_bypass,
    input  wire [RULES*64-1:0] cfg_rules,
    input  wire [15:0]         cfg_max_restored,

    // Ethernet frames without check sequence: AXI4-Stream (sink)
    input  wire [255:0]        s_axis_tdata,
    input  wire [31:0]         s_axis_tkeep,        // all ones except in the last beat: bytes from
                                                    // bit 0. If there are none the frame is bad
    input  wire                s_axis_tlast,
    input  wire                s_axis_tuser,        // in the last beat: bad, to be dropped
    input  wire [SIDE_WIDTH-1:0] s_axis_side,       // in the last beat: what leaves with the frame
    input  wire                s_axis_tvalid,
    output wire                s_axis_tready,

    // Ethernet frames without check sequence: AXI4-Stream (source)
    output wire [255:0]        m_axis_tdata,
    output wire [31:0]         m_axis_tkeep,
    output wire                m_axis_tlast,
    output wire [SIDE_WIDTH-1:0] m_axis_side,       // in all beats: what came with the frame
    output wire [16:0]         m_axis_length,       // in all beats: bytes of the frame
    output wire                m_axis_tvalid,
    input  wire                m_axis_tready,

    // Each frame that does not leave, in its turn: when all before it have left, and before the
    // next one does. Nothing leaves until it is taken.
    output wire [SIDE_WIDTH-1:0] drop_side,         // what came with it
    output wire                drop_valid,
    input  wire                drop_ready,

    // For the counters: a pulse for each frame, in order, at most in every second cycle; and a
    // pulse for each frame that the store dropped.
    output wire                event_valid,
    output wire [4:0]          event_kind,          // as gn_nic_regs says
    output wire [16:0]         event_length,        // bytes of the frame as it came
    output wire [15:0]         event_wire_bytes,    // restored: payload as it came
    output wire [15:0]         event_payload_bytes, // and as it leaves
    output wire                event_dropped_bad,
    output wire                event_dropped_long
);

    localparam LOG2 = BUFFER_LOG2;

    // ---- parsed, stored

    wire [255:0] p_data;
    wire [31:0]  unused_keep;
    wire         p_last, p_valid, p_ready;
    wire [2:0]   p_code;
    wire [16:0]  p_length, p_end;
    wire [15:0]  p_checksum, p_sum, unused_source_port, unused_destination_port;
    wire [7:0]   p_tos, p_payload, unused_flags;
    wire [6:0]   p_l4;
    wire [63:0]  p_front;
    wire         p_bad, p_tagged, p_six, p_tcp;
    wire [1:0]   unused_flow;  // the table of TCP flows is the other direction's
    wire         unused_k_end;
    wire [290:0] unused_k_key;

    wire room, parse_ready;  // a frame may end; a beat may come
    assign s_axis_tready = parse_ready && room;
    wire ends = s_axis_tvalid && s_axis_tready && s_axis_tlast;

    gn_frame_parse parse (
        .clk(clk), .rst(rst), .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tlast(s_axis_tlast),
        .s_axis_tuser(s_axis_tuser), .s_axis_tvalid(s_axis_tvalid && room), .s_axis_tready(parse_ready),
        .m_axis_tdata(p_data), .m_axis_tkeep(unused_keep), .m_axis_tlast(p_last), .m_axis_tvalid(p_valid),
        .m_axis_tready(p_ready), .m_code(p_code), .m_bad(p_bad), .m_length(p_length), .m_tagged(p_tagged), .m_six(p_six),
        .m_tcp(p_tcp), .m_tos(p_tos), .m_flags(unused_flags), .m_source_port(unused_source_port),
        .m_destination_port(unused_destination_port), .m_l4(p_l4), .m_payload(p_payload), .m_end(p_end), .m_front(p_front),
        .m_checksum(p_checksum), .m_sum(p_sum),
        .m_flow(unused_flow), .k_end(unused_k_end), .k_key(unused_k_key));

    wire [LOG2-1:0] t_first, feed_address, frame_address;
    wire [2:0]      t_code;
    wire [16:0]     t_length, t_end;
    wire [15:0]     t_checksum, t_sum;
    wire [7:0]      t_tos, t_payload;
    wire [6:0]      t_l4;
    wire [63:0]     t_front;  // the payload's first 8 bytes
    wire            t_gone, t_tagged, t_six, t_tcp, t_valid, t_ready;
    wire [255:0]    feed_data, frame_data;
    wire [LOG2:0]   frame_free;

    gn_frame_store #(.LOG2(LOG2), .INFO_WIDTH(159)) frames (
        .clk(clk), .rst(rst), .s_axis_tdata(p_data), .s_axis_tlast(p_last), .s_axis_tvalid(p_valid), .s_axis_tready(p_ready),
        .s_bad(p_bad), .dropped_bad(event_dropped_bad), .dropped_long(event_dropped_long),
        .s_info({p_sum, p_checksum, p_front, p_length, p_end, p_payload, p_l4, p_tos, p_tcp, p_six, p_tagged, p_code}),
        .m_info({t_sum, t_checksum, t_front, t_length, t_end, t_payload, t_l4, t_tos, t_tcp, t_six, t_tagged, t_code}),
        .m_gone(t_gone), .m_first(t_first), .m_valid(t_valid), .m_ready(t_ready),
        .a_address(feed_address), .a_data(feed_data), .b_address(frame_address), .b_data(frame_data), .free_beats(frame_free));

    // ---- judged. Few wait behind the judge, so that new rules hold soon

    // What goes with a frame all the way: where it and its parts are (along), what the judge says
    // of it (say). Only the engine needs its setting (user). One that is gone has no length, and
    // passes: the judge is told that it is no packet.
    localparam ALONG_WIDTH = LOG2 + 53;
    localparam SAY_WIDTH   = 73;
    localparam USER_WIDTH  = 24;

    reg  [5*ALONG_WIDTH-1:0] along;  // beside the judge, which takes five cycles
    wire [ALONG_WIDTH-1:0]   t_along, j_along, w_along;
    wire [SAY_WIDTH-1:0]     u_say, j_say, w_say;
    wire [USER_WIDTH-1:0]    u_user, j_user, v_user;
    assign t_along = {t_gone, t_first, t_gone ? 17'd0 : t_length, t_end, t_payload, t_l4, t_tagged, t_six, t_tcp};

    wire [4:0]  u_outcome;
    wire [1:0]  u_profile;
    wire [7:0]  u_bound_exp;
    wire [13:0] u_values;
    wire [15:0] u_bytes;
    wire [16:0] u_from, u_start, u_stop;
    wire        u_engine, u_valid, j_valid, unused_judge_idle;
    assign u_say  = {u_outcome, u_engine, u_bytes, u_from, u_start, u_stop};
    assign u_user = {u_values, u_bound_exp, u_profile};

    reg go = 1'b0;  // a judged frame begins: below

    gn_credit_counter #(.CREDITS(9), .MOST(1)) judge_credits (
        .clk(clk), .rst(rst), .ok(t_ready), .idle(unused_judge_idle), .take({2'd0, t_valid && t_ready}),
        .give({2'd0, go}));
    gn_rx_judge #(.PROFILES(PROFILES), .RULES(RULES), .LOG2(LOG2)) judge (
        .clk(clk), .rst(rst), .cfg_bypass(cfg_bypass), .cfg_rules(cfg_rules), .cfg_max_restored(cfg_max_restored),
        .s_code({t_code[2:1], t_code[0] || t_gone}), .s_tagged(t_tagged), .s_tcp(t_tcp), .s_tos(t_tos), .s_payload(t_payload), .s_end(t_end), .s_front(t_front),
        .s_checksum(t_checksum), .s_sum(t_sum), .s_valid(t_valid && t_ready),
        .m_outcome(u_outcome), .m_engine(u_engine), .m_profile(u_profile), .m_bound_exp(u_bound_exp), .m_values(u_values),
        .m_from(u_from), .m_start(u_start), .m_stop(u_stop), .m_bytes(u_bytes), .m_valid(u_valid));

    always @(posedge clk) along <= {along[4*ALONG_WIDTH-1:0], t_along};

    gn_credit_fifo #(.WIDTH(ALONG_WIDTH + SAY_WIDTH + USER_WIDTH), .LOG2(3)) judged (
        .clk(clk), .rst(rst), .s_data({along[5*ALONG_WIDTH-1:4*ALONG_WIDTH], u_say, u_user}), .s_valid(u_valid),
        .m_data({j_along, j_say, j_user}), .m_valid(j_valid), .m_ready(go));

    // ---- begun. A frame that passes or is dropped only waits for its turn. Every other frame is
    // read for its sums first. For a stream, room is reserved for its values.

    wire [LOG2-1:0] j_first;
    wire [16:0]     j_length, j_end, j_from, j_start, j_stop;
    wire [15:0]     j_bytes;
    wire [7:0]      j_payload;
    wire [6:0]      j_l4;
    wire [4:0]      j_outcome;
    wire [13:0]     j_values;
    wire [9:0]      unused_setting;
    wire            j_gone, j_tagged, j_six, j_tcp, j_engine;
    wire            unused_j = &{1'b0, j_gone, j_length, j_bytes, j_outcome};
    assign {j_gone, j_first, j_length, j_end, j_payload, j_l4, j_tagged, j_six, j_tcp} = j_along;
    assign {j_outcome, j_engine, j_bytes, j_from, j_start, j_stop} = j_say;
    assign {j_values, unused_setting} = j_user;

    wire        j_read = j_outcome[4:2] == 3'd1;  // 4 to 7: to be restored
    wire        may_wait, unused_wait_idle, feed_ready, unused_reserve_ready, reserve_soon;
    wire        clear = j_valid && may_wait && (!j_read || feed_ready);

    // as in gn_nic_tx
    always @(posedge clk) go <= clear && !go && (!j_engine || reserve_soon) && !rst;

    wire [255:0] v_data;
    wire [31:0]  v_keep;
    wire         v_last, v_valid, v_ready;
    wire [15:0]  f_lead, unused_rest, f_tail, unused_field;
    wire         f_valid;

    gn_frame_feed #(.LOG2(LOG2), .USER_WIDTH(USER_WIDTH)) feed (
        .clk(clk), .rst(rst), .s_first(j_first), .s_tagged(j_tagged), .s_six(j_six), .s_tcp(j_tcp), .s_l4(j_l4), .s_payload(j_payload),
        .s_from(j_from), .s_start(j_start), .s_stop(j_stop), .s_end(j_end), .s_engine(j_engine),
        .s_user(j_user), .s_valid(go && j_read), .s_ready(feed_ready),
        .address(feed_address), .data(feed_data),
        .m_axis_tdata(v_data), .m_axis_tkeep(v_keep), .m_axis_tlast(v_last), .m_axis_tuser(v_user), .m_axis_tvalid(v_valid),
        .m_axis_tready(v_ready),
        .sums_lead(f_lead), .sums_rest(unused_rest), .sums_tail(f_tail), .sums_field(unused_field), .sums_valid(f_valid));

    wire [255:0] c_data;
    wire [31:0]  c_keep;
    wire         c_last, c_bad, c_valid;

    gn_stream_decompress #(.PROFILES(PROFILES), .COUNT_WIDTH(14)) engine (
        .clk(clk), .rst(rst), .s_axis_tdata(v_data), .s_axis_tkeep(v_keep), .s_axis_tlast(v_last), .s_axis_tuser(v_user),
        .s_axis_tvalid(v_valid), .s_axis_tready(v_ready), .m_axis_tdata(c_data), .m_axis_tkeep(c_keep), .m_axis_tlast(c_last),
        .m_axis_tuser(c_bad), .m_axis_tvalid(c_valid), .m_axis_tready(1'b1));

    wire [RESULT_LOG2-1:0] r_first, result_address;
    wire [16:0]     r_bytes;
    wire            r_kept, unused_bad, r_valid, r_ready;
    wire [15:0]     r_sum;
    wire [255:0]    result_data;
    wire [RESULT_LOG2:0] result_free;

    gn_result_store #(.LOG2(RESULT_LOG2)) results (
        .clk(clk), .rst(rst), .reserve_bytes({1'b0, j_values, 2'd0}), .reserve_valid(clear && j_engine),
        .reserve_soon(reserve_soon), .reserve_ready(unused_reserve_ready),
        .s_data(c_data), .s_keep(c_keep), .s_last(c_last), .s_bad(c_bad), .s_valid(c_valid),
        .m_first(r_first), .m_bytes(r_bytes), .m_kept(r_kept), .m_bad(unused_bad), .m_sum(r_sum), .m_valid(r_valid), .m_ready(r_ready),
        .address(result_address), .data(result_data), .free_beats(result_free));

    // ---- waiting until sums and values are there: then all that leaves is known. A frame every
    // second cycle, as the counters want it

    wire [LOG2-1:0] w_first;
    wire [16:0]     w_length, w_end, w_from, w_start, w_stop;
    wire [15:0]     w_bytes, w_lead, w_tail;
    wire [7:0]      w_payload;
    wire [6:0]      w_l4;
    wire [4:0]      w_outcome;
    wire            w_gone, w_tagged, w_six, w_tcp, w_engine, w_valid, sums_valid;
    reg             w_ready = 1'b0;  // as `go`: a cycle after all is there, and room
    assign {w_gone, w_first, w_length, w_end, w_payload, w_l4, w_tagged, w_six, w_tcp} = w_along;
    assign {w_outcome, w_engine, w_bytes, w_from, w_start, w_stop} = w_say;

    wire w_read   = w_outcome[4:2] == 3'd1;
    wire complete = w_valid && (!w_read || sums_valid) && (!w_engine || r_valid);

    reg             o_valid = 1'b0;
    wire            o_ready;
    reg [LOG2-1:0]  o_first;
    reg [RESULT_LOG2-1:0] o_result_first;
    reg [16:0]      o_length, o_end, o_from, o_bytes, o_result_bytes, o_tail;
    reg [15:0]      o_lead, o_sum_result, o_sum_tail, o_wire_bytes, o_payload_bytes;
    reg [7:0]       o_payload;
    reg [6:0]       o_l4;
    reg [4:0]       o_outcome;
    reg [1:0]       o_tail_bytes;
    reg             o_gone, o_tagged, o_six, o_tcp, o_drop, o_pass;

    assign r_ready = w_ready && w_engine;

    wire lost = w_engine && !r_kept;  // the stream is not what it should be

    gn_credit_counter #(.CREDITS(17), .MOST(1)) wait_credits (
        .clk(clk), .rst(rst), .ok(may_wait), .idle(unused_wait_idle), .take({2'd0, go}), .give({2'd0, w_ready}));
    gn_credit_fifo #(.WIDTH(ALONG_WIDTH + SAY_WIDTH), .LOG2(4)) waiting (
        .clk(clk), .rst(rst), .s_data({j_along, j_say}), .s_valid(go), .m_data({w_along, w_say}), .m_valid(w_valid), .m_ready(w_ready));
    gn_credit_fifo #(.WIDTH(32), .LOG2(4)) sums (
        .clk(clk), .rst(rst), .s_data({f_lead, f_tail}), .s_valid(f_valid),
        .m_data({w_lead, w_tail}), .m_valid(sums_valid), .m_ready(w_ready && w_read));

    wire [16:0] w_wire_bytes = w_end - {9'd0, w_payload};
    wire [16:0] w_head       = w_start - w_from;
    wire        unused_w     = &{1'b0, w_wire_bytes[16]};

    always @(posedge clk) begin
        if (!o_valid) begin
            o_gone          <= w_gone;
            o_first         <= w_first;
            o_length        <= w_length;
            o_end           <= w_end;
            o_payload       <= w_payload;
            o_l4            <= w_l4;
            o_tagged        <= w_tagged;
            o_six           <= w_six;
            o_tcp           <= w_tcp;
            o_outcome       <= lost ? 5'd16 : w_outcome;
            o_drop          <= lost || w_gone || w_outcome[4:3] != 2'd0;  // 8 and above
            o_pass          <= w_outcome[4:1] == 4'd1;          // 2, 3
            o_from          <= w_from;
            o_bytes         <= w_engine ? w_head : {1'b0, w_bytes};
            o_result_first  <= r_first;
            o_result_bytes  <= w_engine && !lost ? r_bytes : 17'd0;
            o_tail          <= w_stop;
            o_tail_bytes    <= w_end[1:0] - w_stop[1:0];
            o_lead          <= w_lead;
            o_sum_result    <= w_engine ? r_sum : 16'd0;
            o_sum_tail      <= w_tail;
            o_wire_bytes    <= w_wire_bytes[15:0];
            o_payload_bytes <= w_bytes;
        end
        w_ready <= complete && !w_ready && (!o_valid || o_ready) && !rst;
        o_valid <= o_valid ? !o_ready : w_ready;
        if (rst) o_valid <= 1'b0;
    end

    assign event_valid         = o_valid && o_ready && !o_gone;
    assign event_kind          = o_outcome;
    assign event_length        = o_length;
    assign event_wire_bytes    = o_wire_bytes;
    assign event_payload_bytes = o_payload_bytes;

    // ---- assembled

    wire a_valid, a_ready;

    gn_frame_assemble #(.LOG2(LOG2), .RESULT_LOG2(RESULT_LOG2)) assemble (
        .clk(clk), .rst(rst), .s_first(o_first), .s_length(o_length), .s_drop(o_drop), .s_pass(o_pass), .s_tagged(o_tagged),
        .s_six(o_six), .s_tcp(o_tcp), .s_l4(o_l4), .s_payload(o_payload), .s_end(o_end), .s_shim_valid(1'b0), .s_shim(64'd0),
        .s_from(o_from), .s_bytes(o_bytes), .s_result_first(o_result_first), .s_result_bytes(o_result_bytes),
        .s_tail(o_tail), .s_tail_bytes(o_tail_bytes), .s_sum_lead(o_lead), .s_sum_result(o_sum_result), .s_sum_tail(o_sum_tail),
        .s_valid(o_valid), .s_ready(o_ready),
        .frame_address(frame_address), .frame_data(frame_data), .frame_free(frame_free),
        .result_address(result_address), .result_data(result_data), .result_free(result_free),
        .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tlast(m_axis_tlast), .m_axis_tvalid(a_valid),
        .m_axis_tready(a_ready));
    gn_frame_tokens #(.SIDE_WIDTH(SIDE_WIDTH)) tokens (
        .clk(clk), .rst(rst), .room(room), .s_side(s_axis_side), .s_end(ends), .job_drop(o_drop), .job_pass(o_pass), .job_length(o_length),
        .job_payload(o_payload), .job_shim_valid(1'b0), .job_bytes(o_bytes), .job_result_bytes(o_result_bytes),
        .job_tail_bytes(o_tail_bytes), .job_taken(o_valid && o_ready), .a_tlast(m_axis_tlast), .a_tvalid(a_valid), .a_tready(a_ready),
        .m_side(m_axis_side), .m_length(m_axis_length), .m_tvalid(m_axis_tvalid), .m_tready(m_axis_tready),
        .drop_side(drop_side), .drop_valid(drop_valid), .drop_ready(drop_ready));

    generate
        if (BUFFER_LOG2 < 4 || BUFFER_LOG2 > 11) begin : g_check
            BUFFER_LOG2_must_be_4_to_11 error();
        end
    endgenerate

endmodule

`resetall
