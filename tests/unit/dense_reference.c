// SPDX-License-Identifier: Apache-2.0
#include "dense_reference.h"

#include <math.h>
#include <string.h>

const uint8_t dense_planes[DENSE_CLASSES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 10, 12, 16, 32};
const uint8_t dense_bytes[DENSE_CLASSES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 10, 12, 16, 33};

static bool is_signed(unsigned class)
{
    return class >= 1 && class != 9 && class != 10 && class != 11 && class != 15;
}

unsigned dense_class(const dense_lane lanes[8])
{
    uint32_t magnitudes = 0;
    bool negative = false, zero = true;
    for (int i = 0; i < 8; i++) {
        int32_t q = (int32_t)lanes[i].word;
        if (lanes[i].raw || q > 32767 || q < -32767) return 15;
        zero = zero && q == 0;
        negative = negative || q < 0;
        magnitudes |= (uint32_t)(q < 0 ? -q - 1 : q);
    }
    int bits = 0;
    while (magnitudes >> bits) bits++;
    if (zero) return 0;
    if (!negative && bits <= 3) return 8 + (unsigned)bits;
    unsigned class = 1;
    while (!is_signed(class) || dense_planes[class] < bits + 1) class ++;
    return class;
}

size_t dense_write_group(const dense_lane lanes[8], unsigned class, uint8_t *payload)
{
    memset(payload, 0, dense_bytes[class]);
    for (unsigned p = 0; p < dense_planes[class]; p++)
        for (unsigned i = 0; i < 8; i++) payload[p] = (uint8_t)(payload[p] | (lanes[i].word >> p & 1) << i);
    for (unsigned i = 0; i < 8 && class == 15; i++) payload[32] = (uint8_t)(payload[32] | lanes[i].raw << i);
    return dense_bytes[class];
}

size_t dense_write(const dense_lane *lanes, size_t count, uint8_t *stream, size_t *ends)
{
    size_t at = 0, zero_quads = 0;  // those that the stream ends with
    for (size_t first = 0; first < count; first += DENSE_QUAD) {
        unsigned header = 0;
        size_t end = at + 2, zero_end = zero_quads % 256 ? at : at + 3;
        for (size_t group = 0; group < 4 && first + 8 * group < count; group++) {
            size_t begin = first + 8 * group, present = count - begin < 8 ? count - begin : 8;
            dense_lane eight[8] = {0};
            memcpy(eight, lanes + begin, present * sizeof *eight);
            unsigned class = dense_class(eight);
            header |= class << 4 * group;
            end += dense_write_group(eight, class, stream + end);
            if (ends) *ends++ = header ? end : zero_end;
        }
        if (header) {
            stream[at] = (uint8_t)(header & 255), stream[at + 1] = (uint8_t)(header >> 8);
            at = end;
            zero_quads = 0;
        } else {
            if (zero_end > at) stream[at] = stream[at + 1] = 0;
            at = zero_end;
            stream[at - 1] = (uint8_t)(zero_quads++ % 256);
        }
    }
    return at;
}

static dense_lane read_lane(const uint8_t *payload, unsigned class, unsigned i)
{
    dense_lane lane = {.raw = class == 15 && (payload[32] >> i & 1)};
    int64_t q = 0, weight = 1;
    for (unsigned p = 0; p < dense_planes[class]; p++, weight *= 2) {
        bool top = p + 1 == dense_planes[class];
        if (payload[p] >> i & 1) q += top && is_signed(class) ? -weight : weight;
    }
    lane.word = (uint32_t)q;
    return lane;
}

static bool read_quad(const uint8_t *item, size_t first, size_t count, dense_lane *lanes)
{
    const uint8_t *payload = item + 2;
    for (size_t group = 0; group < 4; group++) {
        unsigned class = item[group / 2] >> 4 * (group % 2) & 15;
        if (class && first + 8 * group >= count) return false;
        for (unsigned i = 0; i < 8; i++) {
            size_t at = first + 8 * group + i;
            dense_lane lane = read_lane(payload, class, i);
            if (at < count)
                lanes[at] = lane;
            else if (lane.word || lane.raw)
                return false;
        }
        payload += dense_bytes[class];
    }
    return true;
}

gn_status dense_read(const uint8_t *stream, size_t bytes, size_t count, dense_lane *lanes, uint64_t *classes,
                     size_t *fault)
{
    uint64_t unused[DENSE_CLASSES];
    size_t at = 0;
    if (!classes) classes = unused;
    memset(classes, 0, sizeof unused);
    for (size_t first = 0; first < count;) {
        *fault = at;
        size_t left = bytes - at, quads = (count - first + 31) / 32;
        if (left < 3) return GN_TRUNCATED;
        const uint8_t *item = stream + at;
        if (item[0] == 0 && item[1] == 0) {
            size_t run = item[2] + (size_t)1;
            if (run > quads) return GN_CORRUPT;
            for (size_t end = first + run * DENSE_QUAD; first < count && first < end; first++)
                lanes[first] = (dense_lane){0};
            at += 3;
            continue;
        }
        size_t length = 2;
        for (unsigned group = 0; group < 4; group++) length += dense_bytes[item[group / 2] >> 4 * (group % 2) & 15];
        if (length > left) return GN_TRUNCATED;
        if (!read_quad(item, first, count, lanes)) return GN_CORRUPT;
        for (unsigned group = 0; group < 4; group++) classes[item[group / 2] >> 4 * (group % 2) & 15]++;
        first += DENSE_QUAD;
        at += length;
    }
    *fault = at;
    classes[0] = (count + 7) / 8;
    for (unsigned class = 1; class < DENSE_CLASSES; class ++) classes[0] -= classes[class];
    return at == bytes ? GN_OK : GN_CORRUPT;
}

uint32_t dense_value(dense_lane lane, int k)
{
    if (lane.raw || lane.word == 0) return lane.word;
    float value = (float)ldexp((int32_t)lane.word, 1 - k);  // exact in double; then to nearest, ties to even
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
