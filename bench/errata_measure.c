// SPDX-License-Identifier: Apache-2.0
#include "errata_measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net/splitmix.h"

static gn_codec codec_of(gn_profile profile, int bound_exp)
{
    gn_codec codec;
    if (gn_codec_init(&codec, profile, bound_exp)) abort();  // callers stay within the profile's range
    return codec;
}

largest_errors measure_largest_errors(gn_profile profile, int bound_exp)
{
    enum { MANTISSAS = 65536 };
    const gn_codec codec = codec_of(profile, bound_exp);
    largest_errors largest = {0, 0};
    for (uint32_t exponent = 0; exponent < 127; exponent++)
        for (uint32_t i = 0; i < MANTISSAS; i++) {
            const uint32_t bits = exponent << 23 | i << 7 | (i & 1 ? 0x7f : 0);  // all-ones mantissas are among them
            const gn_code code = gn_lane_encode(&codec, bits);
            const uint32_t decoded_bits = gn_lane_decode(&codec, code);
            float value, decoded;
            memcpy(&value, &bits, sizeof bits);
            memcpy(&decoded, &decoded_bits, sizeof bits);
            const double error = fabs((double)value - (double)decoded);
            if (error > largest.all) largest.all = error;
            if (code.tag == 2 && error > largest.of_16_bits) largest.of_16_bits = error;
        }
    return largest;
}

void count_byte_payloads(byte_payloads *payloads, int bound_exp, const float *values, size_t count)
{
    const gn_codec codec = codec_of(GN_PAPER, bound_exp);
    payloads->values += count;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        const gn_code code = gn_lane_encode(&codec, bits);
        payloads->all += code.tag == 1;
        payloads->zero += code.tag == 1 && gn_lane_decode(&codec, code) << 1 == 0;
    }
}

const char *ring_method_name(ring_method method)
{
    static const char *const names[] = {"paper, every hop", "lattice, every hop", "lattice, once"};
    return names[method];
}

void ring_sum(ring_method method, int bound_exp, const vectors *gradients, unsigned rotation, float *sum)
{
    const gn_codec codec = codec_of(method == RING_PAPER ? GN_PAPER : GN_LATTICE, bound_exp);
    const unsigned n = gradients->count;
    float own[256];
    for (unsigned block = 0; block < n; block++) {
        const size_t begin = gradients->length * block / n, end = gradients->length * (block + 1) / n;
        for (size_t at = begin; at < end; at += 256) {  // a piece at a time: values do not depend on each other
            const size_t count = end - at < 256 ? end - at : 256;
            for (unsigned hop = 0; hop < n; hop++) {
                const float *gradient = gradients->data[(block + rotation + 1 + hop) % n] + at;
                memcpy(own, gradient, count * sizeof *own);
                if (method == RING_LATTICE_ONCE) gn_quantise(&codec, own, own, NULL, count);
                if (!hop) {
                    memcpy(sum + at, own, count * sizeof *own);
                    continue;
                }
                gn_quantise(&codec, sum + at, sum + at, NULL, count);  // the NIC of the hop
                for (size_t i = 0; i < count; i++) sum[at + i] += own[i];
            }
        }
    }
}

static void exact_sum(const vectors *gradients, double *sum)
{
    for (size_t i = 0; i < gradients->length; i++) {
        sum[i] = 0;
        for (unsigned w = 0; w < gradients->count; w++) sum[i] += (double)gradients->data[w][i];
    }
}

static void compare_with_exact(const float *sum, const double *exact, size_t count, ring_result *r)
{
    double shrink = 0, squares = 0, magnitude = 0, exact_magnitude = 0;
    for (size_t i = 0; i < count; i++) {
        const double error = exact[i] - (double)sum[i];
        shrink += exact[i] > 0 ? error : exact[i] < 0 ? -error : 0;
        squares += error * error;
        r->max_error = fmax(r->max_error, fabs(error));
        magnitude += fabs((double)sum[i]);
        exact_magnitude += fabs(exact[i]);
    }
    r->toward_zero = shrink / (double)count;
    r->rms_error = sqrt(squares / (double)count);
    r->kept = magnitude / exact_magnitude;
}

