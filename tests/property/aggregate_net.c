// SPDX-License-Identifier: Apache-2.0
#include "aggregate_net.h"

#include <stdlib.h>
#include <string.h>

#include "host/splitmix.h"

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
    for (unsigned i = 0; i < n->ranks; i++) gn_worker_free(n->job[job].worker[i]);
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
        open_job(n, job);
    }
}

void net_restart(net *n, unsigned job)
{
    close_job(n, job);
    n->job[job].gen++;
    open_job(n, job);
}

void net_close(net *n)
{
    for (unsigned i = 0; i < n->flights; i++) free(n->flight[i].data);
    for (unsigned job = 0; job < n->options.jobs; job++) close_job(n, job);
    for (unsigned i = 0; i < n->switches; i++) free(n->memory[i]);
    free(n->before);
}

static void put(net *n, int to, uint16_t port, const void *data, size_t bytes)
{
    if (n->flights == NET_FLIGHTS) {  // a queue that is full loses, as queues do
        n->overrun++;
        return;
    }
    net_flight *f = &n->flight[n->flights++];
    *f = (net_flight){.to = to, .port = port, .bytes = bytes, .data = malloc(bytes)};
    SUITE_CHECK(f->data, "no memory");
    memcpy(f->data, data, bytes);
}

/// Where a switch's port leads.
static void out_of_port(net *n, unsigned from, uint16_t port, const void *data, size_t bytes)
{
    if (port >= PS_PORT)
        put(n, NET_TO_PS + port - PS_PORT, 0, data, bytes);
    else if (port == PARENT_PORT)
        put(n, (int)n->place[from].parent, (uint16_t)n->place[from].bit, data, bytes);
    else if (n->place[from].level)
        put(n, (int)(n->place[from].first_child + port), PARENT_PORT, data, bytes);
    else
        put(n, NET_TO_WORKER + (int)(port + from * n->options.workers), 0, data, bytes);
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

static void deliver(net *n, const net_flight *f)
{
    n->delivered++;
    if (f->to >= NET_TO_WORKER) {
        const unsigned number = (unsigned)f->to - NET_TO_WORKER;
        n->job[number / NET_WORKERS].stirred[number % NET_WORKERS] = true;
        gn_worker_rx(n->job[number / NET_WORKERS].worker[number % NET_WORKERS], n->now, f->data, f->bytes);
    } else if (f->to >= NET_TO_PS) {
        n->job[f->to - NET_TO_PS].ps_stirred = true;
        gn_ps_rx(n->job[f->to - NET_TO_PS].ps, n->now, f->data, f->bytes);
    } else {
        deliver_to_switch(n, (unsigned)f->to, f);
    }
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

/// One packet arrives, or does not, or does and is still on its way.
static void move_one(net *n, bool faults)
{
    const unsigned at = net_below(n, n->flights), luck = net_below(n, 1000);
    net_flight f = n->flight[at];
    const bool lost = faults && luck < n->options.loss;
    const bool again = faults && !lost && luck < n->options.loss + n->options.repeat;
    if (!again) n->flight[at] = n->flight[--n->flights];
    n->lost += lost;
    n->repeated += again;
    if (again) {
        f.data = malloc(f.bytes);
        SUITE_CHECK(f.data, "no memory");
        memcpy(f.data, n->flight[at].data, f.bytes);
    }
    if (net_below(n, 1000) < n->options.mark) mark(&f);
    if (!lost) deliver(n, &f);
    free(f.data);
}

bool net_done(const net *n, unsigned job)
{
    for (unsigned i = 0; i < n->ranks; i++)
        if (!gn_worker_done(n->job[job].worker[i])) return false;
    return true;
}

static void earlier(int64_t *next, int64_t deadline)
{
    if (deadline != GN_NEVER && (*next == GN_NEVER || deadline < *next)) *next = deadline;
}

static void collect_worker(net *n, unsigned job, unsigned rank)
{
    static uint8_t out[NET_DATAGRAM];
    gn_worker *worker = n->job[job].worker[rank];
    const unsigned workers = n->options.workers;
    size_t bytes;
    while ((bytes = gn_worker_send(worker, n->now, out, sizeof out)))
        put(n, (int)(rank / workers), (uint16_t)(job * NET_WORKERS + rank % workers), out, bytes);
    n->job[job].stirred[rank] = false;
    earlier(&n->wake, gn_worker_deadline(worker));
}

static void collect_ps(net *n, unsigned job)
{
    static uint8_t out[NET_DATAGRAM];
    gn_ps *ps = n->job[job].ps;
    size_t bytes;
    while ((bytes = gn_ps_send(ps, n->now, out, sizeof out)))
        put(n, (int)root(n), (uint16_t)(PS_PORT + job), out, bytes);
    n->job[job].ps_stirred = false;
    earlier(&n->wake, gn_ps_deadline(ps));
}

/// As hosts do, asks for what there is to send those who have been given something, and everyone when somebody's time has come.
static void collect(net *n)
{
    const bool all = n->wake != GN_NEVER && n->wake <= n->now;
    if (all) n->wake = GN_NEVER;
    for (unsigned job = 0; job < n->options.jobs; job++) {
        const net_job *j = &n->job[job];
        for (unsigned rank = 0; rank < n->ranks; rank++)
            if (all || j->stirred[rank]) collect_worker(n, job, rank);
        if (j->ps && (all || j->ps_stirred)) collect_ps(n, job);
    }
}

static void wait(net *n)
{
    int64_t next = GN_NEVER;
    for (unsigned job = 0; job < n->options.jobs; job++) {
        for (unsigned i = 0; i < n->ranks; i++) earlier(&next, gn_worker_deadline(n->job[job].worker[i]));
        if (n->job[job].ps) earlier(&next, gn_ps_deadline(n->job[job].ps));
    }
    SUITE_CHECK(next != GN_NEVER, "nothing is on its way, and nobody has anything to wait for");
    if (next > n->now) n->now = next;
}

void net_post(net *n, unsigned job, float *const *send, float *const *recv, size_t count)
{
    net_job *j = &n->job[job];
    for (unsigned i = 0; i < n->ranks; i++) {
        SUITE_CHECK(gn_worker_post(j->worker[i], send[i], recv[i], count) == GN_OK,
                    "gn_worker_post(j->worker[i], send[i], recv[i], count) == GN_OK");
        j->stirred[i] = true;
    }
    j->steps_left = n->options.jobs * (20000 + 600ull * n->ranks * (count / n->options.packet_values + 1));
}

void net_step(net *n)
{
    bool busy = false;
    collect(n);
    for (unsigned job = 0; job < n->options.jobs; job++) {
        if (net_done(n, job)) continue;
        busy = true;
        SUITE_CHECK(--n->job[job].steps_left, "job %u does not end", job);
    }
    if (!busy) return;
    if (net_below(n, 1000) == 0)
        for (unsigned i = 0, job = net_below(n, n->options.jobs); i < n->ranks; i++)
            gn_worker_set_priority(n->job[job].worker[i], (uint16_t)net_below(n, 65536));
    if (n->options.timeless) {
        SUITE_CHECK(n->flights, "nothing has been lost, and still somebody waits");
        move_one(n, true);
        return;
    }
    if (!n->flights || net_below(n, 400) == 0)
        wait(n);
    else
        move_one(n, true);
    n->now += 1000;
}

void net_drain(net *n)
{
    for (uint64_t steps = 0; n->flights; steps++) {
        SUITE_CHECK(steps < 100000, "steps < 100000");
        move_one(n, false);
        collect(n);
    }
}
