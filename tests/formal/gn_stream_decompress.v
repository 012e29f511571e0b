// SPDX-License-Identifier: Apache-2.0
// gn_stream_decompress as a whole, whatever comes. What it offers stays until it is taken, with its
// values, its end and its verdict. tkeep is contiguous and of whole values, and only a frame's last
// beat is partial. As many frames leave as the window ends. The FIFO has room for every group on
// its way. While fewer than 17 groups wait, the window may start another within 3 cycles.
// Abstracted: the window is what its own proof says (any_window.v: a group two cycles after it
// starts, only where there is room); groups' bytes and lanes are any.
// method: pdr
// simplify: no
// seconds: 30
// stubs: any_window.v any_lanes.v any_fifos.v
// sources: lib/gn_credit_counter.v codec/gn_quad_unpack.v codec/gn_decompress_unit.v
// sources: codec/gn_stream_decompress.v
// expose: window.started_reg window.m_last credits.free_reg credits.taken credits.given room
// expose: started unit.valid_reg unit.last_reg m_lanes u_lanes u_last u_valid fifo.any.words
// expose: fifo.any.marks
// mutant: codec/gn_stream_decompress.v s/CREDITS\(17\)/CREDITS(19)/
// mutant: codec/gn_stream_decompress.v s/values > i/values != i/
// mutant: codec/gn_decompress_unit.v s/last_reg\[3\] \? lanes4_reg : 3'd0/lanes4_reg/
`default_nettype none
module proof (
    input wire clk,
    input wire rst,
    input wire m_ready
);
    wire         m_last, m_user, m_valid, room, started, u_last, u_valid, w_last;
    wire [255:0] m_data;
    wire [31:0]  m_keep;
    wire [5:0]   free;
    wire [2:0]   taken, given, m_lanes, u_lanes;
    wire [1:0]   coming;
    wire [3:0]   valid, last;
    wire [6:0]   words, marks;
    gn_stream_decompress dut (
        .clk(clk), .rst(rst), .m_axis_tdata(m_data), .m_axis_tkeep(m_keep), .m_axis_tlast(m_last), .m_axis_tuser(m_user), .m_axis_tvalid(m_valid),
        .m_axis_tready(m_ready), .\window.started_reg (coming), .\window.m_last (w_last), .\credits.free_reg (free), .\credits.taken (taken), .\credits.given (given),
        .\room (room), .\started (started), .\unit.valid_reg (valid), .\unit.last_reg (last), .\m_lanes (m_lanes), .\u_lanes (u_lanes),
        .\u_last (u_last), .\u_valid (u_valid), .\fifo.any.words (words), .\fifo.any.marks (marks));

    // ---- the output's protocol; only a frame's last group has fewer than eight lanes, so also
    // each that the FIFO gives

    stays #(.WIDTH(290)) m_stays (.clk(clk), .rst(rst), .data({m_data, m_keep, m_last, m_user}), .valid(m_valid), .ready(m_ready));
    integer i;
    always @* begin
        if (u_valid) assert (u_last || u_lanes == 3'd0);
        if (m_valid) assume (m_last || m_lanes == 3'd0);
        if (m_valid) assert (m_keep[0] && (m_keep & (m_keep + 32'd1)) == 32'd0 && (m_last || &m_keep));
        for (i = 0; i < 8; i = i + 1) assert (m_keep[4*i +: 4] == 4'd0 || m_keep[4*i +: 4] == 4'd15);
    end

    // ---- places and frames

    wire [6:0] inside = {6'd0, coming[0]} + {6'd0, coming[1]} + {6'd0, valid[0]} + {6'd0, valid[1]} + {6'd0, valid[2]} + {6'd0, valid[3]} + words;
    reg  [6:0] ends = 7'd0;  // frames that the window has ended and that have not left
    reg  [1:0] quiet = 2'd0; // cycles in which there was room, and no start
    always @(posedge clk) begin
        ends  <= rst ? 7'd0 : ends + {6'd0, coming[1] && w_last} - {6'd0, m_valid && m_ready && m_last};
        quiet <= rst || started || inside >= 7'd16 ? 2'd0 : quiet == 2'd3 ? quiet : quiet + 2'd1;
    end
    always @* begin
        assert (free <= 6'd17 && {1'b0, 6'd17 - free} + {4'd0, taken} - {4'd0, given} == inside);
        assert (inside <= 7'd17 && taken <= 3'd1 && given <= 3'd1 && (!room || free >= 6'd2));
        assert (room || quiet < 2'd3);
        assert (ends == {6'd0, valid[0] && last[0]} + {6'd0, valid[1] && last[1]} + {6'd0, valid[2] && last[2]} + {6'd0, valid[3] && last[3]} + marks);
    end
endmodule

`resetall