/// Values of `sum` that other orders of the workers change, and by how much.
static void compare_orders(ring_method method, int bound_exp, const vectors *gradients, const float *sum, float *other,
                           ring_result *r)
{
    unsigned char *differs = calloc(gradients->length, 1);
    uint64_t count = 0;
    for (unsigned rotation = 1; differs && rotation < gradients->count; rotation++) {
        ring_sum(method, bound_exp, gradients, rotation, other);
        for (size_t i = 0; i < gradients->length; i++) {
            if (sum[i] == other[i]) continue;
            differs[i] = 1;
            r->order_max = fmax(r->order_max, fabs((double)sum[i] - (double)other[i]));
        }
    }
    for (size_t i = 0; differs && i < gradients->length; i++) count += differs[i];
    free(differs);
    r->order_share = (double)count / (double)gradients->length;
}

int measure_ring(ring_method method, int bound_exp, const vectors *gradients, ring_result *result)
{
    const size_t n = gradients->length;
    float *sum = malloc(n * sizeof *sum), *other = malloc(n * sizeof *other);
    double *exact = malloc(n * sizeof *exact);
    const int failed = !sum || !other || !exact;
    memset(result, 0, sizeof *result);
    if (!failed) {
        ring_sum(method, bound_exp, gradients, 0, sum);
        exact_sum(gradients, exact);
        compare_with_exact(sum, exact, n, result);
        compare_orders(method, bound_exp, gradients, sum, other, result);
        const gn_codec codec = codec_of(method == RING_PAPER ? GN_PAPER : GN_LATTICE, bound_exp);
        gn_quantise(&codec, sum, other, NULL, n);  // the send-back leg
        uint64_t drifted = 0;
        for (size_t i = 0; i < n; i++) {
            drifted += sum[i] != other[i];
            result->drift_max = fmax(result->drift_max, fabs((double)sum[i] - (double)other[i]));
        }
        result->drift_share = (double)drifted / (double)n;
    }
    free(sum);
    free(other);
    free(exact);
    return failed ? -1 : 0;
}

void fill_normal(float *values, size_t count, double rms, uint64_t seed)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i < count; i++) {
        double uniform[2];
        for (int u = 0; u < 2; u++) uniform[u] = ((double)(splitmix64(&state) >> 11) + 0.5) * 0x1p-53;
        values[i] = (float)(rms * sqrt(-2 * log(uniform[0])) * cos(2 * 3.14159265358979323846 * uniform[1]));
    }
}

enum { DRIFT_VALUES = 65536, DRIFT_WORKERS = 4 };

/// One exchange of fresh gradients; adds what owner and receiver got.
static void drift_step(ring_method method, int bound_exp, double rms, int step, const vectors *g, float *sum,
                       double *owner, double *receiver)
{
    const gn_codec codec = codec_of(method == RING_PAPER ? GN_PAPER : GN_LATTICE, bound_exp);
    for (unsigned w = 0; w < g->count; w++)
        fill_normal(g->data[w], g->length, rms, (uint64_t)step * DRIFT_WORKERS + w + 1);
    ring_sum(method, bound_exp, g, 0, sum);
    for (size_t i = 0; i < g->length; i++) owner[i] += (double)sum[i];
    gn_quantise(&codec, sum, sum, NULL, g->length);
    for (size_t i = 0; i < g->length; i++) receiver[i] += (double)sum[i];
}

static void drift_measure(const double *owner, const double *receiver, drift_result *result)
{
    double difference = 0, squares = 0;
    for (size_t i = 0; i < DRIFT_VALUES; i++) {
        difference += (owner[i] - receiver[i]) * (owner[i] - receiver[i]);
        squares += owner[i] * owner[i];
    }
    result->rms_difference = sqrt(difference / DRIFT_VALUES);
    result->rms_sum = sqrt(squares / DRIFT_VALUES);
}

