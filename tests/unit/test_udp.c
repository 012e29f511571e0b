// SPDX-License-Identifier: Apache-2.0
// UDP on loopback: what sockets are opened with, messages that the kernel cuts and joins, what it
// says of them, and messages that it refuses.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/udp_in.h"
#include "net/udp_out.h"
#include "suite.h"

enum { MESSAGES = 8, DATA = 100000 };

static uint8_t data[DATA];
static int from = -1, to = -1;
static gn_endpoint here;
static struct sockaddr_storage address;
static gn_udp_to where;
static gn_udp_inbox *inbox;
static gn_udp_message message[MESSAGES];
static struct mmsghdr header[MESSAGES];
static struct iovec piece[MESSAGES * GN_UDP_SEGMENTS_MAX];
static gn_udp_batch batch;
static gn_error error;

static gn_udp_batch new_batch(void)
{
    return (gn_udp_batch){.message = message,
                          .header = header,
                          .piece = piece,
                          .messages_max = MESSAGES,
                          .pieces_max = MESSAGES * GN_UDP_SEGMENTS_MAX,
                          .bytes_max = GN_UDP_OUT_BYTES,
                          .flags = MSG_DONTWAIT};
}

static void begin(void)
{
    inbox = gn_udp_inbox_new(true);
    batch = new_batch();
    ck_assert_ptr_nonnull(inbox);
    for (size_t i = 0; i < DATA; i++) data[i] = (uint8_t)(i * 31 + i / 251);
}

static void end(void)
{
    gn_udp_inbox_free(inbox);
    gn_close(&from);
    gn_close(&to);
}

/// A receiver at an address, and a sender of the same family.
static void open_pair(const char *at, const gn_udp_options *receiver, const gn_udp_options *sender)
{
    ck_assert_int_eq(gn_endpoint_parse(at, &here, &error), GN_OK);
    here.port = 0;
    ck_assert_msg(gn_udp_listen(&to, &here, receiver, &error) == GN_OK, "%s", error.text);
    from = gn_udp_open(gn_ip_family(&here.ip), sender);
    ck_assert_int_ge(from, 0);
    where = (gn_udp_to){.address = &address};
    where.length = gn_endpoint_to_sockaddr(&here, gn_ip_family(&here.ip), &address);
    where.six = gn_udp_is_six(&address);
}

/// Puts datagrams of these lengths, which lie one behind the other in `data`, into the batch.
static void put(const size_t *lengths, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; at += lengths[i++]) {
        if (gn_udp_batch_join(&batch, data + at, lengths[i])) continue;
        ck_assert(gn_udp_batch_has_room(&batch));
        gn_udp_batch_begin(&batch, &where);
        gn_udp_batch_add(&batch, data + at, lengths[i]);
    }
}

/// Receives these datagrams, no more. @return messages
static int expect(const size_t *lengths, size_t count, int tos)
{
    size_t at = 0, seen = 0;
    int messages = 0, got;
    while ((got = gn_udp_inbox_receive(inbox, to)) > 0) {
        messages += got;
        for (int i = 0; i < got; i++) {
            const gn_udp_arrival a = gn_udp_inbox_at(inbox, i);
            ck_assert_int_eq(a.tos, tos);
            for (size_t in = 0; in < a.bytes; in += a.segment) {
                const size_t bytes = gn_udp_piece(&a, in);
                ck_assert_uint_lt(seen, count);
                ck_assert_uint_eq(bytes, lengths[seen]);
                ck_assert_mem_eq(a.data + in, data + at, bytes);
                at += lengths[seen++];
            }
        }
    }
    ck_assert_int_eq(got, 0);
    ck_assert_uint_eq(seen, count);
    return messages;
}

static const gn_udp_options plain = {0}, joining = {.join = true};

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

/// A socket that sends no checksums, for which the kernel cuts nothing.
static void refuse_to_cut(int fd)
{
    const int on = 1;
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
}

