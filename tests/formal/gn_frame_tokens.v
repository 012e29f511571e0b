// SPDX-License-Identifier: Apache-2.0
// gn_frame_tokens. Its FIFOs never overflow, however many frames are dropped and however long
// nothing leaves. Each frame that came gives one token: beside the beats that leave, or alone if it
// was dropped. While that waits, no beat leaves. Otherwise a beat that is there may leave. Around
// it is any path of frames: it gives a job for each frame that came, and for a job that is not
// dropped a frame, four cycles later or more.
// method: pdr
// seconds: 30
// stubs: any_fifos.v
// sources: lib/gn_credit_counter.v frame/gn_frame_tokens.v
// reduce: s/FRAMES = 56/FRAMES = 4/
// reduce: s/LOG2 = 6/LOG2 = 2/
// expose: sides.any.words tokens.any.words tokens.any.marks token_valid drop done places.free_reg
// expose: places.taken places.given a_valid b_valid a_drop b_drop
// mutant: frame/gn_frame_tokens.v s/CREDITS\(FRAMES\)/CREDITS(FRAMES + 4)/
// mutant: frame/gn_frame_tokens.v s/a_tvalid \&\& !dropped/a_tvalid/
// mutant: frame/gn_frame_tokens.v s/m_tready \&\& !dropped/m_tready/
// mutant: frame/gn_frame_tokens.v s/dropped \? drop_ready/dropped ? 1'b1/
// mutant: frame/gn_frame_tokens.v s/m_tready \&\& a_tlast/m_tready/
// mutant: frame/gn_frame_tokens.v s/unused_side_valid\), .m_ready\(done\)/), .m_ready(m_tready)/
`default_nettype none
module proof (
    input wire clk,
    input wire rst,
    input wire s_end,
    input wire job_drop,
    input wire job_taken,
    input wire a_tlast,
    input wire a_tvalid,
    input wire m_tready,
    input wire drop_ready
);
    wire       room, a_tready, m_tvalid, drop_valid, token_valid, drop, done, a_valid, b_valid, a_drop, b_drop;
    wire [6:0] sides, tokens, marks;
    wire [5:0] free;
    wire [2:0] taken, given;
    gn_frame_tokens dut (
        .clk(clk), .rst(rst), .room(room), .s_side(1'b0), .s_end(s_end), .job_drop(job_drop), .job_pass(1'b1), .job_length(17'd0), .job_payload(8'd0),
        .job_shim_valid(1'b0), .job_bytes(17'd0), .job_result_bytes(17'd0), .job_tail_bytes(2'd0), .job_taken(job_taken),
        .a_tlast(a_tlast), .a_tvalid(a_tvalid), .a_tready(a_tready), .m_tvalid(m_tvalid), .m_tready(m_tready), .drop_valid(drop_valid),
        .drop_ready(drop_ready), .\sides.any.words (sides), .\tokens.any.words (tokens), .\tokens.any.marks (marks), .\token_valid (token_valid), .\drop (drop),
        .\done (done), .\places.free_reg (free), .\places.taken (taken), .\places.given (given), .\a_valid (a_valid), .\b_valid (b_valid),
        .\a_drop (a_drop), .\b_drop (b_drop));

    // ---- around it: frames without a job; frames of a job, in the path, that may show themselves

    reg  [6:0] inside = 7'd0, owed = 7'd0;
    reg  [1:0] soon = 2'd0;  // jobs of frames, taken two and three cycles ago
    reg        held = 1'b0;
    wire       out = a_tvalid && a_tready;
    always @(posedge clk) begin
        inside <= rst ? 7'd0 : inside + {6'd0, s_end} - {6'd0, job_taken};
        soon   <= rst ? 2'd0 : {soon[0], b_valid && !b_drop};
        owed   <= rst ? 7'd0 : owed + {6'd0, soon[1]} - {6'd0, out && a_tlast};
        held   <= a_tvalid && !a_tready && !rst;
    end
    always @* begin
        assume (!s_end || room);
        assume (!job_taken || inside != 7'd0);
        assume (!a_tvalid || owed != 7'd0);
        assume (!held || a_tvalid);
        if (tokens != 7'd0) assert (token_valid);
        // each frame has one token: it is before its job, on its way, or there
        assert (sides == inside + {6'd0, a_valid} + {6'd0, b_valid} + tokens);
        assert (tokens - marks == owed + {6'd0, soon[0]} + {6'd0, soon[1]} && marks <= tokens);
        assert ({1'b0, free} + sides + {4'd0, given} == 7'd4 + {4'd0, taken} && taken <= 3'd1 && given <= 3'd1);
        assert (!done || token_valid);
        assert (m_tvalid == (a_tvalid && !(token_valid && drop)) && (!m_tvalid || token_valid));
        assert (drop_valid == (token_valid && drop));
        assert (!(out && a_tlast) || (done && !drop));
        assert (!(drop_valid && drop_ready) || done);
        assert (!(drop_valid && !drop_ready) || (!done && !out));
        assert (!(m_tvalid && m_tready) || out);
    end
endmodule

`resetall
