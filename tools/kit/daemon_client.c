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

bool gn_daemon_option_parse(int key, char *arg, struct argp_state *state, gn_daemon_options *o)
{
    switch (key) {
    case 'c':
        o->control = arg;
        return true;
    case GN_DAEMON_JSON:
        o->json = true;
        return true;
    case GN_DAEMON_PROMETHEUS:
        o->prometheus = true;
        return true;
    case ARGP_KEY_END:
        if (o->json && o->prometheus) argp_error(state, "--json or --prometheus, not both");
        return false;
    default:
        return false;
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

// @return exit status
static int print_answer(const gn_daemon_question *q, const char *answer)
{
    if (q->options.prometheus && *answer != '{') {
        fputs(answer, stdout);
        return GN_EXIT_OK;
    }
    json_error_t wrong;
    json_t *root = json_loads(answer, 0, &wrong);
    const char *refusal = json_string_value(json_object_get(root, "error"));
    if (!root || refusal) {
        if (refusal)
            gn_cli_error(q->program, "%s", refusal);
        else
            gn_cli_error(q->program, "the %s's answer is not JSON", q->daemon);
        json_decref(root);
        return GN_EXIT_FAILED;
    }
    if (q->options.json)
        puts(answer);
    else if (!q->silent && q->print)
        q->print(root);
    else if (!q->silent)
        print_tree(root, 0);
    json_decref(root);
    return GN_EXIT_OK;
}

int gn_daemon_ask(const gn_daemon_question *q)
{
    gn_error error;
    if (q->options.prometheus) json_object_set_new(q->request, "format", json_string("prometheus"));
    char *request = json_dumps(q->request, 0);
    char *answer = request ? gn_control_ask(q->options.control, q->daemon, request, &error) : NULL;
    int status = GN_EXIT_FAILED;
    if (answer)
        status = print_answer(q, answer);
    else
        gn_cli_error(q->program, "%s", request ? error.text : "out of memory");
    free(answer);
    free(request);
    return status;
}