// The message before it and the message behind it leave as they are.
START_TEST(one_refused_message)
{
    const size_t lengths[] = {500, 800, 800, 800, 800, 200, 900};
    const gn_udp_options reading = {.read_tos = true};
    open_pair("127.0.0.1", &reading, &plain);
    refuse_to_cut(from);
    where.tos = 0x28;
    put(lengths, 7);
    ck_assert_uint_eq(batch.messages, 3);
    ck_assert_int_eq(gn_udp_batch_send(&batch, from), EINVAL);
    ck_assert_uint_eq(batch.sent, 1);
    ck_assert_int_eq(gn_udp_batch_refusal(&batch, EINVAL), GN_UDP_TOO_LARGE);
    const gn_udp_taken taken = gn_udp_batch_send_singly(&batch, from);
    ck_assert_uint_eq(taken.datagrams, 5);
    ck_assert_uint_eq(taken.bytes, 3400);
    ck_assert_int_eq(taken.error, 0);
    ck_assert_uint_eq(batch.sent, 2);
    ck_assert_int_eq(gn_udp_batch_send(&batch, from), 0);
    ck_assert_uint_eq(batch.calls, 2);
    ck_assert_int_eq(expect(lengths, 7, 0x28), 7);
}
END_TEST

// Datagrams of several pieces, and pieces of several datagrams.
START_TEST(pieces_that_are_cut)
{
    enum { PIECES = 6 };
    static const size_t cuts[][PIECES] = {
        {30, 970, 1000, 10, 990, 500}, {2500, 1000}, {1000, 2500}, {1, 1, 1, 1, 3495, 1}};
    const size_t lengths[] = {1000, 1000, 1000, 500};
    static uint8_t apart[PIECES][4096];
    for (int refuse = 0; refuse < 2; refuse++)
        for (int i = 0; i < 4; i++) {
            open_pair("127.0.0.1", &plain, &plain);
            if (refuse) refuse_to_cut(from);
            batch = new_batch();
            gn_udp_batch_begin(&batch, &where);
            for (size_t j = 0, at = 0; j < PIECES && cuts[i][j]; at += cuts[i][j++]) {
                memcpy(apart[j], data + at, cuts[i][j]);
                gn_udp_batch_add(&batch, apart[j], cuts[i][j]);
            }
            gn_udp_batch_cut(&batch, 1000, 4);
            const int refusal = gn_udp_batch_send(&batch, from);
            ck_assert_int_eq(refusal, refuse ? EINVAL : 0);
            if (refusal) ck_assert_uint_eq(gn_udp_batch_send_singly(&batch, from).datagrams, 4);
            ck_assert_int_eq(expect(lengths, 4, 0), 4);
            gn_close(&from);
            gn_close(&to);
        }
}
END_TEST

// One that is longer than UDP allows is left out; the others come.
START_TEST(too_long)
{
    const size_t lengths[] = {100, 70000, 100}, come[] = {100, 100};
    open_pair("127.0.0.1", &plain, &plain);
    for (int i = 0; i < 3; i++) {
        gn_udp_batch_begin(&batch, &where);
        gn_udp_batch_add(&batch, i == 2 ? data + 100 : data, lengths[i]);
    }
    ck_assert_int_eq(gn_udp_batch_send(&batch, from), EMSGSIZE);
    ck_assert_int_eq(gn_udp_batch_refusal(&batch, EMSGSIZE), GN_UDP_TOO_LARGE);
    ck_assert_uint_eq(gn_udp_batch_skip(&batch)->bytes, 70000);
    ck_assert_int_eq(gn_udp_batch_send(&batch, from), 0);
    ck_assert_int_eq(expect(come, 2, 0), 2);
    // One by one, too.
    batch = new_batch();
    gn_udp_batch_begin(&batch, &where);
    gn_udp_batch_add(&batch, data, 70000);
    ck_assert_int_eq(gn_udp_batch_send(&batch, from), EMSGSIZE);
    const gn_udp_taken taken = gn_udp_batch_send_singly(&batch, from);
    ck_assert_uint_eq(taken.datagrams, 0);
    ck_assert_int_eq(taken.error, EMSGSIZE);
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        int error;
        gn_udp_refusal one, several;
    } table[] = {{EAGAIN, GN_UDP_FULL, GN_UDP_FULL},
                 {EMSGSIZE, GN_UDP_TOO_LARGE, GN_UDP_TOO_LARGE},
                 {EINVAL, GN_UDP_REFUSED, GN_UDP_TOO_LARGE},
                 {EIO, GN_UDP_REFUSED, GN_UDP_NO_OFFLOAD},
                 {EOPNOTSUPP, GN_UDP_REFUSED, GN_UDP_NO_OFFLOAD},
                 {ENOPROTOOPT, GN_UDP_REFUSED, GN_UDP_NO_OFFLOAD},
                 {ENETUNREACH, GN_UDP_REFUSED, GN_UDP_REFUSED},
                 {EPERM, GN_UDP_REFUSED, GN_UDP_REFUSED},
                 {ENOBUFS, GN_UDP_REFUSED, GN_UDP_REFUSED}};
    const size_t lengths[] = {10, 10};
    for (size_t count = 1; count <= 2; count++) {
        batch = new_batch();
        put(lengths, count);
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            ck_assert_int_eq(gn_udp_batch_refusal(&batch, table[i].error),
                             count == 1 ? table[i].one : table[i].several);
    }
}
END_TEST

