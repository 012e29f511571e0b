// SPDX-License-Identifier: Apache-2.0
// Times to wait for an answer.
#include "rtt.h"

enum { MIN_NS = 1000000, MAX_NS = 1000000000, UNKNOWN_NS = 50000000, FIRST_NS = 10000000 };

gn_rtt gn_rtt_new(uint64_t min_ns, uint64_t max_ns)
{
    return (gn_rtt){.min_ns = min_ns ? min_ns : MIN_NS, .max_ns = max_ns ? max_ns : MAX_NS};
}

void gn_rtt_measure(gn_rtt *rtt, int64_t now_ns, int64_t took_ns)
{
    if (!rtt->known || took_ns > rtt->longest_ns) rtt->longest_ns = took_ns;
    if (rtt->known && (double)(now_ns - rtt->began_ns) < rtt->smoothed_ns) return;
    const double took = (double)rtt->longest_ns;
    rtt->began_ns = now_ns;
    rtt->longest_ns = 0;
    if (!rtt->known) {
        rtt->known = true;
        rtt->smoothed_ns = took;
        rtt->variation_ns = took / 2;
        return;
    }
    const double off = took - rtt->smoothed_ns;
    rtt->variation_ns += ((off < 0 ? -off : off) - rtt->variation_ns) / 4;
    rtt->smoothed_ns += off / 8;
}

int64_t gn_rtt_timeout(const gn_rtt *rtt, unsigned attempts, bool first)
{
    const double limit = (double)rtt->max_ns;
    double wait = rtt->known ? rtt->smoothed_ns + 4 * rtt->variation_ns : UNKNOWN_NS;
    if (wait < (double)rtt->min_ns) wait = (double)rtt->min_ns;
    if (first && wait < FIRST_NS) wait = FIRST_NS;
    for (unsigned i = 0; i < attempts && wait < limit; i++) wait *= 2;
    return (int64_t)(wait < limit ? wait : limit);
}
