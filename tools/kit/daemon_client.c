// SPDX-License-Identifier: Apache-2.0
#include "daemon_client.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "command.h"
#include "host/control.h"
#include "net/escape.h"

bool gn_daemon_option_parse(int key, char *arg, struct argp_state *state, gn_daemon_options *o)
{
    switch (key) {
    case 'c':
        o->control = arg;
        return true;
    case GN_DAEMON_PROMETHEUS:
        o->metrics = "prometheus";
        return true;
    case GN_DAEMON_OPENMETRICS:
        o->metrics = "openmetrics";
        return true;
    case ARGP_KEY_END:
        if ((o->result.json || o->result.json_file) && o->metrics)
            argp_error(state, "--json or --%s, not both", o->metrics);
        return false;
    default:
        return gn_result_option_parse(key, arg, &o->result);
    }
}

static void print_tree(const json_t *value, int depth);

static void print_member(const char *name, const json_t *value, int depth)
{
    printf("%*s%-*s ", depth * 2, "", 24 - depth * 2, name);
    if (json_is_string(value))
        puts(json_string_value(value));
    else if (json_is_integer(value))
        printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(value));
    else if (json_is_real(value))
        printf("%.4g\n", json_real_value(value));
    else if (json_is_boolean(value))
        puts(json_is_true(value) ? "yes" : "no");
    else if (json_is_null(value))
        puts("-");
    else {
        putchar('\n');
        print_tree(value, depth + 1);
    }
}

static void print_tree(const json_t *value, int depth)
{
    const char *name;
    json_t *member;
    size_t index;
    if (json_is_array(value)) {
        json_array_foreach(value, index, member)
        {
            char label[24];
            snprintf(label, sizeof label, "%zu", index + 1);
            print_member(label, member, depth);
        }
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)value, name, member) print_member(name, member, depth);
}

/// What the daemon says, with all strings and names escaped: they may come from strangers. Takes
/// over `value`. @return a new reference; NULL: out of memory
static json_t *escaped(json_t *value)
{
    const char *name;
    json_t *member, *clean = NULL;
    size_t index;
    if (json_is_string(value)) {
        char *text = gn_escape_new(json_string_value(value), "");
        clean = text ? json_string(text) : NULL;
        free(text);
    } else if (json_is_array(value)) {
        clean = json_array();
        json_array_foreach(value, index, member) json_array_append_new(clean, escaped(json_incref(member)));
    } else if (json_is_object(value)) {
        clean = json_object();
        json_object_foreach(value, name, member)
        {
            char *text = gn_escape_new(name, "");
            if (text) json_object_set_new(clean, text, escaped(json_incref(member)));
            free(text);
        }
    } else {
        return value;
    }
    json_decref(value);
    return clean;
}

/// Prints and writes an answer that is not a refusal. Takes over `root`.
static gn_status show(const gn_daemon_question *q, gn_result_file *file, json_t *root, gn_error *error)
{
    if (!q->silent && !q->options.result.json) {
        if (q->print)
            q->print(root);
        else
            print_tree(root, 0);
    }
    return gn_result_write(file, &q->options.result, root, stdout, error);
}

static gn_status take_answer(const gn_daemon_question *q, gn_result_file *file, const char *answer, gn_error *error)
{
    if (q->options.metrics && *answer != '{') {
        char *text = gn_escape_new(answer, "\n");
        if (!text) return gn_fail_memory(error);
        fputs(text, stdout);
        free(text);
        return GN_OK;
    }
    json_error_t why;
    json_t *root = escaped(json_loads(answer, 0, &why));
    const char *refusal = json_string_value(json_object_get(root, "error"));
    if (root && !refusal) return show(q, file, root, error);
    if (refusal)
        gn_fail(error, GN_INVALID, "%s", refusal);
    else
        gn_fail(error, GN_CORRUPT, "the %s's answer is not JSON", q->daemon);
    json_decref(root);
    return error->status;
}

/// Asks one question.
static gn_status converse(const gn_daemon_question *q, gn_result_file *file, gn_error *error)
{
    if (q->options.metrics) json_object_set_new(q->request, "format", json_string(q->options.metrics));
    char *request = json_dumps(q->request, 0);
    if (!request) return gn_fail_memory(error);
    char *answer = gn_control_ask(q->options.control, q->daemon, request, error);
    const gn_status wrong = answer ? take_answer(q, file, answer, error) : error->status;
    free(answer);
    free(request);
    return wrong;
}

int gn_daemon_ask(const gn_daemon_question *q)
{
    gn_error error;
    gn_result_file file;
    gn_status wrong = gn_result_open(&file, &q->options.result, NULL, NULL, 0, &error);
    if (!wrong) wrong = converse(q, &file, &error);
    gn_result_abort(&file);
    if (wrong) gn_cli_error(q->program, "%s", error.text);
    return wrong ? GN_EXIT_FAILED : GN_EXIT_OK;
}
