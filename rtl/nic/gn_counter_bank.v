// SPDX-License-Identifier: Apache-2.0
// 64-bit counters in a small memory. One of them is added to in a cycle. A snapshot of all is taken
// at once: a counter's old value is put aside only when the first addition after the snapshot
// changes it. The high half does everything a cycle after the low one.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_counter_bank #(
    parameter LOG2 = 4  // 2^LOG2 counters
) (
    input  wire            clk,
    input  wire            rst,           // synchronous, active high: counters and snapshot are 0
                                          // as soon as ready
    output wire            ready,         // 2^LOG2 cycles after reset; from a register

    input  wire [LOG2-1:0] add_address,
    input  wire [16:0]     add_amount,
    input  wire            add_valid,     // only when ready

    input  wire            snapshot,      // with what is added in this cycle

    input  wire [LOG2-1:0] read_address,
    output wire [63:0]     read_data      // of the snapshot, two cycles later
);

    localparam COUNT = 1 << LOG2;

    reg [31:0] low       [0:COUNT-1];
    reg [31:0] low_kept  [0:COUNT-1];
    reg [31:0] high      [0:COUNT-1];
    reg [31:0] high_kept [0:COUNT-1];

    // the snapshot's value is in *_kept, not in the counter
    reg [COUNT-1:0] kept_reg  = {COUNT{1'b1}};
    reg [LOG2:0]    clear_reg = {LOG2+1{1'b0}};

    assign ready = clear_reg[LOG2];

    // ---- low halves

    wire [LOG2-1:0] address  = ready ? add_address : clear_reg[LOG2-1:0];
    wire [31:0]     low_old  = ready ? low[address] : 32'd0;
    wire [32:0]     low_sum  = {1'b0, low_old} + (ready ? {16'd0, add_amount} : 33'd0);
    wire            change   = add_valid || !ready;
    wire            keep     = change && !(ready && kept_reg[address]);

    reg [LOG2-1:0] h_address;
    reg            h_carry, h_ready;
    reg            h_change = 1'b0, h_keep = 1'b0;

    always @(posedge clk) begin
        if (change) low[address] <= low_sum[31:0];
        if (keep) low_kept[address] <= low_old;

        if (change) kept_reg[address] <= 1'b1;
        if (snapshot) kept_reg <= {COUNT{1'b0}};
        if (!ready) clear_reg <= clear_reg + 1'b1;
        h_address <= address;
        h_carry   <= low_sum[32];
        h_ready   <= ready;
        h_change  <= change;
        h_keep    <= keep;
        if (rst) begin
            kept_reg  <= {COUNT{1'b1}};
            clear_reg <= {LOG2+1{1'b0}};
            h_change  <= 1'b0;
            h_keep    <= 1'b0;
        end
    end

    // ---- high halves

    wire [31:0] high_old = h_ready ? high[h_address] : 32'd0;

    always @(posedge clk) begin
        if (h_change) high[h_address] <= high_old + {31'd0, h_carry};
        if (h_keep) high_kept[h_address] <= high_old;
    end

    // ---- the snapshot

    reg [LOG2-1:0] r_address;
    reg            r_kept;
    reg [31:0]     r_low, low_reg, high_reg;

    always @(posedge clk) begin
        r_address <= read_address;
        r_kept    <= kept_reg[read_address];
        r_low     <= kept_reg[read_address] ? low_kept[read_address] : low[read_address];
        low_reg   <= r_low;
        high_reg  <= r_kept ? high_kept[r_address] : high[r_address];
    end

    assign read_data = {high_reg, low_reg};

endmodule

`resetall
