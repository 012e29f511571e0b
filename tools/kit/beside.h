// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_BESIDE_H
#define GRADNIC_TOOLS_KIT_BESIDE_H
/// Programs and scripts of gradnic's own that a command becomes (execv): where they are, seen from the running program.

#include <limits.h>

#include "net/error.h"

/// The running program, without symbolic links.
gn_status gn_beside_self(char path[PATH_MAX], gn_error *error);

/// Finds an executable file: `installed` and `checkout` are its places in an installation and in a build folder, both seen
/// from the folder of the running program. The message names `what` and both places.
gn_status gn_beside_find(const char *what, const char *installed, const char *checkout, char path[PATH_MAX],
                         gn_error *error);

#endif
