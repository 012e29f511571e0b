// SPDX-License-Identifier: Apache-2.0
// What belongs to a frame and not to its bytes: what came with it (tid, tdest, tuser), how long it
// is when it leaves, and that it does not. It goes round the path of frames, which keeps their
// order. So each frame that comes leaves one token: beside its beats, or, if it was dropped, by
// itself, in its turn.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_frame_tokens #(
    parameter SIDE_WIDTH = 1  // bits that come with a frame
) (
    input  wire                  clk,
    input  wire                  rst,            // synchronous, active high

    // frames that come
    output wire                  room,           // from a register: a frame may end
    input  wire [SIDE_WIDTH-1:0] s_side,
    input  wire                  s_end,          // its last beat is taken: only with room

    // what becomes of each, in order: the job, when gn_frame_assemble takes it, and its fields
    // there
    input  wire                  job_drop,
    input  wire                  job_pass,
    input  wire [16:0]           job_length,
    input  wire [7:0]            job_payload,
    input  wire                  job_shim_valid,
    input  wire [16:0]           job_bytes,
    input  wire [16:0]           job_result_bytes,
    input  wire [1:0]            job_tail_bytes,
    input  wire                  job_taken,

    // frames from gn_frame_assemble: at least 4 cycles behind their job. Data and tkeep go past
    // here
    input  wire                  a_tlast,
    input  wire                  a_tvalid,
    output wire                  a_tready,

    // and on, each with its token
    output wire [SIDE_WIDTH-1:0] m_side,         // in all of its beats
    output wire [16:0]           m_length,       // bytes of the frame, in all of its beats
    output wire                  m_tvalid,
    input  wire                  m_tready,

    // a frame that does not leave: when all before it have left, and before the next one does
    output wire [SIDE_WIDTH-1:0] drop_side,
    output wire                  drop_valid,
    input  wire                  drop_ready
);

    // As many frames are in the path only when many short ones wait behind a long one.
    localparam LOG2 = 6, FRAMES = 56;

    wire [SIDE_WIDTH-1:0] side;
    wire                  drop, token_valid, unused_side_valid, unused_idle;
    wire [16:0]           length;

    wire dropped = token_valid && drop;
    wire done    = dropped ? drop_ready : a_tvalid && m_tready && a_tlast;

    assign m_tvalid   = a_tvalid && !dropped;
    assign a_tready   = m_tready && !dropped;
    assign m_side     = side;
    assign m_length   = length;
    assign drop_valid = dropped;
    assign drop_side  = side;

    gn_credit_counter #(.CREDITS(FRAMES), .MOST(1), .LATE(1)) places (
        .clk(clk), .rst(rst), .ok(room), .idle(unused_idle), .take({2'd0, s_end}), .give({2'd0, done}));
    gn_credit_fifo #(.WIDTH(SIDE_WIDTH), .LOG2(LOG2)) sides (
        .clk(clk), .rst(rst), .s_data(s_side), .s_valid(s_end),
        .m_data(side), .m_valid(unused_side_valid), .m_ready(done));

    // ---- the length, in two additions

    reg        a_drop, a_valid = 1'b0, b_drop, b_valid = 1'b0;
    reg [16:0] a_front, a_back, b_length;
    always @(posedge clk) begin
        a_front  <= job_pass ? job_length : {9'd0, job_payload} + {13'd0, job_shim_valid, 3'd0} + job_bytes;
        a_back   <= job_pass ? 17'd0 : job_result_bytes + {15'd0, job_tail_bytes};
        a_drop   <= job_drop;
        a_valid  <= job_taken && !rst;
        b_length <= a_front + a_back;
        b_drop   <= a_drop;
        b_valid  <= a_valid && !rst;
    end

    gn_credit_fifo #(.WIDTH(18), .LOG2(LOG2)) tokens (
        .clk(clk), .rst(rst), .s_data({b_drop, b_length}), .s_valid(b_valid),
        .m_data({drop, length}), .m_valid(token_valid), .m_ready(done));

    generate
        if (SIDE_WIDTH < 1) begin : g_check
            SIDE_WIDTH_must_be_1_or_more error();
        end
    endgenerate

endmodule

`resetall
