// SPDX-License-Identifier: Apache-2.0
// What a NIC counts of what comes from the wire: bytes are those of the link, with every header and
// all padding, from friends and strangers alike.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "driver/nic_state.h"
#include "suite.h"

static gn_nic nic;
static gn_in *in;
static gn_error error;

static void setup(void)
{
    const gn_rule rule = gn_rule_default();
    const gn_engine_config engine = {.rules = &rule, .rule_count = 1, .partial_checksum = true};
    in = calloc(1, sizeof *in);
    nic = (gn_nic){.in = in, .config.peers = gn_peers_new(), .tun.fd = open("/dev/null", O_WRONLY | O_CLOEXEC)};
    ck_assert(in && nic.tun.fd >= 0);
    ck_assert_int_eq(gn_peers_add(nic.config.peers, "10.77.0.2=192.0.2.2:7777", &error), GN_OK);
    ck_assert_int_eq(gn_peers_add(nic.config.peers, "10.77.0.3=[2001:db8::3]:7777", &error), GN_OK);
    ck_assert_int_eq(gn_peers_seal(nic.config.peers, AF_INET6, &error), GN_OK);
    ck_assert_int_eq(gn_datapath_open(&nic.datapath, &gn_engine_model, &engine, &error), GN_OK);
    gn_onward_init(&nic.onward);
    ck_assert(!gn_coalescer_open(&in->coalescer, &nic.tun, &nic.onward));
}

static void teardown(void)
{
    gn_coalescer_close(&in->coalescer);
    gn_datapath_close(nic.datapath);
    gn_peers_free(nic.config.peers);
    close(nic.tun.fd);
    free(in);
}

/// Datagrams of `size` bytes, each an IPv4 packet of 60 bytes from 10.77.0.`host` and padding.
static void come(const char *from, uint8_t host, size_t bytes, size_t size)
{
    gn_wire_batch batch = {.bytes = bytes, .size = size};
    ck_assert_int_eq(gn_endpoint_parse(from, &batch.from, &error), GN_OK);
    memset(in->batch, 0, bytes);
    for (size_t at = 0; at + 60 <= bytes; at += size) {
        const uint8_t header[20] = {0x45, 0, 0, 60, [8] = 64, 253, [12] = 10, 77, 0, host, 10, 77, 0, 1};
        memcpy(in->batch + at, header, sizeof header);
    }
    gn_in_batch(&nic, &batch);
}

START_TEST(bytes_as_on_the_link)
{
    const gn_peer *four = gn_peers_at(nic.config.peers, 0), *six = gn_peers_at(nic.config.peers, 1);
    come("192.0.2.2:7777", 2, 3 * 100, 100);
    ck_assert_uint_eq(in->datagrams, 3);
    ck_assert_uint_eq(in->bytes, 3 * (100 + 20 + 8 + 14));
    ck_assert_uint_eq(four->counters.rx_packets, 3);
    ck_assert_uint_eq(four->counters.rx_bytes, 3 * 60);
    in->bytes = 0;
    come("[2001:db8::3]:7777", 3, 2 * 100 + 61, 100);  // the last is shorter
    ck_assert_uint_eq(in->datagrams, 6);
    ck_assert_uint_eq(in->bytes, 261 + 3 * (40 + 8 + 14));
    ck_assert_uint_eq(six->counters.rx_packets, 3);
    in->bytes = 0;
    come("192.0.2.9:7777", 2, 2 * 70, 70);  // a stranger takes as much of the link
    ck_assert_uint_eq(in->unknown_sender, 2);
    ck_assert_uint_eq(in->bytes, 2 * (70 + 42));
    in->bytes = 0;
    come("192.0.2.2:7777", 2, 0, 0);  // and so does an empty datagram
    ck_assert_uint_eq(in->datagrams, 9);
    ck_assert_uint_eq(in->bytes, 42);
    ck_assert_uint_eq(four->counters.rx_bad_packet, 1);
    ck_assert_uint_eq(in->batches, 4);
}
END_TEST

/// The host gets the packet as it came, with a header that says nothing of it.
START_TEST(as_it_came)
{
    uint8_t heard[200];
    int ends[2];
    ck_assert(!pipe2(ends, O_CLOEXEC | O_NONBLOCK));
    close(nic.tun.fd);
    nic.tun.fd = ends[1];
    come("192.0.2.2:7777", 2, 60, 60);
    const struct virtio_net_hdr nothing = {0};
    ck_assert_int_eq(read(ends[0], heard, sizeof heard), sizeof nothing + 60);
    ck_assert_mem_eq(heard, &nothing, sizeof nothing);
    ck_assert_mem_eq(heard + sizeof nothing, in->batch, 60);
    ck_assert_int_eq(read(ends[0], heard, sizeof heard), -1);
    close(ends[0]);
}
END_TEST

int main(void)
{
    return RUN_SUITE("nic in", setup, teardown, bytes_as_on_the_link, as_it_came);
}
