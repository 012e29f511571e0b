// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NEON_H
#define GRADNIC_NEON_H
/// Internal: shared by the NEON kernels (aarch64): eight lanes in two registers, lattice's
/// quantiser, and what is done with decoded lanes. Kernels do whole groups. What is left at the
/// ends of values and streams is done by the scalar kernel.

#include <arm_neon.h>

#include "scalar.h"
#include "vector.h"

extern const gn_kernel_row gn_neon_lattice, gn_neon_dense;

void gn_neon_quantise(const gn_codec *codec, const float *values, float *quantised, float *residual, size_t count);

/// The words of a group: lanes 0 to 3 and 4 to 7.
typedef int32x4x2_t group;

INLINE group load_group(const void *from)
{
    return vld1q_s32_x2(from);
}

INLINE void store_group(void *to, group words)
{
    vst1q_s32_x2(to, words);
}

// |q| of values on the lattice. More than 32767 means raw. See lattice_steps() in avx2.h.
INLINE int32x4_t steps_of(const params *p, int32x4_t value)
{
    const float32x4_t magic = vdupq_n_f32(p->magic);
    const float32x4_t size = vabsq_f32(vreinterpretq_f32_s32(value));
    return vsubq_s32(vreinterpretq_s32_f32(vaddq_f32(size, magic)), vreinterpretq_s32_f32(magic));
}

INLINE int32x4_t with_sign_of(int32x4_t value, int32x4_t magnitude)
{
    return vbslq_s32(vcltzq_s32(value), vnegq_s32(magnitude), magnitude);
}

// Values of integers, as bits. The product is exact.
INLINE int32x4_t values_of(float step, int32x4_t q)
{
    return vreinterpretq_s32_f32(vmulq_n_f32(vcvtq_f32_s32(q), step));
}

// ---- what is done with decoded lanes

typedef enum action { STORE, ADD, STORE_INTEGER, ADD_INTEGER } action;

typedef struct output {
    float step;
    int32x4_t overflow;  // sign bits: a sum has left int32
    unsigned raw;        // there is a raw lane: its integer is 0
} output;

INLINE output output_of(const gn_codec *codec)
{
    return (output){.step = params_of(GN_LATTICE, codec->bound_exp).step, .overflow = vdupq_n_s32(0)};
}

INLINE bool of_integers(action act)
{
    return act == STORE_INTEGER || act == ADD_INTEGER;
}

// Writes 8 values; with ADD, adds them to those that are there. Adding +0.0 matters: -0.0 becomes
// +0.0.
INLINE void put_values(action act, void *to, group v)
{
    if (act == ADD) {
        group old = load_group(to);
        for (int i = 0; i < 2; i++)
            v.val[i] =
                vreinterpretq_s32_f32(vaddq_f32(vreinterpretq_f32_s32(old.val[i]), vreinterpretq_f32_s32(v.val[i])));
    }
    store_group(to, v);
}

// Writes 8 integers to `to`, as integers or as values.
INLINE void put_group(action act, output *o, void *to, group q)
{
    if (!of_integers(act)) {
        put_values(act, to, (group){{values_of(o->step, q.val[0]), values_of(o->step, q.val[1])}});
        return;
    }
    if (act == ADD_INTEGER) {
        group old = load_group(to);
        for (int i = 0; i < 2; i++) {
            int32x4_t sum = vaddq_s32(old.val[i], q.val[i]);
            o->overflow = vorrq_s32(o->overflow, vandq_s32(veorq_s32(sum, old.val[i]), veorq_s32(sum, q.val[i])));
            q.val[i] = sum;
        }
    }
    store_group(to, q);
}

INLINE void put_zeros(action act, uint8_t *to, size_t groups)
{
    const group zero = {{vdupq_n_s32(0), vdupq_n_s32(0)}};
    if (act == ADD_INTEGER) return;
    for (; groups; groups--, to += sizeof(float) * GN_GROUP) put_values(act, to, zero);
}

// The GN_SUM_ bits.
INLINE unsigned flags_of(const output *o)
{
    return (o->raw ? GN_SUM_RAW : 0u) | (vminvq_s32(o->overflow) < 0 ? GN_SUM_OVERFLOW : 0u);
}

#endif
