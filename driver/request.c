// SPDX-License-Identifier: Apache-2.0
#include "driver/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "driver/rules.h"
#include "driver/stats.h"
#include "host/json.h"

// One member of a "set" and how it is read.
typedef struct member {
    const char *name;
    unsigned bit;
    gn_status (*read)(const json_t *value, gn_change *change, gn_error *error);
} member;

static gn_status read_rules(const json_t *value, gn_change *change, gn_error *error)
{
    const size_t count = json_array_size(value);
    if (!json_is_array(value) || !count || count > GN_RULES_MAX)
        return gn_fail(error, GN_INVALID, "rules: must be a list of 1 to %d rules", GN_RULES_MAX);
    const gn_rule defaults = gn_rule_default();
    for (size_t i = 0; i < count; i++) {
        gn_error why;
        const char *text = json_string_value(json_array_get(value, i));
        if (!text) return gn_fail(error, GN_INVALID, "rules: each rule must be a string");
        if (gn_rule_parse(text, &defaults, &change->rules[i], &why))
            return gn_fail(error, GN_INVALID, "rules: %zu: %s", i + 1, why.text);
    }
    change->rule_count = count;
    return GN_OK;
}

static gn_status read_profile(const json_t *value, gn_change *change, gn_error *error)
{
    const char *name = json_string_value(value);
    if (name && gn_profile_parse(name, &change->profile) == GN_OK) return GN_OK;
    return gn_fail(error, GN_INVALID, "profile: '%.32s' is not a profile of this version", name ? name : "?");
}

static gn_status read_bound(const json_t *value, gn_change *change, gn_error *error)
{
    if (!json_is_integer(value) || json_integer_value(value) < -127 || json_integer_value(value) > 127)
        return gn_fail(error, GN_INVALID, "bound: must be a whole number k; the bound is 2^-k");
    change->bound_exp = (int)json_integer_value(value);
    return GN_OK;
}

static gn_status read_cut(const json_t *value, gn_change *change, gn_error *error)
{
    const char *name = json_string_value(value);
    if (!name || (strcmp(name, "mtu") != 0 && strcmp(name, "fill") != 0))
        return gn_fail(error, GN_INVALID, "cut: must be mtu or fill");
    change->cut = strcmp(name, "mtu") != 0 ? GN_CUT_FILL : GN_CUT_MTU;
    return GN_OK;
}

static gn_status read_switch(const json_t *value, const char *name, bool *on, gn_error *error)
{
    if (!json_is_boolean(value)) return gn_fail(error, GN_INVALID, "%s: must be true or false", name);
    *on = json_is_true(value);
    return GN_OK;
}

static gn_status read_bypass(const json_t *value, gn_change *change, gn_error *error)
{
    return read_switch(value, "bypass", &change->bypass, error);
}

static gn_status read_guard(const json_t *value, gn_change *change, gn_error *error)
{
    return read_switch(value, "guard", &change->guard, error);
}

static gn_status read_count(const json_t *value, const char *name, uint64_t *number, gn_error *error)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return gn_fail(error, GN_INVALID, "%s: must be a whole number of at least 0", name);
    *number = (uint64_t)json_integer_value(value);
    return GN_OK;
}

static gn_status read_time(const json_t *value, const char *name, uint64_t *time, gn_error *error)
{
    if (read_count(value, name, time, error)) return error->status;
    if (!gn_fault_time_possible(*time))
        return gn_fail(error, GN_INVALID, "%s: at most %d seconds", name, GN_FAULT_SECONDS_MAX);
    return GN_OK;
}

static gn_status read_probability(const json_t *value, const char *name, double *probability, gn_error *error)
{
    const double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= 0 && number <= 1))
        return gn_fail(error, GN_INVALID, "%s: must be a probability from 0 to 1", name);
    *probability = number;
    return GN_OK;
}

static gn_status read_rate(const json_t *v, gn_change *c, gn_error *e)
{
    if (read_count(v, "rate", &c->rate, e)) return e->status;
    if (c->rate && c->rate < 1000)
        return gn_fail(e, GN_INVALID, "rate: must be at least 1000 bits per second, or 0 for unlimited");
    return GN_OK;
}

static gn_status read_loss(const json_t *v, gn_change *c, gn_error *e)
{
    return read_probability(v, "loss", &c->fault.loss, e);
}
static gn_status read_duplicate(const json_t *v, gn_change *c, gn_error *e)
{
    return read_probability(v, "duplicate", &c->fault.duplicate, e);
}
static gn_status read_reorder(const json_t *v, gn_change *c, gn_error *e)
{
    return read_probability(v, "reorder", &c->fault.reorder, e);
}
static gn_status read_delay(const json_t *v, gn_change *c, gn_error *e)
{
    return read_time(v, "delay_ns", &c->fault.delay_ns, e);
}
static gn_status read_jitter(const json_t *v, gn_change *c, gn_error *e)
{
    return read_time(v, "jitter_ns", &c->fault.jitter_ns, e);
}
static gn_status read_reorder_ns(const json_t *v, gn_change *c, gn_error *e)
{
    return read_time(v, "reorder_ns", &c->fault.reorder_ns, e);
}
static gn_status read_seed(const json_t *v, gn_change *c, gn_error *e)
{
    return read_count(v, "seed", &c->fault.seed, e);
}

