// SPDX-License-Identifier: Apache-2.0
// One allreduce through a switch. The vector is cut into as many runs of whole chunks as there are
// channels. The thread of the collective moves the first one, and serves the out-of-band
// connections and the switch's. The others have a thread each, which touches nothing but its
// channel.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/clock.h"
#include "ring/deadline.h"
#include "ring/failure.h"
#include "ring/oob.h"
#include "ring/switched.h"
#include "ring/turn.h"

enum { LOOK_EVERY = 64, CHUNKS_MIN = 64 };  // less is not worth a thread

typedef struct run {
    gn_exchange *x;
    gn_comm *comm;
    gn_switched *s;
    unsigned channels, threads;  ///< with values; started
    bool told;                   ///< the other ranks know that we have all results
} run;

static uint64_t collectives(const run *r)
{
    return r->comm->sequence + 1;  // through this one
}

// Threads -----------------------------------------------------------------------------------------

typedef struct errand {
    gn_switched *s;
    gn_worker_channel *channel;
} errand;

static void poke(int event)
{
    const uint64_t one = 1;
    (void)!write(event, &one, sizeof one);  // full: it is readable already
}

static void *move_channel(void *argument)
{
    const errand e = *(errand *)argument;
    bool told = false;
    while (!atomic_load(&e.s->ended) && !atomic_load(&e.channel->failed)) {
        const bool moved = gn_worker_channel_move(e.channel, gn_now());
        if (!told && (atomic_load(&e.channel->done) || atomic_load(&e.channel->failed))) {
            told = true;
            poke(e.s->news);
        }
        if (moved) continue;
        struct pollfd set[2] = {{.fd = e.channel->fd, .events = gn_worker_channel_events(e.channel)},
                                {.fd = e.s->halt, .events = POLLIN}};
        (void)poll(set, 2, gn_worker_channel_wait_ms(e.channel, gn_now()));
    }
    return NULL;
}

static gn_status start_threads(run *r, errand *errands)
{
    sigset_t all, before;  // the application's signals are not for a library's thread
    sigfillset(&all);
    int failed = 0;
    atomic_store(&r->s->ended, false);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 1; i < r->channels && !failed; i++) {
        errands[i] = (errand){r->s, &r->s->channel[i]};
        failed = pthread_create(&r->s->channel[i].thread, NULL, move_channel, &errands[i]);
        if (!failed) r->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed) return GN_OK;
    return gn_oob_fail(r->comm, GN_NO_MEMORY, r->comm->rank, "rank %d cannot start a thread: %s", r->comm->rank,
                       strerror(failed));
}

static void stop_threads(run *r)
{
    uint64_t drained;
    if (!r->threads) return;
    atomic_store(&r->s->ended, true);
    poke(r->s->halt);
    for (unsigned i = 1; i <= r->threads; i++) pthread_join(r->s->channel[i].thread, NULL);
    r->threads = 0;
    (void)!read(r->s->halt, &drained, sizeof drained);
    (void)!read(r->s->news, &drained, sizeof drained);
}

// When the switch is to blame ---------------------------------------------------------------------

/// Says what has been waited for longest: ", waiting for psn 7 of channel 0 for 312 ms".
static void describe_wait(const run *r, char *text, size_t room)
{
    int64_t oldest = 0;
    text[0] = 0;
    for (unsigned i = 0; i < r->channels; i++) {
        uint32_t psn;
        int64_t since;
        if (!gn_worker_waits_for(r->s->channel[i].worker, &psn, &since) || (oldest && since >= oldest)) continue;
        oldest = since;
        snprintf(text, room, ", waiting for psn %u of channel %u for %lld ms", psn, i,
                 (long long)(gn_elapsed((uint64_t)since, gn_now()) / GN_MILLISECOND));
    }
}

static gn_status blame_switch(run *r, const char *how)
{
    gn_comm *comm = r->comm;
    char waits[96];
    stop_threads(r);  // their channels are looked at here
    describe_wait(r, waits, sizeof waits);
    const bool none = comm->config.switch_nic && !comm->data_received;
    return gn_oob_fail(comm, GN_PEER_LOST, -1, "switch %s %s: %s in %s%s, %llu of %llu bytes summed%s", r->s->name,
                       r->s->tether.told ? "has ended the job" : "lost", how, comm->phase, waits,
                       (unsigned long long)comm->data_received, (unsigned long long)comm->data_expected,
                       none ? " (has this host's NIC a rule for UDP with head=32 and the profile and k of this job?)"
                            : "");
}

