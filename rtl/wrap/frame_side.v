// SPDX-License-Identifier: Apache-2.0
// Carries what goes with a frame (tid, tdest, tuser) round a path that keeps the order of frames
// and may drop some. It holds up the sender before it overflows.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module frame_side #(
    parameter WIDTH = 32  // bits that go with a frame
) (
    input  wire             clk,
    input  wire             rst,           // synchronous, active high

    output wire             ready,         // from a register: a frame may end
    input  wire [WIDTH-1:0] s_data,
    input  wire             s_valid,       // a frame's last beat goes in; only when ready

    input  wire             verdict_valid, // the next frame's fate, in order, before it leaves
    input  wire             verdict_drop,

    output wire [WIDTH-1:0] m_data,        // of the frame that leaves, from its first beat on
    input  wire             m_taken        // its last beat was taken
);

    // Frames without a fate, and frames that will leave. A path has as many in it only when many
    // short ones wait behind a long one.
    localparam LOG2 = 6, FRAMES = 56;

    wire [WIDTH-1:0] fated;
    wire             unused_idle, unused_fated_valid, unused_valid;
    wire             drop = verdict_valid && verdict_drop;
    wire [1:0]       back = {1'b0, drop} + {1'b0, m_taken};

    credit_counter #(.CREDITS(FRAMES), .MOST(1), .LATE(1)) places (
        .clk(clk), .rst(rst), .ok(ready), .idle(unused_idle), .take({2'd0, s_valid}), .give({1'b0, back}));
    credit_fifo #(.WIDTH(WIDTH), .LOG2(LOG2)) open (
        .clk(clk), .rst(rst), .s_data(s_data), .s_valid(s_valid),
        .m_data(fated), .m_valid(unused_fated_valid), .m_ready(verdict_valid));
    credit_fifo #(.WIDTH(WIDTH), .LOG2(LOG2)) kept (
        .clk(clk), .rst(rst), .s_data(fated), .s_valid(verdict_valid && !verdict_drop),
        .m_data(m_data), .m_valid(unused_valid), .m_ready(m_taken));

endmodule

`resetall
