// SPDX-License-Identifier: Apache-2.0
// A rule is 64 bits of cfg_rules. This is the one place that says where its fields are.
//   TOS        8 bits, of which the six of DSCP count
//   PROTOCOL   6 TCP, 17 UDP, 0 any
//   PORT_LOW, PORT_HIGH   destination ports, both inclusive
//   PROFILE    0 paper, 1 lattice, 2 dense
//   BOUND_EXP  k, two's complement
//   ENABLE     a rule without it matches nothing
//   UNUSED     0
`ifndef GN_RULE_TOS
`define GN_RULE_TOS       7:0
`define GN_RULE_PROTOCOL  15:8
`define GN_RULE_PORT_LOW  31:16
`define GN_RULE_PORT_HIGH 47:32
`define GN_RULE_PROFILE   49:48
`define GN_RULE_BOUND_EXP 57:50
`define GN_RULE_UNUSED    62:58
`define GN_RULE_ENABLE    63
`endif
