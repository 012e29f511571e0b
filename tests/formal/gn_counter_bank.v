// SPDX-License-Identifier: Apache-2.0
// gn_counter_bank. What is read of each counter is the sum of all that was added up to the last
// snapshot, with that of its cycle, and 0 before the first. After a reset all counters are 0 as
// soon as ready, after as many cycles as there are counters. Two counters of twice two bits; one,
// any, is followed.
// method: pdr
// sources: nic/gn_counter_bank.v
// reduce: s/\[(31|16):0\]/[1:0]/
// reduce: s/\[32:0\]/[2:0]/
// reduce: s/\[63:0\]/[3:0]/
// reduce: s/sum\[32\]/sum[2]/
// reduce: s/16'd0, add_amount\} : 33'd0/1'b0, add_amount} : 3'd0/
// reduce: s/32'd0/2'd0/
// reduce: s/31'd0, h_carry/1'b0, h_carry/
// mutant: nic/gn_counter_bank.v s/h_carry   <= low_sum\[2\]/h_carry <= low_sum[1]/
// mutant: nic/gn_counter_bank.v s/if \(h_keep\) high_kept/if (keep) high_kept/
// mutant: nic/gn_counter_bank.v s/r_kept \? high_kept/kept_reg[r_address] ? high_kept/
// mutant: nic/gn_counter_bank.v s/!\(ready \&\& kept_reg\[address\]\)/!kept_reg[address]/
// mutant: nic/gn_counter_bank.v s/high_old = h_ready \? /high_old = ready ? /
`default_nettype none
module proof (
    input wire       clk,
    input wire       rst,
    input wire       add_address,
    input wire [1:0] add_amount,
    input wire       add_valid,
    input wire       snapshot,
    input wire       read_address
);
    wire       ready;
    wire [3:0] read_data;
    gn_counter_bank #(.LOG2(1)) dut (
        .clk(clk), .rst(rst), .ready(ready), .add_address(add_address), .add_amount(add_amount), .add_valid(add_valid),
        .snapshot(snapshot), .read_address(read_address), .read_data(read_data));

    wire on;
    reset_first first (.clk(clk), .rst(rst), .on(on));

    (* anyconst *) wire followed;
    wire       added = add_valid && add_address == followed;
    reg  [3:0] sum, copy, copy_before, copy_then;
    reg  [1:0] reads = 2'd0;  // of it, a cycle ago and two
    reg  [1:0] age   = 2'd0;  // cycles since the reset
    always @(posedge clk) begin
        sum         <= !ready ? 4'd0 : sum + (added ? {2'd0, add_amount} : 4'd0);
        copy        <= !ready ? 4'd0 : snapshot ? sum + (added ? {2'd0, add_amount} : 4'd0) : copy;
        copy_before <= copy;
        copy_then   <= copy_before;
        reads       <= rst ? 2'd0 : {reads[0], read_address == followed && ready};
        age         <= rst ? 2'd0 : age + {1'b0, age != 2'd2};
        if (rst) {sum, copy} <= 8'd0;
    end
    always @* begin
        assume (!add_valid || ready);
        if (on) assert (ready == (age == 2'd2));
        if (on && reads[1]) assert (read_data == copy_then);
    end
endmodule

`resetall
