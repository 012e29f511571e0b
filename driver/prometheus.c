// SPDX-License-Identifier: Apache-2.0
// The counters as Prometheus text, made from the JSON tree: path of names -> metric, members of lists told apart by a label.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/stats.h"

typedef struct place {
    char name[160];
    char labels[320];
} place;

// Labels are our own texts (device, peer, rule): no quotes, backslashes or newlines in them.
static place deeper(const place *at, const char *name, const char *label, const char *value)
{
    place next = *at;
    const size_t name_end = strlen(next.name), labels_end = strlen(next.labels);
    if (name) snprintf(next.name + name_end, sizeof next.name - name_end, "_%s", name);
    if (label)
        snprintf(next.labels + labels_end, sizeof next.labels - labels_end, "%s%s=\"%s\"", *next.labels ? "," : "",
                 label, value);
    return next;
}

static void print(FILE *out, const place *at, const json_t *value);

static void print_list(FILE *out, const place *at, const json_t *list)
{
    size_t index;
    json_t *item;
    json_array_foreach(list, index, item)
    {
        const char *peer = json_string_value(json_object_get(item, "peer")),
                   *rule = json_string_value(json_object_get(item, "rule"));
        const place next = deeper(at, NULL, peer ? "peer" : "rule", peer ? peer : rule ? rule : "?");
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
        const place next = deeper(at, name, NULL, NULL);
        print(out, &next, member);
    }
}

char *gn_nic_prometheus(gn_nic *nic)
{
    char *text = NULL;
    size_t length;
    json_t *stats = gn_nic_stats(nic);
    FILE *out = stats ? open_memstream(&text, &length) : NULL;
    if (out) {
        place root = {.name = "gradnic"};
        snprintf(root.labels, sizeof root.labels, "device=\"%s\"", gn_nic_device(nic));
        print(out, &root, stats);
        if (fclose(out)) {
            free(text);
            text = NULL;
        }
    }
    json_decref(stats);
    return text;
}
