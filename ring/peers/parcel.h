// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_PEERS_PARCEL_H
#define GRADNIC_RING_PEERS_PARCEL_H
/// What travels on connections for messages between two ranks: parcels. This is the one place where
/// their heads are written and read. Pure functions. The format is in docs/collectives-protocol.md.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GN_PARCEL_HEAD = 24,
    GN_PARCEL_VERSION = 1,
    GN_PARCEL_WHOLE_MAX = 64 << 10,  ///< bytes of a message that is sent without being asked for
    GN_PARCEL_PART_MAX = 256 << 10,
    /// Bytes of messages that the receiver has not wanted yet, of one rank.
    GN_PARCEL_WINDOW = 1 << 20,
    GN_PARCEL_COST = 64  ///< what a message takes of the window, beside its bytes if they come, too
};

typedef enum gn_parcel_type {
    // From the rank that sends.
    GN_PARCEL_WHOLE = 1,  ///< a message, with its bytes
    GN_PARCEL_OFFER,      ///< a message, whose bytes come when they are accepted
    GN_PARCEL_PART,       ///< some of its bytes
    // From the rank that receives.
    GN_PARCEL_ACCEPT,  ///< its bytes are wanted
    GN_PARCEL_CREDIT,  ///< so much of the window is free again
    // From both.
    GN_PARCEL_ALIVE,  ///< a sign of life
    GN_PARCEL_END,    ///< nothing more will come
    GN_PARCEL_TYPES
} gn_parcel_type;

/// A field that a type does not need is 0.
typedef struct gn_parcel {
    gn_parcel_type type;
    int32_t tag;      ///< WHOLE, OFFER
    uint64_t number;  ///< WHOLE, OFFER, PART, ACCEPT: of the message, from 0 in each direction
    uint64_t bytes;   ///< WHOLE, OFFER: of the message; PART: that follow; CREDIT
} gn_parcel;

void gn_parcel_write(uint8_t out[GN_PARCEL_HEAD], const gn_parcel *parcel);
/// @return false when the bytes are no head, or a field is out of its range
bool gn_parcel_read(const uint8_t bytes[GN_PARCEL_HEAD], gn_parcel *parcel);

/// Bytes that follow a head.
static inline size_t gn_parcel_follows(const gn_parcel *parcel)
{
    return parcel->type == GN_PARCEL_WHOLE || parcel->type == GN_PARCEL_PART ? (size_t)parcel->bytes : 0;
}

/// What a message of so many bytes takes of the window.
static inline size_t gn_parcel_cost(size_t bytes)
{
    return GN_PARCEL_COST + (bytes <= GN_PARCEL_WHOLE_MAX ? bytes : 0);
}

#endif
