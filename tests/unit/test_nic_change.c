// SPDX-License-Identifier: Apache-2.0
// Changes of a running NIC: each concerns what it names and nothing else, and one that is refused
// changes nothing. And the first failure of an engine is for good.
#include <string.h>

#include "driver/nic_state.h"
#include "driver/request.h"
#include "net/clock.h"
#include "packets.h"
#include "suite.h"

static gn_nic nic;
static gn_error error;

// An engine of packets that fails where it is told to -------------------------------------------

static struct {
    bool transmit, rules, bypass;  ///< what fails
    unsigned transmits;            ///< calls
    bool bypassed;
} broken;

static gn_status open_broken(const gn_engine *engine, void **state, const gn_engine_config *config, gn_error *why)
{
    (void)engine, (void)config, (void)why;
    *state = &broken;
    return GN_OK;
}

static void close_broken(void *state)
{
    (void)state;
}

static gn_status set_rules(void *state, const gn_rule *rules, size_t count, gn_error *why)
{
    (void)state, (void)rules, (void)count;
    return broken.rules ? gn_fail(why, GN_INVALID, "no such rules") : GN_OK;
}

static gn_status set_bypass(void *state, bool bypass, gn_error *why)
{
    (void)state;
    broken.bypassed = bypass;
    return broken.bypass ? gn_fail(why, GN_IO, "no bypass") : GN_OK;
}

static gn_status transmit(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *why)
{
    (void)state, (void)heads;
    broken.transmits++;
    memcpy(out, in, sizeof *out);
    return broken.transmit ? gn_fail(why, GN_IO, "burnt") : GN_OK;
}

static const gn_engine packets_only = {.name = "broken",
                                       .open = open_broken,
                                       .close = close_broken,
                                       .set_rules = set_rules,
                                       .set_bypass = set_bypass,
                                       .transmit = transmit};

// ------------------------------------------------------------------------------------------------

static void begin_with(const gn_engine *engine)
{
    const gn_engine_config config = {.rules = nic.config.rules, .rule_count = nic.config.rule_count};
    ck_assert_int_eq(gn_datapath_open(&nic.datapath, engine, &config, &error), GN_OK);
    nic.config.engine = engine;
}

static void setup(void)
{
    memset(&broken, 0, sizeof broken);
    nic = (gn_nic){.out = calloc(1, sizeof *nic.out), .in = calloc(1, sizeof *nic.in), .stop_event = -1};
    ck_assert(nic.out && nic.in);
    pthread_mutex_init(&nic.out->lock, NULL);
    pthread_mutex_init(&nic.in->lock, NULL);
    nic.config.rules[0] = nic.config.rules[1] = gn_rule_default();
    nic.config.rules[1].tos = 0x30;
    nic.config.rule_count = 2;
    nic.out->cut = GN_CUT_MTU;
    const gn_fault_config fault = {.seed = 1};
    nic.out->fault = gn_fault_new(&fault);
    nic.out->guard = gn_guard_new("test");
    ck_assert(nic.out->fault && nic.out->guard);
}

static void teardown(void)
{
    gn_datapath_close(nic.datapath);
    gn_fault_free(nic.out->fault);
    gn_guard_free(nic.out->guard);
    free(nic.out);
    free(nic.in);
}

static void changes(const gn_change *change)
{
    ck_assert_msg(gn_nic_change(&nic, change, &error) == GN_OK, "%s", error.text);
}

static void fault_is(gn_fault_config expected)
{
    ck_assert(gn_fault_same(gn_fault_get(nic.out->fault), &expected));
}

