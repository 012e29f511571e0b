// SPDX-License-Identifier: Apache-2.0
// How a group comes to have a job at a switch, and leaves it. Every rank asks for its own place.
// Which place that is follows from who shares a switch with whom (bootstrap/server.c). Where ranks
// have more than one switch, those are leaves of one parent.
#include "ring/switched.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "net/clock.h"
#include "net/socket.h"
#include "ring/deadline.h"
#include "ring/failure.h"
#include "ring/oob.h"
#include "ring/pool.h"
#include "ring/turn.h"

// A switch and workers that are processes wait for processors as well as for packets. What is asked
// for again too early costs them the more.
enum { SLOTS_INT32 = 256, SLOTS_COMPRESSED = 512, RTO_DEFAULT_US = 10000 };

static gn_status plan(const gn_comm *comm, const char *name, gn_admission_join *join, gn_error *error)
{
    const gn_comm_config *config = &comm->config;
    const uint8_t *at = comm->table.switch_index, mine = at[comm->rank];
    unsigned children = 0, bit = 0, switches = 0;
    for (int rank = 0; rank < comm->size; rank++) {
        if (at[rank] == switches) switches++;
        children += at[rank] == mine;
        bit += at[rank] == mine && rank < comm->rank;
    }
    if (children > GN_AGG_WORKERS_MAX || switches > GN_AGG_WORKERS_MAX)
        return gn_fail(error, GN_INVALID, "%u %s %s: at most %d, more need leaf switches (or fewer of them)",
                       children > GN_AGG_WORKERS_MAX ? children : switches,
                       children > GN_AGG_WORKERS_MAX ? "ranks at the switch" : "switches below the parent of", name,
                       GN_AGG_WORKERS_MAX);
    // Compressed packets are shorter: more of them are to be on their way.
    const unsigned slots = config->switch_slots ? config->switch_slots
                           : config->quantise   ? SLOTS_COMPRESSED
                                                : SLOTS_INT32;
    const gn_pace none = {0};
    *join = (gn_admission_join){.rank = (uint16_t)comm->rank,
                                .ranks = (uint16_t)comm->size,
                                .bit = (uint8_t)bit,
                                .children = (uint8_t)children,
                                .parent_bit = switches > 1 ? mine : 0,
                                .parent_children = (uint8_t)(switches > 1 ? switches : 0),
                                .leader = at[0] == mine ? 0 : GN_AGG_WORKERS_MAX,
                                .format = (uint8_t)gn_switch_route_format(config),
                                .bound_exp = (int8_t)(config->quantise ? config->codec.bound_exp : 0),
                                .packet_values = comm->table.switch_values,
                                .slots = (uint16_t)slots,
                                .priority = gn_pace_priority(&none, GN_SECOND, 0, 0, 0),
                                .patience_ms = (uint32_t)comm->timeout_ms,
                                .streams = (uint8_t)config->switch_channels};
    gn_token_text(comm->table.token, join->name);
    return GN_OK;
}

/// About what a full chunk takes of the link.
static unsigned packet_bytes(const gn_comm *comm)
{
    enum { AROUND = GN_AGG_HEADER + 66, EXPECTED_RATIO = 6 };  // UDP, IP, Ethernet with its gap
    const unsigned values = comm->table.switch_values;
    if (gn_switch_route_format(&comm->config) == GN_AGG_HALF) return AROUND + 2 * values;
    return AROUND + 4 * values / (comm->config.quantise ? EXPECTED_RATIO : 1);
}

/// Without a number of slots: as many as the way to the switch needs, from the default on. Ranks
/// may differ; the switch grants what the least of them asks for.
static void size_pool(const gn_comm *comm, const gn_switched *s, gn_admission_join *join)
{
    if (comm->config.switch_slots) return;
    join->slots = (uint16_t)gn_pool_of(s->tether.connection->fd, packet_bytes(comm) * s->channels, join->slots);
}

/// Opens sockets at the address that the switch sees. Their ports go into JOIN.
static gn_status open_sockets(gn_switched *s, gn_admission_join *join, gn_error *error)
{
    gn_endpoint own;
    if (!gn_socket_local(s->tether.connection->fd, &own))
        return gn_fail(error, GN_IO, "switch %s: %s", s->name, strerror(errno));
    for (unsigned i = 0; i < s->channels; i++) {
        own.port = 0;
        s->channel[i].fd = gn_route_socket(NULL, &own);
        if (s->channel[i].fd < 0 || !gn_socket_local(s->channel[i].fd, &own))
            return gn_fail(error, GN_IO, "no UDP socket for the switch %s: %s", s->name, strerror(errno));
        join->udp_port[i] = own.port;
    }
    return GN_OK;
}

