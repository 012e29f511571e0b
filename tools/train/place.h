// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_TRAIN_PLACE_H
#define GRADNIC_TOOLS_TRAIN_PLACE_H
/// Where checkpoints lie, and who else may put files there.

#include <limits.h>
#include <stdbool.h>

#include "net/error.h"

/// Whether everybody may write into the folder of `path`, as into /var/tmp. @return in `folder` its
/// name
bool gn_place_is_open(const char *path, char folder[PATH_MAX]);

/// Refuses the open file where everybody may have put it: then it has to belong to this account or
/// to root. `path` is its name. @return GN_OK, GN_INVALID, GN_IO
gn_status gn_place_check_owner(int fd, const char *path, gn_error *error);

#endif
