// SPDX-License-Identifier: Apache-2.0
// Frames over a TCP connection: in pieces, too long, and to those who do not read.
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/clock.h"
#include "net/framed.h"
#include "net/tcp.h"
#include "suite.h"

/// Test frames: a length of 2 to 250, then bytes that are that length, too.
static int parse(const uint8_t *bytes, size_t available, void *frame)
{
    const uint8_t length = bytes[0];
    if (length < 2 || length > 250) return -1;
    if (available < length) return 0;
    *(const uint8_t **)frame = bytes;
    return length;
}

static size_t make(uint8_t *frame, uint8_t length)
{
    memset(frame, length, length);
    return length;
}

static int far;  ///< the other end
static gn_framed *near;

static void pair(size_t in_room, size_t out_room)
{
    int fds[2];
    gn_endpoint at = {.ip.version = 4, .ip.bytes = {127, 0, 0, 1}}, from;
    int listener = gn_tcp_listen(&at, false, 0);
    ck_assert_int_ge(listener, 0);
    fds[0] = gn_tcp_connect(&at, NULL, 0);
    struct pollfd p = {.fd = listener, .events = POLLIN};
    ck_assert(fds[0] >= 0 && poll(&p, 1, 5000) == 1);
    fds[1] = gn_tcp_accept(listener, &from);
    ck_assert_int_ge(fds[1], 0);
    gn_close(&listener);
    far = fds[1];
    near = gn_framed_new(fds[0], GN_FRAMED_CONNECTING, in_room, out_room);
    ck_assert_ptr_nonnull(near);
    while (near->state == GN_FRAMED_CONNECTING) {
        p = gn_framed_poll(near);
        ck_assert(p.events == POLLOUT && poll(&p, 1, 5000) == 1);
        gn_framed_serve(near, p.revents);
    }
    ck_assert_int_eq(near->state, GN_FRAMED_OPEN);
}

static void unpair(void)
{
    gn_framed_free(near);
    gn_close(&far);
}

/// Serves the near end until poll() finds nothing for `ms`.
static void serve(int ms)
{
    for (struct pollfd p; p = gn_framed_poll(near), poll(&p, 1, ms) > 0;) gn_framed_serve(near, p.revents);
}

static void say(const void *bytes, size_t length)
{
    ck_assert_int_eq(send(far, bytes, length, MSG_NOSIGNAL), (ssize_t)length);
}

static int next(const uint8_t **frame)
{
    return gn_framed_next(near, parse, frame);
}

START_TEST(test_frames_in_pieces)
{
    uint8_t bytes[600];
    const uint8_t *frame = NULL;
    size_t length = make(bytes, 250);
    length += make(bytes + length, 2);
    length += make(bytes + length, 250);
    pair(256, 256);
    const uint64_t born = near->heard;
    unsigned found[251] = {0};
    for (size_t i = 0; i < length; i += 7) {
        say(bytes + i, length - i < 7 ? length - i : 7);
        serve(1);
        for (int got; (got = next(&frame));) {
            ck_assert_int_eq(got, 1);
            for (unsigned k = 0; k < frame[0]; k++) ck_assert_uint_eq(frame[k], frame[0]);
            found[frame[0]]++;
        }
    }
    ck_assert(found[250] == 2 && found[2] == 1);
    ck_assert_uint_gt(near->heard, born);
    unpair();
}
END_TEST

// Many at once, more than the buffer takes: whole frames are taken before more is read.
START_TEST(test_frames_in_a_row)
{
    uint8_t bytes[4000], *end = bytes;
    const uint8_t *frame = NULL;
    unsigned sent = 0, got = 0;
    for (; end + 33 < bytes + sizeof bytes; sent++) end += make(end, (uint8_t)(2 + sent % 32));
    pair(64, 64);
    say(bytes, (size_t)(end - bytes));
    for (int idle = 0; idle < 5000 && got < sent; idle++) {
        if (gn_framed_fill(near)) idle = 0;
        for (int found; (found = next(&frame)); got++) {
            ck_assert_int_eq(found, 1);
            ck_assert_uint_eq(frame[0], 2 + got % 32);
            ck_assert_uint_eq(frame[frame[0] - 1], frame[0]);
        }
        if (!idle) continue;
        usleep(1000);
    }
    ck_assert_uint_eq(got, sent);
    ck_assert_int_eq(next(&frame), 0);
    unpair();
}
END_TEST

