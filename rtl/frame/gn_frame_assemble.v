// SPDX-License-Identifier: Apache-2.0
// Writes frames out of what the stores hold: a packet with new lengths, checksums and payload, or a
// frame as it came. It takes a piece of up to 32 bytes a cycle, and closes the pieces up to full
// beats. All parts of a frame are there before it begins, so it stops only for its receiver.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_frame_assemble #(
    parameter LOG2 = 10,         // beats of gn_frame_store: 2^LOG2
    parameter RESULT_LOG2 = LOG2  // of gn_result_store; at least LOG2
) (
    input  wire            clk,
    input  wire            rst,             // synchronous, active high

    // A frame. Bytes count from its first. What leaves:
    //     [0, s_payload) with new lengths and checksums, s_shim, s_bytes bytes from s_from on, the
    //     result, s_tail_bytes bytes from s_tail on
    // With s_drop or s_pass, of what follows them only s_result_bytes counts.
    input  wire [LOG2-1:0] s_first,         // where its first beat is in gn_frame_store
    input  wire [16:0]     s_length,        // bytes of the frame as it is
    input  wire            s_drop,          // nothing leaves
    input  wire            s_pass,          // all of it leaves as it is
    input  wire            s_tagged,        // one VLAN tag
    input  wire            s_six,           // IPv6
    input  wire            s_tcp,           // TCP, not UDP
    input  wire [6:0]      s_l4,            // where the L4 header begins: 4n + 2
    input  wire [7:0]      s_payload,       // where the payload begins: 4n + 2
    input  wire [16:0]     s_end,           // where the packet ends
    input  wire            s_shim_valid,    // there is a shim header
    input  wire [63:0]     s_shim,          // byte 0 in the lowest bits
    input  wire [16:0]     s_from,          // even
    input  wire [16:0]     s_bytes,
    input  wire [RESULT_LOG2-1:0] s_result_first,  // where its first beat is in gn_result_store
    input  wire [16:0]     s_result_bytes,  // 0: none. Freed whether they leave or not
    input  wire [16:0]     s_tail,
    input  wire [1:0]      s_tail_bytes,
    input  wire [15:0]     s_sum_lead,      // as gn_frame_stamp says
    input  wire [15:0]     s_sum_result,
    input  wire [15:0]     s_sum_tail,
    input  wire            s_valid,
    output wire            s_ready,         // from a register

    // gn_frame_store
    output wire [LOG2-1:0] frame_address,
    input  wire [255:0]    frame_data,      // two cycles later
    output wire [LOG2:0]   frame_free,      // beats
    // gn_result_store
    output wire [RESULT_LOG2-1:0] result_address,
    input  wire [255:0]    result_data,     // two cycles later
    output wire [RESULT_LOG2:0] result_free,  // beats

    // frames: AXI4-Stream (source)
    output wire [255:0]    m_axis_tdata,
    output wire [31:0]     m_axis_tkeep,
    output wire            m_axis_tlast,
    output wire            m_axis_tvalid,
    input  wire            m_axis_tready
);

    // parts of a frame
    localparam [1:0] HEADER = 2'd0, VERBATIM = 2'd1, RESULT = 2'd2, TAIL = 2'd3;

    function [15:0] swap;
        input [15:0] v;
        swap = {v[7:0], v[15:8]};
    endfunction

    // ---- the job, and beside it what gn_frame_stamp makes of it

    localparam JOB_WIDTH = LOG2 + RESULT_LOG2 + 17*5 + 2 + 64 + 15 + 6;

    wire                 take = s_valid && s_ready;
    wire                 unused_idle, unused_job_valid, j_valid, j_ready;
    wire [LOG2-1:0]      j_first;
    wire [RESULT_LOG2-1:0] j_result_first;
    wire [16:0]          j_length, j_from, j_bytes, j_result_bytes, j_tail;
    wire [1:0]           j_tail_bytes;
    wire [63:0]          j_shim;
    wire [6:0]           j_l4;
    wire [7:0]           j_payload;
    wire                 j_drop, j_pass, j_tagged, j_six, j_tcp, j_shim_valid;
    wire [15:0]          t_ip_length, t_ip_change, t_l4_length, t_l4_checksum;
    wire [63:0]          j_stamp;
    wire                 t_valid;

    gn_credit_counter #(.CREDITS(17), .MOST(1)) job_credits (
        .clk(clk), .rst(rst), .ok(s_ready), .idle(unused_idle), .take({2'd0, take}), .give({2'd0, j_valid && j_ready}));
    gn_credit_fifo #(.WIDTH(JOB_WIDTH), .LOG2(4)) jobs (
        .clk(clk), .rst(rst),
        .s_data({s_first, s_result_first, s_length, s_from, s_bytes, s_result_bytes, s_tail, s_tail_bytes, s_shim, s_l4, s_payload,
                 s_drop, s_pass, s_tagged, s_six, s_tcp, s_shim_valid}), .s_valid(take),
        .m_data({j_first, j_result_first, j_length, j_from, j_bytes, j_result_bytes, j_tail, j_tail_bytes, j_shim, j_l4, j_payload,
                 j_drop, j_pass, j_tagged, j_six, j_tcp, j_shim_valid}), .m_valid(unused_job_valid), .m_ready(j_valid && j_ready));
    gn_frame_stamp stamp (
        .clk(clk), .rst(rst), .s_tagged(s_tagged), .s_six(s_six), .s_tcp(s_tcp), .s_l4(s_l4), .s_payload(s_payload), .s_end(s_end),
        .s_shim_valid(s_shim_valid), .s_shim(s_shim), .s_bytes(s_bytes), .s_result_bytes(s_result_bytes), .s_tail_bytes(s_tail_bytes),
        .s_sum_lead(s_sum_lead), .s_sum_result(s_sum_result), .s_sum_tail(s_sum_tail), .s_valid(take),
        .m_ip_length(t_ip_length), .m_ip_change(t_ip_change), .m_l4_length(t_l4_length), .m_l4_checksum(t_l4_checksum), .m_valid(t_valid));
    gn_credit_fifo #(.WIDTH(64), .LOG2(4)) stamps (
        .clk(clk), .rst(rst), .s_data({t_ip_length, t_ip_change, t_l4_length, t_l4_checksum}), .s_valid(t_valid),
        .m_data(j_stamp), .m_valid(j_valid), .m_ready(j_ready));

    // ---- p: each part's pieces: how many less one, where the first is and at which byte it
    // begins, at which byte the last ends

    wire [16:0] verbatim_from  = j_pass ? 17'd0 : j_from;
    wire [16:0] verbatim_bytes = j_pass ? j_length : j_bytes;
    wire [16:0] verbatim_last  = verbatim_bytes + ({12'd0, verbatim_from[4:0]} - 17'd1);
    wire [16:0] result_last    = j_result_bytes - 17'd1;
    wire [5:0]  tail_last      = {1'b0, j_tail[4:0]} + {4'd0, j_tail_bytes} - 6'd1;
    wire [7:0]  header_last    = j_payload - 8'd1;
    wire [16:0] frame_round    = j_length + 17'd31;
    wire [16:0] result_round   = j_result_bytes + 17'd31;
    wire        unused_low     = &{1'b0, header_last[4:0], frame_round, result_round, verbatim_from, j_tail};

    reg            p_valid = 1'b0;
    reg            p_drop, p_rewrite, p_verbatim, p_result, p_tail, p_tagged, p_six, p_tcp, p_shim_valid;
    reg [LOG2-1:0] p_first, p_verbatim_first, p_tail_first;
    reg [RESULT_LOG2-1:0] p_result_first;
    reg [2:0]      p_header_more;
    reg [11:0]     p_verbatim_more, p_result_more;
    reg            p_tail_more;
    reg [4:0]      p_verbatim_lo, p_tail_lo;
    reg [5:0]      p_header_hi, p_verbatim_hi, p_result_hi, p_tail_hi;
    reg [LOG2:0]   p_frame_beats;
    reg [RESULT_LOG2:0] p_result_beats;
    reg [6:0]      p_l4;
    reg [63:0]     p_shim, p_stamp;

    wire p_ready;
    // A job in two cycles, as frames of two beats want it. So what is above need not wait for what
    // is below.
    assign j_ready = !p_valid;

    always @(posedge clk) begin
        if (j_ready) begin
            p_valid          <= j_valid;
            p_drop           <= j_drop;
            p_rewrite        <= !j_drop && !j_pass;
            p_verbatim       <= j_pass || |j_bytes;
            p_result         <= !j_pass && |j_result_bytes;
            p_tail           <= !j_pass && |j_tail_bytes;
            p_first          <= j_first;
            p_verbatim_first <= j_first + verbatim_from[LOG2+4:5];
            p_result_first   <= j_result_first;
            p_tail_first     <= j_first + j_tail[LOG2+4:5];
            p_header_more    <= header_last[7:5];
            p_verbatim_more  <= verbatim_last[16:5];
            p_result_more    <= result_last[16:5];
            p_tail_more      <= tail_last[5];
            p_verbatim_lo    <= verbatim_from[4:0];
            p_tail_lo        <= j_tail[4:0];
            p_header_hi      <= {1'b0, j_payload[4:0]};
            p_verbatim_hi    <= {1'b0, verbatim_last[4:0]} + 6'd1;
            p_result_hi      <= {1'b0, result_last[4:0]} + 6'd1;
            p_tail_hi        <= {1'b0, tail_last[4:0]} + 6'd1;
            p_frame_beats    <= frame_round[LOG2+5:5];
            p_result_beats   <= result_round[RESULT_LOG2+5:5];
            p_l4             <= j_l4;
            p_tagged         <= j_tagged;
            p_six            <= j_six;
            p_tcp            <= j_tcp;
            p_shim_valid     <= j_shim_valid;
            p_shim           <= j_shim;
            p_stamp          <= j_stamp;
        end else if (p_ready) begin
            p_valid <= 1'b0;
        end
        if (rst) p_valid <= 1'b0;
    end

    // ---- q: a piece a cycle

    reg            q_valid = 1'b0;
    reg            q_rewrite, q_verbatim, q_result, q_tail, q_tagged, q_six, q_tcp, q_shim_valid;
    reg [LOG2-1:0] q_verbatim_first, q_tail_first;
    reg [RESULT_LOG2-1:0] q_result_first;
    reg [11:0]     q_verbatim_more, q_result_more;
    reg            q_tail_more;
    reg [4:0]      q_verbatim_lo, q_tail_lo;
    reg [5:0]      q_verbatim_hi, q_result_hi, q_tail_hi;
    reg [LOG2:0]   q_frame_beats;
    reg [RESULT_LOG2:0] q_result_beats;
    reg [6:0]      q_l4;
    reg [63:0]     q_shim, q_stamp;
    // the piece, and of its part how many follow and where the last ends
    reg [1:0]      part_reg;
    reg [RESULT_LOG2-1:0] address_reg;  // of a frame, only the low bits count
    reg [11:0]     more_reg;
    reg            part_last_reg;
    reg            last_part_reg;  // no part follows
    reg [4:0]      lo_reg;
    reg [5:0]      hi_reg;
    reg [2:0]      number_reg;  // of the header's beat
    // Whether there is a piece, and whether another job may come behind it, moves some 400
    // registers: so both are made with the piece, a cycle ahead.
    reg            go_reg    = 1'b0;  // there is a piece, of a job that is not dropped
    reg            fresh_reg = 1'b1;  // there is none, or it is its job's last

    wire room;
    wire step  = room || !go_reg;
    wire issue = room && go_reg;
    wire done  = q_valid && p_ready;

    assign p_ready        = step && fresh_reg;
    assign frame_address  = address_reg[LOG2-1:0];
    assign result_address = address_reg;

    localparam OVER = RESULT_LOG2 - LOG2;
    reg [LOG2:0]        frame_free_reg  = {LOG2+1{1'b0}};
    reg [RESULT_LOG2:0] result_free_reg = {RESULT_LOG2+1{1'b0}};
    assign frame_free  = frame_free_reg;
    assign result_free = result_free_reg;

    wire [RESULT_LOG2:0] p_first_wide          = {{OVER+1{1'b0}}, p_first};
    wire [RESULT_LOG2:0] q_verbatim_first_wide = {{OVER+1{1'b0}}, q_verbatim_first};
    wire [RESULT_LOG2:0] q_tail_first_wide     = {{OVER+1{1'b0}}, q_tail_first};
    wire                 unused_wide = &{1'b0, p_first_wide, q_verbatim_first_wide, q_tail_first_wide};

    // the piece behind it
    reg [1:0]      next_part;
    reg            next_last_part;
    reg [RESULT_LOG2-1:0] next_address;
    reg [11:0]     next_more;
    reg [4:0]      next_lo;
    reg [5:0]      next_hi;
    reg            next_part_last;
    wire           next_go = !fresh_reg || (p_valid && !p_drop);

    always @* begin
        next_part      = part_reg;
        next_last_part = last_part_reg;
        next_address   = address_reg + 1'b1;
        next_more      = more_reg - 12'd1;
        next_part_last = more_reg == 12'd1;
        next_lo        = 5'd0;
        next_hi        = hi_reg;
        if (fresh_reg) begin
            // a frame that passes is one part
            next_part      = p_rewrite ? HEADER : VERBATIM;
            next_last_part = !p_rewrite || (!p_verbatim && !p_result && !p_tail);
            next_address   = p_first_wide[RESULT_LOG2-1:0];
            next_more      = p_rewrite ? {9'd0, p_header_more} : p_verbatim_more;
            next_part_last = p_rewrite ? p_header_more == 3'd0 : p_verbatim_more == 12'd0;
            next_hi        = p_rewrite ? p_header_hi : p_verbatim_hi;
        end else if (part_last_reg && part_reg == HEADER && q_verbatim) begin
            next_part      = VERBATIM;
            next_last_part = !q_result && !q_tail;
            next_address   = q_verbatim_first_wide[RESULT_LOG2-1:0];
            next_more      = q_verbatim_more;
            next_part_last = q_verbatim_more == 12'd0;
            next_lo        = q_verbatim_lo;
            next_hi        = q_verbatim_hi;
        end else if (part_last_reg && part_reg != RESULT && q_result) begin
            next_part      = RESULT;
            next_last_part = !q_tail;
            next_address   = q_result_first;
            next_more      = q_result_more;
            next_part_last = q_result_more == 12'd0;
            next_hi        = q_result_hi;
        end else if (part_last_reg) begin
            next_part      = TAIL;
            next_last_part = 1'b1;
            next_address   = q_tail_first_wide[RESULT_LOG2-1:0];
            next_more      = {11'd0, q_tail_more};
            next_part_last = !q_tail_more;
            next_lo        = q_tail_lo;
            next_hi        = q_tail_hi;
        end
    end

    always @(posedge clk) begin
        frame_free_reg  <= done ? q_frame_beats : {LOG2+1{1'b0}};
        result_free_reg <= done ? q_result_beats : {RESULT_LOG2+1{1'b0}};
        if (step) begin
            go_reg        <= next_go;
            fresh_reg     <= !next_go || (next_part_last && next_last_part);
            part_reg      <= next_part;
            last_part_reg <= next_last_part;
            address_reg   <= next_address;
            more_reg      <= next_more;
            part_last_reg <= next_part_last;
            lo_reg        <= next_lo;
            hi_reg        <= next_hi;
            number_reg    <= fresh_reg ? 3'd0 : number_reg + 3'd1;
        end
        if (p_ready) begin
            q_valid          <= p_valid;
            q_rewrite        <= p_rewrite;
            q_verbatim       <= p_verbatim;
            q_result         <= p_result;
            q_tail           <= p_tail;
            q_tagged         <= p_tagged;
            q_six            <= p_six;
            q_tcp            <= p_tcp;
            q_shim_valid     <= p_shim_valid;
            q_verbatim_first <= p_verbatim_first;
            q_result_first   <= p_result_first;
            q_tail_first     <= p_tail_first;
            q_verbatim_more  <= p_verbatim_more;
            q_result_more    <= p_result_more;
            q_tail_more      <= p_tail_more;
            q_verbatim_lo    <= p_verbatim_lo;
            q_tail_lo        <= p_tail_lo;
            q_verbatim_hi    <= p_verbatim_hi;
            q_result_hi      <= p_result_hi;
            q_tail_hi        <= p_tail_hi;
            q_frame_beats    <= p_frame_beats;
            q_result_beats   <= p_result_beats;
            q_l4             <= p_l4;
            q_shim           <= p_shim;
            q_stamp          <= p_stamp;
        end
        if (rst) begin
            q_valid         <= 1'b0;
            go_reg          <= 1'b0;
            fresh_reg       <= 1'b1;
            frame_free_reg  <= {LOG2+1{1'b0}};
            result_free_reg <= {RESULT_LOG2+1{1'b0}};
        end
    end

    // ---- u, v: while the memories read: which half words of the header change

    wire [5:0] hi = part_last_reg ? hi_reg : 6'd32;

    reg        u_result, u_last, u_rewrite, u_first, u_shim_valid, u_tagged, u_six, u_tcp, u_valid = 1'b0;
    reg [4:0]  u_lo;
    reg [5:0]  u_bytes;
    reg [2:0]  u_number;
    reg [5:0]  u_length_at, u_checksum_at;  // half words of the frame
    reg [63:0] u_shim, u_stamp;

    reg        v_result, v_last, v_shim_valid, v_tagged, v_four, v_valid = 1'b0;
    reg [4:0]  v_lo;
    reg [5:0]  v_bytes;
    reg [63:0] v_shim, v_stamp;
    reg [3:0]  v_ip_length;                 // half words 8 to 11
    reg [15:0] v_l4_length, v_l4_checksum;

    integer i, j, k;
    always @(posedge clk) begin
        u_result      <= part_reg == RESULT;
        u_last        <= fresh_reg;
        u_rewrite     <= q_rewrite && part_reg == HEADER;
        u_first       <= number_reg == 3'd0;
        u_shim_valid  <= q_shim_valid && part_reg == HEADER && part_last_reg;
        u_tagged      <= q_tagged;
        u_six         <= q_six;
        u_tcp         <= q_tcp;
        u_lo          <= lo_reg;
        u_bytes       <= hi - {1'b0, lo_reg};
        u_number      <= number_reg;
        u_length_at   <= q_l4[6:1] + 6'd2;
        u_checksum_at <= q_l4[6:1] + (q_tcp ? 6'd8 : 6'd3);
        u_shim        <= q_shim;
        u_stamp       <= q_stamp;
        u_valid       <= issue && !rst;

        v_result     <= u_result;
        v_last       <= u_last;
        v_shim_valid <= u_shim_valid;
        v_tagged     <= u_tagged;
        v_four       <= u_rewrite && u_first && !u_six;
        v_lo         <= u_lo;
        v_bytes      <= u_bytes;
        v_shim       <= u_shim;
        v_stamp      <= u_stamp;
        v_valid      <= u_valid && !rst;
        for (i = 0; i < 4; i = i + 1) v_ip_length[i] <= u_rewrite && u_first && {u_tagged, u_six} == i[1:0];
        for (i = 0; i < 16; i = i + 1) begin
            v_l4_length[i]   <= u_rewrite && !u_tcp && u_number == {1'b0, u_length_at[5:4]} && u_length_at[3:0] == i[3:0];
            v_l4_checksum[i] <= u_rewrite && u_number == {1'b0, u_checksum_at[5:4]} && u_checksum_at[3:0] == i[3:0];
        end
    end
    wire unused_l4 = &{1'b0, q_l4[0]};

    // ---- w: the beat, with new lengths and L4 checksum; x: with a new IPv4 header checksum, moved
    // by eights of bytes; y: moved by bytes

    wire [15:0] v_new_ip_length, v_ip_change, v_new_l4_length, v_new_l4_checksum;
    assign {v_new_ip_length, v_ip_change, v_new_l4_length, v_new_l4_checksum} = v_stamp;
    // the IPv4 header checksum: bytes 10 and 11 of the packet, which begins at byte 14 or 18
    localparam SUM = 8 * (14 + 10), SUM_TAGGED = 8 * (18 + 10);
    wire [15:0] v_old = v_tagged ? swap(frame_data[SUM_TAGGED +: 16]) : swap(frame_data[SUM +: 16]);

    reg [255:0] w_data, x_data, y_data;
    reg [16:0]  w_ip_sum;
    reg         w_last, w_shim_valid, w_tagged, w_four, w_valid = 1'b0;
    reg         x_last, x_shim_valid, x_valid = 1'b0;
    reg         y_last, y_shim_valid, y_valid = 1'b0;
    reg [4:0]   w_lo;
    reg [2:0]   x_lo;
    reg [5:0]   w_bytes, x_bytes, y_bytes;
    reg [63:0]  w_shim, x_shim, y_shim;
    reg [31:0]  x_keep;

    // An update, not a new sum: a header that was damaged stays damaged.
    wire [15:0]  w_ip_checksum = ~(w_ip_sum[15:0] + {15'd0, w_ip_sum[16]});
    wire [15:0]  w_ip_bytes    = swap(w_ip_checksum);
    reg  [255:0] w_patched;
    always @* begin
        w_patched = w_data;
        if (w_four && w_tagged) w_patched[SUM_TAGGED +: 16] = w_ip_bytes;
        if (w_four && !w_tagged) w_patched[SUM +: 16] = w_ip_bytes;
    end
    wire [255:0] x_moved = x_data >> {x_lo, 3'd0};

    always @(posedge clk) begin
        for (j = 0; j < 16; j = j + 1)
            w_data[16*j +: 16] <= j >= 8 && j < 12 && v_ip_length[j[1:0]] ? swap(v_new_ip_length)
                                : v_l4_length[j]   ? swap(v_new_l4_length)
                                : v_l4_checksum[j] ? swap(v_new_l4_checksum)
                                : v_result ? result_data[16*j +: 16] : frame_data[16*j +: 16];
        w_ip_sum     <= {1'b0, ~v_old} + {1'b0, v_ip_change};
        w_last       <= v_last;
        w_shim_valid <= v_shim_valid;
        w_tagged     <= v_tagged;
        w_four       <= v_four;
        w_lo         <= v_lo;
        w_bytes      <= v_bytes;
        w_shim       <= v_shim;
        w_valid      <= v_valid && !rst;

        x_data       <= w_patched >> {w_lo[4:3], 6'd0};
        x_lo         <= w_lo[2:0];
        x_last       <= w_last;
        x_shim_valid <= w_shim_valid;
        x_bytes      <= w_bytes;
        x_shim       <= w_shim;
        x_valid      <= w_valid && !rst;
        x_keep       <= ~(32'hffffffff << w_bytes);

        for (j = 0; j < 32; j = j + 1) y_data[8*j +: 8] <= x_keep[j] ? x_moved[8*j +: 8] : 8'd0;
        y_last       <= x_last;
        y_shim_valid <= x_shim_valid;
        y_bytes      <= x_bytes;
        y_shim       <= x_shim;
        y_valid      <= x_valid && !rst;
    end

    // ---- the shim behind the header's last piece, which has 2, 6, .. or 30 bytes

    reg [303:0] with_shim;
    always @* begin
        with_shim = {48'd0, y_data};
        for (k = 0; k < 8; k = k + 1)
            if (y_shim_valid && y_bytes[4:2] == k[2:0]) with_shim[32*k+16 +: 64] = with_shim[32*k+16 +: 64] | y_shim;
    end

    wire [303:0] piece;
    wire [5:0]   piece_bytes;
    wire         piece_last, piece_valid, piece_ready, unused_pieces_idle;

    gn_credit_counter #(.CREDITS(17), .MOST(1), .LATE(1)) piece_credits (
        .clk(clk), .rst(rst), .ok(room), .idle(unused_pieces_idle), .take({2'd0, issue}), .give({2'd0, piece_valid && piece_ready}));
    gn_credit_fifo #(.WIDTH(311), .LOG2(4)) pieces (
        .clk(clk), .rst(rst), .s_data({y_last, y_bytes + {2'd0, y_shim_valid, 3'd0}, with_shim}), .s_valid(y_valid),
        .m_data({piece_last, piece_bytes, piece}), .m_valid(piece_valid), .m_ready(piece_ready));
    gn_record_packer #(.RECORD_BYTES(38)) packer (
        .clk(clk), .rst(rst), .s_record(piece), .s_length(piece_bytes), .s_last(piece_last), .s_valid(piece_valid), .s_ready(piece_ready),
        .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tlast(m_axis_tlast), .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tready(m_axis_tready));

    generate
        if (LOG2 < 2 || RESULT_LOG2 < LOG2 || RESULT_LOG2 > 11) begin : g_check
            LOG2_must_be_2_to_11_and_RESULT_LOG2_LOG2_to_11 error();
        end
    endgenerate

endmodule

`resetall
