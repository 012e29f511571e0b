// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_JSON_H
#define GRADNIC_TOOLS_KIT_JSON_H
/// What `--json` needs beyond jansson.

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "net/error.h"

/// A number; null if it is not finite, because JSON has no NaN.
json_t *gn_json_real(double number);
/// A counter. A larger one than 2^63 - 1, jansson's largest, becomes that.
json_t *gn_json_count(uint64_t number);

/// The name of a file. JSON is UTF-8, and names are any bytes: a byte that is not UTF-8 becomes
/// "\xHH", and a backslash becomes two, so nothing is lost. NULL when memory is short.
json_t *gn_json_name(const char *name);

/// Where and when a result was made: gradnic's version, date (UTC), CPU, cores, kernel. Every
/// result file has it.
json_t *gn_json_environment(void);

/// Prints `value` indented, with a newline, members in the order in which they were added,
/// numbers with all their digits. Takes over the reference to `value`. NULL is the error "out of
/// memory".
gn_status gn_json_print(json_t *value, FILE *stream, gn_error *error);

#endif
