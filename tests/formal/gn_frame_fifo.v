// SPDX-License-Identifier: Apache-2.0
// gn_frame_fifo. No beat is written over before it has left the ring, and each finds room in the
// FIFO behind it. Beats that came are in the ring, on their way, or have left. A frame that is
// whole may
// leave: while the receiver takes, a beat of it leaves within 6 cycles. So may one that fills the
// ring. No beat of another is read. WHOLE is 1; without it there is less to go wrong.
// method: pdr
// seconds: 60
// sources: lib/gn_block_ram.v lib/gn_credit_counter.v lib/gn_credit_fifo.v wrap/gn_frame_fifo.v
// reduce: s/WIDTH = 600/WIDTH = 1/; s/LOG2  = 9/LOG2 = 3/; s/WHOLE = 0/WHOLE = 1/
// expose: write_reg whole_reg read_reg freed_reg coming_reg open_reg read take held room_reg
// expose: places.free_reg out.write_reg out.read_reg out.out_valid_reg out.empty_reg
// mutant: wrap/gn_frame_fifo.v s/ \&\& !\(take \&\& held == FULL - 1'b1\)//
// mutant: wrap/gn_frame_fifo.v s/read  = read_ok \&\& /read = /
// mutant: wrap/gn_frame_fifo.v s/freed_reg \+ (\S+) coming_reg\[1\]/freed_reg + \1 coming_reg[0]/
// mutant: wrap/gn_frame_fifo.v s/whole_reg <= write_reg \+ 1'b1/whole_reg <= write_reg/
// mutant: wrap/gn_frame_fifo.v s/open_reg <= 1'b1/open_reg <= 1'b0/
`default_nettype none
module proof (
    input wire clk,
    input wire rst,
    input wire s_last,
    input wire s_valid,
    input wire m_ready
);
    wire       s_ready, m_valid, open, read, take, room, out, empty;
    wire [3:0] write_at, whole_at, read_at, freed_at, held;
    wire [1:0] coming;
    wire [2:0] fifo_write, fifo_read;
    wire [5:0] places;
    gn_frame_fifo dut (
        .clk(clk), .rst(rst), .s_data(1'b0), .s_last(s_last), .s_valid(s_valid), .s_ready(s_ready), .m_valid(m_valid), .m_ready(m_ready),
        .\write_reg (write_at), .\whole_reg (whole_at), .\read_reg (read_at), .\freed_reg (freed_at), .\coming_reg (coming), .\open_reg (open), .\read (read),
        .\take (take), .\held (held), .\room_reg (room), .\places.free_reg (places), .\out.write_reg (fifo_write), .\out.read_reg (fifo_read),
        .\out.out_valid_reg (out), .\out.empty_reg (empty));

    wire [3:0] there  = write_at - read_at;   // not read
    wire [3:0] whole  = whole_at - read_at;   // of whole frames; below 0, the open one has been read from
    wire [3:0] leaves = {1'b0, fifo_write - fifo_read} + {3'd0, out};
    wire       may    = open ? there != 4'd0 : whole != 4'd0;
    reg  [3:0] end_at = 4'd0;  // behind the last beat of the last whole frame
    always @(posedge clk) end_at <= rst ? 4'd0 : take && s_last ? write_at + 4'd1 : end_at;
    always @* begin
        assert (whole_at == end_at);
        assert (held <= 4'd8 && held == there + {3'd0, coming[0]} + {3'd0, coming[1]} && there <= 4'd8);
        assert (!room || held < 4'd8);
        assert (fifo_write - fifo_read <= 3'd4 && (out || fifo_write == fifo_read) && empty == (fifo_write == fifo_read));
        assert (places + {2'd0, leaves} + {5'd0, coming[0]} + {5'd0, coming[1]} == 6'd5);
        assert (!read || may);
        // while none is open, what is read is whole
        if (!open) assert (whole <= there);
    end
    moves #(.CYCLES(6)) m_leaves (.clk(clk), .rst(rst), .wants(m_ready && (may || there == 4'd8 || coming != 2'd0 || out)), .moves(m_valid));
    moves #(.CYCLES(6)) m_comes (.clk(clk), .rst(rst), .wants(there == 4'd0), .moves(s_ready));
endmodule

`resetall
