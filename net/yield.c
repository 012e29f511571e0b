// SPDX-License-Identifier: Apache-2.0
#include "net/yield.h"

#include <sched.h>
#include <stdatomic.h>

#include "net/clock.h"

// A yield is long when somebody has taken a time slice. What ranks of one core do meanwhile is
// shorter. One such may be chance, so the first rest is short. The next one is twice as long, until
// so many yields in a row were short.
enum { LONG = GN_MILLISECOND, SHORTEST = 8 * GN_MILLISECOND, LONGEST = 1024 * GN_MILLISECOND, SHORT_ONES = 1000 };

static _Atomic uint64_t rests_until, rest = SHORTEST;
static _Atomic uint32_t short_ones;

bool gn_yield(void)
{
    const uint64_t begun = gn_now();
    if (begun < atomic_load_explicit(&rests_until, memory_order_relaxed)) return false;
    (void)sched_yield();
    const uint64_t now = gn_now();
    if (now - begun < LONG) {
        const uint32_t n = atomic_load_explicit(&short_ones, memory_order_relaxed) + 1;
        if (n == SHORT_ONES) atomic_store_explicit(&rest, SHORTEST, memory_order_relaxed);
        atomic_store_explicit(&short_ones, n, memory_order_relaxed);
        return true;
    }
    const uint64_t span = atomic_load_explicit(&rest, memory_order_relaxed);
    atomic_store_explicit(&rests_until, now + span, memory_order_relaxed);
    atomic_store_explicit(&rest, span < LONGEST ? 2 * span : span, memory_order_relaxed);
    atomic_store_explicit(&short_ones, 0, memory_order_relaxed);
    return false;
}
