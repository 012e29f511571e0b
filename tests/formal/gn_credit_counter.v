// SPDX-License-Identifier: Apache-2.0
// gn_credit_counter. With ok, MOST places are free; without, they are not, except behind a reset.
// With idle, all places are free. Where it counts late, ok means the same, and comes when two
// cycles have left enough free; so does idle.
// method: pdr
// sources: lib/gn_credit_counter.v
// parameters: LATE=0 LATE=1
// mutant: gn_credit_counter.v s/free_next >= L/free_reg >= L/; s/free_reg > 6'd1/free_reg > 6'd0/
// mutant: lib/gn_credit_counter.v s/free_next == A/free_reg == A/; s/!down \&\& (free_reg == A)/\1/
`default_nettype none

module proof #(
    parameter LATE    = 0,
    parameter CREDITS = 17,
    parameter MOST    = LATE ? 3 : 1
) (
    input wire       clk,
    input wire       rst,
    input wire [2:0] take,
    input wire [2:0] give
);
    wire ok, idle;
    gn_credit_counter #(.CREDITS(CREDITS), .MOST(MOST), .LATE(LATE)) dut (.clk(clk), .rst(rst), .ok(ok), .idle(idle), .take(take), .give(give));

    integer taken = 0;
    reg     was_rst = 1'b1;
    always @(posedge clk) begin
        taken   <= rst ? 0 : taken + take - give;
        was_rst <= rst;
    end
    localparam LEAST = LATE ? 2 * MOST : MOST;
    reg [1:0] quiet = 2'd0;  // cycles in which nothing is taken and enough is free
    always @(posedge clk) quiet <= rst || take != 0 || taken + LEAST > CREDITS ? 2'd0 : quiet == 2'd3 ? quiet : quiet + 2'd1;

    always @* begin
        assume (take <= (ok ? MOST : 0));
        assume (give <= taken && (LATE || give <= 3'd1));
        assert (taken >= 0 && taken <= CREDITS);
        assert (!ok || taken + MOST <= CREDITS);
        assert (!idle || taken == 0);
        if (LATE) begin
            assert (ok || quiet < 2'd3);
        end else begin
            assert (ok || was_rst || taken + MOST > CREDITS);
            assert (idle || taken != 0);
        end
    end
endmodule

`resetall
