// SPDX-License-Identifier: Apache-2.0
// Cuts beats of an AXI4-Stream to narrower ones. It gives a beat a cycle. Parts of a last beat
// that keep no byte are left out. Of a last beat that keeps none at all, one part stays: the frame
// has to end.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_axis_narrow #(
    parameter S_WIDTH = 256,  // bits of a beat that comes
    parameter M_WIDTH = 64,    // of one that leaves: S_WIDTH is a multiple
    parameter USER_WIDTH = 1  // bits of tuser: those of the beat
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

    localparam PARTS = S_WIDTH / M_WIDTH;
    localparam BYTES = M_WIDTH / 8;

    reg [S_WIDTH-1:0]   data_reg;
    reg [S_WIDTH/8-1:0] keep_reg;
    reg                 last_reg;
    reg [USER_WIDTH-1:0] user_reg;
    reg                 run_reg = 1'b0;  // no reset: what is offered meanwhile waits
    reg [PARTS-1:0]     left_reg = {PARTS{1'b0}};  // parts that have not left: ones from bit 0

    assign m_axis_tdata  = data_reg[M_WIDTH-1:0];
    assign m_axis_tkeep  = keep_reg[BYTES-1:0];
    assign m_axis_tlast  = last_reg && !left_reg[1];
    assign m_axis_tuser  = user_reg;
    assign m_axis_tvalid = left_reg[0];
    wire free = !left_reg[0] || (m_axis_tready && !left_reg[1]);
    assign s_axis_tready = run_reg && free;

    integer i;
    always @(posedge clk) begin
        run_reg <= !rst;
        if (free) begin
            data_reg <= s_axis_tdata;
            keep_reg <= s_axis_tkeep;
            last_reg <= s_axis_tlast;
            user_reg <= s_axis_tuser;
            for (i = 0; i < PARTS; i = i + 1) left_reg[i] <= s_axis_tvalid && s_axis_tready && (i == 0 || s_axis_tkeep[i*BYTES]);
        end else if (m_axis_tready) begin
            data_reg <= {{M_WIDTH{1'b0}}, data_reg[S_WIDTH-1:M_WIDTH]};
            keep_reg <= {{BYTES{1'b0}}, keep_reg[S_WIDTH/8-1:BYTES]};
            left_reg <= {1'b0, left_reg[PARTS-1:1]};
        end
        if (rst) left_reg <= {PARTS{1'b0}};
    end

    generate
        if (M_WIDTH % 8 != 0 || PARTS < 2 || PARTS * M_WIDTH != S_WIDTH) begin : g_check
            axis_narrow_needs_an_S_WIDTH_that_is_a_multiple_of_M_WIDTH error();
        end
    endgenerate

endmodule

`resetall
