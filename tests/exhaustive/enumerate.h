// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TEST_ENUMERATE_H
#define GRADNIC_TEST_ENUMERATE_H
/// For tests that try every input: options, threads that share the blocks of inputs, progress.

#include <stdbool.h>
#include <stdint.h>

enum { ENUMERATE_BLOCK = 1 << 16, ENUMERATE_THREADS_MAX = 64, ENUMERATE_BITS_ALL = 23 };

typedef struct enumerate_options {
    unsigned mantissa_bits;  ///< of each sign and exponent, 2^that mantissas: 8 to 23, which is all 2^32 inputs
    unsigned threads;        ///< 1 to ENUMERATE_THREADS_MAX
    const char *only;        ///< a part of the names of the runs that are wanted; NULL: all
} enumerate_options;

/// The command line; `what` says what the program does. Ends the program where that is wrong.
enumerate_options enumerate_parse(int argc, char **argv, const char *what);

/// Returns `upper` with the rest of the mantissa's 23 bits below it. `upper` is the upper `bits` of
/// a mantissa, with the exponent and sign above them or without. `choice` (0 to 3) says which bits
/// below are set: none, the least, all, or every second one.
uint32_t enumerate_mantissa(unsigned bits, uint32_t upper, unsigned choice);

/// Is the run of that name wanted?
bool enumerate_wants(const enumerate_options *options, const char *name);

/// Calls `check` with each block number, from all threads, until it says false. Reports its
/// progress on standard error every half a minute. `*seconds` takes how long it took.
/// @return whether all blocks were good.
bool enumerate(const enumerate_options *options, const char *name, uint64_t inputs,
               bool (*check)(void *context, uint64_t block), void *context, double *seconds);

#endif