/// The switch has ended the job. If that is because a rank has died, the out-of-band connections
/// know which.
static gn_status switch_gone(run *r)
{
    const uint64_t until = gn_now() + gn_oob_beat_span(r->comm);
    uint8_t waiting[GN_RANKS_MAX];
    memset(waiting, 1, sizeof waiting);
    gn_status status = gn_oob_state(r->comm);
    while (!status && gn_now() < until) {
        status = gn_oob_poll(r->comm, NULL, 0, 10);
        gn_oob_take_later(r->comm);
        if (!status) status = gn_oob_check_deadline(r->comm, waiting);  // a rank may have left
    }
    return status ? status : blame_switch(r, r->s->tether.why);
}

// The collective's thread -------------------------------------------------------------------------

static bool all_headers(const run *r)
{
    for (int i = 0; i < r->comm->neighbour_count; i++)
        if (!gn_oob_has_header(r->comm, i)) return false;
    return true;
}

/// Nothing has moved. Looks who is to blame, and whether it is time.
static gn_status check_deadlines(run *r)
{
    gn_comm *comm = r->comm;
    gn_tether *tether = &r->s->tether;
    uint8_t waiting[GN_RANKS_MAX] = {0};
    for (int i = 0; i < comm->neighbour_count; i++)
        waiting[i] = comm->rank || !gn_oob_has_finished(comm, i, collectives(r));
    gn_status status = gn_oob_check_deadline(comm, waiting);
    const uint64_t now = gn_now(), still = gn_elapsed(comm->last_progress, now), limit = gn_comm_timeout(comm);
    const uint64_t heard = gn_tether_heard(tether);
    if (status || r->told || still < gn_oob_beat_span(comm)) return status;
    if (now >= tether->last_ping + gn_oob_beat_span(comm)) gn_tether_ping(tether, now);
    char text[GN_ADMISSION_TEXT + 80];
    snprintf(text, sizeof text, "no sign of life for %d ms", comm->timeout_ms);
    if (still > limit && gn_elapsed(heard, now) > limit) return blame_switch(r, text);
    // Rank 0 knows whether all are in this collective. If they are, and all live, the datagrams do
    // not pass.
    snprintf(text, sizeof text, "it lives, but has sent no result for %d ms%s%s%s", comm->timeout_ms,
             *tether->waits ? " (" : "", tether->waits, *tether->waits ? ")" : "");
    if (!comm->rank && still > limit && all_headers(r)) return blame_switch(r, text);
    return GN_OK;
}

/// Looks what the channels have come to.
static gn_status look(run *r)
{
    gn_comm *comm = r->comm;
    uint64_t values = 0;
    uint64_t moved = 0;
    for (unsigned i = 0; i < r->channels; i++) {
        gn_worker_channel *channel = &r->s->channel[i];
        const int failed = atomic_load(&channel->failed);
        const uint64_t at = atomic_load_explicit(&channel->moved, memory_order_relaxed);
        if (failed)
            return gn_oob_fail(comm, GN_IO, comm->rank, "rank %d cannot send to the switch %s: %s%s", comm->rank,
                               r->s->name, strerror(failed),
                               failed == EMSGSIZE ? " (give switch_values a smaller number)" : "");
        values += atomic_load_explicit(&channel->finished, memory_order_relaxed);
        if (at > moved) moved = at;
    }
    comm->data_received = values * sizeof(float);
    gn_oob_progress(comm, moved);
    return r->s->tether.gone ? switch_gone(r) : GN_OK;
}

static gn_status wait_for_more(run *r, bool blocked)
{
    gn_switched *s = r->s;
    struct pollfd data[3] = {{.fd = s->channel[0].fd, .events = gn_worker_channel_events(&s->channel[0])},
                             gn_tether_poll(&s->tether),
                             {.fd = s->news, .events = POLLIN}};
    uint64_t drained;
    gn_status status = gn_oob_poll(r->comm, data, 3, blocked ? gn_worker_channel_wait_ms(&s->channel[0], gn_now()) : 0);
    gn_tether_serve(&s->tether, data[1].revents);
    if (data[2].revents) (void)!read(s->news, &drained, sizeof drained);
    if (!status) status = look(r);
    return status || !blocked ? status : check_deadlines(r);
}

