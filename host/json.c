// SPDX-License-Identifier: Apache-2.0
#include "host/json.h"

#include <stdarg.h>
#include <stdio.h>

json_t *gn_json_number(uint64_t value)
{
    return json_integer((json_int_t)(value & INT64_MAX));
}

json_t *gn_json_fields(const gn_json_field *fields, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) json_object_set_new(object, fields[i].name, gn_json_number(fields[i].value));
    return object;
}

json_t *gn_json_rows(const gn_counter *rows, const void *counters)
{
    json_t *object = json_object();
    for (; rows->name; rows++)
        json_object_set_new(object, rows->name, gn_json_number(gn_counter_value(rows, counters)));
    return object;
}

json_t *gn_json_fault_settings(const gn_fault_config *fault)
{
    return json_pack("{s:f,s:f,s:f,s:o,s:o,s:o,s:o}", "loss", fault->loss, "duplicate", fault->duplicate, "reorder",
                     fault->reorder, "delay_ns", gn_json_number(fault->delay_ns), "jitter_ns",
                     gn_json_number(fault->jitter_ns), "reorder_ns", gn_json_number(fault->reorder_ns), "seed",
                     gn_json_number(fault->seed));
}

json_t *gn_json_fault_counters(const gn_fault_counters *c)
{
    return GN_JSON_FIELDS({"lost", c->lost}, {"duplicated", c->duplicated}, {"reordered", c->reordered},
                          {"delayed", c->delayed}, {"overflow", c->overflow});
}

char *gn_json_text(json_t *value)
{
    char *text = value ? json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(value);
    return text;
}

char *gn_json_refuse(const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return gn_json_text(json_pack("{s:s}", "error", text));
}