static gn_status not_admitted(const gn_comm *comm, const gn_switched *s, gn_error *error)
{
    return gn_fail(error, GN_TIMEOUT, "the switch %s has not admitted this job within %d ms: %s", s->name,
                   comm->timeout_ms, *s->tether.waits ? s->tether.waits : "it has not said why");
}

static gn_status switch_silent(const gn_switched *s, uint64_t span, gn_error *error)
{
    return gn_fail(error, GN_PEER_LOST,
                   gn_tether_is_up(&s->tether) ? "no sign of life from the switch %s for %.3g s"
                                               : "no connection to the switch %s within %.3g s",
                   s->name, gn_seconds(span));
}

/// The connection has ended. If that is because another rank has failed, rank 0 is about to say so.
static gn_status switch_ended(gn_comm *comm, const gn_switched *s, gn_bootstrap *boot, gn_error *error)
{
    uint64_t until = gn_now() + (s->tether.joined ? gn_oob_beat_span(comm) : 0);
    if (until > boot->deadline) until = boot->deadline;
    do {
        const gn_status status = gn_bootstrap_watch(boot, error);
        if (status) return status;
        (void)poll(NULL, 0, 10);
    } while (gn_now() < until);
    const bool unknown = s->tether.greeting.step == GN_GREETING_FAILED;
    return gn_fail(error,
                   unknown          ? GN_MISMATCH
                   : s->tether.told ? GN_PEER_LOST
                                    : GN_IO,
                   "switch %s: %s", s->name, s->tether.why);
}

static const char old_switch[] = " (a switch that does not know 16-bit values: update it, or leave switch_half off)";

/// Whether a refusal has another reason than that a switch is older than format half.
static bool knows_format(const gn_admission_join *join, const char *refusal)
{
    char unknown[32];
    snprintf(unknown, sizeof unknown, "format %d", (int)GN_AGG_HALF);
    return join->format != GN_AGG_HALF || !strstr(refusal, unknown);
}

static gn_status await_welcome(gn_comm *comm, gn_switched *s, gn_bootstrap *boot, gn_admission_join *join,
                               gn_admission *answer, gn_error *error)
{
    const uint64_t every = gn_oob_beat_span(comm) / 4;  // whom the switch waits for may change
    gn_status status = GN_OK;
    bool ready = false;
    for (answer->type = GN_ADMISSION_JOIN; answer->type == GN_ADMISSION_JOIN;) {
        if (gn_now() >= boot->deadline) return not_admitted(comm, s, error);
        if (gn_now() >= gn_tether_heard(&s->tether) + boot->patience) return switch_silent(s, boot->patience, error);
        if (gn_tether_is_up(&s->tether) && !ready) {
            status = open_sockets(s, join, error);
            size_pool(comm, s, join);
            ready = true;
        }
        if (!status && gn_tether_advance(&s->tether, ready ? join : NULL, answer))
            status = switch_ended(comm, s, boot, error);
        if (!status) status = gn_bootstrap_watch(boot, error);
        if (status) return status;
        if (answer->type != GN_ADMISSION_JOIN || (gn_tether_is_up(&s->tether) && !ready)) continue;
        if (ready && gn_now() >= s->tether.last_ping + every) gn_tether_ping(&s->tether, gn_now());
        struct pollfd p = gn_tether_poll(&s->tether);
        (void)poll(&p, 1, 20);  // short, because the bootstrap connections are looked at between
    }
    if (answer->type == GN_ADMISSION_REFUSED)
        return gn_fail(error, GN_INVALID, "the switch %s refused the job: %s%s", s->name, answer->text,
                       knows_format(join, answer->text) ? "" : old_switch);
    return GN_OK;
}

/// Datagrams of a job that was admitted with a secret are sealed.
static void seal(const gn_switched *s, unsigned channel, const gn_admission_join *join,
                 const gn_admission_welcome *welcome, gn_datagram_keys *keys)
{
    const gn_greeting *greeting = &s->tether.greeting;
    keys->sealed = greeting->secret->set;
    if (!keys->sealed) return;
    gn_greeting_key_up(greeting, channel, keys->up);
    gn_greeting_key_down(greeting, join->name, welcome->job[channel], welcome->gen[channel], keys->down);
}

