// SPDX-License-Identifier: Apache-2.0
#include "aggregate_net.h"

#include <stdlib.h>
#include <string.h>

#include "net/splitmix.h"

enum { JOB = 7, GEN = 3, PARENT_PORT = 1000, PS_PORT = 2000 };

uint64_t net_random(net *n)
{
    return splitmix64(&n->random);
}

unsigned net_below(net *n, unsigned limit)
{
    return (unsigned)(net_random(n) % limit);
}

static unsigned root(const net *n)
{
    return n->switches - 1;
}

static bool shares(const net *n, unsigned number)
{
    return n->place[number].mode != GN_PARTITIONED;
}

/// A level of `count` switches from number `at` on, above `below` of them (0: above workers).
static void lay_out(net *n, unsigned level, unsigned at, unsigned count, unsigned below)
{
    const net_options *o = &n->options;
    for (unsigned i = 0; i < count; i++) {
        net_place *p = &n->place[at + i];
        const unsigned children = below ? below / count : o->workers, first = at - below + i * children;
        const bool is_root = at + i == root(n);
        *p = (net_place){.level = level,
                         .children = children,
                         .first_child = first,
                         .mode = is_root || level >= o->share_from ? o->mode : GN_PARTITIONED,
                         .counts_level = level,
                         .bits = children};
        for (unsigned c = 0; below && c < children; c++) {
            net_place *child = &n->place[first + c];
            child->parent = at + i;
            child->bit = c;
            if (child->mode == GN_PARTITIONED) continue;
            p->counts_level = child->counts_level;
            p->bits = children * child->bits;
        }
    }
}

static void open_switch(net *n, unsigned number)
{
    const net_options *o = &n->options;
    const gn_memory_mode mode = n->place[number].mode;
    const gn_switch_config config = {.slots = mode == GN_PARTITIONED ? o->slots * o->jobs : o->array,
                                     .slot_values = o->packet_values,
                                     .jobs = NET_JOBS,
                                     .mode = mode,
                                     .windows = o->slots * o->jobs};
    const size_t bytes = gn_switch_bytes(&config);
    n->memory[number] = malloc(bytes);
    n->before = realloc(n->before, bytes);
    SUITE_CHECK(n->memory[number] && n->before, "n->memory[number] && n->before");
    SUITE_CHECK(gn_switch_init(&n->sw[number], &config, n->memory[number], bytes) == GN_OK,
                "gn_switch_init(&n->sw[number], &config, n->memory[number], bytes) == GN_OK");
}

/// One job at one switch, with its generation of now.
static void add_job(net *n, unsigned job, unsigned number)
{
    const net_options *o = &n->options;
    const net_place *p = &n->place[number], *parent = &n->place[p->parent];
    const bool is_root = number == root(n), is_leaf = p->level == 0;
    const unsigned own = p->mode == GN_PARTITIONED ? 1 : p->bits;  // bits at the parent
    gn_switch_job j = {.job = (uint16_t)(JOB + job),
                       .gen = n->job[job].gen,
                       .format = o->format,
                       .bound_exp = o->bound_exp,
                       .slots = o->slots,
                       .level = (uint8_t)p->counts_level,
                       .children = (uint8_t)p->children,
                       .has_parent = !is_root,
                       .parent_port = PARENT_PORT,
                       .parent_bit = (uint8_t)(p->bit * own),
                       .parent_fanin = (uint8_t)parent->bits,
                       .ps_port = (uint16_t)(PS_PORT + job)};
    for (unsigned at = number; at != root(n); at = n->place[at].parent)
        if (n->place[at].bit) j.leader = 255;  // rank 0 is elsewhere
    if (p->counts_level < p->level) j.bits = (uint8_t)p->bits;
    for (unsigned i = 0; j.bits && i < p->children; i++) j.first_bit[i] = (uint8_t)(i * p->bits / p->children);
    for (unsigned i = 0; i < j.children; i++) j.port[i] = (uint16_t)(is_leaf ? job * NET_WORKERS + i : i);
    SUITE_CHECK(gn_switch_add_job(&n->sw[number], &j) == GN_OK, "gn_switch_add_job(&n->sw[number], &j) == GN_OK");
}

