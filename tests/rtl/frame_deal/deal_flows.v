// SPDX-License-Identifier: Apache-2.0
// gn_flow_lane and gn_frame_deal, and the lanes put in order again as gn_frame_deal says. With a
// frame comes out which lane it had.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module deal_flows (
    input  wire         clk,
    input  wire         rst,

    input  wire [511:0] s_axis_tdata,
    input  wire [63:0]  s_axis_tkeep,
    input  wire         s_axis_tlast,
    input  wire [3:0]   s_axis_tuser,
    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    output wire [511:0] m_axis_tdata,
    output wire [63:0]  m_axis_tkeep,
    output wire         m_axis_tlast,
    output wire [7:0]   m_axis_tuser,   // {tuser, lane one hot}
    output wire         m_axis_tvalid,
    input  wire         m_axis_tready
);

    wire [511:0]   t_data;
    wire [63:0]    t_keep;
    wire           t_last, t_valid, t_ready, t_tcp;
    wire [3:0]     t_user;
    wire [1:0]     t_hash;
    wire [4*512-1:0] data;
    wire [4*64-1:0]  keep;
    wire [15:0]    user;
    wire [3:0]     last, valid, ready, lane;
    wire           lane_valid;

    gn_flow_lane #(.USER_WIDTH(4)) flow (
        .clk(clk), .rst(rst), .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tlast(s_axis_tlast), .s_axis_tuser(s_axis_tuser),
        .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready), .m_axis_tdata(t_data), .m_axis_tkeep(t_keep), .m_axis_tlast(t_last),
        .m_axis_tuser(t_user), .m_axis_tvalid(t_valid), .m_axis_tready(t_ready), .m_tcp(t_tcp), .m_hash(t_hash));
    gn_frame_deal #(.LANES(4), .USER_WIDTH(4), .LOG2(5), .ORDER_LOG2(4)) deal (
        .clk(clk), .rst(rst), .s_axis_tdata(t_data), .s_axis_tkeep(t_keep), .s_axis_tlast(t_last), .s_axis_tuser(t_user), .s_axis_tvalid(t_valid),
        .s_axis_tready(t_ready), .s_fixed(t_tcp), .s_lane(t_hash), .m_axis_tdata(data), .m_axis_tkeep(keep), .m_axis_tlast(last),
        .m_axis_tuser(user), .m_axis_tvalid(valid), .m_axis_tready(ready), .order_lane(lane), .order_valid(lane_valid),
        .order_ready(m_axis_tvalid && m_axis_tready && m_axis_tlast));

    wire [1:0] number = {lane[3] || lane[2], lane[3] || lane[1]};
    assign m_axis_tdata  = data[512*number +: 512];
    assign m_axis_tkeep  = keep[64*number +: 64];
    assign m_axis_tlast  = last[number];
    assign m_axis_tuser  = {user[4*number +: 4], lane};
    assign m_axis_tvalid = lane_valid && valid[number];
    assign ready         = m_axis_tready && lane_valid ? lane : 4'd0;

endmodule

`resetall
