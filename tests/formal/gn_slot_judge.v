// SPDX-License-Identifier: Apache-2.0
// gn_slot_judge, by a second statement of its rules. Whatever packets come, whatever software has
// written, and whatever a slot's copies hold: a packet is added only to its own chunk, or opens a
// copy whose chunk before all have. A child that is in `seen` is never added again, and only its
// bit comes in. A stream that is corrupt is not, and one with what is no integer poisons its chunk.
// A result leaves exactly when all bits are there, or again when they were. Nothing is written for
// any other packet. Each header is answered once, in its order. So with a memory that keeps what is
// written: each contribution counts once, and no result comes before all.
// method: bmc 20
// seconds: 120
// sources: lib/gn_block_ram.v frame/gn_shim_check.v switch/gn_crc_step.v switch/gn_slot_judge.v
// reduce: s/JOBS_LOG2  = 4/JOBS_LOG2  = 1/
// reduce: s/SLOTS_LOG2 = 6/SLOTS_LOG2 = 1/
// cut: copy_0 copy_1 step_8 step_4 crc
// expose: state_0 state_1 write write_state phase_reg b_log2 b_valid clearing_reg
// mutant: switch/gn_slot_judge.v s/write_state = wipe/write_state = clearing_reg/
// mutant: switch/gn_slot_judge.v s/again \? \(mine\[AT_WHOLE\]/c_same ? (mine[AT_WHOLE]/
// mutant: switch/gn_slot_judge.v s/= !again \&\& \(c_same/= (c_same/
// mutant: switch/gn_slot_judge.v s/whole    = seen ==/whole    = (seen | 8'd1) ==/
// mutant: switch/gn_slot_judge.v s/mine\[AT_WHOLE\] : c_one_before/1'b1 : c_one_before/
// mutant: switch/gn_slot_judge.v s/other\[AT_WHOLE\] \&\& other/other/
// mutant: switch/gn_slot_judge.v s/ \|\| b_flags\[HALVES\] / /
// mutant: switch/gn_slot_judge.v s/b_flags\[FLOAT\] \? DONE_SOFTWARE :/1'b0 ? DONE_SOFTWARE :/
// mutant: switch/gn_slot_judge.v s/\(b_bitmap\[7:0\] - 8.d1\)/8'd0/
// mutant: switch/gn_slot_judge.v s/ \&\& !corrupt \&\&/ \&\&/
// mutant: switch/gn_slot_judge.v s/c_counts \&\& not_int/not_int/
// mutant: switch/gn_slot_judge.v s/ \|\| \(c_counts \&\& c_other\)//
// mutant: switch/gn_slot_judge.v s/\(c_exponent \|\| b_dense\)/1'b1/
`default_nettype none

module proof (
    input wire         clk,
    input wire         rst,
    input wire         cfg_write,
    input wire [15:0]  cfg_address,
    input wire [31:0]  cfg_data,
    input wire [255:0] s_header,
    input wire [16:0]  s_length,
    input wire         s_shimmed,
    input wire [47:0]  s_shim,
    input wire         s_beats,
    input wire         s_bad,
    input wire         s_raw,
    input wire [15:0]  s_port,
    input wire         s_valid,
    input wire         room
);
    `include "agg.vh"

    wire         s_ready, busy, m_add, m_first, m_read, m_beats, m_dense, m_index, m_slot, m_version, m_valid, write, b_valid, clearing;
    wire [4:0]   m_verdict;
    wire [2:0]   m_child, m_last;
    wire [15:0]  m_job, m_gen;
    wire [14:0]  m_field;
    wire [3:0]   m_level, log2;
    wire [88:0]  m_state, state_0, state_1, write_state;
    wire [1:0]   phase;

    gn_slot_judge dut (
        .clk(clk), .rst(rst), .cfg_write(cfg_write), .cfg_address(cfg_address), .cfg_data(cfg_data), .cfg_busy(busy),
        .s_header(s_header), .s_length(s_length), .s_shimmed(s_shimmed),
        .s_shim(s_shim), .s_beats(s_beats), .s_bad(s_bad), .s_raw(s_raw), .s_port(s_port), .s_valid(s_valid), .s_ready(s_ready), .room(room),
        .m_verdict(m_verdict), .m_add(m_add), .m_first(m_first), .m_read(m_read), .m_beats(m_beats), .m_dense(m_dense), .m_index(m_index),
        .m_child(m_child), .m_last_child(m_last), .m_slot(m_slot), .m_version(m_version), .m_job(m_job), .m_gen(m_gen),
        .m_level(m_level), .m_slot_field(m_field), .m_state(m_state), .m_valid(m_valid), .\state_0 (state_0),
        .\state_1 (state_1), .\write (write), .\write_state (write_state), .\phase_reg (phase), .\b_log2 (log2),
        .\b_valid (b_valid), .\clearing_reg (clearing));

    // ---- the header that is answered, and what its copies held

    wire turn = phase == 2'd3;
    reg [255:0] a_header, b_header, header;
    reg [7:0]   a_with, b_with, with_;  // shim and its kind, beats, bad, raw
    reg [88:0]  was_0, was_1, old_0, old_1, written;
    reg [3:0]   slots_log2;
    reg         wrote = 1'b0, a_sent = 1'b0, b_sent = 1'b0, sent = 1'b0;

    always @(posedge clk) begin
        was_0 <= state_0;
        was_1 <= state_1;
        if (turn) begin
            a_header <= s_header;
            b_header <= a_header;
            header   <= b_header;
            a_with   <= {s_shimmed, s_shim[3:0], s_beats, s_bad, s_raw};
            b_with   <= a_with;
            with_    <= b_with;
            a_sent   <= s_valid && s_ready;
            b_sent   <= a_sent;
        end
        sent       <= turn && b_sent;
        old_0      <= state_0;
        old_1      <= state_1;
        slots_log2 <= log2;
        wrote      <= write;
        written    <= write_state;
        if (rst) begin
            a_sent <= 1'b0;
            b_sent <= 1'b0;
            sent   <= 1'b0;
            wrote  <= 1'b0;
        end
    end

    // ---- the rules

    wire [31:0] psn   = {header[8*8 +: 8], header[8*9 +: 8], header[8*10 +: 8], header[8*11 +: 8]};
    wire [7:0]  bits  = header[8*19 +: 8];
    wire [7:0]  flags = header[15:8];
    wire        version = header[8*6 + 7];
    wire [88:0] mine  = version ? old_1 : old_0;
    wire [88:0] other = version ? old_0 : old_1;
    wire [31:0] slots = 32'd1 << slots_log2;
    wire        adds  = m_verdict == 5'd16 || m_verdict == DONE_WHOLE;
    wire        same  = mine[AT_USED] && mine[AT_PSN +: 32] == psn;
    wire        after_other = other[AT_WHOLE] && other[AT_PSN +: 32] + slots == psn;
    wire        opens = mine[AT_USED] ? mine[AT_WHOLE] && after_other
                                      : psn < slots || (after_other && psn - slots < slots);
    wire        shimmed = with_[7], stream = with_[6:3] == 4'd3, beats = with_[2], bad = with_[1], raw = with_[0];
    wire        says = !flags[1] && header[8*26 +: 16] != 16'd0;  // values
    wire [7:0]  everyone = 8'hff >> (3'd7 - m_last);
    wire [7:0]  seen = (same ? mine[AT_SEEN +: 8] : 8'd0) | bits;

    always @* begin
        // as gn_block_ram gives it: the same while the address stays
        assume (!turn || (state_0 == was_0 && state_1 == was_1));
        // only of copies that are not empty
        assume (!state_0[AT_WHOLE] || state_0[AT_USED]);
        assume (!state_1[AT_WHOLE] || state_1[AT_USED]);

        assert (m_valid == sent);
        assert (wrote == (m_valid && adds));
        if (m_valid && (adds || m_verdict == DONE_REPEATED)) begin
            assert (header[7:0] == 8'h10);
            assert (!flags[0] && !flags[7] && !flags[6]);
            assert (bits == 8'd1 << m_child && m_child <= m_last);
            assert (header[8*12 +: 56] == 56'd0);
            assert (m_version == version);
        end
        if (m_valid && adds) begin
            assert (!flags[5]);
            assert (m_first == !same);
            assert (same ? (mine[AT_SEEN +: 8] & bits) == 8'd0 : opens);
            assert (written == m_state);
            assert (m_state[AT_USED] && m_state[AT_PSN +: 32] == psn);
            assert (m_state[AT_SEEN +: 8] == seen);
            assert ((m_verdict == DONE_WHOLE) == (seen == everyone));
            assert (m_state[AT_WHOLE] == (seen == everyone));
            assert (m_state[AT_POISON] == ((same && mine[AT_POISON]) || flags[1] || (says && m_dense && raw)));
            assert (!same || m_dense || mine[AT_EXPONENT +: 8] == header[8*24 +: 8]);
            assert (!says || (m_dense ? shimmed && stream && beats && !bad : !shimmed));
            assert (m_add == (says && !(same && mine[AT_POISON]) && !(m_dense && raw)));
        end
        if (m_valid && m_verdict == DONE_REPEATED) begin
            assert (same && mine[AT_WHOLE] && (mine[AT_SEEN +: 8] & bits) != 8'd0);
            assert (m_state == mine);
        end
        assert (!(m_valid && m_add) || adds);
        assert (!(m_valid && m_read) || m_verdict == DONE_REPEATED);
    end
endmodule

`resetall
