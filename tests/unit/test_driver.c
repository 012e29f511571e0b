// SPDX-License-Identifier: Apache-2.0
// The parts of the NIC that need no kernel: addresses, peers, batches of datagrams, a link's rate
// and faults.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gradnic/packet.h>

#include "driver/inner.h"
#include "driver/onward.h"
#include "driver/peers.h"
#include "driver/rate.h"
#include "driver/too_big.h"
#include "driver/wire.h"
#include "net/error.h"
#include "net/fault.h"
#include "suite.h"

START_TEST(endpoints)
{
    static const struct {
        const char *text, *back;
    } good[] = {{"192.0.2.1", "192.0.2.1:7777"},
                {"192.0.2.1:80", "192.0.2.1:80"},
                {"[2001:db8::1]:9", "[2001:db8::1]:9"},
                {"[::1]", "[::1]:7777"}};
    static const char *const bad[] = {"",           "1.2.3", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:65536",   "1.2.3.4:-1",
                                      "1.2.3.4: 5", "::1",   "[::1",     "[::1]x",    "[::1%nowhere]:1", "host:1"};
    gn_endpoint endpoint;
    gn_error error;
    char text[GN_ENDPOINT_TEXT];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_int_eq(gn_endpoint_parse(good[i].text, &endpoint, &error), 0);
        ck_assert_str_eq(gn_endpoint_format(&endpoint, text), good[i].back);
        for (int family = AF_INET; family; family = family == AF_INET ? AF_INET6 : 0) {
            struct sockaddr_storage address;
            if (family == AF_INET && endpoint.ip.version == 6) continue;
            gn_endpoint_to_sockaddr(&endpoint, family, &address);
            const gn_endpoint back = gn_endpoint_from_sockaddr(&address);
            ck_assert_str_eq(gn_endpoint_format(&back, text), good[i].back);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(gn_endpoint_parse(bad[i], &endpoint, &error) == GN_INVALID, "%s", bad[i]);
}
END_TEST

static gn_ip ip_of(const char *text)
{
    gn_prefix prefix;
    ck_assert_int_eq(gn_prefix_parse(text, &prefix, NULL), 0);
    return prefix.ip;
}

static void expect_route(const gn_peers *peers, const char *ip, const char *endpoint)
{
    char text[GN_ENDPOINT_TEXT];
    const gn_ip wanted = ip_of(ip);
    const gn_peer *peer = gn_peers_route(peers, &wanted);
    if (!endpoint)
        ck_assert_ptr_null(peer);
    else
        ck_assert_str_eq(gn_endpoint_format(&peer->endpoint, text), endpoint);
}

START_TEST(longest_prefix)
{
    gn_peers *peers = gn_peers_new();
    ck_assert_int_eq(gn_peers_add(peers, "10.0.0.0/8,fd77::/16=192.0.2.1", NULL), 0);
    ck_assert_int_eq(gn_peers_add(peers, "10.77.0.0/16=192.0.2.2", NULL), 0);
    ck_assert_int_eq(gn_peers_add(peers, "10.77.0.5,fd77::5=[2001:db8::3]:1", NULL), 0);
    ck_assert_int_eq(gn_peers_add(peers, "10.77.3.0/25=192.0.2.1:7777", NULL), 0);
    ck_assert_int_eq(gn_peers_seal(peers, AF_INET6, NULL), 0);
    ck_assert_uint_eq(gn_peers_count(peers), 3);
    expect_route(peers, "10.1.2.3", "192.0.2.1:7777");
    expect_route(peers, "10.77.9.9", "192.0.2.2:7777");
    expect_route(peers, "10.77.0.5", "[2001:db8::3]:1");
    expect_route(peers, "10.77.3.127", "192.0.2.1:7777");
    expect_route(peers, "10.77.3.128", "192.0.2.2:7777");
    expect_route(peers, "11.0.0.1", NULL);
    expect_route(peers, "fd77::5", "[2001:db8::3]:1");
    expect_route(peers, "fd77::6", "192.0.2.1:7777");
    expect_route(peers, "::a00:1", NULL);  // the bytes of 10.0.0.1, but IPv6
    gn_endpoint from;
    ck_assert_int_eq(gn_endpoint_parse("192.0.2.2:7777", &from, NULL), 0);
    ck_assert_ptr_nonnull(gn_peers_find(peers, &from));
    from.port = 7778;
    ck_assert_ptr_null(gn_peers_find(peers, &from));
    gn_peers_free(peers);
}
END_TEST

START_TEST(peers_refused)
{
    static const char *const bad[] = {"",
                                      "=1.2.3.4",
                                      "10.0.0.1",
                                      "10.0.0.1/33=1.2.3.4",
                                      "10.0.0.1/=1.2.3.4",
                                      ",=1.2.3.4",
                                      "10.0.0.1=x:0",
                                      "10.0.0.1=x y",
                                      "10.0.0.1=1.2.3",
                                      "10.0.0.1/3 2=1.2.3.4",
                                      "10.88.0.2/24=1.2.3.4",
                                      "10.0.0.1=0.0.0.0",
                                      "10.0.0.1=[::]:7",
                                      "10.0.0.1=224.0.0.1",
                                      "10.0.0.1=255.255.255.255",
                                      "10.0.0.1=[ff02::1]",
                                      "fd77::1/64=1.2.3.4"};
    gn_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gn_peers *peers = gn_peers_new();
        ck_assert_msg(gn_peers_add(peers, bad[i], &error) == GN_INVALID, "%s", bad[i]);
        gn_peers_free(peers);
    }
    gn_peers *peers = gn_peers_new();
    static const char text[] = "10.0.0.1=192.0.2.1\n# comment\n  10.0.0.2=[2001:db8::1]  # more\n10.0.0.3\n";
    ck_assert_int_eq(gn_peers_parse(peers, "peers.txt", text, strlen(text), &error), GN_INVALID);
    ck_assert_ptr_eq(strstr(error.text, "peers.txt: line 4: "), error.text);
    ck_assert_int_eq(gn_peers_seal(peers, AF_INET, &error), GN_INVALID);  // an IPv6 peer, an IPv4 wire
    ck_assert_int_eq(gn_peers_add(peers, "10.0.0.1/32=192.0.2.9", NULL), 0);
    ck_assert_int_eq(gn_peers_seal(peers, AF_INET6, &error), GN_INVALID);
    ck_assert_str_eq(error.text, "overlay prefix 10.0.0.1/32 is given twice");
    gn_peers_free(peers);
}
END_TEST

