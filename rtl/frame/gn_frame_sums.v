// SPDX-License-Identifier: Apache-2.0
// The one's complement sums of a TCP or UDP packet that a change of its payload asks for, from the
// frame as it lies in memory, a beat a cycle. Latency 7.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_frame_sums (
    input  wire         clk,
    input  wire         rst,        // synchronous, active high: the open frame is forgotten

    // a frame's beats, in order, all up to the one in which the packet ends
    input  wire         s_valid,    // always taken
    input  wire         s_last,     // the packet ends in this beat
    input  wire [11:0]  s_number,   // of the beat in the frame
    // the same in all beats of a frame; bytes count from the frame's first
    input  wire         s_tagged,   // one VLAN tag
    input  wire         s_six,      // IPv6
    input  wire         s_tcp,      // TCP, not UDP
    input  wire [6:0]   s_l4,       // where the L4 header begins: 4n + 2
    input  wire [7:0]   s_payload,  // where the payload begins: 4n + 2
    input  wire [16:0]  s_from,     // [s_from, s_to) of the payload goes on unchanged, moved by an
                                    // even number of bytes
    input  wire [16:0]  s_to,
    input  wire [16:0]  s_tail,     // so does [s_tail, s_end), up to 3 bytes, moved by any number
    input  wire [16:0]  s_end,      // where the packet ends

    input  wire [255:0] s_data,     // the beat, two cycles after all of the above

    output wire [15:0]  m_lead,     // IP addresses, L4 header without checksum and UDP's length,
                                    // [s_from, s_to)
    output wire [15:0]  m_rest,     // payload without [s_from, s_to). With m_lead, m_field,
                                    // protocol and length it has to be 0xffff
    output wire [15:0]  m_tail,     // [s_tail, s_end) as if it began at an even offset
    output wire [15:0]  m_field,    // the L4 checksum as it is
    output wire         m_valid     // for one cycle
);

    // ---- a: where each edge lies: ahead of this beat, or at which byte of it

    // {the beat lies below the edge, it has the edge in it, offset}
    localparam BEFORE = 6, HERE = 5;
    function [6:0] edge_at;
        input [11:0] number;
        input [16:0] at;
        edge_at = {number < at[16:5], number == at[16:5], at[4:0]};
    endfunction
    // bytes of the beat below an edge
    function [31:0] below;
        input [6:0] e;
        below = e[BEFORE] ? 32'hffffffff : e[HERE] ? ~(32'hffffffff << e[HERE-1:0]) : 32'd0;
    endfunction
    // the half word that begins at an edge, which is even
    function [15:0] half_at;
        input       here;
        input [3:0] half;
        integer     j;
        for (j = 0; j < 16; j = j + 1) half_at[j] = here && j[3:0] == half;
    endfunction

    reg [6:0] a_l4, a_payload, a_from, a_to, a_tail, a_end, a_field, a_length;
    reg       a_tagged, a_six, a_tcp, a_zero, a_one, a_last, a_odd;
    reg       a_valid = 1'b0;

    always @(posedge clk) begin
        a_l4      <= edge_at(s_number, {10'd0, s_l4});
        a_payload <= edge_at(s_number, {9'd0, s_payload});
        a_from    <= edge_at(s_number, s_from);
        a_to      <= edge_at(s_number, s_to);
        a_tail    <= edge_at(s_number, s_tail);
        a_end     <= edge_at(s_number, s_end);
        a_field   <= edge_at(s_number, {10'd0, s_l4} + (s_tcp ? 17'd16 : 17'd6));
        a_length  <= edge_at(s_number, {10'd0, s_l4} + 17'd4);
        a_zero    <= s_number == 12'd0;
        a_one     <= s_number == 12'd1;
        a_tagged  <= s_tagged;
        a_six     <= s_six;
        a_tcp     <= s_tcp;
        a_odd     <= s_tail[0];
        a_last    <= s_last;
        a_valid   <= s_valid && !rst;
    end

    // ---- b: what each sum takes. With this comes the beat

    // IP addresses, in half words of the first two beats: bytes 12 to 19 (IPv4) or 8 to 39 (IPv6)
    // of the packet, which begins at byte 14 or 18
    wire [15:0] addresses = a_zero ? (a_six ? (a_tagged ? 16'he000 : 16'hf800) : a_tagged ? 16'h8000 : 16'he000)
                          : a_one  ? (a_six ? (a_tagged ? 16'h1fff : 16'h07ff) : a_tagged ? 16'h0007 : 16'h0001)
                                   : 16'd0;
    wire [15:0] field  = half_at(a_field[HERE], a_field[HERE-1:1]);
    wire [15:0] length = a_tcp ? 16'd0 : half_at(a_length[HERE], a_length[HERE-1:1]);
    wire [31:0] below_payload = below(a_payload);
    wire [31:0] l4_header = below_payload & ~below(a_l4);
    wire [31:0] kept = below(a_to) & ~below(a_from);
    wire [31:0] below_end = below(a_end);
    wire [31:0] header;
    wire        unused_bits = &{1'b0, l4_header, a_field, a_length};  // these edges are even

    reg [31:0] b_lead, b_rest, b_tail;
    reg [15:0] b_field;
    reg        b_last, b_odd;
    reg        b_valid = 1'b0;

    genvar i;
    generate
        for (i = 0; i < 16; i = i + 1) begin : g_half
            assign header[2*i +: 2] = {2{addresses[i] || (l4_header[2*i] && !field[i] && !length[i])}};
        end
    endgenerate

    always @(posedge clk) begin
        b_lead  <= header | kept;
        b_rest  <= below_end & ~below_payload & ~kept;
        b_tail  <= below_end & ~below(a_tail);
        b_field <= field;
        b_odd   <= a_odd;
        b_last  <= a_last;
        b_valid <= a_valid && !rst;
    end

    gn_checksum lead (
        .clk(clk), .rst(rst), .s_data(s_data), .s_keep(b_lead), .s_last(b_last), .s_odd(1'b0), .s_more(16'd0), .s_valid(b_valid),
        .m_sum(m_lead), .m_valid(m_valid));
    wire unused_rest_valid;
    gn_checksum rest (
        .clk(clk), .rst(rst), .s_data(s_data), .s_keep(b_rest), .s_last(b_last), .s_odd(1'b0), .s_more(16'd0), .s_valid(b_valid),
        .m_sum(m_rest), .m_valid(unused_rest_valid));

    // ---- the tail's bytes and the checksum field. Both may lie in two beats, but no two of their
    // bytes have the same place in a word of four or two: so collecting them needs no sums

    reg [31:0] c_tail, d_tail, d_tail_sofar = 32'd0;
    reg [15:0] c_field, d_field, d_field_sofar = 16'd0;
    reg        c_last, c_odd, c_valid = 1'b0, d_odd;

    reg [31:0] words;
    reg [15:0] halves;
    integer    j;
    always @* begin
        words  = 32'd0;
        halves = 16'd0;
        for (j = 0; j < 32; j = j + 1)
            if (b_tail[j]) words[8*(j%4) +: 8] = words[8*(j%4) +: 8] | s_data[8*j +: 8];
        for (j = 0; j < 16; j = j + 1)
            if (b_field[j]) halves = halves | s_data[16*j +: 16];
    end

    reg [16:0] e_tail;
    reg        e_odd;
    reg [15:0] f_tail, g_tail, e_field, f_field, g_field;
    wire [15:0] e_sum = e_tail[15:0] + {15'd0, e_tail[16]};

    always @(posedge clk) begin
        c_tail  <= words;
        c_field <= halves;
        c_odd   <= b_odd;
        c_last  <= b_last;
        c_valid <= b_valid && !rst;

        if (c_valid) begin
            d_tail_sofar  <= c_last ? 32'd0 : d_tail_sofar | c_tail;
            d_field_sofar <= c_last ? 16'd0 : d_field_sofar | c_field;
        end
        d_tail  <= d_tail_sofar | c_tail;
        d_field <= d_field_sofar | c_field;
        d_odd   <= c_odd;
        if (rst) begin
            d_tail_sofar  <= 32'd0;
            d_field_sofar <= 16'd0;
        end

        // big-endian; at an odd offset the bytes take each other's places
        e_tail  <= {1'b0, d_tail[7:0], d_tail[15:8]} + {1'b0, d_tail[23:16], d_tail[31:24]};
        e_odd   <= d_odd;
        e_field <= {d_field[7:0], d_field[15:8]};
        f_tail  <= e_odd ? {e_sum[7:0], e_sum[15:8]} : e_sum;
        f_field <= e_field;
        g_tail  <= f_tail;
        g_field <= f_field;
    end

    assign m_tail  = g_tail;
    assign m_field = g_field;

endmodule

`resetall
