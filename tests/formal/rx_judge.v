// SPDX-License-Identifier: Apache-2.0
// rx_judge, whatever headers, shims, rules and sums, which may change in every cycle: each frame is answered once, five cycles later; and its
// fields relate as what follows asks for: what is verbatim and the stream lie within the packet, all bytes of the payload behind the shim are
// accounted for, what is restored fits, and the engine is asked only for a stream with a value and a byte. Without feedback, what leaves depends on
// six cycles alone: these are all.
// method: bmc 8
// sources: frame/shim_check.v nic/rx_judge.v
// reduce: s/RULES    = 4,/RULES    = 2,/
// mutant: nic/rx_judge.v s/d_wrong \|\| d_stream\[17\] \|\|/d_wrong ||/; s/!d_wrong \&\& !d_stream\[17\]/!d_wrong/
// mutant: nic/rx_judge.v s/b_reach > MOST/1'b0/
// mutant: nic/rx_judge.v s/a_bytes >= 17'd8/1'b1/
// mutant: nic/rx_judge.v s/\{15'd0, d_engine \? d_tail : 2'd0\}/{15'd0, d_tail}/
// mutant: nic/rx_judge.v s/e_valid   <= d_valid/e_valid   <= c_valid/
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire         bypass,
    input wire [127:0] rules,
    input wire [201:0] s_parse,
    input wire         s_valid
);
    wire [4:0]  outcome;
    wire        engine, m_valid;
    wire [1:0]  profile;
    wire [7:0]  bound;
    wire [13:0] values;
    wire [16:0] from, start, stop;
    wire [15:0] bytes;
    rx_judge dut (
        .clk(clk), .rst(rst), .cfg_bypass(bypass), .cfg_rules(rules), .s_parse(s_parse), .s_valid(s_valid), .m_outcome(outcome), .m_engine(engine), .m_profile(profile),
        .m_bound_exp(bound), .m_values(values), .m_from(from), .m_start(start), .m_stop(stop), .m_bytes(bytes), .m_valid(m_valid));

    wire packet;
    packet_fields is_packet (.payload(s_parse[71:64]), .ends(s_parse[88:72]), .length(s_parse[105:89]), .ok(packet));
    always @* begin
        assume (s_parse[2:0] <= 3'd5);
        if (s_parse[2:0] == 3'd0) assume (packet);
    end

    // ---- what came with the frame that leaves now

    reg [202:0] was_1, was_2, was_3, was_4, was;
    reg [4:0]   there = 5'd0;
    always @(posedge clk) begin
        was_1 <= {bypass, s_parse};
        {was_2, was_3, was_4, was} <= {was_1, was_2, was_3, was_4};
        there <= rst ? 5'd0 : {there[3:0], s_valid};
    end
    wire         w_bypass;
    wire [201:0] parse;
    assign {w_bypass, parse} = was;
    wire [63:0] shim = parse[169:106];
    wire [16:0] ends = parse[88:72];

    wire fields;
    rx_fields #(.MOST(17'd32768)) are_fields (
        .outcome(outcome), .engine(engine), .from(from), .start(start), .stop(stop), .bytes(bytes), .payload(parse[71:64]), .ends(ends), .length(parse[105:89]), .ok(fields));
    always @* begin
        assert (m_valid == there[4]);
        if (m_valid) begin
            assert (fields);
            if (w_bypass || parse[2:0] != 3'd0) assert (outcome == 5'd2);
            if (outcome[4:2] == 3'd1) begin
                assert (bytes == {shim[39:32], shim[47:40]} && outcome[1:0] == shim[17:16]);
                assert (shim[15:0] == 16'h4e47 && shim[23:18] == 6'b000100 && parse[201:186] == 16'hffff);
                assert (engine ? outcome[1:0] != 2'd0 : outcome[1:0] == 2'd0 || bytes < {8'd0, shim[55:48]} + 16'd4);
            end
            // the engine's values are what is neither head nor tail
            if (engine) begin
                assert (values != 14'd0 && profile == outcome[1:0] - 2'd1 && bound == shim[31:24] && start - from == {9'd0, shim[55:48]});
                assert ({1'b0, bytes} == {9'd0, shim[55:48]} + {1'b0, values, 2'd0} + (ends - stop));
            end
        end
    end
endmodule

`resetall
