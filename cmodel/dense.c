// SPDX-License-Identifier: Apache-2.0
// Profile dense for one quad at a time, in the shape of the specification (docs/codec.md): read
// this first. Every faster path is compared with it.
#include "dense.h"

#include <string.h>

#include "record.h"

enum { PART_QUADS = GN_PART / GN_QUAD };

#define FOUR(c) GN_CLASS_BYTES(c), GN_CLASS_BYTES((c) + 1), GN_CLASS_BYTES((c) + 2), GN_CLASS_BYTES((c) + 3)
const uint8_t gn_class_bytes[GN_CLASS_COUNT] = {FOUR(0), FOUR(4), FOUR(8), FOUR(12)};

// ---- one group: a class, and the bit planes that it keeps

// Bits that a number >= 0 needs.
static unsigned bit_length(uint32_t number)
{
    return number ? 32 - (unsigned)__builtin_clz(number) : 0;
}

// The class that the canonical encoding gives a group.
static unsigned class_of(const gn_dense_group *group)
{
    if (group->raw) return GN_CLASS_WORDS;
    uint32_t any = 0, negative = 0, magnitudes = 0;
    for (unsigned lane = 0; lane < GN_GROUP; lane++) {
        uint32_t q = group->word[lane], sign = q >> 31;
        any |= q;
        negative |= sign;
        magnitudes |= sign ? ~q : q;
        if (q == (uint32_t)-32768)
            return GN_CLASS_WORDS;  // 16 planes would hold it, but no single value quantises to it
    }
    unsigned length = bit_length(magnitudes);
    if (!any) return 0;
    if (!negative && length <= 3) return 8 + length;
    for (unsigned class = 1; class < GN_CLASS_WORDS; class ++)
        if (!GN_CLASS_UNSIGNED(class) && GN_CLASS_PLANES(class) > length) return class;
    return GN_CLASS_WORDS;
}

static void put_group(const gn_dense_group *group, unsigned class, uint8_t *payload)
{
    unsigned planes = GN_CLASS_PLANES(class);
    for (unsigned p = 0; p < planes; p++) {
        unsigned plane = 0;
        for (unsigned lane = 0; lane < GN_GROUP; lane++) plane |= (group->word[lane] >> p & 1) << lane;
        payload[p] = (uint8_t)plane;
    }
    if (class == GN_CLASS_WORDS) payload[planes] = (uint8_t)group->raw;
}

static void get_group(const uint8_t *payload, unsigned class, gn_dense_group *group)
{
    unsigned planes = GN_CLASS_PLANES(class);
    bool has_sign = planes > 0 && planes < 32 && !GN_CLASS_UNSIGNED(class);
    *group = (gn_dense_group){.raw = class == GN_CLASS_WORDS ? payload[planes] : 0};
    for (unsigned lane = 0; lane < GN_GROUP; lane++) {
        uint32_t word = 0;
        for (unsigned p = 0; p < planes; p++) word |= (uint32_t)(payload[p] >> lane & 1) << p;
        if (has_sign && word >> (planes - 1)) word |= ~0u << planes;
        group->word[lane] = word;
    }
}

// ---- one quad

size_t gn_dense_put(const gn_dense_quad quad, uint8_t record[GN_QUAD_MAX])
{
    unsigned header = 0;
    size_t at = GN_QUAD_HEADER;
    for (unsigned g = 0; g < GN_QUAD_GROUPS; g++) {
        unsigned class = class_of(&quad[g]);
        put_group(&quad[g], class, record + at);
        header |= class << (4 * g);
        at += gn_class_bytes[class];
    }
    if (!header) return 0;
    record[0] = (uint8_t)header;
    record[1] = (uint8_t)(header >> 8);
    return at;
}

void gn_dense_get(const uint8_t *record, gn_dense_quad quad)
{
    unsigned header = gn_quad_header(record);
    const uint8_t *payload = record + GN_QUAD_HEADER;
    for (unsigned g = 0; g < GN_QUAD_GROUPS; g++) {
        unsigned class = gn_quad_class(header, g);
        get_group(payload, class, &quad[g]);
        payload += gn_class_bytes[class];
    }
}

