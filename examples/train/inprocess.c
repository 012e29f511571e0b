// SPDX-License-Identifier: Apache-2.0
#include "inprocess.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gradnic/frame.h>

#include "clock.h"

enum {
    IP_BYTES = 20,
    TCP_BYTES = 32,  // with Linux's timestamps
    HEADER_BYTES = IP_BYTES + TCP_BYTES,
    PAYLOAD_MAX = (GN_PACKET_MAX - HEADER_BYTES) / 4 * 4,
    QUEUE_BYTES = 1 << 17,  // of the modelled link
    FIRST_SEQUENCE = 0x5f3759df,
    TCP_SYN = 2,
    TCP_ACK = 16,
};

struct gn_in_process {
    gn_tx *tx;
    gn_rx *rx;
    size_t mtu;
    uint8_t tos;
    uint32_t sequence;
    uint64_t link_bits, free_at;  // when the modelled link will be idle, ns
    gn_in_process_stats stats;
    size_t (*software)(void *context, float *values, size_t count);
    void *software_context;
    uint8_t segment[GN_PACKET_MAX], received[GN_PACKET_MAX];
    gn_burst burst;
};

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value & 0xffff);
}

/// Writes the headers of a TCP segment, as a host gives it to a NIC that completes checksums: the
/// field has the pseudo-header's sum.
/// @return the packet's length
static size_t write_headers(gn_in_process *nic, size_t payload, unsigned flags)
{
    static const uint8_t timestamps[] = {1, 1, 8, 10};  // NOP, NOP, kind, length
    uint8_t *ip = nic->segment, *tcp = ip + IP_BYTES;
    const size_t length = HEADER_BYTES + payload;
    memset(ip, 0, HEADER_BYTES);
    ip[0] = 0x45;
    ip[1] = nic->tos;
    put16(ip + 2, (unsigned)length);
    put16(ip + 6, 0x4000);  // do not fragment
    ip[8] = 64;
    ip[9] = IPPROTO_TCP;
    put32(ip + 12, 0x0a000001);
    put32(ip + 16, 0x0a000002);
    put16(ip + 10, gn_checksum_finish(gn_checksum_add(0, ip, IP_BYTES)));
    put16(tcp, 40000);
    put16(tcp + 2, 40001);
    put32(tcp + 4, nic->sequence);
    tcp[12] = TCP_BYTES / 4 << 4;
    tcp[13] = (uint8_t)flags;
    put16(tcp + 14, 0xffff);
    memcpy(tcp + 20, timestamps, sizeof timestamps);
    const uint8_t rest[4] = {0, IPPROTO_TCP, (uint8_t)((TCP_BYTES + payload) >> 8), (uint8_t)(TCP_BYTES + payload)};
    const uint32_t pseudo = gn_checksum_add(gn_checksum_add(0, ip + 12, 8), rest, sizeof rest);
    put16(tcp + 16, (uint16_t)~gn_checksum_finish(pseudo));
    return length;
}

/// The type of service that the library chooses.
static uint8_t tos_of(const gn_comm_config *config)
{
    if (config->data_tos == GN_TOS_AUTO) return config->quantise ? 0x28 : 0;
    return (uint8_t)config->data_tos;
}

gn_status gn_in_process_new(gn_in_process **result, const gn_train_settings *settings, gn_train_error *error)
{
    gn_in_process *nic = *result = calloc(1, sizeof *nic);
    if (!nic) return gn_train_fail(error, GN_NO_MEMORY, "out of memory for the in-process NIC");
    nic->mtu = settings->mtu;
    nic->tos = tos_of(&settings->comm);
    nic->link_bits = settings->link_bits;
    nic->software = settings->software;
    nic->software_context = settings->software_context;
    nic->sequence = FIRST_SEQUENCE;
    const gn_rule rule = {.tos = nic->tos, .port_high = 65535, .codec = settings->comm.codec};
    const gn_tx_config tx = {.rules = &rule, .rule_count = settings->comm.quantise, .flow_capacity = 1};
    const gn_rx_config rx = {.tos = &nic->tos, .tos_count = settings->comm.quantise};
    gn_status status = gn_tx_new(&nic->tx, &tx);
    if (!status) status = gn_rx_new(&nic->rx, &rx);
    if (!status) return GN_OK;
    gn_in_process_free(nic);
    *result = NULL;
    return gn_train_fail(error, status, "in-process NIC: %s", gn_status_string(status));
}

void gn_in_process_free(gn_in_process *nic)
{
    if (!nic) return;
    gn_tx_free(nic->tx);
    gn_rx_free(nic->rx);
    free(nic);
}

