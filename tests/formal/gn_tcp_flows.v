// SPDX-License-Identifier: Apache-2.0
// gn_tcp_flows, whatever its memories hold. Each frame is answered once, and within six cycles of
// its turn once all flows are forgotten. What is asked finds a place. The table is not written from
// the cycle in which a frame's set is read until its answer. A flow is pushed out only by one that
// is added. What the answers are, the bench compares.
// method: pdr
// stubs: any_fifos.v
// sources: lib/gn_block_ram.v nic/gn_tcp_flows.v
// cut: keys place_0 place_1 place_2 place_3 states
// expose: steps_reg clear pop turn q_there asked.any.words change_reg put_reg
// mutant: nic/gn_tcp_flows.v s/steps_reg == 5'd0 \&\& !clear/!clear/
// mutant: nic/gn_tcp_flows.v s/change_reg <= decide/change_reg <= steps_reg[4]/
// mutant: nic/gn_tcp_flows.v s/valid_reg   <= pop/valid_reg <= pop \&\& !steps_reg[5]/
// mutant: nic/gn_tcp_flows.v s/, .LOG2\(3\)\) asked/, .LOG2(2)) asked/
// mutant: nic/gn_tcp_flows.v s/pop = decide \|\| \(turn/pop = (turn/
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire [290:0] key,
    input wire         k_valid,
    input wire         s_syn,
    input wire         s_find,
    input wire         s_end,
    input wire         s_valid
);
    wire       known, valid, added, evicted, closed, clear, pop, turn, there, changes;
    wire [1:0] head;
    wire [5:1] steps;
    wire [6:0] words;
    wire [3:0] puts;
    gn_tcp_flows dut (
        .clk(clk), .rst(rst), .k_key(key), .k_valid(k_valid), .s_syn(s_syn), .s_find(s_find), .s_end(s_end), .s_valid(s_valid),
        .m_known(known), .m_head(head), .m_valid(valid), .event_added(added), .event_evicted(evicted), .event_closed(closed),
        .\steps_reg (steps), .\clear (clear), .\pop (pop), .\turn (turn), .\q_there (there), .\asked.any.words (words),
        .\change_reg (changes), .\put_reg (puts));

    reg [6:0] inside = 7'd0;
    always @(posedge clk) inside <= rst ? 7'd0 : inside + {6'd0, s_valid} - {6'd0, valid};
    always @* assume (inside <= 7'd8 || !s_valid);  // the credits of gn_nic_tx

    always @* begin
        assert (inside == words + {6'd0, valid});
        assert ((steps & (steps - 5'd1)) == 5'd0 && (steps == 5'd0 || there && !clear));
        assert (!changes || steps[5:2] == 4'd0);
        assert (puts == 4'd0 || changes);
        assert (!evicted || added);
    end
    moves #(.CYCLES(5)) m_pop (.clk(clk), .rst(rst), .wants(there && !clear), .moves(pop));
endmodule

`resetall
