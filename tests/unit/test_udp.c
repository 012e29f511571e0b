// SPDX-License-Identifier: Apache-2.0
// UDP on loopback: what sockets are opened with, messages that the kernel cuts and joins, and what
// it says of them. Messages that it refuses: test_udp_refused.c.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "udp_pair.h"

static gn_error error;

START_TEST(cut_and_joined)
{
    size_t lengths[11];
    for (int i = 0; i < 11; i++) lengths[i] = i < 10 ? 1000 : 300;
    for (int joins = 0; joins < 2; joins++) {
        open_pair("127.0.0.1", joins ? &joining : &plain, &plain);
        put(lengths, 11);
        ck_assert_uint_eq(batch.messages, 1);
        ck_assert_uint_eq(batch.pieces, 1);  // they lie one behind the other
        ck_assert_uint_eq(message[0].datagrams, 11);
        ck_assert_uint_eq(message[0].bytes, 10300);
        ck_assert_uint_eq(message[0].segment, 1000);
        ck_assert_int_eq(gn_udp_batch_send(&batch, from), 0);
        ck_assert_uint_eq(batch.calls, 1);
        ck_assert_int_eq(expect(lengths, 11, 0), joins ? 1 : 11);
        gn_close(&from);
        gn_close(&to);
        batch = new_batch();
    }
}
END_TEST

// All messages leave with one system call, and each datagram comes as it was.
START_TEST(lengths_that_differ)
{
    const size_t lengths[] = {1000, 1000, 400, 1000, 1200, 1200, 0, 1, 1};
    open_pair("127.0.0.1", &joining, &plain);
    put(lengths, 9);
    ck_assert_uint_eq(batch.messages, 5);
    const unsigned datagrams[] = {3, 1, 2, 1, 2};
    for (int i = 0; i < 5; i++) ck_assert_uint_eq(message[i].datagrams, datagrams[i]);
    ck_assert_int_eq(gn_udp_batch_send(&batch, from), 0);
    ck_assert_uint_eq(batch.calls, 1);
    ck_assert_uint_eq(batch.sent, 5);
    // The empty datagram is a message, but no bytes of it can be taken.
    const size_t taken[] = {1000, 1000, 400, 1000, 1200, 1200, 1, 1};
    ck_assert_int_eq(expect(taken, 8, 0), 5);
}
END_TEST

START_TEST(limits_of_a_message)
{
    size_t lengths[100];
    open_pair("127.0.0.1", &joining, &plain);
    for (int i = 0; i < 100; i++) lengths[i] = 20;
    put(lengths, 100);
    ck_assert_uint_eq(batch.messages, 2);
    ck_assert_uint_eq(message[0].datagrams, GN_UDP_SEGMENTS_MAX);
    ck_assert_int_eq(gn_udp_batch_send(&batch, from), 0);
    ck_assert_int_eq(expect(lengths, 100, 0), 2);
    batch = new_batch();
    batch.bytes_max = 10000;
    for (int i = 0; i < 60; i++) lengths[i] = 1472;
    put(lengths, 48);
    ck_assert_uint_eq(batch.messages, 8);
    ck_assert_uint_eq(message[0].datagrams, 6);
    ck_assert(!gn_udp_batch_has_room(&batch));
    ck_assert_int_eq(gn_udp_batch_send(&batch, from), 0);
    expect(lengths, 48, 0);
    // As much as the kernel takes at all.
    batch = new_batch();
    put(lengths, 60);
    ck_assert_uint_eq(message[0].datagrams, 44);
    ck_assert_int_eq(gn_udp_batch_send(&batch, from), 0);
    ck_assert_int_eq(expect(lengths, 60, 0), 2);
    // A batch without pieces joins nothing that lies elsewhere.
    batch = new_batch();
    batch.pieces_max = 1;
    gn_udp_batch_begin(&batch, &where);
    gn_udp_batch_add(&batch, data, 100);
    ck_assert(!gn_udp_batch_join(&batch, data + 200, 100));
    ck_assert(!gn_udp_batch_has_room(&batch));
}
END_TEST

static bool has_six(void)
{
    gn_endpoint at = {.ip = {.version = 6, .bytes = {[15] = 1}}};
    int fd;
    const bool has = gn_udp_listen(&fd, &at, &plain, &error) == GN_OK;
    gn_close(&fd);
    return has;
}

