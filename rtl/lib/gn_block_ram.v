// SPDX-License-Identifier: Apache-2.0
// Memory with one write and one read port, and registers behind it: synthesis makes block RAM of
// it. A word that is read in the cycle in which it is written may be the old or the new one.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_block_ram #(
    parameter WIDTH = 256,  // bits of a word
    parameter LOG2  = 10    // 2^LOG2 words
) (
    input  wire             clk,

    input  wire             write,
    input  wire [LOG2-1:0]  write_address,
    input  wire [WIDTH-1:0] write_data,

    input  wire [LOG2-1:0]  read_address,
    output wire [WIDTH-1:0] read_data      // two cycles later
);

    (* no_rw_check *)  // or Yosys adds logic for that cycle
    reg [WIDTH-1:0] store [0:(1<<LOG2)-1];
    reg [WIDTH-1:0] fetched_reg, out_reg;

    assign read_data = out_reg;

    always @(posedge clk) begin
        if (write) store[write_address] <= write_data;
        fetched_reg <= store[read_address];
        out_reg     <= fetched_reg;
    end

endmodule

`resetall
