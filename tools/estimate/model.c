// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <math.h>
#include <stdbool.h>

#include "costs.h"

static const double payload = 1448.0 / 1514;      // of an Ethernet frame that TCP fills
static const double nic_payload = 1412.0 / 1514;  // through a NIC: its headers, and UDP's
static const double engine_rate = 25.6e9;         // a NIC in hardware: 256 bits at 100 MHz
static const double giga = 1e9;
static const double measured_share = 2.0 * (GN_COST_RANKS - 1) / GN_COST_RANKS;  // of a gradient, sent in a ring

static const struct {
    const char *name, *key;
    bool through_nic, hardware, compressed, at_switch;
} ways[GN_WAYS] = {
    [GN_WAY_RING] = {"ring", "ring", false, false, false, false},
    [GN_WAY_RING_NIC] = {"ring, NICs in software", "ring-nic", true, false, true, false},
    [GN_WAY_RING_HARDWARE] = {"ring, NICs in hardware", "ring-hardware", true, true, true, false},
    [GN_WAY_SWITCH] = {"switch", "switch", false, false, false, true},
    [GN_WAY_SWITCH_DENSE] = {"switch, compressed", "switch-dense", false, false, true, true},
    [GN_WAY_AGGREGATOR] = {"worker-aggregator", "worker-aggregator", false, false, false, false},
};

const char *gn_way_name(gn_way way)
{
    return ways[way].name;
}

const char *gn_way_key(gn_way way)
{
    return ways[way].key;
}

const char *gn_limit_name(gn_limit limit)
{
    static const char *const names[] = {"link", "cores", "one thread", "switch"};
    return names[limit];
}

/// Bytes of values that a host sends: 2(N-1)/N of a gradient in a ring, one to a switch, and all
/// that rank 0 has to send.
static double sent_bytes(gn_way way, const gn_setting *s)
{
    const double n = s->ranks;
    if (ways[way].at_switch) return s->bytes;
    return way == GN_WAY_AGGREGATOR ? (n - 1) * s->bytes : 2 * (n - 1) / n * s->bytes;
}

static double ratio(gn_way way, const gn_setting *s)
{
    if (!ways[way].compressed) return 1;
    if (!ways[way].at_switch) return s->ring_ratio;
    return s->up_ratio < s->down_ratio ? s->up_ratio : s->down_ratio;  // both directions at a time
}

/// Core-seconds that a host needs for each GB that it sends. A ring's measured costs are for each
/// GB of gradient.
static double cost(gn_way way)
{
    switch (way) {
    case GN_WAY_RING_NIC:
        return GN_COST_RING_NIC / measured_share;
    case GN_WAY_SWITCH:
        return GN_COST_SWITCH;
    case GN_WAY_SWITCH_DENSE:
        return GN_COST_SWITCH_DENSE;
    default:
        return GN_COST_RING / measured_share;  // hardware compresses beside the cores
    }
}

static void take(gn_estimate *e, double seconds, gn_limit limit)
{
    if (seconds <= e->seconds) return;
    e->seconds = seconds;
    e->limit = limit;
}

gn_estimate gn_estimate_way(gn_way way, const gn_setting *s)
{
    const double sent = sent_bytes(way, s), work = cost(way) * sent / giga / s->speed;
    const bool nic_thread = ways[way].through_nic && !ways[way].hardware;
    gn_estimate e = {.link_bytes = sent / ratio(way, s) / (ways[way].through_nic ? nic_payload : payload),
                     .core_seconds = work / s->cores,
                     .thread_seconds = nic_thread ? GN_COST_NIC_THREAD * sent / giga / s->speed : work};
    e.link_seconds = e.link_bytes * 8 / s->rate;
    if (ways[way].hardware && e.link_seconds < sent * 8 / engine_rate) e.link_seconds = sent * 8 / engine_rate;
    if (ways[way].at_switch) {
        const double each = way == GN_WAY_SWITCH ? GN_COST_OF_SWITCH : GN_COST_OF_SWITCH_DENSE;
        e.switch_seconds = each * s->ranks * s->bytes / giga / s->speed;
    }
    take(&e, e.link_seconds, GN_LIMIT_LINK);
    take(&e, e.core_seconds, GN_LIMIT_CORES);
    take(&e, e.thread_seconds, GN_LIMIT_THREAD);
    take(&e, e.switch_seconds, GN_LIMIT_SWITCH);
    return e;
}

double gn_estimate_pays_to(gn_way way, const gn_setting *setting)
{
    static const double highest = 1e12, lowest = 1e3;
    gn_setting s = *setting;
    double low = lowest, high = highest;
    for (int step = 0; step < 100; step++) {
        s.rate = sqrt(low * high);
        if (gn_estimate_way(way, &s).seconds < gn_estimate_way(GN_WAY_RING, &s).seconds)
            low = s.rate;
        else
            high = s.rate;
    }
    if (low > 0.99 * highest) return INFINITY;
    return high < 1.01 * lowest ? 0 : low;
}
