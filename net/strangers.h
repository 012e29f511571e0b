// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_STRANGERS_H
#define GRADNIC_NET_STRANGERS_H
/// Files in folders that everybody may write into, as /tmp and /var/tmp: anybody may have put them
/// there. Any thread.

#include <limits.h>
#include <stdbool.h>

#include "net/error.h"

/// Whether everybody may write into the folder of `path`. @return in `folder` its name
bool gn_folder_is_open(const char *path, char folder[PATH_MAX]);

/// Refuses the open file `path` in such a folder, unless it belongs to this account, as the
/// file system calls it, or to root.
/// @return GN_OK, GN_INVALID, GN_IO
gn_status gn_strangers_refuse(int fd, const char *path, gn_error *error);

#endif
