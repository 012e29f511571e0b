// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_CODEC_OPTIONS_H
#define GRADNIC_TOOLS_KIT_CODEC_OPTIONS_H
/// Profiles, bounds and kernels as options take them. A parser takes the whole text or fails with
/// GN_INVALID; it writes its results on success only.

#include <gradnic/codec.h>

#include "net/error.h"
#include "units.h"

/// A bound by its exponent k: "10" or "2^-10" is 10, "-3" or "2^3" is -3. -31 <= k <= 126: the
/// range of all profiles together. gn_check_bound() knows the range of one.
gn_status gn_parse_bound(const char *text, int *bound_exp, gn_error *error);

/// A list of bounds: "6,8,10". At most `capacity`, in the order given; duplicates are refused.
gn_status gn_parse_bounds(const char *text, int *bounds, size_t capacity, size_t *count, gn_error *error);

/// One profile by its name.
gn_status gn_parse_profile(const char *text, gn_profile *profile, gn_error *error);

/// The same for an option that takes one more word, such as "none". The caller has looked for
/// that word. An error lists it.
gn_status gn_parse_profile_or(const char *text, const char *other, gn_profile *profile, gn_error *error);

/// A list of profiles: "paper,lattice", or "all" for every profile of this version. `profiles` has
/// room for GN_PROFILE_COUNT.
gn_status gn_parse_profiles(const char *text, gn_profile *profiles, size_t *count, gn_error *error);

/// Every profile of this version. @return how many
size_t gn_all_profiles(gn_profile profiles[GN_PROFILE_COUNT]);

/// A codec kernel by its name, or "auto". This machine must be able to run it. `*kernel` is
/// `text`.
gn_status gn_parse_kernel(const char *text, const char **kernel, gn_error *error);

/// All names, for --help. The man page is the same whatever machine makes it.
#define GN_KERNEL_NAMES "auto, scalar, avx2, gfni, avx512, avx512-gfni, neon"

/// Whether a profile takes this bound: "lattice takes bounds from 2^31 (-31) to 2^-31 (31); 64 is
/// outside".
gn_status gn_check_bound(gn_profile profile, int bound_exp, gn_error *error);

gn_text gn_human_bound(int bound_exp);  ///< "2^-10"

#endif
