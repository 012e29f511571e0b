// SPDX-License-Identifier: Apache-2.0
// Register slice of two words: full rate, registered ready, registered output.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module skid_buffer #(
    parameter WIDTH = 256  // bits of a word
) (
    input  wire             clk,
    input  wire             rst,      // synchronous, active high

    input  wire [WIDTH-1:0] s_data,
    input  wire             s_valid,
    output wire             s_ready,  // from a register: depends on nothing of this cycle

    output wire [WIDTH-1:0] m_data,
    output wire             m_valid,
    input  wire             m_ready
);

    reg [WIDTH-1:0] out_reg, spare_reg;
    reg             out_valid_reg = 1'b0;
    reg             spare_valid_reg = 1'b0;  // only ever set beside out_valid_reg
    reg             ready_reg = 1'b0;        // as !spare_valid_reg, but low in reset

    assign s_ready = ready_reg;
    assign m_data  = out_reg;
    assign m_valid = out_valid_reg;

    wire take = s_valid && ready_reg;
    wire free = m_ready || !out_valid_reg;

    always @(posedge clk) begin
        if (free) out_reg <= spare_valid_reg ? spare_reg : s_data;
        if (ready_reg) spare_reg <= s_data;

        if (free) out_valid_reg <= spare_valid_reg || take;
        spare_valid_reg <= !free && (spare_valid_reg || take);
        ready_reg       <= free || !(spare_valid_reg || take);

        if (rst) begin
            out_valid_reg   <= 1'b0;
            spare_valid_reg <= 1'b0;
            ready_reg       <= 1'b0;
        end
    end

endmodule

`resetall
