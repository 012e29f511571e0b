// SPDX-License-Identifier: Apache-2.0
// A daemon's log: levels, formats, and texts from strangers.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "host/log.h"
#include "host/warn.h"
#include "suite.h"

static char text[8192];

/// Sends stderr to a file without a name.
static void divert(void)
{
    FILE *file = tmpfile();
    ck_assert(file && dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO);
    fclose(file);
    unsetenv("JOURNAL_STREAM");
}

/// What has been logged since the last time.
static const char *logged(void)
{
    ck_assert_int_eq(lseek(STDERR_FILENO, 0, SEEK_SET), 0);
    const ssize_t got = read(STDERR_FILENO, text, sizeof text - 1);
    ck_assert_int_ge(got, 0);
    text[got] = 0;
    ck_assert(!ftruncate(STDERR_FILENO, 0) && !lseek(STDERR_FILENO, 0, SEEK_SET));
    return text;
}

START_TEST(text_is_as_programs_print_it)
{
    divert();
    gn_warn("disk %d", 1);
    ck_assert_str_eq(logged(), "gradnic: warning: disk 1\n");
    gn_log_set("gradnic nic", &(gn_log_settings){.level = GN_SEVERITY_DEBUG});
    gn_log(GN_SEVERITY_ERROR, "no %s", "peer");
    gn_log(GN_SEVERITY_WARN, "two");
    gn_log(GN_SEVERITY_INFO, "three");
    gn_log(GN_SEVERITY_DEBUG, "four");
    ck_assert_str_eq(
        logged(), "gradnic nic: no peer\ngradnic: warning: two\ngradnic nic: note: three\ngradnic nic: debug: four\n");
    gn_log_set("p", &(gn_log_settings){.level = GN_SEVERITY_INFO, .colour = true});
    gn_log(GN_SEVERITY_ERROR, "one");
    gn_log(GN_SEVERITY_INFO, "two");
    ck_assert_str_eq(logged(), "\033[1;31mp:\033[0m one\n\033[1;33mp:\033[0m note: two\n");
}
END_TEST

START_TEST(levels_leave_lines_out)
{
    divert();
    for (gn_severity level = 0; level < GN_SEVERITIES; level++) {
        gn_log_set("p", &(gn_log_settings){.level = level});
        unsigned lines = 0;
        for (gn_severity severity = 0; severity < GN_SEVERITIES; severity++) {
            gn_log(severity, "x");
            ck_assert(gn_log_wants(severity) == (severity <= level));
        }
        for (const char *at = logged(); (at = strchr(at, '\n')); at++) lines++;
        ck_assert_uint_eq(lines, level + 1);
    }
}
END_TEST

START_TEST(a_stranger_s_text_stays_one_line)
{
    divert();
    gn_log_set("p", &(gn_log_settings){.level = GN_SEVERITY_INFO});
    gn_log(GN_SEVERITY_INFO, "job '%s'", "x\np: everything is well\033[2J\xff");
    ck_assert_str_eq(logged(), "p: note: job 'x\\x0ap: everything is well\\x1b[2J\\xff'\n");
}
END_TEST

START_TEST(json_is_one_object_a_line)
{
    divert();
    gn_log_set("gradnic switch", &(gn_log_settings){.level = GN_SEVERITY_INFO, .json = true});
    gn_log(GN_SEVERITY_WARN, "a \"b\" \n %s \xff", "\xc3\xa4");
    const char *line = logged(), *level, *program, *message, *time;
    ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
    json_t *object = json_loads(line, 0, NULL);
    ck_assert(object && !json_unpack(object, "{s:s,s:s,s:s,s:s}", "time", &time, "level", &level, "program", &program,
                                     "message", &message));
    ck_assert_str_eq(level, "warn");
    ck_assert_str_eq(program, "gradnic switch");
    ck_assert_str_eq(message, "a \"b\" \\x0a \xc3\xa4 \\xff");
    int year, month, day, hour, minute, end = 0;
    double second;
    ck_assert_int_eq(sscanf(time, "%4d-%2d-%2dT%2d:%2d:%lfZ%n", &year, &month, &day, &hour, &minute, &second, &end), 6);
    ck_assert_uint_eq((size_t)end, strlen("2026-11-23T11:03:58.123Z"));
    json_decref(object);
}
END_TEST

START_TEST(lines_may_begin_with_the_time)
{
    divert();
    gn_log_set("p", &(gn_log_settings){.level = GN_SEVERITY_INFO, .time = true});
    gn_log(GN_SEVERITY_INFO, "x");
    const char *line = logged();
    ck_assert(line[4] == '-' && line[10] == 'T' && line[23] == 'Z');
    ck_assert_str_eq(line + 24, " p: note: x\n");
}
END_TEST