START_TEST(test_no_frame)
{
    const uint8_t *frame = NULL;
    pair(64, 64);
    say("\x02\x02\x01?", 4);
    serve(20);
    ck_assert_int_eq(next(&frame), 1);
    ck_assert_int_eq(next(&frame), -1);
    ck_assert_uint_eq(gn_framed_rest(near, &frame), 2);  // for those who want to say what is wrong
    ck_assert_mem_eq(frame, "\x01?", 2);
    unpair();
    pair(64, 64);  // one that is longer than the buffer
    uint8_t bytes[250];
    say(bytes, make(bytes, 65));
    serve(20);
    ck_assert_int_eq(next(&frame), -1);
    unpair();
}
END_TEST

// What came before the end is still there.
START_TEST(test_end_of_the_far_side)
{
    uint8_t bytes[20];
    const uint8_t *frame = NULL;
    pair(64, 64);
    say(bytes, make(bytes, 20));
    gn_close(&far);
    serve(20);
    ck_assert_int_eq(near->state, GN_FRAMED_CLOSED);
    ck_assert_int_eq(near->error, 0);
    ck_assert_int_eq(next(&frame), 1);
    ck_assert_int_eq(next(&frame), 0);
    ck_assert_int_eq(gn_framed_poll(near).fd, -1);
    ck_assert(!gn_framed_send(near, bytes, 20) && !near->overflow);
    unpair();
}
END_TEST

// A write finds the connection reset; the frame that came before that is read all the same.
START_TEST(test_broken_connection)
{
    uint8_t bytes[20];
    const uint8_t *frame = NULL;
    const struct linger reset = {.l_onoff = 1};
    pair(64, 64);
    say(bytes, make(bytes, 20));
    ck_assert(!setsockopt(far, SOL_SOCKET, SO_LINGER, &reset, sizeof reset));
    gn_close(&far);
    for (int i = 0; i < 10; i++, usleep(1000)) {
        (void)gn_framed_send(near, bytes, 20);
        ck_assert_int_eq(near->state, GN_FRAMED_OPEN);
    }
    ck_assert_uint_eq(gn_framed_unsent(near), 0);
    ck_assert(gn_framed_fill(near));
    ck_assert_int_eq(next(&frame), 1);
    ck_assert(!gn_framed_fill(near));
    ck_assert_int_eq(near->state, GN_FRAMED_CLOSED);
    ck_assert_int_eq(near->error, ECONNRESET);
    unpair();
}
END_TEST

START_TEST(test_refused)
{
    gn_endpoint at = {.ip.version = 4, .ip.bytes = {127, 0, 0, 1}};
    int listener = gn_tcp_listen(&at, false, 0);
    gn_close(&listener);  // nobody listens there now
    far = -1;
    near = gn_framed_new(gn_tcp_connect(&at, NULL, 0), GN_FRAMED_CONNECTING, 64, 64);
    serve(100);
    ck_assert_int_eq(near->state, GN_FRAMED_CLOSED);
    ck_assert_int_eq(near->error, ECONNREFUSED);
    unpair();
}
END_TEST

// Frames that are sent too early wait for the connection.
START_TEST(test_queued_while_connecting)
{
    uint8_t bytes[20], got[20];
    gn_endpoint at = {.ip.version = 4, .ip.bytes = {127, 0, 0, 1}}, from;
    int listener = gn_tcp_listen(&at, false, 0);
    near = gn_framed_new(gn_tcp_connect(&at, NULL, 0), GN_FRAMED_CONNECTING, 64, 64);
    ck_assert(gn_framed_send(near, bytes, make(bytes, 20)));
    ck_assert_uint_eq(gn_framed_unsent(near), 20);
    if (_i) gn_framed_end(near);  // also when they are the last words
    serve(20);
    far = gn_tcp_accept(listener, &from);
    ck_assert_int_ge(far, 0);
    ck_assert_int_eq(recv(far, got, sizeof got, 0), 20);
    ck_assert_mem_eq(got, bytes, 20);
    if (_i) ck_assert_int_eq(recv(far, got, sizeof got, 0), 0);
    gn_close(&listener);
    unpair();
}
END_TEST

/// Fills the connection until nothing more fits. @return whole frames that were taken
static unsigned stuff(uint8_t length)
{
    uint8_t frame[250];
    unsigned taken = 0;
    make(frame, length);
    const int small = 4096;
    ck_assert(!setsockopt(near->fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small));
    while (gn_framed_send(near, frame, length)) ck_assert_uint_lt(++taken, 1000000);
    return taken;
}

