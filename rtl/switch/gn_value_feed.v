// SPDX-License-Identifier: Apache-2.0
// Values of packets, eight a beat, in the order of the packets: int32 as they come, and streams of
// profile dense as their integers, without the groups of class 0. A stream is decoded to its end,
// and judged, before its header is: so values wait here in a ring that holds the longest packet
// more than once.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_value_feed #(
    parameter BEATS_LOG2 = 5  // packets have up to 2^BEATS_LOG2 beats of 8 values
) (
    input  wire         clk,
    input  wire         rst,            // synchronous, active high

    // a packet's way, ahead of its first beat, while `idle` is not needed: PLAIN, DENSE or DROP
    input  wire         s_begin,
    input  wire [1:0]   s_way,
    input  wire [11:0]  s_count,        // of values: DENSE

    // what is behind its header
    input  wire [255:0] s_data,
    input  wire [31:0]  s_keep,         // all ones except in the last beat
    input  wire         s_last,
    input  wire         s_valid,
    output wire         s_ready,

    // Values of those that are not dropped. Each packet has a last beat; that of a stream may have
    // none.
    output wire [255:0] m_data,         // value 0 in the lowest bits
    output wire [BEATS_LOG2-1:0] m_number,  // of the beat in its packet: they rise
    output wire         m_none,         // no values, but the end of a stream
    output wire         m_last,
    output wire         m_valid,
    input  wire         m_ready,

    // of each stream, when its last values are in the ring; at most 9 wait
    output wire         verdict_bad,    // it is not a stream of so many values
    output wire         verdict_raw,    // it has values that are not integers
    output wire         verdict_valid,
    input  wire         verdict_ready
);

    localparam [1:0] PLAIN = 2'd0, DENSE = 2'd1;
    localparam RING_LOG2 = BEATS_LOG2 < 3 ? 4 : BEATS_LOG2 + 1;

    // ---- one way at a time: what comes as it is waits until streams are through

    reg  [1:0]  way_reg;
    reg  [11:0] count_reg;
    reg         first_reg;  // of its stream
    wire        ring_room, window_ready, streams_ok, streams_idle;

    assign s_ready = way_reg == PLAIN ? ring_room && streams_idle :
                     way_reg == DENSE ? window_ready && (streams_ok || !first_reg) : 1'b1;

    wire        plain  = s_valid && s_ready && way_reg == PLAIN;
    wire        stream = s_valid && s_ready && way_reg == DENSE;

    always @(posedge clk) begin
        if (s_valid && s_ready) first_reg <= 1'b0;
        if (s_begin) begin
            way_reg   <= s_way;
            count_reg <= s_count;
            first_reg <= 1'b1;
        end
    end

    // ---- streams: groups, planes to words

    wire         w_started, w_none, w_final, w_valid, w_last, w_error;
    wire [263:0] w_payload;
    wire [3:0]   w_class;
    wire [2:0]   w_lanes;
    wire [BEATS_LOG2-1:0] w_number;

    gn_group_window #(.BEATS_LOG2(BEATS_LOG2)) window (
        .clk(clk), .rst(rst), .s_axis_tdata(s_data), .s_axis_tkeep(s_keep), .s_axis_tlast(s_last),
        .s_axis_tuser(count_reg), .s_axis_tvalid(s_valid && way_reg == DENSE && (streams_ok || !first_reg)),
        .s_axis_tready(window_ready), .m_room(ring_room), .m_started(w_started), .m_payload(w_payload), .m_class(w_class),
        .m_number(w_number), .m_none(w_none), .m_final(w_final), .m_lanes(w_lanes), .m_last(w_last), .m_bad(w_error),
        .m_valid(w_valid));

    wire [255:0] words;
    wire [7:0]   raw;
    gn_quad_unpack planes (
        .clk(clk), .s_payload(w_payload), .s_class(w_class), .m_words(words), .m_raw(raw));

    reg [255:0] d_words;
    reg [7:0]   d_raw;
    reg [2:0]   c_lanes, d_lanes;
    reg [BEATS_LOG2-1:0] c_number, d_number;
    reg         c_none, c_final, c_last, c_error, c_valid = 1'b0, d_none, d_final, d_last, d_error, d_valid = 1'b0;

    always @(posedge clk) begin
        {c_number, c_lanes, c_none, c_final, c_last, c_error} <= {w_number, w_lanes, w_none, w_final, w_last, w_error};
        {d_number, d_lanes, d_none, d_final, d_last, d_error} <= {c_number, c_lanes, c_none, c_final, c_last, c_error};
        c_valid <= w_valid;
        d_words <= words;
        d_raw   <= raw;
        d_valid <= c_valid;
        if (rst) begin
            c_valid <= 1'b0;
            d_valid <= 1'b0;
        end
    end

    // ---- a lane that stands for nothing must be empty; what is wrong with any group is wrong with
    // the stream

    wire [7:0] missing = d_lanes == 3'd0 || !d_final ? 8'd0 : 8'hff << d_lanes;
    reg  [7:0] filled, e_filled;
    reg        e_raw, e_error, e_last, e_valid = 1'b0;
    reg        raw_reg = 1'b0, bad_reg = 1'b0;  // in the stream's groups before
    wire       bad = bad_reg || e_error || |e_filled;
    integer    n;

    always @*
        for (n = 0; n < 8; n = n + 1) filled[n] = missing[n] && (d_raw[n] || d_words[32*n +: 32] != 32'd0);

    always @(posedge clk) begin
        e_filled <= filled;
        e_raw    <= |d_raw;
        e_error  <= d_error;
        e_last   <= d_last;
        e_valid  <= d_valid;
        if (e_valid) begin
            raw_reg <= !e_last && (raw_reg || e_raw);
            bad_reg <= !e_last && bad;
        end
        if (rst) begin
            e_valid <= 1'b0;
            raw_reg <= 1'b0;
            bad_reg <= 1'b0;
        end
    end

    gn_credit_counter #(.CREDITS(9), .MOST(1)) stream_credits (
        .clk(clk), .rst(rst), .ok(streams_ok), .idle(streams_idle), .take({2'd0, stream && first_reg}),
        .give({2'd0, verdict_valid && verdict_ready}));
    gn_credit_fifo #(.WIDTH(2), .LOG2(3)) verdicts (
        .clk(clk), .rst(rst), .s_data({bad, raw_reg || e_raw}), .s_valid(e_valid && e_last),
        .m_data({verdict_bad, verdict_raw}), .m_valid(verdict_valid), .m_ready(verdict_ready));

    // ---- the ring, and what is read ahead of it. Places are counted in the next cycle: three may
    // be taken before that is seen. What is put is written and counted a cycle later, away from
    // s_ready

    reg  [RING_LOG2-1:0] write_reg = {RING_LOG2{1'b0}}, read_reg = {RING_LOG2{1'b0}};
    reg  [RING_LOG2:0]   left_reg = {1'b1, {RING_LOG2{1'b0}}}, there_reg = {RING_LOG2+1{1'b0}};
    reg                  taken_reg = 1'b0, room_reg = 1'b0;
    reg  [1:0]           read_pipe = 2'd0;
    wire                 ahead, unused_ahead;

    localparam ENTRY = 256 + BEATS_LOG2 + 2;
    reg                  put_reg = 1'b0;
    reg  [ENTRY-1:0]     put_data;
    reg  [BEATS_LOG2-1:0] plain_reg;  // number of the next beat that comes as it is
    wire         read = ahead && there_reg != {RING_LOG2+1{1'b0}};
    wire [ENTRY-1:0] ring_data;

    assign ring_room = room_reg;

    always @(posedge clk) begin
        taken_reg <= plain || w_started;
        left_reg  <= left_reg - {{RING_LOG2{1'b0}}, taken_reg} + {{RING_LOG2{1'b0}}, read_pipe[0]};
        room_reg  <= left_reg >= {{RING_LOG2-2{1'b0}}, 3'd4};
        put_reg   <= plain || d_valid;
        put_data  <= d_valid ? {d_last, d_none, d_number, d_words} : {s_last, 1'b0, plain_reg, s_data};
        if (plain) plain_reg <= plain_reg + 1'b1;
        if (s_begin) plain_reg <= {BEATS_LOG2{1'b0}};
        there_reg <= there_reg + {{RING_LOG2{1'b0}}, put_reg} - {{RING_LOG2{1'b0}}, read};
        if (put_reg) write_reg <= write_reg + 1'b1;
        if (read) read_reg <= read_reg + 1'b1;
        read_pipe <= {read_pipe[0], read};
        if (rst) begin
            taken_reg <= 1'b0;
            left_reg  <= {1'b1, {RING_LOG2{1'b0}}};
            room_reg  <= 1'b0;
            put_reg   <= 1'b0;
            there_reg <= {RING_LOG2+1{1'b0}};
            write_reg <= {RING_LOG2{1'b0}};
            read_reg  <= {RING_LOG2{1'b0}};
            read_pipe <= 2'd0;
        end
    end

    gn_block_ram #(.WIDTH(ENTRY), .LOG2(RING_LOG2)) ring (
        .clk(clk), .write(put_reg), .write_address(write_reg), .write_data(put_data),
        .read_address(read_reg), .read_data(ring_data));

    gn_credit_counter #(.CREDITS(9), .MOST(1)) ahead_credits (
        .clk(clk), .rst(rst), .ok(ahead), .idle(unused_ahead), .take({2'd0, read}), .give({2'd0, m_valid && m_ready}));
    gn_credit_fifo #(.WIDTH(ENTRY), .LOG2(3)) values (
        .clk(clk), .rst(rst), .s_data(ring_data), .s_valid(read_pipe[1]), .m_data({m_last, m_none, m_number, m_data}), .m_valid(m_valid),
        .m_ready(m_ready));

endmodule

`resetall