static const member members[] = {
    {"rules", GN_CHANGE_RULES, read_rules},       {"profile", GN_CHANGE_PROFILE, read_profile},
    {"bound", GN_CHANGE_BOUND, read_bound},       {"cut", GN_CHANGE_CUT, read_cut},
    {"bypass", GN_CHANGE_BYPASS, read_bypass},    {"rate", GN_CHANGE_RATE, read_rate},
    {"loss", GN_CHANGE_LOSS, read_loss},          {"duplicate", GN_CHANGE_DUPLICATE, read_duplicate},
    {"reorder", GN_CHANGE_REORDER, read_reorder}, {"delay_ns", GN_CHANGE_DELAY, read_delay},
    {"jitter_ns", GN_CHANGE_JITTER, read_jitter}, {"reorder_ns", GN_CHANGE_REORDER_NS, read_reorder_ns},
    {"seed", GN_CHANGE_SEED, read_seed},          {"guard", GN_CHANGE_GUARD, read_guard},
};

static gn_status read_member(const char *name, const json_t *value, gn_change *change, gn_error *error)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(members[i].name, name) != 0) continue;
        change->given |= members[i].bit;
        return members[i].read(value, change, error);
    }
    return gn_fail(error, GN_INVALID, "'%.40s' is not a setting", name);
}

static gn_status read_change(json_t *root, gn_change *change, gn_error *error)
{
    const char *name;
    json_t *value;
    json_object_foreach(root, name, value)
    {
        if (strcmp(name, "command") != 0 && read_member(name, value, change, error)) return error->status;
    }
    if (!change->given) return gn_fail(error, GN_INVALID, "set: no setting is given");
    return GN_OK;
}

// "status" takes no member, "stats" takes a format.
static gn_status read_format(json_t *root, gn_nic_request *request, gn_error *error)
{
    const char *name;
    json_t *value;
    json_object_foreach(root, name, value)
    {
        if (!strcmp(name, "command")) continue;
        if (request->command != GN_NIC_REQUEST_STATS || strcmp(name, "format") != 0)
            return gn_fail(error, GN_INVALID, "'%.40s' is not a member of this request", name);
        const char *format = json_string_value(value);
        request->metrics = gn_metrics_format_parse(format, &request->format);
        if (!request->metrics && (!format || strcmp(format, "json") != 0))
            return gn_fail(error, GN_INVALID, "format: must be json, prometheus or openmetrics");
    }
    return GN_OK;
}

static gn_status read_request(json_t *root, gn_nic_request *request, gn_error *error)
{
    const char *command = json_string_value(json_object_get(root, "command"));
    if (!command) return gn_fail(error, GN_INVALID, "a request must have a \"command\": status, stats or set");
    if (!strcmp(command, "status"))
        request->command = GN_NIC_REQUEST_STATUS;
    else if (!strcmp(command, "stats"))
        request->command = GN_NIC_REQUEST_STATS;
    else if (!strcmp(command, "set"))
        request->command = GN_NIC_REQUEST_SET;
    else
        return gn_fail(error, GN_INVALID, "'%.40s' is not a command; there are status, stats and set", command);
    return request->command == GN_NIC_REQUEST_SET ? read_change(root, &request->change, error)
                                                  : read_format(root, request, error);
}

gn_status gn_nic_request_parse(const char *text, size_t length, gn_nic_request *request, gn_error *error)
{
    json_error_t wrong;
    memset(request, 0, sizeof *request);
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &wrong);
    if (!root) return gn_fail(error, GN_INVALID, "the request is not JSON: line %d: %.120s", wrong.line, wrong.text);
    const gn_status status = json_is_object(root) ? read_request(root, request, error)
                                                  : gn_fail(error, GN_INVALID, "a request must be a JSON object");
    json_decref(root);
    return status;
}

char *gn_nic_request_answer(const char *text, size_t length, gn_nic *nic)
{
    gn_nic_request request;
    gn_error error;
    if (gn_nic_request_parse(text, length, &request, &error)) return gn_json_refuse("%s", error.text);
    switch (request.command) {
    case GN_NIC_REQUEST_STATUS:
        return gn_json_text(gn_nic_status(nic));
    case GN_NIC_REQUEST_STATS:
        return request.metrics ? gn_nic_prometheus(nic, request.format) : gn_json_text(gn_nic_stats(nic));
    case GN_NIC_REQUEST_SET:
        break;
    }
    if (gn_nic_change(nic, &request.change, &error)) return gn_json_refuse("%s", error.text);
    return gn_json_text(gn_nic_status(nic));
}
