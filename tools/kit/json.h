// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_JSON_H
#define GRADNIC_TOOLS_KIT_JSON_H
/// What `--json` needs beyond jansson.

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "net/error.h"

/// A number; null where it is not finite (JSON has no NaN).
json_t *gn_json_real(double number);
/// A counter. Beyond 2^63 - 1 (jansson's largest) it stays there.
json_t *gn_json_count(uint64_t number);

/// The run's surroundings, which every result file carries: gradnic's version, date (UTC), cpu, cores, kernel.
json_t *gn_json_environment(void);

/// Prints `value` indented, with a newline, in the order its members were added; numbers with all their digits.
/// Takes `value` (one reference less afterwards). A NULL `value` is reported as "out of memory".
gn_status gn_json_print(json_t *value, FILE *stream, gn_error *error);

#endif
