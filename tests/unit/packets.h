// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_PACKETS_H
#define GRADNIC_TESTS_PACKETS_H
/// Packets for tests: built and judged byte by byte, without any of the code under test.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct packet {
    int version;           // 4 (default when 0) or 6
    int protocol;          // 6 (default when 0) or 17; any other is written without an L4 header
    int tos;               // -1: 0x28 (default when 0); otherwise as it is, 0 being NO_TOS
    unsigned ip_options;   // bytes, multiple of 4
    unsigned tcp_options;  // bytes, multiple of 4
    uint8_t option[12];    // the first of them; padding when 0
    int flags;             // TCP; default ACK
    uint32_t seq, ack;
    uint16_t source, destination;  // ports; default 40000, 5000
    uint16_t id;
    uint8_t host;  // last byte of the source address; default 1
    bool partial;  // leave the pseudo-header sum in the checksum field
} packet;

enum { NO_TOS = -2 };

/// Builds a packet; returns its length. `out` holds payload_bytes + 120.
size_t packet_build(const packet *p, const void *payload, size_t payload_bytes, uint8_t *out);

/// Lengths and checksums, IP and L4, read the slow way.
bool packet_valid(const uint8_t *bytes, size_t length);

/// Offsets and fields of a packet that packet_valid() likes.
size_t packet_headers(const uint8_t *bytes);  // bytes ahead of the payload
uint32_t packet_seq(const uint8_t *bytes);
int packet_flags(const uint8_t *bytes);
int packet_id(const uint8_t *bytes);
size_t packet_l4(const uint8_t *bytes);

/// Writes both checksums anew (after a test has changed bytes).
void packet_fix(uint8_t *bytes);

/// A simple generator (xorshift), so that runs repeat.
uint32_t random_next(uint32_t *state);
/// Gradient-like values: mostly small, some 0, a few large; `scale` 0: random bits, magnitude 2
/// and more, which no profile makes shorter.
void random_values(uint32_t *state, float *values, size_t count, float scale);

#endif
