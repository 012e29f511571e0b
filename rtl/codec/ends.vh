// SPDX-License-Identifier: Apache-2.0
// Included inside a module. Where what begins somewhere in the window ends, as gn_record_table says
// it and gn_record_window uses it. 8 bits: these three, and below them the offset modulo 32.
//   STEP   beat 0 is used up
//   UPPER  with STEP, the offset is in the second of the beats then left; without, it is 32
//   OVER   it has bytes that its frame does not have, which ends in beat 0, or else in beat 1
localparam OVER = 7, STEP = 6, UPPER = 5;
