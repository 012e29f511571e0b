// SPDX-License-Identifier: Apache-2.0
// Stands for gn_record_packer: takes a record when it likes. (The proof gn_record_packer shows that
// it takes one at last.)
`default_nettype none
module gn_record_packer #(
    parameter RECORD_BYTES = 35
) (
    input  wire                      clk,
    input  wire                      rst,
    input  wire [8*RECORD_BYTES-1:0] s_record,
    input  wire [5:0]                s_length,
    input  wire                      s_last,
    input  wire                      s_valid,
    output wire                      s_ready,
    output wire [255:0]              m_axis_tdata,
    output wire [31:0]               m_axis_tkeep,
    output wire                      m_axis_tlast,
    output wire                      m_axis_tvalid,
    input  wire                      m_axis_tready
);
    (* anyseq *) wire ready;
    assign s_ready = ready;
endmodule

`resetall
