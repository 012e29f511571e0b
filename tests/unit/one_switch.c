// SPDX-License-Identifier: Apache-2.0
#include "one_switch.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

gn_switch sw;
static void *memory;
gn_action actions[GN_SWITCH_ACTIONS_MAX];
uint8_t out[256];
gn_agg_packet sent;

/// Two jobs, whose ports are 0.. and 10.., before one slot.
gn_switch_job job_of(uint16_t job)
{
    gn_switch_job j = {.job = job,
                       .gen = 1,
                       .format = GN_AGG_INT32,
                       .slots = SLOTS,
                       .children = CHILDREN,
                       .ps_port = (uint16_t)(PS_PORT + job)};
    for (unsigned i = 0; i < CHILDREN; i++) j.port[i] = (uint16_t)(10 * job + i);
    return j;
}

void begin_with(const gn_switch_config *config)
{
    const size_t bytes = gn_switch_bytes(config);
    free(memory);
    memory = malloc(bytes);
    ck_assert_int_eq(gn_switch_init(&sw, config, memory, bytes), GN_OK);
}

void begin(gn_memory_mode mode, uint32_t slots, uint32_t windows)
{
    begin_with(&(gn_switch_config){.slots = slots, .slot_values = VALUES, .jobs = 2, .mode = mode, .windows = windows});
}

gn_agg_packet header(gn_agg_type type, uint16_t job, uint32_t psn, uint64_t bitmap)
{
    return (gn_agg_packet){.type = (uint8_t)type,
                           .job = job,
                           .gen = 1,
                           .slot = (uint16_t)(psn % SLOTS),
                           .version = psn / SLOTS & 1,
                           .psn = psn,
                           .bitmap = bitmap,
                           .fanin = CHILDREN,
                           .values = type == GN_AGG_REMIND_SWITCH || type == GN_AGG_QUERY ? 0 : VALUES};
}

static uint8_t in[256];  // the last packet; an action may send it on

void expect_action(unsigned index)
{
    const size_t written = gn_action_write(&sw, &actions[index], out, sizeof out);
    if (written) ck_assert_int_eq(gn_agg_parse(out, written, &sent), GN_AGG_FINE);
    ck_assert((written == 0) == (actions[index].kind == GN_TO_NOBODY));
    actions[0] = actions[index];
}

unsigned give_for_actions(uint16_t port, const gn_agg_packet *p)
{
    const int32_t words[VALUES] = {(int32_t)p->bitmap, 0, -(int32_t)p->bitmap};
    const size_t bytes = gn_agg_write_words(p, words, in, sizeof in);
    return gn_switch_rx(&sw, 1, port, in, bytes, actions);
}

void give_at(uint16_t port, const gn_agg_packet *p)
{
    ck_assert_uint_eq(give_for_actions(port, p), 1);
    expect_action(0);
}

void give(uint16_t job, uint32_t psn, unsigned child, uint16_t priority, uint8_t flags)
{
    gn_agg_packet p = header(GN_AGG_GRADIENT, job, psn, 1u << child);
    p.priority = priority;
    p.flags = flags;
    give_at((uint16_t)(10 * job + child), &p);
}

void give_from_ps(gn_agg_type type, uint16_t job, uint32_t psn, uint64_t bitmap)
{
    const gn_agg_packet p = header(type, job, psn, bitmap);
    give_at((uint16_t)(PS_PORT + job), &p);
}

void expect_drop(gn_drop reason)
{
    ck_assert_int_eq(actions[0].kind, GN_TO_NOBODY);
    ck_assert_int_eq(actions[0].reason, reason);
}

void expect_to_ps(gn_agg_type type, uint16_t job, uint32_t psn, uint64_t bitmap)
{
    ck_assert_int_eq(actions[0].kind, GN_TO_PS);
    ck_assert_uint_eq(actions[0].port, PS_PORT + job);
    ck_assert_int_eq(sent.type, type);
    ck_assert(sent.job == job && sent.psn == psn && sent.bitmap == bitmap);
    if (!sent.values) return;
    const int32_t words[VALUES] = {(int32_t)bitmap, 0, -(int32_t)bitmap};
    ck_assert_mem_eq(sent.payload, words, sizeof words);
}

void end(void)
{
    free(memory);
    memory = NULL;
}
