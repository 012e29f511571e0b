// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_FUZZ_H
#define GRADNIC_TESTS_FUZZ_H
/// What fuzz targets have in common.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/// libFuzzer's entry. libFuzzer declares it nowhere for C. It is the only function of a target that
/// others call. replay.c calls it with the corpus.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Just so many bytes: the sanitizer sees every step past their end.
static inline void *exact(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) abort();
    return p;
}

static inline void check(bool condition)
{
    if (!condition) abort();
}

#endif
