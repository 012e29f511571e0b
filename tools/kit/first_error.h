// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_FIRST_ERROR_H
#define GRADNIC_TOOLS_KIT_FIRST_ERROR_H
/// Where processes of one command keep the first error that any of them prints; in memory that they
/// share.

#include <stdatomic.h>

typedef struct gn_first_error {
    atomic_uint count;  ///< errors so far
    char text[1024];    ///< of the first
} gn_first_error;

#endif
