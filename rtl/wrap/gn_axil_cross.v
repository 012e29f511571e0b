// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite from one clock to another. One write and one read are under way at a time. A request
// and its answer each cross as a level that changes; what belongs to it stands still meanwhile. A
// read is taken when no write is under way, as software expects it.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_axil_cross #(
    parameter ADDR_WIDTH = 12
) (
    input  wire                  s_clk,
    input  wire                  s_rst,  // synchronous to s_clk, active high; together with m_rst

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

    input  wire                  m_clk,
    input  wire                  m_rst,  // synchronous to m_clk, active high

    output wire [ADDR_WIDTH-1:0] m_axil_awaddr,
    output wire                  m_axil_awvalid,
    input  wire                  m_axil_awready,
    output wire [31:0]           m_axil_wdata,
    output wire [3:0]            m_axil_wstrb,
    output wire                  m_axil_wvalid,
    input  wire                  m_axil_wready,
    input  wire [1:0]            m_axil_bresp,
    input  wire                  m_axil_bvalid,
    output wire                  m_axil_bready,
    output wire [ADDR_WIDTH-1:0] m_axil_araddr,
    output wire                  m_axil_arvalid,
    input  wire                  m_axil_arready,
    input  wire [31:0]           m_axil_rdata,
    input  wire [1:0]            m_axil_rresp,
    input  wire                  m_axil_rvalid,
    output wire                  m_axil_rready
);

    // ---- writes, at the master's clock: both parts are taken, then asked for

    reg [ADDR_WIDTH-1:0] aw_addr;
    reg [31:0]           w_data;
    reg [3:0]            w_strb;
    reg                  aw_have = 1'b0, w_have = 1'b0, w_asked = 1'b0, b_valid = 1'b0;
    reg                  w_ask = 1'b0;                             // changes with each request
    (* ASYNC_REG = "TRUE" *) reg [1:0] w_done_sync = 2'b00;        // the other side's w_done
    reg                  w_done_seen = 1'b0;

    // ---- at the slave's clock

    (* ASYNC_REG = "TRUE" *) reg [1:0] w_ask_sync = 2'b00;
    reg                  w_ask_seen = 1'b0, aw_out = 1'b0, w_out = 1'b0, b_wait = 1'b0;
    reg                  w_done = 1'b0;                            // changes with each answer
    reg [1:0]            b_resp;

    assign s_axil_awready = !aw_have;
    assign s_axil_wready  = !w_have;
    assign s_axil_bvalid  = b_valid;
    assign s_axil_bresp   = b_resp;
    assign m_axil_awaddr  = aw_addr;
    assign m_axil_wdata   = w_data;
    assign m_axil_wstrb   = w_strb;
    assign m_axil_awvalid = aw_out;
    assign m_axil_wvalid  = w_out;
    assign m_axil_bready  = b_wait;

    always @(posedge s_clk) begin
        w_done_sync <= {w_done_sync[0], w_done};
        w_done_seen <= w_done_sync[1];
        if (s_axil_awvalid && s_axil_awready) begin
            aw_have <= 1'b1;
            aw_addr <= s_axil_awaddr;
        end
        if (s_axil_wvalid && s_axil_wready) begin
            w_have <= 1'b1;
            w_data <= s_axil_wdata;
            w_strb <= s_axil_wstrb;
        end
        if (aw_have && w_have && !w_asked) begin
            w_asked <= 1'b1;
            w_ask   <= !w_ask;
        end
        if (w_done_seen != w_done_sync[1]) b_valid <= 1'b1;
        if (b_valid && s_axil_bready) begin
            b_valid <= 1'b0;
            aw_have <= 1'b0;
            w_have  <= 1'b0;
            w_asked <= 1'b0;
        end
        if (s_rst) begin
            aw_have     <= 1'b0;
            w_have      <= 1'b0;
            w_asked     <= 1'b0;
            w_ask       <= 1'b0;
            b_valid     <= 1'b0;
            w_done_sync <= 2'b00;
            w_done_seen <= 1'b0;
        end
    end

    always @(posedge m_clk) begin
        w_ask_sync <= {w_ask_sync[0], w_ask};
        w_ask_seen <= w_ask_sync[1];
        if (w_ask_seen != w_ask_sync[1]) begin
            aw_out <= 1'b1;
            w_out  <= 1'b1;
            b_wait <= 1'b1;
        end
        if (aw_out && m_axil_awready) aw_out <= 1'b0;
        if (w_out && m_axil_wready) w_out <= 1'b0;
        if (b_wait && m_axil_bvalid) begin
            b_wait <= 1'b0;
            b_resp <= m_axil_bresp;
            w_done <= !w_done;
        end
        if (m_rst) begin
            w_ask_sync <= 2'b00;
            w_ask_seen <= 1'b0;
            aw_out     <= 1'b0;
            w_out      <= 1'b0;
            b_wait     <= 1'b0;
            w_done     <= 1'b0;
        end
    end

    // ---- reads, in the same way

    reg [ADDR_WIDTH-1:0] ar_addr;
    reg                  ar_have = 1'b0, r_valid = 1'b0, r_ask = 1'b0;
    (* ASYNC_REG = "TRUE" *) reg [1:0] r_done_sync = 2'b00;
    reg                  r_done_seen = 1'b0;
    (* ASYNC_REG = "TRUE" *) reg [1:0] r_ask_sync = 2'b00;
    reg                  r_ask_seen = 1'b0, ar_out = 1'b0, r_wait = 1'b0, r_done = 1'b0;
    reg [31:0]           r_data;
    reg [1:0]            r_resp;

    assign s_axil_arready = !ar_have && !(aw_have && w_have);
    assign s_axil_rvalid  = r_valid;
    assign s_axil_rdata   = r_data;
    assign s_axil_rresp   = r_resp;
    assign m_axil_araddr  = ar_addr;
    assign m_axil_arvalid = ar_out;
    assign m_axil_rready  = r_wait;

    always @(posedge s_clk) begin
        r_done_sync <= {r_done_sync[0], r_done};
        r_done_seen <= r_done_sync[1];
        if (s_axil_arvalid && s_axil_arready) begin
            ar_have <= 1'b1;
            ar_addr <= s_axil_araddr;
            r_ask   <= !r_ask;
        end
        if (r_done_seen != r_done_sync[1]) r_valid <= 1'b1;
        if (r_valid && s_axil_rready) begin
            r_valid <= 1'b0;
            ar_have <= 1'b0;
        end
        if (s_rst) begin
            ar_have     <= 1'b0;
            r_ask       <= 1'b0;
            r_valid     <= 1'b0;
            r_done_sync <= 2'b00;
            r_done_seen <= 1'b0;
        end
    end

    always @(posedge m_clk) begin
        r_ask_sync <= {r_ask_sync[0], r_ask};
        r_ask_seen <= r_ask_sync[1];
        if (r_ask_seen != r_ask_sync[1]) begin
            ar_out <= 1'b1;
            r_wait <= 1'b1;
        end
        if (ar_out && m_axil_arready) ar_out <= 1'b0;
        if (r_wait && m_axil_rvalid) begin
            r_wait <= 1'b0;
            r_data <= m_axil_rdata;
            r_resp <= m_axil_rresp;
            r_done <= !r_done;
        end
        if (m_rst) begin
            r_ask_sync <= 2'b00;
            r_ask_seen <= 1'b0;
            ar_out     <= 1'b0;
            r_wait     <= 1'b0;
            r_done     <= 1'b0;
        end
    end

endmodule

`resetall