/// No peer of a file is left out silently.
START_TEST(peers_in_files)
{
    static const struct {
        const char *text, *wrong;
        size_t length, peers;
    } cases[] = {
        {"", NULL, 0, 0},
        {"10.0.0.1=192.0.2.1\n# caf\xff\n10.0.0.2=192.0.2.2\n", NULL, 45, 2},
        {"10.0.0.1=192.0.2.1\n\0\n10.0.0.2=192.0.2.2\n", "line 2 has a zero byte", 40, 1},
        {"10.0.0.1=192.0.2.1 10.0.0.2=192.0.2.2\n", "line 1: one peer a line", 38, 0},
    };
    char folder[] = "/tmp/gradnic-peers-XXXXXX", path[64];
    gn_error error = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/peers", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gn_peers *peers = gn_peers_new();
        FILE *file = fopen(path, "wb");
        ck_assert_ptr_nonnull(file);
        ck_assert_uint_eq(fwrite(cases[i].text, 1, cases[i].length, file), cases[i].length);
        ck_assert_int_eq(fclose(file), 0);
        ck_assert_int_eq(gn_peers_load(peers, path, &error), cases[i].wrong ? GN_INVALID : GN_OK);
        if (cases[i].wrong) ck_assert_ptr_nonnull(strstr(error.text, cases[i].wrong));
        ck_assert_uint_eq(gn_peers_count(peers), cases[i].peers);
        gn_peers_free(peers);
        ck_assert_int_eq(unlink(path), 0);
    }
    static const char *const no_files[] = {"/", "/dev/zero", "/dev/null"};
    for (size_t i = 0; i < 3; i++) {
        gn_peers *peers = gn_peers_new();
        ck_assert_int_eq(gn_peers_load(peers, no_files[i], &error), GN_INVALID);
        ck_assert_ptr_nonnull(strstr(error.text, ": not a regular file"));
        gn_peers_free(peers);
    }
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    gn_peers *peers = gn_peers_new();
    ck_assert_int_eq(gn_peers_load(peers, path, &error), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, ": not a regular file"));
    gn_peers_free(peers);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(peers_by_name)
{
    gn_error error;
    gn_peers *peers = gn_peers_new();
    ck_assert_int_eq(gn_peers_add(peers, "10.0.0.1=localhost", &error), 0);
    ck_assert_int_eq(gn_peers_add(peers, "10.0.0.2=localhost:7777", &error), 0);
    ck_assert_int_eq(gn_peers_add(peers, "10.0.0.3=localhost:7778", &error), 0);
    ck_assert_uint_eq(gn_peers_count(peers), 2);
    ck_assert_fails(gn_peers_seal(peers, AF_INET, &error), "peer localhost has no address yet");
    ck_assert_int_eq(gn_peers_resolve(peers, AF_INET, &error), 0);
    ck_assert_int_eq(gn_peers_seal(peers, AF_INET, &error), 0);
    expect_route(peers, "10.0.0.1", "127.0.0.1:7777");
    expect_route(peers, "10.0.0.2", "127.0.0.1:7777");
    expect_route(peers, "10.0.0.3", "127.0.0.1:7778");
    gn_peers_free(peers);

    peers = gn_peers_new();
    ck_assert_int_eq(gn_peers_add(peers, "10.0.0.1=localhost", &error), 0);
    ck_assert_int_eq(gn_peers_add(peers, "10.0.0.2=127.0.0.1", &error), 0);
    ck_assert_int_eq(gn_peers_resolve(peers, AF_INET, &error), 0);
    ck_assert_int_eq(gn_peers_seal(peers, AF_INET, &error), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "peer 127.0.0.1:7777 is given as "));
    gn_peers_free(peers);

    peers = gn_peers_new();
    ck_assert_int_eq(gn_peers_add(peers, "10.0.0.1=no.such.host.invalid", &error), 0);
    ck_assert_int_ne(gn_peers_resolve(peers, AF_INET, &error), 0);
    ck_assert_ptr_eq(strstr(error.text, "peer no.such.host.invalid: host 'no.such.host.invalid': "), error.text);
    gn_peers_free(peers);
}
END_TEST

