// SPDX-License-Identifier: Apache-2.0
// The usual packet: a contribution of integers, without flags, to a slot of the job's own. With 64 values in it, asking it all the questions that a
// packet has to answer takes longer than adding it. So its header is compared with one that such packets of the job have; where the two are
// equal the answers are known, and the compiler leaves out the questions. The rules are those of all packets (about.h, partitioned.h,
// packet.h). What is not alike goes the long way, with nothing changed so far.
#include "check.h"
#include "packet.h"
#include "partitioned.h"

GN_INLINE bool is_usual(const gn_about *a, const uint8_t *in)
{
    const gn_switch_job *job = &a->job->job;
    return gn_state_partitioned(&a->sw->state->config) && job->format == GN_AGG_INT32 && !job->bits &&
           gn_agg_alike(in, a->job->usual);
}

/// Reads a datagram whose header is alike to the usual one of a->job. False: it is none.
GN_INLINE bool read_usual(const uint8_t *in, size_t bytes, gn_about *a, uint32_t (*check)(const uint8_t *header))
{
    const gn_switch_job *job = &a->job->job;
    gn_agg_packet *p = &a->packet;
    if (gn_get32(in + AT_CRC) != check(in)) return false;
    gn_agg_read_fields(in, p);
    // These it has; said here because the compiler does not know that it compares headers.
    p->type = GN_AGG_GRADIENT;
    p->flags = 0;
    p->job = job->job;
    p->gen = job->gen;
    p->level = job->level;
    p->fanin = (uint16_t)gn_job_fanin(job);
    return p->values && gn_agg_possible(p) && !gn_agg_read_payload(in, bytes, NULL, p);
}

GN_INLINE unsigned rx(gn_switch *sw, uint64_t now_ns, uint16_t port, const void *datagram, size_t bytes,
                      gn_action *actions, uint32_t (*check)(const uint8_t *header))
{
    struct gn_switch_state *state = sw->state;
    const uint8_t *in = datagram;
    const unsigned index = bytes < GN_AGG_HEADER ? 0 : state->job_of[gn_get16(in + AT_JOB)];
    if (!index) return gn_switch_rx_any(sw, now_ns, port, datagram, bytes, actions);
    gn_about a = {.sw = sw,
                  .now_ns = now_ns,
                  .bytes = bytes,
                  .port = port,
                  .job = gn_state_job(sw, index - 1),
                  .job_index = index - 1,
                  .actions = actions};
    if (!is_usual(&a, in) || !read_usual(in, bytes, &a, check))
        return gn_switch_rx_any(sw, now_ns, port, datagram, bytes, actions);
    const gn_drop wrong = gn_about_fits_job(&a);
    if (wrong) return gn_about_drop(&a, wrong);
    gn_partitioned_find(&a);
    return gn_partitioned_gradient(&a);
}

__attribute__((noinline)) static unsigned rx_anywhere(gn_switch *sw, uint64_t now_ns, uint16_t port,
                                                      const void *datagram, size_t bytes, gn_action *actions)
{
    return rx(sw, now_ns, port, datagram, bytes, actions, gn_agg_check);
}

#if defined(__x86_64__)
GN_PCLMUL static unsigned rx_pclmul(gn_switch *sw, uint64_t now_ns, uint16_t port, const void *datagram, size_t bytes,
                                    gn_action *actions)
{
    return rx(sw, now_ns, port, datagram, bytes, actions, gn_check_pclmul);
}
#endif

unsigned gn_switch_rx(gn_switch *sw, uint64_t now_ns, uint16_t port, const void *datagram, size_t bytes,
                      gn_action *actions)
{
#if defined(__x86_64__)
    if (gn_check_has_pclmul()) return rx_pclmul(sw, now_ns, port, datagram, bytes, actions);
#endif
    return rx_anywhere(sw, now_ns, port, datagram, bytes, actions);
}
