// SPDX-License-Identifier: Apache-2.0
// The last decision about a frame on its way to the wire: compressed or stored. It is made when all
// that was asked for is there, and makes the shim and the job for gn_frame_assemble.
// A frame every second cycle, because the counters take as long for its event.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_tx_job #(
    parameter LOG2 = 10  // gn_frame_store and gn_result_store have 2^LOG2 beats
) (
    input  wire            clk,
    input  wire            rst,              // synchronous, active high

    // a frame that waits: where it is, as gn_frame_parse and gn_frame_store say. One that is gone
    // passes, has no length, and is not told to the counters
    input  wire            s_gone,
    input  wire [LOG2-1:0] s_first,
    input  wire [16:0]     s_length,
    input  wire [16:0]     s_end,
    input  wire [7:0]      s_payload,
    input  wire [6:0]      s_l4,
    input  wire            s_tagged,
    input  wire            s_six,
    input  wire            s_tcp,
    // and what gn_tx_judge says of it
    input  wire [3:0]      s_kind,
    input  wire [3:0]      s_rule,
    input  wire [1:0]      s_profile,
    input  wire [7:0]      s_bound_exp,
    input  wire [16:0]     s_bytes,
    input  wire [7:0]      s_head,
    input  wire [14:0]     s_values,
    input  wire [16:0]     s_stop,
    input  wire            s_valid,
    output wire            s_ready,
    // its sums, unless it passes
    input  wire [15:0]     sums_lead,
    input  wire [15:0]     sums_rest,
    input  wire [15:0]     sums_tail,
    input  wire            sums_valid,
    output wire            sums_ready,
    // what the engine made, if it was to be compressed
    input  wire [LOG2-1:0] result_first,
    input  wire [16:0]     result_bytes,
    input  wire            result_kept,
    input  wire [15:0]     result_sum,
    input  wire            result_valid,
    output wire            result_ready,

    // what leaves, as gn_frame_assemble takes it
    output wire            m_drop,
    output wire [LOG2-1:0] m_first,
    output wire [16:0]     m_length,
    output wire [16:0]     m_end,
    output wire [7:0]      m_payload,
    output wire [6:0]      m_l4,
    output wire            m_tagged,
    output wire            m_six,
    output wire            m_tcp,
    output wire            m_pass,
    output wire [63:0]     m_shim,
    output wire [16:0]     m_bytes,
    output wire [LOG2-1:0] m_result_first,
    output wire [16:0]     m_result_bytes,
    output wire [16:0]     m_tail,
    output wire [1:0]      m_tail_bytes,
    output wire [15:0]     m_sum_lead,
    output wire [15:0]     m_sum_result,
    output wire [15:0]     m_sum_tail,
    output wire            m_valid,
    input  wire            m_ready,

    // as gn_nic_tx says
    output wire            event_valid,
    output wire [3:0]      event_kind,
    output wire [16:0]     event_length,
    output wire [3:0]      event_rule,
    output wire [14:0]     event_values,
    output wire [16:0]     event_payload_bytes,
    output wire [16:0]     event_wire_bytes
);

    `include "shim.vh"

    // what goes through unchanged
    localparam ALONG_WIDTH = LOG2 + 53;
    wire [ALONG_WIDTH-1:0] s_along = {s_gone, s_first, s_length, s_end, s_payload, s_l4, s_tagged, s_six, s_tcp};

    // ---- a: compressed or stored

    wire pass     = s_kind[3:2] != 2'd0;  // 4 and above
    wire tried    = s_kind == 4'd0;
    wire complete = s_valid && (pass || sums_valid) && (!tried || result_valid);
    wire a_ready;
    // A cycle after it is known that all is there, and room: many registers load by it. So a frame
    // every second cycle is taken.
    reg  take     = 1'b0;

    assign s_ready      = take;
    assign sums_ready   = s_ready && !pass;
    assign result_ready = s_ready && tried;

    reg [ALONG_WIDTH-1:0] a_along;
    reg                   a_pass, a_compressed;
    reg [3:0]             a_kind, a_rule;
    reg [1:0]             a_profile;
    reg [7:0]             a_bound_exp, a_head;
    reg [16:0]            a_length, a_bytes, a_result_bytes, a_tail;
    reg [1:0]             a_tail_bytes;
    reg [14:0]            a_values;
    reg [LOG2-1:0]        a_result_first;
    reg [15:0]            a_lead, a_rest, a_sum_tail, a_sum_result;
    reg                   a_valid = 1'b0;

    always @(posedge clk) begin
        if (a_ready) begin
            a_along        <= s_along;
            a_pass         <= pass;
            a_compressed   <= tried && result_kept;
            a_kind         <= tried && !result_kept ? 4'd1 : s_kind;
            a_rule         <= s_rule;
            a_profile      <= s_profile;
            a_bound_exp    <= s_bound_exp;
            a_head         <= s_head;
            a_length       <= s_length;
            a_bytes        <= s_bytes;
            a_tail         <= s_stop;
            a_tail_bytes   <= s_end[1:0] - s_stop[1:0];  // up to 3
            a_values       <= s_values;
            a_result_first <= result_first;
            a_result_bytes <= result_bytes;
            a_lead         <= sums_lead;
            a_rest         <= sums_rest;
            a_sum_tail     <= sums_tail;
            a_sum_result   <= result_sum;
            a_valid        <= take;
        end
        take <= complete && a_ready && !take;
        if (rst) begin
            a_valid <= 1'b0;
            take    <= 1'b0;
        end
    end

    // ---- b: the shim, the sum of what stays, the event

    wire [3:0]  kind  = {2'd0, a_compressed ? a_profile + 2'd1 : 2'd0};
    wire [7:0]  bound = a_compressed ? a_bound_exp : 8'd0;
    wire [7:0]  head  = a_compressed ? a_head : 8'd0;
    wire [55:0] shim  = {head, a_bytes[7:0], a_bytes[15:8], bound, SHIM_VERSION, kind, SHIM_MAGIC};
    wire [7:0]  check;
    wire [16:0] all   = {1'b0, a_lead} + {1'b0, a_compressed ? 16'd0 : a_rest};

    gn_shim_check crc (.shim(shim), .check(check));

    reg [ALONG_WIDTH-1:0] b_along;
    reg                   b_pass;
    reg [63:0]            b_shim;
    reg [16:0]            b_bytes, b_result_bytes, b_tail;
    reg [1:0]             b_tail_bytes;
    reg [LOG2-1:0]        b_result_first;
    reg [15:0]            b_lead, b_sum_result, b_sum_tail;
    reg                   b_valid = 1'b0;

    reg                   event_valid_reg = 1'b0;
    reg [3:0]             event_kind_reg, event_rule_reg;
    reg [16:0]            event_length_reg, event_payload_reg, event_wire_reg;
    reg [14:0]            event_values_reg;

    wire b_ready = !b_valid || m_ready;
    assign a_ready = !a_valid || b_ready;

    always @(posedge clk) begin
        if (b_ready) begin
            b_along        <= a_along;
            b_pass         <= a_pass;
            b_shim         <= {check, shim};
            b_bytes        <= a_compressed ? {9'd0, a_head} : a_bytes;
            b_result_first <= a_result_first;
            b_result_bytes <= a_compressed ? a_result_bytes : 17'd0;
            b_tail         <= a_tail;
            b_tail_bytes   <= a_compressed ? a_tail_bytes : 2'd0;
            b_lead         <= all[15:0] + {15'd0, all[16]};
            b_sum_result   <= a_compressed ? a_sum_result : 16'd0;
            b_sum_tail     <= a_compressed ? a_sum_tail : 16'd0;
            b_valid        <= a_valid;
        end
        event_valid_reg   <= a_valid && b_ready && !a_along[ALONG_WIDTH-1] && !rst;
        event_kind_reg    <= a_kind;
        event_rule_reg    <= a_rule;
        event_length_reg  <= a_length;
        event_values_reg  <= a_compressed ? a_values : 15'd0;
        event_payload_reg <= a_bytes;
        event_wire_reg    <= a_compressed ? a_result_bytes + {9'd0, a_head} + {13'd0, 2'b10, a_tail_bytes} : a_bytes + 17'd8;
        if (rst) b_valid <= 1'b0;
    end

    assign {m_drop, m_first, m_length, m_end, m_payload, m_l4, m_tagged, m_six, m_tcp} = b_along;

    assign m_pass         = b_pass;
    assign m_shim         = b_shim;
    assign m_bytes        = b_bytes;
    assign m_result_first = b_result_first;
    assign m_result_bytes = b_result_bytes;
    assign m_tail         = b_tail;
    assign m_tail_bytes   = b_tail_bytes;
    assign m_sum_lead     = b_lead;
    assign m_sum_result   = b_sum_result;
    assign m_sum_tail     = b_sum_tail;
    assign m_valid        = b_valid;

    assign event_valid         = event_valid_reg;
    assign event_kind          = event_kind_reg;
    assign event_length        = event_length_reg;
    assign event_rule          = event_rule_reg;
    assign event_values        = event_values_reg;
    assign event_payload_bytes = event_payload_reg;
    assign event_wire_bytes    = event_wire_reg;

endmodule

`resetall