// One address, several ports: each is a peer of its own, in both directions. And an address of one
// link is another one on another link.
START_TEST(peers_at_one_address)
{
    gn_error error;
    gn_endpoint from;
    gn_peers *peers = gn_peers_new();
    ck_assert_int_eq(gn_peers_add(peers, "10.0.0.1=192.0.2.1:7001", &error), 0);
    ck_assert_int_eq(gn_peers_add(peers, "10.0.0.2=192.0.2.1:7002", &error), 0);
    ck_assert_int_eq(gn_peers_add(peers, "10.0.0.3=[fe80::1%lo]:7001", &error), 0);
    ck_assert_int_eq(gn_peers_add(peers, "10.0.0.4=[fe80::1]:7001", &error), 0);
    ck_assert_int_eq(gn_peers_seal(peers, AF_INET6, &error), 0);
    ck_assert_uint_eq(gn_peers_count(peers), 4);
    expect_route(peers, "10.0.0.1", "192.0.2.1:7001");
    expect_route(peers, "10.0.0.2", "192.0.2.1:7002");
    expect_route(peers, "10.0.0.3", "[fe80::1%lo]:7001");
    expect_route(peers, "10.0.0.4", "[fe80::1]:7001");
    static const char *const senders[] = {"192.0.2.1:7001", "192.0.2.1:7002", "[fe80::1%lo]:7001", "[fe80::1]:7001"};
    for (unsigned i = 0; i < 4; i++) {
        char ip[16];
        snprintf(ip, sizeof ip, "10.0.0.%u", i + 1);
        const gn_ip behind = ip_of(ip);
        ck_assert_int_eq(gn_endpoint_parse(senders[i], &from, &error), 0);
        ck_assert_ptr_eq(gn_peers_find(peers, &from), gn_peers_route(peers, &behind));
    }
    ck_assert_int_eq(gn_endpoint_parse("192.0.2.1:7003", &from, &error), 0);
    ck_assert_ptr_null(gn_peers_find(peers, &from));
    // What the kernel says of a sender keeps the scope.
    struct sockaddr_storage address;
    ck_assert_int_eq(gn_endpoint_parse("[fe80::1%lo]:7001", &from, &error), 0);
    gn_endpoint_to_sockaddr(&from, AF_INET6, &address);
    const gn_endpoint back = gn_endpoint_from_sockaddr(&address);
    ck_assert_ptr_eq(gn_peers_find(peers, &back), gn_peers_find(peers, &from));
    gn_peers_free(peers);
}
END_TEST

