// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/request.h"

#include <string.h>

#include "host/json.h"
#include "host/log.h"
#include "switch/daemon/jobs.h"
#include "switch/daemon/status.h"

static gn_status read_members(json_t *root, gn_switch_request *request, gn_error *error)
{
    const char *name;
    json_t *member;
    json_object_foreach(root, name, member)
    {
        const char *text = json_string_value(member);
        if (!strcmp(name, "command")) continue;
        if (request->command == GN_SWITCH_STATS && !strcmp(name, "format")) {
            request->metrics = gn_metrics_format_parse(text, &request->format);
            if (!request->metrics)
                return gn_fail(error, GN_INVALID, "\"format\" is prometheus or openmetrics, or left out");
        } else if (request->command == GN_SWITCH_END && !strcmp(name, "job")) {
            if (!text || !*text || strlen(text) >= sizeof request->job)
                return gn_fail(error, GN_INVALID, "\"job\" is a name of 1 to %zu bytes", sizeof request->job - 1);
            memcpy(request->job, text, strlen(text) + 1);
        } else {
            return gn_fail(error, GN_INVALID, "this command does not take '%.40s'", name);
        }
    }
    if (request->command == GN_SWITCH_END && !*request->job) return gn_fail(error, GN_INVALID, "\"job\" is missing");
    return GN_OK;
}

gn_status gn_switch_request_parse(const char *text, size_t length, gn_switch_request *request, gn_error *error)
{
    static const char *const commands[] = {"status", "jobs", "stats", "end"};
    json_error_t wrong;
    gn_status status;
    memset(request, 0, sizeof *request);
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &wrong);
    if (!root) return gn_fail(error, GN_INVALID, "the request is not JSON: line %d: %.120s", wrong.line, wrong.text);
    const char *command = json_string_value(json_object_get(root, "command"));
    unsigned i = 0;
    while (command && i < 4 && strcmp(command, commands[i]) != 0) i++;
    if (!json_is_object(root)) {
        status = gn_fail(error, GN_INVALID, "a request is a JSON object");
    } else if (!command) {
        status = gn_fail(error, GN_INVALID, "a request has a \"command\": status, jobs, stats or end");
    } else if (i == 4) {
        status = gn_fail(error, GN_INVALID, "'%.40s' is not a command; the commands are status, jobs, stats and end",
                         command);
    } else {
        request->command = i;
        status = read_members(root, request, error);
    }
    json_decref(root);
    return status;
}

static char *end_job(gn_switchd *daemon, const char *name)
{
    for (gn_job *job = daemon->jobs; job; job = job->next) {
        if (strcmp(gn_job_terms(job)->name, name) != 0) continue;
        gn_job_end(daemon, job, NULL, "it was ended at the switch");
        return gn_json_text(json_pack("{s:s}", "ended", name));
    }
    return gn_json_refuse("no job '%s'", name);
}

char *gn_switchd_answer(void *context, const char *text, size_t length)
{
    gn_switchd *daemon = context;
    gn_switch_request request;
    gn_error error;
    char listen[GN_ENDPOINT_TEXT];
    gn_log(GN_SEVERITY_DEBUG, "asked on the control socket: %.*s", (int)length, text);
    if (gn_switch_request_parse(text, length, &request, &error)) return gn_json_refuse("%s", error.text);
    switch (request.command) {
    case GN_SWITCH_STATUS:
        return gn_json_text(gn_switchd_status(daemon));
    case GN_SWITCH_JOBS:
        return gn_json_text(gn_switchd_jobs(daemon));
    case GN_SWITCH_STATS:
        break;
    case GN_SWITCH_END:
        return end_job(daemon, request.job);
    }
    json_t *stats = gn_switchd_stats(daemon);
    if (!request.metrics) return gn_json_text(stats);
    return gn_prometheus(stats, &gn_switchd_metrics, gn_switchd_address(daemon, listen), request.format);
}
