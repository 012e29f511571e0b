// SPDX-License-Identifier: Apache-2.0
// The NIC's wire on loopback: what is sent comes, padding counts as bytes of the link, and what the
// kernel refuses is counted.
#include <errno.h>
#include <string.h>

#include "driver/wire.h"
#include "net/udp.h"
#include "suite.h"

enum { PACKETS = 120, OVERHEAD = 28 + GN_WIRE_ETHERNET };

static gn_wire wire, far;
static gn_peer peer;
static gn_wire_packet packet[PACKETS];
static gn_wire_counters counters;
static uint8_t bytes[PACKETS * 1500], heard[65536];

static void open_at(gn_wire *one)
{
    const gn_endpoint any = {.ip = {.version = 4, .bytes = {127, 0, 0, 1}}};
    gn_error error;
    ck_assert_msg(gn_wire_open(one, &any, 8 << 20, false, &error) == GN_OK, "%s", error.text);
}

static void begin(void)
{
    open_at(&wire);
    open_at(&far);
    ck_assert(gn_socket_local(far.fd, &peer.endpoint));
    peer.address_length = gn_endpoint_to_sockaddr(&peer.endpoint, AF_INET, &peer.address);
    counters = (gn_wire_counters){0};
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i / 1500 + i % 1500);
}

static void end(void)
{
    gn_wire_close(&wire);
    gn_wire_close(&far);
}

/// Packet `i` of that many bytes; every other one has a body.
static void make(size_t i, uint32_t length)
{
    const uint32_t head = i % 2 && length > 40 ? 40 : length;
    packet[i] = (gn_wire_packet){bytes + 1500 * i, head, length - head, bytes + 1500 * i + head};
}

/// These packets come, in order; all but their padding is counted here. @return messages
static unsigned come(size_t count)
{
    unsigned messages = 0;
    size_t next = 0;
    gn_wire_batch batch;
    gn_endpoint from;
    ck_assert(gn_socket_local(wire.fd, &from));
    for (; gn_wire_receive(&far, heard, sizeof heard, &batch); messages++) {
        ck_assert_uint_eq(batch.from.port, from.port);
        for (size_t at = 0; at < batch.bytes; at += batch.size, next++) {
            ck_assert_uint_lt(next, count);
            const size_t left = batch.bytes - at, one = left < batch.size ? left : batch.size,
                         length = gn_wire_packet_bytes(&packet[next]);
            ck_assert_uint_ge(one, length);
            ck_assert_mem_eq(heard + at, bytes + 1500 * next, length);
            for (size_t i = length; i < one; i++) ck_assert_uint_eq(heard[at + i], 0);
        }
    }
    ck_assert_uint_eq(next, count);
    return messages;
}

START_TEST(one_message)
{
    for (size_t i = 0; i < 40; i++) make(i, i < 39 ? 1400 : 60);
    gn_wire_send(&wire, &peer, packet, 40, &counters);
    ck_assert_uint_eq(counters.calls, 1);
    ck_assert_uint_eq(counters.datagrams, 40);
    ck_assert_uint_eq(counters.padding, 0);
    ck_assert_uint_eq(counters.bytes, 39 * 1400 + 60 + 40 * OVERHEAD);
    ck_assert_uint_eq(come(40), 1);
}
END_TEST

START_TEST(padded)
{
    size_t sum = 0;
    for (size_t i = 0; i < 40; i++) {
        make(i, 1390 + (uint32_t)(i * 7 % 11));
        sum += gn_wire_packet_bytes(&packet[i]);
    }
    gn_wire_send(&wire, &peer, packet, 40, &counters);
    ck_assert_uint_eq(counters.calls, 1);
    ck_assert_uint_gt(counters.padding, 0);
    ck_assert_uint_eq(counters.bytes, sum + counters.padding + 40 * OVERHEAD);
    ck_assert_uint_eq(come(40), 1);
}
END_TEST

// Lengths that do not go together: many messages, and still few calls.
START_TEST(many_messages)
{
    for (size_t i = 0; i < PACKETS; i++) make(i, i % 3 ? 1300 + (uint32_t)(i % 9) : 80);
    gn_wire_send(&wire, &peer, packet, PACKETS, &counters);
    ck_assert_uint_eq(counters.datagrams, PACKETS);
    ck_assert_uint_lt(counters.calls, PACKETS / 6);
    ck_assert_uint_gt(come(PACKETS), PACKETS / 3);
}
END_TEST

START_TEST(without_segmentation)
{
    wire.segmentation = false;
    for (size_t i = 0; i < PACKETS; i++) make(i, 1000);
    gn_wire_send(&wire, &peer, packet, PACKETS, &counters);
    ck_assert_uint_eq(counters.datagrams, PACKETS);
    ck_assert_uint_eq(counters.bytes, PACKETS * (1000 + OVERHEAD));
    ck_assert_uint_eq(counters.padding, 0);
    ck_assert_uint_eq(come(PACKETS), PACKETS);
}
END_TEST

