// SPDX-License-Identifier: Apache-2.0
// Bench only: the blocks of rtl/lib side by side, each as it is used.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module lib (
    input  wire        clk,
    input  wire        rst,

    // gn_skid_buffer
    input  wire [31:0] skid_s_data,
    input  wire        skid_s_valid,
    output wire        skid_s_ready,
    output wire [31:0] skid_m_data,
    output wire        skid_m_valid,
    input  wire        skid_m_ready,

    // gn_credit_counter, three stages, gn_credit_fifo
    input  wire [31:0] one_s_data,
    input  wire        one_s_valid,
    output wire        one_s_ready,
    output wire        one_idle,
    output wire [31:0] one_m_data,
    output wire        one_m_valid,
    input  wire        one_m_ready,

    // gn_credit_counter, gn_pair_fifo
    input  wire [1:0]  two_s_count,  // wanted; taken when ready
    input  wire [31:0] two_s_first,
    input  wire [31:0] two_s_second,
    output wire        two_s_ready,
    output wire        two_idle,
    output wire [31:0] two_m_data,
    output wire        two_m_valid,
    input  wire        two_m_ready,

    // gn_keep_count
    input  wire [31:0] keep,
    output wire [5:0]  keep_bytes
);

    gn_skid_buffer #(.WIDTH(32)) skid (
        .clk(clk), .rst(rst), .s_data(skid_s_data), .s_valid(skid_s_valid), .s_ready(skid_s_ready),
        .m_data(skid_m_data), .m_valid(skid_m_valid), .m_ready(skid_m_ready));

    wire one_take = one_s_valid && one_s_ready;
    gn_credit_counter #(.CREDITS(17), .MOST(1)) one_credits (
        .clk(clk), .rst(rst), .ok(one_s_ready), .idle(one_idle), .take({2'd0, one_take}),
        .give({2'd0, one_m_valid && one_m_ready}));
    reg [95:0] stages;
    reg [2:0]  valid_reg = 3'd0;
    always @(posedge clk) begin
        stages    <= {stages[63:0], one_s_data};
        valid_reg <= rst ? 3'd0 : {valid_reg[1:0], one_take};
    end
    gn_credit_fifo #(.WIDTH(32), .LOG2(4)) one_fifo (
        .clk(clk), .rst(rst), .s_data(stages[95:64]), .s_valid(valid_reg[2]),
        .m_data(one_m_data), .m_valid(one_m_valid), .m_ready(one_m_ready));

    wire [1:0] two_take = two_s_ready ? two_s_count : 2'd0;
    gn_credit_counter #(.CREDITS(17), .MOST(2), .LATE(1)) two_credits (
        .clk(clk), .rst(rst), .ok(two_s_ready), .idle(two_idle), .take({1'b0, two_take}),
        .give({2'd0, two_m_valid && two_m_ready}));
    gn_pair_fifo #(.WIDTH(32), .LOG2(4)) two_fifo (
        .clk(clk), .rst(rst), .s_count(two_take), .s_first(two_s_first), .s_second(two_s_second),
        .m_data(two_m_data), .m_valid(two_m_valid), .m_ready(two_m_ready));

    gn_keep_count bytes (.keep(keep), .count(keep_bytes));

endmodule

`resetall
