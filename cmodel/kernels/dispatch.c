// SPDX-License-Identifier: Apache-2.0
// Which kernels this build has and this machine runs. A new instruction set is a new file beside avx2.c, a
// declaration in kernel.h and a row here.
#include <string.h>

#include "kernel.h"

// slowest first
static const gn_kernel *const kernels[] = {
    &gn_kernel_scalar,
#if defined(__x86_64__)
    &gn_kernel_avx2,
    &gn_kernel_avx512,
#endif
};

enum { KERNEL_COUNT = sizeof kernels / sizeof kernels[0] };

const char *gn_kernel_name(unsigned index)
{
    for (unsigned i = 0; i < KERNEL_COUNT; i++) {
        if (!kernels[i]->runs_here()) continue;
        if (index-- == 0) return kernels[i]->name;
    }
    return NULL;
}

const gn_kernel *gn_kernel_find(const char *name, gn_profile profile)
{
    bool any = !name || !strcmp(name, "auto");
    for (unsigned i = KERNEL_COUNT; i-- > 0;) {
        const gn_kernel *kernel = kernels[i];
        if (!any && strcmp(name, kernel->name) != 0) continue;
        if (kernel->rows[profile] && kernel->runs_here()) return kernel;
    }
    return NULL;
}
