// SPDX-License-Identifier: Apache-2.0
// Sets as in the guard's own table (driver/guard.c), without the keys. All cuts of a flow take so
// much room that the oldest of them give way sooner.
#include "driver/evicted.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS = 4, SETS = GN_EVICTED_FLOWS / WAYS };

typedef struct kept {
    gn_evicted_flow flow;
    gn_cuts_part part[GN_CUTS_PARTS];
    uint32_t cuts;  // where all cuts are, while the tag there is the flow's
} kept;

struct gn_evicted {
    kept flows[SETS][WAYS];
    uint64_t tags[GN_EVICTED_CUTS];
    gn_cuts cuts[GN_EVICTED_CUTS];
    uint32_t next;
};

gn_evicted *gn_evicted_new(void)
{
    return calloc(1, sizeof(gn_evicted));
}

void gn_evicted_free(gn_evicted *evicted)
{
    free(evicted);
}

static kept *set_of(gn_evicted *evicted, uint64_t tag)
{
    return evicted->flows[(tag >> 32) % SETS];
}

static bool has_cuts(const gn_sent *sent)
{
    return sent->within || sent->lost;
}

static uint32_t keep_cuts(gn_evicted *evicted, uint64_t tag, const gn_cuts *cuts)
{
    const uint32_t at = evicted->next;
    evicted->next = (at + 1) % GN_EVICTED_CUTS;
    evicted->tags[at] = tag;
    evicted->cuts[at] = *cuts;
    return at;
}

void gn_evicted_keep(gn_evicted *evicted, const gn_evicted_flow *flow, const gn_cuts *cuts)
{
    kept *set = set_of(evicted, flow->tag), *oldest = set;
    for (int i = 1; i < WAYS; i++)
        if (set[i].flow.seen < oldest->flow.seen) oldest = &set[i];
    oldest->flow = *flow;
    if (!flow->sent.begun) return;
    memcpy(oldest->part, cuts->part, sizeof cuts->part);
    if (has_cuts(&flow->sent)) oldest->cuts = keep_cuts(evicted, flow->tag, cuts);
}

static void take_cuts(gn_evicted *evicted, const kept *one, gn_sent *sent, gn_cuts *cuts)
{
    if (has_cuts(sent) && evicted->tags[one->cuts] == one->flow.tag) {
        *cuts = evicted->cuts[one->cuts];
        return;
    }
    gn_cuts_begin(cuts, sent->first);
    memcpy(cuts->part, one->part, sizeof cuts->part);
    gn_sent_forget_cuts(sent);
}

bool gn_evicted_take(gn_evicted *evicted, uint64_t tag, gn_evicted_flow *flow, gn_cuts *cuts)
{
    kept *set = set_of(evicted, tag);
    for (int i = 0; i < WAYS; i++) {
        if (set[i].flow.tag != tag) continue;
        *flow = set[i].flow;
        if (flow->sent.begun) take_cuts(evicted, &set[i], &flow->sent, cuts);
        set[i].flow = (gn_evicted_flow){0};
        return true;
    }
    return false;
}

void gn_evicted_forget(gn_evicted *evicted)
{
    memset(evicted->flows, 0, sizeof evicted->flows);
}
