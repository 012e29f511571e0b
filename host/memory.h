// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_MEMORY_H
#define GRADNIC_HOST_MEMORY_H
/// How much memory is available.

#include <stdint.h>

/// Bytes that a process can take without pushing others out. This is MemAvailable, or less if a
/// control group (version 1 or 2) of this process, or one above it, allows less. `root`: where
/// /proc and /sys are; "" outside of tests. @return UINT64_MAX when nothing says how much
uint64_t gn_memory_available(const char *root);

#endif
