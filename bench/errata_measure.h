// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_BENCH_ERRATA_MEASURE_H
#define GRADNIC_BENCH_ERRATA_MEASURE_H
/// The measurements behind docs/errata.md: the paper's codec against its own claims. Nothing is
/// trained here.

#include <gradnic/codec.h>

enum { WORKERS_MAX = 32 };

/// Gradients of several workers, all of one length.
typedef struct vectors {
    unsigned count;
    size_t length;
    float *data[WORKERS_MAX];
} vectors;

/// Errors of a codec over every exponent below 1.0 and 2^16 mantissas of each. The largest value of
/// every payload is among them. `of_16_bits` is of those that keep 16 bits.
typedef struct largest_errors {
    double all, of_16_bits;
} largest_errors;
largest_errors measure_largest_errors(gn_profile profile, int bound_exp);

/// 8-bit payloads of a stream, and how many of them decode to zero.
typedef struct byte_payloads {
    uint64_t all, zero, values;
} byte_payloads;

/// Adds those of `values`.
void count_byte_payloads(byte_payloads *payloads, int bound_exp, const float *values, size_t count);

/// How a sum over the ring is made.
typedef enum ring_method {
    RING_PAPER,         ///< profile paper, compressed on every hop
    RING_LATTICE_HOPS,  ///< profile lattice, compressed on every hop
    RING_LATTICE_ONCE,  ///< profile lattice, every worker's own gradient quantised once; hops then lose nothing
    RING_METHODS
} ring_method;

const char *ring_method_name(ring_method method);

/// The sum as the owners of the blocks have it. Block b begins at worker (b + rotation + 1) mod N.
void ring_sum(ring_method method, int bound_exp, const vectors *gradients, unsigned rotation, float *sum);

/// A ring's sum beside the exact one.
typedef struct ring_result {
    double toward_zero;  ///< mean of sign(exact) * (exact - sum): how much a value shrinks on average
    double rms_error, max_error;
    double kept;         ///< sum of |sum| / sum of |exact|
    double order_share;  ///< share of the values that depend on the order of the workers
    double order_max;    ///< largest difference between two orders
    double drift_share;  ///< share of the values where the owner's and the receivers' copies differ
    double drift_max;
} ring_result;

/// @return -1 when memory is short.
int measure_ring(ring_method method, int bound_exp, const vectors *gradients, ring_result *result);

/// How far four workers' replicas are apart after `steps` exchanges of fresh gradients. These are
/// normally distributed with `rms`.
typedef struct drift_result {
    int steps;
    double rms_difference;  ///< between the accumulated sums of an owner and of a receiver
    double rms_sum;         ///< of the accumulated exact sum, for scale
} drift_result;
int measure_drift(ring_method method, int bound_exp, double rms, const int *steps, size_t count, drift_result *results);

/// Error feedback over `steps` steps of the given gradients in turn.
typedef struct feedback_result {
    double dead_zone;      ///< share of residuals with 2^-k <= |r| < 2^-7
    double zero_payloads;  ///< share of the last step's 8-bit payloads that decode to zero
    double ratio;          ///< of the last step's stream
    double first_ratio;    ///< of the first step's
    double delivered;      ///< (sum of what was sent) . (sum of the gradients) / |sum of the gradients|^2
} feedback_result;
int measure_feedback(gn_profile profile, int bound_exp, const vectors *gradients, unsigned steps,
                     feedback_result *result);

/// Normally distributed values; the same for the same seed, on every machine with the same libm.
void fill_normal(float *values, size_t count, double rms, uint64_t seed);

#endif