START_TEST(the_journal_gets_priorities)
{
    char where[64];
    struct stat stream;
    divert();
    ck_assert(!fstat(STDERR_FILENO, &stream));
    gn_log_set("p", &(gn_log_settings){.level = GN_SEVERITY_DEBUG});
    snprintf(where, sizeof where, "%ju:%ju", (uintmax_t)stream.st_dev, (uintmax_t)stream.st_ino);
    setenv("JOURNAL_STREAM", where, 1);
    for (gn_severity severity = 0; severity < GN_SEVERITIES; severity++) gn_log(severity, "x");
    ck_assert_str_eq(logged(), "<3>p: x\n<4>gradnic: warning: x\n<6>p: note: x\n<7>p: debug: x\n");
    // Another stream than stderr.
    snprintf(where, sizeof where, "%ju:%ju", (uintmax_t)stream.st_dev, (uintmax_t)stream.st_ino + 1);
    setenv("JOURNAL_STREAM", where, 1);
    gn_log(GN_SEVERITY_ERROR, "x");
    ck_assert_str_eq(logged(), "p: x\n");
}
END_TEST

/// What lies in the pipe.
static const char *drained(int fd)
{
    static char all[1 << 18];
    size_t used = 0;
    for (ssize_t got; (got = read(fd, all + used, sizeof all - 1 - used)) > 0;) used += (size_t)got;
    all[used] = 0;
    return all;
}

START_TEST(a_reader_that_stands_still_holds_nobody_up)
{
    int ends[2];
    unsigned lines = 0;
    enum { MANY = 3000 };
    divert();
    ck_assert(!pipe(ends) && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO && !close(ends[1]));
    ck_assert(!fcntl(ends[0], F_SETFL, O_NONBLOCK));
    gn_log_set("p", &(gn_log_settings){.level = GN_SEVERITY_INFO});
    for (int i = 0; i < MANY; i++) gn_log(GN_SEVERITY_INFO, "%050d", i);  // more than a pipe holds
    for (const char *at = drained(ends[0]); *at; lines++) {
        ck_assert(!strncmp(at, "p: note: 0", 10));
        at = strchr(at, '\n') + 1;  // the last line is whole, too
    }
    ck_assert_uint_gt(lines, 100);
    ck_assert_uint_lt(lines, MANY);
    gn_log(GN_SEVERITY_INFO, "again");
    char wanted[128];
    snprintf(wanted, sizeof wanted,
             "gradnic: warning: %u lines are left out here: the log's reader stood still\np: note: again\n",
             MANY - lines);
    ck_assert_str_eq(drained(ends[0]), wanted);
    gn_log(GN_SEVERITY_INFO, "and again");
    ck_assert_str_eq(drained(ends[0]), "p: note: and again\n");
    // Where nobody reads any more, all goes on.
    ck_assert(signal(SIGPIPE, SIG_IGN) != SIG_ERR && !close(ends[0]));
    gn_log(GN_SEVERITY_INFO, "to nobody");
}
END_TEST

// A terminal says that it has room as long as it takes one byte.
START_TEST(a_terminal_that_stands_still)
{
    enum { MANY = 3000 };
    divert();
    const int ours = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    ck_assert(ours >= 0 && !grantpt(ours) && !unlockpt(ours));
    const int theirs = open(ptsname(ours), O_WRONLY | O_NOCTTY);
    ck_assert(theirs >= 0 && dup2(theirs, STDERR_FILENO) == STDERR_FILENO);
    gn_log_set("p", &(gn_log_settings){.level = GN_SEVERITY_INFO});
    for (int i = 0; i < MANY; i++) gn_log(GN_SEVERITY_INFO, "%050d", i);
    (void)drained(ours);
    gn_log(GN_SEVERITY_INFO, "again");
    ck_assert_ptr_nonnull(strstr(drained(ours), "the log's reader stood still\r\np: note: again\r\n"));
    close(ours);
    close(theirs);
}
END_TEST

int main(void)
{
    return RUN_TESTS("log", text_is_as_programs_print_it, levels_leave_lines_out, a_stranger_s_text_stays_one_line,
                     json_is_one_object_a_line, lines_may_begin_with_the_time, the_journal_gets_priorities,
                     a_reader_that_stands_still_holds_nobody_up, a_terminal_that_stands_still);
}
