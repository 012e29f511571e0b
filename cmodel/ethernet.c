// SPDX-License-Identifier: Apache-2.0
#include <gradnic/frame.h>

#include "bytes.h"

size_t gn_frame_ethernet_offset(const uint8_t *frame, size_t length)
{
    enum { TYPE = 12, TAG_BYTES = 4, VLAN = 0x8100, IPV4 = 0x0800, IPV6 = 0x86dd };
    size_t type = TYPE;
    if (length >= type + 2 && gn_get16(frame + type) == VLAN) type += TAG_BYTES;
    if (length < type + 2) return 0;
    unsigned protocol = gn_get16(frame + type), version = gn_packet_version(frame + type + 2, length - type - 2);
    return (protocol == IPV4 && version == 4) || (protocol == IPV6 && version == 6) ? type + 2 : 0;
}
