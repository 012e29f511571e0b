// SPDX-License-Identifier: Apache-2.0
// What a worker's caller may add to it:
// - values that are made just before the worker first looks at them, and finished where their
//   results are
// - a NIC that does the compressing
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/switch.h>
#include <gradnic/worker.h>

#include "suite.h"

enum { WORKERS = 3, SLOTS = 4, VALUES = 50, COUNT = 1234, JOB = 3, GEN = 9, ROOM = 1024, K = 8 };

typedef struct party {
    gn_worker *worker;
    float values[COUNT], as_given[COUNT];
    uint8_t asked[COUNT];  ///< whether its stream may be made of as_given
    uint8_t looks[COUNT], ends[COUNT];
    unsigned rank;
} party;

static party parties[WORKERS];
static gn_switch sw;
static void *memory;
static gn_codec codec;
static bool lossy;
static bool quantised;  ///< contributions are
static unsigned turn;

static float given(unsigned rank, size_t i)
{
    if (i == 700) return INFINITY;  // a chunk that has no integers
    return (float)sin((double)(i * WORKERS + rank)) * 3;
}

static void make(void *context, size_t first, size_t count)
{
    party *p = context;
    for (size_t i = first; i < first + count; i++) {
        ck_assert_uint_eq(p->looks[i]++, 0);
        p->values[i] = given(p->rank, i);
    }
    if (quantised) gn_quantise(&codec, p->values + first, p->values + first, NULL, count);
}

/// Most chunks can leave as they are.
static const float *plain(void *context, size_t first, size_t count)
{
    party *p = context;
    ck_assert_uint_eq(p->asked[first]++, 0);
    if ((first / VALUES + p->rank) % 5 == 0) return NULL;
    for (size_t i = first; i < first + count; i++) p->as_given[i] = given(p->rank, i);
    return p->as_given + first;
}

static void finish(void *context, size_t first, size_t count)
{
    party *p = context;
    for (size_t i = first; i < first + count; i++) {
        ck_assert_uint_eq(p->ends[i]++, 0);
        p->values[i] *= 2;
    }
}

static void open_all(gn_agg_format format, bool nic, bool plainly)
{
    memset(parties, 0, sizeof parties);
    const gn_switch_config config = {.slots = SLOTS, .slot_values = VALUES, .jobs = 1};
    memory = malloc(gn_switch_bytes(&config));
    ck_assert_int_eq(gn_switch_init(&sw, &config, memory, gn_switch_bytes(&config)), GN_OK);
    gn_switch_job job = {.job = JOB, .gen = GEN, .format = format, .bound_exp = K, .slots = SLOTS, .children = WORKERS};
    for (uint16_t i = 0; i < WORKERS; i++) job.port[i] = i;
    ck_assert_int_eq(gn_switch_add_job(&sw, &job), GN_OK);
    gn_codec_init(&codec, format == GN_AGG_LATTICE ? GN_LATTICE : GN_DENSE, K);
    for (unsigned i = 0; i < WORKERS; i++) {
        parties[i].rank = i;
        const gn_worker_config mine = {.job = JOB,
                                       .gen = GEN,
                                       .rank = (uint16_t)i,
                                       .ranks = WORKERS,
                                       .bit = (uint8_t)i,
                                       .children = WORKERS,
                                       .format = format,
                                       .bound_exp = K,
                                       .slots = SLOTS,
                                       .packet_values = VALUES,
                                       .nic = nic,
                                       .before = make,
                                       .plain = plainly ? plain : NULL,
                                       .after = finish,
                                       .context = &parties[i]};
        ck_assert_int_eq(gn_worker_new(&parties[i].worker, &mine), GN_OK);
    }
}

static void close_all(void)
{
    for (unsigned i = 0; i < WORKERS; i++) gn_worker_free(parties[i].worker);
    free(memory);
}

/// What a NIC with a rule of head 32 does to a packet that is marked.
static size_t compress(uint8_t *datagram, size_t bytes)
{
    static uint8_t out[ROOM];
    gn_agg_packet p;
    ck_assert_int_eq(gn_agg_parse(datagram, bytes, &p), GN_AGG_FINE);
    ck_assert(!p.shimmed);
    if (p.flags & GN_AGG_FLOAT || !p.values) return bytes;
    float values[VALUES];
    memcpy(values, p.payload, p.payload_bytes);
    bytes = gn_agg_write_stream(&p, &codec, NULL, values, out, sizeof out);
    ck_assert_uint_gt(bytes, 0);
    memcpy(datagram, out, bytes);
    return bytes;
}

