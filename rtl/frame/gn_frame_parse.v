// SPDX-License-Identifier: Apache-2.0
// Says what the headers of an Ethernet frame say, as gn_frame_ethernet_offset() and
// gn_packet_parse() do: one 802.1Q tag, IPv4, IPv6, TCP, UDP. The frame goes through unchanged, a
// beat a cycle. The result comes with the last beat: only then is it known whether
// the lengths are true, and only then are all bytes of the L4 checksum summed.
// Latency 6; of a frame's last beat 11.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_frame_parse (
    input  wire         clk,
    input  wire         rst,            // synchronous, active high

    // frames: AXI4-Stream (sink)
    input  wire [255:0] s_axis_tdata,   // byte 0 in the lowest bits
    input  wire [31:0]  s_axis_tkeep,   // all ones except in the last beat: bytes from bit 0.
                                        // A last beat without a byte makes the frame bad
    input  wire         s_axis_tlast,
    input  wire         s_axis_tuser,   // in the last beat: the frame is bad (a MAC says so)
    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,  // from a register

    // the same frames: AXI4-Stream (source)
    output wire [255:0] m_axis_tdata,
    output wire [31:0]  m_axis_tkeep,
    output wire         m_axis_tlast,
    output wire         m_axis_tvalid,
    input  wire         m_axis_tready,

    // What was found, in the last beat. Positions count bytes from the frame's first.
    // Always valid there:
    output wire [2:0]   m_code,         // 0 a TCP or UDP packet, 1 not IP or not whole,
                                        // 2 fragment, 3 extension header or IPv4 options,
                                        // 4 other protocol, 5 no payload
    output wire         m_bad,          // s_axis_tuser, or no byte in the last beat
    output wire [16:0]  m_length,       // of the frame; from 131009 on only "at least that"
    // Valid when m_code is 0 or 5:
    output wire         m_tagged,       // one VLAN tag
    output wire         m_six,          // IPv6
    output wire         m_tcp,          // TCP, not UDP
    output wire [7:0]   m_tos,          // ToS or traffic class: DSCP and ECN
    output wire [7:0]   m_flags,        // of TCP; 0 for UDP
    output wire [15:0]  m_source_port,
    output wire [15:0]  m_destination_port,
    output wire [6:0]   m_l4,           // where the L4 header begins: 4n + 2
    output wire [7:0]   m_payload,      // where the payload begins: 4n + 2
    output wire [16:0]  m_end,          // where the IP packet ends
    output wire [63:0]  m_front,        // the payload's first 8 bytes, byte 0 lowest; anything
                                        // when it is shorter
    output wire [15:0]  m_checksum,     // the L4 checksum as it came
    output wire [15:0]  m_sum,          // of what it covers: pseudo header, L4 header with it,
                                        // payload. Folded, not complemented: ffff when it holds
    // Always valid in the last beat, for a table of TCP flows: {TCP, whole, options or not; it has
    // payload}
    output wire [1:0]   m_flow,

    // The key of a TCP flow, in the one cycle in which a frame's end comes by, ahead of m_*:
    // {seq[1:0], IPv6, source port, destination port, addresses}. Anything when the frame has no
    // such header.
    output wire         k_end,
    output wire [290:0] k_key           // bytes as they come, the first lowest: IPv6's 32 bytes of
                                        // addresses, or IPv4's 8 at byte 4 among zeros
);

    // Words of four bytes begin at byte 2, as every header does: so no word of a header is split.
    // Word m holds bytes 4m - 2 to 4m + 1, and a beat has eight words. The IP header begins with
    // word 4, or with word 5 behind a tag. All that is read of it lies in the first beat.

    function [15:0] big16;  // the number that two bytes in a row are
        input [15:0] bytes;
        big16 = {bytes[7:0], bytes[15:8]};
    endfunction
    function [31:0] big32;
        input [31:0] bytes;
        big32 = {bytes[7:0], bytes[15:8], bytes[23:16], bytes[31:24]};
    endfunction
    function extension;  // an IPv6 extension header (IANA's list)
        input [7:0] next;
        extension = next == 8'd0 || next == 8'd43 || next == 8'd44 || next == 8'd50 || next == 8'd51 || next == 8'd60 ||
                    next == 8'd135 || next == 8'd139 || next == 8'd140 || next == 8'd253 || next == 8'd254;
    endfunction

    // ---- a: the beat, and its number in the frame (4094 and more are one)

    wire       room, unused_idle;
    wire       take = s_axis_tvalid && room;
    wire [5:0] s_bytes;
    assign s_axis_tready = room;

    gn_credit_counter #(.CREDITS(17), .MOST(1)) credits (
        .clk(clk), .rst(rst), .ok(room), .idle(unused_idle), .take({2'd0, take}), .give({2'd0, m_axis_tvalid && m_axis_tready}));
    gn_keep_count kept (.keep(s_axis_tkeep), .count(s_bytes));

    reg [11:0] number_reg = 12'd0;

    reg [255:0] a_data;
    reg [11:0]  a_number;
    reg [5:0]   a_bytes;
    reg         a_last, a_bad, a_valid = 1'b0;
    integer     b;

    always @(posedge clk) begin
        // Bytes that tkeep leaves out are looked at, though the answer does not depend on them. As
        // 0 they are not X in a simulator of four states.
        for (b = 0; b < 32; b = b + 1) a_data[8*b +: 8] <= s_axis_tkeep[b] ? s_axis_tdata[8*b +: 8] : 8'd0;
        a_number <= number_reg;
        a_bytes  <= s_bytes;
        a_last   <= s_axis_tlast;
        // the beats of a store are those that the length says only if the last has a byte
        a_bad    <= s_axis_tuser || !s_axis_tkeep[0];
        a_valid  <= take;
        if (take) number_reg <= s_axis_tlast ? 12'd0 : number_reg == 12'd4094 ? number_reg : number_reg + 12'd1;
        if (rst) begin
            a_valid    <= 1'b0;
            number_reg <= 12'd0;
        end
    end

    // ---- b: of the first beat, the EtherType and the IP header's first three words; of all beats,
    // the words

    localparam BYTE = 8;  // bits

    wire [15:0] a_type0  = big16(a_data[12*BYTE +: 16]);
    wire        a_tagged = a_type0 == 16'h8100;
    wire [15:0] a_type   = a_tagged ? big16(a_data[16*BYTE +: 16]) : a_type0;
    wire [79:0] a_ip     = a_tagged ? a_data[18*BYTE +: 80] : a_data[14*BYTE +: 80];
    wire        unused_ip = &{1'b0, a_ip};

    reg [255:0] b_data;
    reg [15:0] tail_reg, b_before;  // the last two bytes of the beat before
    reg [31:0] ip0_reg, ip1_reg;
    reg [7:0]  ip_protocol_reg;     // of IPv4
    reg [79:0] ip_addresses_reg;    // bytes 22 to 31 of the frame: the first of its addresses
    reg        tagged_reg, type_four_reg, type_six_reg;
    reg [11:0] b_number;
    reg [5:0]  b_bytes;
    reg        b_last, b_bad, b_valid = 1'b0;

    always @(posedge clk) begin
        b_data   <= a_data;
        b_number <= a_number;
        b_bytes  <= a_bytes;
        b_last   <= a_last;
        b_bad    <= a_bad;
        b_valid  <= a_valid && !rst;
        b_before <= tail_reg;
        if (a_valid) tail_reg <= a_data[255:240];
        if (a_valid && a_number == 12'd0) begin
            tagged_reg      <= a_tagged;
            type_four_reg   <= a_type == 16'h0800;
            type_six_reg    <= a_type == 16'h86dd;
            ip0_reg         <= big32(a_ip[0*BYTE +: 32]);
            ip1_reg         <= big32(a_ip[4*BYTE +: 32]);
            ip_protocol_reg <= a_ip[9*BYTE +: 8];
            ip_addresses_reg <= a_data[22*BYTE +: 80];
        end
    end

    wire [255:0] b_words = {b_data[239:0], b_before};

    // ---- c: what the IP header says, and with the next beats the L4 header's words

    wire [3:0] version = ip0_reg[31:28];
    wire       four    = version == 4'd4;
    wire       six     = version == 4'd6;
    wire [4:0] ihl     = six ? 5'd10 : {1'b0, ip0_reg[27:24]};
    wire [4:0] l4      = ihl + (tagged_reg ? 5'd5 : 5'd4);

    reg        six_reg, tagged_c_reg, header_reg, fragment_reg, extension_reg, options_reg, tcp_reg, udp_reg;
    // in words: the IP header's length, then numbers of the frame's words
    reg [4:0]  ihl_reg, l4_reg, l4_length_reg, l4_flags_reg, l4_sum_reg;
    reg [16:0] total_reg;
    reg [7:0]  tos_reg;
    reg [31:0] ports_reg;
    reg [15:0] udp_sum_reg, tcp_sum_reg;
    // looked at even when the header is not there: then the answer does not depend on them, but
    // they may not be X
    reg [15:0] udp_length_reg = 16'd0;
    reg [3:0]  tcp_words_reg  = 4'd0;
    reg [7:0]  tcp_flags_reg;
    reg [255:0] addresses_reg;  // as k_key has them

    // IPv6's addresses are bytes 22 to 53 of a frame, or 26 to 57 behind a tag. IPv4's begin four
    // bytes later.
    wire [255:0] b_addresses = tagged_reg ? {b_data[0 +: 26*BYTE], ip_addresses_reg[4*BYTE +: 6*BYTE]}
                                          : {b_data[0 +: 22*BYTE], ip_addresses_reg};

    wire [7:0] protocol = six ? ip1_reg[15:8] : ip_protocol_reg;
    wire       near     = b_valid && b_number[11:2] == 10'd0;

    reg [255:0] c_data;
    reg [15:0]  c_before;
    reg [11:0]  c_number;
    reg [16:0]  c_length;
    reg [5:0]   c_bytes;
    reg         c_last, c_bad, c_valid = 1'b0;

    always @(posedge clk) begin
        c_data   <= b_data;
        c_before <= b_before;
        c_number <= b_number;
        c_bytes  <= b_bytes;
        c_last   <= b_last;
        c_bad    <= b_bad;
        c_valid  <= b_valid && !rst;
        c_length <= {b_number, 5'd0} + {11'd0, b_bytes};

        if (b_valid && b_number == 12'd0) begin
            six_reg       <= six;
            tagged_c_reg  <= tagged_reg;
            header_reg    <= (type_six_reg && six) || (type_four_reg && four && ihl >= 5'd5);
            fragment_reg  <= four && ip1_reg[13:0] != 14'd0;
            extension_reg <= six && extension(protocol);
            options_reg   <= four && ihl != 5'd5;
            tcp_reg       <= protocol == 8'd6;
            udp_reg       <= protocol == 8'd17;
            ihl_reg       <= ihl;
            l4_reg        <= l4;
            l4_length_reg <= l4 + 5'd1;
            l4_flags_reg  <= l4 + 5'd3;
            l4_sum_reg    <= l4 + 5'd4;
            total_reg     <= six ? {1'b0, ip1_reg[31:16]} + 17'd40 : {1'b0, ip0_reg[15:0]};
            tos_reg       <= six ? ip0_reg[27:20] : ip0_reg[23:16];
        end
        if (b_valid && b_number == 12'd1)
            addresses_reg <= six_reg ? b_addresses : {160'd0, b_addresses[4*BYTE +: 64], 32'd0};
        // Never in the first beat: the IP header has at least five words.
        if (near && b_number[1:0] == l4_reg[4:3]) ports_reg <= big32(b_words[{l4_reg[2:0], 5'd0} +: 32]);
        if (near && b_number[1:0] == l4_length_reg[4:3])
            {udp_length_reg, udp_sum_reg} <= big32(b_words[{l4_length_reg[2:0], 5'd0} +: 32]);
        if (near && b_number[1:0] == l4_sum_reg[4:3]) tcp_sum_reg <= big16(b_words[{l4_sum_reg[2:0], 5'd0} +: 16]);
        if (near && b_number[1:0] == l4_flags_reg[4:3]) begin
            tcp_words_reg <= b_words[{l4_flags_reg[2:0], 5'd4} +: 4];
            tcp_flags_reg <= b_words[{l4_flags_reg[2:0], 5'd8} +: 8];
        end
    end

    // ---- d: with the last beat, lengths and ends; the next frame's first beat may be right behind

    wire [4:0] l4_words = tcp_reg ? {1'b0, tcp_words_reg} : 5'd2;

    // Which pairs of a beat's bytes are summed. L4 begins with pair 2 * l4 - 1. IPv4's addresses
    // are the four pairs from 13 on, or from 15 on behind a tag. IPv6's are the 16 pairs before L4.
    reg [15:0] c_pairs;
    integer    n;
    always @*
        for (n = 0; n < 16; n = n + 1)
            c_pairs[n] = c_number == 12'd0 ? n >= (six_reg ? 11 : 13) + (tagged_c_reg ? 2 : 0) :
                         c_number == 12'd1 ? six_reg || n < (tagged_c_reg ? 3 : 1) || n + 17 >= {27'd0, l4_reg} * 2 :
                         c_number != 12'd2 || n + 33 >= {27'd0, l4_reg} * 2;

    reg [255:0] d_data;
    reg [15:0]  d_before, d_pairs;
    reg [11:0]  d_number;
    reg [5:0]   d_bytes;
    reg         d_last, d_bad, d_valid = 1'b0;
    reg [16:0]  d_length, d_end;
    reg [17:0]  d_l4_bytes;  // highest bit: less than none
    reg [7:0]   d_tos, d_flags;
    reg [31:0]  d_ports;
    reg [1:0]   d_seq;
    reg [15:0]  d_udp_length, d_sum;
    reg [4:0]   d_l4, d_l4_words;
    reg [5:0]   d_payload, d_payload1;   // numbers of its first two words
    reg         d_six, d_tagged, d_header, d_fragment, d_extension, d_options, d_tcp, d_udp;

    always @(posedge clk) begin
        d_data       <= c_data;
        d_before     <= c_before;
        d_number     <= c_number;
        d_pairs      <= c_pairs;
        d_bytes      <= c_bytes;
        d_last       <= c_last;
        d_bad        <= c_bad;
        d_valid      <= c_valid && !rst;
        d_length     <= c_length;
        d_end        <= total_reg + (tagged_c_reg ? 17'd18 : 17'd14);
        d_l4_bytes   <= {1'b0, total_reg} - {11'd0, ihl_reg, 2'd0};
        d_tos        <= tos_reg;
        d_flags      <= tcp_flags_reg;
        d_ports      <= ports_reg;
        d_seq        <= udp_sum_reg[1:0];  // TCP's sequence number is where UDP has length and sum
        d_udp_length <= udp_length_reg;
        d_sum        <= tcp_reg ? tcp_sum_reg : udp_sum_reg;
        d_l4         <= l4_reg;
        d_l4_words   <= l4_words;
        d_payload    <= {1'b0, l4_reg} + {1'b0, l4_words};
        d_payload1   <= {1'b0, l4_length_reg} + {1'b0, l4_words};
        d_six        <= six_reg;
        d_tagged     <= tagged_c_reg;
        d_header     <= header_reg && !(six_reg && total_reg[16]);  // longer than any packet
        d_fragment   <= fragment_reg;
        d_extension  <= extension_reg;
        d_options    <= options_reg;
        d_tcp        <= tcp_reg;
        d_udp        <= udp_reg;
    end

    // The next frame's second beat, which brings other addresses, is at least two cycles behind.
    assign k_end = d_valid && d_last;
    assign k_key = {d_seq, d_six, big32(d_ports), addresses_reg};

    // ---- e: comparisons, and the payload's first words. Until a TCP header's length has come by,
    // the place of the payload is that of the frame before: what is caught there is overwritten.

    wire [17:0]  d_l4_header = {11'd0, d_l4_words, 2'd0};
    wire [255:0] d_words     = {d_data[239:0], d_before};
    wire         d_near      = d_valid && d_number[11:3] == 9'd0;
    wire         d_ends      = d_number == d_end[16:5];
    wire         d_within    = d_number < d_end[16:5];

    reg [63:0]  e_first;
    reg [31:0]  e_keep;     // bytes to be summed
    reg [15:0]  e_more, e_sum;
    reg [255:0] e_data;
    reg [5:0]   e_bytes;
    reg         e_last, e_bad, e_valid = 1'b0;
    reg [16:0]  e_length, e_end;
    reg [7:0]   e_tos, e_flags;
    reg [31:0]  e_ports;
    reg [4:0]   e_l4;
    reg [5:0]   e_payload;
    integer     k;
    reg         e_six, e_tagged, e_fragment, e_extension, e_options, e_tcp, e_known, e_ip, e_fits, e_agrees, e_empty;

    always @(posedge clk) begin
        if (d_near && d_number[2:0] == d_payload[5:3]) e_first[31:0] <= d_words[{d_payload[2:0], 5'd0} +: 32];
        if (d_near && d_number[2:0] == d_payload1[5:3]) e_first[63:32] <= d_words[{d_payload1[2:0], 5'd0} +: 32];
        for (k = 0; k < 32; k = k + 1) e_keep[k] <= d_pairs[k/2] && (d_within || (d_ends && k < {27'd0, d_end[4:0]}));
        e_more      <= d_l4_bytes[15:0] + (d_tcp ? 16'd6 : 16'd17);
        e_sum       <= d_sum;
        e_data      <= d_data;
        e_bytes     <= d_bytes;
        e_last      <= d_last;
        e_bad       <= d_bad;
        e_valid     <= d_valid && !rst;
        e_length    <= d_length;
        e_end       <= d_end;
        e_tos       <= d_tos;
        e_flags     <= d_tcp ? d_flags : 8'd0;
        e_ports     <= d_ports;
        e_l4        <= d_l4 - 5'd1;
        e_payload   <= d_payload - 6'd1;
        e_six       <= d_six;
        e_tagged    <= d_tagged;
        e_fragment  <= d_fragment;
        e_extension <= d_extension;
        e_options   <= d_options;
        e_tcp       <= d_tcp;
        e_known     <= d_tcp || d_udp;
        e_ip        <= d_header && !d_l4_bytes[17] && d_end <= d_length;
        e_fits      <= d_l4_bytes >= d_l4_header;
        e_agrees    <= d_tcp ? d_l4_words >= 5'd5 : {2'd0, d_udp_length} == d_l4_bytes;
        e_empty     <= d_l4_bytes == d_l4_header;
    end

    wire       e_whole = e_fits && e_agrees;  // two registers: a comparison is a level less
    wire [2:0] code = !e_ip ? 3'd1 : e_fragment ? 3'd2 : e_extension ? 3'd3 : !e_known ? 3'd4 : !e_whole ? 3'd1 :
                      e_options ? 3'd3 : e_empty ? 3'd5 : 3'd0;

    wire [1:0] flow = {e_ip && !e_fragment && !e_extension && e_tcp && e_whole, !e_empty};

    // ---- out: a frame's last beat waits for the sum, which comes five cycles behind

    wire [15:0] sum;
    wire [5:0]  m_bytes;
    wire        sum_valid, there, summed;
    wire        whole = !m_axis_tlast || summed;

    gn_checksum sums (
        .clk(clk), .rst(rst), .s_data(e_data), .s_keep(e_keep), .s_last(e_last), .s_odd(1'b0), .s_more(e_more), .s_valid(e_valid),
        .m_sum(sum), .m_valid(sum_valid));

    wire [5:0] payload_word;  // every header begins at byte 2 of four
    wire [4:0] l4_word;
    assign m_payload = {payload_word, 2'd2};
    assign m_l4      = {l4_word, 2'd2};

    gn_credit_fifo #(.WIDTH(445), .LOG2(4)) fifo (
        .clk(clk), .rst(rst), .s_valid(e_valid),
        .s_data({flow, e_sum, e_first, e_length, e_end, e_payload, e_l4, e_ports, e_flags, e_tos,
                 e_tcp, e_six, e_tagged, e_bad, code, e_last, e_bytes, e_data}),
        .m_data({m_flow, m_checksum, m_front, m_length, m_end, payload_word, l4_word, m_source_port,
                 m_destination_port, m_flags, m_tos, m_tcp, m_six, m_tagged, m_bad, m_code,
                 m_axis_tlast, m_bytes, m_axis_tdata}),
        .m_valid(there), .m_ready(m_axis_tready && whole));

    // one for each last beat in the FIFO above, or on its way
    gn_credit_fifo #(.WIDTH(16), .LOG2(4)) sum_fifo (
        .clk(clk), .rst(rst), .s_valid(sum_valid), .s_data(sum),
        .m_data(m_sum), .m_valid(summed), .m_ready(m_axis_tready && there && m_axis_tlast));

    assign m_axis_tvalid = there && whole;

    genvar i;
    generate
        for (i = 0; i < 32; i = i + 1) begin : g_keep
            assign m_axis_tkeep[i] = m_bytes > i;
        end
    endgenerate

endmodule

`resetall
