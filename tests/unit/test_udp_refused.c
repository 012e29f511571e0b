// SPDX-License-Identifier: Apache-2.0
// UDP messages that the kernel refuses: what becomes of the others, and what the errors mean.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "udp_pair.h"

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

int main(void)
{
    return RUN_SUITE("udp_refused", udp_begin, udp_end, one_refused_message, pieces_that_are_cut, too_long, refusals,
                     full);
}