static gn_status open_channels(gn_comm *comm, gn_switched *s, const gn_admission_join *join,
                               const gn_admission_welcome *welcome, const gn_switch_route *route, gn_error *error)
{
    if (welcome->streams != s->channels || welcome->slots > join->slots)
        return gn_fail(error, GN_CORRUPT, "the switch %s gave more than was asked for", s->name);
    for (unsigned i = 0; i < s->channels; i++) {
        const gn_worker_config config = {
            .job = welcome->job[i],
            .mode = (gn_memory_mode)welcome->mode,
            .priority = join->priority,
            .gen = welcome->gen[i],
            .rank = join->rank,
            .ranks = join->ranks,
            .bit = join->bit,
            .children = join->children,
            .format = (gn_agg_format)join->format,
            .bound_exp = join->bound_exp,
            .slots = welcome->slots,
            .packet_values = join->packet_values,
            .rto_min_ns = 1000 * (uint64_t)(comm->config.switch_rto_us ? comm->config.switch_rto_us : RTO_DEFAULT_US),
            .nic = comm->config.switch_nic,
            .stored = comm->config.quantise && comm->config.offload == GN_OFFLOAD_NONE};
        gn_endpoint to = route->address;
        to.port = welcome->udp_port[i];
        seal(s, i, join, welcome, &s->channel[i].keys);
        if (gn_socket_connect(s->channel[i].fd, &to))
            return gn_fail(error, GN_IO, "switch %s, port %u: %s", s->name, welcome->udp_port[i], strerror(errno));
        if (gn_worker_channel_open(&s->channel[i], &config, (uint8_t)comm->config.data_tos))
            return gn_fail_memory(error);
    }
    return GN_OK;
}

gn_status gn_switched_join(gn_comm *comm, gn_bootstrap *boot, gn_error *error)
{
    gn_switched *s = calloc(1, sizeof *s);
    if (!s) return gn_fail_memory(error);
    comm->switched = s;
    for (int i = 0; i < GN_ADMISSION_STREAMS_MAX; i++) s->channel[i].fd = -1;
    s->halt = gn_apart(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    s->news = gn_apart(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    s->channels = comm->config.switch_channels;
    s->pace.born = gn_now();
    s->packet_values = comm->table.switch_values;
    memcpy(s->name, boot->route.name, sizeof s->name);
    if (s->halt < 0 || s->news < 0) return gn_fail(error, GN_IO, "eventfd: %s", strerror(errno));
    gn_admission_join join;
    gn_status status = plan(comm, s->name, &join, error);
    if (!status && gn_tether_open(&s->tether, &boot->route.address, &boot->secret, &join))
        status = gn_fail(error, GN_IO, "cannot connect to the switch %s: %s", s->name, s->tether.why);
    gn_admission answer;
    if (!status) status = await_welcome(comm, s, boot, &join, &answer, error);
    if (!status) status = open_channels(comm, s, &join, &answer.welcome, &boot->route, error);
    gn_tether_forget(&s->tether);
    return status;
}

/// The communicator has failed. The switch is told, so that it does not keep the job until it finds
/// that nobody goes on: a rank that has stopped keeps its connection. But the switch may have
/// results of an earlier collective that somebody still lacks. Then it is not told.
static void end_at_switch(gn_comm *comm)
{
    char why[GN_ERROR_TEXT];
    gn_oob_last_error(comm, why);
    if (gn_oob_all_finished(comm, comm->switched->finished)) gn_tether_end(&comm->switched->tether, why);
}

void gn_switched_leave(gn_comm *comm)
{
    if (!comm->switched) return;
    if (gn_oob_state(comm)) {
        end_at_switch(comm);
        return;
    }
    const uint64_t finished = comm->switched->finished;
    const uint64_t begun = gn_now();
    uint64_t until = begun;  // what has been said meanwhile is read before anybody is given up
    while (!gn_oob_all_finished(comm, finished)) {
        // After a failure nobody waits for more.
        if (gn_oob_poll(comm, NULL, 0, gn_ms_until(until, gn_now()))) break;
        until = gn_oob_finish_until(comm, finished, begun);
        if (gn_now() >= until) break;
    }
    gn_tether_leave(&comm->switched->tether);
}

void gn_switched_free(gn_switched *s)
{
    if (!s) return;
    for (int i = 0; i < GN_ADMISSION_STREAMS_MAX; i++) gn_worker_channel_close(&s->channel[i]);
    gn_tether_close(&s->tether);
    gn_close(&s->halt);
    gn_close(&s->news);
    free(s);
}
