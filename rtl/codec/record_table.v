// SPDX-License-Identifier: Apache-2.0
// The tag decoder of record_window: where what begins at an offset of a beat ends, worked out for all offsets before the loop asks. Beats
// wait in a small memory, pass a register, and stand in one of two tables that take turns: so no beat waits for what the loop decides in
// the same cycle, and nothing wide hangs on that.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module record_table #(
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
    output wire [17:0]  m_bytes,    // 6 bits each
    input  wire         m_leave,    // beat 0 leaves; only when it is valid

    // where that ends which begins in beat 0 at offset `at`: the offset behind it in m_ends[4:0], and in which beat in the rest, as below;
    // and where in beat 1 that ends which begins there at `at` modulo 8
    input  wire [4:0]   at,
    output wire [7:0]   m_ends,     // {beyond offset 64, step, upper, offset modulo 32}
    output wire [5:0]   m_ends_1    // 2..42
);

    // `step`: beat 0 is used up, `upper`: the offset is one of the second of the beats that are then left, or, without a step, 32.

    localparam RECORDS = (PROFILES & 3) != 0;
    localparam DENSE   = (PROFILES & 4) != 0;

    // ---- beats in: of each byte two nibbles. Dense: as they are. Else the bytes that a nibble's two tags stand for, and in the low
    // one also 1, the tag byte itself.

    function [3:0] tag_bytes(input [3:0] tags);
        tag_bytes = {1'b0, tags[1:0] == 2'd3, tags[1:0] == 2'd2, tags[1:0] == 2'd1} +
                    {1'b0, tags[3:2] == 2'd3, tags[3:2] == 2'd2, tags[3:2] == 2'd1};
    endfunction

    `include "class_bytes.vh"

    wire         into_dense = DENSE && (!RECORDS || s_dense);
    reg  [255:0] nibbles;
    integer      i, j;

    always @*
        for (i = 0; i < 64; i = i + 1)
            nibbles[4*i +: 4] = into_dense ? s_data[4*i +: 4] : tag_bytes(s_data[4*i +: 4]) + {3'd0, i % 2 == 0};

    reg  [263:0] store [0:15];
    reg  [3:0]   write_reg = 4'd0, read_reg = 4'd0;
    reg  [4:0]   stored_reg = 5'd0;
    reg          some_reg = 1'b0;  // the same, not 0

    wire [255:0] x_nibbles;
    wire [5:0]   x_bytes;
    wire         x_dense, x_last, x_move;
    assign {x_dense, x_last, x_bytes, x_nibbles} = store[read_reg];

    wire [4:0]   stored = stored_reg + {4'd0, s_valid} - {4'd0, x_move};

    always @(posedge clk) begin
        if (s_valid) store[write_reg] <= {into_dense, s_last, s_bytes, nibbles};
        write_reg  <= write_reg + {3'd0, s_valid};
        read_reg   <= read_reg + {3'd0, x_move};
        stored_reg <= stored;
        some_reg   <= stored != 5'd0;
        if (rst) begin
            write_reg  <= 4'd0;
            read_reg   <= 4'd0;
            stored_reg <= 5'd0;
            some_reg   <= 1'b0;
        end
    end

    // ---- the length of what would begin at each offset: a record; a quad's header and first group; a zero run. It is a sum of what two
    // bytes give. That of the last offset needs the next beat, and is added up one stage later.

    reg [191:0] gives_first;   // 6 bits a byte
    reg [159:0] gives_second;  // 5 bits
    reg [31:0]  zero;

    always @*
        for (i = 0; i < 32; i = i + 1) begin
            zero[i]                = x_nibbles[8*i +: 8] == 8'd0;
            gives_second[5*i +: 5] = {1'b0, x_nibbles[8*i +: 4]} + {1'b0, x_nibbles[8*i + 4 +: 4]};
            gives_first[6*i +: 6]  = x_dense ? class_bytes(x_nibbles[8*i +: 4]) + 6'd2 : {1'b0, gives_second[5*i +: 5]};
        end

    reg [185:0] y_known;   // 6 bits an offset; the first eight with their offset added
    reg [6:0]   y_first;   // of the last offset, with it added
    reg         y_zero;    // its byte
    reg [5:0]   y_bytes;
    reg         y_dense, y_last, y_valid = 1'b0;
    wire        y_move;

    assign x_move = some_reg && (!y_valid || y_move);

    always @(posedge clk) begin
        if (!y_valid || y_move) begin
            for (j = 0; j < 31; j = j + 1)
                y_known[6*j +: 6] <= gives_first[6*j +: 6] + (x_dense ? {5'd0, zero[j] && zero[j+1]} : {1'b0, gives_second[5*j + 5 +: 5]}) +
                                     (j < 8 ? j[5:0] : 6'd0);
            y_first <= 7'd31 + {1'b0, gives_first[191:186]};
            y_zero  <= zero[31];
            y_bytes <= x_bytes;
            y_dense <= x_dense;
            y_last  <= x_last;
        end
        y_valid <= x_move || (y_valid && !y_move);
        if (rst) y_valid <= 1'b0;
    end

    wire [6:0]   y_second = y_dense ? {6'd0, y_zero && zero[0]} : {2'd0, gives_second[4:0]};
    wire [255:0] y_table;

    genvar g;
    generate
        for (g = 0; g < 32; g = g + 1) begin : g_ends
            wire [6:0] ends = g == 31 ? y_first + y_second : {1'b0, y_known[(g % 31)*6 +: 6]} + (g < 8 ? 7'd0 : g);
            // what ends exactly with a frame's last beat stays in it: groups without payload may follow
            wire       step = g == 31 || (|ends[6:5] && !(y_last && ends[5:0] == 6'd32));
            assign y_table[8*g +: 8] = {ends[6] && |ends[4:0], step, step ? ends[6] : ends[5], ends[4:0]};
        end
    endgenerate

    // ---- two tables, for beats of even and of odd numbers

    reg [255:0] even_table, odd_table;
    reg [47:0]  even_first, odd_first;  // of the first eight offsets
    reg [5:0]   even_bytes, odd_bytes;
    reg         from_odd_reg = 1'b0;           // beat 0 is in the odd one
    reg         v0_reg = 1'b0, v1_reg = 1'b0;  // beat 0 has a table; beat 1 has
    reg         not_v1_reg = 1'b1;             // for what is wide: a copy that is not merged again
    reg         last0_reg, last1_reg;

    wire        even_valid = from_odd_reg ? v1_reg : v0_reg;
    wire        odd_valid  = from_odd_reg ? v0_reg : v1_reg;

    assign y_move = y_valid && (y_last || some_reg) && !(v0_reg && v1_reg);

    always @(posedge clk) begin
        if (!even_valid) begin
            even_table <= y_table;
            even_first <= y_known[47:0];
            even_bytes <= y_bytes;
        end
        if (!odd_valid) begin
            odd_table <= y_table;
            odd_first <= y_known[47:0];
            odd_bytes <= y_bytes;
        end
        from_odd_reg <= from_odd_reg ^ m_leave;
        v0_reg       <= (m_leave ? v1_reg : v0_reg) || y_move;
        v1_reg       <= !m_leave && v0_reg && (v1_reg || y_move);
        not_v1_reg   <= !(!m_leave && v0_reg && (v1_reg || y_move));
        if (m_leave || !v0_reg) last0_reg <= v1_reg ? last1_reg : y_last;
        if (!v1_reg) last1_reg <= y_last;
        if (rst) begin
            from_odd_reg <= 1'b0;
            v0_reg       <= 1'b0;
            v1_reg       <= 1'b0;
            not_v1_reg   <= 1'b1;
        end
    end

    // ---- the window: beat 0 has a table; beat 1 is behind it, in the other table or still before it

    wire [5:0] bytes_0 = from_odd_reg ? odd_bytes : even_bytes;
    wire [5:0] bytes_1 = not_v1_reg ? y_bytes : from_odd_reg ? even_bytes : odd_bytes;
    wire       last_1  = v1_reg ? last1_reg : y_last;
    wire       behind  = v1_reg && y_valid;  // beat 2 is in the register, else in the memory
    wire       there_2 = some_reg || behind;
    wire       there_1 = (v1_reg || y_valid) && (last_1 || there_2);

    assign m_valid = {there_2, there_1, v0_reg};
    assign m_last  = {behind ? y_last : x_last, last_1, last0_reg};
    assign m_bytes = {behind ? y_bytes : x_bytes, bytes_1, bytes_0};

    wire [255:0] even_shifted = even_table >> {at, 3'd0};
    wire [255:0] odd_shifted  = odd_table >> {at, 3'd0};
    wire [47:0]  first        = not_v1_reg ? y_known[47:0] : from_odd_reg ? even_first : odd_first;
    reg  [5:0]   first_chosen;

    always @* begin
        first_chosen = first[5:0];
        for (i = 1; i < 8; i = i + 1)
            if (at[2:0] == i[2:0]) first_chosen = first[6*i +: 6];
    end

    assign m_ends   = from_odd_reg ? odd_shifted[7:0] : even_shifted[7:0];
    assign m_ends_1 = first_chosen;

    wire unused_shifted = &{1'b0, even_shifted, odd_shifted};

endmodule

`resetall
