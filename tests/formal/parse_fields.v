// SPDX-License-Identifier: Apache-2.0
// gn_frame_parse's fields, whatever beats come. Of a packet with payload (code 0), the payload
// begins where a header may end and lies within the packet, which lies within the frame. The proofs
// of the judges assume that (packet_fields). Cut out, and any: credits, FIFOs, the sum. The proof
// of gn_frame_parse says that its FIFO finds room.
// method: induct
// seconds: 60
// sources: lib/gn_keep_count.v lib/gn_credit_counter.v lib/gn_credit_fifo.v frame/gn_checksum.v
// sources: frame/gn_frame_parse.v
// cut: credits sums fifo sum_fifo
// expose: number_reg a_valid a_number b_valid b_number c_valid d_valid e_valid header_reg six_reg
// expose: tagged_c_reg ihl_reg l4_reg l4_length_reg total_reg
// expose: d_end d_l4_bytes d_l4 d_l4_words d_payload d_header d_tcp code e_end e_payload e_length
// expose: e_l4
// mutant: frame/gn_frame_parse.v s/d_end <= d_length/1'b1/
// mutant: frame/gn_frame_parse.v s/e_empty     <= d_l4_bytes == d_l4_header/e_empty <= 1'b0/
// mutant: frame/gn_frame_parse.v s/ihl >= 5'd5/ihl >= 5'd3/
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire [255:0] s_data,
    input wire [31:0]  s_keep,
    input wire         s_last,
    input wire         s_valid,
    input wire         m_ready
);
    wire        a, b, c, d, e, header, six, tagged, d_header, d_tcp;
    wire [11:0] number, a_number, b_number;
    wire [4:0]  ihl, l4, l4_length, d_l4, d_l4_words, e_l4;
    wire [5:0]  d_payload, e_payload;
    wire [16:0] total, d_end, e_end, e_length;
    wire [17:0] d_l4_bytes;
    wire [2:0]  code;
    gn_frame_parse dut (
        .clk(clk), .rst(rst), .s_axis_tdata(s_data), .s_axis_tkeep(s_keep), .s_axis_tlast(s_last), .s_axis_tvalid(s_valid), .m_axis_tready(m_ready),
        .\number_reg (number), .\a_valid (a), .\a_number (a_number), .\b_valid (b), .\b_number (b_number), .\c_valid (c), .\d_valid (d), .\e_valid (e),
        .\header_reg (header), .\six_reg (six), .\tagged_c_reg (tagged), .\ihl_reg (ihl), .\l4_reg (l4), .\l4_length_reg (l4_length), .\total_reg (total),
        .\d_end (d_end), .\d_l4_bytes (d_l4_bytes), .\d_l4 (d_l4), .\d_l4_words (d_l4_words), .\d_payload (d_payload), .\d_header (d_header), .\d_tcp (d_tcp),
        .\code (code), .\e_end (e_end), .\e_payload (e_payload), .\e_length (e_length), .\e_l4 (e_l4));

    // ---- a frame's first beat comes by before any other of its beats: from then on what an IP
    // header says holds together

    reg known = 1'b0;
    always @(posedge clk) if (b && b_number == 12'd0) known <= 1'b1;
    wire comes_b = known || (b && b_number == 12'd0);
    wire comes_a = comes_b || (a && a_number == 12'd0);
    always @* begin
        assert (known || !(c || (b && b_number != 12'd0)));
        assert (comes_b || !(a && a_number != 12'd0));
        assert (comes_a || number == 12'd0);
        if (known) assert (l4 == ihl + (tagged ? 5'd5 : 5'd4) && l4_length == l4 + 5'd1 && ihl <= 5'd15 && (!header || (ihl >= 5'd5 && (six || !total[16]))));
        if (d) assert (d_tcp || d_l4_words == 5'd2);
        if (d && d_header) begin
            assert (d_l4 >= 5'd9 && d_l4 <= 5'd20 && d_payload == {1'b0, d_l4} + {1'b0, d_l4_words} && d_l4_words <= 5'd15);
            assert (d_l4_bytes[17] || {1'b0, d_end} == d_l4_bytes + {11'd0, d_l4, 2'd0} - 18'd2);
        end
    end

    wire packet;
    packet_fields is_packet (.payload({e_payload, 2'd2}), .ends(e_end), .length(e_length), .ok(packet));
    always @* if (e && code == 3'd0) assert (packet && {1'b0, e_l4} + 6'd2 <= e_payload);
endmodule

`resetall
