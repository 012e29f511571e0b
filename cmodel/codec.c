// SPDX-License-Identifier: Apache-2.0
// A codec: a profile, a bound and the kernel that executes them. Also the codec for one value.
#include "kernels/kernel.h"
#include "profile.h"

gn_status gn_codec_init_kernel(gn_codec *codec, gn_profile profile, int bound_exp, const char *kernel)
{
    const gn_profile_row *row = gn_profile_row_of(profile);
    if (!row) return GN_UNSUPPORTED;
    if (bound_exp < row->lowest || bound_exp > row->highest) return GN_INVALID;
    const gn_kernel *found = gn_kernel_find(kernel, profile);
    if (!found) return GN_UNSUPPORTED;
    *codec = (gn_codec){.profile = profile, .bound_exp = bound_exp, .kernel = found};
    return GN_OK;
}

gn_status gn_codec_init(gn_codec *codec, gn_profile profile, int bound_exp)
{
    return gn_codec_init_kernel(codec, profile, bound_exp, NULL);
}

const char *gn_codec_kernel_name(const gn_codec *codec)
{
    return codec->kernel->name;
}

gn_code gn_lane_encode(const gn_codec *codec, uint32_t value_bits)
{
    return gn_profile_row_of(codec->profile)->encode(codec->bound_exp, value_bits);
}

uint32_t gn_lane_decode(const gn_codec *codec, gn_code code)
{
    return gn_profile_row_of(codec->profile)->decode(codec->bound_exp, code);
}
