// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_AGGREGATE_H
#define GRADNIC_AGGREGATE_H
/// @file aggregate.h
/// The packet of aggregation in the network: what workers, switches and parameter servers send each
/// other in UDP. docs/switch.md describes the protocol.
///
/// A packet has a header of 32 bytes, then values: int32, binary32 or halves (little-endian), or a
/// compressed stream. A compressed packet begins with the shim of wire.md, ahead of the header. The
/// header is then the shim's `head`, verbatim. So a NIC on the worker's host can make such a
/// packet.
///
/// The header has its own CRC, or a keyed check in its place (gn_agg_seal()). UDP's checksum covers
/// the values. Thread-safe.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/codec.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GN_AGG_VERSION = 1,        ///< of this protocol
    GN_AGG_HEADER = 32,        ///< bytes of the header
    GN_AGG_WORKERS_MAX = 64,   ///< most children of a switch: bits of a bitmap
    GN_AGG_VALUES_MAX = 2048,  ///< most values of a packet
    GN_AGG_SLOTS_MAX = 32768,  ///< most slots of a job: a slot's number has 15 bits
    GN_AGG_KEY = 16            ///< bytes of the key of a sealed datagram
};

/// What a packet is.
typedef enum gn_agg_type {
    GN_AGG_GRADIENT,       ///< a worker's chunk, or a switch's partial sum, on its way up
    GN_AGG_RESULT,         ///< a whole sum on its way down
    GN_AGG_EVICTED,        ///< to the parameter server: a sum or contribution without a slot
    GN_AGG_REMIND_SWITCH,  ///< give the parameter server what you hold of this chunk
    GN_AGG_REMIND_WORKER,  ///< send your part of this chunk (again), to the parameter server
    GN_AGG_QUERY,          ///< is this chunk known? (from a worker that has waited for long)
    GN_AGG_OVERFLOW,       ///< the chunk has no sum of integers: workers resend it as binary32
    GN_AGG_TYPES           ///< the number of types, not a type
} gn_agg_type;

/// Flags of a header.
enum {
    /// Values are binary32, never compressed, not to be added on the way: the chunk goes past the
    /// slots.
    GN_AGG_FLOAT = 1,
    GN_AGG_POISON = 2,  ///< a partial sum with a part that has no integer: no values follow
    GN_AGG_RESENT = 4,  ///< it was sent before
    GN_AGG_ECN = 8,     ///< a queue on the way up was marked; the worker heeds it
    /// Recovery has held it up: it, a part of it, or the result before it was sent again. Its round
    /// trip does not count.
    GN_AGG_LATE = 16,
    /// GN_AGG_HALF: the chunk travels in 16 bits, as halves (words.h). A contribution has it. So do
    /// sums of such contributions, which still travel in 32 bits on their way up, and results.
    GN_AGG_HALVES = 32,
    GN_AGG_FLAGS = 63  ///< all of them
};

/// How values travel, and what a job's slots hold.
typedef enum gn_agg_format {
    GN_AGG_INT32,    ///< block floating point: int32, with an exponent that all workers agree on
    GN_AGG_LATTICE,  ///< compressed streams, profile lattice; slots hold the integers q
    GN_AGG_DENSE,    ///< compressed streams, profile dense; slots hold the integers q
    GN_AGG_HALF,     ///< as int32, and chunks with GN_AGG_HALVES travel in 16 bits
    GN_AGG_FORMATS   ///< the number of formats, not a format
} gn_agg_format;

/// Returns whether a format is block floating point, without a codec.
static inline bool gn_agg_in_blocks(gn_agg_format format)
{
    return format == GN_AGG_INT32 || format == GN_AGG_HALF;
}

/// How a switch shares its slots among jobs (switch.h).
typedef enum gn_memory_mode {
    GN_PARTITIONED,  ///< each job has slots of its own, each twice
    /// One array for all, first come first served; the rest goes to the parameter server.
    GN_SHARED,
    GN_PREEMPTIVE,   ///< the same, but a chunk of higher priority takes a slot from one of lower
    GN_MEMORY_MODES  ///< the number of modes, not a mode
} gn_memory_mode;