static void open_job(net *n, unsigned job)
{
    const net_options *o = &n->options;
    net_job *j = &n->job[job];
    for (unsigned i = 0; i < n->switches; i++) add_job(n, job, i);
    for (unsigned rank = 0; rank < n->ranks; rank++) {
        const gn_worker_config config = {.job = (uint16_t)(JOB + job),
                                         .gen = j->gen,
                                         .rank = (uint16_t)rank,
                                         .ranks = (uint16_t)n->ranks,
                                         .bit = (uint8_t)(rank % o->workers),
                                         .children = (uint8_t)o->workers,
                                         .format = o->format,
                                         .bound_exp = o->bound_exp,
                                         .slots = o->slots,
                                         .packet_values = o->packet_values,
                                         .mode = n->place[rank / o->workers].mode};
        SUITE_CHECK(gn_worker_new(&j->worker[rank], &config) == GN_OK,
                    "gn_worker_new(&j->worker[rank], &config) == GN_OK");
    }
    if (o->mode == GN_PARTITIONED) return;
    const gn_ps_config config = {.job = (uint16_t)(JOB + job),
                                 .gen = j->gen,
                                 .format = o->format,
                                 .bound_exp = o->bound_exp,
                                 .slots = o->slots,
                                 .packet_values = o->packet_values,
                                 .level = (uint8_t)n->place[root(n)].counts_level,
                                 .children = (uint8_t)n->place[root(n)].bits};
    SUITE_CHECK(gn_ps_new(&j->ps, &config) == GN_OK, "gn_ps_new(&j->ps, &config) == GN_OK");
}

static void close_job(net *n, unsigned job)
{
    for (unsigned i = 0; i < n->ranks; i++) {
        n->account.fallbacks += gn_worker_get_stats(n->job[job].worker[i]).fallback_chunks;
        gn_worker_free(n->job[job].worker[i]);
    }
    gn_ps_free(n->job[job].ps);
}

void net_open(net *n, const net_options *options)
{
    *n = (net){
        .options = *options, .random = options->seed, .ranks = options->leaves * options->workers, .wake = GN_NEVER};
    n->switches = options->leaves > 1 ? options->leaves + options->mids + 1 : 1;
    lay_out(n, 0, 0, options->leaves, 0);
    if (options->mids) lay_out(n, 1, options->leaves, options->mids, options->leaves);
    if (options->leaves > 1)
        lay_out(n, 1 + (options->mids > 0), root(n), 1, options->mids ? options->mids : options->leaves);
    for (unsigned i = 0; i < n->switches; i++) open_switch(n, i);
    for (unsigned job = 0; job < options->jobs; job++) {
        n->job[job].gen = GEN;
        for (unsigned seat = 0; seat < NET_SEATS; seat++) n->job[job].busy[seat] = net_below(n, 4) == 0;
        open_job(n, job);
    }
}

void net_restart(net *n, unsigned job)
{
    close_job(n, job);
    n->account.restarts++;
    n->job[job].gen++;
    memset(n->job[job].latest, 0, sizeof n->job[job].latest);
    open_job(n, job);
}

void net_close(net *n)
{
    for (unsigned i = 0; i < n->flights; i++) free(n->flight[i].data);
    for (unsigned job = 0; job < n->options.jobs; job++) close_job(n, job);
    for (unsigned i = 0; i < n->switches; i++) free(n->memory[i]);
    free(n->before);
}

static void slow_down(net *n, net_flight *f)
{
    f->until = n->steps + (1u << net_below(n, NET_SLOW));
}

static void put(net *n, int to, uint16_t port, const void *data, size_t bytes)
{
    if (n->flights == NET_FLIGHTS) {  // a queue that is full loses, as queues do
        n->account.overrun++;
        return;
    }
    net_flight *f = &n->flight[n->flights++];
    *f = (net_flight){.to = to, .port = port, .bytes = bytes, .data = malloc(bytes)};
    if (net_below(n, 1000) < n->options.slow) slow_down(n, f);
    SUITE_CHECK(f->data, "no memory");
    memcpy(f->data, data, bytes);
}

/// Where a switch's port leads.
static void out_of_port(net *n, unsigned from, uint16_t port, const void *data, size_t bytes)
{
    if (port >= PS_PORT)
        put(n, NET_TO_HOST + (port - PS_PORT) * NET_SEATS + NET_PS, 0, data, bytes);
    else if (port == PARENT_PORT)
        put(n, (int)n->place[from].parent, (uint16_t)n->place[from].bit, data, bytes);
    else if (n->place[from].level)
        put(n, (int)(n->place[from].first_child + port), PARENT_PORT, data, bytes);
    else
        put(n, NET_TO_HOST + port / NET_WORKERS * NET_SEATS + (int)(port % NET_WORKERS + from * n->options.workers), 0,
            data, bytes);
}

static void carry_out(net *n, unsigned from, const gn_action *action)
{
    static uint8_t out[NET_DATAGRAM];
    const size_t bytes = gn_action_write(&n->sw[from], action, out, sizeof out);
    if (action->kind == GN_TO_NOBODY) return;
    SUITE_CHECK(bytes > 0, "bytes > 0");
    SUITE_CHECK(bytes <= gn_agg_bound(n->options.packet_values), "bytes <= gn_agg_bound(n->options.packet_values)");
    const gn_switch_job *job = gn_switch_job_at(&n->sw[from], action->job_index);
    if (action->kind != GN_TO_GROUP)
        out_of_port(n, from, action->port, out, bytes);
    else
        for (unsigned i = 0; i < job->children; i++) out_of_port(n, from, job->port[i], out, bytes);
}

