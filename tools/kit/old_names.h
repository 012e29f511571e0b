// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_OLD_NAMES_H
#define GRADNIC_TOOLS_KIT_OLD_NAMES_H
/// Options under the names that they had. An old name works for one release, and each use says what
/// to write now: "gradnic switch: --drop is now --loss". A command's argp table has a hidden row for
/// each old name, with a key of its own, and its parser begins with gn_option_current().

#include <argp.h>

typedef struct gn_old_name {
    int old_key;
    int key;          ///< of the option as it is called now
    const char *old;  ///< as it is written: "--drop", "-w"
    const char *now;  ///< what to write; NULL: the new name alone
} gn_old_name;

// clang-format off
/// Rows of an argp table: a long name, and a letter, of before. `arg` is NULL where there is none.
#define GN_OLD_NAME(name, old_key, arg) {name, old_key, arg, OPTION_HIDDEN, 0, 0}
#define GN_OLD_LETTER(letter, arg) {0, letter, arg, OPTION_HIDDEN, 0, 0}
// clang-format on

/// The key to parse: that of the new name, with a line on stderr, where `key` is an old name's. The
/// table ends with {0}.
int gn_option_current(const struct argp_state *state, int key, const gn_old_name *names);

/// That line. `now` is as it is to be written.
void gn_option_renamed(const struct argp_state *state, const char *old, const char *now);

/// Whether the word behind an option is an argument in the old way. An option whose value is now
/// written --NAME=VALUE or differently took it from the next word. `state->next` is that word, or
/// argc.
const char *gn_option_next_word(const struct argp_state *state);

#endif
