// SPDX-License-Identifier: Apache-2.0
// The switch over the aggregator in Verilog, with real sockets on loopback. With the engine
// lockstep, a packet whose fate, slot or result is another than the core's ends the switch, and
// stop() fails.
#include <stdio.h>

#include "switches.h"
#include "unit/suite.h"

enum { COUNT = 3000, ROUNDS = 3 };

static gn_switchd_config with(const gn_switch_engine *engine)
{
    gn_switchd_config config = plain_switch;
    config.engine = engine;
    return config;
}

static sw_client slow_client(const running *r, const char *name, unsigned rank, unsigned ranks)
{
    sw_client c = client_of(r->port, name, rank, ranks);
    c.count = COUNT;
    c.rounds = ROUNDS;
    c.timeout_ms = 300000;  // the simulated engine may be slow
    return c;
}

/// `children` workers, each with so many values in a packet.
static void sum_over(const gn_switchd_config *config, gn_agg_format format, unsigned children, unsigned packet_values,
                     bool nan)
{
    const running r = start(config);
    for (unsigned i = 0; i < children; i++) {
        sw_client c = slow_client(&r, "sum", i, children);
        c.join.format = (uint8_t)format;
        c.join.bound_exp = format == GN_AGG_DENSE ? 10 : 0;
        c.join.packet_values = (uint16_t)packet_values;
        c.join.channels = 2;
        c.nan = nan;
        launch(i, &c);
    }
    all_good(0, children);
    stop(&r);
}

START_TEST(sums_are_right)
{
    const gn_switchd_config rtl = with(&gn_switch_engine_rtl), lockstep = with(&gn_switch_engine_lockstep);
    for (unsigned i = 0; i < 2; i++) {
        const gn_agg_format format = i ? GN_AGG_DENSE : GN_AGG_INT32;
        sum_over(&rtl, format, 4, 256, false);
        sum_over(&lockstep, format, 4, 256, false);
        sum_over(&lockstep, format, 8, 37, false);
        sum_over(&lockstep, format, 1, 512, false);
    }
}
END_TEST

/// They go round the hardware, and it has to know that their chunk is poisoned.
START_TEST(values_without_integers)
{
    const gn_switchd_config rtl = with(&gn_switch_engine_rtl), lockstep = with(&gn_switch_engine_lockstep);
    sum_over(&rtl, GN_AGG_INT32, 3, 64, true);
    sum_over(&lockstep, GN_AGG_INT32, 3, 64, true);
    sum_over(&rtl, GN_AGG_DENSE, 3, 64, true);
    sum_over(&lockstep, GN_AGG_DENSE, 3, 64, true);
}
END_TEST

static void bad_links(const gn_switch_engine *engine, gn_agg_format format)
{
    gn_switchd_config config = with(engine);
    config.shards = 2;
    config.in = (gn_fault_config){.seed = 3, .loss = 0.02, .duplicate = 0.02, .reorder = 0.05, .reorder_ns = 2000000};
    config.out = (gn_fault_config){.seed = 4, .loss = 0.02, .duplicate = 0.02, .reorder = 0.05, .delay_ns = 200000};
    sum_over(&config, format, 4, 64, false);
    uint64_t resent = 0;
    for (unsigned i = 0; i < 4; i++) resent += ones[i].result.stats.resent;
    ck_assert_uint_gt(resent, 0);
}

START_TEST(bad_links_both_ways)
{
    bad_links(&gn_switch_engine_rtl, GN_AGG_INT32);
    bad_links(&gn_switch_engine_lockstep, GN_AGG_INT32);
    bad_links(&gn_switch_engine_lockstep, GN_AGG_DENSE);
}
END_TEST

/// Jobs come and go, so slots and places for jobs are used again.
START_TEST(job_after_job)
{
    const gn_switchd_config config = with(&gn_switch_engine_lockstep);
    const running r = start(&config);
    for (unsigned job = 0; job < 4; job++) {
        char name[8];
        snprintf(name, sizeof name, "job%u", job);
        for (unsigned i = 0; i < 2 + job % 2; i++) {
            sw_client c = slow_client(&r, name, i, 2 + job % 2);
            c.join.slots = (uint16_t)(16u << job);
            launch(i, &c);
        }
        all_good(0, 2 + job % 2);
    }
    stop(&r);
}
END_TEST

/// Of every kind, from members of other jobs.
START_TEST(floods)
{
    const gn_switchd_config config = with(&gn_switch_engine_lockstep);
    const running r = start(&config);
    for (unsigned i = 0; i < SW_FLOODS; i++) {
        char name[8];
        snprintf(name, sizeof name, "fl%u", i);
        sw_client c = client_of(r.port, name, 0, 1);
        c.flood = SW_FLOOD_ANY + i;
        c.flood_s = 1;
        c.flood_every_us = 50000;
        launch(i, &c);
    }
    for (unsigned i = 0; i < 2; i++) {
        const sw_client c = slow_client(&r, "sums", i, 2);
        launch(SW_FLOODS + i, &c);
    }
    all_good(SW_FLOODS, 2);
    await(0, SW_FLOODS);
    for (unsigned i = 0; i < SW_FLOODS; i++) ck_assert_msg(ones[i].result.good, "%s", ones[i].result.error);
    stop(&r);
}
END_TEST

START_TEST(what_it_cannot_is_refused)
{
    const gn_switchd_config config = with(&gn_switch_engine_rtl);
    const running r = start(&config);
    sw_client c = slow_client(&r, "lattice", 0, 2);
    c.join.format = GN_AGG_LATTICE;
    c.join.bound_exp = 10;
    launch(0, &c);
    await(0, 1);
    says(0, "this switch adds int32 and dense alone (--engine rtl)");
    c = slow_client(&r, "nine", 0, 9);
    launch(0, &c);
    await(0, 1);
    says(0, "children is 9, and this switch has room for 8 (--engine rtl)");
    stop(&r);
}
END_TEST

int main(void)
{
    return RUN_TESTS("switchd_engine", sums_are_right, values_without_integers, bad_links_both_ways, job_after_job,
                     floods, what_it_cannot_is_refused);
}
