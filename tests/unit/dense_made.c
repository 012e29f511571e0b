// SPDX-License-Identifier: Apache-2.0
#include "dense_made.h"

#include <math.h>
#include <string.h>

#include <check.h>

#include "streams.h"

static int32_t between(int32_t low, int32_t high, uint64_t *state)
{
    return low + (int32_t)(stream_random(state) % (uint64_t)((int64_t)high - low + 1));
}

void dense_make_lanes(unsigned class, dense_lane lanes[8], uint64_t *state)
{
    // The smallest number that no smaller class holds, and the largest that this class holds. Below
    // zero both are one further from it.
    static const int32_t smallest[16] = {0, 0, 1, 2, 4, 8, 16, 32, 64, 1, 2, 4, 128, 512, 2048, 0};
    static const int32_t largest[16] = {0, 0, 1, 3, 7, 15, 31, 63, 127, 1, 3, 7, 511, 2047, 32767, 32767};
    bool nonnegative = class == 0 || (class >= 9 && class <= 11);
    int32_t low = nonnegative ? 0 : class >= 14 ? -32767 : -largest[class] - 1, lowest = -smallest[class] - 1;
    for (int i = 0; i < 8; i++) lanes[i] = (dense_lane){.word = (uint32_t)between(low, largest[class], state)};
    dense_lane *chosen = &lanes[stream_random(state) % 8];
    bool up = nonnegative || (class >= 5 && (stream_random(state) & 1));
    chosen->word = (uint32_t)(up ? between(smallest[class], largest[class], state) : between(low, lowest, state));
    if (class == 15) {
        uint32_t sign_and_mantissa = (uint32_t)stream_random(state) & 0x807fffff;
        *chosen = (dense_lane){true, sign_and_mantissa | (uint32_t)between(134, 255, state) << 23};
    }
    if (dense_class(lanes) != class) ck_abort_msg("these lanes are not of class %u", class);
}

void dense_make_values(const dense_lane *lanes, size_t count, int k, float *values)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = dense_value(lanes[i], k);
        memcpy(&values[i], &bits, sizeof bits);
    }
}

// What is missing in the last quad is left out of its record.
static size_t make_record(size_t present, uint8_t *record, uint64_t *state)
{
    unsigned limit = stream_random(state) & 1 ? 12 : 16, header = 0;
    while (!header)
        for (unsigned g = 0; 8 * g < present && g < 4; g++) header |= (unsigned)(stream_random(state) % limit) << 4 * g;
    record[0] = (uint8_t)header, record[1] = (uint8_t)(header >> 8);
    size_t at = 2;
    for (unsigned g = 0; g < 4; g++) {
        unsigned here = present >= 8 * g + 8 ? 255 : present > 8 * g ? (1u << (present - 8 * g)) - 1 : 0;
        for (unsigned b = 0; b < dense_bytes[header >> 4 * g & 15]; b++)
            record[at++] = (uint8_t)(stream_random(state) & here);
    }
    return at;
}

size_t dense_make_stream(size_t count, uint8_t *stream, size_t *starts, uint64_t *state)
{
    size_t at = 0, items = 0;
    for (size_t quads = (count + 31) / 32, quad = 0; quad < quads;) {
        starts[items++] = at;
        if (stream_random(state) % 3 == 0) {
            size_t left = quads - quad, run = 1 + stream_random(state) % (left < 256 ? left : 256);
            stream[at] = stream[at + 1] = 0, stream[at + 2] = (uint8_t)(run - 1);
            at += 3, quad += run;
        } else {
            at += make_record(count - 32 * quad, stream + at, state);
            quad++;
        }
    }
    starts[items] = at;
    return items;
}
