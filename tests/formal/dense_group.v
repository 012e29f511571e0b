// SPDX-License-Identifier: Apache-2.0
// gn_quad_pack and gn_quad_unpack. Any group of eight integers or raw words, alone in a frame,
// comes out as one piece, in time, with its class's length, and gives its words back. A group of
// zeros is a run. Complete: nothing is inside except this group.
// method: bmc 16
// seconds: 15
// sources: lib/gn_credit_counter.v lib/gn_credit_fifo.v codec/gn_quad_unpack.v
// sources: codec/gn_group_class.v codec/gn_quad_pack.v
// mutant: codec/gn_group_class.v s/length <= 4'd9\) /length <= 4'd10) /
// mutant: codec/gn_group_class.v s/negative = negative \|/negative =/
`default_nettype none
module proof (
    input wire clk
);
    (* anyconst *) wire [127:0] q;    // int16 each, not -32768
    (* anyconst *) wire [255:0] raws;
    (* anyconst *) wire [7:0]   raw;
    wire [255:0] words;
    wire [15:0]  tags;
    genvar i;
    generate
        for (i = 0; i < 8; i = i + 1) begin : g_lane
            assign words[32*i +: 32] = raw[i] ? raws[32*i +: 32] : {{16{q[16*i + 15]}}, q[16*i +: 16]};
            assign tags[2*i +: 2]    = {raw[i] || q[16*i], raw[i]};
            always @* assume (q[16*i +: 16] != 16'h8000);
        end
    endgenerate

    reg [4:0] cycle = 5'd0;
    always @(posedge clk) if (cycle != 5'd31) cycle <= cycle + 5'd1;

    wire [279:0] piece;
    wire [5:0]   length;
    wire         last, valid;
    wire [2:0]   released;
    gn_quad_pack pack (
        .clk(clk), .rst(1'b0), .s_tags(tags), .s_words(words), .s_valid(cycle == 5'd0), .s_last(1'b1), .s_released(released),
        .m_piece(piece), .m_length(length), .m_last(last), .m_valid(valid), .m_ready(1'b1));

    wire [255:0] back;
    wire [7:0]   raw_back;
    gn_quad_unpack unpack (.clk(clk), .s_payload(piece[279:16]), .s_class(piece[3:0]), .m_words(back), .m_raw(raw_back));

    reg       came = 1'b0, was_zero;
    reg [1:0] pieces = 2'd0;
    reg [5:0] bytes;
    always @* bytes = piece[3:0] == 4'd15 ? 6'd33 : piece[3:0] == 4'd14 ? 6'd16 : piece[3:0] == 4'd13 ? 6'd12 : piece[3:0] == 4'd12 ? 6'd10 :
                      piece[3:0] >= 4'd9 ? {2'd0, piece[3:0]} - 6'd8 : {2'd0, piece[3:0]};

    wire zero = raw == 8'd0 && q == 128'd0;
    always @(posedge clk) begin
        came     <= valid;
        was_zero <= zero;
        if (valid) pieces <= pieces + 2'd1;
    end
    always @* begin
        if (valid) begin
            assert (last && pieces == 2'd0);
            assert (piece[15:4] == 12'd0);
            assert (zero ? piece == 280'd0 && length == 6'd3 : length == bytes + 6'd2 && piece[3:0] != 4'd0);
            assert (zero || (piece[3:0] == 4'd15) == (raw != 8'd0));
            assert (piece >> {length, 3'd0} == 280'd0);
        end
        if (came && !was_zero) assert (back == words && raw_back == raw);
        if (cycle >= 5'd14) assert (pieces == 2'd1);
    end
endmodule

`resetall
