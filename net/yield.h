// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_YIELD_H
#define GRADNIC_NET_YIELD_H
/// Looking for something, instead of sleeping until it comes.

#include <stdbool.h>

/// Lets other threads run for a moment. That is the cheapest way to wait for a few microseconds,
/// also when ranks share a core. Beside programs that compute it is the dearest one: they keep the
/// core for their whole time slice, and Linux 6.18 takes what is left of its own one from who
/// yields. So after a yield that took long, this says for a while that yielding does not pay, and
/// does not yield.
/// @return whether it pays to look again; otherwise one had better sleep.
/// Any thread. What was found holds for all threads of the process.
bool gn_yield(void);

#endif
