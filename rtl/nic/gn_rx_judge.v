// SPDX-License-Identifier: Apache-2.0
// Decides about a frame from the wire, as far as its headers, its shim and its checksum tell (as
// cmodel/receive.c): it passes; it is dropped, and why; or it is restored, and which of its bytes
// are a stream. A frame a cycle. Latency 5.
`include "rule.vh"
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_rx_judge #(
    parameter PROFILES = 7,  // built: bit 0 paper, bit 1 lattice, bit 2 dense
    parameter RULES    = 4,
    parameter LOG2     = 10  // a frame restored has at most 32 * 2^LOG2 bytes
) (
    input  wire                clk,
    input  wire                rst,          // synchronous, active high

    input  wire                cfg_bypass,   // everything passes
    input  wire [RULES*64-1:0] cfg_rules,    // as rule.vh says; only DSCP and ENABLE count here
    input  wire [15:0]         cfg_max_restored,  // longest IP packet that is restored

    // as gn_frame_parse says
    input  wire [2:0]          s_code,
    input  wire                s_tagged,
    input  wire                s_tcp,
    input  wire [7:0]          s_tos,
    input  wire [7:0]          s_payload,
    input  wire [16:0]         s_end,
    input  wire [63:0]         s_front,      // if there is a shim, this is it
    input  wire [15:0]         s_checksum,
    input  wire [15:0]         s_sum,
    input  wire                s_valid,      // always taken

    output wire [4:0]          m_outcome,    // as gn_nic_regs says; the stream is not judged yet
    output wire                m_engine,     // there is a stream
    output wire [1:0]          m_profile,    // its setting
    output wire [7:0]          m_bound_exp,
    output wire [13:0]         m_values,     // its number of values, at least one
    output wire [16:0]         m_from,       // where in the frame the bytes behind the shim begin
    output wire [16:0]         m_start,      // where the stream begins and ends; without one, both
    output wire [16:0]         m_stop,       // are the packet's end
    output wire [15:0]         m_bytes,      // of the payload, restored
    output wire                m_valid       // for one cycle
);

    `include "shim.vh"

    localparam [4:0] PASSED = 5'd2, FOREIGN = 5'd3, RESTORED = 5'd4, BAD_VERSION = 5'd11, BAD_KIND = 5'd12, BAD_BOUND = 5'd13,
                     BAD_HEAD = 5'd14, BAD_LENGTH = 5'd15, BAD_STREAM = 5'd16, BAD_CHECKSUM = 5'd17;
    localparam [4:0] TOO_LARGE = 5'd20;
    localparam [17:0] MOST = 18'd32 << LOG2;

    // ---- the longest frame: what software says of its packet, and what the buffer holds

    reg [17:0] wanted_reg, wanted_tagged_reg, most_reg, most_tagged_reg;
    always @(posedge clk) begin
        wanted_reg        <= {2'd0, cfg_max_restored} + 18'd14;
        wanted_tagged_reg <= {2'd0, cfg_max_restored} + 18'd18;
        most_reg          <= wanted_reg < MOST ? wanted_reg : MOST;
        most_tagged_reg   <= wanted_tagged_reg < MOST ? wanted_tagged_reg : MOST;
    end

    // ---- a: the rules, the shim, the sum

    wire [7:0]  check, head, bound;
    wire [15:0] length, magic;
    wire [3:0]  version, kind;
    assign {check, head, length[7:0], length[15:8], bound, version, kind, magic} = s_front;

    // CRCs of the shim's halves: that of the whole is their exclusive or, made in the next stage
    wire [7:0]  check_low, check_high;
    gn_shim_check crc_low (.shim({28'd0, s_front[27:0]}), .check(check_low));
    gn_shim_check crc_high (.shim({s_front[55:28], 28'd0}), .check(check_high));
    wire        unused_bits = &{1'b0, s_tos, cfg_rules};

    reg [RULES-1:0] a_hit;
    reg             a_plain;  // a packet with payload, and no bypass
    reg             a_magic, a_right, a_tagged, a_valid = 1'b0;
    reg [7:0]       a_low, a_high, a_head, a_bound, a_payload;
    reg [3:0]       a_version, a_kind;
    reg [15:0]      a_length;
    reg [16:0]      a_bytes, a_end;

    genvar i;
    generate
        for (i = 0; i < RULES; i = i + 1) begin : g_rule
            wire [63:0] rule = cfg_rules[64*i +: 64];
            wire [7:0]  tos  = rule[`GN_RULE_TOS];
            wire        unused_rule = &{1'b0, rule, tos};
            always @(posedge clk) a_hit[i] <= rule[`GN_RULE_ENABLE] && tos[7:2] == s_tos[7:2];
        end
    endgenerate

    always @(posedge clk) begin
        a_plain   <= !cfg_bypass && s_code == 3'd0;
        a_magic   <= magic == SHIM_MAGIC;
        a_low     <= check_low;
        a_high    <= check_high ^ check;
        a_version <= version;
        a_kind    <= kind;
        a_bound   <= bound;
        a_length  <= length;
        a_head    <= head;
        a_right   <= s_sum == 16'hffff && (s_tcp || s_checksum != 16'd0);  // UDP: 0 is none
        a_tagged  <= s_tagged;
        a_payload <= s_payload;
        a_end     <= s_end;
        a_bytes   <= s_end - {9'd0, s_payload};
        a_valid   <= s_valid && !rst;
    end

    // ---- b: is it ours? Fields of the shim alone

    reg         b_marked, b_ours, b_right, b_version, b_kind_there, b_bound_right, b_stored, b_none, b_tagged, b_valid = 1'b0;
    reg  [1:0]  b_kind;
    reg  [7:0]  b_head, b_bound, b_payload;
    reg  [15:0] b_length;
    reg  [16:0] b_behind, b_end;
    reg  [16:0] b_left;  // highest bit: less than none
    reg  [17:0] b_reach;

    wire [7:0]  built = {4'd0, PROFILES[2:0], 1'b1};
    // -31 to 31
    wire        in_31 = a_bound[7:5] == 3'd0 || (a_bound[7:5] == 3'd7 && a_bound[4:0] != 5'd0);

    always @(posedge clk) begin
        b_marked      <= a_plain && |a_hit;
        b_ours        <= a_plain && |a_hit && a_magic && a_low == a_high && a_bytes >= 17'd8;
        b_right       <= a_right;
        b_version     <= a_version == SHIM_VERSION;
        b_kind_there  <= !a_kind[3] && built[a_kind[2:0]];
        b_bound_right <= a_kind == 4'd0 ? a_bound == 8'd0 : a_kind == 4'd1 ? !a_bound[7] && a_bound != 8'd0 && a_bound != 8'd127 : in_31;
        b_stored      <= a_kind == 4'd0;
        b_none        <= a_length == 16'd0;
        b_tagged      <= a_tagged;
        b_kind        <= a_kind[1:0];
        b_head        <= a_head;
        b_bound       <= a_bound;
        b_payload     <= a_payload;
        b_length      <= a_length;
        b_end         <= a_end;
        b_behind      <= a_bytes - 17'd8;
        b_left        <= {1'b0, a_length} - {9'd0, a_head};
        b_reach       <= {2'd0, a_length} + {10'd0, a_payload};
        b_valid       <= a_valid && !rst;
    end

    // ---- c: the first fault, up to the head; bytes that are verbatim

    reg  [4:0]  c_outcome;
    reg         c_none, c_over;  // no bytes, or more than may be
    reg         c_fine, c_stored, c_valid = 1'b0;
    reg  [1:0]  c_kind, c_tail;
    reg  [7:0]  c_head, c_bound, c_payload;
    reg  [13:0] c_values;
    reg  [15:0] c_length, c_verbatim;
    reg  [16:0] c_behind, c_end;

    wire bad_head = b_stored ? b_head != 8'd0 : b_left[16];

    always @(posedge clk) begin
        c_outcome  <= !b_marked ? PASSED : !b_ours ? FOREIGN : !b_right ? BAD_CHECKSUM : !b_version ? BAD_VERSION
                    : !b_kind_there ? BAD_KIND : !b_bound_right ? BAD_BOUND : BAD_HEAD;
        c_fine     <= b_ours && b_right && b_version && b_kind_there && b_bound_right && !bad_head;
        c_stored   <= b_stored;
        c_none     <= b_none;
        c_over     <= b_reach > (b_tagged ? most_tagged_reg : most_reg);
        c_kind     <= b_kind;
        c_tail     <= b_stored ? 2'd0 : b_left[1:0];
        c_values   <= b_stored ? 14'd0 : b_left[15:2];
        c_head     <= b_head;
        c_bound    <= b_bound;
        c_payload  <= b_payload;
        c_length   <= b_length;
        c_verbatim <= b_stored ? b_length : {8'd0, b_head} + {14'd0, b_left[1:0]};
        c_behind   <= b_behind;
        c_end      <= b_end;
        c_valid    <= b_valid && !rst;
    end

    // ---- d: what remains for the stream; e: the length, and a stream of nothing

    reg  [4:0]  d_outcome, e_outcome;
    reg         d_fine, d_stored, d_none, d_over, d_engine, d_valid = 1'b0, e_engine, e_valid = 1'b0;
    reg  [1:0]  d_kind, d_tail, e_profile;
    reg  [7:0]  d_head, d_bound, e_bound;
    reg  [13:0] d_values, e_values;
    reg  [15:0] d_length, e_length;
    reg  [16:0] d_end, d_from, e_from, e_start, e_stop;
    reg  [17:0] d_stream;  // highest bit: less than none

    wire d_empty = d_stream == 18'd0;

    always @(posedge clk) begin
        d_outcome <= c_outcome;
        d_fine    <= c_fine;
        d_stored  <= c_stored;
        d_none    <= c_none;
        d_over    <= c_over;
        d_engine  <= c_values != 14'd0;
        d_kind    <= c_kind;
        d_tail    <= c_tail;
        d_head    <= c_head;
        d_bound   <= c_bound;
        d_values  <= c_values;
        d_length  <= c_length;
        d_end     <= c_end;
        d_from    <= {9'd0, c_payload} + 17'd8;
        d_stream  <= {1'b0, c_behind} - {2'd0, c_verbatim};
        d_valid   <= c_valid && !rst;

        e_outcome <= !d_fine ? d_outcome
                   : d_none || d_stream[17] || (d_stored && !d_empty) ? BAD_LENGTH
                   : d_over ? TOO_LARGE
                   : d_engine == d_empty && !d_stored ? BAD_STREAM : {RESTORED[4:2], d_kind};
        e_engine  <= d_fine && !d_over && !d_stream[17] && d_engine && !d_empty;
        e_profile <= d_kind - 2'd1;
        e_bound   <= d_bound;
        e_values  <= d_values;
        e_length  <= d_length;
        e_from    <= d_from;
        e_start   <= d_engine ? d_from + {9'd0, d_head} : d_end;
        e_stop    <= d_end - {15'd0, d_engine ? d_tail : 2'd0};
        e_valid   <= d_valid && !rst;
    end

    assign m_outcome   = e_outcome;
    assign m_engine    = e_engine;
    assign m_profile   = e_profile;
    assign m_bound_exp = e_bound;
    assign m_values    = e_values;
    assign m_from      = e_from;
    assign m_start     = e_start;
    assign m_stop      = e_stop;
    assign m_bytes     = e_length;
    assign m_valid     = e_valid;

    generate
        if (RULES < 1 || PROFILES < 1 || PROFILES > 7 || LOG2 < 2 || LOG2 > 11) begin : g_check
            PROFILES_must_name_one_to_three_and_LOG2_be_2_to_11 error();
        end
    endgenerate

endmodule

`resetall