// Packets of these sizes, planned call by call; checks what the kernel demands of every call.
static size_t plan_all(const unsigned *sizes, size_t count, size_t *padding)
{
    gn_wire_packet packets[200];
    size_t calls = 0, at = 0;
    *padding = 0;
    for (size_t i = 0; i < count; i++)
        packets[i] = (gn_wire_packet){.head_bytes = sizes[i] / 2, .body_bytes = sizes[i] - sizes[i] / 2};
    while (at < count) {
        size_t size, pad, sum = 0;
        const size_t taken = gn_wire_plan(packets + at, count - at, &size, &pad);
        ck_assert_uint_ge(taken, 1);
        ck_assert_uint_le(taken, count - at);
        ck_assert_uint_le(taken, GN_WIRE_SEGMENTS_MAX);
        for (size_t i = 0; i < taken; i++) {
            ck_assert_uint_le(sizes[at + i], size);
            if (i + 1 < taken) sum += size - sizes[at + i];
        }
        ck_assert_uint_eq(sum, pad);
        if (taken > 1) ck_assert_uint_le(size * taken, GN_WIRE_BATCH_BYTES);
        *padding += pad;
        at += taken;
        calls++;
    }
    return calls;
}

START_TEST(batches)
{
    size_t padding;
    unsigned sizes[200];
    for (size_t i = 0; i < 200; i++) sizes[i] = 1472;
    ck_assert_uint_eq(plan_all(sizes, 44, &padding), 1);
    ck_assert_uint_eq(plan_all(sizes, 45, &padding), 2);
    ck_assert_uint_eq(padding, 0);
    sizes[43] = 60;  // the last may be short
    ck_assert_uint_eq(plan_all(sizes, 44, &padding), 1);
    ck_assert_uint_eq(padding, 0);
    sizes[43] = 1472;
    sizes[20] = 60;  // one in the middle may not, but its padding is a small share of the whole
    ck_assert_uint_eq(plan_all(sizes, 44, &padding), 1);
    ck_assert_uint_eq(padding, 1412);
    for (size_t i = 0; i < 40; i++) sizes[i] = 1460 + (unsigned)i % 12;  // nearly equal: one call
    ck_assert_uint_eq(plan_all(sizes, 40, &padding), 1);
    ck_assert_uint_gt(padding, 0);
    for (size_t i = 0; i < 40; i++) sizes[i] = i % 2 ? 1400 : 300;  // not: padding would cost more than a call
    ck_assert_uint_ge(plan_all(sizes, 40, &padding), 20);
    for (size_t i = 0; i < 200; i++) sizes[i] = 52;
    ck_assert_uint_eq(plan_all(sizes, 200, &padding), 4);
    sizes[0] = 65535;
    ck_assert_uint_eq(plan_all(sizes, 1, &padding), 1);
}
END_TEST