int measure_drift(ring_method method, int bound_exp, double rms, const int *steps, size_t count, drift_result *results)
{
    vectors g = {.count = DRIFT_WORKERS, .length = DRIFT_VALUES};
    float *all = malloc((size_t)(DRIFT_WORKERS + 1) * DRIFT_VALUES * sizeof *all);
    double *owner = calloc(DRIFT_VALUES, sizeof *owner), *receiver = calloc(DRIFT_VALUES, sizeof *receiver);
    const int failed = !all || !owner || !receiver;
    for (unsigned w = 0; w < DRIFT_WORKERS && !failed; w++) g.data[w] = all + (size_t)w * DRIFT_VALUES;
    for (int step = 0, next = 0; !failed && (size_t)next < count; step++) {
        drift_step(method, bound_exp, rms, step, &g, all + (size_t)DRIFT_WORKERS * DRIFT_VALUES, owner, receiver);
        if (step + 1 < steps[next]) continue;
        results[next].steps = steps[next];
        drift_measure(owner, receiver, &results[next++]);
    }
    free(all);
    free(owner);
    free(receiver);
    return failed ? -1 : 0;
}

static double stream_ratio(const gn_codec *codec, const float *values, size_t count, uint8_t *stream, size_t room)
{
    size_t bytes = 1;
    gn_stream_encode(codec, values, count, stream, room, &bytes);
    return (double)(count * sizeof *values) / (double)bytes;
}

/// Share of this step's 8-bit payloads that decode to zero. Profile lattice never makes one.
static double zero_share(const gn_codec *codec, const float *values, size_t count)
{
    byte_payloads payloads = {0};
    if (codec->profile == GN_PAPER) count_byte_payloads(&payloads, codec->bound_exp, values, count);
    return payloads.all ? (double)payloads.zero / (double)payloads.all : 0;
}

int measure_feedback(gn_profile profile, int bound_exp, const vectors *gradients, unsigned steps,
                     feedback_result *result)
{
    const gn_codec codec = codec_of(profile, bound_exp);
    const size_t n = gradients->length, room = gn_stream_bound(profile, n);
    float *residual = calloc(n, sizeof *residual), *sent = malloc(n * sizeof *sent);
    double *sent_sum = calloc(n, sizeof *sent_sum), *gradient_sum = calloc(n, sizeof *gradient_sum);
    uint8_t *stream = malloc(room);
    const int failed = !residual || !sent || !sent_sum || !gradient_sum || !stream;
    memset(result, 0, sizeof *result);
    for (unsigned step = 0; step < steps && !failed; step++) {
        const float *gradient = gradients->data[step % gradients->count];
        for (size_t i = 0; i < n; i++) {
            residual[i] += gradient[i];
            gradient_sum[i] += (double)gradient[i];
        }
        if (!step) result->first_ratio = stream_ratio(&codec, residual, n, stream, room);
        if (step + 1 == steps) result->ratio = stream_ratio(&codec, residual, n, stream, room);
        if (step + 1 == steps) result->zero_payloads = zero_share(&codec, residual, n);
        gn_quantise(&codec, residual, sent, residual, n);
        for (size_t i = 0; i < n; i++) sent_sum[i] += (double)sent[i];
    }
    double along = 0, squares = 0;
    uint64_t dead = 0;
    for (size_t i = 0; i < n && !failed; i++) {
        along += sent_sum[i] * gradient_sum[i];
        squares += gradient_sum[i] * gradient_sum[i];
        dead += fabs((double)residual[i]) >= ldexp(1, -bound_exp) && fabs((double)residual[i]) < 0x1p-7;
    }
    result->delivered = along / squares;
    result->dead_zone = (double)dead / (double)n;
    free(residual);
    free(sent);
    free(sent_sum);
    free(gradient_sum);
    free(stream);
    return failed ? -1 : 0;
}
