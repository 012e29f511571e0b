// SPDX-License-Identifier: Apache-2.0
// The lengths and checksums of a packet whose payload changes, from sums of its pieces (as
// cmodel/stamp.c). A packet a cycle. Latency 6.
`resetall
`timescale 1ns / 1ps
`default_nettype none

module gn_frame_stamp (
    input  wire        clk,
    input  wire        rst,              // synchronous, active high

    // a packet; bytes count from its frame's first
    input  wire        s_tagged,         // one VLAN tag
    input  wire        s_six,            // IPv6
    input  wire        s_tcp,            // TCP, not UDP
    input  wire [6:0]  s_l4,             // where the L4 header begins
    input  wire [7:0]  s_payload,        // where the payload begins
    input  wire [16:0] s_end,            // where the packet ended
    // its new payload: shim, bytes of the old payload, what an engine made, a tail
    input  wire        s_shim_valid,
    input  wire [63:0] s_shim,           // byte 0 in the lowest bits
    input  wire [16:0] s_bytes,
    input  wire [16:0] s_result_bytes,
    input  wire [1:0]  s_tail_bytes,
    input  wire [15:0] s_sum_lead,       // IP addresses, L4 header without checksum and UDP's
                                         // length, s_bytes bytes
    input  wire [15:0] s_sum_result,     // as if it began at an even offset
    input  wire [15:0] s_sum_tail,       // as if it began at an even offset
    input  wire        s_valid,          // always taken

    output wire [15:0] m_ip_length,      // total length; IPv6: payload length
    output wire [15:0] m_ip_change,      // to be added to the complement of the IPv4 header
                                         // checksum (RFC 1624)
    output wire [15:0] m_l4_length,      // UDP's length field
    output wire [15:0] m_l4_checksum,
    output wire        m_valid           // for one cycle
);

    function [15:0] swapped;
        input [15:0] v;
        swapped = {v[7:0], v[15:8]};
    endfunction

    wire [63:0] shim      = s_shim_valid ? s_shim : 64'd0;
    wire        odd       = s_bytes[0];
    wire        tail_odd  = s_bytes[0] ^ s_result_bytes[0];

    // ---- sums of the pieces, lengths

    reg [16:0] a_lead, a_bytes, a_total;
    reg [17:0] a_tail, a_shim;
    reg [8:0]  a_more;
    reg [6:0]  a_ip_header;
    reg [18:0] b_pieces;
    reg [17:0] b_shim;
    reg [15:0] b_l4, b_total, c_l4, c_ip, c_total, d_l4, d_ip, e_l4, e_ip, f_l4, f_ip;
    reg [6:0]  b_ip_header;
    reg [19:0] c_pieces;
    reg [20:0] d_sum;
    reg [16:0] d_change, e_sum;
    reg [15:0] e_change, f_change, f_sum;
    reg        a_six, a_tcp, b_six, b_tcp, c_tcp, d_tcp, e_tcp, f_tcp;
    reg [5:0]  valid_reg = 6'd0;
    wire       unused_top = &{1'b0, a_bytes[16], a_total[16]};

    always @(posedge clk) begin
        a_lead      <= {1'b0, s_sum_lead} + {1'b0, odd ? swapped(s_sum_result) : s_sum_result};
        a_tail      <= {2'd0, tail_odd ? swapped(s_sum_tail) : s_sum_tail} + {2'd0, swapped(shim[15:0])} + {2'd0, swapped(shim[31:16])};
        a_shim      <= {2'd0, swapped(shim[47:32])} + {2'd0, swapped(shim[63:48])} + (s_tcp ? 18'd6 : 18'd17);
        a_bytes     <= s_bytes + s_result_bytes;
        a_more      <= {1'b0, s_payload} - {2'd0, s_l4} + {5'd0, s_shim_valid, 1'b0, s_tail_bytes};
        a_total     <= s_end - (s_tagged ? 17'd18 : 17'd14);
        a_ip_header <= s_l4 - (s_tagged ? 7'd18 : 7'd14);
        a_six       <= s_six;
        a_tcp       <= s_tcp;

        b_pieces    <= {2'd0, a_lead} + {1'b0, a_tail};
        b_shim      <= a_shim;
        b_l4        <= a_bytes[15:0] + {7'd0, a_more};
        b_total     <= a_total[15:0];
        b_ip_header <= a_ip_header;
        b_six       <= a_six;
        b_tcp       <= a_tcp;

        c_pieces    <= {1'b0, b_pieces} + {2'd0, b_shim};
        c_l4        <= b_l4;
        c_ip        <= b_l4 + (b_six ? 16'd0 : {9'd0, b_ip_header});
        c_total     <= b_total;
        c_tcp       <= b_tcp;

        // UDP has its length in the header and in the pseudo header
        d_sum       <= {1'b0, c_pieces} + (c_tcp ? {5'd0, c_l4} : {4'd0, c_l4, 1'b0});
        d_change    <= {1'b0, c_ip} + {1'b0, ~c_total};
        d_l4        <= c_l4;
        d_ip        <= c_ip;
        d_tcp       <= c_tcp;

        e_sum       <= {1'b0, d_sum[15:0]} + {12'd0, d_sum[20:16]};
        e_change    <= d_change[15:0] + {15'd0, d_change[16]};
        e_l4        <= d_l4;
        e_ip        <= d_ip;
        e_tcp       <= d_tcp;

        f_sum       <= e_sum[15:0] + {15'd0, e_sum[16]};
        f_change    <= e_change;
        f_l4        <= e_l4;
        f_ip        <= e_ip;
        f_tcp       <= e_tcp;

        valid_reg   <= rst ? 6'd0 : {valid_reg[4:0], s_valid};
    end

    assign m_ip_length   = f_ip;
    assign m_ip_change   = f_change;
    assign m_l4_length   = f_l4;
    // RFC 768: 0 would say that there is none
    assign m_l4_checksum = !f_tcp && &f_sum ? 16'hffff : ~f_sum;
    assign m_valid       = valid_reg[5];

endmodule

`resetall