void gn_in_process_connect(gn_in_process *nic, const gn_train_settings *settings, int rank, int size)
{
    if (settings->comm.algorithm == GN_WORKER_AGGREGATOR && rank) nic->link_bits /= (uint64_t)(size - 1);
    size_t ignored;
    const size_t length = write_headers(nic, 0, TCP_SYN);  // tells the NIC the flow's phase
    gn_tx_packet(nic->tx, nic->segment, length, nic->burst.data, sizeof nic->burst.data, &ignored);
    nic->sequence++;
}

static uint64_t time_on_link(const gn_in_process *nic, size_t bytes)
{
    return (uint64_t)((double)bytes * 8e9 / (double)nic->link_bits);
}

/// Queues a burst on the modelled link. Returns when the rest fits into the queue, so the worker
/// computes while the link is busy, as with a real one.
static void pace(gn_in_process *nic, size_t bytes)
{
    if (!nic->link_bits) return;
    const uint64_t now = gn_train_now(), queue = time_on_link(nic, QUEUE_BYTES);
    if (nic->free_at < now) nic->free_at = now;
    nic->free_at += time_on_link(nic, bytes);
    if (nic->free_at < now + queue) return;
    const uint64_t at = nic->free_at - queue;
    const struct timespec until = {(time_t)(at / 1000000000), (long)(at % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) continue;
}

/// The far NIC and host: writes the payload of every packet of the burst to its place.
/// @return bytes restored
static size_t receive(gn_in_process *nic, uint8_t *payload, size_t bytes)
{
    size_t done = 0;
    for (unsigned i = 0; i < nic->burst.count; i++) {
        const uint8_t *packet = nic->burst.data + nic->burst.offset[i];
        const size_t length = nic->burst.offset[i + 1] - nic->burst.offset[i];
        size_t got = length;
        const gn_verdict verdict = gn_rx_packet(nic->rx, packet, length, nic->received, sizeof nic->received, &got);
        if (verdict == GN_VERDICT_DROP || got < HEADER_BYTES || got - HEADER_BYTES > bytes - done) return done;
        memcpy(payload + done, (verdict == GN_VERDICT_WRITE ? nic->received : packet) + HEADER_BYTES,
               got - HEADER_BYTES);
        done += got - HEADER_BYTES;
        nic->stats.packets++;
        nic->stats.wire_payload_bytes += length - HEADER_BYTES;
        nic->stats.wire_bytes += length;
    }
    return done;
}

static void pass_segment(gn_in_process *nic, uint8_t *payload, size_t bytes)
{
    const size_t length = write_headers(nic, bytes, TCP_ACK);
    memcpy(nic->segment + HEADER_BYTES, payload, bytes);
    nic->sequence += (uint32_t)bytes;
    nic->stats.payload_bytes += bytes;
    const gn_segment segment = {.packet = nic->segment,
                                .length = length,
                                .gso_size = (uint16_t)(nic->mtu - GN_SHIM_BYTES - HEADER_BYTES),
                                .partial_checksum = true};
    if (gn_tx_segment(nic->tx, &segment, GN_CUT_FILL, nic->mtu, &nic->burst)) nic->burst.count = 0;
    const uint64_t before = nic->stats.wire_bytes;
    if (receive(nic, payload, bytes) != bytes) nic->stats.lost++;
    pace(nic, (size_t)(nic->stats.wire_bytes - before));
}

/// Packets that NICs leave alone.
/// @return all their bytes, with headers
static size_t count_packets(gn_in_process *nic, size_t bytes)
{
    const size_t piece = nic->mtu - GN_SHIM_BYTES - HEADER_BYTES, packets = (bytes + piece - 1) / piece;
    nic->stats.packets += packets;
    nic->stats.wire_payload_bytes += bytes;
    nic->stats.wire_bytes += bytes + packets * HEADER_BYTES;
    return bytes + packets * HEADER_BYTES;
}

void gn_in_process_wire(void *context, float *values, size_t count)
{
    gn_in_process *nic = context;
    if (nic->software) {
        const size_t compressed = nic->software(nic->software_context, values, count);
        if (count && !compressed) nic->stats.lost++;
        nic->stats.payload_bytes += count * sizeof *values;
        pace(nic, count_packets(nic, compressed));
        return;
    }
    uint8_t *bytes = (uint8_t *)values;
    for (size_t left = count * sizeof *values; left;) {
        const size_t piece = left < PAYLOAD_MAX ? left : PAYLOAD_MAX;
        pass_segment(nic, bytes, piece);
        bytes += piece;
        left -= piece;
    }
}

void gn_in_process_wire_plain(void *context, size_t bytes)
{
    gn_in_process *nic = context;
    nic->stats.payload_bytes += bytes;
    pace(nic, count_packets(nic, bytes));
}

gn_in_process_stats gn_in_process_get_stats(const gn_in_process *nic)
{
    return nic->stats;
}
