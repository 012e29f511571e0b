// SPDX-License-Identifier: Apache-2.0
// Results of gn_slot_add on their way to gn_slot_reader. Sums of int32 go on as they come. Those of
// profile dense become its stream: 32 bits a sum, so that none is ever rounded. Beats that are left
// out are zeros of it. As gn_slot_add begins none of int32 while one of dense is inside, results
// stay in order.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_sum_pack #(
    parameter META_WIDTH = 142  // bits that go with a result
) (
    input  wire                  clk,
    input  wire                  rst,       // synchronous, active high

    input  wire                  begins,    // gn_slot_add begins a result of dense
    input  wire                  moves,     // and reads a beat for it
    output wire                  room,      // from a register: it may
    output wire                  idle,      // from a register: none is inside

    // as gn_slot_add says
    input  wire [255:0]          s_data,
    input  wire [7:0]            s_number,
    input  wire [7:0]            s_final,
    input  wire [31:0]           s_keep,
    input  wire                  s_put,
    input  wire                  s_end,
    input  wire                  s_result,  // with s_end: a result, and not another packet
    input  wire                  s_summed,
    input  wire                  s_poison,
    input  wire                  s_dense,
    input  wire [META_WIDTH-1:0] s_meta,

    // The same of results alone, with beats of a stream: all full but the last
    output wire [255:0]          m_data,
    output wire [31:0]           m_keep,
    output wire                  m_put,
    output wire                  m_end,
    output wire                  m_summed,
    output wire                  m_poison,
    output wire                  m_dense,
    output wire [META_WIDTH-1:0] m_meta
);

    // ---- sums to a stream

    wire [279:0] piece;
    wire [5:0]   length;
    wire [2:0]   released;
    wire         piece_last, piece_valid, piece_ready;

    gn_sum_quads quads (
        .clk(clk), .rst(rst), .s_words(s_data), .s_number(s_number), .s_valid(s_put && s_dense),
        .s_end(s_end && s_summed && s_dense), .s_final(s_final), .s_released(released), .m_piece(piece), .m_length(length), .m_last(piece_last), .m_valid(piece_valid),
        .m_ready(piece_ready));

    wire unused_idle;
    gn_credit_counter #(.CREDITS(16), .MOST(1), .LATE(1)) groups (
        .clk(clk), .rst(rst), .ok(room), .idle(unused_idle), .take({2'd0, moves}), .give(released));

    wire [255:0] p_data;
    wire [31:0]  p_keep;
    wire         p_last, p_valid, p_ready;
    gn_record_packer #(.RECORD_BYTES(35)) packer (
        .clk(clk), .rst(rst), .s_record(piece), .s_length(length), .s_last(piece_last), .s_valid(piece_valid),
        .s_ready(piece_ready), .m_axis_tdata(p_data), .m_axis_tkeep(p_keep), .m_axis_tlast(p_last), .m_axis_tvalid(p_valid),
        .m_axis_tready(p_ready));

    // ---- what it is: with its last beat, or alone when it has none

    wire                  e_summed, e_poison, e_valid, e_take, unused_ok;
    wire [META_WIDTH-1:0] e_meta;
    wire                  s_packed = s_end && s_result && s_dense;

    // a cycle late: gn_slot_add looks at idle again after four
    reg begins_reg = 1'b0;
    always @(posedge clk) begins_reg <= begins && !rst;

    gn_credit_counter #(.CREDITS(9), .MOST(1)) results (
        .clk(clk), .rst(rst), .ok(unused_ok), .idle(idle), .take({2'd0, begins_reg}), .give({2'd0, e_take}));
    gn_credit_fifo #(.WIDTH(META_WIDTH + 2), .LOG2(3)) ends (
        .clk(clk), .rst(rst), .s_data({s_summed, s_poison, s_meta}), .s_valid(s_packed),
        .m_data({e_summed, e_poison, e_meta}), .m_valid(e_valid), .m_ready(e_take));

    // Beats that are not the last come also before it is known what they are.
    assign p_ready = p_last ? e_valid && e_summed : !e_valid || e_summed;
    assign e_take  = e_valid && (!e_summed || (p_valid && p_last));

    wire plain = !s_dense && (s_put || (s_end && s_result));

    assign m_data   = plain ? s_data : p_data;
    assign m_keep   = plain ? s_keep : p_keep;
    assign m_put    = (s_put && !s_dense) || (p_valid && p_ready);
    assign m_end    = (s_end && s_result && !s_dense) || e_take;
    assign m_summed = plain ? s_summed : e_summed;
    assign m_poison = plain ? s_poison : e_poison;
    assign m_dense  = !plain;
    assign m_meta   = plain ? s_meta : e_meta;

endmodule

`resetall
