// SPDX-License-Identifier: Apache-2.0
// Profile dense: turns groups of sums into the items of docs/codec.md, a piece at a time, as
// gn_quad_pack does with groups of values. But groups of zeros need not come: each has its number,
// and what is between is zero. A group with a class other than 0 takes a cycle, and a run one.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_sum_quads (
    input  wire         clk,
    input  wire         rst,          // synchronous, active high

    // groups, in their order; always taken: at most 16 may be in here
    input  wire [255:0] s_words,
    input  wire [7:0]   s_number,
    input  wire         s_valid,
    input  wire         s_end,        // with a stream's last group or behind it
    input  wire [7:0]   s_final,      // then: the number of the last that there should be
    output wire [2:0]   s_released,   // groups that have left in this cycle: 0..2

    // pieces
    output wire [279:0] m_piece,      // zero above its length
    output wire [5:0]   m_length,     // bytes, 1..35
    output wire         m_last,       // of its stream
    output wire         m_valid,
    input  wire         m_ready
);

    `include "class_bytes.vh"

    // ---- first and second stage: planes and class

    wire [255:0] c_planes;
    wire [7:0]   unused_raw;
    wire [3:0]   c_class;
    reg  [7:0]   a_number, c_number;
    reg  [5:0]   a_final, c_final;
    reg          a_valid = 1'b0, c_valid = 1'b0, a_end = 1'b0, c_end = 1'b0;
    wire         unused_final = &{1'b0, s_final[1:0]};

    gn_group_class #(.SUMS(1)) class_of (
        .clk(clk), .s_tags(16'd0), .s_words(s_words), .m_planes(c_planes), .m_raw(unused_raw), .m_class(c_class));

    always @(posedge clk) begin
        {c_number, a_number} <= {a_number, s_number};
        {c_final, a_final}   <= {a_final, s_final[7:2]};
        {c_valid, a_valid}   <= {a_valid, s_valid};
        {c_end, a_end}       <= {a_end, s_end};
        if (rst) {c_valid, a_valid, c_end, a_end} <= 4'd0;
    end

    // ---- third stage: groups into the ring; a quad's header when the next one begins, or at the
    // end. A stream that ends in zeros, and has no quad that is open, has a header of 0 then.

    reg [255:0] ring [0:15];
    reg [3:0]   write_reg = 4'd0, read_reg = 4'd0;

    reg         k_valid = 1'b0, k_end;
    reg [5:0]   k_quad, k_final;
    reg [15:0]  k_header;

    wire        some  = c_valid && c_class != 4'd0;
    wire        fits  = k_valid && !k_end && k_quad == c_number[7:2];
    wire        stays = k_valid && !k_end && (!some || fits);
    wire        push  = k_valid && !stays;

    always @(posedge clk) begin
        if (some) begin
            ring[write_reg] <= c_planes;
            write_reg       <= write_reg + 4'd1;
            k_quad          <= c_number[7:2];
        end
        k_header <= (stays ? k_header : 16'd0) | (some ? {12'd0, c_class} << {c_number[1:0], 2'd0} : 16'd0);
        k_final  <= c_final;
        k_end    <= c_end;
        k_valid  <= stays || some || c_end;
        if (rst) begin
            write_reg <= 4'd0;
            k_valid   <= 1'b0;
        end
    end

    wire [15:0] q_header;
    wire [5:0]  q_quad, q_final;
    wire        q_end, q_valid, q_done;

    gn_credit_fifo #(.WIDTH(29), .LOG2(5)) quads (
        .clk(clk), .rst(rst), .s_data({k_end, k_final, k_quad, k_header}), .s_valid(push),
        .m_data({q_end, q_final, q_quad, q_header}), .m_valid(q_valid), .m_ready(q_done));

    // ---- fourth stage: which piece comes. Ahead of a quad and behind the last one, a run

    reg  [5:0] next_reg = 6'd0;   // quad that is written next
    reg  [3:0] left_reg;          // groups that are not written yet,
    reg        begun_reg = 1'b0;  // if one has been
    reg        tail_reg = 1'b0;   // all have been, but not the run behind them

    wire       room, unused_idle;
    wire       go     = q_valid && room;
    wire [3:0] mask   = {|q_header[15:12], |q_header[11:8], |q_header[7:4], |q_header[3:0]};
    wire       zero   = mask == 4'd0;
    wire       gap    = !zero && !begun_reg && !tail_reg && q_quad != next_reg;
    wire       is_run = zero || gap || tail_reg;
    wire [3:0] left   = begun_reg ? left_reg : mask;
    wire [3:0] pick   = {left[3] && left[2:0] == 3'd0, left[2] && left[1:0] == 2'd0, left[1] && !left[0], left[0]};
    wire [3:0] rest   = left & ~pick;
    wire       whole  = !is_run && rest == 4'd0;
    wire       tail   = q_end && q_quad != q_final;  // zeros behind a quad
    wire [3:0] class_ = (q_header[3:0] & {4{pick[0]}}) | (q_header[7:4] & {4{pick[1]}}) | (q_header[11:8] & {4{pick[2]}}) |
                        (q_header[15:12] & {4{pick[3]}});
    wire       last   = q_end && (zero || tail_reg || (whole && !tail));

    assign q_done     = go && (zero || tail_reg || (whole && !tail));
    assign s_released = {2'd0, go && !is_run} + {2'd0, c_valid && !some};

    gn_credit_counter #(.CREDITS(9), .MOST(1), .LATE(1)) credits (
        .clk(clk), .rst(rst), .ok(room), .idle(unused_idle), .take({2'd0, go}), .give({2'd0, m_valid && m_ready}));

    reg [255:0] r_payload;
    reg [15:0]  r_header;
    reg [7:0]   r_run;
    reg [5:0]   r_bytes;
    reg [32:0]  r_there;  // bytes that the class has
    reg         r_first, r_is_run, r_last, r_valid = 1'b0;
    integer     n, m;

    always @(posedge clk) begin
        if (go) begin
            left_reg  <= rest;
            begun_reg <= !is_run && rest != 4'd0;
            tail_reg  <= whole && tail;
            if (gap) next_reg <= q_quad;
            if (whole)  next_reg <= q_quad + 6'd1;
            if (last)   next_reg <= 6'd0;
            if (!is_run) read_reg <= read_reg + 4'd1;
        end
        r_valid   <= go;
        r_payload <= ring[read_reg];
        r_header  <= q_header;
        // how many quads of it follow the first
        r_run     <= gap ? {2'd0, q_quad - next_reg - 6'd1} : {2'd0, q_final - next_reg};
        r_is_run  <= is_run;
        r_first   <= !begun_reg;
        r_bytes   <= class_bytes(class_);
        for (n = 0; n < 16; n = n + 1)
            if (class_ == n[3:0]) r_there <= ~(33'h1_ffffffff << class_bytes(n[3:0]));
        r_last    <= last;
        if (rst) begin
            begun_reg <= 1'b0;
            tail_reg  <= 1'b0;
            next_reg  <= 6'd0;
            read_reg  <= 4'd0;
            r_valid   <= 1'b0;
        end
    end

    // ---- fifth stage: the piece. No lane of a sum is raw

    reg [263:0] kept;
    always @* begin
        kept = 264'd0;
        for (m = 0; m < 32; m = m + 1) kept[8*m +: 8] = r_payload[8*m +: 8] & {8{r_there[m]}};
    end

    wire         unused_there = &{1'b0, r_there[32]};
    wire [279:0] piece = r_is_run ? {256'd0, r_run, 16'd0} : r_first ? {kept, r_header} : {16'd0, kept};
    wire [5:0]   bytes = r_is_run ? 6'd3 : r_first ? r_bytes + 6'd2 : r_bytes;

    gn_credit_fifo #(.WIDTH(287), .LOG2(3)) pieces (
        .clk(clk), .rst(rst), .s_data({r_last, bytes, piece}), .s_valid(r_valid),
        .m_data({m_last, m_length, m_piece}), .m_valid(m_valid), .m_ready(m_ready));

endmodule

`resetall
