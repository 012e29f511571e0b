// SPDX-License-Identifier: Apache-2.0
// What the service manager hears, by the two kinds of addresses that it may have; and what signals
// ask for.
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/ending.h"
#include "host/notify.h"
#include "suite.h"

static void hear(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char text[128];
    const size_t length = strlen(path);
    memcpy(address.sun_path, path, length);
    if (*path == '@') *address.sun_path = 0;
    const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, bytes), 0);
    setenv("NOTIFY_SOCKET", path, 1);
    static const char *const wanted[] = {
        "READY=1\nMONOTONIC_USEC=", "RELOADING=1\nMONOTONIC_USEC=", "STOPPING=1\nMONOTONIC_USEC="};
    for (gn_notice notice = GN_NOTICE_READY; notice <= GN_NOTICE_STOPPING; notice++) {
        gn_notify(notice);
        const ssize_t got = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);
        ck_assert_int_gt(got, 0);
        text[got] = 0;
        ck_assert_msg(!strncmp(text, wanted[notice], strlen(wanted[notice])), "%s", text);
    }
    close(fd);
}

START_TEST(the_manager_hears)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/gradnic-test-notify-%d", (int)getpid());
    hear(path);
    unlink(path);
    gn_notify(GN_NOTICE_READY);  // nobody there
    snprintf(path, sizeof path, "@gradnic-test-notify-%d", (int)getpid());
    hear(path);
    unsetenv("NOTIFY_SOCKET");
    gn_notify(GN_NOTICE_READY);
}
END_TEST

START_TEST(signals_ask)
{
    const int fd = gn_ending_open();
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(gn_ending_next(fd, true), GN_ENDING_NONE);
    raise(SIGHUP);
    ck_assert_int_eq(gn_ending_next(fd, true), GN_ENDING_RELOAD);
    ck_assert_int_eq(gn_ending_next(fd, true), GN_ENDING_NONE);
    raise(SIGHUP);
    ck_assert_int_eq(gn_ending_next(fd, false), GN_ENDING_NOW);
    static const int ends[] = {SIGTERM, SIGINT};
    for (int i = 0; i < 2; i++) {
        raise(SIGHUP);
        raise(ends[i]);
        ck_assert_int_eq(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0), 1);
        ck_assert_int_eq(gn_ending_next(fd, true), GN_ENDING_NOW);
        ck_assert_int_eq(gn_ending_next(fd, true), GN_ENDING_NONE);
    }
    close(fd);
}
END_TEST

static void *stay(void *unused)
{
    for (;;) pause();
    return unused;
}

// A thread that a library started before, and that blocks no signal.
START_TEST(signals_of_others)
{
    pthread_t other;
    ck_assert_int_eq(pthread_create(&other, NULL, stay, NULL), 0);
    signal(SIGHUP, SIG_IGN);
    const int fd = gn_ending_open();
    static const int ends[] = {SIGTERM, SIGINT};
    for (int i = 0; i < 2; i++) {
        pthread_kill(other, ends[i]);
        ck_assert_int_eq(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 10000), 1);
        ck_assert_int_eq(gn_ending_next(fd, true), GN_ENDING_NOW);
    }
    pthread_kill(other, SIGHUP);  // ignored, as nohup has it
    ck_assert_int_eq(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 100), 0);
    close(fd);
}
END_TEST

int main(void)
{
    return RUN_TESTS("notify", the_manager_hears, signals_ask, signals_of_others);
}