static void deliver_to_switch(net *n, unsigned number, const net_flight *f)
{
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    gn_switch *sw = &n->sw[number];
    const bool look = shares(n, number);
    if (look) net_remember(sw, n->before);
    const unsigned count = gn_switch_rx(sw, (uint64_t)n->now, f->port, f->data, f->bytes, actions);
    SUITE_CHECK(count >= 1, "count >= 1");
    SUITE_CHECK(count <= GN_SWITCH_ACTIONS_MAX, "count <= GN_SWITCH_ACTIONS_MAX");
    if (look) net_check_shared(sw, n->before, actions, count);
    for (unsigned i = 0; i < count; i++) carry_out(n, number, &actions[i]);
}

// ---- hosts: workers and parameter servers

static bool is_there(const net *n, unsigned job, unsigned seat)
{
    return seat == NET_PS ? n->job[job].ps != NULL : seat < n->ranks;
}

static int64_t deadline_of(const net *n, unsigned job, unsigned seat)
{
    const net_job *j = &n->job[job];
    return seat == NET_PS ? gn_ps_deadline(j->ps) : gn_worker_deadline(j->worker[seat]);
}

static void earlier(int64_t *next, int64_t deadline)
{
    if (deadline != GN_NEVER && (*next == GN_NEVER || deadline < *next)) *next = deadline;
}

static void make_ready(net *n, unsigned job, unsigned seat)
{
    if (n->job[job].ready[seat]) return;
    n->job[job].ready[seat] = true;
    n->ready[n->ready_count++] = (net_turn){(uint8_t)job, (uint8_t)seat, n->steps};
}

/// Those whose time has come have something to send, too.
static void wake_late(net *n)
{
    if (n->wake == GN_NEVER || n->now < n->wake) return;
    n->wake = GN_NEVER;
    for (unsigned job = 0; job < n->options.jobs; job++)
        for (unsigned seat = 0; seat < NET_SEATS; seat++) {
            if (!is_there(n, job, seat) || n->job[job].ready[seat]) continue;
            const int64_t deadline = deadline_of(n, job, seat);
            if (deadline != GN_NEVER && deadline <= n->now)
                make_ready(n, job, seat);
            else
                earlier(&n->wake, deadline);
        }
}

/// @return whether there was one
static bool send_one(net *n, unsigned job, unsigned seat)
{
    static uint8_t out[NET_DATAGRAM];
    const net_job *j = &n->job[job];
    const unsigned workers = n->options.workers;
    const bool is_ps = seat == NET_PS;
    const size_t bytes =
        is_ps ? gn_ps_send(j->ps, n->now, out, sizeof out) : gn_worker_send(j->worker[seat], n->now, out, sizeof out);
    if (!bytes) return false;
    net_check_sent(n, job, seat, out, bytes);
    if (is_ps)
        put(n, (int)root(n), (uint16_t)(PS_PORT + job), out, bytes);
    else
        put(n, (int)(seat / workers), (uint16_t)(job * NET_WORKERS + seat % workers), out, bytes);
    return true;
}

/// A host's turn: one packet. With more, it has to wait again.
static void take_turn(net *n, unsigned at)
{
    const net_turn t = n->ready[at];
    memmove(n->ready + at, n->ready + at + 1, sizeof t * (--n->ready_count - at));
    n->job[t.job].ready[t.seat] = false;
    if (send_one(n, t.job, t.seat))
        make_ready(n, t.job, t.seat);
    else
        earlier(&n->wake, deadline_of(n, t.job, t.seat));
}

/// Whether a host's turn comes ahead of a packet's arrival.
static bool turn_comes(net *n, unsigned *at)
{
    if (!n->ready_count) return false;
    const bool held = n->steps - n->ready[0].since > NET_HOLD;
    *at = held ? 0 : net_below(n, n->ready_count);
    if (held || !n->flights) return true;
    const net_turn t = n->ready[*at];
    return net_below(n, 1000) < n->options.pace && !(n->job[t.job].busy[t.seat] && net_below(n, 64));
}

// ---- packets

static void deliver_to_host(net *n, unsigned job, unsigned seat, const net_flight *f)
{
    n->account.between += n->job[job].ready[seat];
    if (seat == NET_PS)
        gn_ps_rx(n->job[job].ps, n->now, f->data, f->bytes);
    else
        gn_worker_rx(n->job[job].worker[seat], n->now, f->data, f->bytes);
    make_ready(n, job, seat);
}

static void deliver(net *n, const net_flight *f)
{
    n->delivered++;
    if (f->to >= NET_TO_HOST)
        deliver_to_host(n, (unsigned)(f->to - NET_TO_HOST) / NET_SEATS, (unsigned)(f->to - NET_TO_HOST) % NET_SEATS, f);
    else
        deliver_to_switch(n, (unsigned)f->to, f);
}

