// SPDX-License-Identifier: Apache-2.0
#include "driver/too_big.h"

#include <string.h>

#include <gradnic/packet.h>

enum { IPV4 = 20, IPV6 = 40, ICMP = 8, IPV4_MOST = 576, PROTOCOL_ICMP = 1, PROTOCOL_ICMP6 = 58, HOPS = 64 };

static void put16(uint8_t *at, size_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

// An ICMP message never answers an ICMP error, nor anything but a datagram's first fragment, nor many hosts (RFC 1122 3.2.2).
static int is_silent4(const uint8_t *packet, size_t length)
{
    const size_t header = (size_t)4 * (packet[0] & 15u);
    if ((packet[6] & 0x1f) || packet[7] || packet[16] >= 224 || !packet[12]) return 1;
    if (packet[9] != PROTOCOL_ICMP) return 0;
    if (length <= header) return 1;
    const uint8_t type = packet[header];
    return type != 8 && type != 0 && type != 13 && type != 14;
}

static size_t make4(const uint8_t *packet, size_t length, unsigned mtu, uint8_t *out)
{
    if (length < IPV4 || is_silent4(packet, length)) return 0;
    const size_t quoted = length < IPV4_MOST - IPV4 - ICMP ? length : IPV4_MOST - IPV4 - ICMP;
    const size_t bytes = IPV4 + ICMP + quoted;
    memset(out, 0, IPV4 + ICMP);
    out[0] = 0x45;
    put16(out + 2, bytes);
    out[6] = 0x40;  // DF
    out[8] = HOPS;
    out[9] = PROTOCOL_ICMP;
    memcpy(out + 12, packet + 16, 4);
    memcpy(out + 16, packet + 12, 4);
    put16(out + 10, gn_checksum_finish(gn_checksum_add(0, out, IPV4)));
    uint8_t *icmp = out + IPV4;
    icmp[0] = 3;  // destination unreachable
    icmp[1] = 4;  // fragmentation needed
    put16(icmp + 6, mtu);
    memcpy(icmp + ICMP, packet, quoted);
    put16(icmp + 2, gn_checksum_finish(gn_checksum_add(0, icmp, ICMP + quoted)));
    return bytes;
}

static size_t make6(const uint8_t *packet, size_t length, unsigned mtu, uint8_t *out)
{
    uint8_t pseudo[8] = {0};
    const uint8_t *source = packet + 8;
    static const uint8_t unspecified[16];
    if (length <= IPV6 || source[0] == 0xff || !memcmp(source, unspecified, 16)) return 0;
    if (packet[24] == 0xff || (packet[6] == PROTOCOL_ICMP6 && packet[IPV6] < 128)) return 0;
    const size_t quoted = length < GN_TOO_BIG_BYTES - IPV6 - ICMP ? length : GN_TOO_BIG_BYTES - IPV6 - ICMP;
    memset(out, 0, IPV6 + ICMP);
    out[0] = 0x60;
    put16(out + 4, ICMP + quoted);
    out[6] = PROTOCOL_ICMP6;
    out[7] = HOPS;
    memcpy(out + 8, packet + 24, 16);
    memcpy(out + 24, packet + 8, 16);
    uint8_t *icmp = out + IPV6;
    icmp[0] = 2;  // packet too big
    put16(icmp + 6, mtu);
    memcpy(icmp + ICMP, packet, quoted);
    put16(pseudo + 2, ICMP + quoted);
    pseudo[7] = PROTOCOL_ICMP6;
    uint32_t sum = gn_checksum_add(0, out + 8, 32);
    sum = gn_checksum_add(sum, pseudo, sizeof pseudo);
    put16(icmp + 2, gn_checksum_finish(gn_checksum_add(sum, icmp, ICMP + quoted)));
    return IPV6 + ICMP + quoted;
}

size_t gn_too_big_make(const uint8_t *packet, size_t length, unsigned mtu, uint8_t *out)
{
    if (!length) return 0;
    if (packet[0] >> 4 == 4) return make4(packet, length, mtu, out);
    return packet[0] >> 4 == 6 ? make6(packet, length, mtu, out) : 0;
}
