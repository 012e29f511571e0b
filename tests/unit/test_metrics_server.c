// SPDX-License-Identifier: Apache-2.0
// The counters' HTTP server beside a main thread that gives pictures: at once, too late, or never.
// Pictures are numbered, so an answer tells from which one it was made.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "free_port.h"
#include "host/metrics.h"
#include "net/clock.h"
#include "net/resolve.h"
#include "suite.h"

enum { PATIENCE_MS = 60000 };

static const gn_metric numbers[] = {{"number", "of the picture", GN_METRIC_GAUGE, NULL}, {0}};
static const gn_metric_group groups[] = {{"picture", "Pictures", numbers, NULL}, {0}};
static const gn_metric_set set = {"gn", "name", NULL, groups};

static gn_metrics *metrics;
static gn_endpoint at;
static pthread_t giver;
static int end_giver = -1;
static atomic_int given;  ///< pictures so far

static void give(void)
{
    gn_metrics_give(metrics, json_pack("{s:{s:i}}", "picture", "number", atomic_fetch_add(&given, 1) + 1));
}

static void *give_all(void *unused)
{
    struct pollfd watched[2] = {{.fd = gn_metrics_fd(metrics), .events = POLLIN}, {.fd = end_giver, .events = POLLIN}};
    while (poll(watched, 2, -1) < 0 || !watched[1].revents)
        if (watched[0].revents) give();
    return unused;
}

static void start_giving(void)
{
    end_giver = eventfd(0, EFD_CLOEXEC);
    ck_assert(end_giver >= 0 && !pthread_create(&giver, NULL, give_all, NULL));
}

static void setup(void)
{
    char text[100];
    gn_error error;
    snprintf(text, sizeof text, ":%u", free_port());
    ck_assert_int_eq(gn_metrics_parse(text, &at, &error), GN_OK);
    metrics = gn_metrics_open(&at, &set, &error);
    ck_assert_msg(metrics, "%s", error.text);
    ck_assert_int_eq(gn_metrics_start(metrics, "v", &error), GN_OK);
}

static void teardown(void)
{
    if (end_giver >= 0) {
        ck_assert(!eventfd_write(end_giver, 1));
        pthread_join(giver, NULL);
    }
    gn_metrics_close(metrics);
}

static int call_in(void)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(at.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert(fd >= 0 && !connect(fd, (const struct sockaddr *)&address, sizeof address));
    return fd;
}

static void ask(int fd, const char *method, const char *headers)
{
    char text[300];
    const int n = snprintf(text, sizeof text, "%s /metrics HTTP/1.1\r\nHost: x\r\n%s\r\n", method, headers);
    ck_assert_int_eq(write(fd, text, (size_t)n), n);
}

/// All that comes until the server hangs up, as text.
static const char *answer_at(int fd)
{
    static char text[8192];
    size_t length = 0;
    for (;;) {
        struct pollfd watched = {.fd = fd, .events = POLLIN};
        ck_assert_msg(poll(&watched, 1, PATIENCE_MS) == 1, "no answer");
        const ssize_t n = read(fd, text + length, sizeof text - 1 - length);
        if (n <= 0) break;
        length += (size_t)n;
    }
    text[length] = 0;
    close(fd);
    return text;
}

static const char *get(const char *headers)
{
    const int fd = call_in();
    ask(fd, "GET", headers);
    return answer_at(fd);
}

/// The picture's number in an answer; 0: it is a refusal because there is none.
static int number_in(const char *text)
{
    if (!strncmp(text, "HTTP/1.1 503 ", 13)) {
        ck_assert_msg(strstr(text, "\r\n\r\nthe counters cannot be had now\n") != NULL, "%s", text);
        return 0;
    }
    const char *found = strstr(text, "\ngn_picture_number{name=\"v\"} ");
    ck_assert_msg(!strncmp(text, "HTTP/1.1 200 ", 13) && found, "%s", text);
    return atoi(found + strlen("\ngn_picture_number{name=\"v\"} "));
}

