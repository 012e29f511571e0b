// SPDX-License-Identifier: Apache-2.0
// Keeps whole frames in a ring of beats, for two readers. A frame is announced, with what is known
// about it, when its last beat is in. Of a bad frame nothing is kept, and neither is of a frame
// longer than the ring: nothing ever waits for that. It is announced as gone, so that each frame
// that comes is heard of, in order. A frame that finds the ring full waits. Frames are freed in
// their order.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_frame_store #(
    parameter LOG2       = 10,  // holds 2^LOG2 beats; a frame has at most as many
    parameter INFO_WIDTH = 106  // bits that go with a frame
) (
    input  wire                  clk,
    input  wire                  rst,            // synchronous, active high

    // frames: AXI4-Stream (sink)
    input  wire [255:0]          s_axis_tdata,
    input  wire                  s_axis_tlast,
    input  wire                  s_axis_tvalid,
    output wire                  s_axis_tready,  // from a register
    input  wire                  s_bad,          // in the last beat: the frame is to be forgotten
    input  wire [INFO_WIDTH-1:0] s_info,         // in the last beat

    // a pulse for each frame that was dropped; a bad frame does not count as long
    output wire                  dropped_bad,
    output wire                  dropped_long,

    // Frames that came, in order. At most 16 wait; with 14 the input may have to wait too.
    output wire                  m_gone,         // it was dropped: it has no beats, and what
                                                 // m_info says of it may be anything
    output wire [LOG2-1:0]       m_first,        // where its first beat is; the others follow,
                                                 // modulo the ring's size
    output wire [INFO_WIDTH-1:0] m_info,
    output wire                  m_valid,
    input  wire                  m_ready,

    // readers
    input  wire [LOG2-1:0]       a_address,
    output wire [255:0]          a_data,         // two cycles later
    input  wire [LOG2-1:0]       b_address,
    output wire [255:0]          b_data,         // two cycles later

    // in every cycle: so many beats, the oldest, need no longer be kept. Their addresses have been
    // read already
    input  wire [LOG2:0]         free_beats
);

    localparam [LOG2:0] BEATS = {1'b1, {LOG2{1'b0}}};

    reg [LOG2-1:0] write_reg = {LOG2{1'b0}};
    reg [LOG2-1:0] start_reg = {LOG2{1'b0}};    // of the open frame
    reg [LOG2:0]   open_reg  = {LOG2+1{1'b0}};  // its beats
    reg            long_reg  = 1'b0;            // the open frame was too long: drop its rest
    reg            bad_out_reg = 1'b0, long_out_reg = 1'b0;

    wire may_announce;
    reg  room_reg  = 1'b0;
    reg  ready_reg = 1'b0;  // room_reg, and a frame may be announced: from a register, as much of
                            // the sender depends on it
    assign s_axis_tready = ready_reg;

    wire take     = s_axis_tvalid && s_axis_tready;
    wire write    = take && !long_reg;
    wire close    = take && s_axis_tlast;
    wire gone     = s_bad || long_reg;
    wire announce = close && !gone;
    // the open frame fills the ring, and is not over; nothing is taken in this cycle
    wire overflow = open_reg[LOG2];
    wire forget   = overflow || (close && s_bad && !long_reg);

    // ---- places that are left. What is given back counts two cycles later

    reg [LOG2:0] left_reg = BEATS;
    reg [LOG2:0] back_reg = {LOG2+1{1'b0}}, give_reg = {LOG2+1{1'b0}};

    wire [LOG2:0] left_sum  = left_reg + give_reg;
    wire [LOG2:0] open_next = open_reg + {{LOG2{1'b0}}, write};
    wire          long_next = overflow || (long_reg && !close);
    wire          room_next = long_next || |left_sum[LOG2:1] || (left_sum[0] && !write);

    always @(posedge clk) begin
        long_reg  <= long_next;
        open_reg  <= close || overflow ? {LOG2+1{1'b0}} : open_next;
        back_reg  <= forget ? open_next : {LOG2+1{1'b0}};
        give_reg  <= free_beats + back_reg;
        left_reg  <= left_sum - {{LOG2{1'b0}}, write};
        room_reg  <= room_next;
        ready_reg <= room_next && may_announce;
        if (forget)
            write_reg <= start_reg;
        else if (write)
            write_reg <= write_reg + 1'b1;
        if (announce) start_reg <= write_reg + 1'b1;
        bad_out_reg  <= close && s_bad;
        long_out_reg <= close && !s_bad && long_reg;
        if (rst) begin
            write_reg    <= {LOG2{1'b0}};
            start_reg    <= {LOG2{1'b0}};
            open_reg     <= {LOG2+1{1'b0}};
            long_reg     <= 1'b0;
            back_reg     <= {LOG2+1{1'b0}};
            give_reg     <= {LOG2+1{1'b0}};
            left_reg     <= BEATS;
            room_reg     <= 1'b0;
            ready_reg    <= 1'b0;
            bad_out_reg  <= 1'b0;
            long_out_reg <= 1'b0;
        end
    end

    assign dropped_bad  = bad_out_reg;
    assign dropped_long = long_out_reg;

    // ---- announced frames

    wire unused_idle;
    // What it says is used a cycle late, when the frame of this cycle has taken a place. So it
    // promises two, and of 17 places 16 are used.
    gn_credit_counter #(.CREDITS(17), .MOST(2), .LATE(1)) credits (
        .clk(clk), .rst(rst), .ok(may_announce), .idle(unused_idle), .take({2'd0, close}), .give({2'd0, m_valid && m_ready}));
    gn_credit_fifo #(.WIDTH(LOG2 + INFO_WIDTH + 1), .LOG2(4)) frames (
        .clk(clk), .rst(rst), .s_data({gone, start_reg, s_info}), .s_valid(close),
        .m_data({m_gone, m_first, m_info}), .m_valid(m_valid), .m_ready(m_ready));

    // ---- beats

    // While there is room, the place of the next beat is free, so it may be written in every such
    // cycle. So the memories need not wait until it is known, late, whether a beat is taken. (A
    // frame that is swallowed had filled the ring: no other frame's beats are in it.)
    wire write_any = room_reg;

    gn_block_ram #(.WIDTH(256), .LOG2(LOG2)) copy_a (
        .clk(clk), .write(write_any), .write_address(write_reg), .write_data(s_axis_tdata), .read_address(a_address), .read_data(a_data));
    gn_block_ram #(.WIDTH(256), .LOG2(LOG2)) copy_b (
        .clk(clk), .write(write_any), .write_address(write_reg), .write_data(s_axis_tdata), .read_address(b_address), .read_data(b_data));

endmodule

`resetall
