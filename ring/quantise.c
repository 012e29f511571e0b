// SPDX-License-Identifier: Apache-2.0
// Quantise once, add exactly. With lattice and dense each rank puts its own contribution on the
// grid of multiples of the step, once. From then on all sums are sums of integers (up to 2^24
// steps). Every NIC on the way passes them without loss, and they do not depend on their order.
//
// Paper has no such grid. The owner of a reduced block passes it through the codec before it is
// sent back, so that it keeps what all others will decode.
#include <math.h>
#include <string.h>

#include <gradnic/words.h>

#include "ring/collectives/types.h"
#include "ring/exchange.h"
#include "ring/turn.h"

enum { CHUNK = 2048 };  // values at a time: two passes over 8 KiB stay in the first-level cache

void gn_histogram_add(uint64_t *histogram, const float *values, size_t count)
{
    // Four tables: values in a row that have equal exponents do not wait for each other.
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        histogram[(i & 3) * 256 + (bits >> 23 & 0xFF)]++;
    }
}

int gn_scale_of_exponents(const uint64_t counts[256])
{
    // E[m^2] = 7/3 for mantissas spread evenly over [1, 2). Exponent 0 is zeros and subnormals, 255
    // is infinities and NaNs.
    const double mean_square = 7.0 / 3.0;
    double sum = 0, total = 0;
    for (int e = 0; e < 255; e++) {
        const double n = (double)counts[e];
        total += n;
        if (e) sum += n * mean_square * ldexp(1, 2 * (e - 127));
    }
    return sum > 0 ? (int)floor(0.5 * log2(sum / total)) : GN_SCALE_UNSEEN;
}

int gn_histogram_exponent(const uint64_t *histogram)
{
    uint64_t counts[256] = {0};
    for (int i = 0; i < GN_HISTOGRAM; i++) counts[i & 255] += histogram[i];
    const int exponent = gn_scale_of_exponents(counts);
    return exponent == GN_SCALE_UNSEEN ? GN_EXPONENT_NONE : exponent;
}

int gn_scale_shift(int scale_target, int exponent)
{
    if (exponent == GN_SCALE_UNSEEN) return 0;
    const int64_t shift = (int64_t)scale_target - exponent;
    return shift > GN_SHIFT_MAX ? GN_SHIFT_MAX : shift < -GN_SHIFT_MAX ? -GN_SHIFT_MAX : (int)shift;
}

void gn_exchange_prepare(gn_exchange *exchange, gn_comm *comm, const gn_bucket *bucket, int exponent)
{
    const gn_comm_config *config = &comm->config;
    exchange->comm = comm;
    exchange->bucket = bucket;
    exchange->width = gn_type_bytes(exchange->type);
    if (exponent != GN_EXPONENT_NONE) exchange->shift = gn_scale_shift(config->scale_target, exponent);
    exchange->scale = ldexpf(1, exchange->shift);
    exchange->unscale = ldexpf(1, -exchange->shift);
    exchange->divisor = bucket->op == GN_AVERAGE ? (float)comm->size : 1;
    bool paper = config->codec.profile == GN_PAPER;
    // With paper the NICs do the cutting, unless the caller wants to know what was cut off.
    const bool quantise = config->quantise && !exchange->exact;
    bool quantise_own = quantise && (!paper || bucket->residual);
    bool second_leg_coded = config->algorithm != GN_WORKER_AGGREGATOR || !config->aggregator_weights;
    exchange->own_pass = quantise_own || exchange->shift || exchange->histogram;
    exchange->sum_pass = quantise && paper && second_leg_coded;
    exchange->finish_pass = exchange->shift || exchange->divisor != 1;
}

/// Whether a finite value lies beyond 32767 steps, where it is raw.
static bool has_outliers(const gn_codec *codec, const float *values, size_t count)
{
    bool finite;
    return gn_words_largest(codec, values, count, &finite) > 32767 * ldexpf(1, 1 - codec->bound_exp);
}

/// Lattice and dense send what exceeds 32767 steps raw, bit for bit. But only multiples of the step
/// may enter the sum.
static void round_outliers(const gn_codec *codec, float *values, float *residual, size_t count)
{
    if (!has_outliers(codec, values, count)) return;
    const float step = ldexpf(1, 1 - codec->bound_exp), per_step = ldexpf(1, codec->bound_exp - 1);
    const float coded = 32767 * step;
    const float whole = 0x1p24f * step;  // from here on every float is a multiple of the step
    for (size_t i = 0; i < count; i++) {
        float size = fabsf(values[i]);
        if (!(size > coded) || size >= whole) continue;
        float rounded = rintf(values[i] * per_step) * step;
        if (residual) residual[i] = values[i] - rounded;
        values[i] = rounded;
    }
}

bool gn_exchange_is_plain(const gn_exchange *x, size_t first, size_t count)
{
    const gn_codec *codec = &x->comm->config.codec;
    if (x->shift || x->histogram || x->bucket->residual) return false;
    return codec->profile == GN_PAPER || !has_outliers(codec, x->bucket->send + first, count);
}

