// SPDX-License-Identifier: Apache-2.0
// The worker's batches of datagrams on loopback: lengths and ToS that change, a kernel that cuts
// nothing, and a batch that is full.
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>

#include "net/udp_in.h"
#include "net/udp_out.h"
#include "ring/part_socket.h"
#include "ring/route.h"
#include "suite.h"

enum { LONGEST = 1500, DATAGRAMS_MAX = 4096 };

static int near_fd, far_fd;
static gn_part_socket *io;
static gn_udp_inbox *inbox;
static size_t length[DATAGRAMS_MAX];
static uint8_t tos[DATAGRAMS_MAX];
static unsigned put, seen;

static void begin_at(gn_endpoint at)
{
    gn_endpoint back = at;
    gn_error error;
    const gn_udp_options far = {.join = true, .read_tos = true, .receive_bytes = 8 << 20};
    ck_assert_int_eq(gn_udp_listen(&far_fd, &at, &far, &error), GN_OK);
    near_fd = gn_route_socket(&at, &back);
    ck_assert_int_ge(near_fd, 0);
    ck_assert(gn_socket_local(near_fd, &back));
    ck_assert_int_eq(gn_socket_connect(far_fd, &back), 0);
    io = gn_part_socket_new(near_fd, LONGEST);
    inbox = gn_udp_inbox_new(false);
    ck_assert(io && inbox);
    put = seen = 0;
}

static void begin(void)
{
    begin_at((gn_endpoint){.ip = {.version = 4, .bytes = {127, 0, 0, 1}}});
}

static void end(void)
{
    gn_part_socket_free(io);
    gn_udp_inbox_free(inbox);
    gn_close(&near_fd);
    gn_close(&far_fd);
}

/// @return false when there is no room
static bool put_one(size_t bytes, uint8_t with)
{
    uint8_t *room = gn_part_socket_room(io);
    if (!room) return false;
    memset(room, (int)put, bytes);
    gn_part_socket_put(io, bytes, with);
    length[put] = bytes;
    tos[put++] = with ? with | GN_ECN_CAPABLE : GN_ECN_CAPABLE;
    return true;
}

static void flush(void)
{
    int failed;
    ck_assert(gn_part_socket_flush(io, &failed));
    ck_assert_int_eq(failed, 0);
    ck_assert(!gn_part_socket_is_full(io));
}

/// All that was put has come, in order. @return messages
static int all_came(void)
{
    int messages = 0, got;
    while ((got = gn_udp_inbox_receive(inbox, far_fd, GN_UDP_INBOX_MESSAGES)) > 0) {
        messages += got;
        for (int i = 0; i < got; i++) {
            const gn_udp_arrival a = gn_udp_inbox_at(inbox, i);
            for (size_t at = 0; at < a.bytes; at += a.segment, seen++) {
                ck_assert_uint_lt(seen, put);
                ck_assert_uint_eq(gn_udp_piece(&a, at), length[seen]);
                ck_assert_uint_eq(a.data[at], (uint8_t)seen);
                ck_assert_uint_eq(a.tos, tos[seen]);
            }
        }
    }
    ck_assert_uint_eq(seen, put);
    return messages;
}

START_TEST(together)
{
    for (int i = 0; i < 30; i++) ck_assert(put_one(1400, 0));
    ck_assert(put_one(700, 0));
    flush();
    ck_assert_int_eq(all_came(), 1);
}
END_TEST

START_TEST(lengths_and_tos)
{
    for (int i = 0; i < 30; i++) ck_assert(put_one(i % 7 ? 1200 : 300, i % 5 < 3 ? 0 : 0x28));
    flush();
    (void)all_came();
    for (int i = 0; i < 3; i++) ck_assert(put_one(500, 0x28));
    flush();
    ck_assert_int_eq(all_came(), 1);
}
END_TEST

// IPv6 has a field of another name for it.
START_TEST(tos_of_six)
{
    end();
    begin_at((gn_endpoint){.ip = {.version = 6, .bytes = {[15] = 1}}});
    for (int i = 0; i < 30; i++) ck_assert(put_one(1200, i % 5 < 3 ? 0 : 0x28));
    flush();
    (void)all_came();
}
END_TEST

