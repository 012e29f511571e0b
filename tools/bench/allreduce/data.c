// SPDX-License-Identifier: Apache-2.0
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allreduce.h"
#include "tools/files/values.h"
#include "tools/kit/output.h"

/// A made value, similar to a gradient: mostly small, both signs, below 1/4.
static float made(int rank, size_t index)
{
    uint64_t x = ((uint64_t)rank + 1) * 0x9E3779B97F4A7C15u + index * 0xD1B54A32D192ED03u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x ^= x >> 27;
    float unit = (float)(int32_t)(uint32_t)x * 0x1p-31f;
    return unit * unit * unit * 0.25f;
}

static float input(const gn_allreduce_data *data, int rank, size_t index)
{
    return data->values ? data->values[rank][index % data->counts[rank]] : made(rank, index);
}

/// The pattern with %r replaced by the rank.
static gn_status file_name(const char *pattern, int rank, char *path, size_t room, gn_error *error)
{
    const char *mark = strstr(pattern, "%r");
    int n = mark ? snprintf(path, room, "%.*s%d%s", (int)(mark - pattern), pattern, rank, mark + 2)
                 : snprintf(path, room, "%s", pattern);
    return n < 0 || (size_t)n >= room ? gn_fail(error, GN_INVALID, "%s: name too long", pattern) : GN_OK;
}

gn_status gn_allreduce_data_load(gn_allreduce_data *data, const char *pattern, int size, gn_error *error)
{
    *data = (gn_allreduce_data){.size = size, .largest = 0.25};  // of made values
    if (!pattern) return GN_OK;
    data->largest = 0;
    data->values = calloc((size_t)size, sizeof *data->values);
    data->counts = calloc((size_t)size, sizeof *data->counts);
    if (!data->values || !data->counts) return gn_fail_memory(error);
    for (int rank = 0; rank < size; rank++) {
        char path[4096];
        gn_status wrong = file_name(pattern, rank, path, sizeof path, error);
        if (!wrong) wrong = gn_values_load(path, GN_FORMAT_AUTO, &data->values[rank], &data->counts[rank], error);
        if (!wrong && !data->counts[rank]) wrong = gn_fail(error, GN_INVALID, "%s: no values", path);
        if (wrong) return wrong;
        // Not fmax(): GCC 12 for aarch64 fails with an internal error where it makes vectors of it.
        for (size_t i = 0; i < data->counts[rank]; i++) {
            const double magnitude = fabs((double)data->values[rank][i]);
            if (magnitude > data->largest) data->largest = magnitude;
        }
    }
    return GN_OK;
}

gn_status gn_allreduce_data_check_output(const char *pattern, int size, const char *path, gn_error *error)
{
    gn_status wrong = GN_OK;
    for (int rank = 0; pattern && path && rank < size && !wrong; rank++) {
        char input[4096];
        const char *name = input;
        wrong = file_name(pattern, rank, input, sizeof input, error);
        if (!wrong) wrong = gn_output_check_inputs(path, &name, 1, error);
    }
    return wrong;
}

void gn_allreduce_data_free(gn_allreduce_data *data)
{
    for (int rank = 0; data->values && rank < data->size; rank++) free(data->values[rank]);
    free(data->values);
    free(data->counts);
}

void gn_allreduce_data_fill(const gn_allreduce_data *data, gn_type type, int rank, void *values, size_t count)
{
    float *singles = values;
    for (size_t i = 0; i < count; i++)
        if (type == GN_F32)
            singles[i] = input(data, rank, i);
        else
            gn_allreduce_element_write(type, gn_allreduce_element(type, input(data, rank, i)), values, i);
}

/// A value as the specification quantises it. Lattice and dense send a value beyond 32767 steps
/// raw (`*raw` is set), but only multiples of the step are added.
static double specified(const gn_codec *codec, float value, bool *raw)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    gn_code code = gn_lane_encode(codec, bits);
    *raw |= code.tag == 3;
    if (codec->profile != GN_PAPER && code.tag == 3)
        return rint(ldexp((double)value, codec->bound_exp - 1)) * ldexp(1, 1 - codec->bound_exp);
    bits = gn_lane_decode(codec, code);
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/// The largest error of additions in binary32, in any order.
static double rounding_of(const gn_allreduce_data *data, double magnitude)
{
    return magnitude * data->size * 0x1p-23;
}

/// The largest allowed distance between a result and the exact sum of the inputs.
static double tolerance(const gn_allreduce_data *data, const gn_allreduce_options *o, double magnitude)
{
    const int size = data->size;
    double rounding = rounding_of(data, magnitude);
    // Block floating point: half a unit for each rank. That is at most 4 * size * 2^-30 of a
    // chunk's largest magnitude, and at least 2^-127 (docs/switch.md).
    if (!o->quantise && o->comm.algorithm == GN_SWITCH)
        rounding += data->largest * size * size * 0x1p-29 + size * 0x1p-127;
    // In 16 bits: 2^-11 of each contribution and of the sum.
    if (o->comm.switch_half == GN_HALF_ALL && o->type == GN_F32) rounding += 2 * magnitude * 0x1.01p-11;
    if (!o->comm.compress) return rounding;
    // paper: at every hop its 8-bit class cuts up to 2^-7, with any bound
    if (o->comm.codec.profile == GN_PAPER) return rounding + size * fmax(0x1p-7, ldexp(1, -o->comm.codec.bound_exp));
    return rounding + size * ldexp(1, -o->comm.codec.bound_exp);
}