START_TEST(rates)
{
    gn_rate rate;
    uint64_t now = 5000000000;
    gn_rate_set(&rate, 0, now);
    gn_rate_charge(&rate, 1 << 20, now);
    ck_assert_uint_eq(gn_rate_wait(&rate, now), 0);
    gn_rate_set(&rate, 100000000, now);
    uint64_t sent = 0;
    const uint64_t started = now;
    // Wakes up to 3 ms late every time, for ten seconds: the credit makes up for it.
    for (unsigned i = 0; now < started + 10000000000; i++) {
        const uint64_t wait = gn_rate_wait(&rate, now);
        if (wait) now += wait + i * 7919 % 3000000;
        gn_rate_charge(&rate, 66000, now);
        sent += 66000;
    }
    const double mbit = (double)sent * 8e3 / (double)(now - started);
    ck_assert_double_ge(mbit, 99);
    ck_assert_double_le(mbit, 101);
    // An idle hour gives no more credit than the burst.
    now += 3600000000000;
    uint64_t burst = 0;
    while (!gn_rate_wait(&rate, now)) gn_rate_charge(&rate, 1500, now), burst += 1500;
    ck_assert_uint_le(burst, GN_RATE_BURST_BYTES + 1500);
}
END_TEST

static void count_fates(uint64_t seed, unsigned skip, gn_fault_counters *counters)
{
    const gn_fault_config config = {.seed = seed, .loss = 0.1, .duplicate = 0.05, .reorder = 0.2, .delay_ns = 1000};
    gn_fault *fault = gn_fault_new(&config);
    gn_wire wire = {.fd = -1};
    const gn_peer peer = {.endpoint.ip.version = 4};
    gn_wire_counters sent = {0};
    gn_wire_end end = {&wire, &sent};
    const gn_fault_sink link = {gn_wire_sink, &end};
    const uint8_t byte = 7;
    const gn_wire_packet packet = {.head = &byte, .head_bytes = 1};
    for (unsigned i = 0; i < 20000; i++) gn_fault_send(fault, &link, &peer, &packet, 1, i / (skip + 1));
    *counters = *gn_fault_get_counters(fault);
    ck_assert_uint_eq(counters->delayed, 20000 - counters->lost + counters->duplicated);
    ck_assert_uint_eq(gn_fault_release(fault, &link, UINT64_MAX), UINT64_MAX);
    ck_assert_uint_eq(sent.errors, counters->delayed);  // all of them came out again (to a socket that is none)
    gn_fault_free(fault);
}

START_TEST(faults)
{
    gn_fault_counters a, b, c;
    count_fates(1, 0, &a);
    count_fates(1, 3, &b);
    count_fates(2, 0, &c);
    ck_assert_mem_eq(&a, &b, sizeof a);  // the seed alone decides
    ck_assert_uint_ne(a.lost, c.lost);
    // Within five standard deviations.
    ck_assert_double_le(fabs((double)a.lost - 2000), 5 * sqrt(2000 * 0.9));
    ck_assert_double_le(fabs((double)a.duplicated - 900), 5 * sqrt(900));
    ck_assert_double_le(fabs((double)a.reordered - 3600), 5 * sqrt(3600));
}
END_TEST

START_TEST(inner_packets)
{
    uint8_t v4[28] = {0x45, 0, 0, 24, [12] = 10, 77, 0, 2, 10, 77, 0, 1},
            v6[48] = {0x60, [5] = 6, [8] = 0xfd, [24] = 0xfd, [39] = 9};
    gn_inner inner;
    ck_assert(gn_inner_read(v4, 28, &inner));
    ck_assert_uint_eq(inner.length, 24);
    ck_assert_uint_eq(inner.source.bytes[3], 2);
    ck_assert_uint_eq(inner.destination.bytes[3], 1);
    ck_assert(!gn_inner_read(v4, 23, &inner));
    ck_assert(!gn_inner_read(v4, 0, &inner));
    ck_assert(gn_inner_read(v6, 48, &inner));
    ck_assert_uint_eq(inner.length, 46);
    ck_assert_uint_eq(inner.destination.bytes[15], 9);
    ck_assert(!gn_inner_read(v6, 45, &inner));
    v4[0] = 0x44;
    ck_assert(!gn_inner_read(v4, 28, &inner));
    v4[0] = 0x55;
    ck_assert(!gn_inner_read(v4, 28, &inner));
    v4[0] = 0x4f;  // a header longer than the packet
    ck_assert(!gn_inner_read(v4, 28, &inner));
}
END_TEST