/// ... and to a marked packet that comes in.
static size_t restore(uint8_t *datagram, size_t bytes)
{
    gn_agg_packet p;
    ck_assert_int_eq(gn_agg_parse(datagram, bytes, &p), GN_AGG_FINE);
    if (!p.compressed) return bytes;
    float values[VALUES];
    ck_assert_int_eq(gn_stream_decode(&codec, p.payload, p.payload_bytes, values, p.values, NULL), GN_OK);
    return gn_agg_write_words(&p, values, datagram, ROOM);
}

static bool lost(void)
{
    return lossy && ++turn % 7 == 0;
}

static void deliver(const gn_action *action, int64_t now, bool nic)
{
    uint8_t out[ROOM];
    if (action->kind == GN_TO_NOBODY) return;
    const size_t bytes = gn_action_write(&sw, action, out, sizeof out);
    for (unsigned i = 0; i < WORKERS; i++) {
        uint8_t copy[ROOM];
        if (lost() || (action->kind == GN_TO_PORT && i != action->port)) continue;
        memcpy(copy, out, bytes);
        gn_worker_rx(parties[i].worker, now, copy, nic ? restore(copy, bytes) : bytes);
    }
}

static bool send_one(party *p, int64_t now, bool nic)
{
    uint8_t out[ROOM];
    size_t bytes = gn_worker_send(p->worker, now, out, sizeof out);
    if (!bytes) return false;
    if (nic) bytes = compress(out, bytes);
    if (lost()) return true;
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    const unsigned count = gn_switch_rx(&sw, (uint64_t)now, (uint16_t)p->rank, out, bytes, actions);
    for (unsigned i = 0; i < count; i++) deliver(&actions[i], now, nic);
    return true;
}

static void sum(gn_agg_format format, bool nic, bool plainly)
{
    open_all(format, nic, plainly);
    for (unsigned i = 0; i < WORKERS; i++)
        ck_assert_int_eq(gn_worker_post(parties[i].worker, parties[i].values, parties[i].values, COUNT), GN_OK);
    int64_t now = 1;
    for (bool more = true; more; now += 500000) {
        ck_assert_int_lt(now, 100000ll * 1000000);
        more = false;
        for (unsigned i = 0; i < WORKERS; i++) {
            while (send_one(&parties[i], now, nic)) continue;
            more |= !gn_worker_done(parties[i].worker);
        }
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        for (size_t v = 0; v < COUNT; v++) {
            const size_t chunk = v / VALUES;
            const bool makes = !plainly || (chunk + i) % 5 == 0 || chunk == 700 / VALUES;
            ck_assert_uint_eq(parties[i].looks[v], makes);
            ck_assert_uint_eq(parties[i].asked[v], plainly && v % VALUES == 0);
            ck_assert_uint_eq(parties[i].ends[v], 1);
        }
        ck_assert(!memcmp(parties[i].values, parties[0].values, sizeof parties[0].values));
        ck_assert_uint_eq(gn_worker_get_stats(parties[i].worker).fallback_chunks, 1);
    }
    close_all();
}

START_TEST(values_are_made_and_finished_once)
{
    lossy = _i & 1;
    sum((gn_agg_format)(_i / 2), false, false);
}
END_TEST

START_TEST(a_nic_gives_the_same_bits)
{
    static float own[COUNT];
    lossy = _i & 1;
    const gn_agg_format format = _i / 2 ? GN_AGG_DENSE : GN_AGG_LATTICE;
    sum(format, false, false);
    memcpy(own, parties[0].values, sizeof own);
    sum(format, true, false);
    ck_assert(!memcmp(own, parties[0].values, sizeof own));
}
END_TEST

