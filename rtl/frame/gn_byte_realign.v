// SPDX-License-Identifier: Apache-2.0
// Moves a range of bytes to the start of a beat. The range is given as the beats in which it lies,
// a beat a cycle, ranges back to back. There is no ready on either side: the first beat of a range
// gives nothing yet, so what is left of the range before can leave in that cycle. A range gives as
// many beats as its bytes need. Latency 3 from the beat that completes one; the last beat's rest a
// cycle later.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_byte_realign (
    input  wire         clk,
    input  wire         rst,      // synchronous, active high: the open range is forgotten

    input  wire [255:0] s_data,   // byte 0 in the lowest bits
    input  wire [4:0]   s_from,   // the range's first byte in its first beat; stays for its beats
    input  wire [5:0]   s_to,     // in the last beat: bytes below belong to it, 1..32
    input  wire         s_first,  // of the range
    input  wire         s_last,
    input  wire         s_valid,  // always taken

    output wire [255:0] m_data,   // above m_bytes: anything
    output wire [5:0]   m_bytes,  // 32, in the last beat 1..32
    output wire         m_last,   // of the range
    output wire         m_valid   // for one cycle
);

    // ---- a, b: turned by eights of bytes, by bytes

    reg [255:0] a_data, b_data;
    reg [4:0]   a_from, b_from;
    reg [5:0]   a_to, b_to;
    reg         a_first, a_last, b_first, b_last;
    reg         a_valid = 1'b0, b_valid = 1'b0;
    reg [31:0]  b_below;  // bytes that come from the beat before

    wire [511:0] twice  = {s_data, s_data};
    wire [319:0] a_more = {a_data[63:0], a_data};

    always @(posedge clk) begin
        a_data  <= twice[{1'b0, s_from[4:3], 6'd0} +: 256];
        a_from  <= s_from;
        a_to    <= s_to;
        a_first <= s_first;
        a_last  <= s_last;
        a_valid <= s_valid;

        b_data  <= a_more[{3'd0, a_from[2:0], 3'd0} +: 256];
        b_from  <= a_from;
        b_to    <= a_to;
        b_first <= a_first;
        b_last  <= a_last;
        b_valid <= a_valid;
        b_below <= 32'hffffffff >> a_from;

        if (rst) begin
            a_valid <= 1'b0;
            b_valid <= 1'b0;
        end
    end

    // ---- out: joined with what the beat before left over

    reg [255:0] over_reg;
    reg [5:0]   over_bytes_reg;
    reg         flush_reg = 1'b0;  // it is the range's last
    reg [255:0] out_reg;
    reg [5:0]   out_bytes_reg;
    reg         out_last_reg, out_valid_reg = 1'b0;

    // what the last beat leaves over, if that is more than none
    wire [6:0] reach = {1'b0, b_to} - {2'd0, b_from};
    wire       more  = b_first || (!reach[6] && |reach[5:0]);  // it is
    wire       ends  = b_last && !more;

    integer j;
    always @(posedge clk) begin
        if (b_valid) begin
            over_reg       <= b_data;
            over_bytes_reg <= reach[5:0];
        end
        flush_reg <= b_valid && b_last && more;

        for (j = 0; j < 32; j = j + 1) out_reg[8*j +: 8] <= flush_reg || b_below[j] ? over_reg[8*j +: 8] : b_data[8*j +: 8];
        out_bytes_reg <= flush_reg ? over_bytes_reg : ends ? reach[5:0] + 6'd32 : 6'd32;
        out_last_reg  <= flush_reg || ends;
        out_valid_reg <= flush_reg || (b_valid && !b_first);
        if (rst) begin
            flush_reg     <= 1'b0;
            out_valid_reg <= 1'b0;
        end
    end

    assign m_data  = out_reg;
    assign m_bytes = out_bytes_reg;
    assign m_last  = out_last_reg;
    assign m_valid = out_valid_reg;

endmodule

`resetall
