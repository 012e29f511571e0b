// SPDX-License-Identifier: Apache-2.0
// gn_keep_count: the number of bytes of every contiguous tkeep.
// method: sat
// sources: lib/gn_keep_count.v
// mutant: lib/gn_keep_count.v s/i\[5:0\] \+ 6'd1/i[5:0]/
`default_nettype none
module proof (
    input wire [31:0] keep
);
    wire [5:0] count;
    gn_keep_count dut (.keep(keep), .count(count));
    always @* begin
        assume ((keep & (keep + 32'd1)) == 32'd0);
        assert (count <= 6'd32 && {1'b0, keep} == (33'd1 << count) - 33'd1);
    end
endmodule

`resetall
