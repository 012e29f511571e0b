// SPDX-License-Identifier: Apache-2.0
#include "ring/peers/parcel.h"

#include "cmodel/little_endian.h"

enum { AT_VERSION = 2, AT_TYPE = 3, AT_TAG = 4, AT_NUMBER = 8, AT_BYTES = 16 };

void gn_parcel_write(uint8_t out[GN_PARCEL_HEAD], const gn_parcel *parcel)
{
    out[0] = 'G';
    out[1] = 'P';
    out[AT_VERSION] = GN_PARCEL_VERSION;
    out[AT_TYPE] = (uint8_t)parcel->type;
    gn_store32(out + AT_TAG, (uint32_t)parcel->tag);
    gn_store64(out + AT_NUMBER, parcel->number);
    gn_store64(out + AT_BYTES, parcel->bytes);
}

/// Most bytes that each type may speak of, and whether it has a number.
static const struct {
    uint64_t least, most;
    bool numbered, tagged;
} types[GN_PARCEL_TYPES] = {
    [GN_PARCEL_WHOLE] = {0, GN_PARCEL_WHOLE_MAX, true, true},
    [GN_PARCEL_OFFER] = {GN_PARCEL_WHOLE_MAX + 1, PTRDIFF_MAX, true, true},
    [GN_PARCEL_PART] = {1, GN_PARCEL_PART_MAX, true, false},
    [GN_PARCEL_ACCEPT] = {0, 0, true, false},
    [GN_PARCEL_CREDIT] = {1, GN_PARCEL_WINDOW, false, false},
};

bool gn_parcel_read(const uint8_t bytes[GN_PARCEL_HEAD], gn_parcel *parcel)
{
    if (bytes[0] != 'G' || bytes[1] != 'P' || bytes[AT_VERSION] != GN_PARCEL_VERSION) return false;
    const unsigned type = bytes[AT_TYPE];
    if (type < GN_PARCEL_WHOLE || type >= GN_PARCEL_TYPES) return false;
    *parcel = (gn_parcel){.type = (gn_parcel_type)type,
                          .tag = (int32_t)gn_load32(bytes + AT_TAG),
                          .number = gn_load64(bytes + AT_NUMBER),
                          .bytes = gn_load64(bytes + AT_BYTES)};
    if ((!types[type].numbered && parcel->number) || (!types[type].tagged && parcel->tag)) return false;
    return parcel->bytes >= types[type].least && parcel->bytes <= types[type].most;
}