START_TEST(each_format_and_method)
{
    start_giving();
    const char *text = get("");
    ck_assert_int_eq(number_in(text), 1);
    ck_assert(strstr(text, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n") && !strstr(text, "# EOF"));
    ck_assert(strstr(text, "Connection: close\r\n") != NULL);
    text = get("Accept: application/openmetrics-text; version=1.0.0\r\n");
    ck_assert_int_ge(number_in(text), 1);
    ck_assert(strstr(text, "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n") &&
              strstr(text, "# EOF\n"));
    int fd = call_in();
    ask(fd, "HEAD", "");
    text = answer_at(fd);
    ck_assert(!strncmp(text, "HTTP/1.1 200 ", 13) && !strcmp(strstr(text, "\r\n\r\n"), "\r\n\r\n"));
    fd = call_in();
    ask(fd, "PUT", "Content-Length: 0\r\n");
    text = answer_at(fd);
    ck_assert(!strncmp(text, "HTTP/1.1 405 ", 13) && strstr(text, "Allow: GET, HEAD\r\n") &&
              strstr(text, "\r\n\r\nonly GET and HEAD\n"));
}
END_TEST

/// Who asks often makes no work for the main thread, and yet the numbers follow.
START_TEST(pictures_are_kept_for_a_moment)
{
    start_giving();
    const uint64_t start = gn_now();
    for (int i = 0; i < 40; i++)
        ck_assert_int_ge(number_in(get(i % 2 ? "Accept: application/openmetrics-text\r\n" : "")), 1);
    const uint64_t most = 1 + (gn_now() - start) / (GN_METRICS_AGE_MS * GN_MILLISECOND);
    ck_assert_uint_le((unsigned)atomic_load(&given), most);
    for (int i = 0; i < 3; i++) {
        const int before = atomic_load(&given);
        usleep((GN_METRICS_AGE_MS + 20) * 1000);
        ck_assert_int_gt(number_in(get("")), before);
    }
}
END_TEST

/// A picture that is given wakes the server: it does not sit out its patience.
START_TEST(an_answer_comes_at_once)
{
    start_giving();
    uint64_t fastest = GN_FOREVER;
    for (int i = 0; i < 10 && fastest >= GN_METRICS_PATIENCE_MS * GN_MILLISECOND / 2; i++) {
        usleep((GN_METRICS_AGE_MS + 20) * 1000);  // a new picture each time
        const uint64_t start = gn_now();
        number_in(get(""));
        if (gn_now() - start < fastest) fastest = gn_now() - start;
    }
    ck_assert_uint_lt(fastest, GN_METRICS_PATIENCE_MS * GN_MILLISECOND / 2);
}
END_TEST

/// The main thread is busy for too long. What it gives then is out of date and not shown.
START_TEST(a_picture_that_is_too_late)
{
    ck_assert_int_eq(number_in(get("")), 0);
    give();
    usleep((GN_METRICS_AGE_MS + 20) * 1000);
    struct pollfd wanted = {.fd = gn_metrics_fd(metrics), .events = POLLIN};
    ck_assert_int_eq(poll(&wanted, 1, 0), 0);  // given is given
    const int fd = call_in();
    ask(fd, "GET", "");
    ck_assert_int_eq(poll(&wanted, 1, PATIENCE_MS), 1);
    give();
    ck_assert_int_eq(number_in(answer_at(fd)), 2);
}
END_TEST

/// Out of memory, the main thread gives nothing, and the server says so at once.
START_TEST(nothing_is_given)
{
    struct pollfd wanted = {.fd = gn_metrics_fd(metrics), .events = POLLIN};
    const int fd = call_in();
    ask(fd, "GET", "");
    ck_assert_int_eq(poll(&wanted, 1, PATIENCE_MS), 1);
    gn_metrics_give(metrics, NULL);
    ck_assert_int_eq(number_in(answer_at(fd)), 0);
}
END_TEST

/// The end does not wait for the one who asks, and nobody listens after it.
START_TEST(the_end_while_somebody_waits)
{
    struct pollfd wanted = {.fd = gn_metrics_fd(metrics), .events = POLLIN};
    const int fd = call_in(), silent = call_in();
    ask(fd, "GET", "");
    ck_assert_int_eq(poll(&wanted, 1, PATIENCE_MS), 1);
    gn_metrics_close(metrics);
    answer_at(fd);
    ck_assert_str_eq(answer_at(silent), "");
    gn_error error;
    metrics = gn_metrics_open(&at, &set, &error);
    ck_assert_msg(metrics, "%s", error.text);
    gn_metrics *second = gn_metrics_open(&at, &set, &error);
    char words[200];
    snprintf(words, sizeof words, "--metrics: cannot listen at 127.0.0.1:%u: Address already in use", at.port);
    ck_assert(!second);
    ck_assert_str_eq(error.text, words);
    ck_assert_int_eq(gn_metrics_fd(NULL), -1);
}
END_TEST

/// Those who are silent give way, the oldest first. One who has asked stays.
START_TEST(a_crowd)
{
    int silent[GN_METRICS_CONNECTIONS], more[4];
    const int asked = call_in();  // the oldest of all
    ask(asked, "GET", "");
    struct pollfd wanted = {.fd = gn_metrics_fd(metrics), .events = POLLIN};
    ck_assert_int_eq(poll(&wanted, 1, PATIENCE_MS), 1);
    for (int i = 0; i < GN_METRICS_CONNECTIONS; i++) silent[i] = call_in();
    give();
    ck_assert_int_eq(number_in(answer_at(asked)), 1);
    for (int i = 0; i < 4; i++) more[i] = call_in();
    for (int i = 0; i < 4; i++) ck_assert_str_eq(answer_at(silent[i]), "");
    // The others are still there, so their questions are answered.
    ask(silent[GN_METRICS_CONNECTIONS - 1], "HEAD", "");
    start_giving();
    ck_assert(!strncmp(answer_at(silent[GN_METRICS_CONNECTIONS - 1]), "HTTP/1.1 200 ", 13));
    ask(more[3], "HEAD", "");
    ck_assert(!strncmp(answer_at(more[3]), "HTTP/1.1 200 ", 13));
}
END_TEST

int main(void)
{
    return RUN_SUITE("metrics_server", setup, teardown, each_format_and_method, pictures_are_kept_for_a_moment,
                     an_answer_comes_at_once, a_picture_that_is_too_late, nothing_is_given,
                     the_end_while_somebody_waits, a_crowd);
}
