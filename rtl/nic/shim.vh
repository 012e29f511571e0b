// SPDX-License-Identifier: Apache-2.0
// Included inside a module. A shim header (docs/wire.md), byte 0 in the lowest bits, is
//   {check[7:0], head[7:0], length[7:0], length[15:8], bound_exp[7:0], version[3:0], kind[3:0],
//    magic[15:0]}
localparam [15:0] SHIM_MAGIC   = 16'h4e47;  // "GN"
localparam [3:0]  SHIM_VERSION = 4'd1;
