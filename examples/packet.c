// SPDX-License-Identifier: Apache-2.0
// What a NIC does to one packet: a UDP datagram of gradients leaves the sender compressed, and
// reaches the receiver as it was, within the error bound.
#include <gradnic/frame.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VALUES = 256, HEADERS = 28, BYTES = HEADERS + 4 * VALUES };

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

// IPv4 and UDP, from 10.0.0.1 to 10.0.0.2, marked with ToS 0x28.
static void make_packet(uint8_t packet[BYTES], const float values[VALUES])
{
    static const uint8_t addresses[8] = {10, 0, 0, 1, 10, 0, 0, 2};
    memset(packet, 0, HEADERS);
    packet[0] = 0x45;             // version 4, a header of 5 words
    packet[1] = GN_TOS_GRADIENT;  // what the default rule compresses
    put16(packet + 2, BYTES);
    packet[8] = 64;  // hops
    packet[9] = GN_PROTOCOL_UDP;
    memcpy(packet + 12, addresses, 8);
    put16(packet + 10, gn_checksum_finish(gn_checksum_add(0, packet, 20)));
    put16(packet + 20, 5000);
    put16(packet + 22, 5001);
    put16(packet + 24, BYTES - 20);
    memcpy(packet + HEADERS, values, 4 * VALUES);

    gn_headers headers;
    gn_packet_parse(packet, BYTES, &headers);
    uint32_t sum = gn_packet_pseudo_sum(packet, &headers);
    put16(packet + 26, gn_checksum_finish(gn_checksum_add(sum, packet + 20, BYTES - 20)));
}

int main(void)
{
    float values[VALUES], arrived[VALUES];
    uint8_t host[BYTES], wire[BYTES + GN_SHIM_BYTES];
    static uint8_t back[GN_PACKET_MAX];
    for (int i = 0; i < VALUES; i++) values[i] = sinf((float)i) / 100;
    make_packet(host, values);

    const gn_rule rule = gn_rule_default();  // ToS 0x28, dense 2^-10
    const gn_tx_config send = {.rules = &rule, .rule_count = 1};
    const gn_rx_config receive = {0};
    gn_tx *tx;
    gn_rx *rx;
    size_t sent, received;
    if (gn_tx_new(&tx, &send) || gn_rx_new(&rx, &receive)) return 1;
    if (gn_tx_packet(tx, host, BYTES, wire, sizeof wire, &sent) != GN_VERDICT_WRITE) return 1;
    if (gn_rx_packet(rx, wire, sent, back, sizeof back, &received) != GN_VERDICT_WRITE) return 1;

    printf("%d bytes on the host, %zu on the wire, %zu back\n", BYTES, sent, received);
    memcpy(arrived, back + HEADERS, sizeof arrived);
    for (int i = 0; i < VALUES; i++)
        if (fabsf(values[i] - arrived[i]) > 0x1p-10f) return 1;
    gn_tx_free(tx);
    gn_rx_free(rx);
    return received == BYTES && sent < BYTES ? 0 : 1;
}
