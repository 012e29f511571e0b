// SPDX-License-Identifier: Apache-2.0
// The control socket with many clients, and its client with a daemon that does nothing.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/control.h"
#include "host/control_socket.h"
#include "net/clock.h"
#include "suite.h"

static char folder[] = "/tmp/gradnic-control-XXXXXX", path[sizeof folder + 8];
static gn_control *control;
static gn_error error;

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/sock", folder);
    control = gn_control_open(path, &(gn_account){0}, &error);
    ck_assert_msg(control != NULL, "%s", error.text);
}

static void teardown(void)
{
    gn_control_close(control);
    (void)unlink(path);
    (void)rmdir(folder);
}

static char *echo(void *context, const char *text, size_t length)
{
    (void)context;
    return strndup(text, length);
}

/// Serves until nothing is left to do. @return the time limit for a wait that would come now
static int serve(void)
{
    struct pollfd watched[GN_CONTROL_POLL];
    for (;;) {
        const int limit = gn_control_prepare(control, watched);
        if (poll(watched, GN_CONTROL_POLL, 0) <= 0) return limit;
        gn_control_serve(control, watched, echo, NULL);
    }
}

static int come(void)
{
    struct sockaddr_un address;
    ck_assert_int_eq(gn_control_address(path, &address, &error), GN_OK);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert(fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof address));
    (void)serve();
    return fd;
}

/// Nothing has come yet, and the connection is open.
static bool is_waiting(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK) < 0 && errno == EAGAIN;
}

static void says_and_hears(int fd, const char *text)
{
    char heard[32] = "";
    ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
    (void)serve();
    ck_assert_int_eq(recv(fd, heard, sizeof heard - 1, 0), (ssize_t)strlen(text));
    ck_assert_str_eq(heard, text);
    close(fd);
}

// One more than there are places takes the place of the oldest, and of nobody else.
START_TEST(the_oldest_gives_way)
{
    int fd[GN_CONTROL_CLIENTS + 2];
    for (int i = 0; i < GN_CONTROL_CLIENTS; i++) fd[i] = come();
    for (int i = 0; i < GN_CONTROL_CLIENTS; i++) ck_assert(is_waiting(fd[i]));
    for (int more = 0; more < 2; more++) {
        fd[GN_CONTROL_CLIENTS + more] = come();
        for (int i = 0; i <= GN_CONTROL_CLIENTS + more; i++) ck_assert_int_eq(is_waiting(fd[i]), i > more);
    }
    for (int i = 2; i < GN_CONTROL_CLIENTS + 2; i++) says_and_hears(fd[i], "{}");
    close(fd[0]);
    close(fd[1]);
    says_and_hears(come(), "free again");
}
END_TEST

static char *much(void *context, const char *text, size_t length)
{
    enum { MUCH = 4 << 20 };
    char *answer = malloc(MUCH);
    (void)context, (void)text, (void)length;
    ck_assert_ptr_nonnull(answer);
    memset(answer, 'a', MUCH - 1);
    answer[MUCH - 1] = 0;
    return answer;
}

// An answer that is larger than the kernel's buffers goes on as soon as the client has read some.
START_TEST(a_long_answer_goes_on_when_there_is_room)
{
    static char heard[65536];
    struct pollfd watched[GN_CONTROL_POLL];
    const int fd = come();
    size_t whole = 0;
    ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
    for (ssize_t got = 1; got;) {
        // As long as the client reads nothing, there is nothing to do.
        for (int idle = 0; idle < 2; idle++) {
            (void)gn_control_prepare(control, watched);
            if (!poll(watched, GN_CONTROL_POLL, 0)) break;
            ck_assert_int_eq(idle, 0);
            gn_control_serve(control, watched, much, NULL);
        }
        while ((got = recv(fd, heard, sizeof heard, 0)) > 0) whole += (size_t)got;
        ck_assert(!got || errno == EAGAIN);
    }
    ck_assert_uint_eq(whole, (4 << 20) - 1);
    close(fd);
}
END_TEST

