// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_LANE_H
#define GRADNIC_LANE_H
/// Internal: the quantisers of single values, as docs/codec.md defines them.

#include <gradnic/codec.h>

enum { GN_LATTICE_MAX = 32767 };  ///< the largest |q| of a value that is not raw

gn_code gn_paper_encode(int bound_exp, uint32_t value_bits);
uint32_t gn_paper_decode(int bound_exp, gn_code code);
gn_code gn_lattice_encode(int bound_exp, uint32_t value_bits);
uint32_t gn_lattice_decode(int bound_exp, gn_code code);

/// The integer q of a lattice code with tag 0, 1 or 2.
int32_t gn_lattice_integer(gn_code code);
/// The bits of the value that any q stands for. Beyond 2^24 it is rounded to nearest even.
uint32_t gn_lattice_value(int bound_exp, int32_t q);

#endif
