// SPDX-License-Identifier: Apache-2.0
#include "ring/coded.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <libdeflate.h>

#include <gradnic/sum.h>

#include "cmodel/little_endian.h"
#include "ring/data.h"
#include "ring/failure.h"

enum { KIND_AT = 3, SEGMENT_AT = 4, BYTES_AT = 8, CHECK_AT = 12, VERSION = 1 };
enum { STREAM = 0, VALUES = 1, RESULT = 2 };  // kinds; RESULT comes on top
static const uint8_t magic[3] = {'G', 'S', VERSION};

size_t gn_coded_values(const gn_comm *comm)
{
    size_t bytes = comm->segment;
    // An aggregator has a buffer for each worker: all share 4 MiB.
    const size_t share = ((size_t)4 << 20) / (size_t)comm->size;
    const gn_algorithm a = comm->config.algorithm;
    const bool aggregates = a == GN_WORKER_AGGREGATOR || a == GN_GROUP_AGGREGATOR || a == GN_AGGREGATORS;
    if (aggregates && share < bytes) bytes = share;
    // With `direct` each rank has at least three for each of the others.
    if ((a == GN_DIRECT || a == GN_AUTO) && share / 2 < bytes) bytes = share / 2;
    return bytes / sizeof(float) & ~(size_t)31;  // whole quads of dense
}

size_t gn_coded_room(const gn_comm *comm)
{
    return gn_coded_room_of(comm, gn_coded_values(comm));
}

size_t gn_coded_room_of(const gn_comm *comm, size_t values)
{
    const size_t bound = gn_stream_bound(comm->config.codec.profile, values);
    const size_t room = bound > values * sizeof(float) ? bound : values * sizeof(float);
    return (GN_CODED_HEADER + room + 63) & ~(size_t)63;
}

// What happens to the values ----------------------------------------------------------------------

static const gn_codec *codec_of(const gn_exchange *x)
{
    return &x->comm->config.codec;
}

static const uint8_t *stream_of(const gn_coded *in)
{
    return in->lies ? in->lies : in->bytes + GN_CODED_HEADER;
}

static size_t stream_bytes(const gn_coded *in)
{
    return in->length - GN_CODED_HEADER;
}

static bool is_stream(const gn_coded *in)
{
    return !(in->bytes[KIND_AT] & VALUES);
}

static void copy(const float *values, size_t count, gn_coded *out)
{
    memcpy(out->bytes + GN_CODED_HEADER, values, count * sizeof *values);
    out->bytes[KIND_AT] = VALUES;
    out->length = GN_CODED_HEADER + count * sizeof *values;
}

/// Checks a segment of values, which a codec has not. @return the values, or NULL
static const float *values_in(const gn_coded *in, size_t count)
{
    return stream_bytes(in) == count * sizeof(float) ? (const float *)(const void *)stream_of(in) : NULL;
}

/// There is room for any stream. `coded`: the values are those that a reader will see.
static void encode(const gn_exchange *x, const float *values, size_t count, bool coded, gn_coded *out)
{
    size_t bytes = 0;
    (void)gn_stream_encode(codec_of(x), values, count, out->bytes + GN_CODED_HEADER,
                           gn_stream_bound(codec_of(x)->profile, count), &bytes);
    out->bytes[KIND_AT] = STREAM;
    out->length = GN_CODED_HEADER + bytes;
    if (coded && bytes >= count * sizeof *values) copy(values, count, out);
}

void gn_coded_own(gn_exchange *x, size_t first, size_t count, gn_coded *out)
{
    const float *values = x->bucket->send + first;
    // What is plain has no raw values, and so is never longer as a stream.
    const bool plain = gn_exchange_is_plain(x, first, count);
    if (!plain) {
        gn_exchange_own(x, first, count);
        values = x->bucket->recv + first;
    }
    const uint64_t start = gn_now();
    encode(x, values, count, !plain && codec_of(x)->profile != GN_PAPER, out);
    x->quantising += gn_now() - start;
}

/// dense: one pass reads the streams, adds and writes. `own`: quantised already, or plain.
static gn_status sum_dense(gn_exchange *x, const float *own, size_t first, size_t count, const gn_coded *const *in,
                           size_t n, gn_coded *out, bool values, size_t *wrong)
{
    gn_stream_view views[GN_SUM_STREAMS];
    for (size_t i = 0; i < n; i++) views[i] = (gn_stream_view){stream_of(in[i]), stream_bytes(in[i])};
    gn_sum sum = {.own = own, .count = count, .streams = views, .stream_count = (unsigned)n};
    gn_sum_fault fault = {0};
    size_t bytes = 0;
    if (values) sum.sums = x->bucket->recv + first;
    if (out) {
        sum.stream = out->bytes + GN_CODED_HEADER;
        sum.capacity = gn_stream_bound(GN_DENSE, count);
    }
    const uint64_t start = gn_now();
    const gn_status status = gn_stream_sum(codec_of(x), &sum, out ? &bytes : NULL, &fault);
    if (out) {
        out->bytes[KIND_AT] = STREAM;
        out->length = GN_CODED_HEADER + bytes;
    }
    x->quantising += gn_now() - start;
    *wrong = fault.stream;
    return status;
}

