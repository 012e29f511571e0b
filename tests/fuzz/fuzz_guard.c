// SPDX-License-Identifier: Apache-2.0
// Any bytes as two segments of one flow. What the guard leaves alone fits the MTU, and a receiver
// hands on the same payload, whatever it begins with.
//
// Input: phase, gso_size (16 bits, little-endian), MTU less 576 (16 bits), two bytes that mean
// nothing, packet.
#include <stdlib.h>
#include <string.h>

#include "driver/guard.h"
#include "driver/too_big.h"
#include "fuzz.h"

enum { HEAD = 7, LEAST_MTU = 576 };

static gn_burst burst;

static void receive(gn_rx *rx, const uint8_t *packet, size_t length, const uint8_t *payload, size_t *done, size_t all)
{
    static uint8_t out[GN_PACKET_MAX];
    size_t bytes = length;
    gn_headers h;
    const gn_verdict verdict = gn_rx_packet(rx, packet, length, out, sizeof out, &bytes);
    check(verdict != GN_VERDICT_DROP);
    if (verdict == GN_VERDICT_PASS) memcpy(out, packet, length);
    check(gn_packet_parse(out, bytes, &h) == GN_PARSE_OK);
    const size_t got = (size_t)(h.end - h.payload);
    check(got <= all - *done && !memcmp(out + h.payload, payload + *done, got));
    *done += got;
}

static void check_left(const gn_segment *segment, const gn_headers_cut *cut, size_t mtu)
{
    static uint8_t packet[GN_PACKET_MAX];
    gn_headers h;
    gn_rx *rx;
    size_t done = 0;
    check(gn_packet_parse(segment->packet, segment->length, &h) == GN_PARSE_OK);
    check(gn_rx_new(&rx, &(gn_rx_config){0}) == GN_OK);
    const size_t all = (size_t)(h.end - h.payload);
    for (unsigned i = 0; i < burst.count; i++) {
        const size_t at = cut->header_bytes ? i * cut->header_bytes : burst.offset[i];
        size_t length = cut->header_bytes ? cut->header_bytes : burst.offset[i + 1] - at;
        check(length <= sizeof packet);
        memcpy(packet, burst.data + at, length);
        if (cut->header_bytes) {
            const size_t from = i * cut->piece, piece = all - from < cut->piece ? all - from : cut->piece;
            memcpy(packet + length, segment->packet + cut->payload_offset + from, piece);
            length += piece;
        }
        check(length <= mtu);
        receive(rx, packet, length, segment->packet + h.payload, &done, all);
    }
    check(done == all);
    gn_rx_free(rx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD) return 0;
    const size_t length = size - HEAD, mtu = LEAST_MTU + (data[3] | (size_t)data[4] << 8);
    const gn_rule rule = gn_rule_default();
    gn_datapath *datapath;
    gn_error error;
    gn_headers_cut cut;
    uint8_t *packet = exact(length);
    static gn_guard *guard;  // one, so that it logs no more than its limit
    if (!guard) guard = gn_guard_new("gn0");
    memcpy(packet, data + HEAD, length);
    check(guard &&
          !gn_datapath_open(&datapath, &gn_engine_model, &(gn_engine_config){.rules = &rule, .rule_count = 1}, &error));
    gn_segment segment = {.packet = packet, .length = length, .gso_size = (uint16_t)(data[1] | data[2] << 8)};
    gn_headers h;
    gn_ip to;
    (void)gn_too_big_read(packet, length, &to);  // the NIC looks for such messages, too
    if (gn_packet_parse(packet, length, &h) == GN_PARSE_OK && h.protocol == GN_PROTOCOL_TCP) {
        // The flow's SYN: the same packet with other flags.
        uint8_t *syn = exact(length);
        memcpy(syn, packet, length);
        syn[h.l4 + 7] = (uint8_t)(syn[h.l4 + 7] - data[0]);
        syn[h.l4 + 13] = GN_TCP_SYN;
        (void)gn_datapath_head(datapath, syn, length);
        check(!gn_guard_leaves(guard, datapath, &rule, 1, &(gn_segment){.packet = syn, .length = length}, 1));
        free(syn);
    }
    for (uint64_t now = 2; now < 4; now++)
        if (gn_guard_leaves(guard, datapath, &rule, 1, &segment, now) &&
            gn_guard_cut(guard, &segment, mtu, &burst, &cut) == GN_OK)
            check_left(&segment, &cut, mtu);
    check(!memcmp(packet, data + HEAD, length));
    gn_guard_forget(guard);
    gn_datapath_close(datapath);
    free(packet);
    return 0;
}
