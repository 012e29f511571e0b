// SPDX-License-Identifier: Apache-2.0
#include "driver/share.h"

// A sender that waits is a reason to split at once; for everything else, what was seen in a whole window decides.
bool gn_share_round(gn_share *share, size_t bytes)
{
    const bool split = atomic_load_explicit(&share->split, memory_order_relaxed);
    const unsigned waits = atomic_load_explicit(&share->waits, memory_order_relaxed);
    const bool waited = waits != share->waits_before;
    if (bytes >= GN_SHARE_BULK) share->heard++;
    if (++share->rounds < GN_SHARE_WINDOW && (split || !waited)) return false;
    const unsigned sent = atomic_load_explicit(&share->sent, memory_order_relaxed);
    const bool both = share->heard >= GN_SHARE_LEAST && sent - share->sent_before >= GN_SHARE_LEAST;
    share->rounds = share->heard = 0;
    share->sent_before = sent;
    share->waits_before = waits;
    if ((both || waited) == split) return false;
    if (!split) gn_share_count(&share->calls);
    atomic_store(&share->split, !split);
    return true;
}
