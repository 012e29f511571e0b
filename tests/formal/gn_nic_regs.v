// SPDX-License-Identifier: Apache-2.0
// gn_nic_regs, whatever software does on AXI4-Lite and whatever the counters answer. Each write is
// answered once, four cycles after the later of its address and data; each read six cycles after
// its address. Answers stay. A write has its effect by its answer, byte by byte, and no other
// effect. Rules take effect at COMMIT alone, all of them. A read gives what was written, or what
// the table of registers says, or a half of what the counters answer. They are told of a SNAPSHOT
// once, three cycles before its answer. What is not in the table is answered SLVERR and changes
// nothing. One byte of the rules, any, is followed.
// method: induct
// sources: lib/gn_credit_fifo.v nic/gn_counter_bank.v nic/gn_nic_counters.v nic/gn_nic_regs.v
// reduce: s/PROFILES    = 7/PROFILES = 5/
// reduce: s/RULES       = 4/RULES = 3/
// reduce: s/BUFFER_LOG2 = 10/BUFFER_LOG2 = 9/
// reduce: s/FLOWS_LOG2  = 0/FLOWS_LOG2  = 9/
// cut: counters
// expose: counters_ready c_data c_known r_number snapshot_reg aw_have_reg w_have_reg w_done_reg
// expose: w_wait_reg w_address w_data w_strobes written_reg
// expose: r_busy_reg r_wait_reg r_address r_plain r_plain_known
// mutant: nic/gn_nic_regs.v s/w_address == W_COMMIT \&\& w_one/w_address == W_COMMIT/
// mutant: nic/gn_nic_regs.v s/w_strobes\[2\](\) written_reg\[RULE\*i \+ PORT_HIGH)/w_strobes[1]\1/
// mutant: nic/gn_nic_regs.v s/\{28'd0, w_rule\} < RULES \&\& //
// mutant: nic/gn_nic_regs.v s/\(b_valid_reg \&\& !s_axil_bready\)/b_valid_reg/
// mutant: nic/gn_nic_regs.v s/if \(w_take\) begin/if (s_axil_wvalid) begin/
// mutant: nic/gn_nic_regs.v s/(W_MAX_RESTORED \&\& )w_strobes\[1\]/\1w_strobes[0]/
// mutant: nic/gn_nic_regs.v s/w_address == W_SNAPSHOT \&\& w_one;/w_one;/
`include "rule.vh"
`default_nettype none
module proof (
    input wire        clk,
    input wire        rst,
    input wire [11:0] awaddr,
    input wire        awvalid,
    input wire [31:0] wdata,
    input wire [3:0]  wstrb,
    input wire        wvalid,
    input wire        bready,
    input wire [11:0] araddr,
    input wire        arvalid,
    input wire        rready
);
    localparam RULES = 3;  // as `reduce` has them
    wire                awready, wready, bvalid, arready, rvalid, tx_bypass, rx_bypass, counters_ready, c_known, snapshot;
    wire [1:0]          bresp, rresp;
    wire [31:0]         rdata;
    wire [63:0]         c_data;
    wire [8:0]          r_number;
    wire [RULES*64-1:0] rules;
    wire [RULES*67-1:0] kept;
    wire                aw_have, w_have, acted, r_busy, r_known;
    wire [2:0]          w_steps;
    wire [4:0]          r_steps;
    wire [9:0]          w_address, r_address;
    wire [31:0]         w_data, r_plain;
    wire [3:0]          w_strobes;
    wire [RULES*8-1:0]  heads;
    wire [15:0]         cfg_mtu, cfg_max_restored;

    gn_nic_regs dut (
        .clk(clk), .rst(rst), .s_axil_awaddr(awaddr), .s_axil_awvalid(awvalid), .s_axil_awready(awready), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
        .s_axil_wvalid(wvalid), .s_axil_wready(wready), .s_axil_bresp(bresp), .s_axil_bvalid(bvalid), .s_axil_bready(bready), .s_axil_araddr(araddr),
        .s_axil_arvalid(arvalid), .s_axil_arready(arready), .s_axil_rdata(rdata), .s_axil_rresp(rresp), .s_axil_rvalid(rvalid), .s_axil_rready(rready),
        .cfg_tx_bypass(tx_bypass), .cfg_rx_bypass(rx_bypass), .cfg_rules(rules), .cfg_heads(heads), .cfg_mtu(cfg_mtu), .cfg_max_restored(cfg_max_restored),
        .tx_event_valid(1'b0), .tx_event_kind(4'd0), .tx_event_length(17'd0), .tx_event_rule(4'd0), .tx_event_values(15'd0),
        .tx_event_payload_bytes(17'd0), .tx_event_wire_bytes(17'd0), .tx_event_dropped_bad(1'b0), .tx_event_dropped_long(1'b0),
        .tx_event_flow_added(1'b0), .tx_event_flow_evicted(1'b0), .tx_event_flow_closed(1'b0),
        .rx_event_valid(1'b0), .rx_event_kind(5'd0), .rx_event_length(17'd0), .rx_event_wire_bytes(16'd0), .rx_event_payload_bytes(16'd0),
        .rx_event_dropped_bad(1'b0), .rx_event_dropped_long(1'b0),
        .\counters_ready (counters_ready), .\c_data (c_data), .\c_known (c_known), .\r_number (r_number), .\snapshot_reg (snapshot),
        .\aw_have_reg (aw_have), .\w_have_reg (w_have), .\w_done_reg (acted), .\w_wait_reg (w_steps), .\w_address (w_address), .\w_data (w_data),
        .\w_strobes (w_strobes), .\written_reg (kept), .\r_busy_reg (r_busy), .\r_wait_reg (r_steps), .\r_address (r_address), .\r_plain (r_plain),
        .\r_plain_known (r_known));

    wire on;
    reset_first first (.clk(clk), .rst(rst), .on(on));

    // ---- the neighbours: the counters, once ready, are so until the next reset

    reg were_ready = 1'b0;
    always @(posedge clk) were_ready <= counters_ready && !rst;
    always @* assume (!were_ready || counters_ready);

    // ---- answers: one for each, in time, and they stay

    reg        aw = 1'b0, w = 1'b0, r = 1'b0;  // taken and not answered
    reg [11:0] at, from;
    reg [31:0] data;
    reg [3:0]  strobes;
    always @(posedge clk) begin
        aw <= !rst && ((aw && !(bvalid && bready)) || (awvalid && awready));
        w  <= !rst && ((w && !(bvalid && bready)) || (wvalid && wready));
        r  <= !rst && ((r && !(rvalid && rready)) || (arvalid && arready));
        if (awvalid && awready) at <= awaddr & 12'hffc;
        if (wvalid && wready) {data, strobes} <= {wdata, wstrb};
        if (arvalid && arready) from <= araddr & 12'hffc;
    end
    always @* begin
        if (on && aw) assert (!awready);
        if (on && w) assert (!wready);
        if (on && r) assert (!arready);
        if (on && bvalid) assert (aw && w);
        if (on && rvalid) assert (r);
    end
    stays #(.WIDTH(2)) b_stays (.clk(clk), .rst(rst), .data(bresp), .valid(bvalid), .ready(bready));
    stays #(.WIDTH(34)) r_stays (.clk(clk), .rst(rst), .data({rresp, rdata}), .valid(rvalid), .ready(rready));
    // a cycle ago the counters were ready and nothing was under way
    reg       due_aw = 1'b0, due_w = 1'b0, due_r = 1'b0;
    reg       b_before = 1'b0, r_before = 1'b0;  // an answer was there
    // cycles that address and data, or the address, wait for their answer
    reg [2:0] w_age = 3'd0, r_age = 3'd0;
    always @(posedge clk) begin
        due_aw   <= !rst && !aw && !awready && counters_ready;
        due_w    <= !rst && !w && !wready && counters_ready;
        due_r    <= !rst && !r && !arready && counters_ready;
        b_before <= bvalid && !rst;
        r_before <= rvalid && !rst;
        w_age    <= rst || !(aw && w) || bvalid ? 3'd0 : w_age + 3'd1;
        r_age    <= rst || !r || rvalid ? 3'd0 : r_age + 3'd1;
    end
    always @* if (on) begin
        assert ((awready || !due_aw) && (wready || !due_w) && (arready || !due_r));
        if (aw && w) assert (bvalid ? w_age == 3'd4 || b_before : w_age <= 3'd3);
        if (r) assert (rvalid ? r_age == 3'd5 || r_before : r_age <= 3'd4);
    end

    // ---- how far the block is with both

    always @* if (on) begin
        assert (aw_have == aw && w_have == w && r_busy == r && (!acted || (aw && w)));
        if (aw) assert (w_address == at[11:2] && at[1:0] == 2'd0);
        if (w) assert ({w_data, w_strobes} == {data, strobes});
        if (r) assert (r_address == from[11:2] && from[1:0] == 2'd0);
        assert ({2'd0, w_steps[0]} + {2'd0, w_steps[1]} + {2'd0, w_steps[2]} + {2'd0, bvalid} == {2'd0, acted});
        assert ({2'd0, r_steps[0]} + {2'd0, r_steps[1]} + {2'd0, r_steps[2]} + {2'd0, r_steps[3]} + {2'd0, r_steps[4]} + {2'd0, rvalid} == {2'd0, r});
        if (b_before && !bvalid) assert (!aw && !w);
        if (r_before && !rvalid) assert (!r);
        assert (w_age == (w_steps[0] ? 3'd1 : w_steps[1] ? 3'd2 : w_steps[2] ? 3'd3 : bvalid && !b_before ? 3'd4 : 3'd0));
        assert (r_age == (r_steps[1] ? 3'd1 : r_steps[2] ? 3'd2 : r_steps[3] ? 3'd3 : r_steps[4] ? 3'd4 : rvalid && !r_before ? 3'd5 : 3'd0));
    end

    // ---- what is followed: a byte of a rule, as written and as it stands, of which these bits
    // exist

    (* anyconst *) wire [3:0] rule;
    (* anyconst *) wire [1:0] word, lane;
    wire [11:0] place = {4'd1, rule, word, 2'd0};
    always @* assume ({28'd0, rule} < RULES && word != 2'd3);

    // A rule as the registers have it, three words: all bits that exist, the first rule after a
    // reset; each as it stands, and as the block holds it as written
    localparam [95:0] BITS = {16'd0, 16'hffff, 32'hffffffff, 32'h8003ffff}, DEFAULT = {32'h0000000a, 32'hffff0000, 32'h80020028};
    reg [63:0] bits;
    reg [7:0]  head;
    reg [66:0] kept_bits;
    integer    i;
    always @* begin
        bits      = 64'd0;
        head      = 8'd0;
        kept_bits = 67'd0;
        for (i = 0; i < RULES; i = i + 1)
            if ({28'd0, rule} == i) begin
                bits      = rules[64*i +: 64];
                head      = heads[8*i +: 8];
                kept_bits = kept[67*i +: 67];
            end
    end
    wire [15:0] port_low = bits[`GN_RULE_PORT_LOW], port_high = bits[`GN_RULE_PORT_HIGH];
    wire [7:0]  tos = bits[`GN_RULE_TOS], protocol = bits[`GN_RULE_PROTOCOL], bound = bits[`GN_RULE_BOUND_EXP];
    wire [1:0]  profile = bits[`GN_RULE_PROFILE];
    wire        enable = bits[`GN_RULE_ENABLE];
    wire [95:0] stands_rule = {16'd0, head, bound, port_high, port_low, enable, 13'd0, profile, protocol, tos};

    wire [15:0] k_head_bound, k_protocol_tos;
    wire [31:0] k_ports;
    wire [1:0]  k_profile;
    wire        k_enable;
    assign {k_head_bound, k_ports, k_enable, k_profile, k_protocol_tos} = kept_bits;
    wire [95:0] holds_rule = {16'd0, k_head_bound, k_ports, k_enable, 13'd0, k_profile, k_protocol_tos};

    // what a rule does not name is 0
    reg [63:0] rest;
    always @* begin
        rest = bits;
        rest[`GN_RULE_TOS] = 8'd0;
        rest[`GN_RULE_PROTOCOL] = 8'd0;
        rest[`GN_RULE_PORT_LOW] = 16'd0;
        rest[`GN_RULE_PORT_HIGH] = 16'd0;
        rest[`GN_RULE_PROFILE] = 2'd0;
        rest[`GN_RULE_BOUND_EXP] = 8'd0;
        rest[`GN_RULE_ENABLE] = 1'b0;
        assert (rest == 64'd0);
    end
    wire [7:0] exist        = BITS >> {word, lane, 3'd0};
    wire [7:0] default_byte = rule == 4'd0 ? DEFAULT >> {word, lane, 3'd0} : 96'd0;
    wire [7:0] stands       = stands_rule >> {word, lane, 3'd0};
    wire [7:0] holds        = holds_rule >> {word, lane, 3'd0};

    // A write's effect is there when its answer is; while it is under way, what is written may have
    // either value.
    reg        answered = 1'b0;
    wire       under_way = aw && w && !answered;
    wire [7:0] data_byte = data >> {lane, 3'd0};
    wire       one       = data[0] && strobes[0];
    reg  [7:0] written, committed;
    reg  [1:0] control;
    wire [7:0] written_then   = under_way && at == place && strobes[lane] ? data_byte & exist : written;
    wire [7:0] committed_then = under_way && at == 12'h014 && one ? written : committed;
    reg  [15:0] mtu, most;
    wire [15:0] put            = {strobes[1] ? data[15:8] : at == 12'h018 ? mtu[15:8] : most[15:8], strobes[0] ? data[7:0] : at == 12'h018 ? mtu[7:0] : most[7:0]};
    wire [15:0] mtu_then       = under_way && at == 12'h018 ? put : mtu;
    wire [15:0] most_then      = under_way && at == 12'h01c ? put : most;
    wire [1:0] control_then   = under_way && at == 12'h00c && strobes[0] ? data[1:0] : control;
    always @(posedge clk) begin
        if (rst) begin
            {written, committed, control, answered} <= {default_byte, default_byte, 2'b00, 1'b0};
            {mtu, most} <= {16'd1500, 16'd9000};
        end else begin
            answered <= aw && w && bvalid && !bready;
            if (bvalid) {written, committed, control, mtu, most} <= {written_then, committed_then, control_then, mtu_then, most_then};
        end
    end
    wire [3:0] at_rule  = at[7:4];
    wire       writable = at == 12'h00c || at == 12'h010 || at == 12'h014 || at == 12'h018 || at == 12'h01c || (at[11:8] == 4'd1 && {28'd0, at_rule} < RULES && at[3:2] != 2'd3);
    always @* if (on) begin
        assert (holds == (acted ? written_then : written));
        assert (stands == (acted ? committed_then : committed));
        assert ({rx_bypass, tx_bypass} == (acted ? control_then : control));
        assert (cfg_mtu == (acted ? mtu_then : mtu) && cfg_max_restored == (acted ? most_then : most));
        if (acted) assert (bresp == (writable ? 2'b00 : 2'b10));
        assert (answered == (bvalid && b_before));
        assert ((written & ~exist) == 8'h00 && (committed & ~exist) == 8'h00);
    end

    // ---- SNAPSHOT: told once, and not just before the answer

    reg       told = 1'b0;
    reg [1:0] since = 2'd0;
    always @(posedge clk) begin
        told  <= !rst && aw && w && !(bvalid && bready) && (told || snapshot);
        since <= snapshot ? 2'd0 : since + {1'b0, since != 2'd3};
    end
    always @* if (on) begin
        assert (snapshot == (w_steps[0] && at == 12'h010 && one));
        assert (told == (acted && !w_steps[0] && at == 12'h010 && one));
        if (told) assert (w_steps[1] ? since == 2'd0 : w_steps[2] ? since == 2'd1 : since >= 2'd2);
        if (bvalid && at == 12'h010 && one) assert (told);
    end

    // ---- reads: of what was written, what stands in the cycle or the two before

    wire [3:0] from_rule = from[7:4];
    wire       counter   = from >= 12'h400;
    wire       of_rule   = from[11:8] == 4'd1 && {28'd0, from_rule} < RULES && from[3:2] != 2'd3;
    wire       plain     = from <= 12'h024 || of_rule;
    wire [8:0] number    = from[11:3] - 9'h080;
    // what is not of the counters has been chosen
    wire       r_made    = r && !r_steps[0] && !rvalid;
    reg [63:0] c_was;
    reg        c_knew;
    always @(posedge clk) {c_was, c_knew} <= {c_data, c_known};
    always @* if (on && r && counter) assert (r_number == number);
    register_reads chosen (
        .there(on && r_made && !counter), .from(from), .plain(plain), .data(r_plain), .known(r_known),
        .control(acted ? control_then : control), .control_before(w_steps[0] ? control : acted ? control_then : control),
        .mtu(acted ? mtu_then : mtu), .mtu_before(w_steps[0] ? mtu : acted ? mtu_then : mtu), .most(acted ? most_then : most), .most_before(w_steps[0] ? most : acted ? most_then : most),
        .followed(from == place), .lane(lane), .holds(holds), .held(w_steps[0] ? written : holds));
    register_reads answer (
        .there(on && rvalid && !r_before && !counter), .from(from), .plain(plain), .data(rdata), .known(rresp == 2'b00),
        .control(acted ? control_then : control), .control_before(w_steps[0] || w_steps[1] ? control : acted ? control_then : control),
        .mtu(acted ? mtu_then : mtu), .mtu_before(w_steps[0] || w_steps[1] ? mtu : acted ? mtu_then : mtu),
        .most(acted ? most_then : most), .most_before(w_steps[0] || w_steps[1] ? most : acted ? most_then : most),
        .followed(from == place), .lane(lane), .holds(holds), .held(w_steps[0] || w_steps[1] ? written : holds));
    always @* if (on && rvalid && !r_before) begin
        assert (rresp == ((counter ? c_knew : plain) ? 2'b00 : 2'b10));
        if (counter) assert (rdata == (from[2] ? c_was[63:32] : c_was[31:0]));
    end
endmodule

// What a read of a register that is no counter gives.
module register_reads (
    input wire        there,
    input wire [11:0] from,
    input wire        plain,           // there is such a register
    input wire [31:0] data,
    input wire        known,
    input wire [1:0]  control,         // now, or just before
    input wire [1:0]  control_before,
    input wire [15:0] mtu,
    input wire [15:0] mtu_before,
    input wire [15:0] most,
    input wire [15:0] most_before,
    input wire        followed,        // it has the byte that is followed, here,
    input wire [1:0]  lane,
    input wire [7:0]  holds,           // which is now, or was just before
    input wire [7:0]  held
);
    wire [7:0] followed_byte = data >> {lane, 3'd0};
    always @* if (there) begin
        assert (known == plain);
        case (from)
        12'h000: assert (data == 32'h474e4943);
        12'h004: assert (data == 32'h00010002);
        12'h008: assert (data == 32'h00090305);
        12'h00c: assert (data[31:2] == 30'd0 && (data[1:0] == control || data[1:0] == control_before));
        12'h010, 12'h014: assert (data == 32'd0);
        12'h018: assert (data[31:16] == 16'd0 && (data[15:0] == mtu || data[15:0] == mtu_before));
        12'h01c: assert (data[31:16] == 16'd0 && (data[15:0] == most || data[15:0] == most_before));
        12'h020: assert (data == 32'd9);
        12'h024: assert (data == 32'h6e6f7661);
        default: if (!plain) assert (data == 32'd0);
        endcase
        if (followed) assert (followed_byte == holds || followed_byte == held);
    end
endmodule

`resetall
