// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_CORE_H
#define GRADNIC_SWITCH_CORE_H
/// The way of any packet, without the short cut for the usual one.

#include <gradnic/switch.h>

/// As gn_switch_rx(), with the same results, for a packet of any kind. Not inline: the usual
/// packet's way is fast because this one is elsewhere.
__attribute__((noinline)) unsigned gn_switch_rx_any(gn_switch *sw, uint64_t now_ns, uint16_t port, const void *datagram,
                                                    size_t bytes, gn_action *actions);

#endif
