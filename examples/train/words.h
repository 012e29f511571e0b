// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_EXAMPLES_TRAIN_WORDS_H
#define GRADNIC_EXAMPLES_TRAIN_WORDS_H
/// Numbers as 64-bit words, bit for bit: so they are sent, hashed and saved.

#include <stdint.h>
#include <string.h>

static inline uint64_t gn_word_of(double number)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

static inline double gn_word_number(uint64_t word)
{
    double number;
    memcpy(&number, &word, sizeof number);
    return number;
}

#endif
