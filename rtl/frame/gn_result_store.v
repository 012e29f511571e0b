// SPDX-License-Identifier: Apache-2.0
// Keeps what an engine gives until the frame that it belongs to leaves: a ring of beats. It is
// always ready, because room was reserved before the engine began. Nothing is kept of a frame that
// is bad, or longer than was reserved. With each frame go its length and sum.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_result_store #(
    parameter LOG2 = 10  // holds 2^LOG2 beats
) (
    input  wire            clk,
    input  wire            rst,            // synchronous, active high

    // Room for the next frame, at least two cycles before its first beat comes. At most 17 frames
    // are in here or expected.
    input  wire [16:0]     reserve_bytes,  // what it may have; at most 32 * 2^LOG2: more would
                                           // never be ready
    input  wire            reserve_valid,  // stays, with reserve_bytes, until ready: one in three
                                           // cycles
    output wire            reserve_soon,   // ready in the next cycle
    output wire            reserve_ready,  // from a register

    // the engine's frames: always taken
    input  wire [255:0]    s_data,
    input  wire [31:0]     s_keep,         // all ones except in the last beat: bytes from bit 0
    input  wire            s_last,
    input  wire            s_bad,          // in the last beat
    input  wire            s_valid,

    // a frame's end
    output wire [LOG2-1:0] m_first,        // where its first beat is
    output wire [16:0]     m_bytes,        // all that came, kept or not; modulo 2^17
    output wire            m_kept,         // it is not bad, and not longer than was reserved. If it
                                           // is, nothing is to be freed
    output wire            m_bad,
    output wire [15:0]     m_sum,          // one's complement, as if it began at an even offset
    output wire            m_valid,
    input  wire            m_ready,

    // reader
    input  wire [LOG2-1:0] address,
    output wire [255:0]    data,           // two cycles later

    input  wire [LOG2:0]   free_beats      // in every cycle: so many beats, the oldest, need no
                                           // longer be kept
);

    localparam [LOG2:0] BEATS = {1'b1, {LOG2{1'b0}}};

    // ---- reservations

    reg [LOG2:0] left_reg = BEATS;
    reg [LOG2:0] need_reg;
    reg [16:0]   limit_reg;
    reg          asked_reg = 1'b0;  // need_reg and limit_reg are those of what is asked for
    reg          ok_reg = 1'b0;
    reg [LOG2:0] give_reg = {LOG2+1{1'b0}};

    wire        may_expect, unused_idle;
    wire [16:0] up = reserve_bytes + 17'd31;
    wire [LOG2:0] need = up[LOG2+5:5];
    wire        reserve = ok_reg;  // and reserve_valid, which stays until then
    wire        unused_up = &{1'b0, up};
    assign reserve_soon  = asked_reg && !ok_reg && may_expect && left_reg >= need_reg;
    assign reserve_ready = ok_reg;

    wire [LOG2:0] release_beats;

    always @(posedge clk) begin
        need_reg  <= need;
        limit_reg <= reserve_bytes;
        asked_reg <= reserve_valid && !ok_reg;
        ok_reg    <= reserve_soon;
        give_reg  <= free_beats + release_beats;
        left_reg  <= left_reg - (reserve ? need_reg : {LOG2+1{1'b0}}) + give_reg;
        if (rst) begin
            asked_reg <= 1'b0;
            ok_reg    <= 1'b0;
            give_reg  <= {LOG2+1{1'b0}};
            left_reg  <= BEATS;
        end
    end

    gn_credit_counter #(.CREDITS(17), .MOST(1)) credits (
        .clk(clk), .rst(rst), .ok(may_expect), .idle(unused_idle), .take({2'd0, reserve}), .give({2'd0, m_valid && m_ready}));

    wire [16:0]   limit;
    wire [LOG2:0] reserved;
    wire          unused_limit_valid, limit_ready;
    gn_credit_fifo #(.WIDTH(LOG2 + 18), .LOG2(4)) limits (
        .clk(clk), .rst(rst), .s_data({need_reg, limit_reg}), .s_valid(reserve),
        .m_data({reserved, limit}), .m_valid(unused_limit_valid), .m_ready(limit_ready));

    // ---- a: the beat, and its number in the frame; b: does it fit?

    wire [5:0] s_bytes;
    gn_keep_count kept_bytes (.keep(s_keep), .count(s_bytes));

    reg [11:0]   number_reg = 12'd0;
    reg [255:0]  a_data;
    reg [31:0]   a_keep;
    reg [5:0]    a_bytes;
    reg [11:0]   a_number;
    reg          a_last, a_bad, a_valid = 1'b0;

    reg [255:0]  b_data;
    reg [16:0]   b_bytes, b_limit;
    reg [LOG2:0] b_beats, b_reserved;  // b_beats: with this one
    reg          b_inside, b_last, b_bad, b_valid = 1'b0;

    assign limit_ready = a_valid && a_last;

    always @(posedge clk) begin
        if (s_valid) number_reg <= s_last ? 12'd0 : number_reg + 12'd1;
        a_data   <= s_data;
        a_keep   <= s_keep;
        a_bytes  <= s_bytes;
        a_number <= number_reg;
        a_last   <= s_last;
        a_bad    <= s_bad;
        a_valid  <= s_valid;

        b_data     <= a_data;
        b_bytes    <= {a_number, 5'd0} + {11'd0, a_bytes};
        b_beats    <= a_number[LOG2:0] + 1'b1;
        b_inside   <= a_number < {{11-LOG2{1'b0}}, reserved};
        b_limit    <= limit;
        b_reserved <= reserved;
        b_last     <= a_last;
        b_bad      <= a_bad;
        b_valid    <= a_valid;

        if (rst) begin
            number_reg <= 12'd0;
            a_valid    <= 1'b0;
            b_valid    <= 1'b0;
        end
    end

    // ---- c: written, and at the end kept or not

    reg [255:0]    c_data;
    reg [16:0]     c_bytes;
    reg [LOG2:0]   c_beats, c_reserved;
    reg            c_inside, c_fits, c_last, c_bad, c_valid = 1'b0;
    reg [LOG2-1:0] write_reg = {LOG2{1'b0}}, start_reg = {LOG2{1'b0}};
    reg [LOG2:0]   release_reg = {LOG2+1{1'b0}};

    assign release_beats = release_reg;

    wire close = c_valid && c_last;
    wire kept  = c_fits && !c_bad;

    always @(posedge clk) begin
        c_data     <= b_data;
        c_bytes    <= b_bytes;
        c_beats    <= b_beats;
        c_reserved <= b_reserved;
        c_inside   <= b_inside;
        c_fits     <= b_inside && b_bytes <= b_limit;
        c_last     <= b_last;
        c_bad      <= b_bad;
        c_valid    <= b_valid;

        if (close && !kept)
            write_reg <= start_reg;
        else if (c_valid && c_inside)
            write_reg <= write_reg + 1'b1;
        if (close && kept) start_reg <= write_reg + 1'b1;
        release_reg <= !close ? {LOG2+1{1'b0}} : kept ? c_reserved - c_beats : c_reserved;

        if (rst) begin
            c_valid     <= 1'b0;
            write_reg   <= {LOG2{1'b0}};
            start_reg   <= {LOG2{1'b0}};
            release_reg <= {LOG2+1{1'b0}};
        end
    end

    gn_block_ram #(.WIDTH(256), .LOG2(LOG2)) beats (
        .clk(clk), .write(c_valid && c_inside), .write_address(write_reg), .write_data(c_data), .read_address(address), .read_data(data));

    // ---- ends, each with its sum, which comes last

    wire [15:0] sum;
    wire        sum_valid, unused_end_valid;

    gn_checksum sums (
        .clk(clk), .rst(rst), .s_data(a_data), .s_keep(a_keep), .s_last(a_last), .s_odd(1'b0), .s_more(16'd0), .s_valid(a_valid),
        .m_sum(sum), .m_valid(sum_valid));
    gn_credit_fifo #(.WIDTH(LOG2 + 19), .LOG2(4)) ends (
        .clk(clk), .rst(rst), .s_data({start_reg, c_bytes, kept, c_bad}), .s_valid(close),
        .m_data({m_first, m_bytes, m_kept, m_bad}), .m_valid(unused_end_valid), .m_ready(m_valid && m_ready));
    gn_credit_fifo #(.WIDTH(16), .LOG2(4)) end_sums (
        .clk(clk), .rst(rst), .s_data(sum), .s_valid(sum_valid), .m_data(m_sum), .m_valid(m_valid), .m_ready(m_ready));

    generate
        if (LOG2 < 2 || LOG2 > 11) begin : g_check
            LOG2_must_be_2_to_11 error();
        end
    endgenerate

endmodule

`resetall