START_TEST(cuts_nothing)
{
    const int on = 1;
    ck_assert_int_eq(setsockopt(near_fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
    for (int round = 0; round < 3; round++) {
        ck_assert(put_one(900, 0));
        for (int i = 0; i < 10; i++) ck_assert(put_one(600, 0x28));
        ck_assert(put_one(900, 0));
        flush();
        ck_assert_int_eq(all_came(), 12);
    }
}
END_TEST

/// A network of its own, with nothing but loopback. @return false where that may not be made
static bool enter_network(void)
{
    return !unshare(CLONE_NEWNET) || !unshare(CLONE_NEWUSER | CLONE_NEWNET);
}

static void set_mtu(int mtu)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_mtu = mtu};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    ck_assert_int_eq(ioctl(fd, SIOCSIFMTU, &request), 0);
    request.ifr_flags = IFF_UP;
    ck_assert_int_eq(ioctl(fd, SIOCSIFFLAGS, &request), 0);
    gn_close(&fd);
}

// A path that takes no more what it took at first: datagrams travel in fragments, and the socket is
// as good as before.
START_TEST(mtu_that_shrinks)
{
    end();
    const bool own = enter_network();
    if (own) set_mtu(1500);
    begin();
    if (!own) return;
    for (int i = 0; i < 10; i++) ck_assert(put_one(1400, 0));
    flush();
    ck_assert_int_eq(all_came(), 1);
    set_mtu(1000);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 10; i++) ck_assert(put_one(1400, 0));
        ck_assert(put_one(500, 0));
        flush();
        ck_assert_int_eq(all_came(), 11);
    }
}
END_TEST

// A batch holds so many bytes, and so many messages.
START_TEST(room)
{
    unsigned count = 0;
    while (put_one(1400, 0)) count++;
    ck_assert_uint_ge(count, 80);
    ck_assert_uint_le(count * 1400, 128 << 10);
    flush();
    (void)all_came();
    for (count = 0; put_one(10 + count, 0);) count++;
    ck_assert_uint_eq(count, 32);
    flush();
    ck_assert_int_eq(all_came(), 32);
}
END_TEST

static void count_bytes(void *context, void *datagram, size_t bytes)
{
    unsigned *lengths = context;
    const uint8_t *first = datagram;
    ck_assert_uint_eq(first[0], first[bytes - 1]);
    lengths[bytes]++;
}

START_TEST(receiving)
{
    unsigned lengths[LONGEST + 1] = {0};
    uint8_t bytes[LONGEST];
    struct iovec piece[2];
    struct mmsghdr header[2];
    gn_udp_message message[2];
    gn_udp_batch batch = {.message = message,
                          .header = header,
                          .piece = piece,
                          .messages_max = 2,
                          .pieces_max = 2,
                          .bytes_max = GN_UDP_OUT_BYTES};
    memset(bytes, 3, sizeof bytes);
    for (int i = 0; i < 2; i++) {
        gn_udp_batch_begin(&batch, &(gn_udp_to){0});
        gn_udp_batch_add(&batch, bytes, 1500);
    }
    gn_udp_batch_cut(&batch, 400, 4);
    ck_assert_int_eq(gn_udp_batch_send(&batch, far_fd), 0);
    ck_assert(!gn_part_socket_receive(io, count_bytes, lengths));
    ck_assert_uint_eq(lengths[1500], 1);
    ck_assert_uint_eq(lengths[400], 3);
    ck_assert_uint_eq(lengths[300], 1);
}
END_TEST

// A socket that cannot be used says so, and one whose peer is away does not.
START_TEST(errors)
{
    int failed;
    gn_close(&far_fd);
    for (int i = 0; i < 5; i++) {
        ck_assert(put_one(100, 0));
        flush();  // ECONNREFUSED
    }
    ck_assert(put_one(100, 0));
    gn_close(&near_fd);
    ck_assert(!gn_part_socket_flush(io, &failed));
    ck_assert_int_eq(failed, EBADF);
}
END_TEST

int main(void)
{
    return RUN_SUITE("part_socket", begin, end, together, lengths_and_tos, tos_of_six, cuts_nothing, mtu_that_shrinks,
                     room, receiving, errors);
}