/// The values to give to sum_dense() as this rank's own.
static const float *own_for_dense(gn_exchange *x, size_t first, size_t count)
{
    if (gn_exchange_is_plain(x, first, count)) return x->bucket->send + first;
    gn_exchange_own(x, first, count);
    return x->bucket->recv + first;
}

/// As many streams at a time as one pass takes. From the second pass on the own values are the sums
/// so far, which are quantised already.
static gn_status sum_all_dense(gn_exchange *x, size_t first, size_t count, const gn_coded *const *in, size_t n,
                               gn_coded *out, bool values, size_t *wrong)
{
    const float *own = own_for_dense(x, first, count);
    gn_status status = GN_OK;
    for (size_t done = 0; done < n && !status;) {
        const size_t part = n - done < GN_SUM_STREAMS ? n - done : GN_SUM_STREAMS;
        const bool last = done + part == n;
        status = sum_dense(x, own, first, count, in + done, part, last ? out : NULL, values || !last, wrong);
        *wrong += done;
        done += part;
        own = x->bucket->recv + first;
    }
    return status;
}

/// `whole`: these are all contributions.
static gn_status sum(gn_exchange *x, size_t first, size_t count, const gn_coded *const *in, size_t n, gn_coded *out,
                     bool values, bool whole, size_t *wrong)
{
    bool streams = codec_of(x)->profile == GN_DENSE;
    for (size_t i = 0; i < n; i++) streams = streams && is_stream(in[i]);
    if (streams) return sum_all_dense(x, first, count, in, n, out, values, wrong);
    gn_exchange_own(x, first, count);
    for (*wrong = 0; *wrong < n; ++*wrong) {
        const gn_status status = gn_coded_join(x, first, count, in[*wrong]);
        if (status) return status;
    }
    if (whole) gn_exchange_settle(x, first, count);
    if (out) gn_coded_values_of(x, first, count, false, out);
    return GN_OK;
}

gn_status gn_coded_sum(gn_exchange *x, size_t first, size_t count, const gn_coded *const *in, size_t n, gn_coded *out,
                       size_t *wrong)
{
    return sum(x, first, count, in, n, out, true, true, wrong);
}

gn_status gn_coded_add(gn_exchange *x, size_t first, size_t count, const gn_coded *in, gn_coded *out, bool values,
                       bool whole)
{
    size_t wrong;
    return sum(x, first, count, &in, 1, out, values, whole, &wrong);
}

gn_status gn_coded_take(gn_exchange *x, size_t first, size_t count, const gn_coded *in)
{
    const uint64_t start = gn_now();
    if (!is_stream(in)) {
        const float *values = values_in(in, count);
        if (values) memcpy(x->bucket->recv + first, values, count * sizeof *values);
        return values ? GN_OK : GN_CORRUPT;
    }
    const gn_status status =
        gn_stream_decode(codec_of(x), stream_of(in), stream_bytes(in), x->bucket->recv + first, count, NULL);
    x->quantising += gn_now() - start;
    return status;
}

gn_status gn_coded_join(gn_exchange *x, size_t first, size_t count, const gn_coded *in)
{
    const uint64_t start = gn_now();
    if (!is_stream(in)) {
        const float *values = values_in(in, count);
        if (values) gn_exchange_add(x, first, count, values);
        return values ? GN_OK : GN_CORRUPT;
    }
    const gn_status status =
        gn_stream_add(codec_of(x), stream_of(in), stream_bytes(in), x->bucket->recv + first, count, NULL);
    x->quantising += gn_now() - start;
    return status;
}

void gn_coded_values_of(gn_exchange *x, size_t first, size_t count, bool plain, gn_coded *out)
{
    const float *values = x->bucket->recv + first;
    const uint64_t start = gn_now();
    if (plain)
        copy(values, count, out);
    else
        encode(x, values, count, codec_of(x)->profile != GN_PAPER, out);
    x->quantising += gn_now() - start;
}

// How they travel ---------------------------------------------------------------------------------

/// Over the header without the check, and the stream.
static uint32_t check_of(const gn_coded *coded)
{
    const uint32_t crc = libdeflate_crc32(0, coded->bytes, CHECK_AT);
    return libdeflate_crc32(crc, stream_of(coded), stream_bytes(coded));
}

