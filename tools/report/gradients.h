// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_REPORT_GRADIENTS_H
#define GRADNIC_TOOLS_REPORT_GRADIENTS_H
/// What the report says about dumped gradients: how large values are, and what each profile makes of them.

#include <gradnic/codec.h>

#include "net/error.h"

enum {
    GN_BINADE_LOW = -32,  ///< everything smaller, but not zero, is counted here
    GN_BINADE_HIGH = 3,   ///< everything larger, and what is not finite, is counted here
    GN_BINADES = GN_BINADE_HIGH - GN_BINADE_LOW + 1,
    GN_TALLIES_MAX = 16
};

/// One profile at one bound, over all values.
typedef struct gn_codec_tally {
    gn_codec codec;
    gn_tally tally;
} gn_codec_tally;

typedef struct gn_gradients {
    uint64_t values, zeros;
    uint64_t binade[GN_BINADES];  ///< values with 2^(GN_BINADE_LOW + i) <= |value| < twice that
    gn_codec_tally codec[GN_TALLIES_MAX];
    size_t codecs;
} gn_gradients;

enum { GN_WIDTHS = 4 };  ///< of what is kept of a value: nothing, up to 8 bits, up to 16, 32

/// Shares of the values by what is kept of them. Of dense, which keeps as many bits of each value of a group, by the group.
void gn_codec_widths(const gn_codec_tally *tally, double share[GN_WIDTHS]);

/// Starts with the profiles of this version at the bounds that are drawn.
gn_status gn_gradients_init(gn_gradients *gradients, gn_error *error);

/// Adds a file's values.
gn_status gn_gradients_add(gn_gradients *gradients, const char *path, gn_error *error);

#endif