START_TEST(ip_headers)
{
    uint8_t v4[40] = {0x46, 0x2a, 0, 30, [6] = 0x20, 3, 64, 17, [12] = 10, 77, 0, 2, 10, 77, 0, 1},
            v6[48] = {0x62, 0x90, [5] = 8, 44, [8] = 0xfd, [24] = 0xfd};
    gn_ip_header ip;
    ck_assert(gn_ip_header_read(v4, 40, &ip));
    ck_assert_uint_eq(ip.version, 4);
    ck_assert_uint_eq(ip.tos, 0x2a);
    ck_assert_uint_eq(ip.protocol, 17);
    ck_assert_uint_eq(ip.source, 12);
    ck_assert_uint_eq(ip.destination, 16);
    ck_assert_uint_eq(ip.address_bytes, 4);
    ck_assert(ip.more_fragments);
    ck_assert_uint_eq(ip.fragment_offset, 3);
    ck_assert_uint_eq(ip.payload, 24);
    ck_assert_uint_eq(ip.end, 30);
    v4[6] = 0x40;  // "don't fragment"
    v4[7] = 0;
    ck_assert(gn_ip_header_read(v4, 40, &ip));
    ck_assert(!ip.more_fragments);
    ck_assert_uint_eq(ip.fragment_offset, 0);
    ck_assert(gn_ip_header_read(v6, 48, &ip));
    ck_assert_uint_eq(ip.version, 6);
    ck_assert_uint_eq(ip.tos, 0x29);
    ck_assert_uint_eq(ip.protocol, 44);
    ck_assert_uint_eq(ip.source, 8);
    ck_assert_uint_eq(ip.destination, 24);
    ck_assert_uint_eq(ip.address_bytes, 16);
    ck_assert_uint_eq(ip.payload, 40);
    ck_assert_uint_eq(ip.end, 48);
    ck_assert_uint_eq(gn_packet_version(v6, 48), 6);
    ck_assert_uint_eq(gn_packet_version(v6, 0), 0);
}
END_TEST