// A far side that never reads costs no time and no memory, and says so.
START_TEST(test_far_side_that_never_reads)
{
    pair(64, 1000);
    const uint64_t start = gn_now();
    const unsigned taken = stuff(250);
    ck_assert(gn_elapsed(start, gn_now()) < 2 * GN_SECOND);
    ck_assert(near->overflow);
    ck_assert_int_eq(near->state, GN_FRAMED_OPEN);
    ck_assert_uint_le(gn_framed_unsent(near), 1000);
    ck_assert(gn_framed_poll(near).events & POLLOUT);

    // It reads after all: whole frames, in their order, but for the one that was lost.
    uint8_t byte;
    size_t came = 0;
    while (came < (size_t)taken * 250) {
        serve(0);
        const ssize_t got = recv(far, &byte, 1, MSG_DONTWAIT);
        ck_assert(got == 1 || errno == EAGAIN);
        if (got == 1) {
            ck_assert_uint_eq(byte, 250);
            came++;
        }
        ck_assert(gn_elapsed(start, gn_now()) < 60 * GN_SECOND);
    }
    serve(0);
    ck_assert_int_eq(recv(far, &byte, 1, MSG_DONTWAIT), -1);
    unpair();
}
END_TEST

// Who ends and is not read from does not wait, either.
START_TEST(test_last_words_to_one_who_does_not_read)
{
    pair(64, 1000);
    (void)stuff(250);
    const uint64_t start = gn_now();
    gn_framed_end(near);
    ck_assert_int_eq(near->state, GN_FRAMED_ENDING);
    ck_assert(gn_framed_poll(near).events & POLLOUT);
    ck_assert(gn_elapsed(start, gn_now()) < GN_SECOND);
    unpair();
}
END_TEST

// Last words arrive although what the far side sent has not been read: no reset overtakes them.
START_TEST(test_last_words)
{
    uint8_t bytes[250], got[64];
    const uint8_t *frame = NULL;
    pair(64, 64);
    for (int i = 0; i < 100; i++) say(bytes, make(bytes, 250));
    serve(0);
    ck_assert(gn_framed_send(near, bytes, make(bytes, 20)));
    gn_framed_end(near);
    ck_assert(!gn_framed_send(near, bytes, 20));
    ck_assert_int_eq(next(&frame), 0);
    say(bytes, make(bytes, 250));
    serve(50);
    ck_assert_int_eq(near->state, GN_FRAMED_ENDING);
    gn_framed_free(near);
    near = NULL;
    ck_assert_int_eq(recv(far, got, sizeof got, 0), 20);
    ck_assert_int_eq(recv(far, got, sizeof got, 0), 0);
    unpair();
}
END_TEST

// The far side answers the end with its own.
START_TEST(test_end_of_both)
{
    uint8_t bytes[20];
    pair(64, 64);
    ck_assert(gn_framed_send(near, bytes, make(bytes, 20)));
    gn_framed_end(near);
    serve(20);
    ck_assert_int_eq(recv(far, bytes, sizeof bytes, 0), 20);
    gn_close(&far);
    serve(20);
    ck_assert_int_eq(near->state, GN_FRAMED_CLOSED);
    unpair();
}
END_TEST

START_TEST(test_release_keeps_the_socket)
{
    uint8_t bytes[20];
    pair(16, 0);
    say(bytes, make(bytes, 20));
    serve(20);  // not more than there is room for: the rest is the next owner's
    ck_assert_uint_eq(near->in_used, 16);
    int fd = gn_framed_release(near);
    near = NULL;
    ck_assert_int_eq(recv(fd, bytes, sizeof bytes, 0), 4);
    gn_close(&fd);
    unpair();
}
END_TEST

START_TEST(test_nobody)
{
    gn_framed_free(NULL);
    gn_framed_flush(NULL);
    gn_framed_end(NULL);
    ck_assert(!gn_framed_send(NULL, "", 1));
    ck_assert_int_eq(gn_framed_poll(NULL).fd, -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("framed");
    TCase *all = tcase_create("all");
    tcase_add_test(all, test_frames_in_pieces);
    tcase_add_test(all, test_frames_in_a_row);
    tcase_add_test(all, test_no_frame);
    tcase_add_test(all, test_end_of_the_far_side);
    tcase_add_test(all, test_broken_connection);
    tcase_add_test(all, test_refused);
    tcase_add_loop_test(all, test_queued_while_connecting, 0, 2);
    tcase_add_test(all, test_far_side_that_never_reads);
    tcase_add_test(all, test_last_words_to_one_who_does_not_read);
    tcase_add_test(all, test_last_words);
    tcase_add_test(all, test_end_of_both);
    tcase_add_test(all, test_release_keeps_the_socket);
    tcase_add_test(all, test_nobody);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
