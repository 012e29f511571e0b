// SPDX-License-Identifier: Apache-2.0
// Which kernels this build has and this machine runs. A new instruction set is new files beside
// avx2.c, and a row here.
#include <string.h>

#include "../half.h"
#include "scalar.h"
#if defined(__x86_64__)
#include "x86.h"
#elif defined(__aarch64__)
#include "neon.h"
#endif

static bool anywhere(void)
{
    return true;
}

#if defined(__x86_64__)
static bool has_avx2(void)
{
    // clang cannot ask for lzcnt. It is older than bmi2, and no CPU has bmi2 alone.
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
           gn_half_has_f16c();
}

// The VEX form of its instructions, which every machine with AVX2 and GFNI has.
static bool has_gfni(void)
{
    return has_avx2() && __builtin_cpu_supports("gfni");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi2");
}

static bool has_avx512_gfni(void)
{
    return has_avx512() && has_gfni();
}
#endif

// slowest first
static const gn_kernel kernels[] = {
    {"scalar",
     anywhere,
     &gn_scalar_words,
     {[GN_PAPER] = &gn_scalar_paper, [GN_LATTICE] = &gn_scalar_lattice, [GN_DENSE] = &gn_scalar_dense}},
#if defined(__x86_64__)
    {"avx2",
     has_avx2,
     &gn_avx2_words,
     {[GN_PAPER] = &gn_avx2_paper, [GN_LATTICE] = &gn_avx2_lattice, [GN_DENSE] = &gn_avx2_dense}},
    {"gfni",
     has_gfni,
     &gn_avx2_words,
     {[GN_PAPER] = &gn_avx2_paper, [GN_LATTICE] = &gn_avx2_lattice, [GN_DENSE] = &gn_gfni_dense}},
    {"avx512",
     has_avx512,
     &gn_avx2_words,
     {[GN_PAPER] = &gn_avx512_paper, [GN_LATTICE] = &gn_avx512_lattice, [GN_DENSE] = &gn_avx2_dense}},
    {"avx512-gfni",
     has_avx512_gfni,
     &gn_avx2_words,
     {[GN_PAPER] = &gn_avx512_paper, [GN_LATTICE] = &gn_avx512_lattice, [GN_DENSE] = &gn_gfni_dense}},
#elif defined(__aarch64__)
    // Every aarch64 has NEON, so the compiler makes vectors of the scalar words. Nothing is gained
    // for paper.
    {"neon",
     anywhere,
     &gn_scalar_words,
     {[GN_PAPER] = &gn_scalar_paper, [GN_LATTICE] = &gn_neon_lattice, [GN_DENSE] = &gn_neon_dense}},
#endif
};

enum { KERNEL_COUNT = sizeof kernels / sizeof kernels[0] };

const char *gn_kernel_name(unsigned index)
{
    for (unsigned i = 0; i < KERNEL_COUNT; i++) {
        if (!kernels[i].runs_here()) continue;
        if (index-- == 0) return kernels[i].name;
    }
    return NULL;
}

const gn_kernel *gn_kernel_find(const char *name, gn_profile profile)
{
    bool any = !name || !strcmp(name, "auto");
    for (unsigned i = KERNEL_COUNT; i-- > 0;) {
        const gn_kernel *kernel = &kernels[i];
        if (!any && strcmp(name, kernel->name) != 0) continue;
        if (kernel->rows[profile] && kernel->runs_here()) return kernel;
    }
    return NULL;
}
