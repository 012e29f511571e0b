// SPDX-License-Identifier: Apache-2.0
// Profile dense: turns groups of integers into the items of docs/codec.md, a piece at a time. A
// piece is a header and its first group, a further group, or a zero run. Groups wait in a ring
// until their quad is whole, because the header goes first.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_quad_pack (
    input  wire         clk,
    input  wire         rst,          // synchronous, active high

    // groups; always taken: at most 16 may be in here
    input  wire [15:0]  s_tags,       // of gn_lane_compress: 3 for a raw lane
    input  wire [255:0] s_words,      // q as int32, or the raw value
    input  wire         s_valid,
    input  wire         s_last,       // of its frame
    output wire [2:0]   s_released,   // groups that have left in this cycle: 0..4

    // pieces
    output wire [279:0] m_piece,      // zero above its length
    output wire [5:0]   m_length,     // bytes, 1..35
    output wire         m_last,       // of its frame
    output wire         m_valid,
    input  wire         m_ready
);

    integer n, m;

    // ---- first and second stage: planes and class

    wire [255:0] c_planes;
    wire [7:0]   c_raw;
    wire [3:0]   c_class;
    reg          a_last, a_valid = 1'b0, c_last, c_valid = 1'b0;

    gn_group_class class_of (
        .clk(clk), .s_tags(s_tags), .s_words(s_words), .m_planes(c_planes), .m_raw(c_raw), .m_class(c_class));

    always @(posedge clk) begin
        a_last  <= s_last;
        a_valid <= s_valid;
        c_last  <= a_last;
        c_valid <= a_valid;
        if (rst) begin
            a_valid <= 1'b0;
            c_valid <= 1'b0;
        end
    end

    // ---- third stage: into the ring; a quad's header when it is whole

    reg [263:0] ring [0:15];
    reg [3:0]   write_reg = 4'd0, read_reg = 4'd0;
    reg [1:0]   group_reg = 2'd0;
    reg [11:0]  classes_reg = 12'd0;

    wire        whole  = c_valid && (c_last || group_reg == 2'd3);
    wire [15:0] header = {4'd0, classes_reg} | ({12'd0, c_class} << {group_reg, 2'd0});

    always @(posedge clk) begin
        if (c_valid) begin
            ring[write_reg] <= {c_raw, c_planes};
            write_reg       <= write_reg + 4'd1;
            group_reg       <= whole ? 2'd0 : group_reg + 2'd1;
            classes_reg     <= whole ? 12'd0 : header[11:0];
        end
        if (rst) begin
            write_reg   <= 4'd0;
            group_reg   <= 2'd0;
            classes_reg <= 12'd0;
        end
    end

    wire [15:0] q_header;
    wire [1:0]  q_group;    // number of its last group
    wire        q_last, q_valid, q_done;

    gn_credit_fifo #(.WIDTH(19), .LOG2(4)) quads (
        .clk(clk), .rst(rst), .s_data({c_last, group_reg, header}), .s_valid(whole),
        .m_data({q_last, q_group, q_header}), .m_valid(q_valid), .m_ready(q_done));

    // ---- fourth stage: which piece comes

    reg [1:0] step_reg = 2'd0;  // group of the quad
    reg [8:0] run_reg  = 9'd0;  // zero quads that are not written yet, at most 255

    reg  r_valid = 1'b0;
    wire room;
    wire go = q_valid && room;

    wire        q_zero   = q_header == 16'd0;
    wire        end_run  = !q_zero && run_reg != 9'd0;  // the run is over: write that first
    wire        full_run = q_zero && (q_last || run_reg[7:0] == 8'd255);
    wire [15:0] ahead    = q_header >> {step_reg, 2'd0};
    wire        ends     = ahead[15:4] == 12'd0;        // no payload behind this group
    wire        present  = !q_zero && (step_reg == 2'd0 || ahead[3:0] != 4'd0);

    assign q_done     = go && (q_zero || (!end_run && ends));
    assign s_released = !go || end_run ? 3'd0 : q_done ? {1'b0, q_group} - {1'b0, step_reg} + 3'd1 : 3'd1;

    wire sends = go && (end_run || full_run || present);  // a piece
    wire unused_idle;

    gn_credit_counter #(.CREDITS(9), .MOST(1), .LATE(1)) credits (
        .clk(clk), .rst(rst), .ok(room), .idle(unused_idle), .take({2'd0, sends}), .give({2'd0, m_valid && m_ready}));

    reg [263:0] r_payload;
    reg [15:0]  r_header;
    reg [7:0]   r_run;
    reg [5:0]   r_bytes;
    reg [32:0]  r_there;  // bytes that the class has
    reg         r_first, r_is_run, r_last;

    always @(posedge clk) begin
        if (go) begin
            run_reg  <= q_zero && !full_run ? run_reg + 9'd1 : 9'd0;
            step_reg <= q_done || end_run ? 2'd0 : step_reg + 2'd1;
            read_reg <= read_reg + {1'b0, s_released};
        end
        r_valid   <= sends;
        r_payload <= ring[read_reg];
        r_header  <= q_header;
        r_run     <= q_zero ? run_reg[7:0] : run_reg[7:0] - 8'd1;
        r_is_run  <= q_zero || end_run;
        r_first   <= step_reg == 2'd0;
        r_bytes   <= class_bytes(ahead[3:0]);
        for (n = 0; n < 16; n = n + 1)
            if (ahead[3:0] == n[3:0]) r_there <= ~(33'h1_ffffffff << class_bytes(n[3:0]));
        r_last    <= q_last && q_done;
        if (rst) begin
            run_reg  <= 9'd0;
            step_reg <= 2'd0;
            read_reg <= 4'd0;
            r_valid  <= 1'b0;
        end
    end

    `include "class_bytes.vh"

    // ---- fifth stage: the piece

    reg [263:0] kept;
    always @*
        for (m = 0; m < 33; m = m + 1) kept[8*m +: 8] = r_payload[8*m +: 8] & {8{r_there[m]}};

    wire [279:0] piece = r_is_run ? {256'd0, r_run, 16'd0} : r_first ? {kept, r_header} : {16'd0, kept};
    wire [5:0]   bytes = r_is_run ? 6'd3 : r_first ? r_bytes + 6'd2 : r_bytes;

    gn_credit_fifo #(.WIDTH(287), .LOG2(3)) pieces (
        .clk(clk), .rst(rst), .s_data({r_last, bytes, piece}), .s_valid(r_valid),
        .m_data({m_last, m_length, m_piece}), .m_valid(m_valid), .m_ready(m_ready));

endmodule

`resetall
