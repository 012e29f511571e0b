// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_ENGINES_H
#define GRADNIC_HOST_ENGINES_H
/// Engines by their names: what the NIC and the switch say alike.

#include "net/error.h"

/// This build has no engine `name`: GN_INVALID, with the names that it has, or with how to get one
/// that it lacks.
gn_status gn_engine_missing(const char *name, const char *names, gn_error *error);

#endif
