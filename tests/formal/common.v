// SPDX-License-Identifier: Apache-2.0
// What the proofs share.
`default_nettype none

// A word that is offered stays until it is taken, and is not there after a reset.
module stays #(
    parameter WIDTH = 1
) (
    input wire             clk,
    input wire             rst,
    input wire [WIDTH-1:0] data,
    input wire             valid,
    input wire             ready
);
    reg             held = 1'b0, was_rst = 1'b0;
    reg [WIDTH-1:0] was;
    always @(posedge clk) begin
        held    <= valid && !ready && !rst;
        was     <= data;
        was_rst <= rst;
    end
    always @* begin
        if (held) assert (valid && data == was);
        if (was_rst) assert (!valid);
    end
endmodule

// The order of words: one of them, any, is followed from the sink to the source.
module queue #(
    parameter WIDTH  = 1,
    parameter PLACES = 2
) (
    input wire             clk,
    input wire             rst,
    input wire [WIDTH-1:0] s_data,
    input wire [1:0]       s_count,
    input wire [WIDTH-1:0] s_second,
    input wire [WIDTH-1:0] m_data,
    input wire             m_valid,
    input wire             m_take,
    output reg [5:0]       count     // words inside
);
    initial count = 6'd0;
    reg              follows = 1'b0;   // one is followed
    reg  [5:0]       ahead;            // and has so many ahead
    reg  [WIDTH-1:0] followed;
    (* anyseq *) wire choose;          // follow the first that comes now
    (* anyseq *) wire choose_second;

    always @(posedge clk) begin
        count <= count + {4'd0, s_count} - {5'd0, m_take};
        if (!follows && choose && s_count != 2'd0 && !(choose_second && s_count != 2'd2)) begin
            follows  <= 1'b1;
            followed <= choose_second ? s_second : s_data;
            ahead    <= count - {5'd0, m_take} + {5'd0, choose_second};
        end else if (follows && m_take) begin
            follows <= ahead != 6'd0;
            ahead   <= ahead - 6'd1;
        end
        if (rst) begin
            count   <= 6'd0;
            follows <= 1'b0;
        end
    end
    always @* begin
        assert (count <= PLACES);
        if (m_valid) assert (count != 6'd0);
        if (follows && ahead == 6'd0 && m_valid) assert (m_data == followed);
        if (follows) assert (ahead < count);
    end
endmodule

// A word {last, bytes} stands for a beat: full, or a frame's last with at least a byte.
module beat (
    input wire       there,
    input wire [6:0] word
);
    always @* if (there) assert (word[5:0] >= 6'd1 && word[5:0] <= 6'd32 && (word[6] || word[5:0] == 6'd32));
endmodule

// tkeep of so many bytes.
module keeps (
    input wire [5:0]  bytes,
    input wire [31:0] keep
);
    always @* if (bytes <= 6'd32) assert ({1'b0, keep} == (33'd1 << bytes) - 33'd1);
endmodule

// Where something wants to move, it does so within so many cycles.
module moves #(
    parameter CYCLES = 1
) (
    input wire clk,
    input wire rst,
    input wire wants,
    input wire moves
);
    reg [7:0] waits = 8'd0;
    always @(posedge clk) waits <= rst || moves || !wants ? 8'd0 : waits + 8'd1;
    always @* assert (waits <= CYCLES);
endmodule

// A reset comes first; `on` from the cycle behind it.
module reset_first (
    input  wire clk,
    input  wire rst,
    output reg  on
);
    initial on = 1'b0;
    always @(posedge clk) on <= 1'b1;
    always @* assume (on || rst);
endmodule

`resetall
