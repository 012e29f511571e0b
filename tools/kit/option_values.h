// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_OPTION_VALUES_H
#define GRADNIC_TOOLS_KIT_OPTION_VALUES_H
/// Values of options, for argp parsers. A wrong value ends the program at once, with "PROGRAM:
/// --NAME: what is wrong" and GN_EXIT_USAGE. `key` is the option's key; NAME comes from the
/// command's argp tables. An argument has no name: "PROGRAM: what is wrong".

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <gradnic/codec.h>

#include "net/error.h"

/// Long name of the command's option `key`; NULL if it has none.
const char *gn_option_name(const struct argp_state *state, int key);

/// Ends the program with the caller's text: argp_error(). But within gn_option_try() it only ends
/// what is tried.
void gn_option_refuse(const struct argp_state *state, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Runs a part of a parser. @return false: it refused a value, and `error` says why. The part must
/// own nothing at that moment, because it does not go on.
bool gn_option_try(void (*part)(void *context), void *context, gn_error *error);

/// The same as gn_option_refuse(), with the option's name before the text.
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

/// A duration; a plain number means seconds. More than 0, at most an hour.
uint64_t gn_option_time(const struct argp_state *state, int key, const char *text);

/// The speed of a link: at least `low` bits per second.
uint64_t gn_option_rate(const struct argp_state *state, int key, const char *text, uint64_t low);

/// A type of service or traffic class: 0 to 0xfc without ECN's bits, decimal or hexadecimal
/// (0x28).
unsigned gn_option_tos(const struct argp_state *state, int key, const char *text);

/// The k of a bound, and a profile: see codec_options.h.
int gn_option_bound(const struct argp_state *state, int key, const char *text);
gn_profile gn_option_profile(const struct argp_state *state, int key, const char *text);

/// The index of `text` among `count` words.
unsigned gn_option_word(const struct argp_state *state, int key, const char *text, const char *const *words,
                        unsigned count);

/// One of two words: true for the second.
bool gn_option_choice(const struct argp_state *state, int key, const char *text, const char *first, const char *second);

/// A list of words, or "all", or "none". Sets chosen[] of each.
void gn_option_words(const struct argp_state *state, int key, const char *text, const char *const *words,
                     unsigned count, bool *chosen);

/// A user account of this host. @return text
const char *gn_option_user(const struct argp_state *state, int key, const char *text);

/// The path of a control socket. @return text; NULL for "none"
const char *gn_option_control(const struct argp_state *state, int key, const char *text);

#endif
