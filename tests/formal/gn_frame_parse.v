// SPDX-License-Identifier: Apache-2.0
// gn_frame_parse. What goes into its FIFO is a beat and finds room.
// method: pdr
// seconds: 60
// sources: lib/gn_keep_count.v lib/gn_credit_counter.v lib/gn_credit_fifo.v frame/gn_checksum.v
// sources: frame/gn_frame_parse.v
// expose: credits.free_reg credits.ok_reg fifo.write_reg fifo.read_reg fifo.out_valid_reg
// expose: fifo.empty_reg a_valid b_valid c_valid d_valid e_valid e_bytes e_last m_bytes
// mutant: frame/gn_frame_parse.v s/CREDITS\(17\)/CREDITS(18)/
`default_nettype none
module proof (
    input wire         clk,
    input wire         rst,
    input wire [255:0] s_data,
    input wire [31:0]  s_keep,
    input wire         s_last,
    input wire         s_user,
    input wire         s_valid,
    input wire         m_ready
);
    wire        s_ready, m_valid, m_last, out, empty, a, b, c, d, e, e_last, ok;
    wire [31:0] m_keep;
    wire [5:0]  free, e_bytes, m_bytes;
    wire [4:0]  write, read;
    gn_frame_parse dut (
        .clk(clk), .rst(rst), .s_axis_tdata(s_data), .s_axis_tkeep(s_keep), .s_axis_tlast(s_last), .s_axis_tuser(s_user),
        .s_axis_tvalid(s_valid), .s_axis_tready(s_ready), .m_axis_tkeep(m_keep), .m_axis_tlast(m_last),
        .m_axis_tvalid(m_valid), .m_axis_tready(m_ready),
        .\credits.free_reg (free), .\credits.ok_reg (ok), .\fifo.write_reg (write), .\fifo.read_reg (read), .\fifo.out_valid_reg (out), .\fifo.empty_reg (empty),
        .\a_valid (a), .\b_valid (b), .\c_valid (c), .\d_valid (d), .\e_valid (e), .\e_bytes (e_bytes), .\e_last (e_last), .\m_bytes (m_bytes));

    always @* assume (s_keep[0] && (s_keep & (s_keep + 32'd1)) == 32'd0 && (s_last || s_keep[31]));

    beat is_beat (.there(e), .word({e_last, e_bytes}));
    keeps m_keeps (.bytes(m_bytes), .keep(m_keep));

    wire [5:0] inside = {1'b0, write - read} + {5'd0, out};
    always @* begin
        assert (free <= 6'd17 && inside <= 6'd17 && write - read <= 5'd16 && (out || write == read) && empty == (write == read));
        assert (6'd17 - free == inside + {5'd0, a} + {5'd0, b} + {5'd0, c} + {5'd0, d} + {5'd0, e});
        assert (!m_valid || out);
    end
endmodule

`resetall
