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

// A packet, as gn_frame_parse tells of it (code 0): where the payload begins and the packet ends,
// and the length of its frame.
module packet_fields (
    input  wire [7:0]  payload,
    input  wire [16:0] ends,
    input  wire [16:0] length,
    output wire        ok
);
    assign ok = payload >= 8'd42 && payload <= 8'd138 && payload[1:0] == 2'd2 && {9'd0, payload} < ends && ends <= length;
endmodule

// A job, as gn_frame_assemble asks for it: the proofs rx_job and gn_tx_job show it, that of
// gn_frame_assemble assumes it.
module job_fields #(
    parameter [16:0] MOST = 17'd65536  // bytes that gn_frame_store and gn_result_store hold
) (
    input  wire        drop,
    input  wire        pass,
    input  wire [16:0] length,
    input  wire [7:0]  payload,
    input  wire [16:0] from,
    input  wire [16:0] bytes,
    input  wire [16:0] result_bytes,
    input  wire [16:0] tail,
    input  wire [1:0]  tail_bytes,
    output wire        ok
);
    assign ok = (drop || length >= 17'd1) && length <= MOST && result_bytes <= MOST &&
                (drop || pass || (payload >= 8'd42 && payload[1:0] == 2'd2 && {9'd0, payload} <= length &&
                                  {1'b0, from} + {1'b0, bytes} <= {1'b0, length} && {1'b0, tail} + {16'd0, tail_bytes} <= {1'b0, length}));
endmodule

// What gn_tx_judge says of a frame to be sent. The rest of the frame is known.
module tx_fields (
    input  wire [3:0]  kind,
    input  wire [16:0] bytes,
    input  wire [7:0]  head,
    input  wire [14:0] values,
    input  wire [16:0] start,
    input  wire [16:0] stop,
    input  wire [7:0]  payload,
    input  wire [16:0] ends,
    input  wire [16:0] length,
    output wire        ok
);
    wire packet;
    packet_fields is_packet (.payload(payload), .ends(ends), .length(length), .ok(packet));
    assign ok = kind <= 4'd11 && (kind[3:2] != 2'd0 || (packet && bytes == ends - {9'd0, payload})) &&
                (kind == 4'd0 ? values != 15'd0 && start == {9'd0, payload} + {9'd0, head} && {1'b0, stop} == {1'b0, start} + {1'b0, values, 2'd0} &&
                                stop <= ends && ends - stop <= 17'd3
                              : values == 15'd0 && start == ends && stop == ends);
endmodule

// What gn_rx_judge says of a received frame. The rest of the frame is known.
module rx_fields #(
    parameter [16:0] MOST = 17'd32768
) (
    input  wire [4:0]  outcome,
    input  wire        engine,
    input  wire [16:0] from,
    input  wire [16:0] start,
    input  wire [16:0] stop,
    input  wire [15:0] bytes,
    input  wire [7:0]  payload,
    input  wire [16:0] ends,
    input  wire [16:0] length,
    output wire        ok
);
    wire packet;
    packet_fields is_packet (.payload(payload), .ends(ends), .length(length), .ok(packet));
    wire restored = outcome[4:2] == 3'd1;
    assign ok = (restored || (!engine && (outcome == 5'd2 || outcome == 5'd3 || (outcome >= 5'd11 && outcome <= 5'd17) || outcome == 5'd20))) &&
                (!restored || (packet && from == {9'd0, payload} + 17'd8 && bytes != 16'd0 && {1'b0, bytes} + {9'd0, payload} <= MOST)) &&
                (!restored || (engine ? from <= start && start - from <= 17'd255 && start < stop && stop <= ends && ends - stop <= 17'd3
                                      : start == ends && stop == ends && {1'b0, from} + {2'd0, bytes} == {1'b0, ends}));
endmodule

// A judged frame begins to wait only when nothing hinders it, and room is reserved for exactly
// those that begin: as its neighbours promise, what reads frames is ready until it gets one
// (gn_frame_feed), and a store that says so has reserved in the next cycle (gn_result_store).
module begins (
    input wire clk,
    input wire rst,
    input wire go,
    input wire j_valid,
    input wire j_read,
    input wire j_engine,
    input wire may_wait,
    input wire feed_ready,
    input wire reserve_valid,
    input wire reserve_soon,
    input wire reserve_ready
);
    reg could = 1'b0, soon = 1'b0, asked = 1'b0, stays = 1'b0, read, engine;
    always @(posedge clk) begin
        stays <= j_valid && !go && !rst;
        {read, engine} <= {j_read, j_engine};
        could <= feed_ready && !(go && j_read) && !rst;
        soon  <= reserve_soon && !rst;
        asked <= reserve_valid && !reserve_ready && !rst;
    end
    always @* begin
        if (stays) assume (j_read == read && j_engine == engine);  // as gn_credit_fifo's words do
        assume (!could || feed_ready);
        assume (reserve_ready == soon);
        assume (!reserve_soon || (reserve_valid && !reserve_ready));
        assert (!go || (j_valid && may_wait));
        assert (!(go && j_read) || feed_ready);
        assert (reserve_ready == (go && j_engine));
        assert (!asked || reserve_valid);
    end
endmodule

// What gn_nic_rx and gn_nic_tx are to do with frames that wait, whatever the blocks around do: said
// once, for the proofs of both.
module waiting_frames #(
    parameter [5:0] JUDGED = 6'd9  // places for frames that are judged, or with the judge
) (
    input wire        clk,
    input wire        rst,
    input wire        judge_begins,
    input wire        judge_ends,
    input wire        go,        // a judged frame begins to wait,
    input wire        j_read,    // to be read for its sums,
    input wire        j_engine,  // to be made by the engine
    input wire        w_valid,   // the frame that waits longest, and it leaves
    input wire        w_ready,
    input wire        w_read,
    input wire        w_engine,
    input wire        f_valid,   // sums come
    input wire        sums_there,
    input wire        r_valid,   // a result
    input wire        r_ready,
    input wire        r_kept,
    input wire [16:0] r_bytes,
    input wire        may_wait,
    input wire [5:0]  judge_free,
    input wire [5:0]  wait_free,
    input wire [6:0]  judged,    // words in the FIFOs
    input wire [6:0]  waiting,
    input wire [6:0]  sums,
    input wire        onward     // what takes frames takes one
);
    // ---- the neighbours: each answers what it was asked, once, and lets its answer stay

    reg [6:0]  judging = 7'd0, feeding = 7'd0, making = 7'd0;
    reg        r_held = 1'b0;
    reg [17:0] r_was;
    always @(posedge clk) begin
        judging <= rst ? 7'd0 : judging + {6'd0, judge_begins} - {6'd0, judge_ends};
        feeding <= rst ? 7'd0 : feeding + {6'd0, go && j_read} - {6'd0, f_valid};
        making  <= rst ? 7'd0 : making + {6'd0, go && j_engine} - {6'd0, r_valid && r_ready};
        r_held  <= r_valid && !r_ready && !rst;
        r_was   <= {r_kept, r_bytes};
    end
    always @* begin
        if (judge_ends) assume (judging != 7'd0);
        if (f_valid) assume (feeding != 7'd0);
        if (r_valid) assume (making != 7'd0);
        if (r_held) assume (r_valid && {r_kept, r_bytes} == r_was);
    end

    // ---- of the frames that wait, those that are read and those that the engine has: as many
    // leave `waiting` as came (gn_credit_fifo)

    reg [6:0] to_read = 7'd0, to_make = 7'd0;
    always @(posedge clk) begin
        to_read <= rst ? 7'd0 : to_read + {6'd0, go && j_read} - {6'd0, w_ready && w_read};
        to_make <= rst ? 7'd0 : to_make + {6'd0, go && j_engine} - {6'd0, w_ready && w_engine};
    end
    always @* begin
        assert (judge_free <= JUDGED && {1'b0, JUDGED - judge_free} == judging + judged);
        assert (wait_free <= 6'd17 && {1'b0, 6'd17 - wait_free} == waiting && (!may_wait || wait_free != 6'd0));
        if (w_valid) assume (w_read ? to_read != 7'd0 : to_read != waiting);
        if (w_valid) assume (w_engine ? to_make != 7'd0 : to_make != waiting);
        assert (w_valid == (waiting != 7'd0) && sums_there == (sums != 7'd0) && (!w_ready || w_valid));
        assert (to_read == feeding + sums && to_read <= waiting);
        assert (to_make == making && to_make <= waiting);
        if (w_valid && w_read) assert (feeding + sums != 7'd0);
        if (w_valid && w_engine) assert (making != 7'd0);
    end
    wire complete = w_valid && (!w_read || sums_there) && (!w_engine || r_valid);
    moves #(.CYCLES(1)) m_moves (.clk(clk), .rst(rst), .wants(complete && onward), .moves(w_ready));
endmodule

`resetall
