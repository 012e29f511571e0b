// SPDX-License-Identifier: Apache-2.0
// gn_nic_rx around its blocks, whatever these do. Each FIFO has room for what comes. A frame that
// waits for its sums, or for the engine's result, has them on their way or there, and none comes
// that no frame waits for. When all is there, it goes on within two cycles. Of what the engine
// made, exactly what is kept and leaves is freed. Cut out, and any: parser, stores, judge, feed,
// engine, assembly. But each answers a frame once, and lets what it offers stay.
// method: pdr
// simplify: no
// seconds: 30
// stubs: any_fifos.v
// sources: lib/gn_credit_counter.v lib/gn_keep_count.v lib/gn_block_ram.v frame/gn_checksum.v
// sources: frame/gn_frame_parse.v frame/gn_frame_store.v frame/gn_shim_check.v
// sources: frame/gn_byte_realign.v
// sources: frame/gn_frame_sums.v frame/gn_frame_feed.v frame/gn_result_store.v
// sources: frame/gn_frame_stamp.v
// sources: codec/gn_record_packer.v frame/gn_frame_assemble.v frame/gn_frame_tokens.v
// sources: nic/gn_rx_judge.v
// sources: codec/gn_record_table.v codec/gn_record_window.v codec/gn_lane_decompress.v
// sources: codec/gn_quad_unpack.v
// sources: codec/gn_decompress_unit.v codec/gn_stream_decompress.v nic/gn_nic_rx.v
// cut: parse frames judge feed engine results assemble tokens
// expose: t_valid t_ready u_valid go j_valid clear feed_ready reserve_soon unused_reserve_ready
// expose: w_valid w_ready f_valid sums_valid r_valid r_ready r_kept r_bytes o_valid o_ready
// expose: o_result_bytes judge_credits.free_reg wait_credits.free_reg judged.any.words
// expose: waiting.any.words sums.any.words may_wait j_read j_engine w_read w_engine
// mutant: nic/gn_nic_rx.v s/clear \&\& !go \&\&/clear \&\&/
// mutant: nic/gn_nic_rx.v s/wire +clear = j_valid \&\& may_wait/wire clear = j_valid/
// mutant: nic/gn_nic_rx.v s/w_engine \&\& !lost \? r_bytes/w_engine ? r_bytes/
// mutant: nic/gn_nic_rx.v s/m_ready\(w_ready \&\& w_read\)/m_ready(w_ready)/
// mutant: nic/gn_nic_rx.v s/r_ready = w_ready \&\& w_engine/r_ready = w_ready/
`default_nettype none
module proof (
    input wire clk,
    input wire rst,
    input wire s_valid,
    input wire s_last,
    input wire m_ready
);
    wire        t_there, t_ready, u_valid, go, j_valid, clear, feed_ready, reserve_soon, reserve_ready, j_read, j_engine, w_valid, w_ready, w_read, w_engine, f_valid, sums_there, r_valid, r_ready, r_kept;
    wire        o_valid, o_ready, may_wait;
    wire [16:0] r_bytes, o_result_bytes;
    wire [5:0]  judge_free, wait_free;
    wire [6:0]  judged, waiting, sums;
    gn_nic_rx dut (
        .clk(clk), .rst(rst), .cfg_bypass(1'b0), .cfg_rules(256'd0), .cfg_max_restored(16'd9000), .s_axis_tdata(256'd0), .s_axis_tkeep(32'd1), .s_axis_tlast(s_last), .s_axis_tuser(1'b0),
        .s_axis_tvalid(s_valid), .m_axis_tready(m_ready),
        .\t_valid (t_there), .\t_ready (t_ready), .\u_valid (u_valid), .\go (go), .\j_valid (j_valid), .\clear (clear), .\feed_ready (feed_ready), .\reserve_soon (reserve_soon), .\unused_reserve_ready (reserve_ready), .\j_read (j_read), .\j_engine (j_engine),
        .\w_valid (w_valid), .\w_ready (w_ready), .\w_read (w_read), .\w_engine (w_engine), .\f_valid (f_valid), .\sums_valid (sums_there),
        .\r_valid (r_valid), .\r_ready (r_ready), .\r_kept (r_kept), .\r_bytes (r_bytes), .\o_valid (o_valid), .\o_ready (o_ready),
        .\o_result_bytes (o_result_bytes), .\judge_credits.free_reg (judge_free), .\wait_credits.free_reg (wait_free), .\may_wait (may_wait),
        .\judged.any.words (judged), .\waiting.any.words (waiting), .\sums.any.words (sums));

    waiting_frames #(.JUDGED(9)) m_waiting (
        .clk(clk), .rst(rst), .judge_begins(t_there && t_ready), .judge_ends(u_valid), .go(go), .j_read(j_read), .j_engine(j_engine),
        .w_valid(w_valid), .w_ready(w_ready), .w_read(w_read), .w_engine(w_engine), .f_valid(f_valid), .sums_there(sums_there),
        .r_valid(r_valid), .r_ready(r_ready), .r_kept(r_kept), .r_bytes(r_bytes), .may_wait(may_wait), .judge_free(judge_free), .wait_free(wait_free),
        .judged(judged), .waiting(waiting), .sums(sums), .onward(o_ready));

    begins m_begins (
        .clk(clk), .rst(rst), .go(go), .j_valid(j_valid), .j_read(j_read), .j_engine(j_engine), .may_wait(may_wait), .feed_ready(feed_ready),
        .reserve_valid(clear && j_engine), .reserve_soon(reserve_soon), .reserve_ready(reserve_ready));

    // ---- the beats of a result are freed when its frame leaves; of one that was not kept there
    // are none

    reg [16:0] kept = 17'd0;
    always @(posedge clk) if (w_ready) kept <= w_engine && r_kept ? r_bytes : 17'd0;
    always @* if (o_valid) assert (o_result_bytes == kept);
endmodule

`resetall
