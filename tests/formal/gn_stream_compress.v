// SPDX-License-Identifier: Apache-2.0
// gn_stream_compress as a whole, whatever comes. What it offers stays until it is taken, with its
// bytes, its end and its count of values. tkeep is contiguous, and only a frame's last beat is
// partial. As many frames leave as came in. Each FIFO within has room for what comes, no more than
// 16 groups are in gn_quad_pack's ring, and the packer gets nothing of a frame whose turn is not
// known. Abstracted: the lanes are any (any_lanes.v); the FIFOs are what their proofs say
// (any_fifos.v, any_quads.v); pieces and beats have the lengths that the proofs of gn_quad_pack and
// gn_record_packer show.
// method: induct
// seconds: 60
// stubs: any_lanes.v any_fifos.v any_quads.v
// sources: lib/gn_credit_counter.v codec/gn_compress_unit.v
// sources: codec/gn_group_class.v codec/gn_quad_pack.v
// sources: codec/gn_record_packer.v
// sources: codec/gn_stream_compress.v
// reduce: s/gn_credit_fifo (#\(.WIDTH\(19\), .LOG2\(4\)\) quads)/any_quads \1/
// reduce: s/COUNT_WIDTH = 24/COUNT_WIDTH = 5/
// expose: i_valid i_last first_reg profile_reg unit.valid_reg unit.last_reg unit.dense_reg
// expose: unit.quad_valid_reg unit.quad_last_reg unit.m_length g_records.records.any.words
// expose: g_records.records.any.marks
// expose: g_dense.quads.a_valid g_dense.quads.a_last g_dense.quads.c_valid g_dense.quads.c_last
// expose: g_dense.quads.quads.groups g_dense.quads.quads.words g_dense.quads.quads.fifo.any.words
// expose: g_dense.quads.quads.fifo.any.marks
// expose: g_dense.quads.group_reg g_dense.quads.classes_reg g_dense.quads.step_reg
// expose: g_dense.quads.q_header g_dense.quads.q_group g_dense.quads.q_valid g_dense.quads.r_valid
// expose: g_dense.quads.r_last g_dense.quads.pieces.any.words g_dense.quads.pieces.any.marks
// expose: g_dense.quads.credits.free_reg g_dense.quads.credits.taken g_dense.quads.credits.given
// expose: g_order.order.any.words g_order.order.any.marks
// expose: packer.a_valid packer.a_last packer.a_beats packer.b_count packer.b_first_last
// expose: packer.b_second_last packer.b_third packer.m_bytes packer.credits.free_reg
// expose: packer.credits.taken packer.credits.given packer.fifo.words packer.fifo.marks
// expose: g_records.records.any.newest g_dense.quads.quads.fifo.any.newest
// expose: g_dense.quads.pieces.any.newest g_dense.quads.room g_dense.quads.run_reg packer.room
// expose: packer.pause_reg
// expose: credits.free_reg credits.taken credits.given counts.any.words p_valid q_length r_length
// expose: q_valid r_valid g_order.unused_order unused_valid order_dense
// mutant: codec/gn_stream_compress.v s/take \&\& first_reg\),/take),/
// mutant: codec/gn_stream_compress.v s/(assign q_ready = p_ready) \&\& order_dense/\1/
// mutant: codec/gn_stream_compress.v s/CREDITS\(16\)/CREDITS(18)/
// mutant: codec/gn_quad_pack.v s/(q_done \? \{1'b0, q_group\}) - \{1'b0, step_reg\}/\1/
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire [9:0]   s_user,
    input wire         s_last,
    input wire         s_valid,
    input wire [31:0]  s_keep,
    input wire         m_ready
);
    wire         s_ready, m_last, m_valid;
    wire [255:0] m_data;
    wire [31:0]  m_keep;
    wire [4:0]   m_user;
    wire         i_valid, i_last, first, quad_valid, quad_last, a_valid, a_last, c_valid, c_last, q_there, r_there, r_last, pa_valid, pa_last, first_last, second_last, third;
    wire         p_valid, q_valid, r_valid, order_there, count_there, order_dense;
    wire         record_newest, quad_newest, piece_newest, piece_room, beat_room, pause;
    wire [8:0]   run;
    wire [1:0]   profile;
    wire [2:0]   u_dense;
    wire [1:0]   u_valid, u_last, group, step, q_group, pa_beats, b_count;
    wire [11:0]  classes;
    wire [15:0]  q_header;
    wire [5:0]   u_length, m_bytes, free, piece_free, beat_free, q_length, r_length;
    wire [2:0]   taken, given, piece_taken, piece_given, beat_taken, beat_given;
    wire [6:0]   records, record_marks, groups, quads, quads_2, quad_marks, pieces, piece_marks, orders, order_marks, beats, beat_marks, counts;
    gn_stream_compress dut (
        .clk(clk), .rst(rst), .s_axis_tdata(256'd0), .s_axis_tkeep(s_keep), .s_axis_tlast(s_last), .s_axis_tuser(s_user), .s_axis_tvalid(s_valid), .s_axis_tready(s_ready),
        .m_axis_tdata(m_data), .m_axis_tkeep(m_keep), .m_axis_tlast(m_last), .m_axis_tuser(m_user), .m_axis_tvalid(m_valid), .m_axis_tready(m_ready),
        .\i_valid (i_valid), .\i_last (i_last), .\first_reg (first), .\profile_reg (profile), .\unit.valid_reg (u_valid), .\unit.last_reg (u_last), .\unit.dense_reg (u_dense),
        .\unit.quad_valid_reg (quad_valid), .\unit.quad_last_reg (quad_last), .\unit.m_length (u_length),
        .\g_records.records.any.words (records), .\g_records.records.any.marks (record_marks),
        .\g_dense.quads.a_valid (a_valid), .\g_dense.quads.a_last (a_last), .\g_dense.quads.c_valid (c_valid), .\g_dense.quads.c_last (c_last),
        .\g_dense.quads.quads.groups (groups), .\g_dense.quads.quads.words (quads), .\g_dense.quads.quads.fifo.any.words (quads_2), .\g_dense.quads.quads.fifo.any.marks (quad_marks),
        .\g_dense.quads.group_reg (group), .\g_dense.quads.classes_reg (classes), .\g_dense.quads.step_reg (step), .\g_dense.quads.q_header (q_header), .\g_dense.quads.q_group (q_group),
        .\g_dense.quads.q_valid (q_there), .\g_dense.quads.r_valid (r_there), .\g_dense.quads.r_last (r_last),
        .\g_dense.quads.pieces.any.words (pieces), .\g_dense.quads.pieces.any.marks (piece_marks),
        .\g_dense.quads.credits.free_reg (piece_free), .\g_dense.quads.credits.taken (piece_taken), .\g_dense.quads.credits.given (piece_given),
        .\g_order.order.any.words (orders), .\g_order.order.any.marks (order_marks),
        .\packer.a_valid (pa_valid), .\packer.a_last (pa_last), .\packer.a_beats (pa_beats), .\packer.b_count (b_count), .\packer.b_first_last (first_last),
        .\packer.b_second_last (second_last), .\packer.b_third (third), .\packer.m_bytes (m_bytes), .\packer.credits.free_reg (beat_free),
        .\packer.credits.taken (beat_taken), .\packer.credits.given (beat_given), .\packer.fifo.words (beats), .\packer.fifo.marks (beat_marks),
        .\g_records.records.any.newest (record_newest), .\g_dense.quads.quads.fifo.any.newest (quad_newest), .\g_dense.quads.pieces.any.newest (piece_newest),
        .\g_dense.quads.room (piece_room), .\g_dense.quads.run_reg (run), .\packer.room (beat_room), .\packer.pause_reg (pause),
        .\credits.free_reg (free), .\credits.taken (taken), .\credits.given (given), .\counts.any.words (counts), .\p_valid (p_valid),
        .\q_length (q_length), .\r_length (r_length), .\q_valid (q_valid), .\r_valid (r_valid), .\g_order.unused_order (order_there), .\unused_valid (count_there), .\order_dense (order_dense));

    // ---- what other proofs have shown of a word that a FIFO gives

    always @* begin
        if (quad_valid) assert (u_length >= 6'd2 && u_length <= 6'd34);
        if (r_valid) assume (r_length >= 6'd2 && r_length <= 6'd34);
        if (q_valid) assume (q_length >= 6'd1 && q_length <= 6'd35);
        if (m_valid) assume (m_bytes >= 6'd1 && m_bytes <= 6'd32 && (m_last || m_bytes == 6'd32));
    end

    // ---- the output's protocol

    stays #(.WIDTH(289)) m_stays (.clk(clk), .rst(rst), .data({m_data, m_keep, m_last}), .valid(m_valid), .ready(m_ready));
    stays #(.WIDTH(5)) user_stays (.clk(clk), .rst(rst), .data(m_user), .valid(m_valid), .ready(m_ready));
    always @* begin
        if (m_valid) assert (m_keep[0] && (m_keep & (m_keep + 32'd1)) == 32'd0 && (m_last || &m_keep));
        assert (!m_valid || !m_last || count_there);
    end

    // ---- groups: places taken are those of groups inside; a record goes one way, a group of a
    // dense frame the other

    wire [6:0] waiting = groups + {5'd0, group} - {5'd0, step};  // in the ring
    wire [6:0] inside = {6'd0, i_valid} + {6'd0, u_valid[0]} + {6'd0, u_valid[1]} + {6'd0, quad_valid} + records + {6'd0, a_valid} + {6'd0, c_valid} + waiting;
    wire [6:0] pieces_inside = pieces + {6'd0, r_there};
    wire [6:0] beats_inside  = beats + (pa_valid ? {5'd0, pa_beats} : 7'd0) + {5'd0, b_count} + {6'd0, third};
    always @* begin
        assert (free <= 6'd16 && {1'b0, 6'd16 - free} + {4'd0, taken} - {4'd0, given} == inside);
        assert (inside <= 7'd16 && waiting <= 7'd16 && taken <= 3'd1 && given <= 3'd5);
        assert (quads == quads_2);
        // the step is within the quad that waits
        assert (step == 2'd0 || (q_there && step <= q_group && q_header >> {step, 2'd0} != 16'd0));
        assert (classes >> {group, 2'd0} == 12'd0);
        // gn_quad_pack's pieces
        assert (piece_free <= 6'd9 && {1'b0, 6'd9 - piece_free} + {4'd0, piece_taken} - {4'd0, piece_given} == pieces_inside);
        assert (pieces_inside <= 7'd9 && piece_taken <= 3'd1 && piece_given <= 3'd1);
        // the packer's beats
        assert (beat_free <= 6'd17 && {1'b0, 6'd17 - beat_free} + {4'd0, beat_taken} - {4'd0, beat_given} == beats_inside);
        assert (beats_inside <= 7'd17 && beat_taken <= 3'd3 && beat_given <= 3'd1);
        assert (!(third && pa_valid) && !(pa_valid && pa_beats == 2'd3 && !pause));
        assert (!pa_valid || (pa_last ? pa_beats != 2'd0 : pa_beats != 2'd3));
        assert (!(first_last && b_count == 2'd0) && !(second_last && b_count != 2'd2) && !(first_last && b_count == 2'd2) && b_count != 2'd3);
        // room is promised only where there is
        assert (!s_ready || free >= 6'd2);
        assert (!piece_room || piece_free >= 6'd2);
        assert (!beat_room || beat_free >= 6'd6);
        assert (step == 2'd0 || run == 9'd0);
    end

    // ---- frames: those of each way, those in the packer, those whose order and whose count wait

    wire [6:0] of_records = {6'd0, quad_valid && quad_last} + record_marks;
    wire [6:0] of_dense   = {6'd0, a_valid && a_last} + {6'd0, c_valid && c_last} + quad_marks + {6'd0, r_there && r_last} + piece_marks;
    wire [6:0] packing    = {6'd0, pa_valid && pa_last} + {6'd0, first_last} + {6'd0, second_last} + {6'd0, third} + beat_marks;
    wire       in_0 = i_valid && i_last, in_1 = u_valid[0] && u_last[0], in_2 = u_valid[1] && u_last[1];
    wire       dense_0 = profile == 2'd2, dense_1 = u_dense[1], dense_2 = u_dense[2];
    wire [6:0] dense_frames = of_dense + {6'd0, in_0 && dense_0} + {6'd0, in_1 && dense_1} + {6'd0, in_2 && dense_2};
    wire [6:0] all_frames   = of_dense + of_records + {6'd0, in_0} + {6'd0, in_1} + {6'd0, in_2};
    wire records_there = (i_valid && !dense_0) || (u_valid[0] && !dense_1) || (u_valid[1] && !dense_2) || quad_valid || records != 7'd0;
    wire record_last   = i_valid && !dense_0 ? i_last : u_valid[0] && !dense_1 ? u_last[0] : u_valid[1] && !dense_2 ? u_last[1] : quad_valid ? quad_last : record_newest;
    wire dense_there   = (i_valid && dense_0) || (u_valid[0] && dense_1) || (u_valid[1] && dense_2) || a_valid || c_valid || group != 2'd0 || quads != 7'd0 || r_there || pieces != 7'd0;
    wire dense_last    = i_valid && dense_0 ? i_last : u_valid[0] && dense_1 ? u_last[0] : u_valid[1] && dense_2 ? u_last[1] : a_valid ? a_last : c_valid ? c_last
                       : group != 2'd0 ? 1'b0 : quads != 7'd0 ? quad_newest : r_there ? r_last : piece_newest;
    always @* begin
        if (i_valid || !first) assert (u_dense[0] == dense_0);
        assert (counts == of_dense + of_records + packing + {6'd0, in_1} + {6'd0, in_2});
        assert (counts <= 7'd65 && packing <= 7'd20);
        assert (orders == all_frames + {6'd0, !first});
        assert (order_marks == dense_frames + {6'd0, !first && dense_0});
        assert (!p_valid || order_there);
        // the newest of what is on a way is a frame's last, unless that frame is still to end
        assert (record_last || !records_there || (!first && !dense_0));
        assert (dense_last || !dense_there || (!first && dense_0));
    end
endmodule

`resetall
