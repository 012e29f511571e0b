// SPDX-License-Identifier: Apache-2.0
// gn_nic_tx around its blocks, whatever these do: as gn_nic_rx.v says of gn_nic_rx.
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
// sources: nic/gn_tx_judge.v
// sources: codec/gn_lane_compress.v codec/gn_compress_unit.v
// sources: codec/gn_group_class.v codec/gn_quad_pack.v
// sources: codec/gn_stream_compress.v
// sources: nic/gn_tx_job.v nic/gn_nic_tx.v
// cut: parse frames judge feed engine results assemble tokens
// expose: t_valid t_ready u_valid go j_valid clear feed_ready reserve_soon unused_reserve_ready
// expose: w_valid w_ready f_valid sums_valid r_valid r_ready r_kept r_bytes o_valid o_ready
// expose: o_result_bytes judge_credits.free_reg wait_credits.free_reg judged.any.words
// expose: waiting.any.words sums.any.words may_wait j_pass j_engine w_kind p_valid p_ready p_last
// expose: side.any.words job.a_ready job.b_ready
// mutant: nic/gn_nic_tx.v s/clear \&\& !go \&\&/clear \&\&/
// mutant: nic/gn_nic_tx.v s/wire +clear = j_valid \&\& may_wait/wire clear = j_valid/
// mutant: nic/gn_tx_job.v s/a_compressed \? a_result_bytes : 17'd0/a_result_bytes/
// mutant: nic/gn_tx_job.v s/sums_ready   = s_ready \&\& !pass/sums_ready = s_ready/
// mutant: nic/gn_nic_tx.v s/s_axis_tready \&\& s_axis_tlast/s_axis_tready/
`default_nettype none
module proof (
    input wire clk,
    input wire rst,
    input wire s_valid,
    input wire s_last,
    input wire m_ready
);
    wire        s_ready, p_valid, p_ready, p_last, t_there, t_ready, u_valid, go, j_valid, clear, feed_ready, reserve_soon, reserve_ready, j_pass, j_engine, w_valid, w_ready, f_valid, sums_there, r_valid, r_ready, r_kept;
    wire        o_valid, o_ready, may_wait, a_ready, b_ready;
    wire [16:0] r_bytes, o_result_bytes;
    wire [5:0]  judge_free, wait_free;
    wire [6:0]  judged, waiting, sums, side;
    wire [3:0]  w_kind;
    gn_nic_tx dut (
        .clk(clk), .rst(rst), .cfg_bypass(1'b0), .cfg_rules(256'd0), .cfg_heads(32'd0), .cfg_mtu(16'd1500), .s_axis_tdata(256'd0), .s_axis_tkeep(32'd1), .s_axis_tlast(s_last), .s_axis_tuser(4'd0),
        .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .m_axis_tready(m_ready), .\p_valid (p_valid), .\p_ready (p_ready), .\p_last (p_last), .\side.any.words (side),
        .\t_valid (t_there), .\t_ready (t_ready), .\u_valid (u_valid), .\go (go), .\j_valid (j_valid), .\clear (clear), .\feed_ready (feed_ready), .\reserve_soon (reserve_soon), .\unused_reserve_ready (reserve_ready), .\j_pass (j_pass), .\j_engine (j_engine),
        .\w_valid (w_valid), .\w_ready (w_ready), .\w_kind (w_kind), .\f_valid (f_valid), .\sums_valid (sums_there),
        .\r_valid (r_valid), .\r_ready (r_ready), .\r_kept (r_kept), .\r_bytes (r_bytes), .\o_valid (o_valid), .\o_ready (o_ready),
        .\o_result_bytes (o_result_bytes), .\judge_credits.free_reg (judge_free), .\wait_credits.free_reg (wait_free), .\may_wait (may_wait),
        .\judged.any.words (judged), .\waiting.any.words (waiting), .\sums.any.words (sums), .\job.a_ready (a_ready), .\job.b_ready (b_ready));
    wire        j_read = !j_pass, w_read = w_kind < 4'd4, w_engine = w_kind == 4'd0;

    waiting_frames #(.JUDGED(7)) m_waiting (
        .clk(clk), .rst(rst), .judge_begins(t_there && t_ready), .judge_ends(u_valid), .go(go), .j_read(j_read), .j_engine(j_engine),
        .w_valid(w_valid), .w_ready(w_ready), .w_read(w_read), .w_engine(w_engine), .f_valid(f_valid), .sums_there(sums_there),
        .r_valid(r_valid), .r_ready(r_ready), .r_kept(r_kept), .r_bytes(r_bytes), .may_wait(may_wait), .judge_free(judge_free), .wait_free(wait_free),
        .judged(judged), .waiting(waiting), .sums(sums), .onward(a_ready));

    begins m_begins (
        .clk(clk), .rst(rst), .go(go), .j_valid(j_valid), .j_read(j_read), .j_engine(j_engine), .may_wait(may_wait), .feed_ready(feed_ready),
        .reserve_valid(clear && j_engine), .reserve_soon(reserve_soon), .reserve_ready(reserve_ready));

    // ---- the side-band waits for frames in the parser, of which there are as many at most as it
    // has places for beats

    reg [6:0] parsing = 7'd0;
    always @(posedge clk) parsing <= rst ? 7'd0 : parsing + {6'd0, s_valid && s_ready && s_last} - {6'd0, p_valid && p_ready && p_last};
    always @* begin
        assume (parsing != 7'd17 || !s_ready);
        if (p_valid && p_last) assume (parsing != 7'd0);
        assert (side == parsing && parsing <= 7'd17);
    end

    // ---- the beats of a result are freed when its frame leaves; of one that was not kept, and
    // leaves stored, there are none

    reg [16:0] kept, kept_out;
    always @(posedge clk) begin
        if (b_ready) kept_out <= kept;
        if (a_ready) kept <= w_engine && r_kept ? r_bytes : 17'd0;
    end
    always @* if (o_valid) assert (o_result_bytes == kept_out);
endmodule

`resetall
