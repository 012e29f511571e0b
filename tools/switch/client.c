// SPDX-License-Identifier: Apache-2.0
// gradnic switch status, jobs, stats, end: ask a running switch, or end one of its jobs.
#include <argp.h>
#include <string.h>

#include "switch.h"
#include "tools/kit/daemon_client.h"
#include "tools/kit/label.h"
#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"
#include "tools/kit/table.h"
#include "tools/kit/units.h"

typedef struct client {
    gn_daemon_options options;
    const char *job;
    bool takes_job;  ///< the command's argument is a job's name
} client;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    client *c = state->input;
    if (gn_daemon_option_parse(key, arg, state, &c->options)) return 0;
    switch (key) {
    case ARGP_KEY_ARG:
        if (c->job || !c->takes_job) return ARGP_ERR_UNKNOWN;
        for (const char *p = arg; *p; p++)
            if (*p < ' ' || *p > '~') gn_option_refuse(state, "a job's name has printable ASCII characters only");
        c->job = arg;
        return 0;
    case ARGP_KEY_END:
        if (c->takes_job && !c->job) gn_option_refuse(state, "the name of a job is needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

#define CONTROL GN_DAEMON_CONTROL_OPTION(GN_SWITCH_CONTROL)
static const struct argp_option show_options[] = {
    CONTROL, GN_FORCE_OPTION(0), GN_QUIET_OPTION(0), GN_JSON_OPTION(0), {0}};
static const struct argp_option stats_options[] = {
    CONTROL, GN_DAEMON_METRICS_OPTIONS, GN_FORCE_OPTION(0), GN_QUIET_OPTION(0), GN_JSON_OPTION(0), {0}};
static const struct argp_option end_options[] = {CONTROL, GN_QUIET_OPTION(0), {0}};

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static long long number_of(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static double seconds_of(const json_t *object)
{
    return json_real_value(json_object_get(object, "for_s")) * 1e9;
}

/// "rank 5", "ranks 4-7, 9".
static void print_ranks(const json_t *ranks)
{
    const size_t count = json_array_size(ranks);
    fputs(count == 1 ? " rank" : " ranks", stdout);
    for (size_t i = 0; i < count; i++) {
        const long long first = json_integer_value(json_array_get(ranks, i));
        long long last = first;
        while (i + 1 < count && json_integer_value(json_array_get(ranks, i + 1)) == last + 1) i++, last++;
        printf(" %lld", first);
        if (last > first) printf("-%lld", last);
        if (i + 1 < count) putchar(',');
    }
}

static void print_wait(const json_t *wait)
{
    size_t index;
    json_t *who;
    const json_t *list = json_object_get(wait, "waits_for");
    printf("  channel %lld slot %lld (chunk %lld) has waited %s for", number_of(wait, "stream"),
           number_of(wait, "slot"), number_of(wait, "chunk"), gn_human_duration(seconds_of(wait)).s);
    json_array_foreach(list, index, who)
    {
        const char *above = text_of(who, "above"), *below = text_of(who, "below");
        if (index) putchar(',');
        if (*above) {
            printf(" %s above", above);
        } else if (*below) {
            print_ranks(json_object_get(who, "ranks"));
            printf(" (below switch %s)", below);
        } else {
            printf(" rank %lld (%s)", number_of(who, "rank"), text_of(who, "address"));
        }
    }
    putchar('\n');
}

static void print_silent(const json_t *job)
{
    size_t index;
    json_t *item;
    const json_t *silent = json_object_get(job, "silent");
    json_array_foreach(silent, index, item)
        printf("  no sign of life from %s for %s\n", text_of(item, "who"), gn_human_duration(seconds_of(item)).s);
}

static void print_ended(const json_t *answer)
{
    size_t index;
    json_t *job;
    const json_t *ended = json_object_get(answer, "ended");
    json_array_foreach(ended, index, job) printf("job '%s' ended %s ago: %s\n", text_of(job, "job"),
                                                 gn_human_duration(seconds_of(job)).s, text_of(job, "why"));
}

static void print_job(const json_t *job)
{
    size_t index;
    json_t *item;
    printf("job '%s': %s for %s, %lld of %lld children, %lld slots a channel\n", text_of(job, "job"),
           text_of(job, "state"), gn_human_duration(seconds_of(job)).s, number_of(job, "joined"),
           number_of(job, "children"), number_of(job, "slots"));
    if (*text_of(job, "absent")) printf("  %s\n", text_of(job, "absent"));
    print_silent(job);
    const json_t *waiting = json_object_get(job, "waiting");
    json_array_foreach(waiting, index, item) print_wait(item);
    const long long more = number_of(job, "slots_waiting") - (long long)json_array_size(waiting);
    if (more > 0) printf("  and %lld more slots\n", more);
    if (!json_array_size(waiting) && !strcmp(text_of(job, "state"), "running")) puts("  no slot waits");
}

/// What one address may have; nothing where there is no limit.
static void print_limits(const json_t *limits)
{
    static const char *const names[][2] = {
        {"address_channels", "channels"}, {"address_slots", "slots"}, {"address_jobs", "jobs that wait for workers"}};
    const char *before = "one address: at most ";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const long long most = number_of(limits, names[i][0]);
        if (!most) continue;
        printf("%s%lld %s", before, most, names[i][1]);
        before = ", ";
    }
    if (*before == ',') putchar('\n');
    if (number_of(limits, "reserve_percent"))
        printf("%lld channels and %lld slots are kept for addresses that have none\n",
               number_of(limits, "reserve_channels"), number_of(limits, "reserve_slots"));
}

static void print_status(const json_t *status)
{
    size_t index;
    json_t *job;
    const char *parent = text_of(status, "parent"), *ps = text_of(status, "ps"), *mode = text_of(status, "mode");
    const bool is_ps = !strcmp(text_of(status, "role"), "ps"), shared = strcmp(mode, "partitioned") != 0;
    printf("%s, %s, up for %s%s%s%s%s%s\n", text_of(status, "listen"), is_ps ? "parameter server" : mode,
           gn_human_duration((double)number_of(status, "uptime_s") * 1e9).s, *parent ? ", parent " : "", parent,
           *ps ? ", parameter server " : "", ps,
           json_is_true(json_object_get(status, "secret")) ? ", with a shared secret" : "");
    if (shared) printf("%lld slots, ", number_of(status, "slots"));
    const bool chunks = shared || is_ps;
    const long long shards = number_of(status, "shards");
    printf("%s%lld of %lld %s of %lld values%s, %lld %s, %s%s, at most %lld a job\n", chunks ? "room for " : "",
           number_of(status, "slots_free"), number_of(status, shared ? "windows" : "slots"),
           chunks ? "chunks under way" : "slots", number_of(status, "slot_values"), chunks ? "" : " free", shards,
           shards == 1 ? "shard" : "shards", is_ps ? "at most " : "",
           gn_human_bytes((uint64_t)number_of(status, "memory_bytes")).s, number_of(status, "quota"));
    print_limits(json_object_get(status, "limits"));
    const json_t *jobs = json_object_get(status, "jobs");
    json_array_foreach(jobs, index, job) print_job(job);
    if (!json_array_size(jobs)) puts("no job");
    print_ended(status);
}

static void print_jobs(const json_t *answer)
{
    size_t index;
    json_t *job;
    const json_t *jobs = json_object_get(answer, "jobs");
    gn_table *table = gn_table_new("<job|<state|for|children|ranks|channels|slots|values|<format");
    json_array_foreach(jobs, index, job) gn_table_row(
        table, "%s|%s|%s|%lld/%lld|%lld|%zu|%lld|%lld|%s", gn_cell(text_of(job, "job")).s, text_of(job, "state"),
        gn_human_duration(seconds_of(job)).s, number_of(job, "joined"), number_of(job, "children"),
        number_of(job, "ranks"), json_array_size(json_object_get(job, "streams")), number_of(job, "slots"),
        number_of(job, "packet_values"), text_of(job, "format"));
    (void)gn_table_print(table, stdout);
    json_array_foreach(jobs, index, job) print_silent(job);
    print_ended(answer);
}

static int ask(int argc, char **argv, const char *command, const struct argp *argp, void (*print)(const json_t *))
{
    char program[64];
    client c = {.options.control = GN_SWITCH_CONTROL, .takes_job = argp->args_doc != NULL};
    snprintf(program, sizeof program, "gradnic switch %s", command);
    argv[0] = program;
    gn_argp_parse(argp, argc, argv, &c);
    json_t *request = json_pack("{s:s}", "command", command);
    if (c.job) json_object_set_new(request, "job", json_string(c.job));
    const int status = gn_daemon_ask(&(gn_daemon_question){.program = program,
                                                           .daemon = "switch",
                                                           .options = c.options,
                                                           .request = request,
                                                           .silent = c.job != NULL,
                                                           .print = print});
    json_decref(request);
    return status;
}

int gn_command_switch_status(int argc, char **argv)
{
    static const struct argp argp = {show_options,
                                     parse,
                                     0,
                                     "Shows a running switch and its settings, and which slots wait for which workers.",
                                     0,
                                     0,
                                     0};
    return ask(argc, argv, "status", &argp, print_status);
}

int gn_command_switch_jobs(int argc, char **argv)
{
    static const struct argp argp = {show_options, parse, 0, "Shows the jobs of a running switch.", 0, 0, 0};
    return ask(argc, argv, "jobs", &argp, print_jobs);
}

int gn_command_switch_stats(int argc, char **argv)
{
    static const struct argp argp = {stats_options, parse, 0, "Shows every counter of a running switch.", 0, 0, 0};
    return ask(argc, argv, "stats", &argp, NULL);
}

int gn_command_switch_end(int argc, char **argv)
{
    static const struct argp argp = {
        end_options, parse, "JOB", "Ends a job of a running switch, and tells its workers.", 0, 0, 0};
    return ask(argc, argv, "end", &argp, NULL);
}
