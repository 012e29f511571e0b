// SPDX-License-Identifier: Apache-2.0
// The tag decoder of gn_record_window. For all offsets of a beat it works out where what begins
// there ends, before the loop asks. Beats wait in a FIFO, pass a register, and stand in one of two
// tables that take turns. So no beat waits for what the loop decides in the same cycle, and nothing
// wide depends on that.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_record_table #(
    parameter PROFILES = 7  // those built: bit 0 paper, bit 1 lattice, bit 2 dense
) (
    input  wire         clk,
    input  wire         rst,        // synchronous, active high

    // beats; always taken: at most 16 may be in here
    input  wire [255:0] s_data,
    input  wire         s_dense,    // of a frame of profile dense
    input  wire         s_last,     // of its frame
    input  wire [5:0]   s_bytes,
    input  wire         s_valid,

    // the oldest three, 0 first
    output wire [2:0]   m_valid,    // beats 0 and 1: with what follows
    output wire [2:0]   m_last,
    output wire [17:0]  m_bytes,    // 6 bits a beat
    input  wire         m_leave,    // beat 0 leaves; only when it is valid

    // What begins at offset `at`
    input  wire [4:0]   at,
    input  wire [4:0]   about_at,   // the same, from other registers: m_about is not needed at once
    input  wire         use_0,      // it begins in beat 0
    input  wire         use_1,      // or in beat 1, at `at` modulo 8
    // Where it ends, as ends.vh says. Five words of 8 bits, all 0 except the one that is asked for:
    // 0 and 1 of the even table's halves, 2 and 3 of the odd one's, 4 of beat 1
    output wire [39:0]  m_ends,
    // Of a record, one more than the payload bytes of lanes 0 to 3. Of an item of profile dense,
    // the bytes of its second group (17 stands for 33)
    output wire [4:0]   m_about
);

    `include "ends.vh"

    localparam RECORDS = (PROFILES & 3) != 0;
    localparam DENSE   = (PROFILES & 4) != 0;

    // ---- beats in: of each byte 8 bits, and whether it is 0. For dense the byte as it is. Else
    // one more than the payload bytes that its four tags stand for: the one is the tag byte itself.

    `include "class_bytes.vh"
    `include "bit_planes.vh"

    // 33, of class 15, as 17
    function [4:0] short_bytes(input [5:0] bytes);
        short_bytes = {|bytes[5:4], bytes[3:0]};
    endfunction

    wire         into_dense = DENSE && (!RECORDS || s_dense);
    wire [255:0] into_bytes;
    wire [31:0]  into_zero;

    // The bytes of each tag: 0, 1, 2 or 4. The sum of a nibble's two has each bit from those of its
    // place and of the one below: a function of four inputs, not an adder. They are assignments,
    // because an always @* waits for a change, which never comes when a byte stays as it began.
    localparam [255:0] TAG = {128{2'b01}}, NIBBLE = {64{4'b0001}};  // the lowest bit of each

    wire [255:0] one  = s_data & ~(s_data >> 1) & TAG;
    wire [255:0] two  = ~s_data & s_data >> 1 & TAG;
    wire [255:0] four = s_data & s_data >> 1 & TAG;
    wire [255:0] sum0 = (one ^ one >> 2) & NIBBLE;
    wire [255:0] sum1 = ((two ^ two >> 2) | (one & one >> 2)) & NIBBLE;
    wire [255:0] sum2 = ((four ^ four >> 2) | (two & two >> 2)) & NIBBLE;
    wire [255:0] sum3 = four & four >> 2 & NIBBLE;
    wire [255:0] nibble_gives = sum0 | sum1 << 1 | sum2 << 2 | sum3 << 3;

    genvar g, h;
    generate
        for (g = 0; g < 32; g = g + 1) begin : g_into
            wire [4:0] gives = {1'b0, nibble_gives[8*g +: 4]} + {1'b0, nibble_gives[8*g + 4 +: 4]} + 5'd1;

            assign into_bytes[8*g +: 8] = into_dense ? s_data[8*g +: 8] : {3'd0, gives};
            assign into_zero[g]         = s_data[8*g +: 8] == 8'd0;
        end
    endgenerate

    // What is worked out of a beat is on the longest paths of all. So it begins at the FIFO's
    // output register, not at a memory.
    wire [255:0] x_data;
    wire [31:0]  zero;
    wire [5:0]   x_bytes;
    wire         x_dense, x_last, x_move, unused_x_valid;

    gn_credit_fifo #(.WIDTH(296), .LOG2(4)) beats (
        .clk(clk), .rst(rst), .s_data({into_dense, s_last, s_bytes, into_zero, into_bytes}), .s_valid(s_valid),
        .m_data({x_dense, x_last, x_bytes, zero, x_data}), .m_valid(unused_x_valid), .m_ready(x_move));

    // Beats are counted here too, because the loop asks whether there is one in the next cycle.
    reg  [4:0]   stored_reg = 5'd0;
    reg          some_reg = 1'b0;  // the same, not 0

    wire [4:0]   stored = stored_reg + {4'd0, s_valid} - {4'd0, x_move};
    wire         some   = s_valid || |stored_reg[4:1] || (stored_reg[0] && !x_move);

    always @(posedge clk) begin
        stored_reg <= stored;
        some_reg   <= some;
        if (rst) begin
            stored_reg <= 5'd0;
            some_reg   <= 1'b0;
        end
    end

    // ---- the length of what would begin at each offset: a record; a quad's header and first
    // group; a zero run. It is a sum of what two bytes give. At the last offset the second byte is
    // in the next beat: that sum is made one stage later.

    // What the first byte gives: of a class, so a table of constants too.
    function [191:0] all_opens(input unused);
        integer n;
        for (n = 0; n < 32; n = n + 1) all_opens[6*n +: 6] = class_bytes(n[3:0]) + 6'd2;
    endfunction

    localparam [191:0] OPENS = all_opens(1'b0);

    wire [185:0] known;  // 6 bits an offset; the first eight with their offset added
    wire [6:0]   last;   // of the last offset, with it added

    generate
        for (g = 0; g < 32; g = g + 1) begin : g_opens
            localparam [6:0] OFFSET = g < 8 || g == 31 ? g : 0;

            wire [4:0] data = x_data[8*g +: 5];
            reg  [6:0] gives;
            integer    n;

            always @* begin
                gives = 7'd0;
                for (n = 0; n < 32; n = n + 1)
                    if (data == n[4:0]) gives = OFFSET + (x_dense ? {1'b0, OPENS[6*n +: 6]} : n[6:0]);
            end

            if (g == 31) begin : g_last
                assign last = gives;
            end else begin : g_known
                assign known[6*g +: 6] = gives[5:0] + (x_dense ? {5'd0, zero[g] && zero[g+1]} : {1'b0, x_data[8*g + 8 +: 5]});
                wire unused_above = gives[6];
            end
        end
    endgenerate

    // m_about of all 32 offsets: their bits 0, their bits 1, ...
    wire [159:0] about;

    generate
        for (g = 0; g < 4; g = g + 1) begin : g_abouts
            wire [63:0] bytes, planes;

            for (h = 0; h < 8; h = h + 1) begin : g_byte
                wire [7:0] data = x_data[64*g + 8*h +: 8];
                assign bytes[8*h +: 8] = {3'd0, x_dense ? short_bytes(class_bytes(data[7:4])) : data[4:0]};
            end
            assign planes = bit_planes(bytes);
            for (h = 0; h < 5; h = h + 1) begin : g_bit
                assign about[32*h + 8*g +: 8] = planes[8*h +: 8];
            end
            wire unused_above = &{1'b0, planes[63:40]};
        end
    endgenerate

    reg [185:0] y_known;
    reg [159:0] y_about;
    reg [6:0]   y_first;
    reg         y_zero;    // its byte
    reg [5:0]   y_bytes;
    reg         y_dense, y_last, y_valid = 1'b0;
    reg         y_ok_reg = 1'b0;  // valid, and what follows is there
    wire        y_move;

    assign x_move = some_reg && (!y_valid || y_move);

    always @(posedge clk) begin
        if (!y_valid || y_move) begin
            y_known <= known;
            y_about <= about;
            y_first <= last;
            y_zero  <= zero[31];
            y_bytes <= x_bytes;
            y_dense <= x_dense;
            y_last  <= x_last;
        end
        y_valid  <= x_move || (y_valid && !y_move);
        y_ok_reg <= x_move ? x_last || some : y_valid && !y_move && (y_last || some);
        if (rst) begin
            y_valid  <= 1'b0;
            y_ok_reg <= 1'b0;
        end
    end

    wire [6:0]   y_second = y_dense ? {6'd0, y_zero && zero[0]} : {2'd0, x_data[4:0]};
    wire [255:0] y_ends;   // 8 bits an offset, as of `m_ends`
    wire [255:0] y_table;  // bit 0 of all 32 offsets, bit 1, ...

    generate
        for (g = 0; g < 32; g = g + 1) begin : g_ends
            reg [6:0] ends;
            reg       step;
            reg [7:0] entry;

            always @* begin
                ends  = g == 31 ? y_first + y_second : {1'b0, y_known[(g % 31)*6 +: 6]} + (g < 8 ? 7'd0 : g);
                // what ends exactly with a frame's last beat stays in it: groups without payload
                // may follow
                step  = g == 31 || (|ends[6:5] && !(y_last && ends[5:0] == 6'd32));
                entry[OVER]      = y_last ? step : ends[6] && |ends[4:0];
                entry[STEP]      = step;
                entry[UPPER]     = step ? ends[6] : ends[5];
                entry[UPPER-1:0] = ends[4:0];
                // Behind a frame's last beat is another frame's, or none. So whatever that gave,
                // what begins at the last offset does not end there.
                if (g == 31 && y_last) entry[0] = 1'b1;
            end

            assign y_ends[8*g +: 8] = entry;
        end
        for (g = 0; g < 4; g = g + 1) begin : g_table
            wire [63:0] planes = bit_planes(y_ends[64*g +: 64]);

            for (h = 0; h < 8; h = h + 1) begin : g_bit
                assign y_table[32*h + 8*g +: 8] = planes[8*h +: 8];
            end
        end
    endgenerate

    // ---- two tables, for beats of even and of odd numbers. Whether beat 0 leaves is known last in
    // a cycle. So it is noted, and counted in the next one.

    // the first eight offsets: their bits 0, their bits 1, ...
    wire [63:0] y_first_eight;
    wire [39:0] y_first_about;
    wire [63:0] y_eight = bit_planes(y_first_eight);
    wire        unused_eight = &{1'b0, y_eight[63:48]};

    generate
        for (g = 0; g < 8; g = g + 1) begin : g_first_eight
            assign y_first_eight[8*g +: 8] = {2'd0, y_known[6*g +: 6]};
        end
        for (g = 0; g < 5; g = g + 1) begin : g_first_about
            assign y_first_about[8*g +: 8] = y_about[32*g +: 8];
        end
    endgenerate

    reg [255:0] even_table, odd_table;
    reg [159:0] even_about, odd_about;
    reg [47:0]  first_reg;            // y_eight of beat 1, if it has a table
    reg [39:0]  first_about_reg;
    reg [5:0]   even_bytes, odd_bytes;
    reg         from_odd_reg = 1'b0;  // beat 0 is in the odd one
    reg         left_reg     = 1'b0;  // beat 0 has left, and valid0_reg to last1_reg still count it
    reg         valid0_reg   = 1'b0, valid1_reg = 1'b0;
    reg         last0_reg, last1_reg;

    wire        v0         = left_reg ? valid1_reg : valid0_reg;  // beat 0 has a table
    wire        v1         = valid1_reg && !left_reg;             // beat 1 has
    wire        last0      = left_reg ? last1_reg : last0_reg;
    wire        even_valid = from_odd_reg ? v1 : v0;
    wire        odd_valid  = from_odd_reg ? v0 : v1;

    assign y_move = y_ok_reg && !(v0 && v1);

    always @(posedge clk) begin
        if (!even_valid) begin
            even_table <= y_table;
            even_about <= y_about;
            even_bytes <= y_bytes;
        end
        if (!odd_valid) begin
            odd_table <= y_table;
            odd_about <= y_about;
            odd_bytes <= y_bytes;
        end
        if (!v1) begin
            first_reg <= y_eight[47:0];
            first_about_reg <= y_first_about;
        end
        if (m_leave) from_odd_reg <= !from_odd_reg;
        left_reg   <= m_leave;
        valid0_reg <= v0 || y_move;
        valid1_reg <= v0 && (v1 || y_move);
        last0_reg  <= v0 ? last0 : y_last;
        last1_reg  <= v1 ? last1_reg : y_last;
        if (rst) begin
            from_odd_reg <= 1'b0;
            left_reg     <= 1'b0;
            valid0_reg   <= 1'b0;
            valid1_reg   <= 1'b0;
        end
    end

    // ---- the window: beat 0 has a table; beat 1 is in the other table, or in the register before
    // it

    wire [5:0] bytes_0 = from_odd_reg ? odd_bytes : even_bytes;
    wire [5:0] bytes_1 = !v1 ? y_bytes : from_odd_reg ? even_bytes : odd_bytes;
    wire       last_1  = v1 ? last1_reg : y_last;
    wire       behind  = v1 && y_valid;      // beat 2 is in y, else in x
    wire       there_2 = some_reg || behind;
    // a beat that has a table either ends its frame, or has the next beat in the register
    wire       there_1 = v1 || y_ok_reg;

    assign m_valid = {there_2, there_1, v0};
    assign m_last  = {behind ? y_last : x_last, last_1, last0};
    assign m_bytes = {behind ? y_bytes : x_bytes, bytes_1, bytes_0};

    // Each choice is two of four, one behind the other, and the `or`.

    wire [3:0] tables       = {{2{from_odd_reg}}, {2{!from_odd_reg}}};
    wire [3:0] halves       = {at[4], !at[4], at[4], !at[4]} & tables & {4{use_0}};
    wire [3:0] about_halves = {about_at[4], !about_at[4], about_at[4], !about_at[4]} & tables & {4{use_0}};
    wire [5:0] ends_1;  // UPPER and offset

    generate
        for (g = 0; g < 8; g = g + 1) begin : g_choice
            wire [15:0] half0 = even_table[32*g +: 16];
            wire [15:0] half1 = even_table[32*g + 16 +: 16];
            wire [15:0] half2 = odd_table[32*g +: 16];
            wire [15:0] half3 = odd_table[32*g + 16 +: 16];
            assign {m_ends[8*3 + g], m_ends[8*2 + g], m_ends[8*1 + g], m_ends[8*0 + g]} =
                {half3[at[3:0]], half2[at[3:0]], half1[at[3:0]], half0[at[3:0]]} & halves;
        end
        for (g = 0; g < 6; g = g + 1) begin : g_first
            wire [15:0] first = {y_eight[8*g +: 8], first_reg[8*g +: 8]};
            assign ends_1[g] = first[{!v1, at[2:0]}] && use_1;
        end
        for (g = 0; g < 5; g = g + 1) begin : g_about
            wire [15:0] half0 = even_about[32*g +: 16];
            wire [15:0] half1 = even_about[32*g + 16 +: 16];
            wire [15:0] half2 = odd_about[32*g +: 16];
            wire [15:0] half3 = odd_about[32*g + 16 +: 16];
            wire [15:0] first = {y_about[32*g +: 8], first_about_reg[8*g +: 8]};
            assign m_about[g] = |({half3[about_at[3:0]], half2[about_at[3:0]], half1[about_at[3:0]], half0[about_at[3:0]]} & about_halves) ||
                                (first[{!v1, about_at[2:0]}] && use_1);
        end
    endgenerate

    assign m_ends[8*4 + OVER]       = ends_1[UPPER] && |ends_1[UPPER-1:0];
    assign m_ends[8*4 + STEP]       = use_1;
    assign m_ends[8*4 +: UPPER + 1] = ends_1;

endmodule

`resetall
