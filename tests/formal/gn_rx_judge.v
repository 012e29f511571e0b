// SPDX-License-Identifier: Apache-2.0
// gn_rx_judge, whatever headers, shims, rules and sums, which may change in every cycle. Each frame
// is answered once, five cycles later. Its fields relate as the next blocks ask: verbatim bytes and
// the stream lie within the packet, every byte behind the shim is accounted for, and what is
// restored fits. The engine is asked only for a stream with a value and a byte. Without feedback,
// what leaves depends on six cycles alone: these are all.
// method: bmc 8
// sources: frame/gn_shim_check.v nic/gn_rx_judge.v
// reduce: s/RULES    = 4,/RULES    = 2,/
// mutant: nic/gn_rx_judge.v s/ d_stream\[17\] \|\|//; s/ \&\& !d_stream\[17\]//
// mutant: nic/gn_rx_judge.v s/b_reach > \(b_tagged/1'b0 > (b_tagged/
// mutant: nic/gn_rx_judge.v s/wanted_reg < MOST \? wanted_reg : MOST/wanted_reg/
// mutant: nic/gn_rx_judge.v s/b_tagged \? most_tagged_reg : most_reg/most_tagged_reg/
// mutant: nic/gn_rx_judge.v s/ : d_over \? TOO_LARGE/ : 1'b0 ? TOO_LARGE/
// mutant: nic/gn_rx_judge.v s/a_bytes >= 17'd8/1'b1/
// mutant: nic/gn_rx_judge.v s/\{15'd0, d_engine \? d_tail : 2'd0\}/{15'd0, d_tail}/
// mutant: nic/gn_rx_judge.v s/e_valid   <= d_valid/e_valid   <= c_valid/
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire         bypass,
    input wire [127:0] rules,
    input wire [15:0]  max_restored,
    input wire [2:0]   s_code,
    input wire         s_tagged,
    input wire         s_tcp,
    input wire [7:0]   s_tos,
    input wire [7:0]   s_payload,
    input wire [16:0]  s_end,
    input wire [16:0]  s_length,  // gn_rx_judge does not see it
    input wire [63:0]  s_front,
    input wire [15:0]  s_checksum,
    input wire [15:0]  s_sum,
    input wire         s_valid
);
    wire [4:0]  outcome;
    wire        engine, m_valid;
    wire [1:0]  profile;
    wire [7:0]  bound;
    wire [13:0] values;
    wire [16:0] from, start, stop;
    wire [15:0] bytes;
    gn_rx_judge dut (
        .clk(clk), .rst(rst), .cfg_bypass(bypass), .cfg_rules(rules), .cfg_max_restored(max_restored), .s_code(s_code), .s_tagged(s_tagged), .s_tcp(s_tcp), .s_tos(s_tos), .s_payload(s_payload), .s_end(s_end),
        .s_front(s_front), .s_checksum(s_checksum), .s_sum(s_sum), .s_valid(s_valid), .m_outcome(outcome), .m_engine(engine), .m_profile(profile),
        .m_bound_exp(bound), .m_values(values), .m_from(from), .m_start(start), .m_stop(stop), .m_bytes(bytes), .m_valid(m_valid));

    wire packet;
    packet_fields is_packet (.payload(s_payload), .ends(s_end), .length(s_length), .ok(packet));
    always @* begin
        assume (s_code <= 3'd5);
        if (s_code == 3'd0) assume (packet);
    end

    // ---- what came with the frame that leaves now

    localparam WIDTH = 16 + 1 + 1 + 3 + 8 + 17 + 17 + 64 + 16;
    reg [WIDTH-1:0] was_1, was_2, was_3, was_4, was;
    reg [4:0]       there = 5'd0;
    always @(posedge clk) begin
        was_1 <= {max_restored, s_tagged, bypass, s_code, s_payload, s_end, s_length, s_front, s_sum};
        {was_2, was_3, was_4, was} <= {was_1, was_2, was_3, was_4};
        there <= rst ? 5'd0 : {there[3:0], s_valid};
    end
    wire        w_bypass, tagged;
    wire [15:0] most;
    wire [2:0]  code;
    wire [7:0]  payload, check, head, k;
    wire [16:0] ends, length;
    wire [15:0] restored, sum, magic;
    wire [3:0]  version, kind;
    assign {most, tagged, w_bypass, code, payload, ends, length, check, head, restored[7:0], restored[15:8], k, version, kind, magic, sum} = was;

    // what a frame would be, and may be, when it is restored
    wire [17:0] reach = {2'd0, restored} + {10'd0, payload}, wanted = {2'd0, most} + (tagged ? 18'd18 : 18'd14);
    wire [17:0] limit = wanted < 18'd32768 ? wanted : 18'd32768;

    wire fields;
    rx_fields #(.MOST(17'd32768)) are_fields (
        .outcome(outcome), .engine(engine), .from(from), .start(start), .stop(stop), .bytes(bytes), .payload(payload), .ends(ends), .length(length), .ok(fields));
    always @* begin
        assert (m_valid == there[4]);
        if (m_valid) begin
            assert (fields);
            if (outcome == 5'd20) assert (reach > limit);
            if (outcome[4:2] == 3'd1) assert (reach <= limit);
            if (w_bypass || code != 3'd0) assert (outcome == 5'd2);
            if (outcome[4:2] == 3'd1) begin
                assert (bytes == restored && {2'd0, outcome[1:0]} == kind);
                assert (magic == 16'h4e47 && version == 4'd1 && sum == 16'hffff);
                assert (engine ? outcome[1:0] != 2'd0 : outcome[1:0] == 2'd0 || bytes < {8'd0, head} + 16'd4);
            end
            // the engine's values are what is neither head nor tail
            if (engine) begin
                assert (values != 14'd0 && profile == outcome[1:0] - 2'd1 && bound == k && start - from == {9'd0, head});
                assert ({1'b0, bytes} == {9'd0, head} + {1'b0, values, 2'd0} + (ends - stop));
            end
        end
    end
endmodule

`resetall
