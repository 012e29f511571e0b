// SPDX-License-Identifier: Apache-2.0
// gn_frame_sums, whatever packets come. The sums of each come once, seven cycles after its last
// beat. Of every beat each sum takes the bytes that belong to it, by their numbers in the frame,
// and no other. So each byte of the packet from its L4 header on is in exactly one place: lead,
// rest, checksum field, or UDP's length. (The proof of gn_checksum says what is made of the bytes.)
// Without feedback, both depend on eight cycles alone: these are all.
// method: bmc 9
// seconds: 60
// sources: frame/gn_checksum.v frame/gn_frame_sums.v
// expose: b_lead b_rest b_tail b_field b_last b_odd b_valid
// mutant: frame/gn_frame_sums.v /b_rest +<=/s/ \& ~kept//
// mutant: frame/gn_frame_sums.v s/s_tcp \? 17'd16 : 17'd6/s_tcp ? 17'd16 : 17'd8/
// mutant: frame/gn_frame_sums.v s/below = e\[BEFORE\] \?/below = e[BEFORE] \&\& !e[0] ?/
// mutant: frame/gn_frame_sums.v s/a_valid   <= s_valid \&\& !rst/a_valid <= s_valid/
`default_nettype none
module proof (
    input wire        clk,
    input wire        rst,
    input wire        s_valid,
    input wire        s_last,
    input wire [11:0] s_number,
    input wire        s_tagged,
    input wire        s_six,
    input wire        s_tcp,
    input wire [6:0]  s_l4,
    input wire [7:0]  s_payload,
    input wire [16:0] s_from,
    input wire [16:0] s_to,
    input wire [16:0] s_tail,
    input wire [16:0] s_end
);
    wire [31:0] lead, rest, tail;
    wire [15:0] field;
    wire        last, odd, valid, m_valid;
    gn_frame_sums dut (
        .clk(clk), .rst(rst), .s_valid(s_valid), .s_last(s_last), .s_number(s_number), .s_tagged(s_tagged), .s_six(s_six), .s_tcp(s_tcp), .s_l4(s_l4), .s_payload(s_payload),
        .s_from(s_from), .s_to(s_to), .s_tail(s_tail), .s_end(s_end), .m_valid(m_valid),
        .\b_lead (lead), .\b_rest (rest), .\b_tail (tail), .\b_field (field), .\b_last (last), .\b_odd (odd), .\b_valid (valid));

    // ---- a packet, and where its parts begin in order

    wire [6:0] s_ip = s_tagged ? 7'd18 : 7'd14;
    always @* if (s_valid) begin
        assume (s_l4[1:0] == 2'd2 && (s_six ? s_l4 == s_ip + 7'd40 : s_l4 >= s_ip + 7'd20 && s_l4 <= s_ip + 7'd60));
        assume (s_payload[1:0] == 2'd2 && s_payload <= 8'd138 && s_payload >= {1'b0, s_l4} + (s_tcp ? 8'd20 : 8'd8));
        assume ({9'd0, s_payload} <= s_from && s_from <= s_to && s_to <= s_tail && s_tail <= s_end);
    end

    // ---- what came with the beat of which the sums are made now

    reg [98:0] was_1, was;
    reg [6:0]  there = 7'd0;  // last beats
    reg [1:0]  beat = 2'd0;
    always @(posedge clk) begin
        was_1 <= {s_last, s_number, s_tagged, s_six, s_tcp, s_l4, s_payload, s_from, s_to, s_tail, s_end};
        was   <= was_1;
        there <= rst ? 7'd0 : {there[5:0], s_valid && s_last};
        beat  <= rst ? 2'd0 : {beat[0], s_valid};
    end
    wire        w_last, tagged, six, tcp;
    wire [11:0] number;
    wire [6:0]  l4;
    wire [7:0]  payload;
    wire [16:0] from, to, tail_at, ends;
    assign {w_last, number, tagged, six, tcp, l4, payload, from, to, tail_at, ends} = was;

    // ---- whose each byte is

    wire [16:0] ip = tagged ? 17'd18 : 17'd14, at = {10'd0, l4};
    wire [16:0] addresses = ip + (six ? 17'd8 : 17'd12), behind = addresses + (six ? 17'd32 : 17'd8);
    wire [16:0] sum_at = at + (tcp ? 17'd16 : 17'd6);
    genvar j;
    generate
        for (j = 0; j < 32; j = j + 1) begin : g_byte
            wire [16:0] i = {number, 5'd0} + j;
            wire is_sum    = i >= sum_at && i < sum_at + 17'd2;
            wire is_length = !tcp && i >= at + 17'd4 && i < at + 17'd6;
            wire is_header = (i >= addresses && i < behind) || (i >= at && i < {9'd0, payload} && !is_sum && !is_length);
            wire is_kept   = i >= from && i < to;
            always @* if (valid) begin
                assert (lead[j] == (is_header || is_kept));
                assert (rest[j] == (i >= {9'd0, payload} && i < ends && !is_kept));
                assert (tail[j] == (i >= tail_at && i < ends));
                assert (field[j/2] == is_sum);
            end
        end
    endgenerate
    always @* begin
        assert (valid == beat[1] && m_valid == there[6]);
        if (valid) assert (last == w_last && odd == tail_at[0]);
    end
endmodule

`resetall
