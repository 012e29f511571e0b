// SPDX-License-Identifier: Apache-2.0
// tx_judge, whatever headers, rules and registers, which may change in every cycle: each frame is answered once, four cycles later, and by what stood
// when it came; passed, stored or to be tried as the first rule that matches says; and its fields relate as what follows asks for: values lie
// within the packet, behind the head, all but three bytes at most. Without feedback, what leaves depends on five cycles alone: these are all.
// method: bmc 7
// sources: nic/tx_judge.v
// reduce: s/RULES    = 4,/RULES    = 2,/
// mutant: nic/tx_judge.v s/c_none = c_left\[17\] \|\|/c_none =/
// mutant: nic/tx_judge.v s/\{9'd0, c_payload\} \+ \{9'd0, c_head\} : c_end/{9'd0, c_payload} + {9'd0, c_head} : c_end - 17'd1/
// mutant: nic/tx_judge.v s/d_values    <= c_try \?/d_values    <= c_kind == COMPRESSED ?/
// mutant: nic/tx_judge.v s/n = RULES - 1; n >= 0; n = n - 1/n = 0; n < RULES; n = n + 1/
// mutant: nic/tx_judge.v s/b_valid     <= a_valid \&\& !rst/b_valid     <= a_valid/
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire         bypass,
    input wire [127:0] rules,
    input wire [15:0]  heads,
    input wire [105:0] s_parse,
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
    tx_judge dut (
        .clk(clk), .rst(rst), .cfg_bypass(bypass), .cfg_rules(rules), .cfg_heads(heads), .s_parse(s_parse), .s_head(s_head), .s_stored(s_stored), .s_valid(s_valid),
        .m_kind(kind), .m_rule(rule), .m_profile(profile), .m_bound_exp(bound), .m_bytes(bytes), .m_head(head), .m_values(values), .m_start(start), .m_stop(stop), .m_valid(m_valid));

    wire packet;
    packet_fields is_packet (.payload(s_parse[71:64]), .ends(s_parse[88:72]), .length(s_parse[105:89]), .ok(packet));
    always @* if (s_parse[2:0] == 3'd0) assume (packet);

    // ---- what came with the frame that leaves now

    reg [253:0] was_1, was_2, was_3, was;
    reg [3:0]   there = 4'd0;
    always @(posedge clk) begin
        was_1 <= {bypass, rules, heads, s_parse, s_head, s_stored};
        {was_2, was_3, was} <= {was_1, was_2, was_3};
        there <= rst ? 4'd0 : {there[2:0], s_valid};
    end
    wire         w_bypass, w_stored;
    wire [127:0] w_rules;
    wire [15:0]  w_heads;
    wire [105:0] w_parse;
    wire [1:0]   w_head;
    assign {w_bypass, w_rules, w_heads, w_parse, w_head, w_stored} = was;

    // ---- as cmodel/transmit.c

    wire        tcp = w_parse[6];
    wire [7:0]  payload = w_parse[71:64];
    wire [16:0] ends = w_parse[88:72];
    function matches(input [63:0] r, input [105:0] parse);
        matches = r[63] && r[49:48] != 2'd3 &&
                  (r[49:48] == 2'd0 ? r[57:50] >= 8'd1 && r[57:50] <= 8'd126 : $signed(r[57:50]) >= -8'sd31 && $signed(r[57:50]) <= 8'sd31) &&
                  r[7:2] == parse[15:10] && (r[15:8] == 8'd0 || r[15:8] == (parse[6] ? 8'd6 : 8'd17)) && parse[55:40] >= r[31:16] && parse[55:40] <= r[47:32];
    endfunction
    wire        first = matches(w_rules[63:0], w_parse), second = matches(w_rules[127:64], w_parse);
    wire [63:0] said = first ? w_rules[63:0] : w_rules[127:64];
    wire [7:0]  verbatim = tcp ? {6'd0, w_head} : first ? w_heads[7:0] : w_heads[15:8];
    wire [16:0] of_payload = ends - {9'd0, payload};
    wire        some = of_payload >= {9'd0, verbatim} + 17'd4;  // a value at least
    wire        big = ends - {9'd0, w_parse[4] ? 8'd18 : 8'd14} + 17'd8 > 17'd65535;
    wire [3:0]  expected = w_bypass ? 4'd4 : w_parse[2:0] == 3'd1 ? 4'd6 : w_parse[2:0] == 3'd2 ? 4'd7 : w_parse[2:0] == 3'd3 ? 4'd8 :
                           w_parse[2:0] == 3'd4 ? 4'd9 : w_parse[2:0] == 3'd5 ? 4'd10 : !first && !second ? 4'd5 : big ? 4'd11 :
                           tcp && w_parse[17] ? 4'd3 : tcp && w_stored ? 4'd2 : some ? 4'd0 : 4'd1;
    wire        fields;
    tx_fields are_fields (
        .kind(kind), .bytes(bytes), .head(head), .values(values), .start(start), .stop(stop), .payload(payload), .ends(ends), .length(w_parse[105:89]), .ok(fields));
    always @* begin
        assume (s_parse[2:0] <= 3'd5 && (s_parse[6] || s_parse[23:16] == 8'd0));  // flags are TCP's
        assert (m_valid == there[3]);
        if (m_valid) begin
            assert (kind == expected);
            assert (fields);
            if (kind < 4'd4) assert (rule == (first ? 4'd0 : 4'd1) && profile == said[49:48] && bound == said[57:50]);
            if (kind == 4'd0) assert (head == verbatim);
        end
    end
endmodule

`resetall