// Datagrams that find no room stay, and leave later: once, and in order.
START_TEST(full)
{
    enum { ROUNDS = 200 };
    int pair[2], received = 0;
    bool was_full = false;
    where = (gn_udp_to){0};
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair), 0);
    for (int round = 0; round < ROUNDS; round++) {
        batch = new_batch();
        for (int i = 0; i < MESSAGES; i++) {
            gn_udp_batch_begin(&batch, &where);
            gn_udp_batch_add(&batch, &data[round + i], 1);
        }
        int refusal;
        while ((refusal = gn_udp_batch_send(&batch, pair[0]))) {
            ck_assert_int_eq(gn_udp_batch_refusal(&batch, refusal), GN_UDP_FULL);
            was_full = true;
            for (uint8_t one; recv(pair[1], &one, 1, 0) == 1; received++)
                ck_assert_uint_eq(one, data[received / MESSAGES + received % MESSAGES]);
        }
    }
    for (uint8_t one; recv(pair[1], &one, 1, 0) == 1; received++)
        ck_assert_uint_eq(one, data[received / MESSAGES + received % MESSAGES]);
    ck_assert_int_eq(received, ROUNDS * MESSAGES);
    ck_assert(was_full);
    close(pair[0]);
    close(pair[1]);
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
    ck_assert_int_eq(gn_udp_inbox_receive(inbox, to), 0);
    ck_assert_int_eq(gn_udp_receive(to, data, sizeof data, &sender, &a), 0);
    send_ten_bytes();
    ck_assert(gn_socket_local(from, &bound));
    ck_assert_int_eq(gn_udp_receive(to, data, sizeof data, &sender, &a), 1);
    ck_assert_uint_eq(gn_endpoint_from_sockaddr(&sender).port, bound.port);
    ck_assert_ptr_eq(a.from, &sender);
    for (int i = 0; i < 2; i++) {  // the second call has as much room for the address as the first
        send_ten_bytes();
        ck_assert_int_eq(gn_udp_inbox_receive(inbox, to), 1);
        const gn_endpoint told = gn_endpoint_from_sockaddr(gn_udp_inbox_at(inbox, 0).from);
        ck_assert_uint_eq(told.port, bound.port);
        ck_assert_uint_eq(told.ip.bytes[0], 127);
    }
    gn_udp_inbox_free(inbox);
    inbox = gn_udp_inbox_new(false);
    send_ten_bytes();
    ck_assert_int_eq(gn_udp_inbox_receive(inbox, to), 1);
    ck_assert_ptr_null(gn_udp_inbox_at(inbox, 0).from);
    ck_assert_int_eq(gn_udp_inbox_receive(inbox, -1), -1);
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
    ck_assert_int_eq(gn_udp_inbox_receive(inbox, -1), -1);
    ck_assert_int_eq(errno, EBADF);
    open_pair("127.0.0.1", &plain, &plain);
    send_ten_bytes();
    ck_assert_int_eq(gn_udp_inbox_receive(inbox, to), 1);  // there is room again
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
    return RUN_SUITE("udp", begin, end, cut_and_joined, lengths_that_differ, limits_of_a_message, tos_and_ecn,
                     one_refused_message, pieces_that_are_cut, too_long, refusals, full, overflow_is_counted,
                     sender_and_nothing, opening, mtu, errors_are_not_nothing);
}
