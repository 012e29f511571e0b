// SPDX-License-Identifier: Apache-2.0
// gn_frame_assemble, whatever jobs come. Pieces have 1 to 38 bytes, as gn_record_packer wants them,
// and find room in their FIFO, as do jobs and their stamps. A job reads only beats of its own frame
// and its own result. Each piece brings it nearer its end, and its beats are given back with its
// last piece, never without a job. While there is a job, something moves in every cycle in which
// gn_record_packer has nothing to take. Abstracted: the bytes, and the order of jobs and of pieces.
// What a FIFO gives is, in each cycle, any job or piece that could be in it.
// method: pdr
// seconds: 60
// stubs: any_packer.v
// sources: lib/gn_credit_counter.v lib/gn_credit_fifo.v frame/gn_frame_stamp.v
// sources: frame/gn_frame_assemble.v
// reduce: s/LOG2 = 10/LOG2 = 3/; s/if \(free\) out_reg <= .*//; s/if \(s_valid\) store\[.*//
// expose: j_valid j_ready j_first j_length j_drop j_pass j_payload j_from j_bytes j_result_first
// expose: j_result_bytes j_tail j_tail_bytes unused_job_valid
// expose: p_valid p_ready p_drop p_rewrite p_verbatim p_result p_tail p_first p_verbatim_first
// expose: p_result_first p_tail_first p_verbatim_more p_result_more p_tail_more p_header_more
// expose: p_frame_beats p_result_beats
// expose: p_verbatim_lo p_tail_lo p_header_hi p_verbatim_hi p_result_hi p_tail_hi q_verbatim_lo
// expose: q_tail_lo q_verbatim_hi q_result_hi q_tail_hi lo_reg hi_reg
// expose: q_valid q_rewrite q_verbatim q_result q_tail q_verbatim_first q_result_first q_tail_first
// expose: q_verbatim_more q_result_more q_tail_more q_frame_beats q_result_beats
// expose: issue done go_reg fresh_reg last_part_reg part_reg address_reg more_reg part_last_reg
// expose: u_valid v_valid w_valid x_valid y_valid u_bytes v_bytes w_bytes x_bytes y_bytes
// expose: u_shim_valid v_shim_valid w_shim_valid x_shim_valid y_shim_valid
// expose: piece_valid piece_ready job_credits.free_reg piece_credits.free_reg room
// expose: piece_credits.taken piece_credits.given stamp.valid_reg
// expose: jobs.write_reg jobs.read_reg jobs.out_valid_reg jobs.empty_reg stamps.write_reg
// expose: stamps.read_reg stamps.out_valid_reg stamps.empty_reg pieces.write_reg pieces.read_reg
// expose: pieces.out_valid_reg pieces.empty_reg
// mutant: frame/gn_frame_assemble.v s/j_tail\[LOG2\+4:5\];/j_tail[LOG2+4:5] + 1'b1;/
// mutant: frame/gn_frame_assemble.v s/(\{12'd0, verbatim_from\[4:0\]\}) - 17'd1/\1/
// mutant: gn_frame_assemble.v s/wire done  = q_valid \&\& p_ready/wire done = q_valid \&\& step/
// mutant: frame/gn_frame_assemble.v s/fresh_reg     <= !next_go \|\| /fresh_reg     <= /
// mutant: frame/gn_frame_assemble.v s/wire issue = room \&\& go_reg/wire issue = room \&\& q_valid/
// mutant: frame/gn_frame_assemble.v s/next_last_part = !q_tail;/next_last_part = 1'b1;/
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire         s_valid,
    input wire         m_ready
);
    wire        s_ready, j_valid, j_ready, j_drop, j_pass, job_there, p_valid, p_ready, p_drop, p_rewrite, p_verbatim, p_result, p_tail;
    wire        p_tail_more, q_tail_more, q_valid, q_rewrite, q_verbatim, q_result, q_tail, issue, done, go, fresh, part_last, last_part;
    wire [2:0]  j_first, j_result_first, p_first, p_verbatim_first, p_result_first, p_tail_first, q_verbatim_first, q_result_first, q_tail_first, address, p_header_more;
    wire [16:0] j_length, j_from, j_bytes, j_result_bytes, j_tail;
    wire [1:0]  j_tail_bytes, part;
    wire [7:0]  j_payload;
    wire [11:0] p_verbatim_more, p_result_more, q_verbatim_more, q_result_more, more;
    wire [3:0]  p_frame_beats, p_result_beats, q_frame_beats, q_result_beats, frame_free, result_free;
    wire [4:0]  p_verbatim_lo, p_tail_lo, q_verbatim_lo, q_tail_lo, lo;
    wire [5:0]  p_header_hi, p_verbatim_hi, p_result_hi, p_tail_hi, q_verbatim_hi, q_result_hi, q_tail_hi, hi;
    wire        u, v, w, x, y, u_shim, v_shim, w_shim, x_shim, y_shim, piece_valid, piece_ready;
    wire [2:0]  taken, given;
    wire        may_issue;
    wire [5:0]  u_bytes, v_bytes, w_bytes, x_bytes, y_bytes, job_free, piece_free, stamping;
    wire [4:0]  jobs_write, jobs_read, stamps_write, stamps_read, pieces_write, pieces_read;
    wire        jobs_out, jobs_empty, stamps_out, stamps_empty, pieces_out, pieces_empty;

    gn_frame_assemble dut (
        .clk(clk), .rst(rst), .s_valid(s_valid), .s_ready(s_ready), .m_axis_tready(m_ready), .frame_free(frame_free), .result_free(result_free),
        .\j_valid (j_valid), .\j_ready (j_ready), .\j_first (j_first), .\j_length (j_length), .\j_drop (j_drop), .\j_pass (j_pass), .\j_payload (j_payload),
        .\j_from (j_from), .\j_bytes (j_bytes), .\j_result_first (j_result_first), .\j_result_bytes (j_result_bytes), .\j_tail (j_tail),
        .\j_tail_bytes (j_tail_bytes), .\unused_job_valid (job_there),
        .\p_valid (p_valid), .\p_ready (p_ready), .\p_drop (p_drop), .\p_rewrite (p_rewrite), .\p_verbatim (p_verbatim), .\p_result (p_result), .\p_tail (p_tail),
        .\p_first (p_first), .\p_verbatim_first (p_verbatim_first), .\p_result_first (p_result_first), .\p_tail_first (p_tail_first),
        .\p_verbatim_more (p_verbatim_more), .\p_result_more (p_result_more), .\p_tail_more (p_tail_more), .\p_header_more (p_header_more),
        .\p_frame_beats (p_frame_beats), .\p_result_beats (p_result_beats),
        .\p_verbatim_lo (p_verbatim_lo), .\p_tail_lo (p_tail_lo), .\p_header_hi (p_header_hi), .\p_verbatim_hi (p_verbatim_hi), .\p_result_hi (p_result_hi), .\p_tail_hi (p_tail_hi),
        .\q_verbatim_lo (q_verbatim_lo), .\q_tail_lo (q_tail_lo), .\q_verbatim_hi (q_verbatim_hi), .\q_result_hi (q_result_hi), .\q_tail_hi (q_tail_hi),
        .\lo_reg (lo), .\hi_reg (hi),
        .\q_valid (q_valid), .\q_rewrite (q_rewrite), .\q_verbatim (q_verbatim), .\q_result (q_result), .\q_tail (q_tail),
        .\q_verbatim_first (q_verbatim_first), .\q_result_first (q_result_first), .\q_tail_first (q_tail_first),
        .\q_verbatim_more (q_verbatim_more), .\q_result_more (q_result_more), .\q_tail_more (q_tail_more),
        .\q_frame_beats (q_frame_beats), .\q_result_beats (q_result_beats),
        .\issue (issue), .\done (done), .\go_reg (go), .\fresh_reg (fresh), .\last_part_reg (last_part), .\part_reg (part), .\address_reg (address), .\more_reg (more), .\part_last_reg (part_last),
        .\u_valid (u), .\v_valid (v), .\w_valid (w), .\x_valid (x), .\y_valid (y),
        .\u_bytes (u_bytes), .\v_bytes (v_bytes), .\w_bytes (w_bytes), .\x_bytes (x_bytes), .\y_bytes (y_bytes),
        .\u_shim_valid (u_shim), .\v_shim_valid (v_shim), .\w_shim_valid (w_shim), .\x_shim_valid (x_shim), .\y_shim_valid (y_shim),
        .\piece_valid (piece_valid), .\piece_ready (piece_ready), .\job_credits.free_reg (job_free), .\piece_credits.free_reg (piece_free), .\room (may_issue), .\piece_credits.taken (taken), .\piece_credits.given (given),
        .\stamp.valid_reg (stamping),
        .\jobs.write_reg (jobs_write), .\jobs.read_reg (jobs_read), .\jobs.out_valid_reg (jobs_out), .\jobs.empty_reg (jobs_empty),
        .\stamps.write_reg (stamps_write), .\stamps.read_reg (stamps_read), .\stamps.out_valid_reg (stamps_out), .\stamps.empty_reg (stamps_empty),
        .\pieces.write_reg (pieces_write), .\pieces.read_reg (pieces_read), .\pieces.out_valid_reg (pieces_out), .\pieces.empty_reg (pieces_empty));

    // ---- a job, as its ports ask for it: the proofs rx_job and gn_tx_job show it

    wire job_ok;
    job_fields #(.MOST(17'd256)) is_job (
        .drop(j_drop), .pass(j_pass), .length(j_length), .payload(j_payload), .from(j_from), .bytes(j_bytes), .result_bytes(j_result_bytes),
        .tail(j_tail), .tail_bytes(j_tail_bytes), .ok(job_ok));
    always @* assume (job_ok);

    // ---- places in the FIFOs

    wire [5:0] jobs   = {1'b0, jobs_write - jobs_read} + {5'd0, jobs_out};
    wire [5:0] stamps = {1'b0, stamps_write - stamps_read} + {5'd0, stamps_out};
    wire [5:0] pieces = {1'b0, pieces_write - pieces_read} + {5'd0, pieces_out};
    wire [5:0] stamped = {5'd0, stamping[0]} + {5'd0, stamping[1]} + {5'd0, stamping[2]} + {5'd0, stamping[3]} + {5'd0, stamping[4]} + {5'd0, stamping[5]};
    always @* begin
        assert (job_free <= 6'd17 && jobs == 6'd17 - job_free && jobs_write - jobs_read <= 5'd16 && (jobs_out || jobs_write == jobs_read) && jobs_empty == (jobs_write == jobs_read));
        assert (jobs == stamps + stamped && stamps_write - stamps_read <= 5'd16 && (stamps_out || stamps_write == stamps_read) && stamps_empty == (stamps_write == stamps_read));
        assert (!j_valid || job_there);
        assert (piece_free <= 6'd17 && pieces_write - pieces_read <= 5'd16 && (pieces_out || pieces_write == pieces_read) && pieces_empty == (pieces_write == pieces_read));
        assert (taken <= 3'd1 && given <= 3'd1 && piece_free >= {3'd0, taken} && piece_free + {3'd0, given} <= 6'd17 + {3'd0, taken} && (!may_issue || piece_free >= 6'd2));
        assert (6'd17 - piece_free + {3'd0, taken} - {3'd0, given} == pieces + {5'd0, u} + {5'd0, v} + {5'd0, w} + {5'd0, x} + {5'd0, y});
    end

    // ---- pieces: the first byte of the shim follows a header's last, which has 4n + 2

    function size(input [5:0] bytes, input shim);
        size = bytes >= 6'd1 && bytes <= 6'd32 && (!shim || bytes[1:0] == 2'd2);
    endfunction
    always @* begin
        if (u) assert (size(u_bytes, u_shim));
        if (v) assert (size(v_bytes, v_shim));
        if (w) assert (size(w_bytes, w_shim));
        if (x) assert (size(x_bytes, x_shim));
        if (y) assert (size(y_bytes, y_shim));
        // of each part, where it begins lies below where it ends
        if (p_valid && !p_drop) begin
            if (p_rewrite) assert (p_header_hi[1:0] == 2'd2 && p_header_hi <= 6'd32);
            if (p_verbatim) assert (p_verbatim_hi >= 6'd1 && p_verbatim_hi <= 6'd32 && (p_verbatim_more != 12'd0 || p_verbatim_hi > {1'b0, p_verbatim_lo}));
            if (p_result) assert (p_result_hi >= 6'd1 && p_result_hi <= 6'd32);
            if (p_tail) assert (p_tail_hi >= 6'd1 && p_tail_hi <= 6'd32 && (p_tail_more || p_tail_hi > {1'b0, p_tail_lo}));
        end
        if (go) begin
            if (q_verbatim) assert (q_verbatim_hi >= 6'd1 && q_verbatim_hi <= 6'd32 && (q_verbatim_more != 12'd0 || q_verbatim_hi > {1'b0, q_verbatim_lo}));
            if (q_result) assert (q_result_hi >= 6'd1 && q_result_hi <= 6'd32);
            if (q_tail) assert (q_tail_hi >= 6'd1 && q_tail_hi <= 6'd32 && (q_tail_more || q_tail_hi > {1'b0, q_tail_lo}));
            assert (hi >= 6'd1 && hi <= 6'd32 && (!part_last || hi > {1'b0, lo}));
            assert (part != 2'd0 || (q_rewrite && lo == 5'd0 && hi[1:0] == 2'd2));
            assert (q_rewrite || (part == 2'd1 && q_verbatim && !q_result && !q_tail));
            assert (part_last == (more == 12'd0));
        end
    end

    // ---- beats: of a part so many from its first on lie within the frame, or the result

    reg [2:0] first, result_first;
    always @(posedge clk) if (p_valid && p_ready) {first, result_first} <= {p_first, p_result_first};
    function within(input [2:0] from, input [2:0] of, input [11:0] follow, input [3:0] beats);
        reg [2:0] at;
        begin
            at     = from - of;
            within = {10'd0, at} + {1'b0, follow} + 13'd1 <= {9'd0, beats};
        end
    endfunction
    always @* begin
        if (p_valid && !p_drop) begin
            if (p_rewrite) assert ({1'b0, p_header_more} < p_frame_beats);
            if (p_verbatim) assert (within(p_verbatim_first, p_first, p_verbatim_more, p_frame_beats));
            if (p_tail) assert (within(p_tail_first, p_first, {11'd0, p_tail_more}, p_frame_beats));
            if (p_result) assert (p_result_more + 12'd1 == {8'd0, p_result_beats});
            assert (p_rewrite || (p_verbatim && !p_result && !p_tail));
        end
        if (go) begin
            if (q_verbatim) assert (within(q_verbatim_first, first, q_verbatim_more, q_frame_beats));
            if (q_tail) assert (within(q_tail_first, first, {11'd0, q_tail_more}, q_frame_beats));
            if (q_result) assert (q_result_more + 12'd1 == {8'd0, q_result_beats} && q_result_first == result_first);
            if (part == 2'd2) assert (within(address, result_first, more, q_result_beats));
            else assert (within(address, first, more, q_frame_beats));
        end
    end

    // ---- a job's end: each piece leaves fewer to come, and what is given back is its beats

    reg        was_issue = 1'b0, was_done = 1'b0;
    reg        q_drop = 1'b0;
    reg [13:0] was;
    reg [3:0]  frame_beats, result_beats;
    wire [13:0] left = {2'd3 - part, more};
    always @(posedge clk) begin
        if (p_ready) q_drop <= p_drop;
        was_issue    <= issue && !done && !rst;
        was          <= left;
        was_done     <= done && !rst;
        frame_beats  <= q_frame_beats;
        result_beats <= q_result_beats;
    end
    always @* begin
        if (was_issue) assert (left < was);
        assert (frame_free == (was_done ? frame_beats : 4'd0) && result_free == (was_done ? result_beats : 4'd0));
        // a job makes room for the next, and gives back, with its last piece alone
        assert (done == (q_valid && p_ready) && (!p_ready || fresh) && (!p_ready || !go || issue));
    end

    // what is made a cycle ahead is what it would be now
    always @* begin
        assert (go == (q_valid && !q_drop) && fresh == (!go || (part_last && last_part)));
        if (go) assert (last_part == (part == 2'd0 ? !q_verbatim && !q_result && !q_tail : part == 2'd1 ? !q_result && !q_tail : part == 2'd2 ? !q_tail : 1'b1));
        assert (!issue || go);
    end

    // ---- no deadlock: while a job is in here or wants in, a stage moves, or gn_record_packer has
    // a piece to take

    reg was_rst = 1'b1;
    always @(posedge clk) was_rst <= rst;
    wire there  = s_valid || jobs != 6'd0 || p_valid || q_valid || pieces != 6'd0;
    wire moving = (s_valid && s_ready) || given != 3'd0 || stamped != 6'd0 || (j_valid && j_ready) || (p_valid && p_ready) || issue || done || u || v || w || x || y;
    always @* assert (was_rst || !there || moving || piece_valid);
endmodule

`resetall
