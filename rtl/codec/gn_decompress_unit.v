// SPDX-License-Identifier: Apache-2.0
// Turns a record, or a group of a quad, into eight values. Four stages and the logic of a fifth,
// whose result the next block registers. No enable: a group a cycle.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_decompress_unit #(
    parameter PROFILES = 7  // those built: bit 0 paper, bit 1 lattice, bit 2 dense
) (
    input  wire         clk,
    input  wire         rst,          // synchronous, active high

    // from gn_record_window
    input  wire [279:0] s_record,     // tag word and payloads; dense: a group's payload, behind its
                                      // quad's header when s_header
    input  wire [1:0]   s_profile,    // as gn_lane_decompress
    input  wire [7:0]   s_bound_exp,
    input  wire [4:0]   s_low_bytes,  // paper, lattice: payload bytes of lanes 0 to 3
    input  wire [3:0]   s_class,      // dense
    input  wire         s_header,     // dense: the payload begins with byte 2
    input  wire [2:0]   s_lanes,      // values of the group, 0 for eight
    input  wire         s_valid,
    input  wire         s_last,       // of its frame
    input  wire         s_error,      // the frame is bad

    // four cycles later
    output wire [255:0] m_values,
    output wire [2:0]   m_lanes,
    output wire         m_valid,
    output wire         m_last,
    output wire         m_error       // this group, or one before it in the frame, is bad
);

    localparam RECORDS = (PROFILES & 3) != 0;
    localparam DENSE   = (PROFILES & 4) != 0;

    // a record: its tag word, and what is behind it
    wire [15:0]  tag_word = s_record[15:0];
    wire [263:0] behind   = s_record[279:16];
    wire         unused_bits = &{1'b0, tag_word, behind};

    genvar i;

    // ---- what goes with the group

    reg [3:0] valid_reg = 4'd0, last_reg, error_reg;
    reg [2:0] lanes1_reg, lanes2_reg, lanes3_reg, lanes4_reg;
    reg [1:0] profile1_reg, profile2_reg;
    reg [7:0] bound1_reg, bound2_reg;

    always @(posedge clk) begin
        valid_reg    <= {valid_reg[2:0], s_valid};
        last_reg     <= {last_reg[2:0], s_last};
        lanes1_reg   <= s_lanes;
        lanes2_reg   <= lanes1_reg;
        lanes3_reg   <= lanes2_reg;
        lanes4_reg   <= lanes3_reg;
        profile1_reg <= s_profile;
        profile2_reg <= profile1_reg;
        bound1_reg   <= s_bound_exp;
        bound2_reg   <= bound1_reg;
        if (rst) valid_reg <= 4'd0;
    end

    // ---- records: the upper four lanes, then pairs of lanes, then lanes

    function [3:0] bytes(input [1:0] tag);
        bytes = {1'b0, tag == 2'd3, tag == 2'd2, tag == 2'd1};
    endfunction

    wire [255:0] record_payloads;
    reg  [15:0]  tags_reg;

    generate
        if (RECORDS) begin : g_records
            wire [255:0] payloads = behind[255:0];
            wire [255:0] shifted  = payloads >> {s_low_bytes, 3'd0};

            reg [255:0] quad_reg;  // 16 bytes each
            always @(posedge clk) begin
                quad_reg <= {shifted[127:0], payloads[127:0]};
                tags_reg <= tag_word;
            end

            // Where each lane's bytes begin in its quad is known before the quad is shifted: so
            // each is one choice. Bytes above a lane's own stay as they come.
            for (i = 0; i < 2; i = i + 1) begin : g_quad
                wire [5:0]   tags = tag_word[8*i +: 6];
                wire [127:0] quad = quad_reg[128*i +: 128];
                reg  [3:0]   lane2_at_reg, lane3_at_reg;
                wire [3:0]   lane2_at = bytes(tags[1:0]) + bytes(tags[3:2]);
                always @(posedge clk) begin
                    lane2_at_reg <= lane2_at;
                    lane3_at_reg <= lane2_at + bytes(tags[5:4]);
                end
                wire [127:0] from_lane2 = quad >> {lane2_at_reg, 3'd0};
                wire [127:0] from_lane3 = quad >> {lane3_at_reg, 3'd0};
                assign record_payloads[128*i +: 128] = {from_lane3[31:0], from_lane2[31:0], second(tags_reg[8*i +: 2], quad[63:0]), quad[31:0]};
                wire unused_above = &{1'b0, from_lane2, from_lane3};
            end
            wire unused_shifted = &{1'b0, shifted[255:128]};
        end else begin : g_no_records
            assign record_payloads = 256'd0;
            wire unused_low = &{1'b0, s_low_bytes};
            always @(posedge clk) tags_reg <= 16'd0;
        end
    endgenerate

    function [31:0] second(input [1:0] first_tag, input [63:0] pair);
        case (first_tag)
        2'd0: second = pair[31:0];
        2'd1: second = pair[39:8];
        2'd2: second = pair[47:16];
        2'd3: second = pair[63:32];
        endcase
    endfunction

    // ---- groups of quads

    wire [255:0] words;
    wire [7:0]   raw;

    generate
        if (DENSE) begin : g_dense
            gn_quad_unpack planes (
                .clk(clk), .s_payload(s_header ? behind : s_record[263:0]), .s_class(s_class),
                .m_words(words), .m_raw(raw));
        end else begin : g_no_dense
            assign words = 256'd0;
            assign raw   = 8'd0;
            wire unused_dense = &{1'b0, s_record, s_header, s_class};
        end
        if (DENSE && !RECORDS) begin : g_only_dense
            wire unused_functions = &{1'b0, tags_reg};
        end
    endgenerate

    // ---- lanes

    wire is_dense = DENSE && (!RECORDS || profile1_reg == 2'd2);

    reg [255:0] payload_reg;
    reg [15:0]  tag_reg;

    always @(posedge clk) payload_reg <= is_dense ? words : record_payloads;

    generate
        for (i = 0; i < 8; i = i + 1) begin : g_lane
            always @(posedge clk) tag_reg[2*i +: 2] <= is_dense ? {1'b1, raw[i]} : tags_reg[2*i +: 2];

            gn_lane_decompress #(.PROFILES(PROFILES)) lane (
                .clk(clk), .profile(profile2_reg), .bound_exp(bound2_reg),
                .tag(tag_reg[2*i +: 2]), .payload(payload_reg[32*i +: 32]), .value(m_values[32*i +: 32]));
        end
    endgenerate

    // ---- a lane that stands for nothing must be empty: tag 0, or for dense q = 0

    wire [7:0] missing = lanes2_reg == 3'd0 ? 8'd0 : 8'hff << lanes2_reg;
    reg  [7:0] filled, filled_reg;  // a lane that is missing
    reg        was_dense;
    integer    n;

    always @*
        for (n = 0; n < 8; n = n + 1)
            filled[n] = missing[n] && (was_dense ? tag_reg[2*n] || payload_reg[32*n +: 32] != 32'd0 : tag_reg[2*n +: 2] != 2'd0);

    // a bad group makes all that follow it in its frame bad
    reg bad_reg = 1'b0;
    wire bad = bad_reg || error_reg[3];

    always @(posedge clk) begin
        was_dense <= is_dense;
        filled_reg <= filled;
        error_reg <= {error_reg[2] || (last_reg[2] && |filled_reg), error_reg[1:0], s_error};
        if (valid_reg[3]) bad_reg <= bad && !last_reg[3];
        if (rst) bad_reg <= 1'b0;
    end

    assign m_lanes = last_reg[3] ? lanes4_reg : 3'd0;
    assign m_valid = valid_reg[3];
    assign m_last  = last_reg[3];
    assign m_error = bad;

endmodule

`resetall