// The six bits and the two bits, of each message and of the socket; IPv4, IPv6, and IPv4 through an
// IPv6 socket.
START_TEST(tos_and_ecn)
{
    static const char *const ats[] = {"127.0.0.1", "[::1]", "127.0.0.1"};
    const size_t lengths[] = {500, 500, 100};
    const gn_udp_options reading = {.join = true, .read_tos = true}, capable = {.tos = GN_ECN_CAPABLE};
    for (int i = 0; i < 3; i++) {
        if (i == 1 && !has_six()) continue;
        open_pair(ats[i], &reading, &capable);
        if (i == 2) {
            gn_close(&from);
            from = gn_udp_open(AF_INET6, &capable);
            if (from < 0) continue;
            where.length = gn_endpoint_to_sockaddr(&here, AF_INET6, &address);
            where.six = gn_udp_is_six(&address);
            ck_assert(!where.six);
        }
        const uint8_t tos[] = {0, 0x28 | GN_ECN_CAPABLE, 0x28 | GN_ECN_MARKED, 0xb8};
        for (int t = 0; t < 4; t++) {
            batch = new_batch();
            where.tos = tos[t];
            put(lengths, t < 3 ? 3 : 1);
            ck_assert_int_eq(gn_udp_batch_send(&batch, from), 0);
            ck_assert_int_eq(expect(lengths, t < 3 ? 3 : 1, tos[t] ? tos[t] : GN_ECN_CAPABLE), 1);
        }
        gn_close(&from);
        gn_close(&to);
    }
}
END_TEST

/// Sends until the receiver's buffer has overflown, receives all, sends one more. @return what
/// that one tells of the others
static gn_udp_arrival overflow(unsigned *lost)
{
    enum { SENT = 1000 };
    const size_t length = 1000;
    unsigned got = 0;
    gn_udp_arrival last;
    for (int i = 0; i < SENT; i++) {
        batch = new_batch();
        put(&length, 1);
        ck_assert_int_eq(gn_udp_batch_send(&batch, from), 0);
    }
    while (gn_udp_receive(to, data, sizeof data, NULL, &last) > 0) got++;
    ck_assert_uint_gt(got, 0);
    ck_assert_uint_lt(got, SENT);
    batch = new_batch();
    put(&length, 1);
    ck_assert_int_eq(gn_udp_batch_send(&batch, from), 0);
    ck_assert_int_eq(gn_udp_receive(to, data, sizeof data, NULL, &last), 1);
    *lost = SENT - got;
    return last;
}

START_TEST(overflow_is_counted)
{
    const gn_udp_options counting = {.overflow = true, .receive_bytes = 20000}, silent = {.receive_bytes = 20000};
    unsigned lost, more;
    open_pair("127.0.0.1", &counting, &plain);
    gn_udp_arrival last = overflow(&lost);
    ck_assert(last.has_dropped);
    ck_assert_uint_eq(last.dropped, lost);
    last = overflow(&more);
    ck_assert_uint_eq(last.dropped, lost + more);  // of the socket's whole life
    gn_close(&from);
    gn_close(&to);
    open_pair("127.0.0.1", &silent, &plain);
    ck_assert(!overflow(&lost).has_dropped);
}
END_TEST

static void send_ten_bytes(void)
{
    const size_t length = 10;
    batch = new_batch();
    put(&length, 1);
    ck_assert_int_eq(gn_udp_batch_send(&batch, from), 0);
}

START_TEST(sender_and_nothing)
{
    struct sockaddr_storage sender;
    gn_endpoint bound;
    gn_udp_arrival a;
    open_pair("127.0.0.1", &joining, &plain);
    ck_assert_int_eq(gn_udp_inbox_receive(inbox, to, GN_UDP_INBOX_MESSAGES), 0);
    ck_assert_int_eq(gn_udp_receive(to, data, sizeof data, &sender, &a), 0);
    send_ten_bytes();
    ck_assert(gn_socket_local(from, &bound));
    ck_assert_int_eq(gn_udp_receive(to, data, sizeof data, &sender, &a), 1);
    ck_assert_uint_eq(gn_endpoint_from_sockaddr(&sender).port, bound.port);
    ck_assert_ptr_eq(a.from, &sender);
    for (int i = 0; i < 2; i++) {  // the second call has as much room for the address as the first
        send_ten_bytes();
        ck_assert_int_eq(gn_udp_inbox_receive(inbox, to, GN_UDP_INBOX_MESSAGES), 1);
        const gn_endpoint told = gn_endpoint_from_sockaddr(gn_udp_inbox_at(inbox, 0).from);
        ck_assert_uint_eq(told.port, bound.port);
        ck_assert_uint_eq(told.ip.bytes[0], 127);
    }
    gn_udp_inbox_free(inbox);
    inbox = gn_udp_inbox_new(false);
    send_ten_bytes();
    ck_assert_int_eq(gn_udp_inbox_receive(inbox, to, GN_UDP_INBOX_MESSAGES), 1);
    ck_assert_ptr_null(gn_udp_inbox_at(inbox, 0).from);
    for (int i = 0; i < 2; i++) send_ten_bytes();
    for (int i = 0; i < 2; i++) ck_assert_int_eq(gn_udp_inbox_receive(inbox, to, 1), 1);  // no more than asked for
    ck_assert_int_eq(gn_udp_inbox_receive(inbox, to, 1), 0);
    ck_assert_int_eq(gn_udp_inbox_receive(inbox, -1, GN_UDP_INBOX_MESSAGES), -1);
    ck_assert_int_eq(errno, EBADF);
}
END_TEST

