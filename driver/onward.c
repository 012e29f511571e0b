// SPDX-License-Identifier: Apache-2.0
#include "driver/onward.h"

#include <string.h>

#include "net/clock.h"

void gn_onward_init(gn_onward *onward)
{
    memset(onward, 0, sizeof *onward);
    pthread_mutex_init(&onward->lock, NULL);
}

void gn_onward_close(gn_onward *onward)
{
    pthread_mutex_destroy(&onward->lock);
}

/// The place of a destination; NULL: it is not known.
static gn_onward_way *find(gn_onward *onward, unsigned count, const gn_ip *to)
{
    for (unsigned i = 0; i < count; i++)
        if (!gn_ip_compare(&onward->ways[i].to, to)) return &onward->ways[i];
    return NULL;
}

static gn_onward_way *oldest(gn_onward *onward)
{
    gn_onward_way *found = onward->ways;
    for (unsigned i = 1; i < GN_ONWARD_WAYS; i++)
        if (onward->ways[i].told < found->told) found = &onward->ways[i];
    return found;
}

void gn_onward_note(gn_onward *onward, const gn_ip *to, unsigned mtu, uint64_t now)
{
    const unsigned least = to->version == 4 ? GN_ONWARD_LEAST4 : GN_ONWARD_LEAST6;
    pthread_mutex_lock(&onward->lock);
    const unsigned count = atomic_load(&onward->count);
    gn_onward_way *way = find(onward, count, to);
    if (!way && count < GN_ONWARD_WAYS) {
        way = &onward->ways[count];
        atomic_store(&onward->count, count + 1);
    }
    if (!way) way = oldest(onward);
    *way = (gn_onward_way){.to = *to, .mtu = mtu < least ? least : mtu, .told = now};
    pthread_mutex_unlock(&onward->lock);
}

unsigned gn_onward_mtu(gn_onward *onward, const gn_ip *to, uint64_t now)
{
    if (!atomic_load(&onward->count)) return 0;
    pthread_mutex_lock(&onward->lock);
    const gn_onward_way *way = find(onward, atomic_load(&onward->count), to);
    const unsigned mtu = way && gn_elapsed(way->told, now) <= GN_ONWARD_S * GN_SECOND ? way->mtu : 0;
    pthread_mutex_unlock(&onward->lock);
    return mtu;
}
