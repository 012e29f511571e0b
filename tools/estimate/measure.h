// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_ESTIMATE_MEASURE_H
#define GRADNIC_TOOLS_ESTIMATE_MEASURE_H
/// Ratios of real gradients and of their sums. Sums compress less well than what is summed. Most of
/// what crosses a ring are sums.

#include <gradnic/codec.h>

#include "model.h"
#include "net/error.h"

/// Fills the ratios and the size of `setting` from files with one gradient of each rank. Fewer
/// files than ranks are used in turn. Only streams are counted, no packets' headers.
/// @return GN_OK, GN_INVALID when files differ in length, GN_NO_MEMORY, or what reading gave
gn_status gn_estimate_measure(gn_setting *setting, const gn_codec *codec, char *const *files, int count,
                              gn_error *error);

#endif
