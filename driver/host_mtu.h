// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_HOST_MTU_H
#define GRADNIC_DRIVER_HOST_MTU_H

#include <gradnic/shim.h>

/// The MTU of a NIC's host, where packets on the wire have at most `packet_mtu` bytes. There is
/// room for the shim. It is a multiple of 4, so TCP's segments end between values: only then
/// GN_CUT_FILL is what it says.
static inline unsigned gn_host_mtu(unsigned packet_mtu)
{
    return (packet_mtu - GN_SHIM_BYTES) & ~3u;
}

#endif
