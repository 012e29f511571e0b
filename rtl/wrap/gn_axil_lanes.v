// SPDX-License-Identifier: Apache-2.0
// Registers of several NICs that work as one (gn_nic_regs), as if they were one's. Writes go to
// all. Counters are summed; the other registers are the first one's. A write and a read are under
// way at a time, and a read waits for a write. The two words of a counter are read one after the
// other, and both are of the last snapshot.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_axil_lanes #(
    parameter LANES = 2  // up to 4
) (
    input  wire                clk,
    input  wire                rst,  // synchronous, active high

    input  wire [11:0]         s_axil_awaddr,
    input  wire                s_axil_awvalid,
    output wire                s_axil_awready,
    input  wire [31:0]         s_axil_wdata,
    input  wire [3:0]          s_axil_wstrb,
    input  wire                s_axil_wvalid,
    output wire                s_axil_wready,
    output wire [1:0]          s_axil_bresp,
    output wire                s_axil_bvalid,
    input  wire                s_axil_bready,
    input  wire [11:0]         s_axil_araddr,
    input  wire                s_axil_arvalid,
    output wire                s_axil_arready,
    output wire [31:0]         s_axil_rdata,
    output wire [1:0]          s_axil_rresp,
    output wire                s_axil_rvalid,
    input  wire                s_axil_rready,

    // to NIC i: bit i of a flag, or the i-th field
    output wire [11:0]         m_axil_awaddr,   // the same for all
    output wire [LANES-1:0]    m_axil_awvalid,
    input  wire [LANES-1:0]    m_axil_awready,
    output wire [31:0]         m_axil_wdata,    // the same for all
    output wire [3:0]          m_axil_wstrb,    // the same for all
    output wire [LANES-1:0]    m_axil_wvalid,
    input  wire [LANES-1:0]    m_axil_wready,
    input  wire [LANES*2-1:0]  m_axil_bresp,
    input  wire [LANES-1:0]    m_axil_bvalid,
    output wire [LANES-1:0]    m_axil_bready,
    output wire [11:0]         m_axil_araddr,   // the same for all
    output wire [LANES-1:0]    m_axil_arvalid,
    input  wire [LANES-1:0]    m_axil_arready,
    input  wire [LANES*32-1:0] m_axil_rdata,
    input  wire [LANES*2-1:0]  m_axil_rresp,
    input  wire [LANES-1:0]    m_axil_rvalid,
    output wire [LANES-1:0]    m_axil_rready
);

    // ---- writes: address and data are taken, handed to all, and answered when all have answered.
    // They all say the same

    reg [11:0]      aw_addr;
    reg [31:0]      w_data;
    reg [3:0]       w_strb;
    reg             aw_have = 1'b0, w_have = 1'b0, b_valid = 1'b0;
    reg [LANES-1:0] aw_left = {LANES{1'b0}}, w_left = {LANES{1'b0}}, b_left = {LANES{1'b0}};
    reg [1:0]       b_resp;
    wire            unused_bresp = &{1'b0, m_axil_bresp};

    wire writing = aw_have && w_have;
    reg  written = 1'b0;  // handed out

    assign s_axil_awready = !aw_have;
    assign s_axil_wready  = !w_have;
    assign s_axil_bvalid  = b_valid;
    assign s_axil_bresp   = b_resp;
    assign m_axil_awaddr  = aw_addr;
    assign m_axil_wdata   = w_data;
    assign m_axil_wstrb   = w_strb;
    assign m_axil_awvalid = aw_left;
    assign m_axil_wvalid  = w_left;
    assign m_axil_bready  = b_left;

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
        if (writing && !written) begin
            written <= 1'b1;
            aw_left <= {LANES{1'b1}};
            w_left  <= {LANES{1'b1}};
            b_left  <= {LANES{1'b1}};
        end else begin
            aw_left <= aw_left & ~m_axil_awready;
            w_left  <= w_left & ~m_axil_wready;
            b_left  <= b_left & ~m_axil_bvalid;
        end
        if (m_axil_bvalid[0] && b_left[0]) b_resp <= m_axil_bresp[1:0];
        if (written && !b_valid && (b_left & ~m_axil_bvalid) == {LANES{1'b0}}) b_valid <= 1'b1;
        if (b_valid && s_axil_bready) begin
            b_valid <= 1'b0;
            aw_have <= 1'b0;
            w_have  <= 1'b0;
            written <= 1'b0;
        end
        if (rst) begin
            b_valid <= 1'b0;
            aw_have <= 1'b0;
            w_have  <= 1'b0;
            written <= 1'b0;
            aw_left <= {LANES{1'b0}};
            w_left  <= {LANES{1'b0}};
            b_left  <= {LANES{1'b0}};
        end
    end

    // ---- reads: of one NIC after another. Of a counter's high word, all low words are read
    // before, for what they carry

    reg [11:0]      ar_addr;
    reg             ar_have = 1'b0, high = 1'b0, asking = 1'b0, waits = 1'b0, r_valid = 1'b0;
    reg [LANES-1:0] turn = {{LANES-1{1'b0}}, 1'b1};
    reg [33:0]      sum;
    reg [1:0]       r_resp;

    wire counter = ar_addr[11:10] != 2'd0;  // 0x400 and above
    wire ends    = turn[LANES-1] || !counter;

    reg [31:0] word;
    reg [1:0]  resp;
    integer    i;
    always @* begin
        word = 32'd0;
        resp = 2'd0;
        for (i = 0; i < LANES; i = i + 1) begin
            word = word | ({32{turn[i]}} & m_axil_rdata[32*i +: 32]);
            resp = resp | ({2{turn[i]}} & m_axil_rresp[2*i +: 2]);
        end
    end
    wire [33:0] total = sum + {2'd0, word};
    wire answered = waits && |(turn & m_axil_rvalid);

    assign s_axil_arready = !ar_have && !writing;
    assign s_axil_rvalid  = r_valid;
    assign s_axil_rresp   = r_resp;
    assign s_axil_rdata   = sum[31:0];
    assign m_axil_araddr  = {ar_addr[11:3], ar_addr[2] && (high || !counter), ar_addr[1:0]};
    assign m_axil_arvalid = asking ? turn : {LANES{1'b0}};
    assign m_axil_rready  = waits ? turn : {LANES{1'b0}};

    always @(posedge clk) begin
        if (s_axil_arvalid && s_axil_arready) begin
            ar_have <= 1'b1;
            ar_addr <= s_axil_araddr;
            asking  <= 1'b1;
            waits   <= 1'b1;
            high    <= 1'b0;
            sum     <= 34'd0;
            turn    <= {{LANES-1{1'b0}}, 1'b1};
        end
        if (|(m_axil_arvalid & m_axil_arready)) asking <= 1'b0;
        if (answered) begin
            sum    <= total;
            r_resp <= resp;
            turn   <= {turn[LANES-2:0], turn[LANES-1]};
            if (!ends) begin
                asking <= 1'b1;
            end else if (counter && ar_addr[2] && !high) begin
                asking <= 1'b1;
                high   <= 1'b1;
                sum    <= {32'd0, total[33:32]};  // what the low words carry
            end else begin
                waits   <= 1'b0;
                r_valid <= 1'b1;
            end
        end
        if (r_valid && s_axil_rready) begin
            r_valid <= 1'b0;
            ar_have <= 1'b0;
        end
        if (rst) begin
            ar_have <= 1'b0;
            asking  <= 1'b0;
            waits   <= 1'b0;
            r_valid <= 1'b0;
        end
    end

    generate
        if (LANES < 2 || LANES > 4) begin : g_check
            LANES_must_be_2_to_4 error();
        end
    endgenerate

endmodule

`resetall
