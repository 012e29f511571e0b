// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_CMODEL_STAMP_H
#define GRADNIC_CMODEL_STAMP_H
/// Writes the headers of packets that are made from one packet. A stamp is prepared once. Then it
/// is written ahead of each new payload, with that packet's lengths, sequence number, flags and
/// checksums.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/packet.h>

typedef struct gn_stamp {
    const uint8_t *packet;  // the original packet; not owned
    gn_headers headers;
    size_t length;        // of both headers
    uint32_t ip_sum;      // RFC 1624: complement of the old checksum, without old length and id
    uint32_t l4_sum;      // pseudo header and L4 header, without the fields that change
    uint32_t pseudo_sum;  // addresses and protocol
    uint16_t id;          // IPv4 identification
} gn_stamp;

/// What differs in one packet from the original packet.
typedef struct gn_imprint {
    size_t payload_bytes;  // already in place behind the headers
    uint32_t payload_sum;  // gn_checksum_add() over them; unused with `partial`
    uint32_t seq_step;
    uint16_t id_step;
    uint8_t clear_flags;  // TCP flags that this packet does not carry
    bool partial;         // leave the pseudo-header sum in the L4 checksum field
} gn_imprint;

/// `headers` are those that gn_packet_parse() gave for `packet`, which must outlive the stamp.
void gn_stamp_prepare(gn_stamp *stamp, const uint8_t *packet, const gn_headers *headers);

/// Of a packet whose checksum field holds the pseudo-header sum: takes the sum of the addresses
/// from there instead of the header.
void gn_stamp_trust_partial(gn_stamp *stamp);

/// Writes stamp->length bytes of headers to `out`.
void gn_stamp_write(const gn_stamp *stamp, const gn_imprint *imprint, uint8_t *out);

#endif
