// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_NIC_CAPTURE_NAME_H
#define GRADNIC_TOOLS_NIC_CAPTURE_NAME_H
/// Names of captures that have the time in them.

#include <stddef.h>
#include <time.h>

#include "net/error.h"

/// Writes `name` with its times filled in: %Y %m %d %H %M %S %j %F %s as strftime(3) has them, in
/// UTC, and %% for one %. GN_INVALID: another letter is behind a %, or there is no room.
gn_status gn_capture_name(const char *name, time_t when, char *out, size_t room, gn_error *error);

#endif
