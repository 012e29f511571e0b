// SPDX-License-Identifier: Apache-2.0
// Any bytes that the driver takes for a packet, refused as too big. The answer is an ICMP message
// or none. A message is whole, has good checksums, goes back to the sender and quotes the packet.
// There is never one about such a message. The first two bytes of the input are the MTU.
#include <stdlib.h>
#include <string.h>

#include <gradnic/packet.h>

#include "driver/inner.h"
#include "driver/too_big.h"
#include "fuzz.h"

enum { ICMP = 8 };

static bool same(const gn_ip *a, const gn_ip *b)
{
    return !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

/// Whether the ones' complement sum is right: over a header, or over ICMP and the pseudo-header of
/// IPv6.
static bool sums_up(const uint8_t *message, size_t header, size_t bytes)
{
    uint32_t sum = 0;
    if (header == 20 && gn_checksum_finish(gn_checksum_add(0, message, header))) return false;
    if (header == 40) {
        const uint8_t rest[8] = {0, 0, (uint8_t)((bytes - header) >> 8), (uint8_t)(bytes - header), 0, 0, 0, 58};
        sum = gn_checksum_add(gn_checksum_add(0, message + 8, 32), rest, sizeof rest);
    }
    return !gn_checksum_finish(gn_checksum_add(sum, message + header, bytes - header));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gn_inner packet, answer;
    if (size < 2 || !gn_inner_read(data + 2, size - 2, &packet)) return 0;
    uint8_t *bytes = malloc(packet.length), *message = malloc(GN_TOO_BIG_BYTES), again[GN_TOO_BIG_BYTES];
    if (!bytes || !message) abort();  // of exactly their sizes: the sanitizer sees what goes beyond
    memcpy(bytes, data + 2, packet.length);
    const unsigned mtu = (unsigned)data[0] << 8 | data[1];
    const size_t length = gn_too_big_make(bytes, packet.length, mtu, message);
    if (length) {
        const bool six = packet.source.version == 6;
        const size_t header = six ? 40 : 20, quoted = length - header - ICMP;
        if (length < header + ICMP || length > (six ? GN_TOO_BIG_BYTES : 576) || quoted > packet.length) abort();
        if (!gn_inner_read(message, length, &answer) || answer.length != length) abort();
        if (!same(&answer.source, &packet.destination) || !same(&answer.destination, &packet.source)) abort();
        if (memcmp(message + header + ICMP, bytes, quoted) != 0 || !sums_up(message, header, length)) abort();
        if (message[header + 6] != data[0] || message[header + 7] != data[1]) abort();
        if (gn_too_big_make(message, length, mtu, again)) abort();
    }
    free(message);
    free(bytes);
    return 0;
}
