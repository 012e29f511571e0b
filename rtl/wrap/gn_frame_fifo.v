// SPDX-License-Identifier: Apache-2.0
// A ring of a stream's beats. With WHOLE it gives a frame once all of it is there, without a gap.
// One that is longer than the ring it gives as it comes, once the ring is full.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_frame_fifo #(
    parameter WIDTH = 600,  // bits of a beat, whatever they are
    parameter LOG2  = 9,    // 2^LOG2 beats
    parameter WHOLE = 0
) (
    input  wire             clk,
    input  wire             rst,     // synchronous, active high

    input  wire [WIDTH-1:0] s_data,
    input  wire             s_last,
    input  wire             s_valid,
    output wire             s_ready, // from a register

    output wire [WIDTH-1:0] m_data,
    output wire             m_last,
    output wire             m_valid, // from a register
    input  wire             m_ready,

    output wire [LOG2:0]    level    // from a register: beats in the ring, some cycles late
);

    localparam [LOG2:0] FULL = {1'b1, {LOG2{1'b0}}};

    // ---- beats come in

    reg [LOG2:0] write_reg = 0, whole_reg = 0, read_reg = 0, freed_reg = 0;  // places in the ring
    reg [LOG2:0] level_reg = 0;
    reg          room_reg  = 1'b0;

    wire          take = s_valid && s_ready;
    wire [LOG2:0] held = write_reg - freed_reg;
    assign s_ready = room_reg;
    assign level   = level_reg;

    always @(posedge clk) begin
        write_reg <= write_reg + {{LOG2{1'b0}}, take};
        if (take && s_last) whole_reg <= write_reg + 1'b1;
        room_reg  <= held != FULL && !(take && held == FULL - 1'b1);
        level_reg <= held;
        if (rst) begin
            write_reg <= 0;
            whole_reg <= 0;
            room_reg  <= 1'b0;
            level_reg <= 0;
        end
    end

    // ---- and leave. Beats are read ahead into a FIFO that has room for them

    wire [WIDTH:0] read_word;
    wire           read_ok, unused_idle;
    reg            open_reg   = 1'b0;  // the oldest frame fills the ring: what is there may go
    reg  [1:0]     coming_reg = 2'b00;
    wire [LOG2:0]  limit = WHOLE == 0 || open_reg ? write_reg : whole_reg;
    wire           read  = read_ok && read_reg != limit;

    gn_block_ram #(.WIDTH(WIDTH + 1), .LOG2(LOG2)) ring (
        .clk(clk), .write(take), .write_address(write_reg[LOG2-1:0]), .write_data({s_last, s_data}),
        .read_address(read_reg[LOG2-1:0]), .read_data(read_word));
    gn_credit_counter #(.CREDITS(5), .MOST(1)) places (
        .clk(clk), .rst(rst), .ok(read_ok), .idle(unused_idle), .take({2'd0, read}), .give({2'd0, m_valid && m_ready}));
    gn_credit_fifo #(.WIDTH(WIDTH + 1), .LOG2(2)) out (
        .clk(clk), .rst(rst), .s_data(read_word), .s_valid(coming_reg[1]), .m_data({m_last, m_data}), .m_valid(m_valid),
        .m_ready(m_ready));

    always @(posedge clk) begin
        if (take && s_last)
            open_reg <= 1'b0;
        else if (held == FULL && read_reg == whole_reg)
            open_reg <= 1'b1;
        read_reg   <= read_reg + {{LOG2{1'b0}}, read};
        coming_reg <= {coming_reg[0], read};
        freed_reg  <= freed_reg + {{LOG2{1'b0}}, coming_reg[1]};
        if (rst) begin
            open_reg   <= 1'b0;
            read_reg   <= 0;
            freed_reg  <= 0;
            coming_reg <= 2'b00;
        end
    end

endmodule

`resetall