/// A change has a value for everything, and names one thing.
START_TEST(the_link_one_by_one)
{
    begin_with(&gn_engine_model);
    gn_change c = {.fault = {.seed = 9,
                             .loss = 0.1,
                             .duplicate = 0.2,
                             .reorder = 0.3,
                             .delay_ns = 40,
                             .jitter_ns = 50,
                             .reorder_ns = 60},
                   .rate = 7000000,
                   .cut = GN_CUT_FILL,
                   .bypass = true,
                   .guard = true,
                   .profile = GN_LATTICE,
                   .bound_exp = 4};
    gn_fault_config expected = {.seed = 1};
    changes(&c);
    fault_is(expected);
    c.given = GN_CHANGE_LOSS, expected.loss = 0.1, changes(&c), fault_is(expected);
    c.given = GN_CHANGE_DUPLICATE, expected.duplicate = 0.2, changes(&c), fault_is(expected);
    c.given = GN_CHANGE_REORDER, expected.reorder = 0.3, changes(&c), fault_is(expected);
    c.given = GN_CHANGE_DELAY, expected.delay_ns = 40, changes(&c), fault_is(expected);
    c.given = GN_CHANGE_JITTER, expected.jitter_ns = 50, changes(&c), fault_is(expected);
    c.given = GN_CHANGE_REORDER_NS, expected.reorder_ns = 60, changes(&c), fault_is(expected);
    c.given = GN_CHANGE_SEED, expected.seed = 9, changes(&c), fault_is(expected);
    ck_assert(!nic.config.bypass && !nic.config.guard && nic.out->cut == GN_CUT_MTU);
    ck_assert_uint_eq(nic.out->rate.bits_per_second, 0);
    c.given = GN_CHANGE_RATE, changes(&c);
    ck_assert_uint_eq(nic.out->rate.bits_per_second, 7000000);
    ck_assert(!nic.config.bypass && !nic.config.guard && nic.out->cut == GN_CUT_MTU);
    c.given = GN_CHANGE_CUT, changes(&c);
    ck_assert(!nic.config.bypass && !nic.config.guard && nic.out->cut == GN_CUT_FILL);
    c.given = GN_CHANGE_BYPASS, changes(&c);
    ck_assert(nic.config.bypass && !nic.config.guard);
    c.given = GN_CHANGE_GUARD, changes(&c);
    ck_assert(nic.config.bypass && nic.config.guard);
    fault_is(expected);
    ck_assert_int_eq(nic.config.rules[0].codec.profile, GN_DENSE);
}
END_TEST

/// A guard that was off has seen nothing meanwhile. So it judges all flows anew.
START_TEST(the_guard_anew)
{
    enum { VALUES = 360 };
    static float gradients[VALUES];
    static uint8_t bytes[4 * VALUES + 120];
    uint32_t state = 5;
    gn_change c = {.given = GN_CHANGE_GUARD, .guard = true};
    begin_with(&gn_engine_model);
    changes(&c);
    random_values(&state, gradients, VALUES, 0.01F);
    const packet p = {.protocol = GN_PROTOCOL_UDP};
    const gn_segment segment = {.packet = bytes, .length = packet_build(&p, gradients, sizeof gradients, bytes)};
    const gn_guard_counters *count = gn_guard_count(nic.out->guard);
    for (unsigned flows = 1; flows <= 2; flows++) {
        for (int i = 0; i < 3; i++)
            (void)gn_guard_leaves(nic.out->guard, nic.datapath, nic.config.rules, 2, &segment, GN_SECOND);
        ck_assert_uint_eq(count->gradient_flows, flows);
        c.guard = true, changes(&c);  // it is on already
        (void)gn_guard_leaves(nic.out->guard, nic.datapath, nic.config.rules, 2, &segment, GN_SECOND);
        ck_assert_uint_eq(count->gradient_flows, flows);
        c.guard = false, changes(&c);
        c.guard = true, changes(&c);
    }
}
END_TEST

START_TEST(rules_profile_and_bound)
{
    begin_with(&gn_engine_model);
    gn_change c = {.given = GN_CHANGE_PROFILE, .profile = GN_LATTICE, .bound_exp = 4};
    changes(&c);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(nic.config.rules[i].codec.profile, GN_LATTICE);
        ck_assert_int_eq(nic.config.rules[i].codec.bound_exp, 10);
    }
    c.given = GN_CHANGE_BOUND, changes(&c);
    for (int i = 0; i < 2; i++) ck_assert_int_eq(nic.config.rules[i].codec.bound_exp, 4);
    c = (gn_change){.given = GN_CHANGE_RULES, .rule_count = 1, .rules = {gn_rule_default()}};
    c.rules[0].tos = 0x48;
    changes(&c);
    ck_assert_uint_eq(nic.config.rule_count, 1);
    ck_assert_uint_eq(nic.config.rules[0].tos, 0x48);
    ck_assert_int_eq(nic.config.rules[0].codec.bound_exp, 10);
    // All or nothing.
    c = (gn_change){
        .given = GN_CHANGE_BOUND | GN_CHANGE_RATE | GN_CHANGE_LOSS, .bound_exp = 120, .rate = 5, .fault.loss = 1};
    ck_assert_int_eq(gn_nic_change(&nic, &c, &error), GN_INVALID);
    ck_assert_str_eq(error.text, "profile dense does not take the bound 2^-120");
    ck_assert_uint_eq(nic.out->rate.bits_per_second, 0);
    ck_assert_int_eq(nic.config.rules[0].codec.bound_exp, 10);
    fault_is((gn_fault_config){.seed = 1});
}
END_TEST

