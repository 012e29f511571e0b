// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_MEMORY_H
#define GRADNIC_HOST_MEMORY_H
/// How much memory there is to be had.

#include <stdint.h>

/// Bytes that a process can take without pushing others out: MemAvailable, or less where a control group (version 1 or 2) of this process, or one above
/// it, allows less. `root`: of the file system with /proc and /sys, "" but for tests. @return UINT64_MAX when nobody says
uint64_t gn_memory_available(const char *root);

#endif
