// SPDX-License-Identifier: Apache-2.0
#include "fault_options.h"

#include <stddef.h>

#include "option_values.h"
#include "units.h"

typedef struct fault_option {
    int key;
    const char *member;  ///< of a "set" request
    bool probability;    ///< a double; otherwise a uint64_t
    size_t offset;       ///< in gn_fault_config
} fault_option;

static const fault_option fault_options[] = {
    {GN_OPTION_FAULT_LOSS, "loss", true, offsetof(gn_fault_config, loss)},
    {GN_OPTION_FAULT_DUPLICATE, "duplicate", true, offsetof(gn_fault_config, duplicate)},
    {GN_OPTION_FAULT_REORDER, "reorder", true, offsetof(gn_fault_config, reorder)},
    {GN_OPTION_FAULT_REORDER_DELAY, "reorder_ns", false, offsetof(gn_fault_config, reorder_ns)},
    {GN_OPTION_FAULT_DELAY, "delay_ns", false, offsetof(gn_fault_config, delay_ns)},
    {GN_OPTION_FAULT_JITTER, "jitter_ns", false, offsetof(gn_fault_config, jitter_ns)},
    {GN_OPTION_FAULT_SEED, "seed", false, offsetof(gn_fault_config, seed)},
};

static const fault_option *find(int key)
{
    for (size_t i = 0; i < sizeof fault_options / sizeof *fault_options; i++)
        if (fault_options[i].key == key) return &fault_options[i];
    return NULL;
}

static uint64_t parse_time(const struct argp_state *state, int key, const char *text)
{
    const uint64_t nanoseconds = gn_option_duration(state, key, text);
    if (!gn_fault_time_possible(nanoseconds))
        gn_option_refuse(state, "--%s %s: at most %ds", gn_option_name(state, key), text, GN_FAULT_SECONDS_MAX);
    return nanoseconds;
}

bool gn_fault_option_parse(int key, const char *text, struct argp_state *state, gn_fault_config *fault)
{
    const fault_option *option = find(key);
    if (!option) return false;
    void *value = (char *)fault + option->offset;
    if (option->probability)
        *(double *)value = gn_option_probability(state, key, text);
    else if (key == GN_OPTION_FAULT_SEED)
        *(uint64_t *)value = gn_option_number(state, key, text, 0, INT64_MAX);
    else
        *(uint64_t *)value = parse_time(state, key, text);
    return true;
}

bool gn_fault_option_request(int key, const char *text, struct argp_state *state, json_t *request)
{
    gn_fault_config fault = {0};
    if (!gn_fault_option_parse(key, text, state, &fault)) return false;
    const fault_option *option = find(key);
    const void *value = (const char *)&fault + option->offset;
    json_object_set_new(request, option->member,
                        option->probability ? json_real(*(const double *)value)
                                            : json_integer((json_int_t) * (const uint64_t *)value));
    return true;
}
