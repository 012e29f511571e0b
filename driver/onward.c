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

/// The place of a destination (FNV-1a). Hosts of one network fall on different ones.
static gn_onward_way *place_of(gn_onward *onward, const gn_ip *to)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < sizeof to->bytes; i++) hash = (hash ^ to->bytes[i]) * 16777619U;
    return &onward->ways[(hash ^ hash >> 16) % GN_ONWARD_WAYS];
}

void gn_onward_note(gn_onward *onward, const gn_ip *to, unsigned mtu, uint64_t now)
{
    const unsigned least = to->version == 4 ? GN_ONWARD_LEAST4 : GN_ONWARD_LEAST6;
    pthread_mutex_lock(&onward->lock);
    *place_of(onward, to) = (gn_onward_way){.to = *to, .mtu = mtu < least ? least : mtu, .told = now};
    atomic_store(&onward->knows, true);
    pthread_mutex_unlock(&onward->lock);
}

bool gn_onward_knows(gn_onward *onward)
{
    return atomic_load(&onward->knows);
}

unsigned gn_onward_mtu(gn_onward *onward, const gn_ip *to, uint64_t now)
{
    pthread_mutex_lock(&onward->lock);
    const gn_onward_way *way = place_of(onward, to);
    const bool known = !gn_ip_compare(&way->to, to) && gn_elapsed(way->told, now) <= GN_ONWARD_S * GN_SECOND;
    const unsigned mtu = known ? way->mtu : 0;
    pthread_mutex_unlock(&onward->lock);
    return mtu;
}
