// SPDX-License-Identifier: Apache-2.0
// gn_tx_judge, whatever headers, rules and registers, which may change in every cycle. Each frame
// is answered once, four cycles later, by what stood when it came; for the MTU, a cycle before. It
// is passed, stored or to be tried, as the first rule that matches says. Its fields relate as the
// next blocks ask: the values lie within the packet, behind the head, and leave at most three bytes
// over. Without feedback, what leaves depends on five cycles alone: these are all.
// method: bmc 7
// sources: nic/gn_tx_judge.v
// reduce: s/RULES    = 4,/RULES    = 2,/
// mutant: nic/gn_tx_judge.v s/c_none = c_left\[17\] \|\|/c_none =/
// mutant: nic/gn_tx_judge.v /d_start +<=/s/: c_end/: c_end - 17'd1/
// mutant: nic/gn_tx_judge.v s/d_values    <= c_try \?/d_values    <= c_kind == COMPRESSED ?/
// mutant: nic/gn_tx_judge.v s/n = RULES - 1; n >= 0; n = n - 1/n = 0; n < RULES; n = n + 1/
// mutant: nic/gn_tx_judge.v s/cfg_mtu\} \+ 17'd10/cfg_mtu} + 17'd11/
// mutant: nic/gn_tx_judge.v s/b_valid     <= a_valid \&\& !rst/b_valid     <= a_valid/
`include "rule.vh"
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire         bypass,
    input wire [127:0] rules,
    input wire [15:0]  heads,
    input wire [15:0]  mtu,
    input wire [2:0]   s_code,
    input wire         s_tagged,
    input wire         s_tcp,
    input wire [7:0]   s_tos,
    input wire [7:0]   s_flags,
    input wire [15:0]  s_port,
    input wire [7:0]   s_payload,
    input wire [16:0]  s_end,
    input wire [16:0]  s_length,  // gn_tx_judge does not see it
    input wire [1:0]   s_head,
    input wire         s_stored,
    input wire         s_valid
);
    wire [3:0]  kind, rule;
    wire [1:0]  profile;
    wire [7:0]  bound, head;
    wire [16:0] bytes, start, stop;
    wire [14:0] values;
    wire        m_valid;
    gn_tx_judge dut (
        .clk(clk), .rst(rst), .cfg_bypass(bypass), .cfg_rules(rules), .cfg_heads(heads), .cfg_mtu(mtu), .s_code(s_code), .s_tagged(s_tagged), .s_tcp(s_tcp), .s_tos(s_tos),
        .s_flags(s_flags), .s_port(s_port), .s_payload(s_payload), .s_end(s_end), .s_head(s_head), .s_stored(s_stored), .s_valid(s_valid),
        .m_kind(kind), .m_rule(rule), .m_profile(profile), .m_bound_exp(bound), .m_bytes(bytes), .m_head(head), .m_values(values), .m_start(start), .m_stop(stop), .m_valid(m_valid));

    wire packet;
    packet_fields is_packet (.payload(s_payload), .ends(s_end), .length(s_length), .ok(packet));
    always @* if (s_code == 3'd0) assume (packet);

    // ---- what came with the frame that leaves now

    localparam WIDTH = 16 + 1 + 128 + 16 + 3 + 2 + 8 + 8 + 16 + 8 + 17 + 17 + 2 + 1;
    reg [WIDTH-1:0] was_1, was_2, was_3, was;
    reg [3:0]       there = 4'd0;
    reg [15:0]      mtu_before;
    reg             on = 1'b0;
    always @* assume (on || !s_valid);
    always @(posedge clk) begin
        on         <= 1'b1;
        mtu_before <= mtu;
        was_1 <= {mtu_before, bypass, rules, heads, s_code, s_tagged, s_tcp, s_tos, s_flags, s_port, s_payload, s_end, s_length, s_head, s_stored};
        {was_2, was_3, was} <= {was_1, was_2, was_3};
        there <= rst ? 4'd0 : {there[2:0], s_valid};
    end
    wire         w_bypass, tagged, tcp, w_stored;
    wire [127:0] w_rules;
    wire [15:0]  w_heads, w_mtu, port;
    wire [2:0]   code;
    wire [7:0]   tos, flags, payload;
    wire [16:0]  ends, length;
    wire [1:0]   w_head;
    assign {w_mtu, w_bypass, w_rules, w_heads, code, tagged, tcp, tos, flags, port, payload, ends, length, w_head, w_stored} = was;

    // ---- as cmodel/transmit.c

    wire [1:0]  match;
    genvar r;
    generate
        for (r = 0; r < 2; r = r + 1) begin : g_rule
            wire [63:0] rule     = w_rules[64*r +: 64];
            wire [7:0]  dscp     = rule[`GN_RULE_TOS] >> 2;
            wire [7:0]  protocol = rule[`GN_RULE_PROTOCOL];
            wire [15:0] low      = rule[`GN_RULE_PORT_LOW];
            wire [15:0] high     = rule[`GN_RULE_PORT_HIGH];
            wire [1:0]  codec    = rule[`GN_RULE_PROFILE];
            wire [7:0]  k        = rule[`GN_RULE_BOUND_EXP];
            assign match[r] = rule[`GN_RULE_ENABLE] && codec != 2'd3 &&
                              (codec == 2'd0 ? k >= 8'd1 && k <= 8'd126 : $signed(k) >= -8'sd31 && $signed(k) <= 8'sd31) &&
                              dscp == tos >> 2 && (protocol == 8'd0 || protocol == (tcp ? 8'd6 : 8'd17)) && port >= low && port <= high;
        end
    endgenerate
    wire        first = match[0], second = match[1];
    wire [63:0] said = first ? w_rules[63:0] : w_rules[127:64];
    wire [1:0]  said_profile = said[`GN_RULE_PROFILE];
    wire [7:0]  said_bound   = said[`GN_RULE_BOUND_EXP];
    wire [7:0]  verbatim = tcp ? {6'd0, w_head} : first ? w_heads[7:0] : w_heads[15:8];
    wire [16:0] of_payload = ends - {9'd0, payload};
    wire        some = of_payload >= {9'd0, verbatim} + 17'd4;  // a value at least
    wire        big = ends - {9'd0, tagged ? 8'd18 : 8'd14} + 17'd8 > {1'b0, w_mtu};
    wire        syn = flags[1];
    wire [3:0]  expected = w_bypass ? 4'd4 : code == 3'd1 ? 4'd6 : code == 3'd2 ? 4'd7 : code == 3'd3 ? 4'd8 :
                           code == 3'd4 ? 4'd9 : code == 3'd5 ? 4'd10 : !first && !second ? 4'd5 : big ? 4'd11 :
                           tcp && syn ? 4'd3 : tcp && w_stored ? 4'd2 : some ? 4'd0 : 4'd1;
    wire        fields;
    tx_fields are_fields (
        .kind(kind), .bytes(bytes), .head(head), .values(values), .start(start), .stop(stop), .payload(payload), .ends(ends), .length(length), .ok(fields));
    always @* begin
        assume (s_code <= 3'd5 && (s_tcp || s_flags == 8'd0));  // flags are TCP's
        assert (m_valid == there[3]);
        if (m_valid) begin
            assert (kind == expected);
            assert (fields);
            if (kind < 4'd4) assert (rule == (first ? 4'd0 : 4'd1) && profile == said_profile && bound == said_bound);
            if (kind == 4'd0) assert (head == verbatim);
        end
    end
endmodule

`resetall
