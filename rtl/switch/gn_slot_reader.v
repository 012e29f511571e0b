// SPDX-License-Identifier: Apache-2.0
// Sends results: keeps a result's sums until all children have them, and makes of each a frame of
// Ethernet, IPv4 and UDP for every child. The payload is the same for all. So the header of
// aggregation, its CRC and the payload's checksum are made once a result. Software has said what
// the other headers of each child add to the checksums. Ahead of a stream goes a shim.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_slot_reader #(
    parameter JOBS_LOG2  = 4,
    parameter BEATS_LOG2 = 5  // results have up to 2^BEATS_LOG2 beats of 8 values; four such fit
) (
    input  wire                  clk,
    input  wire                  rst,            // synchronous, active high

    // what software says, as gn_aggregator has it
    input  wire                  cfg_write,
    input  wire [15:0]           cfg_address,
    input  wire [31:0]           cfg_data,

    // room, for gn_slot_add: what is reserved and not used is given back at the result's end
    output wire [BEATS_LOG2+2:0] ring_left,
    output wire                  ring_announce,
    input  wire                  reserve,        // at most every four cycles
    input  wire [BEATS_LOG2:0]   reserve_beats,

    // A result's beats, as gn_slot_add gives them, and with the last one (or alone) what it is.
    input  wire [255:0]          s_data,
    input  wire [31:0]           s_keep,
    input  wire                  s_put,
    input  wire                  s_end,          // of a result: each had a place reserved
    input  wire                  s_summed,       // it had beats
    input  wire                  s_poison,       // the chunk has no sum of integers: forget them
    input  wire                  s_dense,        // they are a stream
    input  wire                  s_again,        // for one child that asks again
    input  wire [JOBS_LOG2-1:0]  s_index,
    input  wire [2:0]            s_child,
    input  wire [2:0]            s_last_child,
    input  wire [15:0]           s_job,
    input  wire [15:0]           s_gen,
    input  wire [3:0]            s_level,
    input  wire [15:0]           s_slot_field,
    input  wire [31:0]           s_psn,
    input  wire [11:0]           s_values,
    input  wire                  s_ecn,
    input  wire                  s_late,
    input  wire [7:0]            s_exponent,
    input  wire [7:0]            s_next,

    // Frames without check sequence: AXI4-Stream (source)
    output wire [255:0]          m_axis_tdata,
    output wire [31:0]           m_axis_tkeep,
    output wire                  m_axis_tlast,
    output wire [15:0]           m_axis_tuser,   // where the frame goes: the child's port
    output wire                  m_axis_tvalid,
    input  wire                  m_axis_tready
);

    localparam RING_LOG2 = BEATS_LOG2 + 2;
    localparam PLACES    = 1 << (JOBS_LOG2 + 3);

    // ---- what software has said about each child

    // Words of 32 bits, the first byte lowest: 0 to 2 both MAC addresses, 3 and 4 both IP
    // addresses, 5 both ports, 6 what all that adds to the sums of IP (high) and of UDP, 7 ToS
    // (high) and port
    reg [31:0] child_0 [0:PLACES-1];
    reg [31:0] child_1 [0:PLACES-1];
    reg [31:0] child_2 [0:PLACES-1];
    reg [31:0] child_3 [0:PLACES-1];
    reg [31:0] child_4 [0:PLACES-1];
    reg [31:0] child_5 [0:PLACES-1];
    reg [31:0] child_6 [0:PLACES-1];
    reg [23:0] child_7 [0:PLACES-1];

    wire                 cfg_child = cfg_write && cfg_address[15:14] == 2'd1 && !cfg_address[3];
    wire [JOBS_LOG2+2:0] cfg_place = cfg_address[4 +: JOBS_LOG2+3];
    wire                 unused_cfg = &{1'b0, cfg_address};

    always @(posedge clk) begin
        if (cfg_child && cfg_address[2:0] == 3'd0) child_0[cfg_place] <= cfg_data;
        if (cfg_child && cfg_address[2:0] == 3'd1) child_1[cfg_place] <= cfg_data;
        if (cfg_child && cfg_address[2:0] == 3'd2) child_2[cfg_place] <= cfg_data;
        if (cfg_child && cfg_address[2:0] == 3'd3) child_3[cfg_place] <= cfg_data;
        if (cfg_child && cfg_address[2:0] == 3'd4) child_4[cfg_place] <= cfg_data;
        if (cfg_child && cfg_address[2:0] == 3'd5) child_5[cfg_place] <= cfg_data;
        if (cfg_child && cfg_address[2:0] == 3'd6) child_6[cfg_place] <= cfg_data;
        if (cfg_child && cfg_address[2:0] == 3'd7) child_7[cfg_place] <= cfg_data[23:0];
    end

    // ---- the ring of sums

    reg  [RING_LOG2-1:0] write_reg = {RING_LOG2{1'b0}}, start_reg = {RING_LOG2{1'b0}};
    reg  [RING_LOG2:0]   left_reg  = {1'b1, {RING_LOG2{1'b0}}};
    reg  [BEATS_LOG2:0]  open_reg  = {BEATS_LOG2+1{1'b0}};  // beats of the open result
    reg  [BEATS_LOG2:0]  had_reg, used_reg;                 // of the result that has ended
    reg                  ended_reg = 1'b0;
    reg  [BEATS_LOG2:0]  back_reg  = {BEATS_LOG2+1{1'b0}};  // reserved for one, and not used
    reg  [BEATS_LOG2:0]  freed_reg = {BEATS_LOG2+1{1'b0}};  // read for the last time
    reg  [BEATS_LOG2:0]  taken_reg = {BEATS_LOG2+1{1'b0}};  // reserved
    reg                  take_reg  = 1'b0;                  // something is, if only a place for a result
    reg  [RING_LOG2:0]   change_reg = {RING_LOG2+1{1'b0}};

    wire [BEATS_LOG2:0]  open   = open_reg + {{BEATS_LOG2{1'b0}}, s_put};
    wire                 forget = s_end && s_summed && s_poison;
    wire [RING_LOG2-1:0] write_next = forget ? start_reg : write_reg + {{RING_LOG2-1{1'b0}}, s_put};
    wire [BEATS_LOG2:0]  reserved;
    wire [BEATS_LOG2:0]  freed;  // in this cycle, of one that has been read for the last time
    wire [RING_LOG2-1:0] ring_address;
    wire [255:0]         ring_data;

    always @(posedge clk) begin
        write_reg <= write_next;
        if (s_end) start_reg <= write_next;
        open_reg  <= s_end ? {BEATS_LOG2+1{1'b0}} : open;
        // What is left over or freed comes late in its cycle, and is counted in the next ones.
        ended_reg <= s_end;
        had_reg   <= reserved;
        used_reg  <= forget ? {BEATS_LOG2+1{1'b0}} : open;
        back_reg  <= ended_reg ? had_reg - used_reg : {BEATS_LOG2+1{1'b0}};
        freed_reg <= freed;
        // seen three cycles later: nobody reserves sooner again than after four
        taken_reg  <= reserve ? reserve_beats : {BEATS_LOG2+1{1'b0}};
        take_reg   <= reserve && !rst;
        change_reg <= {2'd0, freed_reg} + {2'd0, back_reg} - {2'd0, taken_reg};
        left_reg   <= left_reg + change_reg;
        if (rst) begin
            write_reg <= {RING_LOG2{1'b0}};
            start_reg <= {RING_LOG2{1'b0}};
            open_reg  <= {BEATS_LOG2+1{1'b0}};
            ended_reg <= 1'b0;
            back_reg  <= {BEATS_LOG2+1{1'b0}};
            freed_reg <= {BEATS_LOG2+1{1'b0}};
            taken_reg <= {BEATS_LOG2+1{1'b0}};
            change_reg <= {RING_LOG2+1{1'b0}};
            left_reg  <= {1'b1, {RING_LOG2{1'b0}}};
        end
    end
    assign ring_left = left_reg;

    wire unused_reserved;
    gn_credit_fifo #(.WIDTH(BEATS_LOG2+1), .LOG2(3)) reservations (
        .clk(clk), .rst(rst), .s_data(taken_reg), .s_valid(take_reg),
        .m_data(reserved), .m_valid(unused_reserved), .m_ready(s_end));

    // bytes of a stream
    reg  [BEATS_LOG2:0]  full_reg = {BEATS_LOG2+1{1'b0}};  // beats
    wire [5:0]           tail;
    gn_keep_count keeps (.keep(s_keep), .count(tail));
    wire [13:0]          stream_bytes = {{8-BEATS_LOG2{1'b0}}, full_reg, 5'd0} + {8'd0, tail};
    always @(posedge clk) begin
        if (s_put) full_reg <= full_reg + 1'b1;
        if (s_end || rst) full_reg <= {BEATS_LOG2+1{1'b0}};
    end

    gn_block_ram #(.WIDTH(256), .LOG2(RING_LOG2)) ring (
        .clk(clk), .write(s_put), .write_address(write_reg), .write_data(s_data),
        .read_address(ring_address), .read_data(ring_data));

    // ---- results that wait, and the sums of their values, which come five cycles behind

    wire                 d_valid, d_summed, d_poison, d_dense, d_again, d_ecn, d_late, d_take;
    wire [JOBS_LOG2-1:0] d_index;
    wire [2:0]           d_child, d_last_child;
    wire [15:0]          d_job, d_gen, d_slot_field, d_sum, sum;
    wire [3:0]           d_level;
    wire [31:0]          d_psn;
    wire [11:0]          d_values;
    wire [13:0]          d_stream;
    wire [7:0]           d_exponent, d_next;
    wire [RING_LOG2-1:0] d_start;
    wire                 sum_valid, d_sum_valid, unused_idle;

    gn_credit_counter #(.CREDITS(9), .MOST(1)) credits (
        .clk(clk), .rst(rst), .ok(ring_announce), .idle(unused_idle), .take({2'd0, take_reg}), .give({2'd0, d_take}));
    gn_credit_fifo #(.WIDTH(138 + JOBS_LOG2 + RING_LOG2), .LOG2(3)) results (
        .clk(clk), .rst(rst), .s_valid(s_end),
        .s_data({stream_bytes, s_summed, s_poison, s_dense, s_again, s_index, s_child, s_last_child, s_job, s_gen, s_level, s_slot_field, s_psn,
                 s_values, s_ecn, s_late, s_exponent, s_next, start_reg}),
        .m_data({d_stream, d_summed, d_poison, d_dense, d_again, d_index, d_child, d_last_child, d_job, d_gen, d_level, d_slot_field, d_psn,
                 d_values, d_ecn, d_late, d_exponent, d_next, d_start}),
        .m_valid(d_valid), .m_ready(d_take));
    gn_checksum value_sums (
        .clk(clk), .rst(rst), .s_data(s_data), .s_keep(s_keep), .s_last(s_end), .s_odd(1'b0), .s_more(16'd0),
        .s_valid(s_put), .m_sum(sum), .m_valid(sum_valid));
    gn_credit_fifo #(.WIDTH(16), .LOG2(3)) sums (
        .clk(clk), .rst(rst), .s_data(sum), .s_valid(sum_valid), .m_data(d_sum), .m_valid(d_sum_valid),
        .m_ready(d_take && d_summed));

    // ---- a result's header, in steps: 1 to 4 its CRC, 5 to 10 its sum. Then its children, each in
    // five: 11 to 15

    reg [3:0]           step_reg = 4'd0;
    reg [223:0]         head_reg;   // byte 0 in the lowest bits, without the CRC
    reg [31:0]          crc_reg;
    reg [15:0]          value_sum_reg, payload_sum_reg;
    reg [13:0]          bytes_reg;  // behind the header of aggregation
    reg                 dense_reg;  // they are a stream
    reg [15:0]          length_reg; // of the payload, if they were not
    reg [RING_LOG2-1:0] from_reg;   // where its beats begin in the ring
    reg [JOBS_LOG2-1:0] index_reg;
    reg [2:0]           child_reg, last_child_reg;

    assign d_take = step_reg == 4'd0 && d_valid && (!d_summed || d_sum_valid);

    wire        d_packed = d_dense && d_summed && !d_poison;
    wire [11:0] d_sent   = d_poison ? 12'd0 : d_values;
    wire [7:0]  d_flags  = {3'd0, d_late, d_ecn, d_again, 2'd0};
    wire [7:0]  d_bitmap = ~(8'hfe << d_last_child);
    wire [223:0] d_head  = {d_sent[7:0], {4'd0, d_sent[11:8]}, d_next, d_exponent, 16'd0,  // bytes 27 to 22
                            {4'd0, {1'b0, d_last_child} + 4'd1}, {d_level, 4'd0}, d_bitmap, 56'd0,
                            d_psn[7:0], d_psn[15:8], d_psn[23:16], d_psn[31:24], d_slot_field[7:0], d_slot_field[15:8],
                            d_gen[7:0], d_gen[15:8], d_job[7:0], d_job[15:8], d_flags, 4'd1, d_poison ? 4'd6 : 4'd1};

    wire [31:0] crc_from = step_reg == 4'd1 ? 32'hffffffff : crc_reg;
    wire [31:0] crc_8, crc_4;
    wire [63:0] head_8 = step_reg == 4'd1 ? head_reg[63:0] : step_reg == 4'd2 ? head_reg[127:64] : head_reg[191:128];
    gn_crc_step #(.BITS(64)) step_8 (.crc(crc_from), .data(head_8), .next(crc_8));
    gn_crc_step #(.BITS(32)) step_4 (.crc(crc_reg), .data(head_reg[223:192]), .next(crc_4));

    wire [31:0]  check = ~crc_reg;
    wire [255:0] head  = {check[7:0], check[15:8], check[23:16], check[31:24], head_reg};
    wire [15:0]  head_sum;
    wire         head_sum_valid;
    gn_checksum head_sums (
        .clk(clk), .rst(rst), .s_data(head), .s_keep(32'hffffffff), .s_last(1'b1), .s_odd(1'b0), .s_more(value_sum_reg),
        .s_valid(step_reg == 4'd5), .m_sum(head_sum), .m_valid(head_sum_valid));

    // ---- the shim of a stream: profile dense, the header verbatim

    `include "shim.vh"
    wire [55:0] shim_front = {8'd32, length_reg[7:0], length_reg[15:8], head_reg[8*25 +: 8], SHIM_VERSION, 4'd3, SHIM_MAGIC};
    wire [7:0]  shim_says;
    reg  [63:0] shim_reg;
    reg  [17:0] shim_wide;
    reg  [15:0] shim_sum;
    gn_shim_check shim_crc (.shim(shim_front), .check(shim_says));
    always @(posedge clk) begin
        shim_reg  <= {shim_says, shim_front};
        shim_wide <= {2'd0, shim_reg[7:0], shim_reg[15:8]} + {2'd0, shim_reg[23:16], shim_reg[31:24]} +
                     {2'd0, shim_reg[39:32], shim_reg[47:40]} + {2'd0, shim_reg[55:48], shim_reg[63:56]};
        shim_sum  <= dense_reg ? fold({1'b0, shim_wide}) : 16'd0;
    end

    wire j_free;  // the frame before has gone so far that its headers may be overwritten
    wire f_ready;
    wire load = step_reg == 4'd15 && j_free && f_ready;

    always @(posedge clk) begin
        crc_reg <= step_reg == 4'd4 ? crc_4 : step_reg < 4'd4 ? crc_8 : crc_reg;
        if (head_sum_valid) payload_sum_reg <= head_sum;
        if (d_take) begin
            head_reg       <= d_head;
            value_sum_reg  <= d_summed && !d_poison ? d_sum : 16'd0;
            bytes_reg      <= d_packed ? d_stream : {d_sent, 2'd0};
            dense_reg      <= d_packed;
            length_reg     <= {2'd0, d_sent, 2'd0} + 16'd32;
            from_reg       <= d_start;
            index_reg      <= d_index;
            child_reg      <= d_again ? d_child : 3'd0;
            last_child_reg <= d_again ? d_child : d_last_child;
            step_reg       <= 4'd1;
        end else if (load) begin
            step_reg  <= child_reg == last_child_reg ? 4'd0 : 4'd11;
            child_reg <= child_reg + 3'd1;
        end else if (step_reg == 4'd10) begin
            if (head_sum_valid) step_reg <= 4'd11;
        end else if (step_reg != 4'd0 && step_reg != 4'd15) begin
            step_reg <= step_reg + 4'd1;
        end
        if (rst) step_reg <= 4'd0;
    end

    // ---- a child's headers

    wire [JOBS_LOG2+2:0] place = {index_reg, child_reg};
    reg [247:0] child;      // step 12
    reg [15:0]  udp_bytes, ip_bytes;
    reg [18:0]  udp_own;    // step 12, of the sum of UDP: what is the same for all children
    reg [18:0]  udp_wide, ip_wide;    // step 13
    reg [15:0]  udp_sum, ip_sum;      // step 14
    reg [335:0] ahead;      // step 15: Ethernet, IPv4, UDP
    reg [15:0]  where;

    function [15:0] fold;
        input [18:0] wide;
        reg   [16:0] once;
        begin
            once = {1'b0, wide[15:0]} + {14'd0, wide[18:16]};
            fold = once[15:0] + {15'd0, once[16]};
        end
    endfunction

    wire [15:0] udp_check = ~udp_sum == 16'd0 ? 16'hffff : ~udp_sum;
    wire [15:0] ip_check  = ~ip_sum;

    always @(posedge clk) begin
        child     <= {child_7[place], child_6[place], child_5[place], child_4[place], child_3[place], child_2[place],
                      child_1[place], child_0[place]};
        udp_bytes <= {2'd0, bytes_reg} + (dense_reg ? 16'd48 : 16'd40);
        ip_bytes  <= {2'd0, bytes_reg} + (dense_reg ? 16'd68 : 16'd60);
        // the length is summed twice, in the pseudo header and in the header
        udp_own   <= {3'd0, payload_sum_reg} + {2'd0, udp_bytes, 1'b0} + {3'd0, shim_sum};
        udp_wide  <= {3'd0, child[207:192]} + udp_own;
        ip_wide   <= {3'd0, child[223:208]} + {3'd0, ip_bytes};
        udp_sum   <= fold(udp_wide);
        ip_sum    <= fold(ip_wide);
        where     <= child[239:224];
        ahead     <= {udp_check[7:0], udp_check[15:8], udp_bytes[7:0], udp_bytes[15:8], child[191:160],  // UDP
                      child[159:96], ip_check[7:0], ip_check[15:8], 8'd17, 8'd64, 16'h0040, 16'd0,
                      ip_bytes[7:0], ip_bytes[15:8], child[247:240], 8'h45,                            // IPv4
                      16'h0008, child[95:0]};                                                           // Ethernet
    end

    // ---- the beats of a frame's values, read ahead

    localparam FETCH = RING_LOG2 + BEATS_LOG2 + 2;

    wire [11:0]           beats = {3'd0, bytes_reg[13:5]} + {11'd0, |bytes_reg[4:0]};
    wire                  unused_beats = &{1'b0, beats};
    wire                  f_valid, f_done, f_last_child;
    wire [RING_LOG2-1:0]  f_from;
    wire [BEATS_LOG2:0]   f_beats;
    wire                  f_ok, unused_f_idle;
    reg  [BEATS_LOG2:0]   f_number_reg = {BEATS_LOG2+1{1'b0}};
    wire                  v_room, v_valid, v_take;
    wire [255:0]          v_data;
    wire                  unused_v_idle;

    assign f_ready = f_ok;
    gn_credit_counter #(.CREDITS(5), .MOST(1)) fetch_credits (
        .clk(clk), .rst(rst), .ok(f_ok), .idle(unused_f_idle), .take({2'd0, load && bytes_reg != 14'd0}), .give({2'd0, f_done}));
    gn_credit_fifo #(.WIDTH(FETCH), .LOG2(2)) fetches (
        .clk(clk), .rst(rst), .s_valid(load && bytes_reg != 14'd0),
        .s_data({from_reg, beats[BEATS_LOG2:0], child_reg == last_child_reg}),
        .m_data({f_from, f_beats, f_last_child}), .m_valid(f_valid), .m_ready(f_done));

    wire fetch = f_valid && v_room;
    assign f_done       = fetch && f_number_reg + {{BEATS_LOG2{1'b0}}, 1'b1} == f_beats;
    assign freed        = f_done && f_last_child ? f_beats : {BEATS_LOG2+1{1'b0}};
    assign ring_address = f_from + {1'b0, f_number_reg};

    reg [1:0] fetch_pipe = 2'd0;
    always @(posedge clk) begin
        if (fetch) f_number_reg <= f_done ? {BEATS_LOG2+1{1'b0}} : f_number_reg + 1'b1;
        fetch_pipe <= {fetch_pipe[0], fetch};
        if (rst) begin
            f_number_reg <= {BEATS_LOG2+1{1'b0}};
            fetch_pipe   <= 2'd0;
        end
    end

    gn_credit_counter #(.CREDITS(17), .MOST(1)) value_credits (
        .clk(clk), .rst(rst), .ok(v_room), .idle(unused_v_idle), .take({2'd0, fetch}), .give({2'd0, v_take}));
    gn_credit_fifo #(.WIDTH(256), .LOG2(4)) values (
        .clk(clk), .rst(rst), .s_data(ring_data), .s_valid(fetch_pipe[1]), .m_data(v_data), .m_valid(v_valid), .m_ready(v_take));

    // ---- the frame: 42 bytes of headers, 8 of a shim or none, 32 of the header of aggregation,
    // the values. So all behind the first beat comes 10 bytes late, or 18: what is left over waits
    // in carry_reg.

    localparam [1:0] HEADERS = 2'd0, HEAD = 2'd1, VALUES = 2'd2, REST = 2'd3;

    reg [335:0] j_ahead;
    reg [255:0] j_head;
    reg [15:0]  j_where;
    reg [13:0]  j_bytes;
    reg [63:0]  j_shim;
    reg         j_dense;
    reg         j_valid = 1'b0;

    reg [1:0]          at_reg = HEADERS;
    reg [143:0]        carry_reg;
    reg                late_reg;   // by 18
    reg [BEATS_LOG2:0] more_reg;   // beats of values
    reg [4:0]          over_reg;   // bytes in the last of them, modulo 32
    reg                rest_reg;   // the last beat has none of them anew
    reg [15:0]         where_reg;

    wire        o_room, unused_o_idle;
    wire        j_none  = j_bytes == 14'd0;
    wire [11:0] j_beats = {3'd0, j_bytes[13:5]} + {11'd0, |j_bytes[4:0]};
    wire        unused_j = &{1'b0, j_beats};
    wire        last_values = more_reg == {{BEATS_LOG2{1'b0}}, 1'b1};
    wire        move = o_room && (at_reg == HEADERS ? j_valid : at_reg == VALUES ? v_valid : 1'b1);
    wire [5:0]  over_bytes = {1'b0, over_reg} + (late_reg ? 6'd18 : 6'd10);  // behind the last beat that is full
    wire        ends = at_reg == REST || (at_reg == VALUES && last_values && !rest_reg);

    assign v_take = move && at_reg == VALUES;
    assign j_free = !j_valid || (move && at_reg == HEAD);

    reg [255:0] o_data;
    reg [5:0]   o_bytes;
    reg [15:0]  o_where;
    reg         o_last, o_valid = 1'b0;

    always @(posedge clk) begin
        if (load) begin
            j_ahead  <= ahead;
            j_head   <= head;
            j_where  <= where;
            j_bytes  <= bytes_reg;
            j_shim   <= shim_reg;
            j_dense  <= dense_reg;
        end
        j_valid <= load || (j_valid && !(move && at_reg == HEAD));

        if (move) begin
            case (at_reg)
            HEADERS: at_reg <= HEAD;
            HEAD:    at_reg <= j_none ? REST : VALUES;
            VALUES:  at_reg <= !last_values ? VALUES : rest_reg ? REST : HEADERS;
            default: at_reg <= HEADERS;
            endcase
            if (at_reg == HEAD) carry_reg <= j_dense ? j_head[255:112] : {64'd0, j_head[255:176]};
            else                carry_reg <= late_reg ? v_data[255:112] : {64'd0, v_data[255:176]};
            if (at_reg == HEADERS) where_reg <= j_where;
            if (at_reg == HEADERS) late_reg  <= j_dense;
            if (at_reg == HEAD) begin
                more_reg <= j_beats[BEATS_LOG2:0];
                over_reg <= j_bytes[4:0];
                rest_reg <= j_none || j_bytes[4:0] == 5'd0 || j_bytes[4:0] > (j_dense ? 5'd14 : 5'd22);
            end
            if (at_reg == VALUES) more_reg <= more_reg - 1'b1;
        end
        o_data  <= at_reg == HEADERS ? j_ahead[255:0] :
                   at_reg == HEAD    ? (j_dense ? {j_head[111:0], j_shim, j_ahead[335:256]} : {j_head[175:0], j_ahead[335:256]}) :
                   late_reg          ? {v_data[111:0], carry_reg} : {v_data[175:0], carry_reg[79:0]};
        o_bytes <= ends ? (over_bytes > 6'd32 ? over_bytes - 6'd32 : over_bytes) : 6'd32;
        o_last  <= ends;
        o_where <= at_reg == HEADERS ? j_where : where_reg;
        o_valid <= move && !rst;
        if (rst) begin
            j_valid <= 1'b0;
            at_reg  <= HEADERS;
        end
    end

    wire [5:0] m_bytes;
    gn_credit_counter #(.CREDITS(17), .MOST(1)) out_credits (
        .clk(clk), .rst(rst), .ok(o_room), .idle(unused_o_idle), .take({2'd0, move}), .give({2'd0, m_axis_tvalid && m_axis_tready}));
    gn_credit_fifo #(.WIDTH(279), .LOG2(4)) out (
        .clk(clk), .rst(rst), .s_data({o_where, o_last, o_bytes, o_data}), .s_valid(o_valid),
        .m_data({m_axis_tuser, m_axis_tlast, m_bytes, m_axis_tdata}), .m_valid(m_axis_tvalid), .m_ready(m_axis_tready));
    assign m_axis_tkeep = ~(32'hffffffff << m_bytes);

endmodule

`resetall
