// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_USUAL_H
#define GRADNIC_SWITCH_USUAL_H
/// The usual packet: a contribution of integers, without flags, to a slot that is the job's own.
///
/// A packet has to answer many questions. With 64 values in it, that takes longer than adding it.
/// So its header is compared with one that such packets of the job have. Where the two are equal,
/// the answers are known, and the compiler leaves out the questions. The rules are those of all
/// packets (about.h, partitioned.h, packet.h). Inline in core.c, so that the packet stays in
/// registers.

#include "packet.h"
#include "partitioned.h"

/// Whether the job has usual packets, and this header is alike to theirs.
GN_INLINE bool gn_usual_is_alike(const gn_about *a, const uint8_t *in)
{
    const gn_switch_job *job = &a->job->job;
    return gn_state_partitioned(&a->sw->state->config) && job->format == GN_AGG_INT32 && !job->bits &&
           gn_agg_alike(in, a->job->usual);
}

/// Reads a datagram whose header is alike to the usual one of a->job. `check` computes the CRC of a
/// header. @return false when it is not a usual packet
GN_INLINE bool gn_usual_read(const uint8_t *in, size_t bytes, gn_about *a, uint32_t (*check)(const uint8_t *header))
{
    const gn_switch_job *job = &a->job->job;
    gn_agg_packet *p = &a->packet;
    if (gn_get32(in + AT_CRC) != check(in)) return false;
    gn_agg_read_fields(in, p);
    // The packet has these. They are said here because the compiler does not know that it compares
    // headers.
    p->type = GN_AGG_GRADIENT;
    p->flags = 0;
    p->job = job->job;
    p->gen = job->gen;
    p->level = job->level;
    p->fanin = (uint16_t)gn_job_fanin(job);
    return p->values && gn_agg_possible(p) && !gn_agg_read_payload(in, bytes, NULL, p);
}

/// As gn_switch_rx(), for a usual packet. `*count`: the number of actions. @return false for any
/// other packet: nothing has been changed. (A count of 0 could say so, but the compiler cannot know
/// that it is never 0 otherwise, and would keep more in registers.)
GN_INLINE bool gn_usual_rx(gn_switch *sw, uint64_t now_ns, uint16_t port, const uint8_t *in, size_t bytes,
                           gn_action *actions, uint32_t (*check)(const uint8_t *header), unsigned *count)
{
    const unsigned index = bytes < GN_AGG_HEADER ? 0 : sw->state->job_of[gn_get16(in + AT_JOB)];
    if (!index) return false;
    gn_about a = {.sw = sw,
                  .now_ns = now_ns,
                  .bytes = bytes,
                  .port = port,
                  .job = gn_state_job(sw, index - 1),
                  .job_index = index - 1,
                  .actions = actions};
    if (!gn_usual_is_alike(&a, in) || !gn_usual_read(in, bytes, &a, check)) return false;
    const gn_drop wrong = gn_about_fits_job(&a);
    if (!wrong) gn_partitioned_find(&a);
    *count = wrong ? gn_about_drop(&a, wrong) : gn_partitioned_gradient(&a);
    return true;
}

#endif
