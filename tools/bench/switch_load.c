// SPDX-License-Identifier: Apache-2.0
// The datagrams of workers that send a vector each: a burst of one worker, then of the next, as
// sockets give them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/words.h>

#include "switch.h"

enum { BURST = 8, JOB = 1, GEN = 1 };

static gn_profile profile_of(gn_agg_format format)
{
    return format == GN_AGG_LATTICE ? GN_LATTICE : GN_DENSE;
}

/// Values of int32 packets: any integers whose sums do not overflow.
static int32_t integer_of(float value)
{
    const float scaled = value * 0x1p20f;
    if (!(fabsf(scaled) < 0x1p24f)) return 1 << 24;
    return (int32_t)lrintf(scaled);
}

static size_t write_chunk(const gn_bench_load *load, const gn_codec *codec, unsigned worker, size_t chunk, uint8_t *out,
                          size_t room)
{
    int32_t integers[GN_AGG_VALUES_MAX];
    const float *values = load->data[worker] + chunk * load->values;
    const gn_agg_packet header = {.type = GN_AGG_GRADIENT,
                                  .job = JOB,
                                  .gen = GEN,
                                  .slot = (uint16_t)(chunk % load->slots),
                                  .version = chunk / load->slots & 1,
                                  .psn = (uint32_t)chunk,
                                  .bitmap = 1ull << worker,
                                  .fanin = (uint16_t)load->workers,
                                  .next = (int8_t)load->bound_exp,
                                  .values = load->values};
    if (!gn_agg_in_blocks(load->format)) return gn_agg_write_stream(&header, codec, NULL, values, out, room);
    for (size_t i = 0; i < load->values; i++) integers[i] = integer_of(values[i]);
    if (load->format == GN_AGG_HALF) return gn_agg_write_halves(&header, codec, integers, out, room);
    return gn_agg_write_words(&header, integers, out, room);
}

void *gn_bench_lines(size_t bytes)
{
    return aligned_alloc(GN_BENCH_LINE, (bytes + GN_BENCH_LINE - 1) / GN_BENCH_LINE * GN_BENCH_LINE);
}

gn_status gn_bench_load_make(gn_bench_load *load, gn_error *error)
{
    gn_codec codec;
    const size_t room = gn_agg_bound(load->values), count = load->workers * load->chunks;
    if (gn_codec_init(&codec, profile_of(load->format), load->bound_exp))
        return gn_fail(error, GN_INVALID, "the bound is out of range");
    load->bytes = gn_bench_lines(count * (room + GN_BENCH_LINE));
    load->datagrams = calloc(count, sizeof *load->datagrams);
    if (!load->bytes || !load->datagrams) return gn_fail_memory(error);
    size_t at = 0, n = 0;
    for (size_t burst = 0; burst < load->chunks; burst += BURST) {
        for (unsigned worker = 0; worker < load->workers; worker++) {
            for (size_t chunk = burst; chunk < burst + BURST && chunk < load->chunks; chunk++) {
                const size_t bytes = write_chunk(load, &codec, worker, chunk, load->bytes + at, room);
                load->datagrams[n++] = (gn_bench_datagram){
                    .at = at, .chunk = (uint32_t)chunk, .bytes = (uint16_t)bytes, .worker = (uint16_t)worker};
                load->datagram_bytes += bytes;
                at += (bytes + GN_BENCH_LINE - 1) / GN_BENCH_LINE * GN_BENCH_LINE;
            }
        }
    }
    load->count = n;
    load->used = at;
    return GN_OK;
}

void gn_bench_load_free(gn_bench_load *load)
{
    free(load->bytes);
    free(load->datagrams);
    load->bytes = NULL;
    load->datagrams = NULL;
}

/// A sum as a worker would see it: binary32, or the integer itself with int32.
static gn_status read_sums(const gn_bench_load *load, const gn_agg_packet *p, double *sums, gn_error *error)
{
    float values[GN_AGG_VALUES_MAX];
    int32_t words[GN_AGG_VALUES_MAX] = {0};
    gn_codec codec;
    gn_codec_init(&codec, profile_of(load->format), load->bound_exp);
    if (gn_agg_in_blocks(load->format)) {
        if (p->halves != (load->format == GN_AGG_HALF)) return gn_fail(error, GN_INVALID, "its values are too long");
        if (!p->halves)
            memcpy(words, p->payload, sizeof *words * load->values);
        else if (gn_words_add_halves(&codec, p->payload, words, load->values))
            return gn_fail(error, GN_INVALID, "a value is not a number");
        for (size_t i = 0; i < load->values; i++) sums[i] = words[i];
        return GN_OK;
    }
    if (!p->compressed || gn_stream_decode(&codec, p->payload, p->payload_bytes, values, load->values, NULL))
        return gn_fail(error, GN_INVALID, "its stream is corrupt");
    for (size_t i = 0; i < load->values; i++) sums[i] = (double)values[i];
    return GN_OK;
}

/// What an integer is, and a sum of them, when it has travelled.
static double travelled(const gn_bench_load *load, const gn_codec *codec, double integer)
{
    int32_t word = (int32_t)integer, again = 0;
    uint16_t half;
    if (load->format != GN_AGG_HALF) return integer;
    gn_words_to_halves(codec, &word, 1, &half);
    (void)gn_words_add_halves(codec, &half, &again, 1);
    return again;
}

static void expected_sums(const gn_bench_load *load, size_t chunk, double *sums)
{
    gn_codec codec;
    float seen[GN_AGG_VALUES_MAX];
    gn_codec_init(&codec, profile_of(load->format), load->bound_exp);
    memset(sums, 0, sizeof *sums * load->values);
    for (unsigned worker = 0; worker < load->workers; worker++) {
        const float *values = load->data[worker] + chunk * load->values;
        const bool blocks = gn_agg_in_blocks(load->format);
        if (!blocks) gn_quantise(&codec, values, seen, NULL, load->values);
        for (size_t i = 0; i < load->values; i++)
            sums[i] += blocks ? travelled(load, &codec, integer_of(values[i])) : (double)seen[i];
    }
    for (size_t i = 0; load->format == GN_AGG_HALF && i < load->values; i++) sums[i] = travelled(load, &codec, sums[i]);
}

gn_status gn_bench_load_check(const gn_bench_load *load, size_t chunk, const uint8_t *datagram, size_t bytes,
                              gn_error *error)
{
    static double want[GN_AGG_VALUES_MAX], got[GN_AGG_VALUES_MAX];
    gn_agg_packet p;
    const gn_agg_fault fault = gn_agg_parse(datagram, bytes, &p);
    if (fault) return gn_fail(error, GN_INVALID, "the result of chunk %zu: %s", chunk, gn_agg_fault_string(fault));
    if (p.type != GN_AGG_RESULT || p.psn != chunk || p.values != load->values)
        return gn_fail(error, GN_INVALID, "not the result of chunk %zu: type %d, chunk %u, %d values", chunk, p.type,
                       p.psn, p.values);
    gn_status wrong = read_sums(load, &p, got, error);
    if (wrong) return gn_fail(error, GN_INVALID, "the result of chunk %zu: %s", chunk, error->text);
    expected_sums(load, chunk, want);
    for (size_t i = 0; i < load->values; i++)
        if (got[i] != want[i])
            return gn_fail(error, GN_INVALID, "the result of chunk %zu has %g for value %zu, not %g", chunk, got[i], i,
                           want[i]);
    return GN_OK;
}
