// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_SHARE_H
#define GRADNIC_DRIVER_SHARE_H
/// How two threads share two directions. One thread does both as long as data goes one way only, because the other way's
/// acknowledgements then need no wake-up of a thread and find everything in that core's caches. The second thread is called
/// when data goes both ways, or when the link makes a sender wait, who would not listen meanwhile.

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    GN_SHARE_BULK = 4096,  ///< bytes of one call on the wire that make it data, not acknowledgements
    GN_SHARE_WINDOW = 64,  ///< rounds of the first thread between two decisions
    GN_SHARE_LEAST = 16    ///< calls with data in each direction, within a window, that are work for two
};

typedef struct gn_share {
    atomic_uint sent;   ///< calls with data so far, by whichever thread works on host to wire
    atomic_uint waits;  ///< calls so far that waited for the link
    atomic_bool split;  ///< the second thread works on host to wire, the first only on wire to host
    atomic_uint calls;  ///< times it became true
    // The first thread's own:
    unsigned rounds, heard, sent_before, waits_before;
} gn_share;

/// Adds one to `sent` or `waits`: one thread at a time, under its direction's lock.
static inline void gn_share_count(atomic_uint *count)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}

/// The first thread has done a round, in which it heard `bytes`. @return whether `split` has changed
bool gn_share_round(gn_share *share, size_t bytes);

#endif
