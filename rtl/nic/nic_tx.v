// SPDX-License-Identifier: Apache-2.0
// Frames from the host to the wire: packets that fall under a rule leave with a shim header and their values compressed, all others as they
// came, in their order (as gn_tx_packet_head() behind gn_frame_ethernet_offset()). Frames are stored whole, at most 32 << BUFFER_LOG2 bytes.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module nic_tx #(
    parameter PROFILES    = 7,  // bit 0 paper, bit 1 lattice, bit 2 dense
    parameter RULES       = 4,  // 1 to 16
    parameter BUFFER_LOG2 = 10  // beats of 32 bytes for frames, and as many for what the engine makes: 2^BUFFER_LOG2; 4 to 11
) (
    input  wire                clk,
    input  wire                rst,                 // synchronous, active high

    // a frame is judged by what stands when its turn comes; as tx_judge says
    input  wire                cfg_bypass,
    input  wire [RULES*64-1:0] cfg_rules,
    input  wire [RULES*8-1:0]  cfg_heads,

    // Ethernet frames without check sequence: AXI4-Stream (sink)
    input  wire [255:0]        s_axis_tdata,
    input  wire [31:0]         s_axis_tkeep,        // all ones but in the last beat: bytes from bit 0; if there are none the frame is bad
    input  wire                s_axis_tlast,
    input  wire [3:0]          s_axis_tuser,        // in the last beat: {bad, stored, head}. TCP: head: bytes up to the first whole value;
                                                    // stored: not known. bad: to be dropped
    input  wire                s_axis_tvalid,
    output wire                s_axis_tready,

    // Ethernet frames without check sequence: AXI4-Stream (source)
    output wire [255:0]        m_axis_tdata,
    output wire [31:0]         m_axis_tkeep,
    output wire                m_axis_tlast,
    output wire                m_axis_tvalid,
    input  wire                m_axis_tready,

    // what the counters need: a pulse for each frame that leaves, in order, on average at most in every
    // second cycle; and for each that was dropped
    output wire                event_valid,
    output wire [3:0]          event_kind,          // 0 compressed. Stored, because it 1 would not get shorter, 2 its flow's SYN was not
                                                    // seen, 3 it is a SYN. Passed: 4 bypass, 5 no rule, 6 not IP or not whole, 7 fragment,
                                                    // 8 extension header, 9 protocol, 10 no payload, 11 too big
    output wire [16:0]         event_length,        // bytes of the frame as it came
    output wire [3:0]          event_rule,          // of frames that do not pass, as all below
    output wire [14:0]         event_values,        // compressed
    output wire [16:0]         event_payload_bytes, // as it came
    output wire [16:0]         event_wire_bytes,    // as it leaves
    output wire                event_dropped_bad,
    output wire                event_dropped_long
);

    localparam LOG2 = BUFFER_LOG2;

    // ---- parsed, stored. The side-band goes round the parser

    wire [255:0] p_data;
    wire [201:0] p_parse;
    wire         unused_parse = &{1'b0, p_parse[201:106]};
    wire [31:0]  unused_keep;
    wire         p_last, p_valid, p_ready;
    wire [2:0]   p_side;
    wire         unused_side_valid;

    frame_parse parse (
        .clk(clk), .rst(rst), .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tlast(s_axis_tlast),
        .s_axis_tuser(s_axis_tuser[3]), .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready),
        .m_axis_tdata(p_data), .m_axis_tkeep(unused_keep), .m_axis_tlast(p_last), .m_axis_tuser(p_parse), .m_axis_tvalid(p_valid),
        .m_axis_tready(p_ready));
    // no more frames are in the parser than beats, and no more beats than 17
    credit_fifo #(.WIDTH(3), .LOG2(4)) side (
        .clk(clk), .rst(rst), .s_data(s_axis_tuser[2:0]), .s_valid(s_axis_tvalid && s_axis_tready && s_axis_tlast),
        .m_data(p_side), .m_valid(unused_side_valid), .m_ready(p_valid && p_ready && p_last));

    wire [LOG2-1:0] t_first, feed_address, frame_address;
    wire [105:0]    t_parse;
    wire [2:0]      t_side;
    wire            t_valid, t_ready;
    wire [255:0]    feed_data, frame_data;
    wire [LOG2:0]   frame_free;

    frame_store #(.LOG2(LOG2), .INFO_WIDTH(109)) frames (
        .clk(clk), .rst(rst), .s_axis_tdata(p_data), .s_axis_tlast(p_last), .s_axis_tvalid(p_valid), .s_axis_tready(p_ready),
        .s_bad(p_parse[3]), .s_info({p_side, p_parse[105:0]}), .dropped_bad(event_dropped_bad), .dropped_long(event_dropped_long),
        .m_first(t_first), .m_info({t_side, t_parse}), .m_valid(t_valid), .m_ready(t_ready),
        .a_address(feed_address), .a_data(feed_data), .b_address(frame_address), .b_data(frame_data), .free_beats(frame_free));

    // ---- judged. Few wait behind the judge, so that new rules hold soon

    // of a frame, all the way: first beat, length, end of the packet, payload, L4 header, VLAN tag, IPv6, TCP
    localparam ALONG_WIDTH = LOG2 + 52;
    // what the judge says: kind, rule, profile, bound_exp, bytes, head, values, stop
    localparam SAY_WIDTH   = 75;

    reg  [4*ALONG_WIDTH-1:0] along;  // beside the judge
    wire [ALONG_WIDTH-1:0]   j_along;
    wire [SAY_WIDTH-1:0]     u_say, j_say;
    wire [16:0]              u_start, j_start;
    wire                     u_valid, j_valid, unused_judge_idle;

    reg go = 1'b0;  // a judged frame begins: below

    credit_counter #(.CREDITS(7), .MOST(1)) judge_credits (
        .clk(clk), .rst(rst), .ok(t_ready), .idle(unused_judge_idle), .take({2'd0, t_valid && t_ready}),
        .give({2'd0, go}));
    tx_judge #(.PROFILES(PROFILES), .RULES(RULES)) judge (
        .clk(clk), .rst(rst), .cfg_bypass(cfg_bypass), .cfg_rules(cfg_rules), .cfg_heads(cfg_heads),
        .s_parse(t_parse), .s_head(t_side[1:0]), .s_stored(t_side[2]), .s_valid(t_valid && t_ready),
        .m_kind(u_say[74:71]), .m_rule(u_say[70:67]), .m_profile(u_say[66:65]), .m_bound_exp(u_say[64:57]), .m_bytes(u_say[56:40]),
        .m_head(u_say[39:32]), .m_values(u_say[31:17]), .m_stop(u_say[16:0]), .m_start(u_start), .m_valid(u_valid));

    always @(posedge clk)
        along <= {along[3*ALONG_WIDTH-1:0], t_first, t_parse[105:89], t_parse[88:72], t_parse[71:64], t_parse[62:56],
                  t_parse[4], t_parse[5], t_parse[6]};

    credit_fifo #(.WIDTH(ALONG_WIDTH + SAY_WIDTH + 17), .LOG2(3)) judged (
        .clk(clk), .rst(rst), .s_data({along[4*ALONG_WIDTH-1:3*ALONG_WIDTH], u_say, u_start}), .s_valid(u_valid),
        .m_data({j_along, j_say, j_start}), .m_valid(j_valid), .m_ready(go));

    // ---- begun: a frame that passes only waits for its turn to leave; another is read for its sums first; for one to be compressed room
    // is reserved. What is not shorter than the values does not pay, so room for less than that will do.

    wire [LOG2-1:0] j_first;
    wire [16:0]     j_length, j_end;
    wire [7:0]      j_payload;
    wire [6:0]      j_l4;
    wire            j_tagged, j_six, j_tcp;
    wire            unused_length = &{1'b0, j_length};
    assign {j_first, j_length, j_end, j_payload, j_l4, j_tagged, j_six, j_tcp} = j_along;

    wire        j_pass   = j_say[74:73] != 2'd0;
    wire        j_engine = j_say[74:71] == 4'd0;
    wire        may_wait, unused_wait_idle, feed_ready, unused_reserve_ready, reserve_soon;
    wire        clear = j_valid && may_wait && (j_pass || feed_ready);

    // A cycle after it is known that nothing hinders, which stays so: many hang on it. One in two cycles; for the engine one in three, as the store reserves.
    always @(posedge clk) go <= clear && !go && (!j_engine || reserve_soon) && !rst;

    wire [255:0] v_data;
    wire [31:0]  v_keep;
    wire         v_last, v_valid, v_ready;
    wire [9:0]   v_user;
    wire [15:0]  f_lead, f_rest, f_tail, unused_field;
    wire         f_valid;

    frame_feed #(.LOG2(LOG2), .USER_WIDTH(10)) feed (
        .clk(clk), .rst(rst), .s_first(j_first), .s_tagged(j_tagged), .s_six(j_six), .s_tcp(j_tcp), .s_l4(j_l4), .s_payload(j_payload),
        .s_from({9'd0, j_payload}), .s_start(j_start), .s_stop(j_say[16:0]), .s_end(j_end), .s_engine(j_engine),
        .s_user({j_say[64:57], j_say[66:65]}), .s_valid(go && !j_pass), .s_ready(feed_ready),
        .address(feed_address), .data(feed_data),
        .m_axis_tdata(v_data), .m_axis_tkeep(v_keep), .m_axis_tlast(v_last), .m_axis_tuser(v_user), .m_axis_tvalid(v_valid),
        .m_axis_tready(v_ready),
        .sums_lead(f_lead), .sums_rest(f_rest), .sums_tail(f_tail), .sums_field(unused_field), .sums_valid(f_valid));

    wire [255:0] c_data;
    wire [31:0]  c_keep;
    wire         c_last, c_valid;
    wire [4:0]   unused_count;

    stream_compress #(.PROFILES(PROFILES), .COUNT_WIDTH(5)) engine (
        .clk(clk), .rst(rst), .s_axis_tdata(v_data), .s_axis_tkeep(v_keep), .s_axis_tlast(v_last), .s_axis_tuser(v_user),
        .s_axis_tvalid(v_valid), .s_axis_tready(v_ready), .m_axis_tdata(c_data), .m_axis_tkeep(c_keep), .m_axis_tlast(c_last),
        .m_axis_tuser(unused_count), .m_axis_tvalid(c_valid), .m_axis_tready(1'b1));

    wire [LOG2-1:0] r_first, result_address;
    wire [16:0]     r_bytes;
    wire            r_kept, unused_bad, r_valid, r_ready;
    wire [15:0]     r_sum;
    wire [255:0]    result_data;
    wire [LOG2:0]   result_free;

    result_store #(.LOG2(LOG2)) results (
        .clk(clk), .rst(rst), .reserve_bytes({j_say[31:17], 2'd0} - 17'd1), .reserve_valid(clear && j_engine),
        .reserve_soon(reserve_soon), .reserve_ready(unused_reserve_ready),
        .s_data(c_data), .s_keep(c_keep), .s_last(c_last), .s_bad(1'b0), .s_valid(c_valid),
        .m_first(r_first), .m_bytes(r_bytes), .m_kept(r_kept), .m_bad(unused_bad), .m_sum(r_sum), .m_valid(r_valid), .m_ready(r_ready),
        .address(result_address), .data(result_data), .free_beats(result_free));

    // ---- waiting, until sums and result are there: then all that leaves is known

    wire [ALONG_WIDTH-1:0] w_along;
    wire [SAY_WIDTH-1:0]   w_say;
    wire                   w_valid, w_ready;
    wire [15:0]            w_lead, w_rest, w_tail;
    wire                   sums_valid, sums_ready;

    credit_counter #(.CREDITS(17), .MOST(1)) wait_credits (
        .clk(clk), .rst(rst), .ok(may_wait), .idle(unused_wait_idle), .take({2'd0, go}), .give({2'd0, w_ready}));
    credit_fifo #(.WIDTH(ALONG_WIDTH + SAY_WIDTH), .LOG2(4)) waiting (
        .clk(clk), .rst(rst), .s_data({j_along, j_say}), .s_valid(go), .m_data({w_along, w_say}), .m_valid(w_valid), .m_ready(w_ready));
    credit_fifo #(.WIDTH(48), .LOG2(4)) sums (
        .clk(clk), .rst(rst), .s_data({f_lead, f_rest, f_tail}), .s_valid(f_valid),
        .m_data({w_lead, w_rest, w_tail}), .m_valid(sums_valid), .m_ready(sums_ready));

    wire [ALONG_WIDTH-1:0] o_along;
    wire                   o_pass, o_valid, o_ready;
    wire [63:0]            o_shim;
    wire [16:0]            o_bytes, o_result_bytes, o_tail;
    wire [LOG2-1:0]        o_result_first;
    wire [1:0]             o_tail_bytes;
    wire [15:0]            o_sum_lead, o_sum_result, o_sum_tail;

    tx_job #(.LOG2(LOG2), .ALONG_WIDTH(ALONG_WIDTH)) job (
        .clk(clk), .rst(rst), .s_along(w_along), .s_kind(w_say[74:71]), .s_rule(w_say[70:67]), .s_profile(w_say[66:65]),
        .s_bound_exp(w_say[64:57]), .s_length(w_along[51:35]), .s_bytes(w_say[56:40]), .s_head(w_say[39:32]), .s_values(w_say[31:17]),
        .s_stop(w_say[16:0]), .s_tail_bytes(w_along[19:18] - w_say[1:0]), .s_valid(w_valid), .s_ready(w_ready),
        .sums_lead(w_lead), .sums_rest(w_rest), .sums_tail(w_tail), .sums_valid(sums_valid), .sums_ready(sums_ready),
        .result_first(r_first), .result_bytes(r_bytes), .result_kept(r_kept), .result_sum(r_sum), .result_valid(r_valid),
        .result_ready(r_ready),
        .m_along(o_along), .m_pass(o_pass), .m_shim(o_shim), .m_bytes(o_bytes), .m_result_first(o_result_first),
        .m_result_bytes(o_result_bytes), .m_tail(o_tail), .m_tail_bytes(o_tail_bytes), .m_sum_lead(o_sum_lead),
        .m_sum_result(o_sum_result), .m_sum_tail(o_sum_tail), .m_valid(o_valid), .m_ready(o_ready),
        .event_valid(event_valid), .event_kind(event_kind), .event_length(event_length), .event_rule(event_rule),
        .event_values(event_values), .event_payload_bytes(event_payload_bytes), .event_wire_bytes(event_wire_bytes));

    // ---- assembled

    wire [LOG2-1:0] o_first;
    wire [16:0]     o_length, o_end;
    wire [7:0]      o_payload;
    wire [6:0]      o_l4;
    wire            o_tagged, o_six, o_tcp;
    assign {o_first, o_length, o_end, o_payload, o_l4, o_tagged, o_six, o_tcp} = o_along;

    frame_assemble #(.LOG2(LOG2)) assemble (
        .clk(clk), .rst(rst), .s_first(o_first), .s_length(o_length), .s_drop(1'b0), .s_pass(o_pass), .s_tagged(o_tagged), .s_six(o_six),
        .s_tcp(o_tcp), .s_l4(o_l4), .s_payload(o_payload), .s_end(o_end), .s_shim_valid(1'b1), .s_shim(o_shim),
        .s_from({9'd0, o_payload}), .s_bytes(o_bytes), .s_result_first(o_result_first), .s_result_bytes(o_result_bytes),
        .s_tail(o_tail), .s_tail_bytes(o_tail_bytes), .s_sum_lead(o_sum_lead), .s_sum_result(o_sum_result), .s_sum_tail(o_sum_tail),
        .s_valid(o_valid), .s_ready(o_ready),
        .frame_address(frame_address), .frame_data(frame_data), .frame_free(frame_free),
        .result_address(result_address), .result_data(result_data), .result_free(result_free),
        .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tlast(m_axis_tlast), .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tready(m_axis_tready));

    generate
        if (BUFFER_LOG2 < 4 || BUFFER_LOG2 > 11) begin : g_check
            BUFFER_LOG2_must_be_4_to_11 error();
        end
    endgenerate

endmodule

`resetall
