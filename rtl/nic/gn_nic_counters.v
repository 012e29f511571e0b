// SPDX-License-Identifier: Apache-2.0
// The counters of both directions, 64 bits each, fed by one event a frame. An event changes up to
// six of them: three banks a direction work in two steps. So an event every two cycles can be
// counted for ever, and a few more at a time.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_nic_counters #(
    parameter RULES = 4  // 1..12
) (
    input  wire        clk,
    input  wire        rst,                     // synchronous, active high
    output wire        ready,                   // the counters can be read, some cycles after reset

    // what became of a frame: as gn_nic_regs says
    input  wire        tx_event_valid,
    input  wire [3:0]  tx_event_kind,
    input  wire [16:0] tx_event_length,
    input  wire [3:0]  tx_event_rule,
    input  wire [14:0] tx_event_values,
    input  wire [16:0] tx_event_payload_bytes,
    input  wire [16:0] tx_event_wire_bytes,
    input  wire        tx_event_dropped_bad,
    input  wire        tx_event_dropped_long,
    input  wire        tx_event_flow_added,
    input  wire        tx_event_flow_evicted,
    input  wire        tx_event_flow_closed,
    input  wire        rx_event_valid,
    input  wire [4:0]  rx_event_kind,
    input  wire [16:0] rx_event_length,
    input  wire [15:0] rx_event_wire_bytes,
    input  wire [15:0] rx_event_payload_bytes,
    input  wire        rx_event_dropped_bad,
    input  wire        rx_event_dropped_long,

    input  wire        snapshot,                // a pulse; done five cycles later. It has no event
                                                // by half
    input  wire [8:0]  read_number,             // of a counter: its address less 0x400, by eight
    output reg  [63:0] read_data,               // of the snapshot, four cycles later
    output reg         read_known               // with read_data: there is such a counter
);

    // Counters by number, in the order of the register map.
    //   From the host: 0 packets, 1 bytes, 2 passed, 3..10 why, 11..13 why stored, 14, 15 dropped,
    //   16 flows added, 17 evicted, 18 closed.
    //   From the wire: 0 packets, 1 bytes, 2 passed, 3 foreign, 4..7 restored, 8 wire bytes,
    //   9 payload bytes, 10 malformed, 11..17 and 20 why, 18, 19 dropped. So the kind of an event
    //   from the wire is the number of a counter.

    // of the memories
    localparam LOG2_T1 = RULES > 7 ? 5 : 4;
    localparam LOG2_T2 = RULES > 8 ? 5 : 4;

    // ---- events wait here. Each is taken in two steps

    wire [16:0] t_bytes, t_payload, t_wire, r_bytes;
    wire [15:0] r_payload, r_wire;
    wire [14:0] t_values;
    wire [3:0]  t_kind, t_rule;
    wire [4:0]  r_kind;
    wire        t_there, r_there;

    reg  second_reg = 1'b0;
    reg  t_open_reg = 1'b0, r_open_reg = 1'b0;
    wire t_pop = second_reg && t_open_reg;
    wire r_pop = second_reg && r_open_reg;
    wire t_add = second_reg ? t_open_reg : t_there && ready;
    wire r_add = second_reg ? r_open_reg : r_there && ready;

    gn_credit_fifo #(.WIDTH(74), .LOG2(4)) tx_events (
        .clk(clk), .rst(rst), .s_valid(tx_event_valid),
        .s_data({tx_event_length, tx_event_kind, tx_event_rule, tx_event_values, tx_event_payload_bytes, tx_event_wire_bytes}),
        .m_data({t_bytes, t_kind, t_rule, t_values, t_payload, t_wire}), .m_valid(t_there), .m_ready(t_pop));
    gn_credit_fifo #(.WIDTH(54), .LOG2(4)) rx_events (
        .clk(clk), .rst(rst), .s_valid(rx_event_valid),
        .s_data({rx_event_length, rx_event_kind, rx_event_wire_bytes, rx_event_payload_bytes}),
        .m_data({r_bytes, r_kind, r_wire, r_payload}), .m_valid(r_there), .m_ready(r_pop));

    wire       t_compressed = t_kind == 4'd0;
    wire       t_stored     = t_kind < 4'd4 && !t_compressed;
    wire [3:0] t_why        = t_stored ? t_kind + 4'd10 : t_kind - 4'd1;
    wire       r_restored   = r_kind[4:2] == 3'd1;
    wire       r_bad        = r_kind >= 5'd11;

    // ---- what is added to which counter of a bank; and the snapshot, which comes between two
    // events

    // From the host, the two steps of each bank:
    //   t0 packets, then why, or a rule's values
    //   t1 bytes, then passed, or a rule's compressed or stored
    //   t2 a rule's payload bytes, then its wire bytes
    reg  [4:0]         t0_address, t1_address, t2_address;
    reg  [16:0]        t0_amount, t1_amount, t2_amount;
    reg                t0_valid = 1'b0, t2_valid = 1'b0;
    // From the wire:
    //   r0 packets, then passed, restored or malformed
    //   r1 bytes, then foreign, or why malformed
    //   r2 wire bytes, then payload bytes
    reg  [3:0]         r0_address, r1_address;
    reg                r2_address;
    reg  [16:0]        r0_amount, r1_amount, r2_amount;
    reg                r0_valid = 1'b0, r1_valid = 1'b0, r2_valid = 1'b0;
    reg                wanted_reg = 1'b0, snapshot_reg = 1'b0;

    // where the wire's bytes are in bank r1: their own place, 1, is that of a reason there (17).
    // Another (20) is at 4
    localparam R1_BYTES = 4'd2;

    always @(posedge clk) begin
        second_reg <= !second_reg;
        t_open_reg <= !second_reg && t_there && ready;
        r_open_reg <= !second_reg && r_there && ready;

        t0_address <= !second_reg ? 5'd0 : t_compressed ? {1'b1, t_rule} : {1'b0, t_why};
        t0_amount  <= second_reg && t_compressed ? {2'd0, t_values} : 17'd1;
        t0_valid   <= t_add;
        t1_address <= !second_reg ? 5'd0 : t_compressed || t_stored ? {t_rule, t_stored} + 5'd2 : 5'd1;
        t1_amount  <= second_reg ? 17'd1 : t_bytes;
        t2_address <= {t_rule, second_reg};
        t2_amount  <= second_reg ? t_wire : t_payload;
        t2_valid   <= t_add && (t_compressed || t_stored);

        r0_address <= !second_reg ? 4'd0 : r_restored ? r_kind[3:0] : r_bad ? 4'd10 : 4'd2;
        r0_amount  <= 17'd1;
        r0_valid   <= r_add;
        r1_address <= second_reg ? r_kind[3:0] : R1_BYTES;
        r1_amount  <= second_reg ? 17'd1 : r_bytes;
        r1_valid   <= r_add && (!second_reg || r_bad || r_kind == 5'd3);
        r2_address <= second_reg;
        r2_amount  <= {1'b0, second_reg ? r_payload : r_wire};
        r2_valid   <= r_add && r_restored;

        wanted_reg   <= snapshot || (wanted_reg && !second_reg);
        snapshot_reg <= wanted_reg && second_reg;
        if (rst) begin
            second_reg   <= 1'b0;
            t_open_reg   <= 1'b0;
            r_open_reg   <= 1'b0;
            t0_valid     <= 1'b0;
            t2_valid     <= 1'b0;
            r0_valid     <= 1'b0;
            r1_valid     <= 1'b0;
            r2_valid     <= 1'b0;
            wanted_reg   <= 1'b0;
            snapshot_reg <= 1'b0;
        end
    end

    // ---- frames dropped, perhaps one in every cycle, and flows: each of these counters is visited
    // every eight cycles

    wire [7:0]  d_events = {1'b0, tx_event_flow_closed, tx_event_flow_evicted, tx_event_flow_added,
                            rx_event_dropped_long, rx_event_dropped_bad, tx_event_dropped_long, tx_event_dropped_bad};
    reg  [31:0] d_counts_reg = 32'd0;  // four bits each
    reg  [2:0]  d_address    = 3'd0;
    wire [3:0]  d_amount     = d_counts_reg[4*d_address +: 4];
    wire        d_ready;
    integer     d;

    always @(posedge clk) begin
        d_address <= d_address + 3'd1;
        for (d = 0; d < 8; d = d + 1)
            d_counts_reg[4*d +: 4] <= (d_address == d[2:0] && d_ready ? 4'd0 : d_counts_reg[4*d +: 4]) + {3'd0, d_events[d]};
        if (rst) d_counts_reg <= 32'd0;
    end

    // ---- reading: which bank and where, two cycles of the bank, the choice

    wire [1:0] page, part;
    wire [4:0] number;
    assign {page, part, number} = read_number;
    wire       of_tx   = {page, part} == 4'd0;    // 0x400..0x4ff
    wire       of_rule = page == 2'd0 && !of_tx;  // 0x500..0x7ff
    wire       of_rx   = page == 2'd1;            // 0x800..0xbff
    wire [3:0] rule    = {part, number[4:3]} - 4'd4;
    wire [2:0] field   = number[2:0];

    localparam T0 = 3'd0, T1 = 3'd1, T2 = 3'd2, R0 = 3'd3, R1 = 3'd4, R2 = 3'd5, DROPPED = 3'd6, NONE = 3'd7;

    reg [2:0] bank0, bank1_reg, bank2_reg, bank3_reg;
    reg [4:0] place, place_reg;

    always @* begin
        bank0 = NONE;
        place = number;
        if (of_tx && number < 5'd19) begin
            bank0 = number >= 5'd14 ? DROPPED : number == 5'd1 || number == 5'd2 ? T1 : T0;
            if (number >= 5'd16) place = number - 5'd12;
            else if (number >= 5'd14) place = number - 5'd14;
            else if (number == 5'd1 || number == 5'd2) place = number - 5'd1;
        end
        if (of_rule && {28'd0, rule} < RULES && field < 3'd5) begin
            bank0 = field < 3'd2 ? T1 : field == 3'd2 ? T0 : T2;
            place = field < 3'd2 ? {rule, field[0]} + 5'd2 : field == 3'd2 ? {1'b1, rule} : {rule, !field[0]};
        end
        if (of_rx && part == 2'd0 && number < 5'd21) begin
            bank0 = number == 5'd18 || number == 5'd19 ? DROPPED : number == 5'd8 || number == 5'd9 ? R2 :
                    number == 5'd1 || number == 5'd3 || number >= 5'd11 ? R1 : R0;
            place = number == 5'd1 ? {1'b0, R1_BYTES} : number;
        end
    end

    wire [63:0] t0_data, t1_data, t2_data, r0_data, r1_data, r2_data, d_data;
    wire        t0_ready, t1_ready, t2_ready, r0_ready, r1_ready, r2_ready;
    reg         ready_reg = 1'b0;
    assign ready = ready_reg;

    always @(posedge clk) begin
        ready_reg <= t0_ready && t1_ready && t2_ready && r0_ready && r1_ready && r2_ready && d_ready && !rst;
        place_reg <= place;
        bank1_reg <= bank0;
        bank2_reg <= bank1_reg;
        bank3_reg <= bank2_reg;
        case (bank3_reg)
        T0:      read_data <= t0_data;
        T1:      read_data <= t1_data;
        T2:      read_data <= t2_data;
        R0:      read_data <= r0_data;
        R1:      read_data <= r1_data;
        R2:      read_data <= r2_data;
        DROPPED: read_data <= d_data;
        default: read_data <= 64'd0;
        endcase
        read_known <= bank3_reg != NONE;
    end

    gn_counter_bank #(.LOG2(5)) t0 (
        .clk(clk), .rst(rst), .ready(t0_ready), .add_address(t0_address), .add_amount(t0_amount), .add_valid(t0_valid),
        .snapshot(snapshot_reg), .read_address(place_reg), .read_data(t0_data));
    gn_counter_bank #(.LOG2(LOG2_T1)) t1 (
        .clk(clk), .rst(rst), .ready(t1_ready), .add_address(t1_address[LOG2_T1-1:0]), .add_amount(t1_amount), .add_valid(t0_valid),
        .snapshot(snapshot_reg), .read_address(place_reg[LOG2_T1-1:0]), .read_data(t1_data));
    gn_counter_bank #(.LOG2(LOG2_T2)) t2 (
        .clk(clk), .rst(rst), .ready(t2_ready), .add_address(t2_address[LOG2_T2-1:0]), .add_amount(t2_amount), .add_valid(t2_valid),
        .snapshot(snapshot_reg), .read_address(place_reg[LOG2_T2-1:0]), .read_data(t2_data));
    gn_counter_bank #(.LOG2(4)) r0 (
        .clk(clk), .rst(rst), .ready(r0_ready), .add_address(r0_address), .add_amount(r0_amount), .add_valid(r0_valid),
        .snapshot(snapshot_reg), .read_address(place_reg[3:0]), .read_data(r0_data));
    gn_counter_bank #(.LOG2(4)) r1 (
        .clk(clk), .rst(rst), .ready(r1_ready), .add_address(r1_address), .add_amount(r1_amount), .add_valid(r1_valid),
        .snapshot(snapshot_reg), .read_address(place_reg[3:0]), .read_data(r1_data));
    gn_counter_bank #(.LOG2(1)) r2 (
        .clk(clk), .rst(rst), .ready(r2_ready), .add_address(r2_address), .add_amount(r2_amount), .add_valid(r2_valid),
        .snapshot(snapshot_reg), .read_address(place_reg[0]), .read_data(r2_data));
    gn_counter_bank #(.LOG2(3)) dropped (
        .clk(clk), .rst(rst), .ready(d_ready), .add_address(d_address), .add_amount({13'd0, d_amount}), .add_valid(d_ready),
        .snapshot(snapshot_reg), .read_address(place_reg[2:0]), .read_data(d_data));

    wire unused = &{1'b0, t1_address, t2_address};

    generate
        if (RULES < 1 || RULES > 12) begin : g_check
            RULES_must_be_1_to_12 error();
        end
    endgenerate

endmodule

`resetall
