// SPDX-License-Identifier: Apache-2.0
// gn_nic_counters, with gn_counter_bank as its proof has it. Each event adds once, exactly what the
// table of registers says, to each of its counters, and nothing else adds to any. So do pulses of
// dropped frames and of flows, and none is lost. A snapshot comes within four cycles, and never
// with half of an event. A number that the table does not have is not known. Events that come as
// gn_nic_regs wants them find a place, and nothing is added before the banks are ready. One
// counter, any, is followed.
// method: pdr
// seconds: 120
// stubs: any_fifos.v
// sources: nic/gn_counter_bank.v nic/gn_nic_counters.v
// reduce: s/RULES = 4 /RULES = 12 /
// cut: t0 t1 t2 r0 r1 r2 dropped
// expose: t0_ready t1_ready t2_ready r0_ready r1_ready r2_ready d_ready t_pop r_pop t_bytes
// expose: t_payload t_wire t_values t_kind t_rule r_bytes r_payload r_wire r_kind
// expose: t0_address t0_amount t0_valid t1_address t1_amount t2_address t2_amount t2_valid
// expose: r0_address r0_amount r0_valid r1_address r1_amount r1_valid
// expose: r2_address r2_amount r2_valid d_address d_amount snapshot_reg bank1_reg place_reg
// mutant: nic/gn_nic_counters.v /wire +t_stored/s/ \&\& !t_compressed//
// mutant: nic/gn_nic_counters.v /r1_valid +<= r_add/s/!second_reg/second_reg/
// mutant: nic/gn_nic_counters.v /snapshot_reg +<= wanted_reg/s/ \&\& second_reg//
// mutant: nic/gn_nic_counters.v s/d_address == d\[2:0\]/d_address == d[2:0] + 3'd1/
// mutant: nic/gn_nic_counters.v s/number - 5'd12/number - 5'd13/
// mutant: nic/gn_nic_counters.v s/place = number - 5'd14/place = number - 5'd13/
// mutant: nic/gn_nic_counters.v s/t_there \&\& ready;/t_there;/
`default_nettype none
module proof (
    input wire        clk,
    input wire        rst,
    input wire        tx_valid,
    input wire [3:0]  tx_kind,
    input wire [3:0]  tx_rule,
    input wire        rx_valid,
    input wire [4:0]  rx_kind,
    input wire        tx_bad,
    input wire        tx_long,
    input wire        rx_bad,
    input wire        rx_long,
    input wire [2:0]  tx_flow,
    input wire        snapshot
);
    (* anyconst *) wire [8:0] number;
    wire        ready, known, t0_ready, t1_ready, t2_ready, r0_ready, r1_ready, r2_ready, d_ready, t_pop, r_pop, t0_valid, t2_valid, r0_valid, r1_valid, r2_valid, r2_address, copies;
    wire [16:0] t_bytes, t_payload, t_wire, r_bytes, t0_amount, t1_amount, t2_amount, r0_amount, r1_amount, r2_amount;
    wire [15:0] r_payload, r_wire;
    wire [14:0] t_values;
    wire [4:0]  r_kind, t0_address, t1_address, t2_address, place;
    wire [3:0]  t_kind, t_rule, r0_address, r1_address;
    wire [3:0]  d_amount;
    wire [2:0]  d_address, bank;

    gn_nic_counters dut (
        .clk(clk), .rst(rst), .ready(ready), .tx_event_valid(tx_valid), .tx_event_kind(tx_kind), .tx_event_rule(tx_rule), .tx_event_length(17'd0),
        .tx_event_values(15'd0), .tx_event_payload_bytes(17'd0), .tx_event_wire_bytes(17'd0), .tx_event_dropped_bad(tx_bad), .tx_event_dropped_long(tx_long),
        .tx_event_flow_added(tx_flow[0]), .tx_event_flow_evicted(tx_flow[1]), .tx_event_flow_closed(tx_flow[2]),
        .rx_event_valid(rx_valid), .rx_event_kind(rx_kind), .rx_event_length(17'd0), .rx_event_wire_bytes(16'd0), .rx_event_payload_bytes(16'd0),
        .rx_event_dropped_bad(rx_bad), .rx_event_dropped_long(rx_long), .snapshot(snapshot), .read_number(number), .read_known(known),
        .\t0_ready (t0_ready), .\t1_ready (t1_ready), .\t2_ready (t2_ready), .\r0_ready (r0_ready), .\r1_ready (r1_ready), .\r2_ready (r2_ready), .\d_ready (d_ready),
        .\t_pop (t_pop), .\r_pop (r_pop), .\t_bytes (t_bytes), .\t_payload (t_payload), .\t_wire (t_wire), .\t_values (t_values), .\t_kind (t_kind), .\t_rule (t_rule),
        .\r_bytes (r_bytes), .\r_payload (r_payload), .\r_wire (r_wire), .\r_kind (r_kind), .\t0_address (t0_address), .\t0_amount (t0_amount), .\t0_valid (t0_valid),
        .\t1_address (t1_address), .\t1_amount (t1_amount), .\t2_address (t2_address), .\t2_amount (t2_amount), .\t2_valid (t2_valid), .\r0_address (r0_address),
        .\r0_amount (r0_amount), .\r0_valid (r0_valid), .\r1_address (r1_address), .\r1_amount (r1_amount), .\r1_valid (r1_valid), .\r2_address (r2_address),
        .\r2_amount (r2_amount), .\r2_valid (r2_valid), .\d_address (d_address), .\d_amount (d_amount), .\snapshot_reg (copies), .\bank1_reg (bank), .\place_reg (place));

    wire on;
    reset_first first (.clk(clk), .rst(rst), .on(on));

    // ---- the neighbours: banks are ready 32 cycles after a reset, that of single pulses after 8;
    // nothing comes in the first 16, then an event in every second cycle, and up to 8 ahead of
    // that. Of the first 16 cycles 14 are left out here

    reg [5:0] age = 6'd0;
    reg [4:0] t_may = 5'd16, r_may = 5'd16;
    always @(posedge clk) begin
        age   <= rst ? 6'd0 : age + {5'd0, age != 6'd18};
        t_may <= rst ? 5'd16 : (t_may == 5'd16 && !tx_valid ? 5'd16 : t_may + 5'd1) - {3'd0, tx_valid, 1'b0};
        r_may <= rst ? 5'd16 : (r_may == 5'd16 && !rx_valid ? 5'd16 : r_may + 5'd1) - {3'd0, rx_valid, 1'b0};
    end
    wire banks = t0_ready && t1_ready && t2_ready && r0_ready && r1_ready && r2_ready && d_ready;
    always @* begin
        assume (age < 6'd18 ? !t0_ready : banks);
        assume (d_ready == (age >= 6'd2));
        assume (age >= 6'd2 || !(tx_valid || rx_valid || tx_bad || tx_long || rx_bad || rx_long || tx_flow != 3'd0));
        assume (!tx_valid || t_may >= 5'd2);
        assume (!rx_valid || r_may >= 5'd2);
        if (t_pop) assume (t_kind <= 4'd11 && t_rule < 4'd12);
        if (r_pop) assume (r_kind >= 5'd2 && r_kind <= 5'd17 && !(r_kind >= 5'd8 && r_kind <= 5'd10) || r_kind == 5'd20);
    end

    // ---- what the table says that an event adds to the counter that is followed

    wire       of_host = number < 9'd19, of_rule = number >= 9'd32 && number < 9'd128 && number[2:0] < 3'd5, of_wire = number >= 9'd128 && number < 9'd149;
    wire [3:0] rule    = number[6:3] - 4'd4;
    wire       exists  = of_host || of_rule || of_wire;
    wire       compressed = t_kind == 4'd0, stored = t_kind >= 4'd1 && t_kind <= 4'd3, restored = r_kind >= 5'd4 && r_kind <= 5'd7, malformed = r_kind >= 5'd11;

    reg [16:0] t_adds, r_adds;
    always @* begin
        t_adds = 17'd0;
        if (of_host)
            case (number[4:0])
            5'd0:    t_adds = 17'd1;
            5'd1:    t_adds = t_bytes;
            5'd2:    t_adds = {16'd0, t_kind >= 4'd4};
            5'd3:    t_adds = {16'd0, t_kind == 4'd4};
            5'd4:    t_adds = {16'd0, t_kind == 4'd5};
            5'd5:    t_adds = {16'd0, t_kind == 4'd6};
            5'd6:    t_adds = {16'd0, t_kind == 4'd7};
            5'd7:    t_adds = {16'd0, t_kind == 4'd8};
            5'd8:    t_adds = {16'd0, t_kind == 4'd9};
            5'd9:    t_adds = {16'd0, t_kind == 4'd10};
            5'd10:   t_adds = {16'd0, t_kind == 4'd11};
            5'd11:   t_adds = {16'd0, t_kind == 4'd1};
            5'd12:   t_adds = {16'd0, t_kind == 4'd2};
            5'd13:   t_adds = {16'd0, t_kind == 4'd3};
            default: t_adds = 17'd0;
            endcase
        else if (of_rule && rule == t_rule)
            case (number[2:0])
            3'd0:    t_adds = {16'd0, compressed};
            3'd1:    t_adds = {16'd0, stored};
            3'd2:    t_adds = compressed ? {2'd0, t_values} : 17'd0;
            3'd3:    t_adds = compressed || stored ? t_payload : 17'd0;
            default: t_adds = compressed || stored ? t_wire : 17'd0;
            endcase

        r_adds = 17'd0;
        if (of_wire)
            case (number)
            9'd128:  r_adds = 17'd1;
            9'd129:  r_adds = r_bytes;
            9'd130:  r_adds = {16'd0, r_kind == 5'd2 || r_kind == 5'd3};
            9'd131:  r_adds = {16'd0, r_kind == 5'd3};
            9'd136:  r_adds = restored ? {1'b0, r_wire} : 17'd0;
            9'd137:  r_adds = restored ? {1'b0, r_payload} : 17'd0;
            9'd138:  r_adds = {16'd0, malformed};
            default: r_adds = {16'd0, (number < 9'd146 || number == 9'd148) && number[4:0] == r_kind};
            endcase
    end

    // ---- and what is added to the place that is read for it: an event's halves in the cycle in
    // which it leaves its FIFO, and in the next

    wire [16:0] t_added = (bank == 3'd0 && t0_valid && t0_address == place ? t0_amount : 17'd0) | (bank == 3'd1 && t0_valid && t1_address == place ? t1_amount : 17'd0) |
                          (bank == 3'd2 && t2_valid && t2_address == place ? t2_amount : 17'd0);
    wire [16:0] r_added = (bank == 3'd3 && r0_valid && r0_address == place[3:0] ? r0_amount : 17'd0) |
                          (bank == 3'd4 && r1_valid && r1_address == place[3:0] ? r1_amount : 17'd0) |
                          (bank == 3'd5 && r2_valid && r2_address == place[0] ? r2_amount : 17'd0);
    reg         t_half = 1'b0, r_half = 1'b0;
    reg  [16:0] t_first, r_first, t_should, r_should;
    reg  [2:0]  asked = 3'd0;  // cycles for which the number has been there
    always @(posedge clk) begin
        asked  <= asked + {2'd0, asked != 3'd4};
        t_half <= t_pop && !rst;
        r_half <= r_pop && !rst;
        {t_first, r_first, t_should, r_should} <= {t_added, r_added, t_adds, r_adds};
    end
    always @* if (on) begin
        if (t_half) assert ({1'b0, t_first} + {1'b0, t_added} == {1'b0, t_should});
        else assert (t_pop || t_added == 17'd0);
        if (r_half) assert ({1'b0, r_first} + {1'b0, r_added} == {1'b0, r_should});
        else assert (r_pop || r_added == 17'd0);
        assert (!(t0_valid || t2_valid || r0_valid || r1_valid || r2_valid) || banks);
        if (asked == 3'd4) assert (known == exists);
        if (asked != 3'd0 && exists) assert ((bank == 3'd6) == (number >= 9'd14 && number <= 9'd18 || number == 9'd146 || number == 9'd147));
    end

    // ---- frames dropped, and flows: what was told and is not yet added

    reg  [4:0] dropped = 5'd0;
    wire       pulse   = (number == 9'd14 && tx_bad) || (number == 9'd15 && tx_long) || (number == 9'd146 && rx_bad) || (number == 9'd147 && rx_long) ||
                         (number == 9'd16 && tx_flow[0]) || (number == 9'd17 && tx_flow[1]) || (number == 9'd18 && tx_flow[2]);
    wire [3:0] d_added = bank == 3'd6 && d_ready && d_address == place[2:0] ? d_amount : 4'd0;
    always @(posedge clk) dropped <= rst ? 5'd0 : dropped + {4'd0, pulse} - {1'b0, d_added};
    always @* if (on && asked != 3'd0) assert (dropped <= 5'd8 && (bank != 3'd6 || d_address != place[2:0] || {1'b0, d_amount} == dropped));

    // ---- a snapshot, between two events

    reg wanted = 1'b0;
    always @(posedge clk) wanted <= !rst && (snapshot || (wanted && !copies));
    always @* assume (!wanted || !snapshot);  // a write takes longer (gn_nic_regs)
    always @* if (on && copies) assert (wanted && !t_pop && !r_pop);
    moves #(.CYCLES(3)) m_snapshot (.clk(clk), .rst(rst), .wants(wanted && on), .moves(copies));
endmodule

`resetall
