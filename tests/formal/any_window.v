// SPDX-License-Identifier: Apache-2.0
// Stands for gn_record_window, as its proof says: it starts a group when it likes, but only with
// room, and gives it two cycles later.
`default_nettype none
module gn_record_window #(
    parameter PROFILES    = 7,
    parameter COUNT_WIDTH = 24
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [255:0]           s_axis_tdata,
    input  wire [31:0]            s_axis_tkeep,
    input  wire                   s_axis_tlast,
    input  wire [COUNT_WIDTH+9:0] s_axis_tuser,
    input  wire                   s_axis_tvalid,
    output wire                   s_axis_tready,
    input  wire                   m_room,
    output wire                   m_started,
    output wire [279:0]           m_record,
    output wire [1:0]             m_profile,
    output wire [7:0]             m_bound_exp,
    output wire [4:0]             m_low_bytes,
    output wire [3:0]             m_class,
    output wire                   m_header,
    output wire [2:0]             m_lanes,
    output wire                   m_valid,
    output wire                   m_last,
    output wire                   m_error
);
    (* anyseq *) wire [304:0] any;
    (* anyseq *) wire         starts, ready;
    reg  [1:0] started_reg = 2'd0;
    always @(posedge clk) started_reg <= rst ? 2'd0 : {started_reg[0], m_started};
    assign m_started     = m_room && starts;
    assign s_axis_tready = ready;
    assign m_valid       = started_reg[1];
    assign {m_last, m_error, m_record, m_profile, m_bound_exp, m_low_bytes, m_class, m_header, m_lanes} = any;
endmodule

`resetall
