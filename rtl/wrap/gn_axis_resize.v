// SPDX-License-Identifier: Apache-2.0
// Beats of S_WIDTH bits to beats of M_WIDTH: gn_axis_widen, gn_axis_narrow, or wires.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_axis_resize #(
    parameter S_WIDTH = 256,
    parameter M_WIDTH = 256,  // a multiple of S_WIDTH, or S_WIDTH of it
    parameter USER_WIDTH = 1  // bits of tuser, as these say
) (
    input  wire                 clk,
    input  wire                 rst,  // synchronous, active high

    input  wire [S_WIDTH-1:0]   s_axis_tdata,
    input  wire [S_WIDTH/8-1:0] s_axis_tkeep,  // all ones except in the last beat
    input  wire                 s_axis_tlast,
    input  wire [USER_WIDTH-1:0] s_axis_tuser,
    input  wire                 s_axis_tvalid,
    output wire                 s_axis_tready,

    output wire [M_WIDTH-1:0]   m_axis_tdata,
    output wire [M_WIDTH/8-1:0] m_axis_tkeep,
    output wire                 m_axis_tlast,
    output wire [USER_WIDTH-1:0] m_axis_tuser,
    output wire                 m_axis_tvalid,
    input  wire                 m_axis_tready
);

    generate
        if (S_WIDTH < M_WIDTH) begin : g_widen
            gn_axis_widen #(.S_WIDTH(S_WIDTH), .M_WIDTH(M_WIDTH), .USER_WIDTH(USER_WIDTH)) widen (
                .clk(clk), .rst(rst), .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tlast(s_axis_tlast),
                .s_axis_tuser(s_axis_tuser), .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready),
                .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tlast(m_axis_tlast),
                .m_axis_tuser(m_axis_tuser), .m_axis_tvalid(m_axis_tvalid), .m_axis_tready(m_axis_tready));
        end else if (S_WIDTH > M_WIDTH) begin : g_narrow
            gn_axis_narrow #(.S_WIDTH(S_WIDTH), .M_WIDTH(M_WIDTH), .USER_WIDTH(USER_WIDTH)) narrow (
                .clk(clk), .rst(rst), .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tlast(s_axis_tlast),
                .s_axis_tuser(s_axis_tuser), .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready),
                .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tlast(m_axis_tlast),
                .m_axis_tuser(m_axis_tuser), .m_axis_tvalid(m_axis_tvalid), .m_axis_tready(m_axis_tready));
        end else begin : g_same
            wire unused_clock = &{1'b0, clk, rst};
            assign m_axis_tdata  = s_axis_tdata;
            assign m_axis_tkeep  = s_axis_tkeep;
            assign m_axis_tlast  = s_axis_tlast;
            assign m_axis_tuser  = s_axis_tuser;
            assign m_axis_tvalid = s_axis_tvalid;
            assign s_axis_tready = m_axis_tready;
        end
    endgenerate

endmodule

`resetall
