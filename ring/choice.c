// SPDX-License-Identifier: Apache-2.0
#include "ring/choice.h"

#include <math.h>
#include <stdio.h>

#include "ring/deadline.h"
#include "ring/log.h"
#include "ring/turn.h"

enum { ROUND = 2, TRIES = 2, MOST_LOOKS = 20, BETTER = 8 /* 2^(8/256): two percent */ };

static const char *const names[GN_CHOICES] = {[GN_TAKE_DIRECT] = "direct",
                                              [GN_TAKE_RING] = "ring",
                                              [GN_TAKE_DIRECT_PLAIN] = "direct, not compressed",
                                              [GN_TAKE_RING_PLAIN] = "ring, not compressed"};

unsigned gn_size_class_of(size_t count)
{
    return 63u - (unsigned)__builtin_clzll((unsigned long long)count);
}

int gn_choice_cost(uint64_t span)
{
    return (int)(256 * log2((double)(span ? span : 1)));
}

gn_choice gn_choice_of(const int16_t *cost, unsigned ways)
{
    unsigned best = 0;
    for (unsigned i = 1; i < ways; i++)
        if (cost[i] + BETTER < cost[best]) best = i;
    return (gn_choice)best;
}

/// Without compression the bits stay the same only with lattice and dense.
static unsigned ways_of(const gn_comm *comm)
{
    const bool library = comm->config.offload == GN_OFFLOAD_LIBRARY;
    return library && comm->config.codec.profile != GN_PAPER ? GN_CHOICES : GN_TAKE_DIRECT_PLAIN;
}

static double milliseconds(int cost)
{
    return exp2((double)cost / 256) / (double)GN_MILLISECOND;
}

static gn_size_class *class_of(const gn_comm *comm, size_t count, bool narrow)
{
    return &comm->classes[gn_size_class_of(count) + (narrow ? GN_SIZE_CLASSES / 2 : 0)];
}

static void decide(const gn_comm *comm, gn_size_class *s)
{
    const unsigned at = (unsigned)(s - comm->classes), class = at % (GN_SIZE_CLASSES / 2);
    const gn_choice before = s->choice;
    const unsigned ways = ways_of(comm);
    char times[200];
    int used = 0;
    s->decided = true;
    s->choice = gn_choice_of(s->cost, ways);
    for (unsigned i = 0; i < ways; i++)
        used += snprintf(times + used, sizeof times - (size_t)used, "%s%s %.3g ms", i ? ", " : "", names[i],
                         milliseconds(s->cost[i]));
    const bool changed = !s->looks || s->choice != before;
    gn_log_text(&comm->config, changed ? GN_LOG_INFO : GN_LOG_DEBUG, "auto: %s%s for 2^%u to 2^%u values%s (%s)",
                changed ? "" : "still ", names[s->choice], class, class + 1, at == class ? "" : " of 16 bits", times);
    s->uses = 0;
    if (s->looks < MOST_LOOKS) s->looks++;
}

gn_status gn_choice_begin(gn_comm *comm, size_t count, bool narrow, gn_choice *choice)
{
    const unsigned ways = ways_of(comm);
    gn_size_class *s = class_of(comm, count, narrow);
    if (!s->decided && s->tries && s->tries % TRIES == 0) {
        // A rank that came late has seen the least time, which is that of the data. The largest
        // value is agreed on.
        const unsigned way = s->tries / TRIES - 1;
        int value = 0;
        comm->phase = "agreement on the way";
        gn_oob_offer(comm, ROUND, -s->cost[way]);
        const gn_status status = gn_oob_await_agreement(comm, ROUND, &value);
        if (status) return status;
        s->cost[way] = (int16_t)-value;
        if (way + 1 == ways) decide(comm, s);
    }
    *choice = s->decided ? s->choice : (gn_choice)(s->tries / TRIES);
    return GN_OK;
}

void gn_choice_end(gn_comm *comm, size_t count, bool narrow, gn_choice choice, uint64_t start)
{
    gn_size_class *s = class_of(comm, count, narrow);
    if (s->decided) {
        if (++s->uses < (uint32_t)GN_LOOK_AGAIN << (s->looks - 1)) return;
        s->decided = false;
        s->tries = 0;
        return;
    }
    s->cost[choice] = (int16_t)gn_choice_cost(gn_elapsed(start, gn_now()));
    s->tries++;
}
