// SPDX-License-Identifier: Apache-2.0
// Says of each frame whether it is a TCP segment, and a hash of its addresses and ports. So all
// segments of a connection can go one way, to the table of flows that saw its SYN. It looks where
// gn_frame_parse does: behind at most one tag, at IPv4 without options and IPv6. What it says of
// any other frame does not matter: no table is asked about it.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_flow_lane #(
    parameter USER_WIDTH = 1
) (
    input  wire                  clk,
    input  wire                  rst,  // synchronous, active high

    input  wire [511:0]          s_axis_tdata,
    input  wire [63:0]           s_axis_tkeep,
    input  wire                  s_axis_tlast,
    input  wire [USER_WIDTH-1:0] s_axis_tuser,
    input  wire                  s_axis_tvalid,
    output wire                  s_axis_tready,

    output wire [511:0]          m_axis_tdata,
    output wire [63:0]           m_axis_tkeep,
    output wire                  m_axis_tlast,
    output wire [USER_WIDTH-1:0] m_axis_tuser,
    output wire                  m_axis_tvalid,
    input  wire                  m_axis_tready,
    // beside a frame's first beat
    output wire                  m_tcp,
    output wire [1:0]            m_hash
);

    localparam BYTE = 8;  // bits

    // Each bit of the hash is the parity of one bit of every byte of addresses and ports.
    wire         has_tag  = s_axis_tdata[12*BYTE +: 16] == 16'h0081;  // in the frame's order of bytes
    wire [15:0]  kind    = has_tag ? s_axis_tdata[16*BYTE +: 16] : s_axis_tdata[12*BYTE +: 16];
    wire         four    = kind == 16'h0008;
    wire         six     = kind == 16'hdd86;
    wire [7:0]   four_of = has_tag ? s_axis_tdata[27*BYTE +: 8] : s_axis_tdata[23*BYTE +: 8];
    wire [7:0]   six_of  = has_tag ? s_axis_tdata[24*BYTE +: 8] : s_axis_tdata[20*BYTE +: 8];
    // A whole segment has 54 bytes, of IPv6 more than a beat. Shorter frames are not looked at:
    // bytes that tkeep leaves out may be X
    wire         tcp     = s_axis_tkeep[53] && ((four && four_of == 8'd6) || (six && s_axis_tkeep[63] && six_of == 8'd6));

    // Of addresses and ports: IPv6's 36 bytes, or IPv4's 12 and zeros. A function: an always @*
    // would wait for a change, which never comes when no byte changes.
    localparam SIX = 36 * BYTE, FOUR = 12 * BYTE;

    function [1:0] parity(input [SIX-1:0] bytes);
        integer b;
        begin
            parity = 2'd0;
            for (b = 0; b < SIX; b = b + BYTE) parity = parity ^ bytes[b +: 2];
        end
    endfunction

    // with a tag, and without one
    wire [3:0] four_hash = {parity({{SIX-FOUR{1'b0}}, s_axis_tdata[30*BYTE +: FOUR]}),
                            parity({{SIX-FOUR{1'b0}}, s_axis_tdata[26*BYTE +: FOUR]})};
    wire [3:0] six_hash  = {parity(s_axis_tdata[26*BYTE +: SIX]), parity(s_axis_tdata[22*BYTE +: SIX])};
    wire [3:0] hash      = four ? four_hash : six_hash;

    reg [511:0]          data_reg;
    reg [63:0]           keep_reg;
    reg                  last_reg, tcp_reg, valid_reg = 1'b0;
    reg [USER_WIDTH-1:0] user_reg;
    reg [1:0]            hash_reg;

    reg  run_reg = 1'b0;  // no reset: what is offered meanwhile waits
    wire free = !valid_reg || m_axis_tready;
    assign s_axis_tready = run_reg && free;
    assign m_axis_tdata  = data_reg;
    assign m_axis_tkeep  = keep_reg;
    assign m_axis_tlast  = last_reg;
    assign m_axis_tuser  = user_reg;
    assign m_axis_tvalid = valid_reg;
    assign m_tcp         = tcp_reg;
    assign m_hash        = hash_reg;

    always @(posedge clk) begin
        run_reg <= !rst;
        if (free) begin
            data_reg  <= s_axis_tdata;
            keep_reg  <= s_axis_tkeep;
            last_reg  <= s_axis_tlast;
            user_reg  <= s_axis_tuser;
            tcp_reg   <= tcp;
            hash_reg  <= has_tag ? hash[3:2] : hash[1:0];
            valid_reg <= s_axis_tvalid && s_axis_tready;
        end
        if (rst) valid_reg <= 1'b0;
    end

endmodule

`resetall
