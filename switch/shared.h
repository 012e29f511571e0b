// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_SHARED_H
#define GRADNIC_SWITCH_SHARED_H
/// Memory modes shared and preemptive: no slot belongs to a job.

#include "about.h"

/// The slot of a chunk: where its sums are, if it has one.
uint32_t gn_shared_address(const gn_switch *sw, uint16_t job, uint32_t psn);

/// A packet without FLOAT: what comes of it, as gn_switch_rx() returns it.
unsigned gn_shared_rx(gn_about *a);

/// Whether the packet's chunk is known to have no sum of integers. Then its values go past the
/// slots as binary32.
bool gn_shared_overflowed(const gn_about *a);

#endif
