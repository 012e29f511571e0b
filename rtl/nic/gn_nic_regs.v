// SPDX-License-Identifier: Apache-2.0
// What software sees of the NIC, over AXI4-Lite: rules, switches, counters. Rules are written one
// register at a time and take effect all together (COMMIT). Counters are read from a snapshot
// (SNAPSHOT). rtl/README.md has the table of registers.
`include "rule.vh"
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_nic_regs #(
    parameter PROFILES    = 7,  // told to software: what the rest was built with
    parameter RULES       = 4,  // 1..12
    parameter BUFFER_LOG2 = 10, // these three are told to software
    parameter FLOWS_LOG2  = 0,
    parameter [31:0] FLOWS_SEED = 32'h6e6f7661,
    parameter MAX_RESTORED = 9000  // the register's value after a reset, up to 65535
) (
    input  wire                clk,
    input  wire                rst,            // synchronous, active high

    // AXI4-Lite (slave)
    input  wire [11:0]         s_axil_awaddr,
    input  wire                s_axil_awvalid,
    output wire                s_axil_awready,
    input  wire [31:0]         s_axil_wdata,
    input  wire [3:0]          s_axil_wstrb,
    input  wire                s_axil_wvalid,
    output wire                s_axil_wready,
    output wire [1:0]          s_axil_bresp,   // SLVERR: no such register, or only read; then
                                               // nothing has changed
    output wire                s_axil_bvalid,
    input  wire                s_axil_bready,
    input  wire [11:0]         s_axil_araddr,
    input  wire                s_axil_arvalid,
    output wire                s_axil_arready,
    output wire [31:0]         s_axil_rdata,
    output wire [1:0]          s_axil_rresp,   // SLVERR: no such register
    output wire                s_axil_rvalid,
    input  wire                s_axil_rready,

    // to gn_nic_tx, gn_nic_rx
    output wire                cfg_tx_bypass,
    output wire                cfg_rx_bypass,
    output wire [RULES*64-1:0] cfg_rules,      // as rule.vh says; they change all at once
    output wire [RULES*8-1:0]  cfg_heads,
    output wire [15:0]         cfg_mtu,
    output wire [15:0]         cfg_max_restored,

    // What became of a frame: a pulse for each. On average at most one in two cycles, up to 8 ahead
    // of that, and none in the first 16 cycles after a reset.
    // Kinds of the transmit direction:
    //   0 compressed
    //   stored, because of: 1 no gain, 2 no SYN seen, 3 SYN
    //   passed, because of: 4 bypass, 5 no rule, 6 not IP or not whole, 7 fragment,
    //     8 extension header or options, 9 protocol, 10 no payload, 11 too big
    input  wire                tx_event_valid,
    input  wire [3:0]          tx_event_kind,
    input  wire [16:0]         tx_event_length,         // of the frame as it came
    input  wire [3:0]          tx_event_rule,           // compressed or stored: rule that matched
    input  wire [14:0]         tx_event_values,         // compressed
    input  wire [16:0]         tx_event_payload_bytes,  // compressed or stored: before
    input  wire [16:0]         tx_event_wire_bytes,     // and after, with the shim
    input  wire                tx_event_dropped_bad,    // pulses of their own: no event comes
    input  wire                tx_event_dropped_long,
    input  wire                tx_event_flow_added,     // and these, each at most once in six cycles
    input  wire                tx_event_flow_evicted,
    input  wire                tx_event_flow_closed,

    // Kinds of the receive direction:
    //   passed: 2 not marked, 3 foreign
    //   restored from: 4 stored, 5 paper, 6 lattice, 7 dense
    //   dropped, because wrong: 11 version, 12 kind, 13 bound, 14 head, 15 length, 16 stream,
    //     17 checksum; 20 too large when restored
    input  wire                rx_event_valid,
    input  wire [4:0]          rx_event_kind,
    input  wire [16:0]         rx_event_length,
    input  wire [15:0]         rx_event_wire_bytes,     // restored: payload as it came
    input  wire [15:0]         rx_event_payload_bytes,  // and as it leaves
    input  wire                rx_event_dropped_bad,
    input  wire                rx_event_dropped_long
);

    localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;

    localparam [31:0] ID      = 32'h474e4943;  // "GNIC"
    localparam [31:0] VERSION = 32'h00010002;
    wire [7:0]  told_log2   = BUFFER_LOG2[7:0];
    wire [7:0]  told_rules  = RULES[7:0];
    wire [2:0]  told_built  = PROFILES[2:0];
    wire [7:0]  told_flows  = FLOWS_LOG2[7:0];
    wire [31:0] told_seed   = FLOWS_LOG2 == 0 ? 32'd0 : FLOWS_SEED;
    wire [31:0] params      = {8'd0, told_log2, told_rules, 5'd0, told_built};

    // words of the register map
    localparam [9:0] W_ID = 10'h000, W_VERSION = 10'h001, W_PARAMS = 10'h002, W_CONTROL = 10'h003,
                     W_SNAPSHOT = 10'h004, W_COMMIT = 10'h005, W_MTU = 10'h006, W_MAX_RESTORED = 10'h007,
                     W_FLOWS = 10'h008, W_FLOWS_SEED = 10'h009;
    localparam [3:0] RULE_PAGE = 4'd1;  // the address's highest bits

    integer i;

    // ---- rules as written, and as they stand

    // A rule as it is kept, its registers' bits without the holes: where each field begins
    localparam TOS = 0, PROTOCOL = TOS + 8, PROFILE = PROTOCOL + 8, ENABLE = PROFILE + 2, PORT_LOW = ENABLE + 1,
               PORT_HIGH = PORT_LOW + 16, BOUND_EXP = PORT_HIGH + 16, HEAD = BOUND_EXP + 8, RULE = HEAD + 8;

    // the default: ToS 0x28, any protocol and port, dense, 2^-10
    localparam [RULE-1:0] DEFAULT = {8'd0, 8'd10, 16'hffff, 16'h0000, 1'b1, 2'd2, 8'd0, 8'h28};

    localparam [12*RULE-1:0] AT_RESET = {{11*RULE{1'b0}}, DEFAULT};

    reg [RULES*RULE-1:0] written_reg = AT_RESET[RULES*RULE-1:0];
    reg [RULES*RULE-1:0] rules_reg   = AT_RESET[RULES*RULE-1:0];
    reg [1:0]            control_reg = 2'b00;

    // Longest packets, from the first byte of the IP header on: to the wire with a shim, and to the
    // host when restored. Until software says more, what every Ethernet takes, and what the design
    // says of its host.
    localparam [15:0] MTU_AT_RESET = 16'd1500, MAX_RESTORED_AT_RESET = MAX_RESTORED[15:0];
    reg [15:0]           mtu_reg = MTU_AT_RESET, max_restored_reg = MAX_RESTORED_AT_RESET;

    assign cfg_tx_bypass = control_reg[0];
    assign cfg_rx_bypass = control_reg[1];

    assign cfg_mtu          = mtu_reg;
    assign cfg_max_restored = max_restored_reg;

    genvar r;
    generate
        for (r = 0; r < RULES; r = r + 1) begin : g_rule
            wire [RULE-1:0] kept = rules_reg[RULE*r +: RULE];
            // Assignments, and no always @*: that one waits for a change, which never comes when a
            // simulator has set `kept` before.
            wire [63:0]     rule;
            assign rule[`GN_RULE_TOS]       = kept[TOS +: 8];
            assign rule[`GN_RULE_PROTOCOL]  = kept[PROTOCOL +: 8];
            assign rule[`GN_RULE_PORT_LOW]  = kept[PORT_LOW +: 16];
            assign rule[`GN_RULE_PORT_HIGH] = kept[PORT_HIGH +: 16];
            assign rule[`GN_RULE_PROFILE]   = kept[PROFILE +: 2];
            assign rule[`GN_RULE_BOUND_EXP] = kept[BOUND_EXP +: 8];
            assign rule[`GN_RULE_UNUSED]    = 5'd0;
            assign rule[`GN_RULE_ENABLE]    = kept[ENABLE];
            assign cfg_rules[64*r +: 64] = rule;
            assign cfg_heads[8*r +: 8]   = kept[HEAD +: 8];
        end
    endgenerate

    // ---- writes: one at a time, address and data in any order. The answer comes four cycles after
    // both, when a snapshot has been taken

    reg [11:2] w_address;
    reg [31:0] w_data;
    reg [3:0]  w_strobes;
    reg        aw_have_reg = 1'b0, w_have_reg = 1'b0, w_done_reg = 1'b0;
    reg [2:0]  w_wait_reg  = 3'd0;
    reg        aw_ready_reg = 1'b0, w_ready_reg = 1'b0, b_valid_reg = 1'b0;
    reg [1:0]  b_resp_reg;
    reg        snapshot_reg = 1'b0;
    wire       counters_ready;

    wire       aw_take  = s_axil_awvalid && aw_ready_reg;
    wire       w_take   = s_axil_wvalid && w_ready_reg;
    wire       answered = b_valid_reg && s_axil_bready;
    wire       act      = aw_have_reg && w_have_reg && !w_done_reg;

    wire       aw_have_next = aw_take || (aw_have_reg && !answered);
    wire       w_have_next  = w_take || (w_have_reg && !answered);

    wire [3:0] w_page, w_rule;
    wire [1:0] w_word;
    assign {w_page, w_rule, w_word} = w_address;
    wire       w_to_rule = w_page == RULE_PAGE && {28'd0, w_rule} < RULES && w_word != 2'd3;
    wire       w_known   = w_to_rule || w_address == W_CONTROL || w_address == W_SNAPSHOT || w_address == W_COMMIT || w_address == W_MTU ||
                           w_address == W_MAX_RESTORED;
    wire       w_one     = w_data[0] && w_strobes[0];

    always @(posedge clk) begin
        if (aw_take) w_address <= s_axil_awaddr[11:2];
        if (w_take) begin
            w_data    <= s_axil_wdata;
            w_strobes <= s_axil_wstrb;
        end
        aw_have_reg  <= aw_have_next;
        w_have_reg   <= w_have_next;
        aw_ready_reg <= !aw_have_next && counters_ready;
        w_ready_reg  <= !w_have_next && counters_ready;
        w_done_reg   <= (w_done_reg || act) && !answered;
        w_wait_reg   <= {w_wait_reg[1:0], act};
        b_valid_reg  <= w_wait_reg[2] || (b_valid_reg && !s_axil_bready);
        if (act) b_resp_reg <= w_known ? OKAY : SLVERR;
        snapshot_reg <= act && w_address == W_SNAPSHOT && w_one;

        if (act) begin
            if (w_address == W_CONTROL && w_strobes[0]) control_reg <= w_data[1:0];
            if (w_address == W_COMMIT && w_one) rules_reg <= written_reg;
            if (w_address == W_MTU && w_strobes[0]) mtu_reg[7:0] <= w_data[7:0];
            if (w_address == W_MTU && w_strobes[1]) mtu_reg[15:8] <= w_data[15:8];
            if (w_address == W_MAX_RESTORED && w_strobes[0]) max_restored_reg[7:0] <= w_data[7:0];
            if (w_address == W_MAX_RESTORED && w_strobes[1]) max_restored_reg[15:8] <= w_data[15:8];
            for (i = 0; i < RULES; i = i + 1)
                if (w_to_rule && {28'd0, w_rule} == i) begin
                    case (w_word)
                    2'd0: begin
                        if (w_strobes[0]) written_reg[RULE*i + TOS +: 8] <= w_data[7:0];
                        if (w_strobes[1]) written_reg[RULE*i + PROTOCOL +: 8] <= w_data[15:8];
                        if (w_strobes[2]) written_reg[RULE*i + PROFILE +: 2] <= w_data[17:16];
                        if (w_strobes[3]) written_reg[RULE*i + ENABLE] <= w_data[31];
                    end
                    2'd1: begin
                        if (w_strobes[0]) written_reg[RULE*i + PORT_LOW +: 8] <= w_data[7:0];
                        if (w_strobes[1]) written_reg[RULE*i + PORT_LOW + 8 +: 8] <= w_data[15:8];
                        if (w_strobes[2]) written_reg[RULE*i + PORT_HIGH +: 8] <= w_data[23:16];
                        if (w_strobes[3]) written_reg[RULE*i + PORT_HIGH + 8 +: 8] <= w_data[31:24];
                    end
                    default: begin
                        if (w_strobes[0]) written_reg[RULE*i + BOUND_EXP +: 8] <= w_data[7:0];
                        if (w_strobes[1]) written_reg[RULE*i + HEAD +: 8] <= w_data[15:8];
                    end
                    endcase
                end
        end
        if (rst) begin
            aw_have_reg  <= 1'b0;
            w_have_reg   <= 1'b0;
            aw_ready_reg <= 1'b0;
            w_ready_reg  <= 1'b0;
            w_done_reg   <= 1'b0;
            w_wait_reg   <= 3'd0;
            b_valid_reg  <= 1'b0;
            snapshot_reg <= 1'b0;
            control_reg  <= 2'b00;
            mtu_reg      <= MTU_AT_RESET;
            max_restored_reg <= MAX_RESTORED_AT_RESET;
            written_reg  <= AT_RESET[RULES*RULE-1:0];
            rules_reg    <= AT_RESET[RULES*RULE-1:0];
        end
    end

    assign s_axil_awready = aw_ready_reg;
    assign s_axil_wready  = w_ready_reg;
    assign s_axil_bvalid  = b_valid_reg;
    assign s_axil_bresp   = b_resp_reg;

    // ---- reads: one at a time. What is not a counter is chosen on the way

    reg [11:2] r_address;
    reg        r_busy_reg = 1'b0, ar_ready_reg = 1'b0, r_valid_reg = 1'b0;
    reg [4:0]  r_wait_reg = 5'd0;
    reg [31:0] r_plain, r_data_reg;
    reg        r_plain_known;
    reg [1:0]  r_resp_reg;

    wire        ar_take     = s_axil_arvalid && ar_ready_reg;
    wire        r_done      = r_valid_reg && s_axil_rready;
    wire        r_busy_next = ar_take || (r_busy_reg && !r_done);
    wire [3:0]  r_page, r_rule;
    wire [1:0]  r_word;
    assign {r_page, r_rule, r_word} = r_address;
    wire        r_of_rule   = r_page == RULE_PAGE && {28'd0, r_rule} < RULES && r_word != 2'd3;
    wire [8:0]  r_number    = r_address[11:3] - 9'h080;
    wire        r_counter   = r_page[3:2] != 2'd0;  // from 0x400 on
    wire [63:0] c_data;
    wire        c_known;

    reg [RULE-1:0] r_written;
    always @* begin
        r_written = {RULE{1'b0}};
        for (i = 0; i < RULES; i = i + 1)
            if ({28'd0, r_rule} == i) r_written = written_reg[RULE*i +: RULE];
    end

    always @(posedge clk) begin
        if (ar_take) r_address <= s_axil_araddr[11:2];
        r_busy_reg   <= r_busy_next;
        ar_ready_reg <= !r_busy_next && counters_ready;
        r_wait_reg   <= {r_wait_reg[3:0], ar_take};

        r_plain_known <= 1'b1;
        case (r_address)
        W_ID:       r_plain <= ID;
        W_VERSION:  r_plain <= VERSION;
        W_PARAMS:   r_plain <= params;
        W_CONTROL:  r_plain <= {30'd0, control_reg};
        W_SNAPSHOT: r_plain <= 32'd0;
        W_COMMIT:   r_plain <= 32'd0;
        W_MTU:      r_plain <= {16'd0, mtu_reg};
        W_MAX_RESTORED: r_plain <= {16'd0, max_restored_reg};
        W_FLOWS:    r_plain <= {24'd0, told_flows};
        W_FLOWS_SEED: r_plain <= told_seed;
        default: begin
            case (r_word)
            2'd0:    r_plain <= {r_written[ENABLE], 13'd0, r_written[PROFILE +: 2], r_written[PROTOCOL +: 8], r_written[TOS +: 8]};
            2'd1:    r_plain <= {r_written[PORT_HIGH +: 16], r_written[PORT_LOW +: 16]};
            default: r_plain <= {16'd0, r_written[HEAD +: 8], r_written[BOUND_EXP +: 8]};
            endcase
            if (!r_of_rule) r_plain <= 32'd0;
            r_plain_known <= r_of_rule;
        end
        endcase

        if (r_wait_reg[4]) begin
            r_data_reg <= !r_counter ? r_plain : r_address[2] ? c_data[63:32] : c_data[31:0];
            r_resp_reg <= (r_counter ? c_known : r_plain_known) ? OKAY : SLVERR;
        end
        r_valid_reg <= r_wait_reg[4] || (r_valid_reg && !s_axil_rready);
        if (rst) begin
            r_busy_reg   <= 1'b0;
            ar_ready_reg <= 1'b0;
            r_wait_reg   <= 5'd0;
            r_valid_reg  <= 1'b0;
        end
    end

    assign s_axil_arready = ar_ready_reg;
    assign s_axil_rvalid  = r_valid_reg;
    assign s_axil_rdata   = r_data_reg;
    assign s_axil_rresp   = r_resp_reg;

    wire unused = &{1'b0, s_axil_awaddr[1:0], s_axil_araddr[1:0]};  // registers are words

    gn_nic_counters #(.RULES(RULES)) counters (
        .clk(clk), .rst(rst), .ready(counters_ready),
        .tx_event_valid(tx_event_valid), .tx_event_kind(tx_event_kind), .tx_event_length(tx_event_length), .tx_event_rule(tx_event_rule),
        .tx_event_values(tx_event_values), .tx_event_payload_bytes(tx_event_payload_bytes), .tx_event_wire_bytes(tx_event_wire_bytes),
        .tx_event_dropped_bad(tx_event_dropped_bad), .tx_event_dropped_long(tx_event_dropped_long),
        .tx_event_flow_added(tx_event_flow_added), .tx_event_flow_evicted(tx_event_flow_evicted),
        .tx_event_flow_closed(tx_event_flow_closed),
        .rx_event_valid(rx_event_valid), .rx_event_kind(rx_event_kind), .rx_event_length(rx_event_length),
        .rx_event_wire_bytes(rx_event_wire_bytes), .rx_event_payload_bytes(rx_event_payload_bytes),
        .rx_event_dropped_bad(rx_event_dropped_bad), .rx_event_dropped_long(rx_event_dropped_long),
        .snapshot(snapshot_reg), .read_number(r_number), .read_data(c_data), .read_known(c_known));

    generate
        if (MAX_RESTORED < 0 || MAX_RESTORED > 65535) begin : g_check
            MAX_RESTORED_must_be_0_to_65535 error();
        end
    endgenerate

endmodule

`resetall
