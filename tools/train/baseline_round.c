// SPDX-License-Identifier: Apache-2.0
#include "baseline_round.h"

#include <math.h>
#include <string.h>

uint64_t gn_baseline_truncate(float *values, size_t count, unsigned bits)
{
    const uint32_t mask = UINT32_MAX << bits;
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, values + i, sizeof word);
        word &= mask;
        memcpy(values + i, &word, sizeof word);
    }
    return count * (uint64_t)(32 - bits);
}

/// The value that is at `place` when `values` are in falling order. Changes their order (Hoare's
/// FIND). NaN counts as 0.
static float at_place(float *values, size_t count, size_t place)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        const float pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (values[i] > pivot) i++;
            while (values[j] < pivot) j--;
            if (i >= j) break;
            const float other = values[i];
            values[i++] = values[j];
            values[j--] = other;
        }
        if (place <= j)
            high = j;
        else
            low = j + 1;
    }
    return values[place];
}

uint64_t gn_baseline_top_k(float *values, size_t count, double share, float *room)
{
    if (!count) return 0;
    size_t k = (size_t)llround(share * (double)count);
    k = k < 1 ? 1 : k > count ? count : k;
    for (size_t i = 0; i < count; i++) room[i] = isnan(values[i]) ? 0 : fabsf(values[i]);
    const float least = at_place(room, count, k - 1);
    size_t above = 0;
    for (size_t i = 0; i < count; i++) above += fabsf(values[i]) > least;
    size_t equal = k - above;  // of those that are just `least`
    for (size_t i = 0; i < count; i++) {
        const float size = fabsf(values[i]);
        if (size > least) continue;
        if (size == least && equal)
            equal--;
        else
            values[i] = 0;
    }
    return k * (uint64_t)64;
}

uint64_t gn_baseline_qsgd(float *values, size_t count, unsigned bits, gn_random *random)
{
    const float levels = (float)((1u << (bits - 1)) - 1);
    uint64_t sent = 0;
    for (size_t start = 0; start < count; start += GN_QSGD_BUCKET) {
        const size_t end = count - start < GN_QSGD_BUCKET ? count : start + GN_QSGD_BUCKET;
        double squares = 0;
        for (size_t i = start; i < end; i++) squares += (double)values[i] * (double)values[i];
        const float norm = (float)sqrt(squares);
        for (size_t i = start; i < end && norm > 0; i++) {
            const float place = fabsf(values[i]) / norm * levels;
            const float level = floorf(place + gn_random_uniform(random, 0, 1));
            values[i] = copysignf(fminf(level, levels) / levels * norm, values[i]);
        }
        sent += 32 + (end - start) * (uint64_t)bits;
    }
    return sent;
}

uint64_t gn_baseline_uniform(float *values, size_t count, unsigned bits)
{
    const float levels = (float)((1u << (bits - 1)) - 1);
    float largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmaxf(largest, fabsf(values[i]));
    for (size_t i = 0; i < count && largest > 0; i++)
        values[i] = rintf(values[i] / largest * levels) / levels * largest;
    return 32 + count * (uint64_t)bits;
}
