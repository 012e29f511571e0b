// SPDX-License-Identifier: Apache-2.0
// The usual packet has a way of its own (switch/usual.h). Whatever is wrong with a packet that is
// nearly one: both ways lead to the same.
#include <stdlib.h>
#include <string.h>

#include "net/splitmix.h"
#include "suite.h"
#include "switch/core.h"
#include "switch/packet.h"

enum { CHILDREN = 3, SLOTS = 4, VALUES = 5, MOST = VALUES + 2, ROUNDS = 100000, PARENT_PORT = 9, PACKET = 128 };
enum { CHECKED = 28 };  // bytes of a header that its CRC is of

static gn_switch usual, any;  // given the same packets, each in its way
static uint64_t state;
static uint32_t next[SLOTS];  // chunk of each slot that has no result yet
static unsigned long sums, drops[GN_DROPS];

static unsigned below(unsigned limit)
{
    return (unsigned)(splitmix64(&state) % limit);
}

static void begin(gn_switch *sw, const gn_switch_job *job)
{
    const gn_switch_config config = {.slots = SLOTS, .slot_values = VALUES, .jobs = 1};
    void *memory = malloc(gn_switch_bytes(&config));
    SUITE_CHECK(memory, "no memory");
    SUITE_CHECK(gn_switch_init(sw, &config, memory, gn_switch_bytes(&config)) == GN_OK, "no switch");
    SUITE_CHECK(gn_switch_add_job(sw, job) == GN_OK, "no job");
}

/// A contribution to a chunk that is under way, or near it; the parent's result now and then.
static size_t make(const gn_switch_job *job, uint32_t psn, unsigned child, uint8_t *out)
{
    int32_t words[MOST];
    const bool result = job->has_parent && !below(4);
    for (unsigned i = 0; i < MOST; i++) words[i] = (int32_t)below(1000) - 500;
    if (!below(50)) words[below(VALUES)] = INT32_MAX;
    const gn_agg_packet p = {.type = result ? GN_AGG_RESULT : GN_AGG_GRADIENT,
                             .job = job->job,
                             .gen = job->gen,
                             .slot = psn % SLOTS,
                             .version = psn / SLOTS % 2,
                             .psn = psn,
                             .bitmap = result ? 1 : 1ull << child,
                             .level = (uint8_t)(job->level + result),
                             .fanin = result ? job->parent_fanin : job->children,
                             .priority = (uint16_t)below(3),
                             .exponent = -3,
                             .next = (int8_t)below(4),
                             .values = (uint16_t)(below(40) ? VALUES : below(MOST + 1))};
    return gn_agg_write_words(&p, words, out, PACKET);
}

/// One bit of the header, with the CRC that it then has or without; or the length.
static size_t spoil(uint8_t *packet, size_t bytes)
{
    const unsigned what = below(9);
    if (what == 0) return below((unsigned)bytes);
    if (what == 1) return bytes + 4;
    if (what == 2) packet[CHECKED + below(4)] ^= (uint8_t)(1u << below(8));
    if (what > 2) packet[below(CHECKED)] ^= (uint8_t)(1u << below(8));
    if (what < 4) return bytes;
    const uint32_t crc = gn_agg_check(packet);
    for (unsigned i = 0; i < 4; i++) packet[CHECKED + i] = (uint8_t)(crc >> (24 - 8 * i));
    return bytes;
}

