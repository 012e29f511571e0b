// SPDX-License-Identifier: Apache-2.0
#include "host/log.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "net/escape.h"

enum {
    TEXT = 2048,
    TIME = 32,
    PATIENCE_MS = 200,  // with a reader that stands still: a terminal with Ctrl-S, a pager, a pipe
    LOOK_MS = 2         // with one that stood still the last time
};

const char *const gn_severity_names[GN_SEVERITIES] = {"error", "warn", "info", "debug"};

static const char *log_program = "gradnic";
static atomic_int log_level = GN_SEVERITY_INFO;
static atomic_bool log_json, log_time, log_colour;
static atomic_uint left_out;  ///< lines that nobody has read

static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static bool stands_still;  ///< writing: the reader, when a line was last written
static bool broken;        ///< writing: that line is there in part

static int wakes(void)
{
    return SIGRTMIN + 5;
}

static void wake(int number)
{
    (void)number;
}

/// write(), but no longer than that. A terminal with little room takes a part, and then waits.
static ssize_t write_for(const char *bytes, size_t count, unsigned ms)
{
    timer_t timer;
    sigset_t one, before;
    const struct sigaction action = {.sa_handler = wake};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = wakes()};
    event._sigev_un._tid = gettid();
    // Again and again: the first may come before write() begins.
    const struct timespec span = {.tv_nsec = ms * 1000000L};
    const struct itimerspec turns = {span, span};
    sigemptyset(&one);
    sigaddset(&one, wakes());
    if (sigaction(wakes(), &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer))
        return write(STDERR_FILENO, bytes, count);
    pthread_sigmask(SIG_UNBLOCK, &one, &before);
    (void)timer_settime(timer, 0, &turns, NULL);
    const ssize_t got = write(STDERR_FILENO, bytes, count);
    const int reason = errno;
    (void)timer_delete(timer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return got;
}

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

/// Waits for room, but not twice for one reader. An error is no lack of room: write() says it.
static bool has_room(void)
{
    struct pollfd one = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&one, 1, stands_still ? 0 : PATIENCE_MS) != 0;
}

/// Threads log that carry packets, and that answer for jobs. So no reader of the log may hold them
/// up. The pieces are so small that a pipe with room takes each at once; most lines are one.
/// @return whether there was room
static bool write_all(const char *line, size_t left)
{
    const size_t whole = left;
    while (left && has_room()) {
        const size_t piece = left < PIPE_BUF ? left : PIPE_BUF;
        const ssize_t got = write_for(line, piece, stands_still ? LOOK_MS : PATIENCE_MS);
        if (got < 0 && errno != EINTR && errno != EAGAIN) return true;  // nobody is there to hear of it
        if (got > 0) line += got, left -= (size_t)got;
        if (got < (ssize_t)piece) break;
    }
    stands_still = left;
    if (left < whole) broken = left;
    return !left;
}

static bool write_line(const char *line)
{
    pthread_mutex_lock(&writing);
    const bool room = (!broken || write_all("\n", 1)) && write_all(line, strlen(line));
    pthread_mutex_unlock(&writing);
    return room;
}

static bool write_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool write_format(const char *format, ...)
{
    char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    const bool made = vasprintf(&line, format, arguments) >= 0;
    va_end(arguments);
    const bool written = made && write_line(line);
    if (made) free(line);
    return written;
}

static bool write_json(const char *priority, gn_severity severity, const char *time, const char *text)
{
    json_t *line = json_pack("{s:s,s:s,s:s,s:s}", "time", time, "level", gn_severity_names[severity], "program",
                             log_program, "message", text);
    char *bytes = line ? json_dumps(line, JSON_COMPACT) : NULL;
    const bool written = bytes && write_format("%s%s\n", priority, bytes);
    free(bytes);
    json_decref(line);
    return written;
}

static bool write_text(const char *priority, gn_severity severity, const char *time, const char *text)
{
    static const char *const labels[GN_SEVERITIES] = {"", "warning: ", "note: ", "debug: "},
                             *const colours[GN_SEVERITIES] = {"\033[1;31m", "", "\033[1;33m", ""};
    // Warnings come from parts that every program shares.
    const char *program = severity == GN_SEVERITY_WARN ? "gradnic" : log_program;
    const char *on = atomic_load(&log_colour) ? colours[severity] : "";
    return write_format("%s%s%s%s%s:%s %s%s\n", priority, time, *time ? " " : "", on, program, *on ? "\033[0m" : "",
                        labels[severity], text);
}

/// @return false: there was no room for it
static bool say(gn_severity severity, const char *text)
{
    static const char *const priorities[GN_SEVERITIES] = {"<3>", "<4>", "<6>", "<7>"};
    char time[TIME] = "";
    const bool json = atomic_load(&log_json);
    if (json || atomic_load(&log_time)) format_time(time);
    return (json ? write_json : write_text)(is_journal() ? priorities[severity] : "", severity, time, text);
}

/// What was left out is told before the next line. @return false: there is no room for that
static bool tell_left_out(void)
{
    char text[80];
    const unsigned lines = atomic_exchange(&left_out, 0);
    if (!lines) return true;
    (void)snprintf(text, sizeof text, "%u line%s left out here: the log's reader stood still", lines,
                   lines == 1 ? " is" : "s are");
    if (say(GN_SEVERITY_WARN, text)) return true;
    atomic_fetch_add(&left_out, lines);
    return false;
}

void gn_log_list(gn_severity severity, const char *format, va_list arguments)
{
    char raw[TEXT], text[GN_ESCAPE_GROWTH * TEXT];
    if (!gn_log_wants(severity)) return;
    (void)vsnprintf(raw, sizeof raw, format, arguments);
    (void)gn_escape(raw, "", text, sizeof text);
    if (!tell_left_out() || !say(severity, text)) atomic_fetch_add(&left_out, 1);
}

void gn_log(gn_severity severity, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    gn_log_list(severity, format, arguments);
    va_end(arguments);
}
