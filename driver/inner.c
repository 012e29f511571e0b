// SPDX-License-Identifier: Apache-2.0
#include "driver/inner.h"

#include <string.h>

#include <gradnic/packet.h>

static void read_address(const uint8_t *bytes, uint8_t version, gn_ip *ip)
{
    *ip = (gn_ip){.version = version};
    if (version == 4)
        memcpy(ip->bytes, bytes, 4);
    else
        memcpy(ip->bytes, bytes, 16);
}

bool gn_inner_read(const uint8_t *bytes, size_t length, gn_inner *inner)
{
    gn_ip_header ip;
    if (!gn_ip_header_read(bytes, length, &ip)) return false;
    read_address(bytes + ip.source, ip.version, &inner->source);
    read_address(bytes + ip.destination, ip.version, &inner->destination);
    inner->length = ip.end;
    return true;
}
