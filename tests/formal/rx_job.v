// SPDX-License-Identifier: Apache-2.0
// gn_nic_rx's last stage. From a frame that waits, with fields that relate as gn_rx_judge says, it
// makes a job as gn_frame_assemble asks for it. The job stays until it is taken, and is told to the
// counters once, unless its frame is gone. (The proof of gn_nic_rx says that it is made when all is
// there.) Cut out, and any: everything else.
// method: induct
// seconds: 60
// sources: lib/gn_credit_counter.v lib/gn_credit_fifo.v lib/gn_keep_count.v lib/gn_block_ram.v
// sources: frame/gn_checksum.v
// sources: frame/gn_frame_parse.v frame/gn_frame_store.v frame/gn_shim_check.v
// sources: frame/gn_byte_realign.v
// sources: frame/gn_frame_sums.v frame/gn_frame_feed.v frame/gn_result_store.v
// sources: frame/gn_frame_stamp.v
// sources: codec/gn_record_packer.v lib/gn_pair_fifo.v frame/gn_frame_assemble.v
// sources: frame/gn_frame_tokens.v
// sources: nic/gn_rx_judge.v codec/gn_record_table.v codec/gn_record_window.v
// sources: codec/gn_lane_decompress.v codec/gn_quad_unpack.v
// sources: codec/gn_decompress_unit.v codec/gn_stream_decompress.v nic/gn_nic_rx.v
// cut: parse frames judge feed engine results assemble tokens judged waiting sums
// cut: judge_credits wait_credits
// expose: w_valid w_ready complete w_outcome w_engine w_from w_start w_stop w_bytes w_end w_payload
// expose: w_length w_gone o_gone r_valid r_kept r_bytes
// expose: o_valid o_ready o_drop o_pass o_length o_end o_payload o_from o_bytes o_result_bytes
// expose: o_tail o_tail_bytes
// mutant: nic/gn_nic_rx.v s/ \&\& \(!o_valid \|\| o_ready\)//
// mutant: nic/gn_nic_rx.v s/o_bytes         <= w_engine \? w_head : /o_bytes <= /
// mutant: nic/gn_nic_rx.v s/(o_tail_bytes +<=) (w_end\S+) - (w_stop[^;]+)/\1 \3 - \2/
// mutant: nic/gn_nic_rx.v /o_pass +<=/s/w_outcome\[4:1\] == 4'd1/w_outcome[4:0] == 5'd2/
// mutant: nic/gn_nic_rx.v s/event_valid         = o_valid \&\& o_ready/event_valid = o_valid/
// mutant: nic/gn_nic_rx.v s/lost \|\| w_gone \|\|/lost ||/
`default_nettype none
module proof (
    input wire clk,
    input wire rst,
    input wire s_valid,
    input wire m_ready
);
    wire [4:0]  w_outcome;
    wire [16:0] w_from, w_start, w_stop, w_end, w_length, r_bytes, o_length, o_end, o_from, o_bytes, o_tail, o_result_bytes;
    wire [15:0] w_bytes;
    wire [7:0]  w_payload, o_payload;
    wire        w_valid, w_ready, complete, w_engine, w_gone, o_gone, r_valid, r_kept, o_valid, o_ready, o_drop, o_pass, told;
    wire [1:0]  o_tail_bytes;
    gn_nic_rx dut (
        .clk(clk), .rst(rst), .cfg_bypass(1'b0), .cfg_rules(256'd0), .cfg_max_restored(16'd9000), .s_axis_tdata(256'd0), .s_axis_tkeep(32'd1), .s_axis_tlast(1'b1), .s_axis_tuser(1'b0),
        .s_axis_tvalid(s_valid), .m_axis_tready(m_ready), .event_valid(told),
        .\w_valid (w_valid), .\w_ready (w_ready), .\complete (complete), .\w_outcome (w_outcome), .\w_engine (w_engine), .\w_from (w_from), .\w_start (w_start), .\w_stop (w_stop), .\w_bytes (w_bytes),
        .\w_end (w_end), .\w_payload (w_payload), .\w_length (w_length), .\w_gone (w_gone), .\o_gone (o_gone), .\r_valid (r_valid), .\r_kept (r_kept), .\r_bytes (r_bytes),
        .\o_valid (o_valid), .\o_ready (o_ready), .\o_drop (o_drop), .\o_pass (o_pass), .\o_length (o_length), .\o_end (o_end), .\o_payload (o_payload), .\o_from (o_from), .\o_bytes (o_bytes),
        .\o_result_bytes (o_result_bytes), .\o_tail (o_tail), .\o_tail_bytes (o_tail_bytes));

    // ---- the neighbours: gn_rx_judge says how its fields relate, gn_frame_store that the frame
    // fits, gn_result_store that what is kept fits, and has a byte

    wire fields;
    rx_fields #(.MOST(17'd32768)) are_fields (
        .outcome(w_outcome), .engine(w_engine), .from(w_from), .start(w_start), .stop(w_stop), .bytes(w_bytes), .payload(w_payload), .ends(w_end), .length(w_length), .ok(fields));
    always @* begin
        if (w_valid) assume (fields && (w_gone ? w_outcome[4:1] == 4'd1 && w_length == 17'd0 : w_length >= 17'd1) && w_length <= 17'd32768);
        if (r_valid && r_kept) assume (r_bytes >= 17'd1 && r_bytes <= 17'd32768);
    end

    // ---- the job: dropped, passed or restored; of what is restored, all behind the shim leaves,
    // but for the stream, instead of which the result does

    wire job_ok;
    job_fields #(.MOST(17'd32768)) is_job (
        .drop(o_drop), .pass(o_pass), .length(o_length), .payload(o_payload), .from(o_from), .bytes(o_bytes), .result_bytes(o_result_bytes), .tail(o_tail),
        .tail_bytes(o_tail_bytes), .ok(job_ok));
    reg [1:0] telling = 2'd0;  // frames that were taken and not told of
    reg       held = 1'b0;      // all was there and not taken: FIFOs offer it until it is
    always @(posedge clk) begin
        held    <= complete && !w_ready && !rst;
        telling <= rst ? 2'd0 : telling + {1'd0, w_ready && !w_gone} - {1'd0, told};
    end
    always @* begin
        assume (!held || complete);
        assert (!w_ready || (complete && !o_valid));
        if (o_valid) begin
            assert (job_ok);
            if (!o_drop && !o_pass) begin
                assert (o_from == {9'd0, o_payload} + 17'd8);
                assert (o_result_bytes == 17'd0 ? o_from + o_bytes == o_end && o_tail_bytes == 2'd0 : o_tail + {15'd0, o_tail_bytes} == o_end);
            end
            if (o_drop || o_pass) assert (o_result_bytes == 17'd0);
        end
        assert (telling == {1'd0, o_valid && !o_gone} && (!told || o_ready));
        if (o_valid && o_gone) assert (o_drop && o_length == 17'd0 && o_result_bytes == 17'd0);
    end
    stays #(.WIDTH(114)) o_stays (
        .clk(clk), .rst(rst), .data({o_drop, o_pass, o_length, o_end, o_payload, o_from, o_bytes, o_result_bytes, o_tail, o_tail_bytes}), .valid(o_valid), .ready(o_ready));
endmodule

`resetall
