// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_OPTION_VALUES_H
#define GRADNIC_TOOLS_KIT_OPTION_VALUES_H
/// Option values inside of an argp parser: as the gn_parse_...() of cli.h, but what is wrong ends the program there and
/// then, with "PROGRAM: --NAME: what is wrong" and GN_EXIT_USAGE. `name` is the option's long name; NULL leaves "--NAME: "
/// out, for messages that say it themselves or need not.

#include <argp.h>

#include "cli.h"

/// Long name of the option `key` of the command; NULL: it has none.
const char *gn_option_name(const struct argp_state *state, int key);

/// Ends the program when there is a message.
void gn_option_check(struct argp_state *state, const char *name, gn_message wrong);

/// low <= number <= high.
uint64_t gn_option_number(struct argp_state *state, const char *name, const char *text, uint64_t low, uint64_t high);

/// The same, where `high` is less than 2^32.
unsigned gn_option_unsigned(struct argp_state *state, const char *name, const char *text, unsigned low, unsigned high);

/// Which of two words it is: true for the second.
bool gn_option_choice(struct argp_state *state, const char *name, const char *text, const char *first,
                      const char *second);

/// An account of this host. @return text
const char *gn_option_user(struct argp_state *state, const char *name, const char *text);

#endif
