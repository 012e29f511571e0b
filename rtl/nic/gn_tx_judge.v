// SPDX-License-Identifier: Apache-2.0
// Decides about a frame on its way to the wire, as far as its headers tell (as cmodel/transmit.c):
// it passes, and why; or which rule it falls under, and which of its bytes are values.
// A frame a cycle. Latency 4. With a table of TCP flows as gn_tcp_flows says.
`include "rule.vh"
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_tx_judge #(
    parameter        PROFILES   = 7,  // built: bit 0 paper, bit 1 lattice, bit 2 dense
    parameter        RULES      = 4,  // 1 to 16
    parameter        FLOWS_LOG2 = 0,  // 0: of TCP, software says s_head and s_stored. Else a table
                                      // of 2^FLOWS_LOG2 flows knows, 3 to 16; then at most 9 frames
                                      // may be in here
    parameter [31:0] FLOWS_SEED = 32'h6e6f7661  // as gn_tcp_flows says
) (
    input  wire                clk,
    input  wire                rst,          // synchronous, active high

    input  wire                cfg_bypass,   // everything passes
    // Rules as rule.vh says; the first that matches counts. A rule is as if it were not enabled
    // when its profile is not built, or has no such bound.
    input  wire [RULES*64-1:0] cfg_rules,
    input  wire [RULES*8-1:0]  cfg_heads,    // of each rule: bytes of UDP payload left as they are
    input  wire [15:0]         cfg_mtu,      // longest IP packet that may leave with a shim; counts
                                             // a cycle later

    // as gn_frame_parse says
    input  wire [2:0]          s_code,
    input  wire                s_tagged,
    input  wire                s_tcp,
    input  wire [7:0]          s_tos,
    input  wire [7:0]          s_flags,
    input  wire [15:0]         s_port,       // the destination's
    input  wire [7:0]          s_payload,
    input  wire [16:0]         s_end,
    // of a TCP segment, from software, when there is no table
    input  wire [1:0]          s_head,       // bytes up to the first whole value
    input  wire                s_stored,     // these are not known
    input  wire [1:0]          s_flow,       // for the table, as gn_frame_parse says
    input  wire                s_valid,      // always taken

    // of the same frames, ahead of them, as gn_tcp_flows says
    input  wire [290:0]        k_key,
    input  wire                k_valid,
    output wire                event_flow_added,
    output wire                event_flow_evicted,
    output wire                event_flow_closed,

    output wire [3:0]          m_kind,       // as the list below says; COMPRESSED: to be tried
    output wire [3:0]          m_rule,
    output wire [1:0]          m_profile,
    output wire [7:0]          m_bound_exp,
    output wire [16:0]         m_bytes,      // of the payload
    // COMPRESSED: verbatim bytes, number of values, where in the frame the values begin and end.
    // Else no values, and both places are the packet's end.
    output wire [7:0]          m_head,
    output wire [14:0]         m_values,
    output wire [16:0]         m_start,
    output wire [16:0]         m_stop,
    output wire                m_valid       // for one cycle
);

    localparam [3:0] COMPRESSED = 4'd0, STORED_NO_GAIN = 4'd1, STORED_NO_SYN = 4'd2, STORED_SYN = 4'd3, PASS_BYPASS = 4'd4,
                     PASS_NO_RULE = 4'd5, PASS_NOT_IP = 4'd6, PASS_FRAGMENT = 4'd7, PASS_EXTENSION = 4'd8, PASS_PROTOCOL = 4'd9,
                     PASS_EMPTY = 4'd10, PASS_TOO_BIG = 4'd11;

    // ---- a: the rules that match, and what they say: their registers may change in the next cycle

    localparam FIN = 0, SYN = 1, RST = 2;  // of TCP's flags

    // the end of a packet with room for a shim: behind an Ethernet header, less the shim's 8 bytes
    reg [16:0] most_reg, most_tagged_reg;
    always @(posedge clk) begin
        most_reg        <= {1'b0, cfg_mtu} + 17'd6;
        most_tagged_reg <= {1'b0, cfg_mtu} + 17'd10;
    end

    wire        unused_bits = &{1'b0, s_tos, s_flags};
    wire [3:0]  built = {1'b0, PROFILES[2:0]};

    reg [RULES-1:0]    a_hit;
    reg [RULES*18-1:0] a_say;  // of each rule: head, bound_exp, profile
    reg                a_bypass, a_tcp, a_syn, a_close, a_stored, a_big;
    reg [1:0]          a_flow;
    reg [2:0]          a_code;
    reg [1:0]          a_head;
    reg [7:0]          a_payload;
    reg [16:0]         a_end, a_bytes;
    reg                a_valid = 1'b0;

    genvar i;
    generate
        for (i = 0; i < RULES; i = i + 1) begin : g_rule
            wire [63:0] rule     = cfg_rules[64*i +: 64];
            wire [7:0]  tos      = rule[`GN_RULE_TOS];
            wire [7:0]  protocol = rule[`GN_RULE_PROTOCOL];
            wire [1:0]  profile  = rule[`GN_RULE_PROFILE];
            wire [7:0]  bound    = rule[`GN_RULE_BOUND_EXP];
            wire        unused_rule = &{1'b0, rule, tos};
            // -31 to 31
            wire        in_31 = bound[7:5] == 3'd0 || (bound[7:5] == 3'd7 && bound[4:0] != 5'd0);
            wire        has_bound = profile == 2'd0 ? !bound[7] && bound != 8'd0 && bound != 8'd127 : in_31;
            always @(posedge clk) begin
                a_hit[i] <= rule[`GN_RULE_ENABLE] && built[profile] && has_bound && tos[7:2] == s_tos[7:2] &&
                            (protocol == 8'd0 || protocol == (s_tcp ? 8'd6 : 8'd17)) &&
                            rule[`GN_RULE_PORT_LOW] <= s_port && s_port <= rule[`GN_RULE_PORT_HIGH];
                a_say[18*i +: 18] <= {cfg_heads[8*i +: 8], bound, profile};
            end
        end
    endgenerate

    always @(posedge clk) begin
        a_bypass  <= cfg_bypass;
        a_code    <= s_code;
        a_tcp     <= s_tcp;
        a_syn     <= s_flags[SYN];
        a_close   <= s_flags[FIN] || s_flags[RST];
        a_flow    <= s_flow;
        a_stored  <= s_stored && s_tcp && FLOWS_LOG2 == 0;
        a_head    <= s_head;
        a_big     <= s_end > (s_tagged ? most_tagged_reg : most_reg);
        a_payload <= s_payload;
        a_end     <= s_end;
        a_bytes   <= s_end - {9'd0, s_payload};
        a_valid   <= s_valid && !rst;
    end

    // ---- b: the first of them; why the frame passes

    reg  [3:0]  first;
    reg  [17:0] say;
    wire [7:0]  say_head, say_bound_exp;
    wire [1:0]  say_profile;
    integer     n;
    assign {say_head, say_bound_exp, say_profile} = say;
    always @* begin
        first = 4'd0;
        say   = 18'd0;
        for (n = RULES - 1; n >= 0; n = n - 1)
            if (a_hit[n]) begin
                first = n[3:0];
                say   = a_say[18*n +: 18];
            end
    end

    reg [3:0]  b_kind, b_rule;
    reg [7:0]  b_bound_exp, b_head, b_payload;
    reg [1:0]  b_profile;
    reg [16:0] b_end, b_bytes;
    reg        b_tcp, b_syn, b_find, b_close;  // the last three: what a table of flows is asked
    reg        b_valid = 1'b0;

    always @(posedge clk) begin
        b_kind <= a_bypass ? PASS_BYPASS
                : a_code == 3'd1 ? PASS_NOT_IP : a_code == 3'd2 ? PASS_FRAGMENT : a_code == 3'd3 ? PASS_EXTENSION
                : a_code == 3'd4 ? PASS_PROTOCOL : a_code == 3'd5 ? PASS_EMPTY
                : a_hit == {RULES{1'b0}} ? PASS_NO_RULE : a_big ? PASS_TOO_BIG
                : a_syn ? STORED_SYN : a_stored ? STORED_NO_SYN : COMPRESSED;
        b_rule      <= first;
        b_profile   <= say_profile;
        b_bound_exp <= say_bound_exp;
        b_head      <= a_tcp ? {6'd0, a_head} : say_head;
        b_payload   <= a_payload;
        b_end       <= a_end;
        b_bytes     <= a_bytes;
        b_tcp       <= a_tcp;
        b_syn       <= a_flow[1] && a_syn;
        b_find      <= a_flow == 2'b11 && !a_syn && a_hit != {RULES{1'b0}};
        b_close     <= a_flow[1] && a_close;
        b_valid     <= a_valid && !rst;
    end

    // ---- f: of a TCP segment, the head, if a table of flows is to say it

    wire [3:0]  f_kind, f_rule;
    wire [7:0]  f_bound_exp, f_head, f_payload;
    wire [1:0]  f_profile;
    wire [16:0] f_end, f_bytes;
    wire        f_valid;

    generate
        if (FLOWS_LOG2 == 0) begin : g_side
            assign {f_kind, f_rule, f_profile, f_bound_exp, f_head, f_payload, f_end, f_bytes, f_valid} =
                {b_kind, b_rule, b_profile, b_bound_exp, b_head, b_payload, b_end, b_bytes, b_valid};
            assign {event_flow_added, event_flow_evicted, event_flow_closed} = 3'd0;
            wire unused_flows = &{1'b0, FLOWS_SEED, k_key, k_valid, b_tcp, b_syn, b_find, b_close};
        end else begin : g_flows
            wire [3:0] kind;
            wire [7:0] head;
            wire [1:0] flow_head;
            wire       tcp, known, unused_there;

            gn_credit_fifo #(.WIDTH(69), .LOG2(3)) asked (
                .clk(clk), .rst(rst), .s_data({b_kind, b_rule, b_profile, b_bound_exp, b_head, b_payload, b_end, b_bytes, b_tcp}),
                .s_valid(b_valid), .m_data({kind, f_rule, f_profile, f_bound_exp, head, f_payload, f_end, f_bytes, tcp}),
                .m_valid(unused_there), .m_ready(f_valid));
            gn_tcp_flows #(.LOG2(FLOWS_LOG2), .SEED(FLOWS_SEED)) flows (
                .clk(clk), .rst(rst), .k_key(k_key), .k_valid(k_valid), .s_syn(b_syn), .s_find(b_find), .s_end(b_close),
                .s_valid(b_valid), .m_known(known), .m_head(flow_head), .m_valid(f_valid),
                .event_added(event_flow_added), .event_evicted(event_flow_evicted), .event_closed(event_flow_closed));

            assign f_kind = kind == COMPRESSED && tcp && !known ? STORED_NO_SYN : kind;
            assign f_head = tcp ? {6'd0, flow_head} : head;
        end
    endgenerate

    // ---- c: what is left behind the head; d: if that is a value at least, where the values are

    reg [3:0]  c_kind, c_rule, d_kind, d_rule;
    reg [7:0]  c_bound_exp, c_head, c_payload, d_bound_exp, d_head;
    reg [1:0]  c_profile, d_profile;
    reg [16:0] c_end, c_bytes, d_bytes, d_start, d_stop;
    reg [17:0] c_left;  // highest bit: less than none
    reg [14:0] d_values;
    reg        c_valid = 1'b0, d_valid = 1'b0;

    wire c_none = c_left[17] || c_left[16:2] == 15'd0;
    wire c_try  = c_kind == COMPRESSED && !c_none;

    always @(posedge clk) begin
        c_left      <= {1'b0, f_bytes} - {10'd0, f_head};
        c_kind      <= f_kind;
        c_rule      <= f_rule;
        c_profile   <= f_profile;
        c_bound_exp <= f_bound_exp;
        c_head      <= f_head;
        c_payload   <= f_payload;
        c_end       <= f_end;
        c_bytes     <= f_bytes;
        c_valid     <= f_valid && !rst;

        d_kind      <= c_kind == COMPRESSED && c_none ? STORED_NO_GAIN : c_kind;
        d_rule      <= c_rule;
        d_profile   <= c_profile;
        d_bound_exp <= c_bound_exp;
        d_bytes     <= c_bytes;
        d_head      <= c_head;
        d_values    <= c_try ? c_left[16:2] : 15'd0;
        d_start     <= c_try ? {9'd0, c_payload} + {9'd0, c_head} : c_end;
        d_stop      <= c_end - (c_try ? {15'd0, c_left[1:0]} : 17'd0);
        d_valid     <= c_valid && !rst;
    end

    assign m_kind      = d_kind;
    assign m_rule      = d_rule;
    assign m_profile   = d_profile;
    assign m_bound_exp = d_bound_exp;
    assign m_bytes     = d_bytes;
    assign m_head      = d_head;
    assign m_values    = d_values;
    assign m_start     = d_start;
    assign m_stop      = d_stop;
    assign m_valid     = d_valid;

    generate
        if (RULES < 1 || RULES > 16 || PROFILES < 1 || PROFILES > 7) begin : g_check
            RULES_must_be_1_to_16_and_PROFILES_name_one_to_three error();
        end
    endgenerate

endmodule

`resetall