bool gn_dense_missing_empty(const uint8_t *record, size_t lanes)
{
    unsigned header = gn_quad_header(record);
    const uint8_t *payload = record + GN_QUAD_HEADER;
    for (unsigned g = 0; g < GN_QUAD_GROUPS; g++) {
        unsigned class = gn_quad_class(header, g);
        size_t first = (size_t)g * GN_GROUP, present = lanes > first ? lanes - first : 0;
        if (!present && class) return false;
        // Planes and raw mask have a bit per lane.
        for (unsigned b = 0; b < gn_class_bytes[class]; b++)
            if (present < GN_GROUP && payload[b] >> present) return false;
        payload += gn_class_bytes[class];
    }
    return true;
}

// ---- a stream: quad records and zero runs

bool gn_dense_append(gn_dense_writer *writer, const uint8_t *record, size_t bytes)
{
    if (!bytes) return gn_dense_append_zeros(writer);
    if (bytes > (size_t)(writer->end - writer->out)) return false;
    memcpy(writer->out, record, bytes);
    writer->out += bytes;
    writer->run = 0;
    return true;
}

size_t gn_dense_bound(size_t count)
{
    if (!count) return 0;
    size_t groups = gn_group_count(count), quads = gn_quad_count(count);
    if (groups > (SIZE_MAX - quads * GN_QUAD_HEADER) / GN_CLASS_BYTES_MAX) return SIZE_MAX;
    return groups * GN_CLASS_BYTES_MAX + quads * GN_QUAD_HEADER;
}

// Parts that begin within an item: `done` quads from quad `first` on.
static void note_parts(uint64_t *index, size_t first, size_t done, size_t offset)
{
    for (size_t part = (first + PART_QUADS - 1) / PART_QUADS; part * PART_QUADS < first + done; part++)
        index[part] = (uint64_t)offset << GN_PART_ITEM_SHIFT | (part * PART_QUADS - first);
}

// `index`: NULL, or room for an entry for each part.
static gn_status walk(const uint8_t *stream, size_t bytes, size_t count, gn_tally *tally, uint64_t *index,
                      size_t *error_offset)
{
    size_t quads = gn_quad_count(count), offset = 0;
    gn_tally sum = {.values = count, .groups = gn_group_count(count), .stream_bytes = bytes};
    for (size_t left = quads; left > 0;) {
        const uint8_t *item = stream + offset;
        *error_offset = offset;
        if (bytes - offset < GN_RUN_ITEM) return GN_TRUNCATED;  // records are no shorter
        unsigned header = gn_quad_header(item);
        size_t done = 1, length = GN_RUN_ITEM;
        if (header) {
            length = gn_quad_bytes(header);
            if (length > bytes - offset) return GN_TRUNCATED;
            if (left == 1 && !gn_dense_missing_empty(item, count - (quads - 1) * GN_QUAD)) return GN_CORRUPT;
        } else {
            done = (size_t)item[GN_QUAD_HEADER] + 1;
            if (done > left) return GN_CORRUPT;
        }
        for (unsigned g = 0; header && g < GN_QUAD_GROUPS; g++) sum.classes[gn_quad_class(header, g)]++;
        if (index) note_parts(index, quads - left, done, offset);
        left -= done;
        offset += length;
    }
    *error_offset = offset;
    if (offset != bytes) return GN_CORRUPT;
    sum.classes[0] = sum.groups;
    for (unsigned class = 1; class < GN_CLASS_COUNT; class ++) sum.classes[0] -= sum.classes[class];
    *tally = sum;
    return GN_OK;
}

gn_status gn_dense_walk(const uint8_t *stream, size_t bytes, size_t count, gn_tally *tally, size_t *error_offset)
{
    return walk(stream, bytes, count, tally, NULL, error_offset);
}

gn_status gn_dense_index(const uint8_t *stream, size_t bytes, size_t count, uint64_t *index, size_t *error_offset)
{
    gn_tally tally;
    return walk(stream, bytes, count, &tally, index, error_offset);
}