// A packet that is too large is counted and left out; so is a message whose datagrams are (EINVAL
// of older kernels). What comes before and behind it arrives.
START_TEST(too_big)
{
    static uint8_t large[65535];
    const int on = 1;
    packet[0] = (gn_wire_packet){.head = large, .head_bytes = sizeof large};
    make(1, 1000);
    gn_wire_send(&wire, &peer, packet, 2, &counters);
    ck_assert_uint_eq(counters.too_big, 1);
    ck_assert_int_eq(counters.last_error, EMSGSIZE);
    ck_assert_uint_eq(counters.datagrams, 1);
    gn_wire_batch batch;
    ck_assert_int_eq(gn_wire_receive(&far, heard, sizeof heard, &batch), 1);
    ck_assert_uint_eq(batch.bytes, 1000);
    ck_assert_int_eq(setsockopt(wire.fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
    for (size_t i = 0; i < 12; i++) make(i, i < 10 ? 1400 : 100);  // eleven are one message
    gn_wire_send(&wire, &peer, packet, 12, &counters);
    ck_assert_uint_eq(counters.too_big, 12);
    ck_assert_uint_eq(counters.datagrams, 2);
    ck_assert_uint_eq(counters.errors, 0);
    ck_assert(wire.segmentation);
}
END_TEST

static int option_of(int fd, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof value;
    ck_assert_int_eq(getsockopt(fd, level, name, &value, &length), 0);
    return value;
}

// A datagram never travels in fragments, whichever version carries it: DF is set, and what is
// larger than the path's MTU is refused here.
START_TEST(no_fragments)
{
    const gn_endpoint any = {.ip = {.version = 6}};
    gn_wire six;
    gn_error error;
    ck_assert_int_eq(option_of(wire.fd, IPPROTO_IP, IP_MTU_DISCOVER), IP_PMTUDISC_DO);
    ck_assert_int_eq(gn_wire_open(&six, &any, 1 << 20, false, &error), GN_OK);
    ck_assert_int_eq(option_of(six.fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER), IP_PMTUDISC_DO);
    // It also talks to IPv4 peers.
    ck_assert_int_eq(option_of(six.fd, IPPROTO_IP, IP_MTU_DISCOVER), IP_PMTUDISC_DO);
    gn_wire_close(&six);
}
END_TEST

// A queue that stays full holds up the NIC's thread for 0.2 s, not for good. The thread also has to
// end.
START_TEST(a_send_does_not_wait_for_good)
{
    struct timeval limit = {0};
    socklen_t length = sizeof limit;
    ck_assert_int_eq(getsockopt(wire.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &length), 0);
    ck_assert_int_eq(limit.tv_sec, 0);
    ck_assert_int_ge(limit.tv_usec, 190000);
    ck_assert_int_le(limit.tv_usec, 210000);
}
END_TEST

// What an IPv6 datagram costs on the link, to an IPv6 peer and to an IPv4 one at the same socket.
START_TEST(bytes_to_both_versions)
{
    static const struct {
        const char *listen;
        unsigned headers;
    } cases[] = {{"[::1]", 40 + 8 + 14}, {"127.0.0.1", 20 + 8 + 14}};
    const gn_endpoint any = {.ip = {.version = 6}};
    gn_wire six;
    gn_error error;
    ck_assert_int_eq(gn_wire_open(&six, &any, 1 << 20, false, &error), GN_OK);
    for (size_t i = 0; i < 2; i++) {
        gn_endpoint at;
        gn_wire there;
        gn_wire_counters sent = {0};
        ck_assert_int_eq(gn_endpoint_parse(cases[i].listen, &at, &error), GN_OK);
        at.port = 0;
        ck_assert_int_eq(gn_wire_open(&there, &at, 1 << 20, false, &error), GN_OK);
        gn_peer to = {0};
        ck_assert(gn_socket_local(there.fd, &to.endpoint));
        to.address_length = gn_endpoint_to_sockaddr(&to.endpoint, AF_INET6, &to.address);
        for (size_t n = 0; n < 7; n++) make(n, n < 6 ? 1000 : 77);
        gn_wire_send(&six, &to, packet, 7, &sent);
        ck_assert_uint_eq(sent.errors, 0);
        ck_assert_uint_eq(sent.datagrams, 7);
        ck_assert_uint_eq(sent.bytes, 6 * 1000 + 77 + 7 * cases[i].headers);
        gn_wire_close(&there);
    }
    gn_wire_close(&six);
}
END_TEST

START_TEST(closed)
{
    gn_wire none = {.fd = -1, .segmentation = true};
    for (size_t i = 0; i < 100; i++) make(i, i % 2 ? 1000 : 100);
    gn_wire_send(&none, &peer, packet, 100, &counters);
    ck_assert_uint_eq(counters.errors, 100);
    ck_assert_int_eq(counters.last_error, EBADF);
    ck_assert_uint_eq(counters.calls + counters.datagrams + counters.bytes, 0);
}
END_TEST

int main(void)
{
    return RUN_SUITE("wire", begin, end, one_message, padded, many_messages, without_segmentation, too_big,
                     no_fragments, a_send_does_not_wait_for_good, bytes_to_both_versions, closed);
}
