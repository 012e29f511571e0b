// SPDX-License-Identifier: Apache-2.0
// Deals frames of one stream to several lanes, each to the lane that has least to do unless it is
// told another. Each lane has a FIFO ahead of it, so that frames can come faster than one lane
// takes them. What lane each frame went to is told in order, for gn_frame_collect.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_frame_deal #(
    parameter LANES      = 2,   // 2 or 4
    parameter DATA_WIDTH = 512,
    parameter USER_WIDTH = 4,
    parameter LOG2       = 9,   // a lane's FIFO: 2^LOG2 beats
    parameter ORDER_LOG2 = 8    // so many frames are under way at most: 2^ORDER_LOG2
) (
    input  wire                          clk,
    input  wire                          rst,            // synchronous, active high

    input  wire [DATA_WIDTH-1:0]         s_axis_tdata,
    input  wire [DATA_WIDTH/8-1:0]       s_axis_tkeep,
    input  wire                          s_axis_tlast,
    input  wire [USER_WIDTH-1:0]         s_axis_tuser,
    input  wire                          s_axis_tvalid,
    output wire                          s_axis_tready,
    // in a frame's first beat: it has to go to this lane (modulo LANES)
    input  wire                          s_fixed,
    input  wire [1:0]                    s_lane,

    // to lane i: bit i of a flag, or the i-th field
    output wire [LANES*DATA_WIDTH-1:0]   m_axis_tdata,
    output wire [LANES*DATA_WIDTH/8-1:0] m_axis_tkeep,
    output wire [LANES-1:0]              m_axis_tlast,
    output wire [LANES*USER_WIDTH-1:0]   m_axis_tuser,
    output wire [LANES-1:0]              m_axis_tvalid,
    input  wire [LANES-1:0]              m_axis_tready,

    // of the oldest frame that has not left: its lane, one hot
    output wire [LANES-1:0]              order_lane,
    output wire                          order_valid,
    input  wire                          order_ready
);

    localparam KEEP = DATA_WIDTH / 8;
    localparam WORD = DATA_WIDTH + KEEP + USER_WIDTH;
    localparam FINE = 3;  // lanes that differ by less than 2^FINE beats are alike

    // ---- the lane of the next frame. Levels are some cycles late; so lanes that are alike take
    // turns

    wire [LANES*(LOG2+1)-1:0] levels;
    reg  [LANES-1:0]          least_reg = {LANES{1'b1}};        // none has less to do
    reg  [LANES-1:0]          last_reg  = {{LANES-1{1'b0}}, 1'b1};  // the lane of the last frame, one hot
    reg                       inside_reg = 1'b0;                // a frame has begun

    reg  [LANES-1:0] least, turn;
    integer          i, j;
    always @* begin
        least = {LANES{1'b1}};
        for (i = 0; i < LANES; i = i + 1)
            for (j = 0; j < LANES; j = j + 1)
                if (levels[j*(LOG2+1)+FINE +: LOG2+1-FINE] < levels[i*(LOG2+1)+FINE +: LOG2+1-FINE]) least[i] = 1'b0;
        // the first of them behind the last lane
        turn = last_reg;
        for (i = LANES; i > 0; i = i - 1)
            for (j = 0; j < LANES; j = j + 1)
                if (last_reg[j] && least_reg[(i + j) % LANES]) begin
                    turn = {LANES{1'b0}};
                    turn[(i + j) % LANES] = 1'b1;
                end
    end

    // no always @*: it would wait for a change of s_lane, which may stay as it began
    wire [LANES-1:0] fixed = {{LANES-1{1'b0}}, 1'b1} << ({30'd0, s_lane} & (LANES - 1));
    wire [LANES-1:0] lane = inside_reg ? last_reg : s_fixed ? fixed : turn;  // of this beat
    wire [LANES-1:0] room;
    reg              may_begin_reg = 1'b0;  // a frame more may be under way
    wire             may = inside_reg || may_begin_reg;

    assign s_axis_tready = |(lane & room) && may;
    wire take  = s_axis_tvalid && s_axis_tready;
    wire begun = take && !inside_reg;

    always @(posedge clk) begin
        least_reg <= least;
        if (take) begin
            last_reg   <= lane;
            inside_reg <= !s_axis_tlast;
        end
        if (rst) begin
            last_reg   <= {{LANES-1{1'b0}}, 1'b1};
            inside_reg <= 1'b0;
        end
    end

    genvar n;
    generate
        for (n = 0; n < LANES; n = n + 1) begin : g_lane
            gn_frame_fifo #(.WIDTH(WORD), .LOG2(LOG2), .WHOLE(0)) fifo (
                .clk(clk), .rst(rst), .s_data({s_axis_tuser, s_axis_tkeep, s_axis_tdata}), .s_last(s_axis_tlast),
                .s_valid(s_axis_tvalid && may && lane[n]), .s_ready(room[n]),
                .m_data({m_axis_tuser[n*USER_WIDTH +: USER_WIDTH], m_axis_tkeep[n*KEEP +: KEEP],
                         m_axis_tdata[n*DATA_WIDTH +: DATA_WIDTH]}), .m_last(m_axis_tlast[n]),
                .m_valid(m_axis_tvalid[n]), .m_ready(m_axis_tready[n]), .level(levels[n*(LOG2+1) +: LOG2+1]));
        end
        if (LANES != 2 && LANES != 4) begin : g_check
            LANES_must_be_2_or_4 error();
        end
    endgenerate

    // ---- the order

    reg [ORDER_LOG2:0] frames_reg = 0;  // under way
    wire               gone = order_valid && order_ready;
    localparam [ORDER_LOG2:0] MOST = {1'b1, {ORDER_LOG2{1'b0}}};

    always @(posedge clk) begin
        frames_reg    <= frames_reg + {{ORDER_LOG2{1'b0}}, begun} - {{ORDER_LOG2{1'b0}}, gone};
        may_begin_reg <= frames_reg < MOST - 1'b1;
        if (rst) begin
            frames_reg    <= 0;
            may_begin_reg <= 1'b0;
        end
    end

    gn_credit_fifo #(.WIDTH(LANES), .LOG2(ORDER_LOG2)) order (
        .clk(clk), .rst(rst), .s_data(lane), .s_valid(begun), .m_data(order_lane), .m_valid(order_valid), .m_ready(order_ready));

endmodule

`resetall