/// A queue that the packet was in was long.
static void mark(net_flight *f)
{
    static uint8_t out[NET_DATAGRAM];
    gn_agg_packet packet;
    SUITE_CHECK(gn_agg_parse(f->data, f->bytes, &packet) == GN_AGG_FINE,
                "gn_agg_parse(f->data, f->bytes, &packet) == GN_AGG_FINE");
    packet.flags |= GN_AGG_ECN;
    SUITE_CHECK(gn_agg_write_again(&packet, out, sizeof out) == f->bytes,
                "gn_agg_write_again(&packet, out, sizeof out) == f->bytes");
    memcpy(f->data, out, f->bytes);
}

/// Picks one of the packets on their way. It gives a slow one only when five tries find no other
/// and no host has anything to send.
static bool find_flight(net *n, unsigned *at)
{
    for (unsigned i = 0; n->flights && i < 5; i++) {
        *at = net_below(n, n->flights);
        if (n->flight[*at].until <= n->steps) return true;
    }
    return n->flights && !n->ready_count;
}

/// One packet arrives, or does not, or does and is still on its way.
static void move_flight(net *n, unsigned at, bool faults)
{
    const unsigned luck = net_below(n, 1000);
    net_flight f = n->flight[at];
    const bool lost = faults && luck < n->options.loss;
    const bool again = faults && !lost && luck < n->options.loss + n->options.repeat;
    if (!again) n->flight[at] = n->flight[--n->flights];
    n->account.lost += lost;
    n->account.repeated += again;
    if (again) {
        f.data = malloc(f.bytes);
        SUITE_CHECK(f.data, "no memory");
        memcpy(f.data, n->flight[at].data, f.bytes);
        if (net_below(n, 2)) slow_down(n, &n->flight[at]);
    }
    if (net_below(n, 1000) < n->options.mark) mark(&f);
    if (!lost) deliver(n, &f);
    free(f.data);
}

/// A packet arrives, or is sent.
static void move_one(net *n, bool faults)
{
    unsigned turn = 0, flight = 0;  // gcc does not see, with the thread sanitizer, that both are set
    if (turn_comes(n, &turn) || !find_flight(n, &flight))
        take_turn(n, turn);
    else
        move_flight(n, flight, faults);
}

// ---- what happens

static bool is_unfinished(const net *n, unsigned job)
{
    for (unsigned i = 0; i < n->ranks; i++)
        if (!gn_worker_done(n->job[job].worker[i])) return true;
    return false;
}

static void wait(net *n)
{
    int64_t next = GN_NEVER;
    for (unsigned job = 0; job < n->options.jobs; job++)
        for (unsigned seat = 0; seat < NET_SEATS; seat++)
            if (is_there(n, job, seat)) earlier(&next, deadline_of(n, job, seat));
    SUITE_CHECK(next != GN_NEVER || !net_idle(n), "nothing is on its way, and nobody has anything to wait for");
    if (next > n->now) n->now = next;
}

void net_post(net *n, unsigned job, unsigned rank, const float *send, float *recv, size_t count)
{
    net_job *j = &n->job[job];
    SUITE_CHECK(gn_worker_post(j->worker[rank], send, recv, count) == GN_OK,
                "gn_worker_post(j->worker[rank], send, recv, count) == GN_OK");
    make_ready(n, job, rank);
    j->steps_left = n->options.jobs * (60000 + 1800ull * n->ranks * (count / n->options.packet_values + 1));
}

bool net_idle(const net *n)
{
    return !n->flights && !n->ready_count;
}

static void set_priorities(net *n)
{
    const unsigned job = net_below(n, n->options.jobs);
    for (unsigned i = 0; i < n->ranks; i++)
        gn_worker_set_priority(n->job[job].worker[i], (uint16_t)net_below(n, 65536));
}

void net_step(net *n)
{
    const bool timeless = n->options.timeless;
    n->steps++;
    wake_late(n);
    for (unsigned job = 0; job < n->options.jobs; job++)
        SUITE_CHECK(!is_unfinished(n, job) || --n->job[job].steps_left, "job %u does not end", job);
    SUITE_CHECK(!timeless || !net_idle(n), "nothing has been lost, and still somebody waits");
    if (net_below(n, 1000) == 0) set_priorities(n);
    if (net_idle(n) || (!timeless && net_below(n, 400) == 0))
        wait(n);
    else
        move_one(n, true);
    n->now += timeless ? 0 : 1000;
}

void net_drain(net *n)
{
    for (uint64_t steps = 0; !net_idle(n); steps++) {
        SUITE_CHECK(steps < 100000, "steps < 100000");
        move_one(n, false);
    }
}
