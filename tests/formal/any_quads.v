// SPDX-License-Identifier: Apache-2.0
// Stands for gn_quad_pack's FIFO of quads, {last, number of the last group, classes}: as
// any_fifos.v says, and as many groups come out as went in. A group that a quad does not have is of
// class 0.
`default_nettype none
module any_quads #(
    parameter WIDTH = 19,
    parameter LOG2  = 4
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] s_data,
    input  wire             s_valid,
    output wire [WIDTH-1:0] m_data,
    output wire             m_valid,
    input  wire             m_ready
);
    gn_credit_fifo #(.WIDTH(WIDTH), .LOG2(LOG2)) fifo (
        .clk(clk), .rst(rst), .s_data(s_data), .s_valid(s_valid), .m_data(m_data), .m_valid(m_valid), .m_ready(m_ready));

    reg  [6:0]  groups = 7'd0, words = 7'd0;
    wire        s_last, m_last;
    wire [1:0]  s_group, m_group;
    wire [15:0] s_classes, m_classes;
    assign {s_last, s_group, s_classes} = s_data;
    assign {m_last, m_group, m_classes} = m_data;
    wire [6:0]  in  = {5'd0, s_group} + 7'd1;
    wire [6:0]  out = {5'd0, m_group} + 7'd1;
    always @(posedge clk) begin
        groups <= rst ? 7'd0 : groups + (s_valid ? in : 7'd0) - (m_valid && m_ready ? out : 7'd0);
        words  <= rst ? 7'd0 : words + {6'd0, s_valid} - {6'd0, m_valid && m_ready};
    end

    function fits(input [1:0] group, input [15:0] classes);
        fits = (classes >> {group, 2'd0}) >> 4 == 16'd0;
    endfunction
    always @* begin
        if (s_valid) assert (fits(s_group, s_classes));
        if (m_valid) assume (fits(m_group, m_classes) && groups >= out + words - 7'd1 && groups <= out + {words[4:0] - 5'd1, 2'd0});
        assert (groups >= words && (words != 7'd0 || groups == 7'd0) && groups <= {words[4:0], 2'd0});
    end
endmodule

`resetall