static bool is_sum(gn_op op)
{
    return op == GN_SUM || op == GN_AVERAGE;
}

/// Values that are not added, and other types than binary32: 16-bit floats are those of binary32,
/// rounded once.
static bool element_is_right(const gn_allreduce_data *data, const gn_allreduce_options *o, double result, size_t index)
{
    const gn_type type = o->type;
    const bool quantised = (type == GN_F32 || type == GN_BF16 || type == GN_F16) && is_sum(o->op) && o->quantise;
    double all = 0, magnitude = 0;
    bool raw = false;
    for (int rank = 0; rank < data->size; rank++) {
        const double value = gn_allreduce_element(type, input(data, rank, index));
        magnitude += fabs(value);
        if (is_sum(o->op))
            all += quantised ? specified(&o->comm.codec, (float)value, &raw) : value;
        else if (!rank || (o->op == GN_MIN ? value < all : value > all) || isnan(value))
            all = isnan(all) && rank ? all : value;
    }
    if (!is_sum(o->op)) return isnan(all) ? isnan(result) : result == all;
    if (type >= GN_I32 && type <= GN_U8) return result == gn_allreduce_rounded(type, all);
    if (o->op == GN_AVERAGE) all /= data->size;
    if (!isfinite(all) || !isfinite((float)magnitude)) return isnan(all) ? isnan(result) : true;
    const bool exact = quantised && !raw && o->comm.codec.profile != GN_PAPER && o->comm.scale == GN_SCALE_NONE;
    if (exact) return result == gn_allreduce_rounded(type, (double)(float)all);
    if (o->comm.scale != GN_SCALE_NONE) return true;
    const double most = type == GN_F64 ? magnitude * data->size * 0x1p-52 : tolerance(data, o, magnitude);
    // A sum beyond the type is infinite, with its sign.
    if (isinf(result)) return (result > 0) == (all > 0) && isinf(gn_allreduce_rounded(type, fabs(all) + most));
    return fabs(result - all) <= most + 2 * gn_allreduce_rounding(type, fabs(all) + most);
}

/// The result is NaN if the sum is NaN, and infinite with its sign if the sum is infinite.
static bool same(float expected, float result)
{
    return isnan(expected) ? isnan(result) : expected == result;
}

/// The error is at most `most`. A result may be infinite if additions in some order leave
/// binary32 on the way.
static bool near(float result, double divisor, double sum, double magnitude, double most)
{
    return islessequal(fabs((double)result * divisor - sum), most) || (magnitude > FLT_MAX && isinf(result));
}

uint64_t gn_allreduce_data_check(const gn_allreduce_data *data, const gn_allreduce_options *o, const void *results,
                                 size_t first, size_t last)
{
    const float *result = results;
    bool exact = o->quantise && o->comm.codec.profile != GN_PAPER && o->comm.scale == GN_SCALE_NONE;
    // With a scale the bound is 2^-k times the RMS. The check takes the largest value instead of
    // the RMS.
    double divisor = o->op == GN_AVERAGE ? data->size : 1;
    uint64_t wrong = 0;
    if (o->type != GN_F32 || !is_sum(o->op)) {
        for (size_t i = first; i < last; i++)
            wrong += !element_is_right(data, o, gn_allreduce_element_read(o->type, results, i), i);
        return wrong;
    }
    for (size_t i = first; i < last; i++) {
        double sum = 0, quantised = 0, magnitude = 0;
        bool raw = false;
        for (int rank = 0; rank < data->size; rank++) {
            float value = input(data, rank, i);
            sum += (double)value;
            magnitude += fabs((double)value);
            if (exact) quantised += specified(&o->comm.codec, value, &raw);
        }
        // Other sums are binary32, rounded at each addition.
        if (exact && raw && isfinite((float)quantised))
            wrong += !near(result[i], divisor, quantised, magnitude, rounding_of(data, magnitude));
        else if (exact)
            wrong += !same((float)(quantised / divisor), result[i]);
        else if (!isfinite((float)sum))
            wrong += !same((float)sum, result[i]);
        else if (o->comm.scale == GN_SCALE_NONE)
            wrong += !near(result[i], divisor, sum, magnitude, tolerance(data, o, magnitude));
        else
            wrong += isfinite(result[i]) ? 0 : 1;
    }
    return wrong;
}

uint64_t gn_allreduce_hash(const void *values, size_t bytes)
{
    uint64_t lanes[4] = {1, 2, 3, 4};  // four chains, so the multiplier never stalls
    for (size_t i = 0; i < (bytes + 3) / 4; i++) {
        uint32_t bits = 0;
        memcpy(&bits, (const uint8_t *)values + 4 * i, bytes - 4 * i < sizeof bits ? bytes - 4 * i : sizeof bits);
        lanes[i & 3] = (lanes[i & 3] ^ bits) * 0x100000001B3u;
    }
    return lanes[0] ^ (lanes[1] << 1 | lanes[1] >> 63) ^ (lanes[2] << 2 | lanes[2] >> 62) ^
           (lanes[3] << 3 | lanes[3] >> 61);
}
