// SPDX-License-Identifier: Apache-2.0
// Both formats demand that the samples of a metric stand together, wherever in the tree they were
// found. So they are collected first.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/prometheus.h"

/// A place in the tree, and the labels that were found on the way.
typedef struct place {
    const gn_metric_set *set;
    char path[128];
    char labels[640];
} place;

/// A metric by its name in the text.
typedef struct family {
    char name[192];  ///< without `_total`
    const char *group, *text;
    const char *unit;  ///< "": none
    const char *type;  ///< NULL: the set does not know the metric
} family;

bool gn_metrics_format_parse(const char *name, gn_metrics_format *format)
{
    if (!name || (strcmp(name, "prometheus") != 0 && strcmp(name, "openmetrics") != 0)) return false;
    *format = *name == 'o' ? GN_METRICS_OPENMETRICS : GN_METRICS_PROMETHEUS;
    return true;
}

static place deeper(const place *at, const char *name)
{
    place next = *at;
    const size_t end = strlen(next.path);
    snprintf(next.path + end, sizeof next.path - end, "%s%s", end ? "." : "", name);
    return next;
}

/// A backslash, a quote or a line's end in a label's value is escaped.
static void add_label(place *at, const char *name, const char *value)
{
    char *out = at->labels + strlen(at->labels);
    const char *const end = at->labels + sizeof at->labels - 3;
    if (strlen(name) + 4 > (size_t)(end - out)) return;
    out += sprintf(out, "%s%s=\"", out == at->labels ? "" : ",", name);
    for (; *value && out < end - 1; value++) {
        if (*value == '"' || *value == '\\' || *value == '\n') *out++ = '\\';
        *out++ = *value == '\n' ? 'n' : *value;
    }
    *out++ = '"';
    *out = 0;
}

static void describe(family *f, const gn_metric_group *group, const char *text, gn_metric_type type)
{
    f->group = group->text;
    f->text = text;
    f->type = type == GN_METRIC_COUNTER ? "counter" : "gauge";
}

/// Looks for `last` in the groups with the path of `length` bytes. @return the last part of the
/// metric's name
static const char *find(family *f, const gn_metric_set *set, const char *path, size_t length, const char *last)
{
    for (const gn_metric_group *g = set->groups; g->path; g++) {
        if (strncmp(g->path, path, length) != 0 || g->path[length]) continue;
        for (const gn_metric *m = g->metrics; m && m->name; m++) {
            if (strcmp(m->name, last) != 0) continue;
            describe(f, g, m->text, m->type);
            return m->called ? m->called : last;
        }
        for (const gn_counter *c = g->counters; c && c->name; c++) {
            if (strcmp(c->name, last) != 0) continue;
            describe(f, g, c->text, GN_METRIC_COUNTER);
            return last;
        }
    }
    return last;
}

static const char *unit_of(const char *name)
{
    static const char *const units[] = {"bytes", "seconds", "ratio"};
    const char *last = strrchr(name, '_');
    for (size_t i = 0; last && i < sizeof units / sizeof *units; i++)
        if (!strcmp(last + 1, units[i])) return units[i];
    return "";
}

static family family_at(const gn_metric_set *set, const char *path)
{
    family f = {.type = NULL};
    const char *dot = strrchr(path, '.'), *last = dot ? dot + 1 : path;
    const size_t above = dot ? (size_t)(dot - path) : 0;
    last = find(&f, set, path, above, last);
    snprintf(f.name, sizeof f.name, "%s_%.*s%s%s", set->prefix, (int)above, path, above ? "_" : "", last);
    for (char *c = f.name; *c; c++)
        if (*c == '.') *c = '_';
    const size_t length = strlen(f.name);
    if (length > 2 && !strcmp(f.name + length - 2, "_s"))
        snprintf(f.name + length, sizeof f.name - length, "%s", "econds");
    f.unit = unit_of(f.name);
    return f;
}

/// Adds the numbers in `value` to `found`: for each path, in the order in which they are found, its
/// samples as texts.
static void collect(json_t *found, const place *at, const json_t *value);

