// SPDX-License-Identifier: Apache-2.0
// gn_record_window, whatever the bytes and the frames. Its ring never has more beats than places,
// and a beat leaves only when it is there. A record starts only where there is room, and comes two
// cycles later. With room, and a source that gives, something moves within 4 cycles. (A window of
// two beats would wait for ever where a record of 34 bytes begins at offset 31.) Abstracted: what
// the tables and the ring say of the bytes, and a frame's count and profile, is anything at any
// time.
// method: pdr
// seconds: 30
// sources: lib/gn_keep_count.v lib/gn_credit_counter.v lib/gn_credit_fifo.v codec/gn_record_table.v
// sources: codec/gn_record_window.v
// reduce: s/wire +\[7:0\] +by_table +=.*/wire [7:0] by_table;/
// reduce: s/wire +\[7:0\] +by_beat_1 +=.*/wire [7:0] by_beat_1;/
// reduce: s/assign words\[.*//
// reduce: s/\.m_data\(\{frame_one[^)]*\)/.m_data()/
// reduce: s/\{into_dense, s_last, s_bytes, into_zero, into_bytes\}/{1'b0, s_last, 294'd0}/
// expose: beats.free_reg beats.taken beats.given window_table.stored_reg window_table.some_reg
// expose: window_table.unused_x_valid window_table.y_valid window_table.v0 window_table.v1 leave
// mutant: codec/gn_record_window.v s/fire    = present \&\& m_room/fire    = present/
// mutant: codec/gn_record_table.v s/there_1 = v1 \|\| y_ok_reg/there_1 = y_ok_reg \&\& last_1/
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire [255:0] s_data,
    input wire [31:0]  s_keep,
    input wire         s_last,
    input wire [33:0]  s_user,
    input wire         s_valid,
    input wire         room
);
    wire       s_ready, started, m_valid, m_last, some, x_there, y, v0, v1, leave;
    wire [5:0] free;
    wire [2:0] taken, given;
    wire [4:0] stored;
    gn_record_window dut (
        .clk(clk), .rst(rst), .s_axis_tdata(s_data), .s_axis_tkeep(s_keep), .s_axis_tlast(s_last), .s_axis_tuser(s_user),
        .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .m_room(room), .m_started(started), .m_valid(m_valid), .m_last(m_last),
        .\beats.free_reg (free), .\beats.taken (taken), .\beats.given (given), .\window_table.stored_reg (stored), .\window_table.some_reg (some), .\window_table.unused_x_valid (x_there),
        .\window_table.y_valid (y), .\window_table.v0 (v0), .\window_table.v1 (v1), .\leave (leave));

    reg [1:0] started_reg = 2'd0;
    always @(posedge clk) started_reg <= rst ? 2'd0 : {started_reg[0], started};

    wire on;
    reset_first first (.clk(clk), .rst(rst), .on(on));
    always @* begin
        assert (!started || room);
        assert (!on || m_valid == started_reg[1]);
        assert (!leave || v0);
        assert ({1'b0, stored} + {5'd0, y} + {5'd0, v0} + {5'd0, v1} + {5'd0, s_valid && s_ready} <= 6'd16);
        // what the credits count is inside
        assert (free <= 6'd16 && taken <= 3'd1 && given <= 3'd1);
        assert (6'd16 - free + {3'd0, taken} - {3'd0, given} == {1'b0, stored} + {5'd0, y} + {5'd0, v0} + {5'd0, v1});
        assert (some == (stored != 5'd0) && some == x_there && (v0 || !v1));
    end
    moves #(.CYCLES(4)) m_moves (.clk(clk), .rst(rst), .wants(room && s_valid), .moves(started || s_ready || leave));
endmodule

`resetall
