// SPDX-License-Identifier: Apache-2.0
// Takes frames from the host to the wire (as gn_tx_packet_head() behind
// gn_frame_ethernet_offset()). A packet that falls under a rule leaves with a shim header and its
// values compressed; every other frame leaves as it came. The order stays. Frames are stored whole:
// at most 32 << BUFFER_LOG2 bytes.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_nic_tx #(
    parameter PROFILES    = 7,  // built: bit 0 paper, bit 1 lattice, bit 2 dense
    parameter RULES       = 4,  // 1 to 16
    parameter BUFFER_LOG2 = 10, // 2^BUFFER_LOG2 beats of 32 bytes for frames, and as many for what
                                // the engine makes; 4 to 11
    parameter FLOWS_LOG2  = 0,  // these two as gn_tx_judge says
    parameter [31:0] FLOWS_SEED = 32'h6e6f7661,
    parameter SIDE_WIDTH  = 1   // bits that come with a frame and leave with it
) (
    input  wire                clk,
    input  wire                rst,                 // synchronous, active high

    // What stands when a frame's turn comes decides about it. As gn_tx_judge says
    input  wire                cfg_bypass,
    input  wire [RULES*64-1:0] cfg_rules,
    input  wire [RULES*8-1:0]  cfg_heads,
    input  wire [15:0]         cfg_mtu,

    // Ethernet frames without check sequence: AXI4-Stream (sink)
    input  wire [255:0]        s_axis_tdata,
    input  wire [31:0]         s_axis_tkeep,        // all ones except in the last beat: bytes from
                                                    // bit 0. If there are none the frame is bad
    input  wire                s_axis_tlast,
    // In the last beat: {bad, stored, head[1:0]}. bad: to be dropped. Of a TCP segment, head: bytes
    // up to the first whole value; stored: these are not known. With a table of flows only bad
    // counts.
    input  wire [3:0]          s_axis_tuser,
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

    // For the counters: a pulse for each frame that leaves, in order, on average at most in every
    // second cycle; and a pulse for each frame that was dropped.
    output wire                event_valid,
    output wire [3:0]          event_kind,          // as gn_nic_regs says
    output wire [16:0]         event_length,        // bytes of the frame as it came
    output wire [3:0]          event_rule,          // compressed or stored: as all below
    output wire [14:0]         event_values,        // 0 when stored
    output wire [16:0]         event_payload_bytes, // as it came
    output wire [16:0]         event_wire_bytes,    // as it leaves
    output wire                event_dropped_bad,
    output wire                event_dropped_long,
    output wire                event_flow_added,    // as gn_tcp_flows says
    output wire                event_flow_evicted,
    output wire                event_flow_closed
);

    localparam LOG2 = BUFFER_LOG2;

    // ---- parsed, stored. The side-band goes round the parser

    wire       s_bad, s_stored;
    wire [1:0] s_head;
    assign {s_bad, s_stored, s_head} = s_axis_tuser;

    wire [255:0] p_data;
    wire [31:0]  unused_keep;
    wire         p_last, p_valid, p_ready;
    wire [2:0]   p_code;
    wire [16:0]  p_length, p_end;
    wire [15:0]  p_port, unused_source_port, unused_checksum, unused_sum;
    wire [7:0]   p_tos, p_flags, p_payload;
    wire [6:0]   p_l4;
    wire [63:0]  unused_front;
    wire         p_bad, p_tagged, p_six, p_tcp;
    wire [1:0]   p_flow;
    wire         k_end;
    wire [290:0] k_key;
    wire [1:0]   p_head;
    wire         p_stored, unused_side_valid;

    wire room, parse_ready;  // a frame may end; a beat may come
    assign s_axis_tready = parse_ready && room;
    wire ends = s_axis_tvalid && s_axis_tready && s_axis_tlast;

    gn_frame_parse parse (
        .clk(clk), .rst(rst), .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tlast(s_axis_tlast),
        .s_axis_tuser(s_bad), .s_axis_tvalid(s_axis_tvalid && room), .s_axis_tready(parse_ready),
        .m_axis_tdata(p_data), .m_axis_tkeep(unused_keep), .m_axis_tlast(p_last), .m_axis_tvalid(p_valid),
        .m_axis_tready(p_ready), .m_code(p_code), .m_bad(p_bad), .m_length(p_length), .m_tagged(p_tagged), .m_six(p_six),
        .m_tcp(p_tcp), .m_tos(p_tos), .m_flags(p_flags), .m_source_port(unused_source_port), .m_destination_port(p_port),
        .m_l4(p_l4), .m_payload(p_payload), .m_end(p_end), .m_front(unused_front), .m_checksum(unused_checksum),
        .m_sum(unused_sum), .m_flow(p_flow), .k_end(k_end), .k_key(k_key));
    // no more frames are in the parser than beats, and no more beats than 17
    gn_credit_fifo #(.WIDTH(3), .LOG2(4)) side (
        .clk(clk), .rst(rst), .s_data({s_stored, s_head}), .s_valid(ends),
        .m_data({p_stored, p_head}), .m_valid(unused_side_valid), .m_ready(p_valid && p_ready && p_last));

    wire [LOG2-1:0] t_first, feed_address, frame_address;
    wire [2:0]      t_code;
    wire [16:0]     t_length, t_end;
    wire [15:0]     t_port;
    wire [7:0]      t_tos, t_flags, t_payload;
    wire [6:0]      t_l4;
    wire [1:0]      t_head, t_flow;
    wire            t_gone, t_tagged, t_six, t_tcp, t_stored, t_valid, t_ready;
    wire [255:0]    feed_data, frame_data;
    wire [LOG2:0]   frame_free;

    gn_frame_store #(.LOG2(LOG2), .INFO_WIDTH(92)) frames (
        .clk(clk), .rst(rst), .s_axis_tdata(p_data), .s_axis_tlast(p_last), .s_axis_tvalid(p_valid), .s_axis_tready(p_ready),
        .s_bad(p_bad), .dropped_bad(event_dropped_bad), .dropped_long(event_dropped_long),
        .s_info({p_flow, p_stored, p_head, p_length, p_end, p_payload, p_l4, p_port, p_flags, p_tos, p_tcp, p_six, p_tagged, p_code}),
        .m_info({t_flow, t_stored, t_head, t_length, t_end, t_payload, t_l4, t_port, t_flags, t_tos, t_tcp, t_six, t_tagged, t_code}),
        .m_gone(t_gone), .m_first(t_first), .m_valid(t_valid), .m_ready(t_ready),
        .a_address(feed_address), .a_data(feed_data), .b_address(frame_address), .b_data(frame_data), .free_beats(frame_free));

    // ---- judged. Few wait behind the judge, so that new rules hold soon

    // What goes with a frame all the way: where it and its parts are (along), what the judge says
    // of it (say). Only the feed needs u_start. One that is gone has no length, and passes: the
    // judge is told that it is no packet.
    localparam ALONG_WIDTH = LOG2 + 53;
    localparam SAY_WIDTH   = 75;

    wire [ALONG_WIDTH-1:0]   u_along;
    wire [ALONG_WIDTH-1:0]   t_along, j_along, w_along;
    wire [SAY_WIDTH-1:0]     u_say, j_say, w_say;
    assign t_along = {t_gone, t_first, t_gone ? 17'd0 : t_length, t_end, t_payload, t_l4, t_tagged, t_six, t_tcp};

    wire [3:0]  u_kind, u_rule;
    wire [1:0]  u_profile;
    wire [7:0]  u_bound_exp, u_head;
    wire [14:0] u_values;
    wire [16:0] u_bytes, u_start, u_stop, j_start;
    wire        u_valid, j_valid, unused_judge_idle;
    assign u_say = {u_kind, u_rule, u_profile, u_bound_exp, u_bytes, u_head, u_values, u_stop};

    reg go = 1'b0;  // a judged frame begins: below

    gn_credit_counter #(.CREDITS(7), .MOST(1)) judge_credits (
        .clk(clk), .rst(rst), .ok(t_ready), .idle(unused_judge_idle), .take({2'd0, t_valid && t_ready}),
        .give({2'd0, go}));
    gn_tx_judge #(.PROFILES(PROFILES), .RULES(RULES), .FLOWS_LOG2(FLOWS_LOG2), .FLOWS_SEED(FLOWS_SEED)) judge (
        .clk(clk), .rst(rst), .cfg_bypass(cfg_bypass), .cfg_rules(cfg_rules), .cfg_heads(cfg_heads), .cfg_mtu(cfg_mtu),
        .s_code({t_code[2:1], t_code[0] || t_gone}), .s_tagged(t_tagged), .s_tcp(t_tcp), .s_tos(t_tos), .s_flags(t_flags), .s_port(t_port),
        .s_payload(t_payload), .s_end(t_end), .s_head(t_head), .s_stored(t_stored),
        .s_flow(t_gone ? 2'b00 : t_flow), .s_valid(t_valid && t_ready), .k_key(k_key), .k_valid(k_end),
        .event_flow_added(event_flow_added), .event_flow_evicted(event_flow_evicted), .event_flow_closed(event_flow_closed),
        .m_kind(u_kind), .m_rule(u_rule), .m_profile(u_profile), .m_bound_exp(u_bound_exp), .m_bytes(u_bytes),
        .m_head(u_head), .m_values(u_values), .m_start(u_start), .m_stop(u_stop), .m_valid(u_valid));

    generate
        if (FLOWS_LOG2 == 0) begin : g_side  // beside the judge, which takes four cycles
            reg [4*ALONG_WIDTH-1:0] along;
            always @(posedge clk) along <= {along[3*ALONG_WIDTH-1:0], t_along};
            assign u_along = along[4*ALONG_WIDTH-1:3*ALONG_WIDTH];
        end else begin : g_flows             // which takes as long as the table of flows
            wire unused_there;
            gn_credit_fifo #(.WIDTH(ALONG_WIDTH), .LOG2(3)) along (
                .clk(clk), .rst(rst), .s_data(t_along), .s_valid(t_valid && t_ready),
                .m_data(u_along), .m_valid(unused_there), .m_ready(u_valid));
        end
    endgenerate

    gn_credit_fifo #(.WIDTH(ALONG_WIDTH + SAY_WIDTH + 17), .LOG2(3)) judged (
        .clk(clk), .rst(rst), .s_data({u_along, u_say, u_start}), .s_valid(u_valid),
        .m_data({j_along, j_say, j_start}), .m_valid(j_valid), .m_ready(go));

    // ---- begun. A frame that passes only waits for its turn to leave. Every other frame is read
    // for its sums first. For one to be compressed room is reserved: one byte less than its values
    // have, because what is not shorter than they are does not pay.

    wire [LOG2-1:0] j_first;
    wire [16:0]     j_length, j_end, j_bytes, j_stop;
    wire [14:0]     j_values;
    wire [7:0]      j_payload, j_bound_exp, j_head;
    wire [6:0]      j_l4;
    wire [3:0]      j_kind, j_rule;
    wire [1:0]      j_profile;
    wire            j_gone, j_tagged, j_six, j_tcp;
    wire            unused_j = &{1'b0, j_gone, j_length, j_rule, j_bytes, j_head};
    assign {j_gone, j_first, j_length, j_end, j_payload, j_l4, j_tagged, j_six, j_tcp} = j_along;
    assign {j_kind, j_rule, j_profile, j_bound_exp, j_bytes, j_head, j_values, j_stop} = j_say;

    wire        j_pass   = j_kind[3:2] != 2'd0;  // 4 and above
    wire        j_engine = j_kind == 4'd0;       // compressed
    wire        may_wait, unused_wait_idle, feed_ready, unused_reserve_ready, reserve_soon;
    wire        clear = j_valid && may_wait && (j_pass || feed_ready);

    // A cycle after it is known that nothing hinders, which stays so: many registers load by it. So
    // one begins in two cycles; for the engine one in three, as gn_result_store reserves.
    always @(posedge clk) go <= clear && !go && (!j_engine || reserve_soon) && !rst;

    wire [255:0] v_data;
    wire [31:0]  v_keep;
    wire         v_last, v_valid, v_ready;
    wire [9:0]   v_user;
    wire [15:0]  f_lead, f_rest, f_tail, unused_field;
    wire         f_valid;

    gn_frame_feed #(.LOG2(LOG2), .USER_WIDTH(10)) feed (
        .clk(clk), .rst(rst), .s_first(j_first), .s_tagged(j_tagged), .s_six(j_six), .s_tcp(j_tcp), .s_l4(j_l4), .s_payload(j_payload),
        .s_from({9'd0, j_payload}), .s_start(j_start), .s_stop(j_stop), .s_end(j_end), .s_engine(j_engine),
        .s_user({j_bound_exp, j_profile}), .s_valid(go && !j_pass), .s_ready(feed_ready),
        .address(feed_address), .data(feed_data),
        .m_axis_tdata(v_data), .m_axis_tkeep(v_keep), .m_axis_tlast(v_last), .m_axis_tuser(v_user), .m_axis_tvalid(v_valid),
        .m_axis_tready(v_ready),
        .sums_lead(f_lead), .sums_rest(f_rest), .sums_tail(f_tail), .sums_field(unused_field), .sums_valid(f_valid));

    wire [255:0] c_data;
    wire [31:0]  c_keep;
    wire         c_last, c_valid;
    wire [4:0]   unused_count;

    gn_stream_compress #(.PROFILES(PROFILES), .COUNT_WIDTH(5)) engine (
        .clk(clk), .rst(rst), .s_axis_tdata(v_data), .s_axis_tkeep(v_keep), .s_axis_tlast(v_last), .s_axis_tuser(v_user),
        .s_axis_tvalid(v_valid), .s_axis_tready(v_ready), .m_axis_tdata(c_data), .m_axis_tkeep(c_keep), .m_axis_tlast(c_last),
        .m_axis_tuser(unused_count), .m_axis_tvalid(c_valid), .m_axis_tready(1'b1));

    wire [LOG2-1:0] r_first, result_address;
    wire [16:0]     r_bytes;
    wire            r_kept, unused_bad, r_valid, r_ready;
    wire [15:0]     r_sum;
    wire [255:0]    result_data;
    wire [LOG2:0]   result_free;

    gn_result_store #(.LOG2(LOG2)) results (
        .clk(clk), .rst(rst), .reserve_bytes({j_values, 2'd0} - 17'd1), .reserve_valid(clear && j_engine),
        .reserve_soon(reserve_soon), .reserve_ready(unused_reserve_ready),
        .s_data(c_data), .s_keep(c_keep), .s_last(c_last), .s_bad(1'b0), .s_valid(c_valid),
        .m_first(r_first), .m_bytes(r_bytes), .m_kept(r_kept), .m_bad(unused_bad), .m_sum(r_sum), .m_valid(r_valid), .m_ready(r_ready),
        .address(result_address), .data(result_data), .free_beats(result_free));

    // ---- waiting, until sums and result are there: then all that leaves is known

    wire [LOG2-1:0] w_first;
    wire [16:0]     w_length, w_end, w_bytes, w_stop;
    wire [14:0]     w_values;
    wire [7:0]      w_payload, w_bound_exp, w_head;
    wire [6:0]      w_l4;
    wire [3:0]      w_kind, w_rule;
    wire [1:0]      w_profile;
    wire            w_gone, w_tagged, w_six, w_tcp, w_valid, w_ready;
    wire [15:0]     w_lead, w_rest, w_tail;
    wire            sums_valid, sums_ready;
    assign {w_gone, w_first, w_length, w_end, w_payload, w_l4, w_tagged, w_six, w_tcp} = w_along;
    assign {w_kind, w_rule, w_profile, w_bound_exp, w_bytes, w_head, w_values, w_stop} = w_say;

    gn_credit_counter #(.CREDITS(17), .MOST(1)) wait_credits (
        .clk(clk), .rst(rst), .ok(may_wait), .idle(unused_wait_idle), .take({2'd0, go}), .give({2'd0, w_ready}));
    gn_credit_fifo #(.WIDTH(ALONG_WIDTH + SAY_WIDTH), .LOG2(4)) waiting (
        .clk(clk), .rst(rst), .s_data({j_along, j_say}), .s_valid(go), .m_data({w_along, w_say}), .m_valid(w_valid), .m_ready(w_ready));
    gn_credit_fifo #(.WIDTH(48), .LOG2(4)) sums (
        .clk(clk), .rst(rst), .s_data({f_lead, f_rest, f_tail}), .s_valid(f_valid),
        .m_data({w_lead, w_rest, w_tail}), .m_valid(sums_valid), .m_ready(sums_ready));

    wire [LOG2-1:0] o_first, o_result_first;
    wire [63:0]     o_shim;
    wire [16:0]     o_length, o_end, o_bytes, o_result_bytes, o_tail;
    wire [15:0]     o_sum_lead, o_sum_result, o_sum_tail;
    wire [7:0]      o_payload;
    wire [6:0]      o_l4;
    wire [1:0]      o_tail_bytes;
    wire            o_drop, o_tagged, o_six, o_tcp, o_pass, o_valid, o_ready;

    gn_tx_job #(.LOG2(LOG2)) job (
        .clk(clk), .rst(rst), .s_gone(w_gone), .s_first(w_first), .s_length(w_length), .s_end(w_end), .s_payload(w_payload), .s_l4(w_l4),
        .s_tagged(w_tagged), .s_six(w_six), .s_tcp(w_tcp), .s_kind(w_kind), .s_rule(w_rule), .s_profile(w_profile),
        .s_bound_exp(w_bound_exp), .s_bytes(w_bytes), .s_head(w_head), .s_values(w_values), .s_stop(w_stop),
        .s_valid(w_valid), .s_ready(w_ready),
        .sums_lead(w_lead), .sums_rest(w_rest), .sums_tail(w_tail), .sums_valid(sums_valid), .sums_ready(sums_ready),
        .result_first(r_first), .result_bytes(r_bytes), .result_kept(r_kept), .result_sum(r_sum), .result_valid(r_valid),
        .result_ready(r_ready),
        .m_drop(o_drop), .m_first(o_first), .m_length(o_length), .m_end(o_end), .m_payload(o_payload), .m_l4(o_l4), .m_tagged(o_tagged),
        .m_six(o_six), .m_tcp(o_tcp), .m_pass(o_pass), .m_shim(o_shim), .m_bytes(o_bytes), .m_result_first(o_result_first),
        .m_result_bytes(o_result_bytes), .m_tail(o_tail), .m_tail_bytes(o_tail_bytes), .m_sum_lead(o_sum_lead),
        .m_sum_result(o_sum_result), .m_sum_tail(o_sum_tail), .m_valid(o_valid), .m_ready(o_ready),
        .event_valid(event_valid), .event_kind(event_kind), .event_length(event_length), .event_rule(event_rule),
        .event_values(event_values), .event_payload_bytes(event_payload_bytes), .event_wire_bytes(event_wire_bytes));

    // ---- assembled

    wire a_valid, a_ready;

    gn_frame_assemble #(.LOG2(LOG2)) assemble (
        .clk(clk), .rst(rst), .s_first(o_first), .s_length(o_length), .s_drop(o_drop), .s_pass(o_pass), .s_tagged(o_tagged), .s_six(o_six),
        .s_tcp(o_tcp), .s_l4(o_l4), .s_payload(o_payload), .s_end(o_end), .s_shim_valid(1'b1), .s_shim(o_shim),
        .s_from({9'd0, o_payload}), .s_bytes(o_bytes), .s_result_first(o_result_first), .s_result_bytes(o_result_bytes),
        .s_tail(o_tail), .s_tail_bytes(o_tail_bytes), .s_sum_lead(o_sum_lead), .s_sum_result(o_sum_result), .s_sum_tail(o_sum_tail),
        .s_valid(o_valid), .s_ready(o_ready),
        .frame_address(frame_address), .frame_data(frame_data), .frame_free(frame_free),
        .result_address(result_address), .result_data(result_data), .result_free(result_free),
        .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tlast(m_axis_tlast), .m_axis_tvalid(a_valid),
        .m_axis_tready(a_ready));
    gn_frame_tokens #(.SIDE_WIDTH(SIDE_WIDTH)) tokens (
        .clk(clk), .rst(rst), .room(room), .s_side(s_axis_side), .s_end(ends), .job_drop(o_drop), .job_pass(o_pass), .job_length(o_length),
        .job_payload(o_payload), .job_shim_valid(1'b1), .job_bytes(o_bytes), .job_result_bytes(o_result_bytes),
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
