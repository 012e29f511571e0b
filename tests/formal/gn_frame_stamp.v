// SPDX-License-Identifier: Apache-2.0
// gn_frame_stamp, whatever packets come. Each is answered once, six cycles later. The new lengths
// are those of what leaves. The checksum is the complement of the sum of all pieces, no carry lost,
// folded to 16 bits, and 0 only where TCP may have it. The change of the IP header's checksum is
// the new length less the old one. Without feedback, what leaves depends on seven cycles alone:
// these are all.
// method: bmc 8
// seconds: 60
// sources: frame/gn_frame_stamp.v
// mutant: frame/gn_frame_stamp.v /c_pieces +<=/s/=.*/= (b_pieces + b_shim) \& 18'h3ffff;/
// mutant: frame/gn_frame_stamp.v s/odd \? swapped\(s_sum_result\) : s_sum_result/s_sum_result/
// mutant: frame/gn_frame_stamp.v /f_sum +<=/s/ \+ \{15'd0, e_sum\[16\]\}//
// mutant: frame/gn_frame_stamp.v s/\{5'd0, s_shim_valid, 1'b0, s_tail_bytes\}/{7'd0, s_tail_bytes}/
// mutant: frame/gn_frame_stamp.v s/!f_tcp \&\& \&f_sum/\&f_sum/
// mutant: frame/gn_frame_stamp.v s/c_ip        <= b_l4 \+ \(b_six/c_ip        <= b_l4 + (!b_six/
`default_nettype none
module proof (
    input wire        clk,
    input wire        rst,
    input wire        tagged,
    input wire        six,
    input wire        tcp,
    input wire [6:0]  l4,
    input wire [7:0]  payload,
    input wire [16:0] ends,
    input wire        shim_valid,
    input wire [63:0] shim,
    input wire [16:0] bytes,
    input wire [16:0] result_bytes,
    input wire [1:0]  tail_bytes,
    input wire [15:0] sum_lead,
    input wire [15:0] sum_result,
    input wire [15:0] sum_tail,
    input wire        s_valid
);
    wire [15:0] ip_length, ip_change, l4_length, l4_checksum;
    wire        m_valid;
    gn_frame_stamp dut (
        .clk(clk), .rst(rst), .s_tagged(tagged), .s_six(six), .s_tcp(tcp), .s_l4(l4), .s_payload(payload), .s_end(ends), .s_shim_valid(shim_valid), .s_shim(shim),
        .s_bytes(bytes), .s_result_bytes(result_bytes), .s_tail_bytes(tail_bytes), .s_sum_lead(sum_lead), .s_sum_result(sum_result), .s_sum_tail(sum_tail),
        .s_valid(s_valid), .m_ip_length(ip_length), .m_ip_change(ip_change), .m_l4_length(l4_length), .m_l4_checksum(l4_checksum), .m_valid(m_valid));

    // ---- a packet whose headers are there, and whose new lengths are lengths

    wire [16:0] ip_at = tagged ? 17'd18 : 17'd14;
    wire [19:0] new_l4 = ({3'd0, bytes} + {3'd0, result_bytes}) + ({12'd0, payload} - {13'd0, l4} + {16'd0, shim_valid, 1'b0, tail_bytes});
    wire [19:0] new_ip = new_l4 + (six ? 20'd0 : {13'd0, l4} - {3'd0, ip_at});
    wire [16:0] old_ip = ends - ip_at;
    always @* if (s_valid) assume ({10'd0, l4} >= ip_at + 17'd20 && {1'b0, l4} + 8'd8 <= payload && {9'd0, payload} <= ends && old_ip <= 17'd65575 && new_ip <= 20'd65535);

    // ---- what is expected, of what comes now; and with it six cycles later

    function [15:0] big(input [15:0] v);
        big = {v[7:0], v[15:8]};
    endfunction
    function [15:0] fold(input [23:0] v);  // end-around: what overflows comes in again below
        reg [16:0] once;
        begin
            once = {1'b0, v[15:0]} + {9'd0, v[23:16]};
            fold = once[15:0] + {15'd0, once[16]};
        end
    endfunction
    // at an odd offset a piece's bytes take each other's places
    wire [15:0] at_result = bytes[0] ? big(sum_result) : sum_result;
    wire [15:0] at_tail   = bytes[0] ^ result_bytes[0] ? big(sum_tail) : sum_tail;
    wire [63:0] shim_is   = shim_valid ? shim : 64'd0;
    // in the order in which the hardware adds, but with room for every carry: another would ask the
    // solver to prove that sums may be reordered
    wire [23:0] pieces    = (({8'd0, sum_lead} + {8'd0, at_result}) + ({8'd0, at_tail} + {8'd0, big(shim_is[15:0])} + {8'd0, big(shim_is[31:16])})) +
                            ({8'd0, big(shim_is[47:32])} + {8'd0, big(shim_is[63:48])} + (tcp ? 24'd6 : 24'd17));
    wire [15:0] sum       = fold(pieces + (tcp ? {8'd0, new_l4[15:0]} : {7'd0, new_l4[15:0], 1'b0}));
    // the old length may be 65536 or more only with IPv6, which has no header checksum
    wire [15:0] change    = fold({8'd0, new_ip[15:0]} + {8'd0, ~old_ip[15:0]});

    reg [64:0] was_1, was_2, was_3, was_4, was_5, was;
    reg [5:0]  there = 6'd0;
    always @(posedge clk) begin
        was_1 <= {tcp, new_ip[15:0], change, new_l4[15:0], sum};
        {was_2, was_3, was_4, was_5, was} <= {was_1, was_2, was_3, was_4, was_5};
        there <= rst ? 6'd0 : {there[4:0], s_valid};
    end
    always @* begin
        assert (m_valid == there[5]);
        if (m_valid) begin
            assert (ip_length == was[63:48] && ip_change == was[47:32] && l4_length == was[31:16]);
            assert (l4_checksum == (!was[64] && was[15:0] == 16'hffff ? 16'hffff : ~was[15:0]));
            assert (was[64] || l4_checksum != 16'd0);
        end
    end
endmodule

`resetall