static void give(uint16_t port, const uint8_t *packet, size_t bytes)
{
    gn_action short_way[GN_SWITCH_ACTIONS_MAX], long_way[GN_SWITCH_ACTIONS_MAX];
    uint8_t sent[PACKET], sent_long[PACKET];
    uint8_t *exact = malloc(bytes ? bytes : 1);  // so that a sanitizer sees who looks beyond
    SUITE_CHECK(exact, "no memory");
    memcpy(exact, packet, bytes);
    const unsigned count = gn_switch_rx(&usual, 5, port, exact, bytes, short_way);
    SUITE_CHECK(gn_switch_rx_any(&any, 5, port, exact, bytes, long_way) == count, "another number of actions");
    for (unsigned i = 0; i < count; i++) {
        const gn_action *a = &short_way[i], *b = &long_way[i];
        SUITE_CHECK(a->kind == b->kind, "another kind of action");
        if (a->kind == GN_TO_NOBODY) {
            SUITE_CHECK(a->reason == b->reason, "%s, not: %s", gn_drop_string(a->reason), gn_drop_string(b->reason));
            drops[a->reason]++;
            continue;
        }
        sums++;
        if (a->kind == GN_TO_GROUP) next[b->header.slot] = b->header.psn + SLOTS;
        const size_t length = gn_action_write(&usual, a, sent, sizeof sent);
        SUITE_CHECK(a->port == b->port && length == gn_action_write(&any, b, sent_long, sizeof sent_long) &&
                        !memcmp(sent, sent_long, length),
                    "another packet");
    }
    free(exact);
}

static void check_states(void)
{
    SUITE_CHECK(gn_switch_hash(&usual) == gn_switch_hash(&any), "another state");
    SUITE_CHECK(!memcmp(gn_switch_job_counters(&usual, 0), gn_switch_job_counters(&any, 0), sizeof(gn_switch_counters)),
                "other counters of the job");
    SUITE_CHECK(!memcmp(gn_switch_get_counters(&usual), gn_switch_get_counters(&any), sizeof(gn_switch_counters)),
                "other counters");
}

static void compare(gn_switch_job job)
{
    uint8_t packet[PACKET] = {0};
    for (unsigned i = 0; i < CHILDREN; i++) job.port[i] = (uint16_t)i;
    begin(&usual, &job);
    begin(&any, &job);
    for (uint32_t slot = 0; slot < SLOTS; slot++) next[slot] = slot;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned child = below(CHILDREN), luck = below(20);
        const uint32_t psn = next[below(SLOTS)] - (luck == 0 ? SLOTS : 0) + (luck == 1 ? SLOTS : 0);
        size_t bytes = make(&job, psn, child, packet);
        if (!below(8)) bytes = spoil(packet, bytes);
        const bool result = (packet[0] & 15) == GN_AGG_RESULT;
        give((uint16_t)(!below(100) ? below(12) : result ? PARENT_PORT : child), packet, bytes);
        check_states();
    }
    free(usual.state);
    free(any.state);
}

START_TEST(both_ways_lead_to_the_same)
{
    state = 1;
    compare((gn_switch_job){.job = 0x102, .gen = 1, .slots = SLOTS, .children = CHILDREN});
    compare((gn_switch_job){.job = 0xffff, .gen = 0xffff, .slots = SLOTS, .children = CHILDREN, .level = 3});
    compare((gn_switch_job){.job = 7,
                            .slots = SLOTS,
                            .children = CHILDREN,
                            .has_parent = true,
                            .parent_port = PARENT_PORT,
                            .parent_fanin = 2});
    ck_assert_uint_gt(sums, 1000);
    // each reason that such packets can be dropped for, and those that are added
    static const gn_drop reasons[] = {GN_DROP_NONE,      GN_DROP_MALFORMED, GN_DROP_TYPE,      GN_DROP_JOB,
                                      GN_DROP_GEN,       GN_DROP_PORT,      GN_DROP_LEVEL,     GN_DROP_SLOT,
                                      GN_DROP_STALE,     GN_DROP_EARLY,     GN_DROP_DUPLICATE, GN_DROP_FORMAT,
                                      GN_DROP_UNEXPECTED};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        ck_assert_msg(drops[reasons[i]], "none was dropped because: %s", gn_drop_string(reasons[i]));
}
END_TEST

int main(void)
{
    return RUN_TESTS("aggregate_usual", both_ways_lead_to_the_same);
}
