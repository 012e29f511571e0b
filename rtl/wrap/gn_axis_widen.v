// SPDX-License-Identifier: Apache-2.0
// Gathers beats of an AXI4-Stream to wider ones. A frame begins in a beat of its own. It takes a
// beat a cycle.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_axis_widen #(
    parameter S_WIDTH = 64,  // bits of a beat that comes
    parameter M_WIDTH = 256,  // of one that leaves: a multiple
    parameter USER_WIDTH = 1  // bits of tuser: of the last beat that it holds
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

    localparam PARTS = M_WIDTH / S_WIDTH;

    reg [M_WIDTH-1:0]   data_reg;
    reg [M_WIDTH/8-1:0] keep_reg;
    reg                 last_reg;
    reg [USER_WIDTH-1:0] user_reg;
    reg                 valid_reg = 1'b0;
    reg                 run_reg = 1'b0;  // no reset: what is offered meanwhile waits
    reg [PARTS-1:0]     place_reg = {{PARTS-1{1'b0}}, 1'b1};  // where the next beat goes, one hot

    assign m_axis_tdata  = data_reg;
    assign m_axis_tkeep  = keep_reg;
    assign m_axis_tlast  = last_reg;
    assign m_axis_tuser  = user_reg;
    assign m_axis_tvalid = valid_reg;
    wire free = !valid_reg || m_axis_tready;
    assign s_axis_tready = run_reg && free;

    wire take = s_axis_tvalid && s_axis_tready;
    wire full = place_reg[PARTS-1] || s_axis_tlast;

    integer i;
    always @(posedge clk) begin
        if (take) begin
            last_reg <= s_axis_tlast;
            user_reg <= s_axis_tuser;
        end
        for (i = 0; i < PARTS; i = i + 1) begin
            if (take && place_reg[i]) begin
                data_reg[i*S_WIDTH +: S_WIDTH]       <= s_axis_tdata;
                keep_reg[i*(S_WIDTH/8) +: S_WIDTH/8] <= s_axis_tkeep;
            end else if (take && place_reg[0]) begin
                keep_reg[i*(S_WIDTH/8) +: S_WIDTH/8] <= {S_WIDTH/8{1'b0}};
            end
        end
        if (take) place_reg <= full ? {{PARTS-1{1'b0}}, 1'b1} : {place_reg[PARTS-2:0], 1'b0};
        valid_reg <= free ? take && full : 1'b1;
        run_reg   <= !rst;
        if (rst) begin
            valid_reg <= 1'b0;
            place_reg <= {{PARTS-1{1'b0}}, 1'b1};
        end
    end

    generate
        if (S_WIDTH % 8 != 0 || PARTS < 2 || PARTS * S_WIDTH != M_WIDTH) begin : g_check
            axis_widen_needs_an_M_WIDTH_that_is_a_multiple_of_S_WIDTH error();
        end
    endgenerate

endmodule

`resetall
