// SPDX-License-Identifier: Apache-2.0
// What hosts may send, whatever has come in. A fault here need not make a sum wrong: it may just
// cost a timeout.
#include "aggregate_net.h"

static void check_worker(net *n, unsigned rank, uint64_t *latest, const gn_agg_packet *p)
{
    const bool is_float = p->flags & GN_AGG_FLOAT;
    if (is_float)
        SUITE_CHECK(p->type == (rank ? GN_AGG_GRADIENT : GN_AGG_RESULT), "rank %u sends binary32 as type %u", rank,
                    p->type);
    if (p->type == GN_AGG_RESULT) {  // rank 0's, of this chunk or of the one before
        n->account.told_again += (p->flags & GN_AGG_RESENT) != 0;
        return;
    }
    const uint64_t number = 1 + 2 * (uint64_t)p->psn + is_float;
    SUITE_CHECK(number >= *latest, "a worker has gone back to chunk %u", p->psn);
    const bool again = number == *latest;
    SUITE_CHECK(again == ((p->flags & GN_AGG_RESENT) != 0), "chunk %u is sent %s, with flags %u", p->psn,
                again ? "again" : "first", p->flags);
    SUITE_CHECK(again || p->type == GN_AGG_GRADIENT, "the first packet of chunk %u has type %u", p->psn, p->type);
    *latest = number;
}

static void check_ps(uint64_t *latest, const gn_agg_packet *p)
{
    const uint64_t number = 1 + (uint64_t)p->psn;
    if (p->type != GN_AGG_RESULT && p->type != GN_AGG_OVERFLOW)
        SUITE_CHECK(number > *latest, "the parameter server asks for chunk %u, and it has told its result", p->psn);
    else if (number > *latest)
        *latest = number;
}

void net_check_sent(net *n, unsigned job, unsigned seat, const void *datagram, size_t bytes)
{
    gn_agg_packet p;
    SUITE_CHECK(gn_agg_parse(datagram, bytes, &p) == GN_AGG_FINE && p.slot < NET_SLOTS,
                "a host sends what is no packet");
    uint64_t *latest = &n->job[job].latest[seat][p.slot];
    if (seat == NET_PS)
        check_ps(latest, &p);
    else
        check_worker(n, seat, latest, &p);
}
