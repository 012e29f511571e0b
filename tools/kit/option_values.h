// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_OPTION_VALUES_H
#define GRADNIC_TOOLS_KIT_OPTION_VALUES_H
/// Values of options, inside of an argp parser. A value that cannot be ends the program there and
/// then, with "PROGRAM: --NAME: what is wrong" and GN_EXIT_USAGE. `key` is the option's; its long
/// name is found in the command's argp tables. A key that no option has leaves "--NAME: " out.

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <gradnic/codec.h>

#include "net/error.h"

/// Long name of the option `key` of the command; NULL: it has none.
const char *gn_option_name(const struct argp_state *state, int key);

/// Ends the program with a text of the caller's.
void gn_option_wrong(const struct argp_state *state, int key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Ends the program with the error's text, unless `status` is GN_OK.
void gn_option_check(const struct argp_state *state, int key, gn_status status, const gn_error *error);

// Numbers; low <= value <= high.
uint64_t gn_option_number(const struct argp_state *state, int key, const char *text, uint64_t low, uint64_t high);
unsigned gn_option_unsigned(const struct argp_state *state, int key, const char *text, unsigned low, unsigned high);
uint64_t gn_option_size(const struct argp_state *state, int key, const char *text, uint64_t low, uint64_t high);
uint64_t gn_option_duration(const struct argp_state *state, int key, const char *text);
double gn_option_probability(const struct argp_state *state, int key, const char *text);

/// A duration, where a plain number means seconds: more than 0, at most an hour.
uint64_t gn_option_time(const struct argp_state *state, int key, const char *text);

/// The speed of a link: at least `low` bits per second.
uint64_t gn_option_rate(const struct argp_state *state, int key, const char *text, uint64_t low);

/// A type of service or traffic class, without ECN's bits: 0 to 0xfc, decimal or 0x....
unsigned gn_option_tos(const struct argp_state *state, int key, const char *text);

/// The k of a bound, and a profile; see codec_options.h.
int gn_option_bound(const struct argp_state *state, int key, const char *text);
gn_profile gn_option_profile(const struct argp_state *state, int key, const char *text);

/// Which of `count` words it is.
unsigned gn_option_word(const struct argp_state *state, int key, const char *text, const char *const *words,
                        unsigned count);

/// Which of two words it is: true for the second.
bool gn_option_choice(const struct argp_state *state, int key, const char *text, const char *first, const char *second);

/// A list of words, or "all", or "none": sets chosen[] of each.
void gn_option_words(const struct argp_state *state, int key, const char *text, const char *const *words,
                     unsigned count, bool *chosen);

/// An account of this host. @return text
const char *gn_option_user(const struct argp_state *state, int key, const char *text);

#endif
