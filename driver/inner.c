// SPDX-License-Identifier: Apache-2.0
#include "driver/inner.h"

#include <string.h>

#include <gradnic/packet.h>

static gn_ip address_at(const uint8_t *bytes, uint8_t version)
{
    gn_ip ip = {.version = version};
    if (version == 4)
        memcpy(ip.bytes, bytes, 4);
    else
        memcpy(ip.bytes, bytes, 16);
    return ip;
}

bool gn_inner_read(const uint8_t *bytes, size_t length, gn_inner *inner)
{
    gn_ip_header ip;
    if (!gn_ip_header_read(bytes, length, &ip)) return false;
    inner->source = address_at(bytes + ip.source, ip.version);
    inner->destination = address_at(bytes + ip.destination, ip.version);
    inner->length = ip.end;
    return true;
}
