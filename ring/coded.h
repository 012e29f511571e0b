// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_CODED_H
#define GRADNIC_RING_CODED_H
/// Values as streams: what a rank does that compresses itself (offload library). A vector travels
/// in segments. Each is a frame: a header, and a stream of the communicator's codec. The format is
/// in docs/collectives.md.
///
/// What comes from a peer is not believed: the header says no more than how many bytes follow, up
/// to the room that a segment may need, and the codec checks the stream as it reads.
/// A segment whose stream would not be shorter than its values may hold the values.
///
/// A segment that lies whole in shared memory is read there. Its header is copied and checked
/// first. The other rank could change the stream while it is read. The codec's checks hold then,
/// too: they are made of what they read. Only the other rank's own values could come out otherwise.

#include "ring/exchange.h"

enum { GN_CODED_HEADER = 16 };

/// One segment on its way. `bytes` has room for a header and the longest stream.
typedef struct gn_coded {
    uint8_t *bytes;
    const uint8_t *lies;  ///< its stream, in shared memory; NULL: it follows the header in `bytes`
    size_t length;        ///< of header and stream
    uint64_t item;        ///< its number, counted by the sender
} gn_coded;

/// Values of a segment, and bytes that a gn_coded needs for any of them.
size_t gn_coded_values(const gn_comm *comm);
size_t gn_coded_room(const gn_comm *comm);
/// The same for so many values.
size_t gn_coded_room_of(const gn_comm *comm, size_t values);

/// Codes this rank's own contribution of `count` values from `first` on. A part of `recv` may get
/// the quantised values.
void gn_coded_own(gn_exchange *x, size_t first, size_t count, gn_coded *out);
/// Adds this rank's contribution to those in `in`. `out` (NULL: not wanted) gets the sum as a
/// stream. `values`: `recv` is to have it, too. `whole`: this was the last contribution.
/// @return GN_OK; GN_TRUNCATED or GN_CORRUPT when `in` is not a stream of so many values
gn_status gn_coded_add(gn_exchange *x, size_t first, size_t count, const gn_coded *in, gn_coded *out, bool values,
                       bool whole);
/// Decodes a segment to `recv`. @return as gn_coded_add()
gn_status gn_coded_take(gn_exchange *x, size_t first, size_t count, const gn_coded *in);
/// Adds a segment to what is in `recv`. @return as gn_coded_add()
gn_status gn_coded_join(gn_exchange *x, size_t first, size_t count, const gn_coded *in);
/// Codes what is in `recv`, or with `plain` copies it as it is.
void gn_coded_values_of(gn_exchange *x, size_t first, size_t count, bool plain, gn_coded *out);
/// Adds this rank's contribution and those in `in[0..n)`, in this order. `recv` gets the sum, and
/// `out` (NULL: not wanted) as a stream. `*wrong` is the index of the one at fault.
/// @return as gn_coded_add()
gn_status gn_coded_sum(gn_exchange *x, size_t first, size_t count, const gn_coded *const *in, size_t n, gn_coded *out,
                       size_t *wrong);

/// A segment that arrives, in pieces.
typedef struct gn_coded_in {
    gn_coded *to;
    size_t room;       ///< bytes that `to` has; 0: gn_coded_room()
    size_t filled;     ///< bytes of it
    uint32_t segment;  ///< the number that it must have
    bool results;      ///< direct: results may come among contributions...
    uint32_t result;   ///< ... with this number
} gn_coded_in;

/// Reads what there is of a segment from a neighbour, without waiting. `*complete`: it is whole,
/// and its header and check are right.
/// @return bytes read; 0 when there are none; -1 with errno (0: the connection has ended); -2 when
/// the header or the check is wrong
ssize_t gn_coded_receive(const gn_comm *comm, gn_coded_in *in, gn_neighbour *from, bool *complete);
/// What a complete segment holds is not needed any more. It has to be called before the next is
/// received from this neighbour. A segment that was copied stays as it is.
void gn_coded_release(gn_coded *coded, gn_neighbour *from);
/// Copies a complete segment that lies in shared memory to `bytes`, and releases it.
void gn_coded_keep(gn_coded *coded, gn_neighbour *from);
/// Ends the collective: neighbour `index` has sent a segment with `what`. `segment`: its number.
/// @return the status with which the communicator has failed
gn_status gn_coded_damaged(gn_comm *comm, int index, const char *what, uint64_t segment);
/// Writes the header, once the stream is there: the sender counts its segments.
void gn_coded_seal(gn_coded *coded, uint32_t segment);
/// The same for a result of `direct`, which has numbers of its own.
void gn_coded_seal_result(gn_coded *coded, uint32_t segment);
/// Whether a segment is a result.
bool gn_coded_is_result(const gn_coded *coded);

#endif
