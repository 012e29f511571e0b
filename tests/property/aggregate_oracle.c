// SPDX-License-Identifier: Apache-2.0
#include "aggregate_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

/// A value's integer. False when it has none.
static bool integer_of(const gn_codec *codec, float value, int64_t *q)
{
    uint32_t bits, back;
    float rounded;
    memcpy(&bits, &value, sizeof bits);
    const gn_code code = gn_lane_encode(codec, bits);
    if (code.tag == 3) return false;
    back = gn_lane_decode(codec, code);
    memcpy(&rounded, &back, sizeof rounded);
    *q = llrint(rounded * ldexp(1, codec->bound_exp - 1));
    return true;
}

/// One value over all ranks, on the lattice. False when there is no sum of integers.
static bool lattice_sum(const net *n, const gn_codec *codec, float *const *send, size_t at, float *sum)
{
    int64_t all = 0, q;
    for (unsigned rank = 0; rank < n->ranks; rank++) {
        if (!integer_of(codec, send[rank][at], &q)) return false;
        all += q;
    }
    *sum = (float)ldexp((double)(float)all, 1 - n->options.bound_exp);
    if (all == 0) *sum = 0;
    return true;
}

/// A number to 11 significant bits, ties to even: what of an integer a half keeps.
static double in_eleven_bits(double value)
{
    int exponent;
    const double fraction = frexp(value, &exponent);  // below 1
    return ldexp(nearbyint(ldexp(fraction, 11)), exponent - 11);
}

static bool block_sum(const net *n, float *const *send, size_t first, size_t count, bool halves, float *sum)
{
    float most = 0;
    for (unsigned rank = 0; rank < n->ranks; rank++)
        for (size_t i = first; i < first + count; i++) {
            if (!isfinite(send[rank][i])) return false;
            most = fmaxf(most, fabsf(send[rank][i]));
        }
    int exponent = 0, log2_ranks = 0;
    while (1u << log2_ranks < n->ranks) log2_ranks++;
    if (most > 0) {
        while (ldexp(1, exponent) <= most) exponent++;
        while (ldexp(1, exponent - 1) > most) exponent--;
    }
    int unit = most > 0 ? exponent + log2_ranks - 30 : -126;
    if (unit < -126) unit = -126;
    const double step = ldexp(1, unit), steps = ldexp(1, -unit);  // products with them are exact
    for (size_t i = first; i < first + count; i++) {
        double all = 0;
        for (unsigned rank = 0; rank < n->ranks; rank++) {
            const double steps_here = nearbyint(send[rank][i] * steps);
            all += halves ? in_eleven_bits((double)(float)steps_here) : steps_here;
        }
        SUITE_CHECK(fabs(all) < 2147483648.0, "the sum of value %zu has left int32", i);
        sum[i] = (float)((halves ? in_eleven_bits((double)(float)all) : all) * step);
    }
    return true;
}

size_t oracle_chunk(const net *n, bool halves)
{
    const size_t values = n->options.packet_values;
    return n->options.format == GN_AGG_HALF && !halves ? (values + 1) / 2 : values;
}

size_t oracle_sum(const net *n, float *const *send, size_t count, bool halves, float *sum)
{
    size_t fallbacks = 0;
    gn_codec codec;
    SUITE_CHECK(!gn_codec_init_kernel(&codec, GN_LATTICE, n->options.bound_exp, "scalar"), "no codec");
    const size_t full = oracle_chunk(n, halves);
    for (size_t first = 0; first < count; first += full) {
        const size_t left = count - first;
        const size_t chunk = left < full ? left : full;
        bool fits = true;
        if (gn_agg_in_blocks(n->options.format))
            fits = block_sum(n, send, first, chunk, halves, sum);
        else
            for (size_t i = first; i < first + chunk; i++) fits &= lattice_sum(n, &codec, send, i, sum + i);
        if (fits) continue;
        fallbacks++;
        for (size_t i = first; i < first + chunk; i++) {
            sum[i] = send[0][i];
            for (unsigned rank = 1; rank < n->ranks; rank++) sum[i] += send[rank][i];
        }
    }
    return fallbacks;
}
