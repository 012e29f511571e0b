// SPDX-License-Identifier: Apache-2.0
// gn_tx_job. Each frame that waits is taken once: with its sums unless it passes, and with the
// engine's result if it was to be tried. At most one is taken in two cycles, within two of when all
// is there. Each frame taken is offered once, stays until it is taken, and tells the counters once:
// not at all if it is gone. Then nothing leaves, and nothing is freed.
// What is offered is a job as gn_frame_assemble asks for it: the packet's own bytes, and a result
// only if it was kept.
// method: induct
// sources: frame/gn_shim_check.v nic/gn_tx_job.v
// reduce: s/LOG2 = 10/LOG2 = 3/
// expose: take a_ready a_valid a_pass a_compressed a_along a_kind a_head a_bytes a_result_bytes
// expose: a_tail a_tail_bytes b_ready b_valid event_valid_reg
// mutant: nic/gn_tx_job.v s/sums_ready   = s_ready \&\& !pass/sums_ready = s_ready/
// mutant: nic/gn_tx_job.v s/a_compressed \? a_tail_bytes : 2'd0/a_tail_bytes/
// mutant: gn_tx_job.v s/(b_bytes +<= a_compressed \?) \{9'd0, a_head\}/\1 17'd8 + {9'd0, a_head}/
// mutant: nic/gn_tx_job.v s/a_result_bytes <= result_bytes/a_result_bytes <= result_bytes + 17'd32/
// mutant: nic/gn_tx_job.v s/a_valid        <= take;/a_valid <= complete;/
// mutant: nic/gn_tx_job.v s/ \&\& !a_along\[ALONG_WIDTH-1\]//
// mutant: nic/gn_tx_job.v s/complete \&\& a_ready \&\& !take/complete \&\& !take/
`default_nettype none
module proof (
    input wire        clk,
    input wire        rst,
    input wire        gone,
    input wire [2:0]  first,
    input wire [16:0] length,
    input wire [16:0] ends,
    input wire [7:0]  payload,
    input wire [6:0]  l4,
    input wire        tagged,
    input wire        six,
    input wire        tcp,
    input wire [3:0]  kind,
    input wire [16:0] bytes,
    input wire [7:0]  head,
    input wire [14:0] values,
    input wire [16:0] start,
    input wire [16:0] stop,
    input wire        s_valid,
    input wire        sums_valid,
    input wire        result_valid,
    input wire        result_kept,
    input wire [16:0] result_bytes,
    input wire        m_ready
);
    wire        s_ready, sums_ready, result_ready, m_pass, m_valid, event_valid, take, a_ready, a_valid, a_pass, a_compressed, b_ready, b_valid, telling;
    wire [1:0]  m_tail_bytes, a_tail_bytes;
    wire [3:0]  a_kind;
    wire [7:0]  a_head;
    wire [16:0] m_bytes, m_result_bytes, m_tail, a_bytes, a_result_bytes, a_tail, m_length, m_end, a_length, a_end;
    wire [7:0]  m_payload, a_payload;
    wire [2:0]  a_first;
    wire [6:0]  a_l4;
    wire        a_tagged, a_six, a_tcp;
    wire [55:0] a_along;
    wire        a_gone, m_drop;
    assign {a_gone, a_first, a_length, a_end, a_payload, a_l4, a_tagged, a_six, a_tcp} = a_along;
    gn_tx_job dut (
        .clk(clk), .rst(rst), .s_gone(gone), .s_first(first), .s_length(length), .s_end(ends), .s_payload(payload), .s_l4(l4), .s_tagged(tagged), .s_six(six), .s_tcp(tcp),
        .s_kind(kind), .s_bytes(bytes), .s_head(head), .s_values(values), .s_stop(stop),
        .s_valid(s_valid), .s_ready(s_ready), .sums_valid(sums_valid), .sums_ready(sums_ready),
        .result_bytes(result_bytes), .result_kept(result_kept), .result_valid(result_valid), .result_ready(result_ready),
        .m_drop(m_drop), .m_length(m_length), .m_end(m_end), .m_payload(m_payload), .m_pass(m_pass), .m_bytes(m_bytes), .m_result_bytes(m_result_bytes), .m_tail(m_tail), .m_tail_bytes(m_tail_bytes), .m_valid(m_valid),
        .m_ready(m_ready), .event_valid(event_valid),
        .\take (take), .\a_ready (a_ready), .\a_valid (a_valid), .\a_pass (a_pass), .\a_compressed (a_compressed), .\a_along (a_along), .\a_kind (a_kind), .\a_head (a_head),
        .\a_bytes (a_bytes), .\a_result_bytes (a_result_bytes), .\a_tail (a_tail), .\a_tail_bytes (a_tail_bytes), .\b_ready (b_ready), .\b_valid (b_valid),
        .\event_valid_reg (telling));

    // ---- the neighbours: gn_tx_judge says how its fields relate, gn_frame_store that the frame
    // fits, gn_result_store that what is kept fits

    wire fields;
    tx_fields are_fields (
        .kind(kind), .bytes(bytes), .head(head), .values(values), .start(start), .stop(stop), .payload(payload), .ends(ends), .length(length), .ok(fields));
    always @* begin
        if (s_valid) assume (fields && (gone ? kind >= 4'd4 && length == 17'd0 : length >= 17'd1) && length <= 17'd256);
        if (result_valid && result_kept) assume (result_bytes >= 17'd1 && result_bytes <= 17'd256);
    end

    // ---- what it offers

    wire job_ok, a_ok;
    job_fields #(.MOST(17'd256)) m_job (
        .drop(m_drop), .pass(m_pass), .length(m_length), .payload(m_payload), .from({9'd0, m_payload}), .bytes(m_bytes), .result_bytes(m_result_bytes),
        .tail(m_tail), .tail_bytes(m_tail_bytes), .ok(job_ok));
    job_fields #(.MOST(17'd256)) a_job (
        .drop(a_gone), .pass(a_pass), .length(a_length), .payload(a_payload), .from({9'd0, a_payload}), .bytes(a_compressed ? {9'd0, a_head} : a_bytes),
        .result_bytes(a_compressed ? a_result_bytes : 17'd0), .tail(a_tail), .tail_bytes(a_compressed ? a_tail_bytes : 2'd0), .ok(a_ok));
    // stored, all of the payload; compressed, a result, and behind it what is left of the packet
    function whole(input [16:0] ends, input [7:0] payload, input [16:0] bytes, input [16:0] result_bytes, input [16:0] tail, input [1:0] tail_bytes);
        whole = result_bytes == 17'd0 ? bytes == ends - {9'd0, payload} && tail_bytes == 2'd0 : tail + {15'd0, tail_bytes} == ends;
    endfunction
    always @* begin
        if (a_valid && !a_pass)
            assert (a_compressed ? a_result_bytes != 17'd0 && whole(a_end, a_payload, 17'd0, a_result_bytes, a_tail, a_tail_bytes)
                                 : whole(a_end, a_payload, a_bytes, 17'd0, 17'd0, 2'd0));
        if (m_valid && !m_pass) assert (whole(m_end, m_payload, m_bytes, m_result_bytes, m_tail, m_tail_bytes));
        if (a_valid) assert (a_ok && a_pass == (a_kind >= 4'd4) && (!a_compressed || a_kind == 4'd0));
        if (m_valid) assert (job_ok);
    end
    stays #(.WIDTH(97)) m_stays (
        .clk(clk), .rst(rst), .data({m_drop, m_length, m_end, m_payload, m_pass, m_bytes, m_result_bytes, m_tail, m_tail_bytes}), .valid(m_valid), .ready(m_ready));

    // ---- each once

    wire       complete = s_valid && (kind >= 4'd4 || sums_valid) && (kind != 4'd0 || result_valid);
    reg  [1:0] inside = 2'd0, telling_of = 2'd0;
    reg        waits = 1'b0, was_take = 1'b0, s_held = 1'b0, sums_held = 1'b0, result_held = 1'b0;
    reg  [3:0] kind_was;
    reg        gone_was;
    always @(posedge clk) begin
        inside      <= rst ? 2'd0 : inside + {1'd0, s_valid && s_ready} - {1'd0, m_valid && m_ready};
        telling_of  <= rst ? 2'd0 : telling_of + {1'd0, s_valid && s_ready && !gone} - {1'd0, event_valid};
        waits       <= complete && !s_ready && (m_ready || !m_valid) && !rst;
        was_take    <= s_ready && !rst;
        s_held      <= s_valid && !s_ready && !rst;
        sums_held   <= sums_valid && !sums_ready && !rst;
        result_held <= result_valid && !result_ready && !rst;
        kind_was    <= kind;
        gone_was    <= gone;
    end
    always @* begin
        // FIFOs: what they offer stays until it is taken
        assume ((!s_held || (s_valid && kind == kind_was && gone == gone_was)) && (!sums_held || sums_valid) && (!result_held || result_valid));
        assert (!s_ready || (complete && sums_ready == (kind < 4'd4) && result_ready == (kind == 4'd0)));
        assert (s_ready || (!sums_ready && !result_ready));
        assert (inside == {1'd0, a_valid} + {1'd0, b_valid} && telling_of == {1'd0, a_valid && !a_gone} + {1'd0, telling});
        if (a_valid && a_gone) assert (a_length == 17'd0 && a_pass);
        if (m_valid && m_drop) assert (m_length == 17'd0 && m_result_bytes == 17'd0 && m_pass);
        assert (!was_take || !s_ready);
        assert (!take || !a_valid);
        if (waits && complete) assert (s_ready);
    end
endmodule

`resetall
