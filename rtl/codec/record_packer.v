// SPDX-License-Identifier: Apache-2.0
// Records of any number of bytes to full beats, each frame's from byte 0; the last beat of a frame is partial (the paper's
// alignment unit). A record a cycle while the FIFO behind has room; only one that gives three beats, at the end of a frame, takes
// two. Latency 3.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module record_packer #(
    parameter RECORD_BYTES = 35  // bytes of the longest record, 34 to 40: 34, with profile dense 35, a piece of a frame and a shim 38
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

    credit_counter #(.CREDITS(17), .MOST(3), .LATE(1)) credits (
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

    reg [8*MOST_BYTES-1:0] b_data;
    reg [1:0]              b_beats;
    reg [5:0]              b_tail;
    reg                    b_last, b_valid = 1'b0;

    always @(posedge clk) begin
        a_data  <= {56'd0, s_record} << {offset_reg[2:0], 3'd0};
        a_shift <= offset_reg[4:3];
        a_beats <= beats;
        a_tail  <= {!part, end_[4:0]};
        a_last  <= s_last;
        a_valid <= take;

        b_data  <= {192'd0, a_data} << {a_shift, 6'd0};
        b_beats <= a_beats;
        b_tail  <= a_tail;
        b_last  <= a_last;
        b_valid <= a_valid;

        if (rst) begin
            a_valid <= 1'b0;
            b_valid <= 1'b0;
        end
    end

    // ---- third stage: join with what is there, give up to two beats

    reg [8*CARRY_BYTES-1:0] carry_reg;         // zero above what is there
    reg                     third_reg = 1'b0;  // the last record of a frame has a third beat
    reg [5:0]               third_tail_reg;

    wire [8*MOST_BYTES-1:0] joined = (b_valid ? b_data : {8*MOST_BYTES{1'b0}}) | {256'd0, carry_reg};
    wire [1:0]              count  = b_valid ? b_beats : {1'b0, third_reg};
    wire                    first_last  = (b_valid ? b_last : third_reg) && count == 2'd1;
    wire                    second_last = b_last && count == 2'd2;
    wire [5:0]              tail        = b_valid ? b_tail : third_tail_reg;

    always @(posedge clk) begin
        if (first_last || second_last)
            carry_reg <= {8*CARRY_BYTES{1'b0}};
        else if (count[1])
            carry_reg <= {256'd0, joined[8*MOST_BYTES-1:512]};
        else if (count[0])
            carry_reg <= joined[8*MOST_BYTES-1:256];
        else if (b_valid)
            carry_reg <= joined[8*CARRY_BYTES-1:0];
        third_reg      <= b_valid && b_beats == 2'd3;
        third_tail_reg <= b_tail;
        if (rst) begin
            carry_reg <= {8*CARRY_BYTES{1'b0}};
            third_reg <= 1'b0;
        end
    end

    wire [5:0] m_bytes;

    pair_fifo #(.WIDTH(263), .LOG2(4)) fifo (
        .clk(clk), .rst(rst),
        .s_count(count[1] ? 2'd2 : count),
        .s_first({first_last, first_last ? tail : 6'd32, joined[255:0]}),
        .s_second({second_last, second_last ? tail : 6'd32, joined[511:256]}),
        .m_data({m_axis_tlast, m_bytes, m_axis_tdata}), .m_valid(m_axis_tvalid), .m_ready(m_axis_tready));

    genvar i;
    generate
        for (i = 0; i < 32; i = i + 1) begin : g_keep
            assign m_axis_tkeep[i] = m_bytes > i;
        end
        if (RECORD_BYTES < 34 || RECORD_BYTES > 40) begin : g_check
            RECORD_BYTES_must_be_34_to_40 error();
        end
    endgenerate

endmodule

`resetall