static unsigned word_at(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

START_TEST(too_big_messages)
{
    uint8_t v4[600] = {0x45, 0, 600 >> 8, 600 & 255, [8] = 64, 17, [12] = 10, 77, 0, 1, 10, 77, 0, 2, [599] = 9};
    uint8_t v6[1400] = {0x60, [4] = 1360 >> 8, 1360 & 255, 6, [8] = 0xfd, [23] = 1, 0xfd, [39] = 2};
    uint8_t out[GN_TOO_BIG_BYTES];
    gn_inner inner;
    ck_assert_uint_eq(gn_too_big_make(v4, sizeof v4, 500, out), 576);
    ck_assert(gn_inner_read(out, 576, &inner));
    ck_assert_uint_eq(out[6], 0x40);  // it is never cut itself
    ck_assert_uint_eq(inner.source.bytes[3], 2);
    ck_assert_uint_eq(inner.destination.bytes[3], 1);
    ck_assert_uint_eq(gn_checksum_finish(gn_checksum_add(0, out, 20)), 0);
    ck_assert_uint_eq(gn_checksum_finish(gn_checksum_add(0, out + 20, 556)), 0);
    ck_assert_uint_eq(word_at(out + 20), 0x304);
    ck_assert_uint_eq(word_at(out + 26), 500);
    ck_assert_mem_eq(out + 28, v4, 548);
    // The host's own messages are read. This one is as good as them.
    gn_ip to;
    ck_assert_uint_eq(gn_too_big_read(out, 576, &to), 500);
    ck_assert(to.version == 4 && to.bytes[3] == 2);
    ck_assert_uint_eq(gn_too_big_read(out, 575, &to), 0);
    ck_assert_uint_eq(gn_too_big_read(v4, sizeof v4, &to), 0);
    out[21] = 1;
    ck_assert_uint_eq(gn_too_big_read(out, 576, &to), 0);
    ck_assert_uint_eq(gn_too_big_make(v6, sizeof v6, 1300, out), sizeof out);
    ck_assert(gn_inner_read(out, sizeof out, &inner));
    ck_assert_uint_eq(inner.destination.bytes[15], 1);
    ck_assert_uint_eq(word_at(out + 40), 0x200);
    ck_assert_uint_eq(word_at(out + 46), 1300);
    const uint8_t pseudo[4] = {1240 >> 8, 1240 & 255, 0, 58};
    const uint32_t sum = gn_checksum_add(gn_checksum_add(0, out + 8, 32), pseudo, 4);
    ck_assert_uint_eq(gn_checksum_finish(gn_checksum_add(sum, out + 40, 1240)), 0);
    ck_assert_uint_eq(gn_too_big_read(out, sizeof out, &to), 1300);
    ck_assert(to.version == 6 && to.bytes[15] == 2);
    out[45] = 1;  // 66836 is more than any packet has
    ck_assert_uint_eq(gn_too_big_read(out, sizeof out, &to), 0);
    // No answer to an ICMP error, to a later fragment, to many.
    v4[9] = 1, v4[20] = 3;
    ck_assert_uint_eq(gn_too_big_make(v4, sizeof v4, 500, out), 0);
    v4[20] = 8;
    ck_assert_uint_gt(gn_too_big_make(v4, sizeof v4, 500, out), 0);
    v4[7] = 1;
    ck_assert_uint_eq(gn_too_big_make(v4, sizeof v4, 500, out), 0);
    v4[7] = 0, v4[16] = 224;
    ck_assert_uint_eq(gn_too_big_make(v4, sizeof v4, 500, out), 0);
    v6[6] = 58, v6[40] = 1;
    ck_assert_uint_eq(gn_too_big_make(v6, sizeof v6, 1300, out), 0);
}
END_TEST

START_TEST(ways_onward)
{
    static gn_onward onward;
    gn_ip to = {.version = 4, .bytes = {10, 0, 0, 1}}, six = {.version = 6, .bytes = {0xfd}};
    const uint64_t now = 5 * GN_SECOND;
    gn_onward_init(&onward);
    ck_assert_uint_eq(gn_onward_mtu(&onward, &to, now), 0);
    gn_onward_note(&onward, &to, 1400, now);
    gn_onward_note(&onward, &six, 100, now);
    ck_assert_uint_eq(gn_onward_mtu(&onward, &to, now), 1400);
    ck_assert_uint_eq(gn_onward_mtu(&onward, &six, now), GN_ONWARD_LEAST6);
    gn_onward_note(&onward, &to, 9, now + 1);
    ck_assert_uint_eq(gn_onward_mtu(&onward, &to, now + 1), GN_ONWARD_LEAST4);
    ck_assert_uint_eq(gn_onward_mtu(&onward, &six, now + GN_ONWARD_S * GN_SECOND), GN_ONWARD_LEAST6);
    ck_assert_uint_eq(gn_onward_mtu(&onward, &six, now + GN_ONWARD_S * GN_SECOND + 1), 0);
    unsigned known = 0;
    for (unsigned i = 0; i < 200; i++) {  // a network's hosts
        to.bytes[3] = (uint8_t)(i + 2);
        gn_onward_note(&onward, &to, 1000 + i, now + 2);
    }
    for (unsigned i = 0; i < 200; i++) {
        to.bytes[3] = (uint8_t)(i + 2);
        const unsigned mtu = gn_onward_mtu(&onward, &to, now + 2);
        ck_assert(!mtu || mtu == 1000 + i);
        known += mtu > 0;
    }
    ck_assert_uint_ge(known, 180);
    gn_onward_close(&onward);
}
END_TEST

int main(void)
{
    return RUN_TESTS("driver", endpoints, longest_prefix, peers_refused, peers_in_files, peers_by_name,
                     peers_at_one_address, batches, rates, faults, inner_packets, ip_headers, too_big_messages,
                     ways_onward);
}
