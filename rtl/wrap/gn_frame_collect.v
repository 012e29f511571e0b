// SPDX-License-Identifier: Apache-2.0
// Collects the frames of several lanes in the order in which gn_frame_deal dealt them. Each frame
// that was dealt gives one token: a frame, or the word that it was dropped. So none is waited for
// in vain. Each lane has a FIFO behind it, which gives whole frames: what leaves has no gaps.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_frame_collect #(
    parameter LANES      = 2,
    parameter DATA_WIDTH = 512,
    parameter SIDE_WIDTH = 1,
    parameter LOG2       = 9    // a lane's FIFO: 2^LOG2 beats
) (
    input  wire                        clk,
    input  wire                        rst,            // synchronous, active high

    // from lane i: bit i of a flag, or the i-th field
    input  wire [LANES*DATA_WIDTH-1:0] s_axis_tdata,   // what is kept of it says the length
    input  wire [LANES-1:0]            s_axis_tlast,
    input  wire [LANES*SIDE_WIDTH-1:0] s_axis_side,    // in all beats
    input  wire [LANES*17-1:0]         s_axis_length,  // in all beats
    input  wire [LANES-1:0]            s_axis_tvalid,
    output wire [LANES-1:0]            s_axis_tready,
    // a frame that does not leave, when all of the lane before it have left it
    input  wire [LANES*SIDE_WIDTH-1:0] s_drop_side,
    input  wire [LANES-1:0]            s_drop_valid,
    output wire [LANES-1:0]            s_drop_ready,

    input  wire [LANES-1:0]            order_lane,     // of the next frame, one hot
    input  wire                        order_valid,
    output wire                        order_ready,

    output wire [DATA_WIDTH-1:0]       m_axis_tdata,
    output wire [DATA_WIDTH/8-1:0]     m_axis_tkeep,
    output wire                        m_axis_tlast,
    output wire [SIDE_WIDTH-1:0]       m_axis_side,
    output wire [16:0]                 m_axis_length,
    output wire                        m_axis_tvalid,
    input  wire                        m_axis_tready,
    output wire [SIDE_WIDTH-1:0]       drop_side,
    output wire                        drop_valid,
    input  wire                        drop_ready
);

    localparam KEEP = DATA_WIDTH / 8;
    localparam REST = DATA_WIDTH == 512 ? 6 : DATA_WIDTH == 256 ? 5 : DATA_WIDTH == 128 ? 4 : 3;  // log2(KEEP)
    localparam WORD = DATA_WIDTH + SIDE_WIDTH + 18;

    wire [LANES*WORD-1:0] words;
    wire [LANES-1:0]      lasts, valids, room;
    wire [LANES-1:0]      takes;

    // ---- a lane's FIFO: beats, and frames that were dropped as beats

    genvar n;
    generate
        for (n = 0; n < LANES; n = n + 1) begin : g_lane
            // A beat that waits goes first: it belongs to a frame before the one that was dropped.
            wire drop = !s_axis_tvalid[n];
            wire [LOG2:0] unused_level;
            assign s_axis_tready[n] = room[n];
            assign s_drop_ready[n]  = room[n] && drop;
            gn_frame_fifo #(.WIDTH(WORD), .LOG2(LOG2), .WHOLE(1)) fifo (
                .clk(clk), .rst(rst),
                .s_data({drop, s_axis_length[n*17 +: 17], drop ? s_drop_side[n*SIDE_WIDTH +: SIDE_WIDTH] : s_axis_side[n*SIDE_WIDTH +: SIDE_WIDTH],
                         s_axis_tdata[n*DATA_WIDTH +: DATA_WIDTH]}),
                .s_last(drop || s_axis_tlast[n]), .s_valid(s_axis_tvalid[n] || s_drop_valid[n]), .s_ready(room[n]),
                .m_data(words[n*WORD +: WORD]), .m_last(lasts[n]), .m_valid(valids[n]), .m_ready(takes[n]), .level(unused_level));
        end
    endgenerate

    // ---- the lane whose turn it is

    reg [WORD-1:0] word;
    integer        i;
    always @* begin
        word = {WORD{1'b0}};
        for (i = 0; i < LANES; i = i + 1) word = word | ({WORD{order_lane[i]}} & words[i*WORD +: WORD]);
    end
    wire valid = order_valid && |(order_lane & valids);
    wire last  = |(order_lane & lasts);

    reg                  valid_reg = 1'b0, drop_reg, last_reg;
    reg [DATA_WIDTH-1:0] data_reg;
    reg [SIDE_WIDTH-1:0] side_reg;
    reg [16:0]           length_reg;

    wire free = !valid_reg || (drop_reg ? drop_ready : m_axis_tready);
    assign takes       = order_valid && free ? order_lane : {LANES{1'b0}};
    assign order_ready = valid && free && last;

    always @(posedge clk) begin
        if (free) begin
            valid_reg <= valid;
            last_reg  <= last;
            {drop_reg, length_reg, side_reg, data_reg} <= word;
        end
        if (rst) valid_reg <= 1'b0;
    end

    wire [REST-1:0] rest = length_reg[REST-1:0];  // bytes of a last beat that is not full
    wire [KEEP-1:0] all  = {KEEP{1'b1}};
    assign m_axis_tdata  = data_reg;
    assign m_axis_tkeep  = last_reg && rest != {REST{1'b0}} ? ~(all << rest) : all;
    assign m_axis_tlast  = last_reg;
    assign m_axis_side   = side_reg;
    assign m_axis_length = length_reg;
    assign m_axis_tvalid = valid_reg && !drop_reg;
    assign drop_side     = side_reg;
    assign drop_valid    = valid_reg && drop_reg;

endmodule

`resetall