// The chunk that rank 0 sums in binary32 is made all the same.
START_TEST(plain_chunks_give_the_same_bits)
{
    static float own[COUNT];
    lossy = _i & 1;
    quantised = true;
    const gn_agg_format format = _i / 2 ? GN_AGG_DENSE : GN_AGG_LATTICE;
    sum(format, false, false);
    memcpy(own, parties[0].values, sizeof own);
    sum(format, false, true);
    ck_assert(!memcmp(own, parties[0].values, sizeof own));
    quantised = false;
}
END_TEST

// ---- rank 0 adds what has no integers, by hand: two workers, chunk 0 and the next of its slot

static void give(gn_worker *w, gn_agg_type type, uint8_t flags, uint32_t psn, uint16_t values, float value)
{
    float words[VALUES];
    uint8_t datagram[ROOM];
    for (unsigned i = 0; i < VALUES; i++) words[i] = value;
    const gn_agg_packet header = {.type = (uint8_t)type,
                                  .flags = flags,
                                  .job = JOB,
                                  .gen = GEN,
                                  .slot = (uint16_t)(psn % SLOTS),
                                  .version = psn / SLOTS & 1,
                                  .psn = psn,
                                  .bitmap = 3,
                                  .fanin = 2,
                                  .priority = flags & GN_AGG_FLOAT ? 1 : 0,  // the rank
                                  .next = K,
                                  .values = values};
    const size_t bytes = gn_agg_write_words(&header, words, datagram, sizeof datagram);
    ck_assert_uint_gt(bytes, 0);
    gn_worker_rx(w, 1, datagram, bytes);
}

/// Sends what is due. @return sums among it; the last of them and its flags
static unsigned sums_sent(gn_worker *w, uint32_t *psn, float *value, uint8_t *flags)
{
    uint8_t datagram[ROOM];
    gn_agg_packet p;
    unsigned sums = 0;
    for (size_t bytes; (bytes = gn_worker_send(w, 1, datagram, sizeof datagram)) > 0;) {
        ck_assert(!gn_agg_parse(datagram, bytes, &p));
        if (p.type != GN_AGG_RESULT) continue;
        sums++, *psn = p.psn, *flags = p.flags;
        memcpy(value, p.payload, sizeof *value);
    }
    return sums;
}

/// A request for the sum of the slot's earlier chunk comes again. The answer must not have the next
/// chunk's number.
START_TEST(a_leader_tells_no_sum_under_another_number)
{
    const gn_worker_config config = {.job = JOB,
                                     .gen = GEN,
                                     .ranks = 2,
                                     .children = 2,
                                     .format = GN_AGG_DENSE,
                                     .bound_exp = K,
                                     .slots = SLOTS,
                                     .packet_values = VALUES};
    enum { BOTH = (SLOTS + 1) * VALUES };
    static float own[BOTH], result[BOTH];
    gn_worker *w;
    uint32_t psn;
    float value;
    uint8_t flags;
    for (unsigned i = 0; i < BOTH; i++) own[i] = i < VALUES ? 1e20f : 3e20f;
    ck_assert_int_eq(gn_worker_new(&w, &config), GN_OK);
    ck_assert_int_eq(gn_worker_post(w, own, result, BOTH), GN_OK);
    ck_assert_uint_eq(sums_sent(w, &psn, &value, &flags), 0);
    give(w, GN_AGG_OVERFLOW, 0, 0, 0, 0);
    give(w, GN_AGG_GRADIENT, GN_AGG_FLOAT, 0, VALUES, 1e20f);
    ck_assert_uint_eq(sums_sent(w, &psn, &value, &flags), 1);
    ck_assert(psn == 0 && value == 2e20f && flags == GN_AGG_FLOAT);
    // asked again: told again, and that says nothing about how long answers take
    give(w, GN_AGG_GRADIENT, GN_AGG_FLOAT | GN_AGG_RESENT | GN_AGG_LATE, 0, VALUES, 1e20f);
    ck_assert_uint_eq(sums_sent(w, &psn, &value, &flags), 1);
    ck_assert(psn == 0 && value == 2e20f && flags == (GN_AGG_FLOAT | GN_AGG_RESENT | GN_AGG_LATE));
    // asked again; before the answer, the slot's next chunk is found to have no integers either
    give(w, GN_AGG_GRADIENT, GN_AGG_FLOAT, 0, VALUES, 1e20f);
    give(w, GN_AGG_OVERFLOW, 0, SLOTS, 0, 0);
    ck_assert_uint_eq(sums_sent(w, &psn, &value, &flags), 0);
    give(w, GN_AGG_GRADIENT, GN_AGG_FLOAT | GN_AGG_LATE, SLOTS, VALUES, 1e20f);
    ck_assert_uint_eq(sums_sent(w, &psn, &value, &flags), 1);
    ck_assert(psn == SLOTS && value == 4e20f && flags == (GN_AGG_FLOAT | GN_AGG_LATE));
    gn_worker_free(w);
}
END_TEST