/// One packet, parsed. Numbers are in the host's order.
typedef struct gn_agg_packet {
    uint8_t type;       ///< gn_agg_type
    uint8_t flags;      ///< GN_AGG_ bits
    uint16_t job;       ///< number of the job
    uint16_t gen;       ///< generation of the job: a new one with every start
    uint16_t slot;      ///< 15 bits
    bool version;       ///< which of the slot's two copies
    bool halves;        ///< what follows the header are halves, of 2 bytes each
    uint32_t psn;       ///< number of the chunk in its job; compared by serial arithmetic
    uint64_t bitmap;    ///< who has contributed: bits of the sender's level
    uint8_t level;      ///< of the switch that adds it: 0 for those that workers are connected to
    uint16_t fanin;     ///< contributions that make it whole at that switch, at most 64
    uint16_t priority;  ///< mode preemptive
    int8_t exponent;    ///< block floating point: values are integers times 2^exponent
    /// Block floating point: the exponent proposed (up) or agreed (down) for the slot's next chunk.
    /// Otherwise k of the codec.
    int8_t next;
    uint16_t values;  ///< 0: no values follow (look-ahead alone, a question, a reminder)

    // What follows the header, in the bytes that were parsed; not owned.

    bool shimmed;            ///< a shim header stands ahead; `compressed` comes from it
    bool compressed;         ///< a stream of `profile` and bound 2^-next; false: words, or halves
    gn_profile profile;      ///< of a compressed stream
    const uint8_t *payload;  ///< the values
    size_t payload_bytes;    ///< their length
} gn_agg_packet;

/// What is wrong with bytes that are not a packet.
typedef enum gn_agg_fault {
    GN_AGG_FINE,     ///< nothing
    GN_AGG_SHORT,    ///< shorter than its headers
    GN_AGG_FOREIGN,  ///< another version or type, or not a shim
    GN_AGG_BROKEN,   ///< the header's CRC is wrong
    GN_AGG_FIELD,    ///< a field has an impossible value
    GN_AGG_LENGTH    ///< the payload is not as long as the header says
} gn_agg_fault;

/// Reads the payload of a UDP datagram. The bytes may come from anywhere: `packet` points into
/// them, and nothing past `bytes` is looked at. Compressed streams are not looked into.
GN_API gn_agg_fault gn_agg_parse(const void *datagram, size_t bytes, gn_agg_packet *packet);

/// Returns a few words for a fault ("the header's CRC is wrong").
GN_API const char *gn_agg_fault_string(gn_agg_fault fault);

/// Writes the header alone: GN_AGG_HEADER bytes, with its CRC.
GN_API void gn_agg_write_header(const gn_agg_packet *packet, uint8_t *out);

/// Writes a whole datagram: the header, and packet->values values of 4 bytes from `words` (NULL
/// when there are none).
/// @return its bytes, or 0 when `capacity` is too small.
GN_API size_t gn_agg_write_words(const gn_agg_packet *packet, const void *words, void *out, size_t capacity);

/// Writes a whole datagram with GN_AGG_HALVES: the header, and the halves of packet->values words.
/// @return its bytes, or 0 when `capacity` is too small.
GN_API size_t gn_agg_write_halves(const gn_agg_packet *packet, const gn_codec *codec, const int32_t *words, void *out,
                                  size_t capacity);

/// Writes a whole datagram with a compressed payload behind a shim: the integers `sums`, or, with
/// `floats`, binary32 values, which are quantised. The payload is compressed even where that does
/// not shorten it, so that a receiver need not know how floats are quantised.
/// @return its bytes, at most gn_agg_bound(packet->values); 0 when `capacity` is too small.
GN_API size_t gn_agg_write_stream(const gn_agg_packet *packet, const gn_codec *codec, const int32_t *sums,
                                  const float *floats, void *out, size_t capacity);

/// Writes a parsed packet again, with the payload that it came with. The header may have been
/// changed.
/// @return its bytes, or 0 when `capacity` is too small.
GN_API size_t gn_agg_write_again(const gn_agg_packet *packet, void *out, size_t capacity);

/// Seals a datagram: puts a keyed check of 32 bits (SipHash-2-4) in place of the header's CRC. It
/// covers the header. It does not cover the values, because a NIC on the way may compress them.
/// Bytes that are no datagram stay as they are.
GN_API void gn_agg_seal(const uint8_t key[GN_AGG_KEY], void *datagram, size_t bytes);

/// Opens a sealed datagram: checks the seal, and puts the CRC in its place.
/// @return false when the seal is wrong; then nothing has been changed.
GN_API bool gn_agg_unseal(const uint8_t key[GN_AGG_KEY], void *datagram, size_t bytes);

/// Returns the room that suffices for a datagram of `values` values in any form.
GN_API size_t gn_agg_bound(size_t values);

#ifdef __cplusplus
}
#endif
#endif
