// SPDX-License-Identifier: Apache-2.0
// Closes records of any number of bytes up to full beats (the paper's alignment unit). Each frame
// begins at byte 0, and its last beat is partial. A record a cycle while the FIFO behind has room.
// Only a record that gives three beats, at the end of a frame, takes two cycles. Latency 3.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_record_packer #(
    parameter RECORD_BYTES = 35  // of the longest record, 34 to 40. A record has up to 34, a piece
                                 // of dense 35, a piece of a frame with a shim 38
) (
    input  wire                      clk,
    input  wire                      rst,           // synchronous, active high

    // records
    input  wire [8*RECORD_BYTES-1:0] s_record,      // zero above its length
    input  wire [5:0]                s_length,      // bytes, 1..RECORD_BYTES
    input  wire                      s_last,        // of its frame
    input  wire                      s_valid,
    output wire                      s_ready,       // from registers

    // AXI4-Stream (source)
    output wire [255:0]              m_axis_tdata,
    output wire [31:0]               m_axis_tkeep,
    output wire                      m_axis_tlast,
    output wire                      m_axis_tvalid,
    input  wire                      m_axis_tready
);

    localparam FINE_BYTES  = RECORD_BYTES + 7;   // shifted by 0..7 bytes
    localparam MOST_BYTES  = RECORD_BYTES + 31;  // shifted by 0..31: up to 71, three beats
    localparam CARRY_BYTES = MOST_BYTES - 32;    // what is left behind one full beat

    // ---- where the record goes, and how many beats it completes

    reg [4:0] offset_reg = 5'd0;  // bytes of the open beat
    reg       pause_reg  = 1'b0;  // a third beat follows

    wire [6:0] end_ = {2'd0, offset_reg} + {1'b0, s_length};
    wire       part = |end_[4:0];
    wire [1:0] beats = end_[6:5] + {1'b0, s_last && part};

    wire room, unused_idle;
    assign s_ready = room && !pause_reg;
    wire take = s_valid && s_ready;

    gn_credit_counter #(.CREDITS(17), .MOST(3), .LATE(1)) credits (
        .clk(clk), .rst(rst), .ok(room), .idle(unused_idle), .take(take ? {1'b0, beats} : 3'd0),
        .give({2'd0, m_axis_tvalid && m_axis_tready}));

    always @(posedge clk) begin
        if (take) begin
            offset_reg <= s_last ? 5'd0 : end_[4:0];
            pause_reg  <= beats == 2'd3;
        end else begin
            pause_reg <= 1'b0;
        end
        if (rst) begin
            offset_reg <= 5'd0;
            pause_reg  <= 1'b0;
        end
    end

    // ---- first stage: shift by bytes; second stage: by eights of bytes

    reg [8*FINE_BYTES-1:0] a_data;
    reg [1:0]              a_shift, a_beats;
    reg [5:0]              a_tail;   // bytes of the frame's last beat
    reg                    a_last, a_valid = 1'b0;

    // The second stage says at once what the third has to do, and what is not there is zero. Only
    // the end of a frame has a third beat. It is given when there is nothing else: pause_reg sees
    // to that.
    reg [8*MOST_BYTES-1:0] b_data = {8*MOST_BYTES{1'b0}};
    reg [1:0]              b_count = 2'd0;                       // beats to give: 0..2
    reg                    b_first_last = 1'b0, b_second_last = 1'b0;
    reg                    b_third = 1'b0;                       // one more in the next cycle
    reg [5:0]              b_tail;

    always @(posedge clk) begin
        a_data  <= {56'd0, s_record} << {offset_reg[2:0], 3'd0};
        a_shift <= offset_reg[4:3];
        a_beats <= beats;
        a_tail  <= {!part, end_[4:0]};
        a_last  <= s_last;
        a_valid <= take;

        b_data <= {192'd0, a_data} << {a_shift, 6'd0};
        if (!a_valid || rst) b_data <= {8*MOST_BYTES{1'b0}};
        b_count       <= a_valid ? {a_beats[1], a_beats == 2'd1} : {1'b0, b_third};
        b_first_last  <= a_valid ? a_last && a_beats == 2'd1 : b_third;
        b_second_last <= a_valid && a_last && a_beats == 2'd2;
        b_third       <= a_valid && a_beats == 2'd3;
        if (a_valid) b_tail <= a_tail;

        if (rst) begin
            a_valid       <= 1'b0;
            b_count       <= 2'd0;
            b_first_last  <= 1'b0;
            b_second_last <= 1'b0;
            b_third       <= 1'b0;
        end
    end

    // ---- third stage: join with what is there, give up to two beats

    reg  [8*CARRY_BYTES-1:0] carry_reg = {8*CARRY_BYTES{1'b0}};  // zero above what is there
    wire [8*MOST_BYTES-1:0]  joined = b_data | {256'd0, carry_reg};

    always @(posedge clk) begin
        case (b_count)
        2'd0:    carry_reg <= joined[8*CARRY_BYTES-1:0];
        2'd1:    carry_reg <= joined[8*MOST_BYTES-1:256];
        default: carry_reg <= {256'd0, joined[8*MOST_BYTES-1:512]};
        endcase
        if (b_first_last || b_second_last || rst) carry_reg <= {8*CARRY_BYTES{1'b0}};
    end

    wire [5:0] m_bytes;

    gn_pair_fifo #(.WIDTH(263), .LOG2(4)) fifo (
        .clk(clk), .rst(rst),
        .s_count(b_count),
        .s_first({b_first_last, b_first_last ? b_tail : 6'd32, joined[255:0]}),
        .s_second({b_second_last, b_second_last ? b_tail : 6'd32, joined[511:256]}),
        .m_data({m_axis_tlast, m_bytes, m_axis_tdata}), .m_valid(m_axis_tvalid), .m_ready(m_axis_tready));

    assign m_axis_tkeep = ~(32'hffffffff << m_bytes);

    generate
        if (RECORD_BYTES < 34 || RECORD_BYTES > 40) begin : g_check
            RECORD_BYTES_must_be_34_to_40 error();
        end
    endgenerate

endmodule

`resetall