// Who says nothing is told so after a second, and then there is nobody to wait for.
START_TEST(a_silent_client_is_told)
{
    char heard[128] = "";
    ck_assert_int_eq(serve(), -1);
    const uint64_t before = gn_now();
    const int fd = come();
    while (is_waiting(fd)) {
        struct pollfd watched[GN_CONTROL_POLL];
        const int limit = gn_control_prepare(control, watched);
        ck_assert_int_ge(limit, 0);
        ck_assert_int_le(limit, GN_CONTROL_DEADLINE_MS + 1);
        (void)poll(watched, GN_CONTROL_POLL, limit);
        gn_control_serve(control, watched, echo, NULL);
    }
    ck_assert_uint_ge(gn_now() - before, GN_CONTROL_DEADLINE_MS * GN_MILLISECOND);
    ck_assert_int_gt(recv(fd, heard, sizeof heard - 1, 0), 0);
    ck_assert_ptr_nonnull(strstr(heard, "no whole request within 1000 ms"));
    ck_assert_int_eq(serve(), -1);
    close(fd);
}
END_TEST

// Only as much of a request is kept as fits, in whatever pieces it comes.
START_TEST(a_request_that_is_too_long_in_pieces)
{
    static char piece[GN_CONTROL_REQUEST_MAX];
    char heard[128] = "";
    const int fd = come();
    memset(piece, 'x', sizeof piece);
    ck_assert_int_eq(send(fd, piece, 60000, MSG_NOSIGNAL), 60000);
    (void)serve();
    for (int i = 0; i < 2; i++) ck_assert_int_eq(send(fd, piece, sizeof piece, MSG_NOSIGNAL), (ssize_t)sizeof piece);
    (void)serve();
    ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
    (void)serve();
    ck_assert_int_gt(recv(fd, heard, sizeof heard - 1, 0), 0);
    ck_assert_ptr_nonnull(strstr(heard, "the request is longer than 65536 bytes"));
    close(fd);
}
END_TEST

// A daemon that stands still: neither an answer that does not come nor a request that nobody reads
// holds up the client for good. The request is larger than the kernel's buffers.
START_TEST(a_daemon_that_stands_still)
{
    enum { LARGE = 16 << 20 };
    char *large = malloc(LARGE);
    ck_assert_ptr_nonnull(large);
    memset(large, 'x', LARGE - 1);
    large[LARGE - 1] = 0;
    const char *requests[] = {"{}", large};
    for (int i = 0; i < 2; i++) {
        const uint64_t before = gn_now();
        ck_assert_ptr_null(gn_control_ask(path, "NIC", requests[i], &error));
        ck_assert_uint_ge(gn_now() - before, 2 * GN_CONTROL_DEADLINE_MS * GN_MILLISECOND);
        ck_assert_int_eq(error.status, i ? GN_IO : GN_TIMEOUT);
    }
    free(large);
}
END_TEST

// A process without a free descriptor does not wake up for who knocks, again and again. When there
// is one, he comes in.
START_TEST(who_knocks_waits_for_a_descriptor)
{
    struct rlimit before;
    struct pollfd watched[GN_CONTROL_POLL];
    struct sockaddr_un address;
    ck_assert_int_eq(gn_control_address(path, &address, &error), GN_OK);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert(fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof address));
    ck_assert(!getrlimit(RLIMIT_NOFILE, &before));
    ck_assert(!setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, before.rlim_max}));
    (void)gn_control_prepare(control, watched);
    ck_assert(watched[0].fd >= 0);
    watched[0].revents = POLLIN;
    gn_control_serve(control, watched, echo, NULL);
    const int limit = gn_control_prepare(control, watched);
    ck_assert(watched[0].fd < 0 && limit > 0 && limit <= GN_CONTROL_SHUT_MS + 1);
    ck_assert(!setrlimit(RLIMIT_NOFILE, &before));
    const uint64_t until = gn_now() + 10 * GN_SECOND;
    for (;;) {
        const int wait = gn_control_prepare(control, watched);
        if (watched[0].fd >= 0) break;
        ck_assert(gn_now() < until);
        usleep(1000 * (unsigned)wait);
    }
    says_and_hears(fd, "{}");
}
END_TEST

// The end hangs up on all, whichever place they have, and takes the socket away.
START_TEST(the_end)
{
    int fd[3];
    char byte;
    for (int i = 0; i < 3; i++) fd[i] = come();
    gn_control_close(control);
    control = NULL;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(recv(fd[i], &byte, 1, 0), 0);
        close(fd[i]);
    }
    ck_assert(access(path, F_OK));
}
END_TEST

int main(void)
{
    return RUN_SUITE("control", setup, teardown, the_oldest_gives_way, a_long_answer_goes_on_when_there_is_room,
                     a_silent_client_is_told, a_request_that_is_too_long_in_pieces, a_daemon_that_stands_still,
                     who_knocks_waits_for_a_descriptor, the_end);
}
