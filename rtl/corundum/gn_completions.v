// SPDX-License-Identifier: Apache-2.0
// Puts completions of packets that were dropped on their way to the MAC among the MAC's own. The
// transmit engine has no more packets under way than tags, so neither side waits for long. A packet
// that was dropped has no time of departure: 0.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_completions #(
    parameter TS_WIDTH  = 96,
    parameter TAG_WIDTH = 16
) (
    input  wire                 clk,
    input  wire                 rst,  // synchronous, active high

    input  wire [TS_WIDTH-1:0]  s_ts,
    input  wire [TAG_WIDTH-1:0] s_tag,
    input  wire                 s_valid,
    output wire                 s_ready,

    input  wire [TAG_WIDTH-1:0] drop_tag,
    input  wire                 drop_valid,
    output wire                 drop_ready,

    output wire [TS_WIDTH-1:0]  m_ts,
    output wire [TAG_WIDTH-1:0] m_tag,
    output wire                 m_valid,
    input  wire                 m_ready
);

    reg [TS_WIDTH-1:0]  ts_reg;
    reg [TAG_WIDTH-1:0] tag_reg;
    reg                 valid_reg = 1'b0;

    wire free = !valid_reg || m_ready;

    assign drop_ready = free;
    assign s_ready    = free && !drop_valid;
    assign m_ts       = ts_reg;
    assign m_tag      = tag_reg;
    assign m_valid    = valid_reg;

    always @(posedge clk) begin
        if (free) begin
            ts_reg    <= drop_valid ? {TS_WIDTH{1'b0}} : s_ts;
            tag_reg   <= drop_valid ? drop_tag : s_tag;
            valid_reg <= drop_valid || s_valid;
        end
        if (rst) valid_reg <= 1'b0;
    end

endmodule

`resetall
