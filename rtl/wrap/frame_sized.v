// SPDX-License-Identifier: Apache-2.0
// Keeps each frame until its end has come, and then says its length beside every beat. What goes
// with the frame goes along.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module frame_sized #(
    parameter DATA_WIDTH = 512,
    parameter LOG2       = 9,   // 2^LOG2 beats: the longest frame, and no longer one may come
    parameter SIDE_WIDTH = 1    // bits that go with a frame
) (
    input  wire                    clk,
    input  wire                    rst,            // synchronous, active high

    input  wire [DATA_WIDTH-1:0]   s_axis_tdata,
    input  wire [DATA_WIDTH/8-1:0] s_axis_tkeep,   // all ones except in the last beat, which keeps some
    input  wire                    s_axis_tlast,
    input  wire [SIDE_WIDTH-1:0]   s_axis_side,    // in the last beat
    input  wire                    s_axis_tvalid,
    output wire                    s_axis_tready,

    output wire [DATA_WIDTH-1:0]   m_axis_tdata,
    output wire [DATA_WIDTH/8-1:0] m_axis_tkeep,
    output wire                    m_axis_tlast,
    output wire [SIDE_WIDTH-1:0]   m_axis_side,    // in all beats
    output wire [15:0]             m_axis_length,  // bytes of the frame, in all beats
    output wire                    m_axis_tvalid,
    input  wire                    m_axis_tready
);

    localparam BYTES = DATA_WIDTH / 8;
    localparam WORD  = DATA_WIDTH + BYTES + 1;
    localparam [LOG2:0] FULL = {1'b1, {LOG2{1'b0}}};

    // ---- frames come in

    reg [LOG2:0] write_reg = 0, whole_reg = 0, read_reg = 0, freed_reg = 0;  // places in the ring
    reg          room_reg = 1'b0;
    reg [15:0]   bytes_reg = 16'd0;  // of the frame, before this beat
    wire         lengths_ok;

    assign s_axis_tready = room_reg && lengths_ok;
    wire take = s_axis_tvalid && s_axis_tready;

    reg [15:0] kept;  // bytes of this beat
    integer i;
    always @* begin
        kept = 16'd0;
        for (i = 0; i < BYTES; i = i + 1) kept = kept + {15'd0, s_axis_tkeep[i]};
    end

    reg        end_reg = 1'b0;  // the frame's end has come a cycle ago
    reg [15:0] length_reg;
    reg [SIDE_WIDTH-1:0] side_reg;

    wire [LOG2:0] held = write_reg - freed_reg;
    always @(posedge clk) begin
        write_reg  <= write_reg + {{LOG2{1'b0}}, take};
        room_reg   <= held != FULL && !(take && held == FULL - 1'b1);
        end_reg    <= take && s_axis_tlast;
        length_reg <= bytes_reg + kept;
        side_reg   <= s_axis_side;
        if (take) bytes_reg <= s_axis_tlast ? 16'd0 : bytes_reg + kept;
        if (end_reg) whole_reg <= write_reg;
        if (rst) begin
            write_reg <= 0;
            whole_reg <= 0;
            room_reg  <= 1'b0;
            bytes_reg <= 16'd0;
            end_reg   <= 1'b0;
        end
    end

    // ---- and leave. Beats are read ahead into a FIFO that has room for them

    wire [WORD-1:0] read_word;
    wire            read_ok, unused_idle, unused_lengths_idle, unused_length_valid;
    wire            read = read_ok && read_reg != whole_reg;
    reg  [1:0]      coming_reg = 2'b00;

    block_ram #(.WIDTH(WORD), .LOG2(LOG2)) ring (
        .clk(clk), .write(take), .write_address(write_reg[LOG2-1:0]), .write_data({s_axis_tlast, s_axis_tkeep, s_axis_tdata}),
        .read_address(read_reg[LOG2-1:0]), .read_data(read_word));

    wire m_taken = m_axis_tvalid && m_axis_tready;
    credit_counter #(.CREDITS(5), .MOST(1)) places (
        .clk(clk), .rst(rst), .ok(read_ok), .idle(unused_idle), .take({2'd0, read}), .give({2'd0, m_taken}));
    credit_fifo #(.WIDTH(WORD), .LOG2(2)) out (
        .clk(clk), .rst(rst), .s_data(read_word), .s_valid(coming_reg[1]),
        .m_data({m_axis_tlast, m_axis_tkeep, m_axis_tdata}), .m_valid(m_axis_tvalid), .m_ready(m_axis_tready));

    credit_counter #(.CREDITS(33), .MOST(1)) length_places (
        .clk(clk), .rst(rst), .ok(lengths_ok), .idle(unused_lengths_idle), .take({2'd0, take && s_axis_tlast}),
        .give({2'd0, m_taken && m_axis_tlast}));
    credit_fifo #(.WIDTH(SIDE_WIDTH + 16), .LOG2(5)) lengths (
        .clk(clk), .rst(rst), .s_data({side_reg, length_reg}), .s_valid(end_reg),
        .m_data({m_axis_side, m_axis_length}), .m_valid(unused_length_valid), .m_ready(m_taken && m_axis_tlast));

    always @(posedge clk) begin
        read_reg   <= read_reg + {{LOG2{1'b0}}, read};
        coming_reg <= {coming_reg[0], read};
        freed_reg  <= freed_reg + {{LOG2{1'b0}}, coming_reg[1]};
        if (rst) begin
            read_reg   <= 0;
            freed_reg  <= 0;
            coming_reg <= 2'b00;
        end
    end

endmodule

`resetall
