// SPDX-License-Identifier: Apache-2.0
// gn_record_table, whatever the beats hold, also behind a frame's last one. Of what begins anywhere
// in beat 0, the table's marks and its end agree. Of a frame's last beat OVER is said of what ends
// behind it, of another beat of what ends behind the next one, and of nothing else. What begins at
// a frame's very last byte never ends with it.
// method: pdr
// seconds: 120
// stubs: any_fifos.v
// sources: codec/gn_record_table.v
// expose: x_data x_dense
// mutant: codec/gn_record_table.v s/entry\[0\] = 1'b1/entry[0] = ends[0]/
// mutant: codec/gn_record_table.v s/ends\[5:0\] == 6'd32\)/ends[5:0] == 6'd33)/
// mutant: codec/gn_record_table.v s/y_last \? step : ends\[6\]/y_last ? ends[6] : ends[6]/
// mutant: codec/gn_record_table.v s/(even_valid = from_odd_reg \?) v1 : v0/\1 v0 : v1/
`default_nettype none
module proof (
    input wire       clk,
    input wire       rst,
    input wire       s_last,
    input wire       s_valid,
    input wire       m_leave,
    input wire [4:0] at
);
    wire         x_dense;
    wire [2:0]   m_valid, m_last;
    wire [39:0]  ends;
    wire [255:0] x_data;
    gn_record_table dut (
        .clk(clk), .rst(rst), .s_data(256'd0), .s_dense(1'b0), .s_last(s_last), .s_bytes(6'd32), .s_valid(s_valid),
        .m_valid(m_valid), .m_last(m_last), .m_leave(m_leave), .at(at), .about_at(5'd0), .use_0(1'b1), .use_1(1'b0), .m_ends(ends),
        .\x_data (x_data), .\x_dense (x_dense));

    wire on;
    reset_first first (.clk(clk), .rst(rst), .on(on));

    reg [4:0] beats = 5'd0;
    always @(posedge clk) beats <= rst ? 5'd0 : beats + {4'd0, s_valid} - {4'd0, m_leave};

    // what paper and lattice have of a tag byte: its payload bytes and itself
    integer i;
    always @* begin
        assume (!m_leave || m_valid[0]);
        assume (!s_valid || beats <= 5'd15);
        for (i = 0; i < 32; i = i + 1) assume (x_dense || (x_data[8*i +: 8] >= 8'd1 && x_data[8*i +: 8] <= 8'd17));
    end

    `include "ends.vh"
    wire [7:0] entry = ends[8*0 +: 8] | ends[8*1 +: 8] | ends[8*2 +: 8] | ends[8*3 +: 8];
    wire       over  = entry[OVER], step = entry[STEP], upper = entry[UPPER];
    // the offset behind it, from beat 0's begin
    wire [6:0] stop  = {step && upper, step ^ upper, entry[UPPER-1:0]};
    always @* if (on && m_valid[0]) begin
        assert (over == (m_last[0] ? stop > 7'd32 : stop > 7'd64));
        assert (stop > {2'd0, at} && (at != 5'd31 || stop > 7'd32));
        assert (step == (m_last[0] ? stop > 7'd32 : stop >= 7'd32));
    end
endmodule

`resetall
