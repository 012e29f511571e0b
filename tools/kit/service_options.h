// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_SERVICE_OPTIONS_H
#define GRADNIC_TOOLS_KIT_SERVICE_OPTIONS_H
/// Options of both daemons when they start, `gradnic nic` and `gradnic switch`: the account that
/// they run as, and where they serve their counters.

#include <argp.h>
#include <stdbool.h>

#include "net/address.h"

enum { GN_OPTION_METRICS = 0x700 };

// clang-format off
/// Rows of an argp table. The account has the letter 'u' as its key.
#define GN_SERVICE_OPTIONS(group) \
    {"user", 'u', "NAME", 0, \
     "user to run as when everything is open (default gradnic if root starts it, or nobody without such an account; " \
     "otherwise the same)", group}, \
    {"metrics", GN_OPTION_METRICS, "WHERE", 0, \
     "serve all counters over HTTP under /metrics, for Prometheus: at ADDRESS:PORT, or at :PORT for this host alone " \
     "(default none)", group}
// clang-format on

/// Reads one option. False: `key` is another's. Refuses a wrong value (option_values.h). `*user` is
/// `arg` itself.
bool gn_service_option_parse(int key, const char *arg, const struct argp_state *state, const char **user,
                             gn_endpoint *metrics);

#endif
