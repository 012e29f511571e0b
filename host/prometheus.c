// SPDX-License-Identifier: Apache-2.0
// Path of names -> metric; members of lists are told apart by their texts, as labels.
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

// A backslash or a quote in a label's value is escaped; newlines are in none of our texts.
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

static void print(FILE *out, const place *at, const json_t *value);

static void print_list(FILE *out, const place *at, const json_t *list)
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
        print(out, &next, item);
    }
}

static void print(FILE *out, const place *at, const json_t *value)
{
    const char *name;
    json_t *member;
    if (json_is_integer(value))
        fprintf(out, "%s{%s} %" JSON_INTEGER_FORMAT "\n", at->name, at->labels, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%s{%s} %.17g\n", at->name, at->labels, json_real_value(value));
    else if (json_is_array(value))
        print_list(out, at, value);
    if (!json_is_object(value)) return;
    // jansson's macro wants a mutable object, but only reads it.
    json_object_foreach((json_t *)(uintptr_t)value, name, member)
    {
        const place next = deeper(at, name);
        print(out, &next, member);
    }
}

char *gn_prometheus(json_t *stats, const char *prefix, const char *label, const char *value)
{
    char *text = NULL;
    size_t length;
    FILE *out = stats ? open_memstream(&text, &length) : NULL;
    if (out) {
        place root = {.name = ""};
        snprintf(root.name, sizeof root.name, "%s", prefix);
        add_label(&root, label, value);
        print(out, &root, stats);
        if (fclose(out)) {
            free(text);
            text = NULL;
        }
    }
    json_decref(stats);
    return text;
}