static void add_sample(json_t *found, const place *at, const char *number)
{
    json_t *samples = json_object_get(found, at->path);
    if (!samples) {
        samples = json_array();
        json_object_set_new(found, at->path, samples);
    }
    json_array_append_new(samples, json_sprintf("{%s} %s", at->labels, number));
}

static void collect_list(json_t *found, const place *at, const json_t *list)
{
    size_t index;
    json_t *item;
    json_array_foreach(list, index, item)
    {
        const char *name;
        json_t *member;
        place next = *at;
        json_object_foreach(item, name, member)
        {
            if (json_is_string(member)) add_label(&next, name, json_string_value(member));
        }
        collect(found, &next, item);
    }
}

static void collect(json_t *found, const place *at, const json_t *value)
{
    const char *name;
    json_t *member;
    char number[32];
    if (at->set->skip && !strcmp(at->path, at->set->skip)) return;
    if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        add_sample(found, at, number);
    } else if (json_is_real(value)) {
        snprintf(number, sizeof number, "%.17g", json_real_value(value));
        add_sample(found, at, number);
    } else if (json_is_array(value)) {
        collect_list(found, at, value);
    }
    if (!json_is_object(value)) return;
    // jansson's macro wants a mutable object, but only reads it.
    json_object_foreach((json_t *)(uintptr_t)value, name, member)
    {
        const place next = deeper(at, name);
        collect(found, &next, member);
    }
}

/// Format 0.0.4 names a counter with `_total` in TYPE and HELP too, OpenMetrics without.
static void print_family(FILE *out, const family *f, const json_t *samples, gn_metrics_format format)
{
    size_t index;
    json_t *sample;
    const bool open = format == GN_METRICS_OPENMETRICS;
    const char *total = f->type && !strcmp(f->type, "counter") ? "_total" : "", *in_head = open ? "" : total;
    fprintf(out, "# TYPE %s%s %s\n", f->name, in_head, f->type ? f->type : open ? "unknown" : "untyped");
    if (open && f->type && *f->unit) fprintf(out, "# UNIT %s %s\n", f->name, f->unit);
    if (f->type) fprintf(out, "# HELP %s%s %s: %s\n", f->name, in_head, f->group, f->text);
    json_array_foreach(samples, index, sample) fprintf(out, "%s%s%s\n", f->name, total, json_string_value(sample));
}

static void print(FILE *out, json_t *found, const gn_metric_set *set, gn_metrics_format format)
{
    const char *path;
    json_t *samples;
    json_object_foreach(found, path, samples)
    {
        const family f = family_at(set, path);
        print_family(out, &f, samples, format);
    }
    if (format == GN_METRICS_OPENMETRICS) fputs("# EOF\n", out);
}

char *gn_prometheus(json_t *stats, const gn_metric_set *set, const char *value, gn_metrics_format format)
{
    char *text = NULL;
    size_t length;
    json_t *found = json_object();
    FILE *out = stats && found ? open_memstream(&text, &length) : NULL;
    if (out) {
        place root = {.set = set};
        add_label(&root, set->label, value);
        collect(found, &root, stats);
        print(out, found, set, format);
        if (fclose(out)) {
            free(text);
            text = NULL;
        }
    }
    json_decref(found);
    json_decref(stats);
    return text;
}

static void list_one(const gn_metric_set *set, const gn_metric_group *group, const char *name, json_t *seen, FILE *out)
{
    char path[128];
    snprintf(path, sizeof path, "%s%s%s", group->path, *group->path ? "." : "", name);
    if (json_object_get(seen, path)) return;
    json_object_set_new(seen, path, json_true());
    const family f = family_at(set, path);
    fprintf(out, "| `%s%s` | %s | %s: %s |\n", f.name, strcmp(f.type, "counter") ? "" : "_total", f.type, f.group,
            f.text);
}

void gn_prometheus_list(const gn_metric_set *set, FILE *out)
{
    json_t *seen = json_object();
    for (const gn_metric_group *g = set->groups; g->path; g++) {
        for (const gn_metric *m = g->metrics; m && m->name; m++) list_one(set, g, m->name, seen, out);
        for (const gn_counter *c = g->counters; c && c->name; c++) list_one(set, g, c->name, seen, out);
    }
    json_decref(seen);
}
