// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_OLD_NAMES_H
#define GRADNIC_TOOLS_KIT_OLD_NAMES_H
/// Old names of options. An old name works for one release. Each use prints what to write now:
/// "gradnic switch: --drop is now --loss". A command's argp table has a hidden row for each old
/// name, with a key of its own, and its parser begins with gn_option_current().

#include <argp.h>

typedef struct gn_old_name {
    int old_key;
    int key;          ///< of the new name
    const char *old;  ///< "--drop", "-w"
    const char *now;  ///< what to write; NULL: the new name alone
} gn_old_name;

// clang-format off
/// Rows of an argp table: an old long name, and an old letter. `arg` is NULL if there is none.
#define GN_OLD_NAME(name, old_key, arg) {name, old_key, arg, OPTION_HIDDEN, 0, 0}
#define GN_OLD_LETTER(letter, arg) {0, letter, arg, OPTION_HIDDEN, 0, 0}
// clang-format on

/// The key to parse. If `key` is an old name's, it is the key of the new name, and a line on
/// stderr says so. The table ends with {0}.
int gn_option_current(const struct argp_state *state, int key, const gn_old_name *names);

/// Prints such a line. `now` is what to write.
void gn_option_renamed(const struct argp_state *state, const char *old, const char *now);

#endif