/// The answer to the packet that the worker sends now. @return whether it was taken
static bool result(gn_worker *w, gn_agg_packet asked, int8_t exponent, int32_t value)
{
    int32_t words[VALUES];
    uint8_t datagram[ROOM];
    for (unsigned i = 0; i < VALUES; i++) words[i] = value;
    const gn_agg_packet header = {.type = GN_AGG_RESULT,
                                  .job = JOB,
                                  .gen = GEN,
                                  .bitmap = 3,
                                  .fanin = 2,
                                  .exponent = exponent,
                                  .next = -20,
                                  .slot = asked.slot,
                                  .version = asked.version,
                                  .psn = asked.psn,
                                  .values = asked.values};
    const size_t bytes = gn_agg_write_words(&header, words, datagram, sizeof datagram);
    ck_assert_uint_gt(bytes, 0);
    return gn_worker_rx(w, 1, datagram, bytes);
}

static gn_agg_packet only_packet(gn_worker *w)
{
    static uint8_t datagram[ROOM];
    gn_agg_packet p;
    const size_t bytes = gn_worker_send(w, 1, datagram, sizeof datagram);
    ck_assert(bytes && !gn_agg_parse(datagram, bytes, &p));
    ck_assert_uint_eq(gn_worker_send(w, 1, datagram, sizeof datagram), 0);
    return p;
}

// A sum whose unit is not the one that all have agreed on is another number. It is ignored, and the
// right one is still taken.
START_TEST(a_result_with_a_wrong_exponent_is_not_taken)
{
    const gn_worker_config config = {.job = JOB,
                                     .gen = GEN,
                                     .ranks = 2,
                                     .children = 2,
                                     .format = GN_AGG_INT32,
                                     .slots = SLOTS,
                                     .packet_values = VALUES};
    static float own[VALUES], sums[VALUES];
    gn_worker *w;
    for (unsigned i = 0; i < VALUES; i++) own[i] = 0.25f;
    ck_assert_int_eq(gn_worker_new(&w, &config), GN_OK);
    ck_assert_int_eq(gn_worker_post(w, own, sums, VALUES), GN_OK);
    ck_assert(result(w, only_packet(w), 0, 0));  // the look: all agree on 2^-20
    const gn_agg_packet asked = only_packet(w);
    ck_assert_int_eq(asked.exponent, -20);
    const uint64_t ignored = gn_worker_get_stats(w).ignored;
    ck_assert(!result(w, asked, -19, 1 << 19));
    ck_assert(!result(w, asked, -21, 1 << 19));
    ck_assert(!result(w, asked, 0, 1 << 19));
    ck_assert_uint_eq(gn_worker_get_stats(w).ignored, ignored + 3);
    ck_assert(!gn_worker_done(w) && sums[0] == 0);
    ck_assert(result(w, asked, -20, 1 << 19));
    ck_assert(gn_worker_done(w));
    for (unsigned i = 0; i < VALUES; i++) ck_assert(sums[i] == 0.5f);
    gn_worker_free(w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("aggregate_worker");
    TCase *cases = tcase_create("all");
    tcase_add_loop_test(cases, values_are_made_and_finished_once, 0, 2 * GN_AGG_FORMATS);
    tcase_add_loop_test(cases, a_nic_gives_the_same_bits, 0, 4);
    tcase_add_loop_test(cases, plain_chunks_give_the_same_bits, 0, 4);
    tcase_add_test(cases, a_result_with_a_wrong_exponent_is_not_taken);
    tcase_add_test(cases, a_leader_tells_no_sum_under_another_number);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
