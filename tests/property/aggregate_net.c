// SPDX-License-Identifier: Apache-2.0
#include "aggregate_net.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

enum { JOB = 7, GEN = 3, PARENT_PORT = 1000 };

uint64_t net_random(net *n)
{
    uint64_t z = n->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

unsigned net_below(net *n, unsigned limit)
{
    return (unsigned)(net_random(n) % limit);
}

static void open_switch(net *n, unsigned number, const gn_switch_job *job)
{
    const gn_switch_config config = {.slots = job->slots, .slot_values = n->options.packet_values, .jobs = 2};
    const size_t bytes = gn_switch_bytes(&config);
    n->memory[number] = malloc(bytes);
    ck_assert_ptr_nonnull(n->memory[number]);
    ck_assert_int_eq(gn_switch_init(&n->sw[number], &config, n->memory[number], bytes), GN_OK);
    ck_assert_int_eq(gn_switch_add_job(&n->sw[number], job), GN_OK);
}

static void open_switches(net *n)
{
    const net_options *o = &n->options;
    gn_switch_job job = {.job = JOB, .gen = GEN, .format = o->format, .bound_exp = o->bound_exp, .slots = o->slots};
    for (unsigned leaf = 0; leaf < o->leaves; leaf++) {
        job.children = (uint8_t)o->workers;
        for (unsigned i = 0; i < o->workers; i++) job.port[i] = (uint16_t)i;
        job.leader = leaf ? 255 : 0;
        job.has_parent = o->leaves > 1;
        job.parent_port = PARENT_PORT;
        job.parent_bit = (uint8_t)leaf;
        job.parent_fanin = (uint8_t)o->leaves;
        open_switch(n, leaf, &job);
    }
    n->switches = o->leaves;
    if (o->leaves == 1) return;
    job.level = 1;
    job.children = (uint8_t)o->leaves;
    for (unsigned i = 0; i < o->leaves; i++) job.port[i] = (uint16_t)i;
    job.leader = 0;
    job.has_parent = false;
    open_switch(n, n->switches++, &job);
}

void net_open(net *n, const net_options *options)
{
    *n = (net){.options = *options, .random = options->seed, .ranks = options->leaves * options->workers};
    open_switches(n);
    for (unsigned rank = 0; rank < n->ranks; rank++) {
        const gn_worker_config config = {.job = JOB,
                                         .gen = GEN,
                                         .rank = (uint16_t)rank,
                                         .ranks = (uint16_t)n->ranks,
                                         .bit = (uint8_t)(rank % options->workers),
                                         .children = (uint8_t)options->workers,
                                         .format = options->format,
                                         .bound_exp = options->bound_exp,
                                         .slots = options->slots,
                                         .packet_values = options->packet_values};
        ck_assert_int_eq(gn_worker_new(&n->worker[rank], &config), GN_OK);
    }
}

void net_close(net *n)
{
    for (unsigned i = 0; i < n->flights; i++) free(n->flight[i].data);
    for (unsigned i = 0; i < n->ranks; i++) gn_worker_free(n->worker[i]);
    for (unsigned i = 0; i < n->switches; i++) free(n->memory[i]);
}

void net_put(net *n, int to, uint16_t port, const void *data, size_t bytes)
{
    if (n->flights == NET_FLIGHTS) {  // a queue that is full loses, as queues do
        n->overrun++;
        return;
    }
    net_flight *f = &n->flight[n->flights++];
    *f = (net_flight){.to = to, .port = port, .bytes = bytes, .data = malloc(bytes)};
    ck_assert_ptr_nonnull(f->data);
    memcpy(f->data, data, bytes);
}

/// Where a switch's port leads.
static void out_of_port(net *n, unsigned from, uint16_t port, const void *data, size_t bytes)
{
    const unsigned root = n->switches - 1;
    if (port == PARENT_PORT)
        net_put(n, (int)root, (uint16_t)from, data, bytes);
    else if (n->options.leaves > 1 && from == root)
        net_put(n, port, PARENT_PORT, data, bytes);
    else
        net_put(n, -1 - (int)(from * n->options.workers + port), 0, data, bytes);
}

static void carry_out(net *n, unsigned from, const gn_action *action)
{
    static uint8_t out[NET_DATAGRAM];
    const size_t bytes = gn_action_write(&n->sw[from], action, out, sizeof out);
    if (action->kind == GN_TO_NOBODY) return;
    ck_assert_uint_gt(bytes, 0);
    ck_assert_uint_le(bytes, gn_agg_bound(n->options.packet_values));
    const gn_switch_job *job = gn_switch_job_at(&n->sw[from], action->job_index);
    if (action->kind != GN_TO_GROUP)
        out_of_port(n, from, action->port, out, bytes);
    else
        for (unsigned i = 0; i < job->children; i++) out_of_port(n, from, job->port[i], out, bytes);
}

static void deliver(net *n, const net_flight *f)
{
    n->delivered++;
    if (f->to < 0) {
        gn_worker_rx(n->worker[-1 - f->to], n->now, f->data, f->bytes);
        return;
    }
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    const unsigned count = gn_switch_rx(&n->sw[f->to], (uint64_t)n->now, f->port, f->data, f->bytes, actions);
    ck_assert_uint_ge(count, 1);
    ck_assert_uint_le(count, GN_SWITCH_ACTIONS_MAX);
    for (unsigned i = 0; i < count; i++) carry_out(n, (unsigned)f->to, &actions[i]);
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
        ck_assert_ptr_nonnull(f.data);
        memcpy(f.data, n->flight[at].data, f.bytes);
    }
    if (!lost) deliver(n, &f);
    free(f.data);
}

static bool all_done(const net *n)
{
    for (unsigned i = 0; i < n->ranks; i++)
        if (!gn_worker_done(n->worker[i])) return false;
    return true;
}

static void collect(net *n)
{
    static uint8_t out[NET_DATAGRAM];
    for (unsigned rank = 0; rank < n->ranks; rank++) {
        size_t bytes;
        while ((bytes = gn_worker_send(n->worker[rank], n->now, out, sizeof out)))
            net_put(n, (int)(rank / n->options.workers), (uint16_t)(rank % n->options.workers), out, bytes);
    }
}

static void wait(net *n)
{
    int64_t next = GN_NEVER;
    for (unsigned i = 0; i < n->ranks; i++) {
        const int64_t deadline = gn_worker_deadline(n->worker[i]);
        if (deadline != GN_NEVER && (next == GN_NEVER || deadline < next)) next = deadline;
    }
    ck_assert_msg(next != GN_NEVER, "nothing is on its way, and no worker has anything to wait for");
    if (next > n->now) n->now = next;
}

void net_allreduce(net *n, float *const *send, float *const *recv, size_t count)
{
    for (unsigned i = 0; i < n->ranks; i++)
        ck_assert_int_eq(gn_worker_post(n->worker[i], send[i], recv[i], count), GN_OK);
    const uint64_t limit = n->steps + 20000 + 400ull * n->ranks * (count / n->options.packet_values + 1);
    while (!all_done(n)) {
        ck_assert_msg(++n->steps < limit, "no end after %llu steps", (unsigned long long)n->steps);
        collect(n);
        if (!n->flights || net_below(n, 400) == 0)
            wait(n);
        else
            move_one(n, true);
        n->now += 1000;
        if (n->inject && net_below(n, 10) == 0) n->inject(n);
    }
}

void net_drain(net *n)
{
    for (uint64_t steps = 0; n->flights; steps++) {
        ck_assert_uint_lt(steps, 100000);
        move_one(n, false);
        collect(n);
    }
}