static int option_of(int fd, int level, int option)
{
    int value = -1;
    socklen_t length = sizeof value;
    ck_assert_int_eq(getsockopt(fd, level, option, &value, &length), 0);
    return value;
}

START_TEST(opening)
{
    gn_endpoint at;
    int other;
    char text[GN_ENDPOINT_TEXT], wanted[GN_ERROR_TEXT];
    const gn_udp_options options = {
        .whole = true, .nonblocking = true, .receive_bytes = 1 << 16, .send_bytes = 1 << 15};
    open_pair("127.0.0.1", &options, &plain);
    ck_assert_uint_ne(here.port, 0);
    ck_assert_int_eq(option_of(to, SOL_SOCKET, SO_RCVBUF), 2 << 16);  // the kernel doubles it
    ck_assert_int_eq(option_of(to, SOL_SOCKET, SO_SNDBUF), 2 << 15);
    ck_assert_int_eq(option_of(to, IPPROTO_IP, IP_MTU_DISCOVER), IP_PMTUDISC_DO);
    ck_assert_int_eq(option_of(from, IPPROTO_IP, IP_MTU_DISCOVER), IP_PMTUDISC_WANT);
    ck_assert_int_eq((int)recv(to, data, 1, 0), -1);
    ck_assert_int_eq(errno, EAGAIN);
    at = here;
    ck_assert_int_eq(gn_udp_listen(&other, &at, &plain, &error), GN_IO);
    ck_assert_int_eq(other, -1);
    snprintf(wanted, sizeof wanted,
             "cannot listen on UDP %s: %s (another program has this port: end it, or choose another port)",
             gn_endpoint_format(&here, text), strerror(EADDRINUSE));
    ck_assert_str_eq(error.text, wanted);
}
END_TEST

START_TEST(mtu)
{
    open_pair("127.0.0.1", &plain, &plain);
    ck_assert_uint_eq(gn_udp_mtu(from), 0);  // not connected
    ck_assert_uint_eq(gn_udp_payload(from), 0);
    ck_assert_int_eq(gn_socket_connect(from, &here), 0);
    ck_assert_uint_ge(gn_udp_mtu(from), 1280);
    ck_assert_uint_eq(gn_udp_payload(from), gn_udp_mtu(from) - 28);
    // IPv4 through an IPv6 socket has IPv4's headers.
    gn_close(&from);
    from = gn_udp_open(AF_INET6, &plain);
    if (from < 0) return;
    ck_assert_int_eq(gn_socket_connect(from, &here), 0);
    ck_assert_uint_eq(gn_udp_payload(from), gn_udp_mtu(from) - 28);
}
END_TEST

START_TEST(errors_are_not_nothing)
{
    gn_udp_arrival a;
    ck_assert_int_eq(gn_udp_receive(-1, data, sizeof data, NULL, &a), -1);
    ck_assert_int_eq(errno, EBADF);
    ck_assert_int_eq(gn_udp_inbox_receive(inbox, -1, GN_UDP_INBOX_MESSAGES), -1);
    ck_assert_int_eq(errno, EBADF);
    open_pair("127.0.0.1", &plain, &plain);
    send_ten_bytes();
    ck_assert_int_eq(gn_udp_inbox_receive(inbox, to, GN_UDP_INBOX_MESSAGES), 1);  // there is room again
    const size_t nothing = 0;
    batch = new_batch();
    put(&nothing, 1);
    errno = EPERM;  // an empty datagram is sent, though nothing is
    const gn_udp_taken taken = gn_udp_batch_send_singly(&batch, from);
    ck_assert(taken.datagrams == 1 && taken.error == 0);
}
END_TEST

int main(void)
{
    return RUN_SUITE("udp", udp_begin, udp_end, cut_and_joined, lengths_that_differ, limits_of_a_message, tos_and_ecn,
                     overflow_is_counted, sender_and_nothing, opening, mtu, errors_are_not_nothing);
}