static void own_chunk(gn_exchange *x, size_t first, size_t count)
{
    const gn_codec *codec = &x->comm->config.codec;
    const float *send = x->bucket->send + first;
    float *recv = x->bucket->recv + first, *residual = x->bucket->residual ? x->bucket->residual + first : NULL;
    const float scale = x->scale, unscale = x->unscale;
    const float *values = send;
    if (x->histogram) gn_histogram_add(x->histogram, send, count);
    if (residual) {
        for (size_t i = 0; i < count; i++) recv[i] = (send[i] + residual[i]) * scale;
        values = recv;
    } else if (x->shift) {
        for (size_t i = 0; i < count; i++) recv[i] = send[i] * scale;
        values = recv;
    }
    if (!x->comm->config.quantise || (codec->profile == GN_PAPER && !residual)) {
        if (values != recv && send != recv) memcpy(recv, send, count * sizeof *recv);
        return;
    }
    gn_quantise(codec, values, recv, residual, count);
    if (codec->profile != GN_PAPER) round_outliers(codec, recv, residual, count);
    for (size_t i = 0; residual && x->shift && i < count; i++) residual[i] *= unscale;
}

/// Where element `first` of one of the bucket's buffers is.
static void *at(const void *buffer, const gn_exchange *x, size_t first)
{
    return (void *)((uintptr_t)buffer + first * x->width);
}

/// Whether elements are added as binary32.
static bool adds_floats(const gn_exchange *x)
{
    return !gn_type_is_exact(x->type, x->bucket->op);
}

void gn_exchange_own(gn_exchange *exchange, size_t first, size_t count)
{
    if (!exchange->own_pass) {
        if (exchange->bucket->send != exchange->bucket->recv)
            memcpy(at(exchange->bucket->recv, exchange, first), at(exchange->bucket->send, exchange, first),
                   count * exchange->width);
        return;
    }
    const uint64_t start = gn_now();
    for (size_t done = 0; done < count; done += CHUNK)
        own_chunk(exchange, first + done, count - done < CHUNK ? count - done : CHUNK);
    exchange->quantising += gn_now() - start;
}

static void add(float *to, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) to[i] += values[i];
}

void gn_exchange_add(gn_exchange *exchange, size_t first, size_t count, const float *incoming)
{
    const uint64_t start = gn_now();
    void *recv = at(exchange->bucket->recv, exchange, first);
    if (adds_floats(exchange))
        add(recv, incoming, count);
    else
        gn_type_combine(exchange->type, exchange->bucket->op, recv, incoming, recv, count);
    exchange->reducing += gn_now() - start;
}

void gn_exchange_own_add(gn_exchange *exchange, size_t first, size_t count, const float *incoming)
{
    const float *send = at(exchange->bucket->send, exchange, first);
    float *recv = at(exchange->bucket->recv, exchange, first);
    const uint64_t start = gn_now();
    if (!adds_floats(exchange)) {
        gn_type_combine(exchange->type, exchange->bucket->op, send, incoming, recv, count);
        exchange->reducing += gn_now() - start;
    } else if (exchange->own_pass) {
        for (size_t done = 0; done < count; done += CHUNK) {
            size_t n = count - done < CHUNK ? count - done : CHUNK;
            own_chunk(exchange, first + done, n);
            add(recv + done, incoming + done, n);
        }
        exchange->quantising += gn_now() - start;
    } else {
        if (send == recv)
            add(recv, incoming, count);
        else
            for (size_t i = 0; i < count; i++) recv[i] = send[i] + incoming[i];
        exchange->reducing += gn_now() - start;
    }
}

void gn_exchange_offer(gn_exchange *exchange)
{
    if (!exchange->histogram || exchange->offered) return;
    exchange->offered = true;
    gn_oob_offer(exchange->comm, 1, gn_histogram_exponent(exchange->histogram));
}

void gn_exchange_settle(gn_exchange *exchange, size_t first, size_t count)
{
    if (!exchange->sum_pass) return;
    const uint64_t start = gn_now();
    float *values = exchange->bucket->recv + first;
    gn_quantise(&exchange->comm->config.codec, values, values, NULL, count);
    exchange->quantising += gn_now() - start;
}

void gn_exchange_finish(gn_exchange *exchange, size_t first, size_t count)
{
    if (!exchange->finish_pass) return;
    const uint64_t start = gn_now();
    float *values = at(exchange->bucket->recv, exchange, first);
    const float unscale = exchange->unscale, divisor = exchange->divisor;
    if (exchange->type != GN_F32)
        gn_type_divide(exchange->type, values, count, (double)divisor);
    else if (divisor == 1)
        for (size_t i = 0; i < count; i++) values[i] *= unscale;
    else
        for (size_t i = 0; i < count; i++) values[i] = values[i] * unscale / divisor;
    exchange->reducing += gn_now() - start;
}
