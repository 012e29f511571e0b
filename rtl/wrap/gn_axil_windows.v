// SPDX-License-Identifier: Apache-2.0
// One AXI4-Lite slave in front of several: each has a window of 4 KiB, the first at address 0. One
// write and one read are under way at a time. A read waits for a write that is under way, as
// software expects it: the bus itself has no order between them. Beyond the last window the answer
// is DECERR.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_axil_windows #(
    parameter COUNT      = 1,  // windows
    parameter ADDR_WIDTH = 16  // more than 12
) (
    input  wire                  clk,
    input  wire                  rst,  // synchronous, active high

    input  wire [ADDR_WIDTH-1:0] s_axil_awaddr,
    input  wire                  s_axil_awvalid,
    output wire                  s_axil_awready,
    input  wire [31:0]           s_axil_wdata,
    input  wire [3:0]            s_axil_wstrb,
    input  wire                  s_axil_wvalid,
    output wire                  s_axil_wready,
    output wire [1:0]            s_axil_bresp,
    output wire                  s_axil_bvalid,
    input  wire                  s_axil_bready,
    input  wire [ADDR_WIDTH-1:0] s_axil_araddr,
    input  wire                  s_axil_arvalid,
    output wire                  s_axil_arready,
    output wire [31:0]           s_axil_rdata,
    output wire [1:0]            s_axil_rresp,
    output wire                  s_axil_rvalid,
    input  wire                  s_axil_rready,

    // to window i: bit i of a flag, or the i-th field
    output wire [11:0]           m_axil_awaddr,  // the same for all
    output wire [COUNT-1:0]      m_axil_awvalid,
    input  wire [COUNT-1:0]      m_axil_awready,
    output wire [31:0]           m_axil_wdata,   // the same for all
    output wire [3:0]            m_axil_wstrb,   // the same for all
    output wire [COUNT-1:0]      m_axil_wvalid,
    input  wire [COUNT-1:0]      m_axil_wready,
    input  wire [COUNT*2-1:0]    m_axil_bresp,
    input  wire [COUNT-1:0]      m_axil_bvalid,
    output wire [COUNT-1:0]      m_axil_bready,
    output wire [11:0]           m_axil_araddr,  // the same for all
    output wire [COUNT-1:0]      m_axil_arvalid,
    input  wire [COUNT-1:0]      m_axil_arready,
    input  wire [COUNT*32-1:0]   m_axil_rdata,
    input  wire [COUNT*2-1:0]    m_axil_rresp,
    input  wire [COUNT-1:0]      m_axil_rvalid,
    output wire [COUNT-1:0]      m_axil_rready
);

    localparam [1:0] DECERR = 2'b11;

    integer i;

    // ---- writes: address and data are taken, handed on, and answered

    reg [ADDR_WIDTH-1:0] aw_addr;
    reg [31:0]           w_data;
    reg [3:0]            w_strb;
    reg                  aw_have = 1'b0, w_have = 1'b0;  // taken from the master
    reg                  aw_sent = 1'b0, w_sent = 1'b0;  // handed on to the window
    reg                  b_valid = 1'b0;
    reg [1:0]            b_resp;

    reg [COUNT-1:0] w_select;
    reg [1:0]       w_answer;
    always @* begin
        w_answer = DECERR;
        for (i = 0; i < COUNT; i = i + 1) begin
            w_select[i] = {{32-ADDR_WIDTH+12{1'b0}}, aw_addr[ADDR_WIDTH-1:12]} == i;
            if (w_select[i]) w_answer = m_axil_bresp[2*i +: 2];
        end
    end

    wire w_none = aw_have && w_have && w_select == {COUNT{1'b0}};
    wire w_back = |(w_select & m_axil_bvalid) && aw_sent && w_sent && !b_valid;

    assign s_axil_awready = !aw_have;
    assign s_axil_wready  = !w_have;
    assign s_axil_bvalid  = b_valid;
    assign s_axil_bresp   = b_resp;
    assign m_axil_awaddr  = aw_addr[11:0];
    assign m_axil_wdata   = w_data;
    assign m_axil_wstrb   = w_strb;
    assign m_axil_awvalid = aw_have && w_have && !aw_sent ? w_select : {COUNT{1'b0}};
    assign m_axil_wvalid  = aw_have && w_have && !w_sent ? w_select : {COUNT{1'b0}};
    assign m_axil_bready  = w_back ? w_select : {COUNT{1'b0}};

    always @(posedge clk) begin
        if (s_axil_awvalid && s_axil_awready) begin
            aw_have <= 1'b1;
            aw_addr <= s_axil_awaddr;
        end
        if (s_axil_wvalid && s_axil_wready) begin
            w_have <= 1'b1;
            w_data <= s_axil_wdata;
            w_strb <= s_axil_wstrb;
        end
        if (|(m_axil_awvalid & m_axil_awready)) aw_sent <= 1'b1;
        if (|(m_axil_wvalid & m_axil_wready)) w_sent <= 1'b1;
        if (w_back || (w_none && !b_valid)) begin
            b_valid <= 1'b1;
            b_resp  <= w_answer;
        end
        if (b_valid && s_axil_bready) begin
            b_valid <= 1'b0;
            aw_have <= 1'b0;
            w_have  <= 1'b0;
            aw_sent <= 1'b0;
            w_sent  <= 1'b0;
        end
        if (rst) begin
            b_valid <= 1'b0;
            aw_have <= 1'b0;
            w_have  <= 1'b0;
            aw_sent <= 1'b0;
            w_sent  <= 1'b0;
        end
    end

    // ---- reads

    reg [ADDR_WIDTH-1:0] ar_addr;
    reg                  ar_have = 1'b0, ar_sent = 1'b0;
    reg                  r_valid = 1'b0;
    reg [1:0]            r_resp;
    reg [31:0]           r_data;

    reg [COUNT-1:0] r_select;
    reg [1:0]       r_answer;
    reg [31:0]      r_word;
    always @* begin
        r_answer = DECERR;
        r_word   = 32'd0;
        for (i = 0; i < COUNT; i = i + 1) begin
            r_select[i] = {{32-ADDR_WIDTH+12{1'b0}}, ar_addr[ADDR_WIDTH-1:12]} == i;
            if (r_select[i]) begin
                r_answer = m_axil_rresp[2*i +: 2];
                r_word   = m_axil_rdata[32*i +: 32];
            end
        end
    end

    wire r_none = ar_have && r_select == {COUNT{1'b0}};
    wire r_back = |(r_select & m_axil_rvalid) && ar_sent && !r_valid;

    assign s_axil_arready = !ar_have;
    assign s_axil_rvalid  = r_valid;
    assign s_axil_rresp   = r_resp;
    assign s_axil_rdata   = r_data;
    assign m_axil_araddr  = ar_addr[11:0];
    assign m_axil_arvalid = ar_have && !ar_sent && !(aw_have && w_have) ? r_select : {COUNT{1'b0}};
    assign m_axil_rready  = r_back ? r_select : {COUNT{1'b0}};

    always @(posedge clk) begin
        if (s_axil_arvalid && s_axil_arready) begin
            ar_have <= 1'b1;
            ar_addr <= s_axil_araddr;
        end
        if (|(m_axil_arvalid & m_axil_arready)) ar_sent <= 1'b1;
        if (r_back || (r_none && !r_valid)) begin
            r_valid <= 1'b1;
            r_resp  <= r_answer;
            r_data  <= r_word;
        end
        if (r_valid && s_axil_rready) begin
            r_valid <= 1'b0;
            ar_have <= 1'b0;
            ar_sent <= 1'b0;
        end
        if (rst) begin
            r_valid <= 1'b0;
            ar_have <= 1'b0;
            ar_sent <= 1'b0;
        end
    end

    generate
        if (COUNT < 1 || ADDR_WIDTH < 13 || ADDR_WIDTH > 32 || COUNT > 1 << (ADDR_WIDTH - 12)) begin : g_check
            COUNT_must_be_1_or_more_and_ADDR_WIDTH_of_13_to_32_must_reach_all_windows error();
        end
    endgenerate

endmodule

`resetall
