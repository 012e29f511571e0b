// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_UNTOUCHED_H
#define GRADNIC_DRIVER_UNTOUCHED_H
/// Packets that are not transformed although they are marked: the guard leaves them alone, or no
/// rule has their protocol and port. The receiver takes a marked packet whose payload begins with a
/// valid shim for one of ours. So a packet that happens to begin like that is shielded: it goes
/// stored, with a shim of its own, and arrives as it was.

#include <gradnic/frame.h>

typedef struct gn_untouched gn_untouched;

gn_untouched *gn_untouched_new(void);             ///< NULL when out of memory
void gn_untouched_free(gn_untouched *untouched);  ///< NULL allowed

/// As gn_tx_segment_headers() for a segment that no rule matches; each packet has room for a shim.
/// Or whole packets in `burst`; then cut->header_bytes is 0. Adds to `*shielded` how many packets
/// were; NULL: none is to be, as none is marked.
gn_status gn_untouched_cut(gn_untouched *untouched, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                           gn_headers_cut *cut, uint64_t *shielded);

/// Whether one of the packets that were made of `segment`, untouched, begins like one of ours.
bool gn_untouched_begins_like_ours(const gn_segment *segment, const gn_burst *burst, const gn_headers_cut *cut);

/// Writes the sequence number and the length of `headers` into a TCP packet. The checksum of TCP is
/// wrong then.
void gn_untouched_renumber(uint8_t *packet, const gn_headers *headers);

/// Makes the stored form of a packet with complete checksums. `out` has room for GN_SHIM_BYTES
/// more.
/// @return its length
size_t gn_untouched_shield(const uint8_t *packet, const gn_headers *headers, uint8_t *out);

#endif
