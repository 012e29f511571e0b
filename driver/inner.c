// SPDX-License-Identifier: Apache-2.0
#include "driver/inner.h"

#include <string.h>

enum { IPV4_MIN = 20, IPV6_BYTES = 40 };

static bool read_ipv4(const uint8_t *bytes, size_t length, gn_inner *inner)
{
    if (length < IPV4_MIN) return false;
    const unsigned header = (bytes[0] & 15u) * 4, total = (unsigned)bytes[2] << 8 | bytes[3];
    if (header < IPV4_MIN || total < header || total > length) return false;
    memcpy(inner->source.bytes, bytes + 12, 4);
    memcpy(inner->destination.bytes, bytes + 16, 4);
    inner->length = total;
    return true;
}

static bool read_ipv6(const uint8_t *bytes, size_t length, gn_inner *inner)
{
    if (length < IPV6_BYTES) return false;
    const unsigned total = IPV6_BYTES + ((unsigned)bytes[4] << 8 | bytes[5]);
    if (total > length) return false;
    memcpy(inner->source.bytes, bytes + 8, 16);
    memcpy(inner->destination.bytes, bytes + 24, 16);
    inner->length = total;
    return true;
}

bool gn_inner_read(const uint8_t *bytes, size_t length, gn_inner *inner)
{
    if (!length) return false;
    *inner = (gn_inner){0};
    inner->source.version = inner->destination.version = bytes[0] >> 4;
    if (inner->source.version == 4) return read_ipv4(bytes, length, inner);
    return inner->source.version == 6 && read_ipv6(bytes, length, inner);
}
