// SPDX-License-Identifier: Apache-2.0
// The names on the way to a number make its metric. Members of lists are told apart by their
// strings, as labels. The format demands that the samples of a metric stand together, wherever in
// the tree they were found.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/prometheus.h"

typedef struct place {
    char name[160];
    char labels[320];
} place;

static place deeper(const place *at, const char *name)
{
    place next = *at;
    const size_t end = strlen(next.name);
    snprintf(next.name + end, sizeof next.name - end, "_%s", name);
    return next;
}

// A backslash or a quote in a label's value is escaped. No text here has a newline.
static void add_label(place *at, const char *name, const char *value)
{
    char *out = at->labels + strlen(at->labels);
    const char *const end = at->labels + sizeof at->labels - 3;
    if (strlen(name) + 4 > (size_t)(end - out)) return;
    out += sprintf(out, "%s%s=\"", out == at->labels ? "" : ",", name);
    for (; *value && out < end - 1; value++) {
        if (*value == '"' || *value == '\\') *out++ = '\\';
        *out++ = *value;
    }
    *out++ = '"';
    *out = 0;
}

/// Adds the numbers in `value` to `found`: for each metric, in the order in which they are found,
/// its samples as texts.
static void collect(json_t *found, const place *at, const json_t *value);

static void add_sample(json_t *found, const place *at, const char *number)
{
    json_t *samples = json_object_get(found, at->name);
    if (!samples) {
        samples = json_array();
        json_object_set_new(found, at->name, samples);
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

// The tree does not tell counters from values that go up and down, so the type is untyped.
static void print(FILE *out, json_t *found)
{
    const char *metric;
    json_t *samples, *sample;
    size_t index;
    json_object_foreach(found, metric, samples)
    {
        fprintf(out, "# TYPE %s untyped\n", metric);
        json_array_foreach(samples, index, sample) fprintf(out, "%s%s\n", metric, json_string_value(sample));
    }
}

char *gn_prometheus(json_t *stats, const char *prefix, const char *label, const char *value)
{
    char *text = NULL;
    size_t length;
    json_t *found = json_object();
    FILE *out = stats && found ? open_memstream(&text, &length) : NULL;
    if (out) {
        place root = {.name = ""};
        snprintf(root.name, sizeof root.name, "%s", prefix);
        add_label(&root, label, value);
        collect(found, &root, stats);
        print(out, found);
        if (fclose(out)) {
            free(text);
            text = NULL;
        }
    }
    json_decref(found);
    json_decref(stats);
    return text;
}
