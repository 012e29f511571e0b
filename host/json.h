// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_JSON_H
#define GRADNIC_HOST_JSON_H
/// What daemons say of themselves, as JSON. All functions return new references, or NULL when out
/// of memory.

#include <jansson.h>

#include "host/counter.h"
#include "net/fault.h"

typedef struct gn_json_field {
    const char *name;
    uint64_t value;
} gn_json_field;

json_t *gn_json_number(uint64_t value);
json_t *gn_json_fields(const gn_json_field *fields, size_t count);
/// GN_JSON_FIELDS({"packets", n}, {"bytes", m}): an object of numbers.
#define GN_JSON_FIELDS(...)                                                                                            \
    gn_json_fields((const gn_json_field[]){__VA_ARGS__},                                                               \
                   sizeof((const gn_json_field[]){__VA_ARGS__}) / sizeof(gn_json_field))
/// Counters by the names of their rows. The last row has the name NULL.
json_t *gn_json_rows(const gn_counter *rows, const void *counters);
json_t *gn_json_fault_settings(const gn_fault_config *fault);
json_t *gn_json_fault_counters(const gn_fault_counters *counters);

/// Takes over `value`. @return its text, to free(); NULL when out of memory, or when `value` is
/// NULL
char *gn_json_text(json_t *value);
/// {"error": ...} as a text to free(), or NULL when out of memory.
char *gn_json_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