void gn_coded_seal(gn_coded *coded, uint32_t segment)
{
    memcpy(coded->bytes, magic, sizeof magic);
    gn_store32(coded->bytes + SEGMENT_AT, segment);
    gn_store32(coded->bytes + BYTES_AT, (uint32_t)stream_bytes(coded));
    gn_store32(coded->bytes + CHECK_AT, check_of(coded));
}

void gn_coded_seal_result(gn_coded *coded, uint32_t segment)
{
    coded->bytes[KIND_AT] |= RESULT;
    gn_coded_seal(coded, segment);
}

bool gn_coded_is_result(const gn_coded *coded)
{
    return coded->bytes[KIND_AT] & RESULT;
}

/// Whether the frame may come here. @return false when kind or number is wrong
static bool is_expected(const gn_coded_in *in)
{
    const bool result = in->results && gn_coded_is_result(in->to);
    const uint8_t kind = in->to->bytes[KIND_AT];
    return kind <= (result ? RESULT | VALUES : VALUES) &&
           gn_load32(in->to->bytes + SEGMENT_AT) == (result ? in->result : in->segment);
}

/// Bytes of the frame that arrives, as far as it is known. @return false when the header is wrong
static bool expect(const gn_comm *comm, gn_coded_in *in)
{
    gn_coded *to = in->to;
    const size_t room = in->room ? in->room : gn_coded_room(comm);
    to->length = GN_CODED_HEADER;
    if (in->filled < GN_CODED_HEADER) return true;
    const size_t bytes = gn_load32(to->bytes + BYTES_AT);
    if (memcmp(to->bytes, magic, sizeof magic) != 0 || !is_expected(in) || bytes > room - GN_CODED_HEADER) return false;
    to->length = GN_CODED_HEADER + bytes;
    return true;
}

/// Whether the next segment lies whole in shared memory, where its stream can be read. Floats have
/// to be aligned for that. Its header is in `bytes` then, and has been looked at by nobody.
static bool lies_there(const gn_comm *comm, gn_coded_in *in, const gn_neighbour *from)
{
    const void *at;
    gn_coded *to = in->to;
    const size_t there = in->filled ? 0 : gn_data_look(from, 1, &at);
    if (there < GN_CODED_HEADER) return false;
    memcpy(to->bytes, at, GN_CODED_HEADER);
    in->filled = GN_CODED_HEADER;
    const bool whole = expect(comm, in) && there >= to->length;
    in->filled = 0;
    const uint8_t *stream = (const uint8_t *)at + GN_CODED_HEADER;
    if (!whole || (!is_stream(to) && (uintptr_t)stream % sizeof(float))) return false;
    to->lies = stream;
    return true;
}

void gn_coded_release(gn_coded *coded, gn_neighbour *from)
{
    if (coded->lies) gn_data_take_off(from, coded->length);
    coded->lies = NULL;
}

void gn_coded_keep(gn_coded *coded, gn_neighbour *from)
{
    if (coded->lies) memcpy(coded->bytes + GN_CODED_HEADER, coded->lies, stream_bytes(coded));
    gn_coded_release(coded, from);
}

/// A segment is whole. @return as gn_coded_receive()
static ssize_t conclude(gn_coded_in *in, ssize_t got, bool *complete)
{
    if (gn_load32(in->to->bytes + CHECK_AT) != check_of(in->to)) return -2;
    in->filled = 0;
    if (gn_coded_is_result(in->to))
        in->result++;
    else
        in->segment++;
    *complete = true;
    return got;
}

ssize_t gn_coded_receive(const gn_comm *comm, gn_coded_in *in, gn_neighbour *from, bool *complete)
{
    ssize_t got = 0, total = 0;
    *complete = false;
    if (lies_there(comm, in, from)) return conclude(in, (ssize_t)in->to->length, complete);
    // The header first, and then what it says.
    for (int part = 0; part < 2; part++) {
        if (!expect(comm, in)) return -2;
        if (in->filled < in->to->length) {
            got = gn_data_receive(from, in->to->bytes + in->filled, in->to->length - in->filled);
            if (got == 0) {
                errno = 0;
                return -1;
            }
            if (got < 0) return total ? total : errno == EAGAIN || errno == EINTR ? 0 : -1;
            in->filled += (size_t)got;
            total += got;
        }
        if (in->filled < GN_CODED_HEADER) return total;
    }
    if (!expect(comm, in)) return -2;
    return in->filled < in->to->length ? total : conclude(in, total, complete);
}

gn_status gn_coded_damaged(gn_comm *comm, int index, const char *what, uint64_t segment)
{
    const gn_neighbour *from = &comm->neighbours[index];
    return gn_oob_fail(comm, GN_CORRUPT, from->rank, "rank %d (%s) sent a segment with %s in the %s, segment %" PRIu64,
                       from->rank, from->name, what, comm->phase, segment);
}
