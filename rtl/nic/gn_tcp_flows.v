// SPDX-License-Identifier: Apache-2.0
// The table of TCP flows: for each, where its values begin, learnt from its SYN (as cmodel/flow.c
// with sets). Flows are in sets of four. A flow's set is a hash of its key; in a set, the least
// recently used flow gives way.
//
// A frame that asks the table something takes six cycles, any other frame one.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_tcp_flows #(
    parameter        LOG2 = 11,           // 2^LOG2 flows: 3 to 16
    parameter [31:0] SEED = 32'h6e6f7661  // of the hash: another one for each design makes it harder
                                          // to choose flows that push out others
) (
    input  wire         clk,
    input  wire         rst,          // synchronous, active high. It takes 2^LOG2 / 4 cycles until
                                      // all flows are forgotten: frames wait so long

    // Of every frame that is asked about, in order: its key, as gn_frame_parse says
    input  wire [290:0] k_key,
    input  wire         k_valid,      // always taken

    // The same frames, ten cycles later or more; so far behind that at most 63 keys wait
    input  wire         s_syn,        // begins the flow; not with s_find
    input  wire         s_find,       // has payload that a rule matches
    input  wire         s_end,        // ends the flow: FIN or RST
    input  wire         s_valid,      // always taken: at most 9 may be in here

    // and what is known of them, in order
    output wire         m_known,      // s_find, and the flow is known
    output wire [1:0]   m_head,       // then: bytes up to the first whole value
    output wire         m_valid,      // for one cycle

    // for the counters: a pulse each
    output wire         event_added,
    output wire         event_evicted,
    output wire         event_closed
);

    localparam SETS = LOG2 - 2;  // log2
    localparam KEY  = 288;       // addresses and ports
    localparam RING = 6;         // log2 of the keys that may wait

    // ---- which set: each bit is the parity of some of the key's bits

    function [319:0] row;  // which, of bit i
        input integer i;
        integer       w;
        reg [31:0]    x;
        begin
            x = i;
            x = (SEED + x * 32'h9e3779b9) | 32'd1;
            for (w = 0; w < 10; w = w + 1) begin
                x = x ^ (x << 13);
                x = x ^ (x >> 17);
                x = x ^ (x << 5);
                row[32*w +: 32] = x;
            end
        end
    endfunction

    wire [SETS-1:0] k_set;
    genvar          i;
    generate
        for (i = 0; i < SETS; i = i + 1) begin : g_hash
            localparam [319:0] ROW = row(i);
            assign k_set[i] = ^(k_key[KEY:0] & ROW[KEY:0]);
        end
    endgenerate

    // ---- keys wait in a ring until their frame asks. The place of the next one is written in
    // every cycle.

    reg  [RING-1:0] write_reg = {RING{1'b0}};
    reg  [RING-1:0] read_reg  = {RING{1'b0}};  // of the frame whose turn it is
    wire [KEY-1:0]  key;
    wire            six;
    wire [1:0]      seq;
    wire [SETS-1:0] set;
    wire            pop;

    always @(posedge clk) begin
        if (k_valid) write_reg <= write_reg + 1'b1;
        if (pop) read_reg <= read_reg + 1'b1;
        if (rst) begin
            write_reg <= {RING{1'b0}};
            read_reg  <= {RING{1'b0}};
        end
    end

    gn_block_ram #(.WIDTH(SETS + 291), .LOG2(RING)) keys (
        .clk(clk), .write(1'b1), .write_address(write_reg), .write_data({k_set, k_key}), .read_address(read_reg),
        .read_data({set, seq, six, key}));

    // ---- frames take their turns. steps[n] is a cycle:
    //   0, 1  the key comes from the ring      2, 3  the set comes from the table
    //   4     its keys are compared            5     the answer, and what becomes of the set

    wire q_syn, q_find, q_end, q_there;

    gn_credit_fifo #(.WIDTH(3), .LOG2(3)) asked (
        .clk(clk), .rst(rst), .s_data({s_syn, s_find, s_end}), .s_valid(s_valid),
        .m_data({q_syn, q_find, q_end}), .m_valid(q_there), .m_ready(pop));

    reg  [SETS:0] clear_reg = {SETS+1{1'b0}};
    wire          clear     = !clear_reg[SETS];
    reg  [5:1]    steps_reg = 5'd0;
    wire          turn      = q_there && steps_reg == 5'd0 && !clear;
    wire          asks      = q_syn || q_find || q_end;
    wire          decide    = steps_reg[5];
    assign pop = decide || (turn && !asks);

    always @(posedge clk) begin
        steps_reg <= {steps_reg[4:1], turn && asks};
        if (clear) clear_reg <= clear_reg + 1'b1;
        if (rst) begin
            steps_reg <= 5'd0;
            clear_reg <= {SETS+1{1'b0}};
        end
    end

    // ---- the table: of each of the four places of a set, a key; and the state of the set: of each
    // place, whether there is a flow, its version and where its values begin; of each two places,
    // whether the first was used later

    reg  [3:0]      put_reg = 4'd0;  // places that get the key
    reg             change_reg = 1'b0;
    reg  [SETS-1:0] change_set;
    reg  [21:0]     change_to;
    wire [KEY-1:0]  key_0, key_1, key_2, key_3;
    wire [21:0]     state;

    gn_block_ram #(.WIDTH(KEY), .LOG2(SETS)) place_0 (
        .clk(clk), .write(put_reg[0]), .write_address(change_set), .write_data(key), .read_address(set), .read_data(key_0));
    gn_block_ram #(.WIDTH(KEY), .LOG2(SETS)) place_1 (
        .clk(clk), .write(put_reg[1]), .write_address(change_set), .write_data(key), .read_address(set), .read_data(key_1));
    gn_block_ram #(.WIDTH(KEY), .LOG2(SETS)) place_2 (
        .clk(clk), .write(put_reg[2]), .write_address(change_set), .write_data(key), .read_address(set), .read_data(key_2));
    gn_block_ram #(.WIDTH(KEY), .LOG2(SETS)) place_3 (
        .clk(clk), .write(put_reg[3]), .write_address(change_set), .write_data(key), .read_address(set), .read_data(key_3));
    gn_block_ram #(.WIDTH(22), .LOG2(SETS)) states (
        .clk(clk), .write(change_reg), .write_address(change_set), .write_data(change_to), .read_address(set), .read_data(state));

    wire [3:0] there, sixes;
    wire [7:0] begins;  // modulo 4
    wire       later_23, later_13, later_12, later_03, later_02, later_01;
    assign {there, sixes, begins, later_23, later_13, later_12, later_03, later_02, later_01} = state;

    // ---- 4: parts of the keys; the place for a new flow; the heads, if these flows are asked for

    localparam PART = 18, PARTS = KEY / PART;  // so few bits that a part is two levels of logic

    wire [3:0] oldest = {later_03 && later_13 && later_23, later_02 && later_12 && !later_23,
                         later_01 && !later_12 && !later_13, !later_01 && !later_02 && !later_03};
    wire [3:0] free   = {!there[3] && there[2] && there[1] && there[0], !there[2] && there[1] && there[0],
                         !there[1] && there[0], !there[0]};
    wire       full   = there == 4'b1111;

    reg [PARTS-1:0] equal_0, equal_1, equal_2, equal_3;
    reg [3:0]       same_reg;  // there is a flow, and it is of this version
    reg [3:0]       room_reg;
    reg             full_reg;
    reg [7:0]       heads_reg;
    integer         n;

    always @(posedge clk) begin
        for (n = 0; n < PARTS; n = n + 1) begin
            equal_0[n] <= key_0[PART*n +: PART] == key[PART*n +: PART];
            equal_1[n] <= key_1[PART*n +: PART] == key[PART*n +: PART];
            equal_2[n] <= key_2[PART*n +: PART] == key[PART*n +: PART];
            equal_3[n] <= key_3[PART*n +: PART] == key[PART*n +: PART];
        end
        same_reg <= there & (six ? sixes : ~sixes);
        room_reg <= full ? oldest : free;
        full_reg <= full;
        for (n = 0; n < 4; n = n + 1) heads_reg[2*n +: 2] <= begins[2*n +: 2] - seq;
    end

    // ---- 5: the flow's place, the answer, the set as it will be

    wire [3:0] hit   = same_reg & {&equal_3, &equal_2, &equal_1, &equal_0};
    wire       known = hit != 4'd0;
    wire [3:0] used  = hit | (q_syn && !known ? room_reg : 4'd0);
    wire [1:0] first = seq + 2'd1;  // the SYN takes a number of its own

    reg        known_reg, valid_reg = 1'b0, added_reg = 1'b0, evicted_reg = 1'b0, closed_reg = 1'b0;
    reg [1:0]  head_reg;
    reg [7:0]  begins_next;
    integer    m;

    always @* begin
        begins_next = begins;
        for (m = 0; m < 4; m = m + 1)
            if (used[m] && q_syn) begins_next[2*m +: 2] = first;
    end

    always @(posedge clk) begin
        valid_reg   <= pop;
        known_reg   <= decide && q_find && known;
        head_reg    <= (hit[0] ? heads_reg[1:0] : 2'd0) | (hit[1] ? heads_reg[3:2] : 2'd0) |
                       (hit[2] ? heads_reg[5:4] : 2'd0) | (hit[3] ? heads_reg[7:6] : 2'd0);
        added_reg   <= decide && q_syn && !known;
        evicted_reg <= decide && q_syn && !known && full_reg;
        closed_reg  <= decide && q_end && (known || q_syn);

        put_reg    <= decide && q_syn ? used : 4'd0;
        change_reg <= decide || clear;
        change_set <= clear ? clear_reg[SETS-1:0] : set;
        change_to  <= clear ? 22'd0
                            : {(there | used) & ~(q_end ? used : 4'd0), (sixes & ~used) | (six ? used : 4'd0), begins_next,
                               (later_23 && !used[3]) || used[2], (later_13 && !used[3]) || used[1],
                               (later_12 && !used[2]) || used[1], (later_03 && !used[3]) || used[0],
                               (later_02 && !used[2]) || used[0], (later_01 && !used[1]) || used[0]};
        if (rst) begin
            valid_reg   <= 1'b0;
            added_reg   <= 1'b0;
            evicted_reg <= 1'b0;
            closed_reg  <= 1'b0;
            put_reg     <= 4'd0;
            change_reg  <= 1'b0;
        end
    end

    assign m_known = known_reg;
    assign m_head  = head_reg;
    assign m_valid = valid_reg;

    assign event_added   = added_reg;
    assign event_evicted = evicted_reg;
    assign event_closed  = closed_reg;

    generate
        if (LOG2 < 3 || LOG2 > 16) begin : g_check
            tcp_flows_LOG2_must_be_3_to_16 error();
        end
    endgenerate

endmodule

`resetall