START_TEST(an_engine_of_packets_refuses)
{
    begin_with(&packets_only);
    gn_change c = {.given = GN_CHANGE_CUT | GN_CHANGE_RATE, .cut = GN_CUT_FILL, .rate = 5};
    ck_assert_int_eq(gn_nic_change(&nic, &c, &error), GN_INVALID);
    ck_assert_str_eq(error.text, "cut fill: engine broken takes only packets that are already cut to the MTU");
    broken.rules = true;
    c = (gn_change){.given = GN_CHANGE_BOUND | GN_CHANGE_RATE | GN_CHANGE_BYPASS, .bound_exp = 4, .rate = 5};
    ck_assert_int_eq(gn_nic_change(&nic, &c, &error), GN_INVALID);
    ck_assert_str_eq(error.text, "the engine refused the rules: no such rules");
    ck_assert(nic.out->rate.bits_per_second == 0 && nic.config.rules[0].codec.bound_exp == 10);
    c = (gn_change){.given = GN_CHANGE_CUT | GN_CHANGE_RATE, .cut = GN_CUT_MTU, .rate = 5};
    changes(&c);  // both locks are free again
    ck_assert_uint_eq(nic.out->rate.bits_per_second, 5);
}
END_TEST

/// A new configuration sets anew what differs, and leaves the rest as it has become.
START_TEST(a_new_configuration)
{
    begin_with(&gn_engine_model);
    gn_change c = {.given = GN_CHANGE_RATE, .rate = 1000};
    changes(&c);
    gn_rate_charge(&nic.out->rate, 1000000, gn_now());
    const uint64_t paid = nic.out->rate.paid_until;
    gn_nic_config config = nic.config;
    config.rate = 1000;
    config.fault = (gn_fault_config){.seed = 1};
    config.cut = GN_CUT_FILL;
    config.bypass = true;
    config.rule_count = 1;
    ck_assert_int_eq(gn_nic_reconfigure(&nic, &config, &error), GN_OK);
    ck_assert_uint_eq(nic.out->rate.paid_until, paid);  // the bucket stays
    ck_assert(nic.out->cut == GN_CUT_FILL && nic.config.bypass && nic.config.rule_count == 1 && !nic.config.guard);
    config.rate = 2000;
    config.guard = true;
    config.fault.loss = 0.5;
    ck_assert_int_eq(gn_nic_reconfigure(&nic, &config, &error), GN_OK);
    ck_assert_uint_eq(nic.out->rate.bits_per_second, 2000);
    ck_assert(nic.config.guard);
    fault_is((gn_fault_config){.seed = 1, .loss = 0.5});
}
END_TEST

/// What an engine wrote before it failed goes nowhere, and it is asked no more.
START_TEST(an_engine_that_fails)
{
    static uint8_t bytes[1200];
    static const float values[200];
    static gn_burst burst;
    begin_with(&packets_only);
    const packet p = {.partial = true};
    const gn_segment segment = {
        .packet = bytes, .length = packet_build(&p, values, sizeof values, bytes), .partial_checksum = true};
    ck_assert_int_eq(gn_datapath_transmit(nic.datapath, &segment, GN_CUT_MTU, 1400, &burst), GN_OK);
    ck_assert_uint_eq(burst.count, 1);
    ck_assert_int_eq(gn_datapath_transmit(nic.datapath, &segment, GN_CUT_FILL, 1400, &burst), GN_UNSUPPORTED);
    ck_assert_uint_eq(burst.count, 0);
    broken.transmit = true;
    ck_assert_int_eq(gn_datapath_transmit(nic.datapath, &segment, GN_CUT_MTU, 1400, &burst), GN_DEAD);
    ck_assert_uint_eq(burst.count, 0);
    ck_assert_int_eq(gn_datapath_check(nic.datapath, &error), GN_IO);
    ck_assert_str_eq(error.text, "burnt");
    ck_assert_int_eq(gn_datapath_transmit(nic.datapath, &segment, GN_CUT_MTU, 1400, &burst), GN_DEAD);
    ck_assert_uint_eq(broken.transmits, 2);
    broken.bypass = true;  // a second failure: the first one is told
    gn_datapath_set_bypass(nic.datapath, true);
    ck_assert(broken.bypassed);
    ck_assert_int_eq(gn_datapath_check(nic.datapath, &error), GN_IO);
    ck_assert_str_eq(error.text, "burnt");
}
END_TEST

int main(void)
{
    return RUN_SUITE("nic change", setup, teardown, the_link_one_by_one, rules_profile_and_bound, the_guard_anew,
                     an_engine_of_packets_refuses, a_new_configuration, an_engine_that_fails);
}
