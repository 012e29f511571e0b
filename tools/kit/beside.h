// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_BESIDE_H
#define GRADNIC_TOOLS_KIT_BESIDE_H
/// Where gradnic's own programs and scripts are, seen from the running program. A command becomes
/// one of them (execv).

#include <limits.h>

#include "net/error.h"

/// The running program, without symbolic links.
gn_status gn_beside_self(char path[PATH_MAX], gn_error *error);

/// Finds an executable file. `installed` is its place in an installation, `checkout` its place in
/// a build folder. Both are relative to the folder of the running program. The error names `what`
/// and both places.
gn_status gn_beside_find(const char *what, const char *installed, const char *checkout, char path[PATH_MAX],
                         gn_error *error);

#endif
