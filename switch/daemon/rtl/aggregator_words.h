// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_RTL_AGGREGATOR_WORDS_H
#define GRADNIC_SWITCH_DAEMON_RTL_AGGREGATOR_WORDS_H
/// The words that software writes into the aggregator (rtl/switch/gn_aggregator.v), and the numbers
/// that it answers with. For C and C++.

#include <gradnic/packet.h>
#include <stdint.h>
#include <string.h>

enum {
    GN_AGGREGATOR_CHILDREN = 8,     ///< of a job
    GN_AGGREGATOR_CHILD_WORDS = 9,  ///< of a child
    // Verdicts: below 16 the gn_drop of switch.h.
    GN_AGGREGATOR_ADDED = 16,
    GN_AGGREGATOR_WHOLE = 17,     ///< added, and the result has gone to all
    GN_AGGREGATOR_REPEATED = 18,  ///< the result has gone to the child that asked again
    GN_AGGREGATOR_SOFTWARE = 19   ///< binary32: nothing was changed
};

/// How frames reach a child, and where the hardware has it.
typedef struct gn_aggregator_child {
    uint8_t mac_to[6], mac_from[6];
    uint8_t ip_from[4], ip_to[4];
    uint16_t udp_from, udp_to;
    uint8_t tos;
    uint16_t port;  ///< side-band of the frames that come from it and go to it
} gn_aggregator_child;

static inline uint16_t gn_aggregator_job_address(unsigned index, unsigned word)
{
    return (uint16_t)(index << 2 | word);
}

static inline uint16_t gn_aggregator_child_address(unsigned index, unsigned child, unsigned word)
{
    return (uint16_t)(0x4000u | index << 7 | child << 4 | word);
}

enum { GN_AGGREGATOR_LIMIT = 0x8000 };  ///< address of the most values of a packet

/// A job's first two words. `dense`: its format, with bound k; otherwise int32.
static inline uint32_t gn_aggregator_number(uint16_t job, int used, int dense, int k)
{
    return (dense ? (uint32_t)(uint8_t)k << 24 | 0x20000u : 0u) | (used ? 0x10000u : 0u) | job;
}
static inline uint32_t gn_aggregator_info(uint16_t gen, unsigned children, unsigned level, unsigned slots_log2)
{
    return gen | (children - 1u) << 16 | level << 20 | slots_log2 << 24;
}

/// A one's complement sum, folded.
static inline uint16_t gn_aggregator_sum(uint32_t sum, const uint8_t *bytes, size_t count)
{
    return (uint16_t)~gn_checksum_finish(gn_checksum_add(sum, bytes, count));
}

/// Four bytes as a word, the first lowest.
static inline uint32_t gn_aggregator_word(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void gn_aggregator_child_words(const gn_aggregator_child *c, uint32_t words[GN_AGGREGATOR_CHILD_WORDS])
{
    uint8_t bytes[24];
    memcpy(bytes, c->mac_to, 6);
    memcpy(bytes + 6, c->mac_from, 6);
    memcpy(bytes + 12, c->ip_from, 4);
    memcpy(bytes + 16, c->ip_to, 4);
    bytes[20] = (uint8_t)(c->udp_from >> 8), bytes[21] = (uint8_t)c->udp_from;
    bytes[22] = (uint8_t)(c->udp_to >> 8), bytes[23] = (uint8_t)c->udp_to;
    for (unsigned i = 0; i < 6; i++) words[i] = gn_aggregator_word(bytes + 4 * i);
    // All of the headers but the lengths: IPv4 (version, ToS, "do not fragment", 64 hops, UDP), and
    // UDP's with its pseudo header.
    const uint16_t ip = gn_aggregator_sum(0x4500u + c->tos + 0x4000u + 0x4011u, bytes + 12, 8);
    const uint16_t udp = gn_aggregator_sum(17, bytes + 12, 12);
    words[6] = (uint32_t)ip << 16 | udp;
    words[7] = (uint32_t)c->tos << 16 | c->port;
    words[8] = c->port;
}

#endif
