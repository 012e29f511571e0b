// SPDX-License-Identifier: Apache-2.0
#include "host/log.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "net/escape.h"

enum { TEXT = 2048, TIME = 32 };

const char *const gn_severity_names[GN_SEVERITIES] = {"error", "warn", "info", "debug"};

static const char *log_program = "gradnic";
static atomic_int log_level = GN_SEVERITY_INFO;
static atomic_bool log_json, log_time, log_colour;

void gn_log_set(const char *program, const gn_log_settings *settings)
{
    log_program = program;
    atomic_store(&log_level, (int)settings->level);
    atomic_store(&log_json, settings->json);
    atomic_store(&log_time, settings->time);
    atomic_store(&log_colour, settings->colour);
}

bool gn_log_wants(gn_severity severity)
{
    return (int)severity <= atomic_load(&log_level);
}

/// Whether the journal reads stderr: JOURNAL_STREAM is "DEVICE:INODE" of the journal's socket.
static bool is_journal(void)
{
    uintmax_t device, inode;
    struct stat stream;
    const char *text = getenv("JOURNAL_STREAM");
    if (!text || sscanf(text, "%ju:%ju", &device, &inode) != 2 || fstat(STDERR_FILENO, &stream)) return false;
    return stream.st_dev == device && stream.st_ino == inode;
}

static void format_time(char *text)
{
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    const size_t length = strftime(text, TIME, "%Y-%m-%dT%H:%M:%S", gmtime_r(&now.tv_sec, &utc));
    (void)snprintf(text + length, TIME - length, ".%03ldZ", now.tv_nsec / 1000000);
}

static void write_json(const char *priority, gn_severity severity, const char *time, const char *text)
{
    json_t *line = json_pack("{s:s,s:s,s:s,s:s}", "time", time, "level", gn_severity_names[severity], "program",
                             log_program, "message", text);
    char *bytes = line ? json_dumps(line, JSON_COMPACT) : NULL;
    if (bytes) (void)fprintf(stderr, "%s%s\n", priority, bytes);
    free(bytes);
    json_decref(line);
}

// One call, so that lines of several threads or processes do not mix.
static void write_text(const char *priority, gn_severity severity, const char *time, const char *text)
{
    static const char *const labels[GN_SEVERITIES] = {"", "warning: ", "note: ", "debug: "},
                             *const colours[GN_SEVERITIES] = {"\033[1;31m", "", "\033[1;33m", ""};
    // Warnings come from parts that every program shares.
    const char *program = severity == GN_SEVERITY_WARN ? "gradnic" : log_program;
    const char *on = atomic_load(&log_colour) ? colours[severity] : "";
    (void)fprintf(stderr, "%s%s%s%s%s:%s %s%s\n", priority, time, *time ? " " : "", on, program, *on ? "\033[0m" : "",
                  labels[severity], text);
}

void gn_log_list(gn_severity severity, const char *format, va_list arguments)
{
    static const char *const priorities[GN_SEVERITIES] = {"<3>", "<4>", "<6>", "<7>"};
    char raw[TEXT], text[GN_ESCAPE_GROWTH * TEXT], time[TIME] = "";
    if (!gn_log_wants(severity)) return;
    const bool json = atomic_load(&log_json);
    const char *priority = is_journal() ? priorities[severity] : "";
    (void)vsnprintf(raw, sizeof raw, format, arguments);
    (void)gn_escape(raw, "", text, sizeof text);
    if (json || atomic_load(&log_time)) format_time(time);
    (json ? write_json : write_text)(priority, severity, time, text);
}

void gn_log(gn_severity severity, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    gn_log_list(severity, format, arguments);
    va_end(arguments);
}
