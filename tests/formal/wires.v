// SPDX-License-Identifier: Apache-2.0
// Registers become wires (techmap): for pipelines without feedback.
(* techmap_celltype = "$dff" *)
module _wire_dff (CLK, D, Q);
    parameter WIDTH = 1;
    parameter CLK_POLARITY = 1;
    input CLK;
    input [WIDTH-1:0] D;
    output [WIDTH-1:0] Q;
    assign Q = D;
endmodule
