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

// Swaps the addresses of `packet` into a header of the same version.
static void answer_to(const uint8_t *packet, const gn_ip_header *ip, uint8_t *header)
{
    memcpy(header + ip->source, packet + ip->destination, ip->address_bytes);
    memcpy(header + ip->destination, packet + ip->source, ip->address_bytes);
}

// RFC 1122 3.2.2: nothing answers an ICMP error, a later fragment or a packet to many hosts.
static bool gets_no_answer4(const uint8_t *packet, const gn_ip_header *ip)
{
    if (ip->fragment_offset || packet[ip->destination] >= 224 || !packet[ip->source]) return true;
    if (ip->protocol != PROTOCOL_ICMP) return false;
    if (ip->end <= ip->payload) return true;
    const uint8_t type = packet[ip->payload];
    return type != 8 && type != 0 && type != 13 && type != 14;
}

static size_t make4(const uint8_t *packet, const gn_ip_header *ip, unsigned mtu, uint8_t *out)
{
    if (gets_no_answer4(packet, ip)) return 0;
    const size_t quoted = ip->end < IPV4_MOST - IPV4 - ICMP ? ip->end : IPV4_MOST - IPV4 - ICMP;
    const size_t bytes = IPV4 + ICMP + quoted;
    memset(out, 0, IPV4 + ICMP);
    out[0] = 0x45;
    put16(out + 2, bytes);
    out[6] = 0x40;  // DF
    out[8] = HOPS;
    out[9] = PROTOCOL_ICMP;
    answer_to(packet, ip, out);
    put16(out + 10, gn_checksum_finish(gn_checksum_add(0, out, IPV4)));
    uint8_t *icmp = out + IPV4;
    icmp[0] = 3;  // destination unreachable
    icmp[1] = 4;  // fragmentation needed
    put16(icmp + 6, mtu);
    memcpy(icmp + ICMP, packet, quoted);
    put16(icmp + 2, gn_checksum_finish(gn_checksum_add(0, icmp, ICMP + quoted)));
    return bytes;
}

static bool gets_no_answer6(const uint8_t *packet, const gn_ip_header *ip)
{
    static const uint8_t unspecified[16];
    const uint8_t *source = packet + ip->source;
    if (ip->end <= ip->payload || source[0] == 0xff || !memcmp(source, unspecified, sizeof unspecified)) return true;
    return packet[ip->destination] == 0xff || (ip->protocol == PROTOCOL_ICMP6 && packet[ip->payload] < 128);
}

static size_t make6(const uint8_t *packet, const gn_ip_header *ip, unsigned mtu, uint8_t *out)
{
    uint8_t pseudo[8] = {0};
    if (gets_no_answer6(packet, ip)) return 0;
    const size_t most = GN_TOO_BIG_BYTES - IPV6 - ICMP, quoted = ip->end < most ? ip->end : most;
    memset(out, 0, IPV6 + ICMP);
    out[0] = 0x60;
    put16(out + 4, ICMP + quoted);
    out[6] = PROTOCOL_ICMP6;
    out[7] = HOPS;
    answer_to(packet, ip, out);
    uint8_t *icmp = out + IPV6;
    icmp[0] = 2;  // packet too big
    put16(icmp + 6, mtu);
    memcpy(icmp + ICMP, packet, quoted);
    put16(pseudo + 2, ICMP + quoted);
    pseudo[7] = PROTOCOL_ICMP6;
    uint32_t sum = gn_checksum_add(0, out + ip->source, (size_t)2 * ip->address_bytes);
    sum = gn_checksum_add(sum, pseudo, sizeof pseudo);
    put16(icmp + 2, gn_checksum_finish(gn_checksum_add(sum, icmp, ICMP + quoted)));
    return IPV6 + ICMP + quoted;
}

static unsigned get16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

unsigned gn_too_big_read(const uint8_t *packet, size_t length, gn_ip *to)
{
    gn_ip_header ip;
    if (!gn_ip_header_read(packet, length, &ip) || ip.fragment_offset || ip.more_fragments) return 0;
    const bool four = ip.version == 4;
    const size_t quoted = four ? IPV4 : IPV6, source = four ? 12 : 8;
    if (ip.protocol != (four ? PROTOCOL_ICMP : PROTOCOL_ICMP6) || ip.end < ip.payload + ICMP + quoted) return 0;
    const uint8_t *icmp = packet + ip.payload, *inner = icmp + ICMP;
    const unsigned high = get16(icmp + 4), mtu = get16(icmp + 6);
    if (gn_packet_version(inner, quoted) != ip.version) return 0;
    if (four ? icmp[0] != 3 || icmp[1] != 4 : icmp[0] != 2 || high) return 0;
    *to = (gn_ip){.version = ip.version};
    memcpy(to->bytes, inner + source + ip.address_bytes, ip.address_bytes);
    return mtu;
}

size_t gn_too_big_make(const uint8_t *packet, size_t length, unsigned mtu, uint8_t *out)
{
    gn_ip_header ip;
    if (!gn_ip_header_read(packet, length, &ip)) return 0;
    return ip.version == 4 ? make4(packet, &ip, mtu, out) : make6(packet, &ip, mtu, out);
}