/// Whether all results are here, and no rank lacks one that only this rank has.
static bool complete(run *r)
{
    bool fell = false;
    for (unsigned i = 0; i < r->channels; i++)
        if (!atomic_load(&r->s->channel[i].done)) return false;
    if (r->told) return gn_oob_all_finished(r->comm, collectives(r));
    // Not before the headers say that it is the same call.
    if (!(r->comm->rank ? gn_oob_has_header(r->comm, 0) : all_headers(r))) return false;
    for (unsigned i = 0; i < r->channels; i++) fell |= atomic_load(&r->s->channel[i].fell);
    r->s->finished = collectives(r);
    gn_oob_finish(r->comm, collectives(r));
    r->told = true;
    return r->comm->rank || !fell || gn_oob_all_finished(r->comm, collectives(r));
}

/// The span that the job still has to go, as the application has said.
static uint64_t remaining(gn_comm *comm)
{
    pthread_mutex_lock(&comm->stats_lock);
    const uint64_t span = comm->remaining;
    pthread_mutex_unlock(&comm->stats_lock);
    return span;
}

/// Whether this vector travels in 16 bits.
static bool in_halves(const run *r)
{
    const gn_half half = r->comm->config.switch_half;
    return half == GN_HALF_ALL || (half == GN_HALF_TYPES && r->x->narrow);
}

static gn_status post(run *r)
{
    const gn_bucket *bucket = r->x->bucket;
    gn_pace_begin(&r->s->pace, gn_now());
    const uint16_t priority =
        gn_pace_priority(&r->s->pace, gn_now(), remaining(r->comm), bucket->layer, bucket->layers);
    const size_t count = bucket->count, values = r->s->packet_values;
    const size_t chunks = count / values + (count % values != 0);
    r->channels = (unsigned)(chunks / CHUNKS_MIN < r->s->channels ? chunks / CHUNKS_MIN : r->s->channels);
    if (!r->channels) r->channels = 1;
    for (unsigned i = 0; i < r->channels; i++) {
        const size_t first = chunks * i / r->channels * values, next = chunks * (i + 1) / r->channels * values;
        gn_worker_set_halves(r->s->channel[i].worker, in_halves(r));
        const gn_status status =
            gn_worker_channel_post(&r->s->channel[i], r->x, first, (next < count ? next : count) - first);
        if (status) return gn_oob_fail(r->comm, status, r->comm->rank, "rank %d is out of memory", r->comm->rank);
        gn_worker_set_priority(r->s->channel[i].worker, priority);
    }
    r->comm->data_expected = count * sizeof(float);
    r->s->tether.since = gn_now();
    return GN_OK;
}

/// Adds the channels' accounts to the collective's.
static void collect(run *r)
{
    gn_worker_stats sum = {0};
    for (unsigned i = 0; i < r->channels; i++) {
        gn_worker_channel *channel = &r->s->channel[i];
        const gn_worker_stats now = gn_worker_get_stats(channel->worker), *before = &channel->before;
        sum.up_bytes += now.up_bytes - before->up_bytes;
        sum.down_bytes += now.down_bytes - before->down_bytes;
        sum.resent += now.resent - before->resent;
        sum.late += now.late - before->late;
        sum.fallback_chunks += now.fallback_chunks - before->fallback_chunks;
        r->x->quantising += channel->x.quantising;
        r->x->reducing += channel->x.reducing;
        for (int v = 0; r->x->histogram && v < GN_HISTOGRAM; v++) r->x->histogram[v] += channel->histogram[v];
    }
    gn_comm_stats *stats = &r->comm->stats;
    pthread_mutex_lock(&r->comm->stats_lock);
    stats->sent_bytes += sum.up_bytes;
    stats->sent_wire_bytes += sum.up_bytes;
    stats->received_bytes += sum.down_bytes;
    stats->received_wire_bytes += sum.down_bytes;
    stats->resent_packets += sum.resent;
    stats->late_packets += sum.late;
    stats->fallback_chunks += sum.fallback_chunks;
    pthread_mutex_unlock(&r->comm->stats_lock);
}

gn_status gn_switched_run(gn_exchange *exchange)
{
    run r = {.x = exchange, .comm = exchange->comm, .s = exchange->comm->switched};
    errand errands[GN_ADMISSION_STREAMS_MAX];
    gn_status status = post(&r);
    if (!status) status = start_threads(&r, errands);
    for (unsigned lap = 1; !status && !complete(&r); lap++) {
        const bool moved = gn_worker_channel_move(&r.s->channel[0], gn_now());
        if (!moved || lap % LOOK_EVERY == 0) status = wait_for_more(&r, !moved);
    }
    stop_threads(&r);
    gn_pace_end(&r.s->pace, gn_now());
    collect(&r);
    return status;
}
