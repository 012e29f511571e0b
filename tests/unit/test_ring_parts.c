// SPDX-License-Identifier: Apache-2.0
// Small parts of the exchange: what a configuration may say, terms that differ, who is missing, who
// is suspected, and the pace that priorities follow from.
#include <stdio.h>
#include <string.h>

#include <gradnic/admission.h>
#include <gradnic/worker.h>

#include "net/clock.h"
#include "net/tcp.h"
#include "ring/address.h"
#include "ring/bootstrap/roster.h"
#include "ring/bootstrap/terms.h"
#include "ring/choice.h"
#include "ring/config.h"
#include "ring/evidence.h"
#include "ring/exchange.h"
#include "ring/groups/grouping.h"
#include "ring/oob.h"
#include "ring/pace.h"
#include "ring/pool.h"
#include "suite.h"

static gn_error error;

static void refuses(const gn_comm_config *config, const char *said)
{
    ck_assert_fails(gn_config_check(config, &error), said);
    ck_assert_int_eq(error.status, GN_INVALID);
}

START_TEST(what_a_configuration_may_say)
{
    const gn_comm_config fine = gn_comm_config_default();
    gn_comm_config c = fine;
    ck_assert(fine.rank == -1 && fine.size == -1 && fine.algorithm == GN_RING && fine.data_tos == GN_TOS_AUTO);
    ck_assert(fine.codec.profile == GN_DENSE && fine.codec.bound_exp == 10);
    ck_assert_int_eq(gn_config_check(&c, &error), GN_OK);
    c.algorithm = GN_ALGORITHMS;
    refuses(&c, "algorithm 8 is not known");
    c = fine, c.scale = (gn_scale)(GN_SCALE_AUTO + 7);
    ck_assert_int_eq(gn_config_check(&c, &error), GN_INVALID);
    c = fine, c.scale = GN_SCALE_AUTO;
    ck_assert_int_eq(gn_config_check(&c, &error), GN_OK);
    for (int tos = -3; tos < 260; tos++) {
        c = fine, c.data_tos = tos;
        ck_assert_int_eq(gn_config_check(&c, &error), tos < GN_TOS_AUTO || tos > 255 ? GN_INVALID : GN_OK);
    }
    refuses(&c, "data_tos is 259: want 0 to 255, or GN_TOS_AUTO");
    c = fine, c.timeout_ms = -1;
    refuses(&c, "timeout_ms is -1: want 0 (30000) or more");
    c = fine, c.quantise = true;
    ck_assert_int_eq(gn_config_check(&c, &error), GN_OK);
    c.codec.kernel = NULL;
    refuses(&c, "quantise needs a codec made by gn_codec_init()");
    int lowest, highest;
    ck_assert_int_eq(gn_profile_range(GN_DENSE, &lowest, &highest), GN_OK);
    for (int bound = lowest - 1; bound <= highest + 1; bound++) {
        c = fine, c.quantise = true;
        c.codec.bound_exp = bound;
        ck_assert_int_eq(gn_config_check(&c, &error), bound < lowest || bound > highest ? GN_INVALID : GN_OK);
    }
    c = fine, c.quantise = true, c.codec.profile = (gn_profile)99;
    ck_assert_int_eq(gn_config_check(&c, &error), GN_INVALID);
    c.quantise = false;  // then nobody looks at the codec
    ck_assert_int_eq(gn_config_check(&c, &error), GN_OK);
}
END_TEST

static void no_wire(void *context, float *values, size_t count)
{
    (void)context, (void)values, (void)count;
}

static void no_plain_wire(void *context, size_t bytes)
{
    (void)context, (void)bytes;
}

START_TEST(what_a_switch_wants)
{
    gn_comm_config fine = gn_comm_config_default(), c;
    fine.algorithm = GN_SWITCH;
    refuses(&fine, "algorithm switch needs switch_address, \"host:port\"");
    fine.switch_address = "127.0.0.1:9";
    ck_assert_int_eq(gn_config_check(&fine, &error), GN_OK);
    c = fine, c.codec.profile = GN_PAPER;
    ck_assert_int_eq(gn_config_check(&c, &error), GN_OK);
    c.quantise = true;
    refuses(&c, "a switch adds integers, which paper does not have: take dense or lattice");
    c = fine, c.switch_nic = true;
    refuses(&c, "switch_nic needs quantise, and the codec of the NIC's rule");
    c.quantise = true;
    ck_assert_int_eq(gn_config_check(&c, &error), GN_OK);
    for (gn_half half = GN_HALF_NONE; half < GN_HALVES; half++) {
        c = fine, c.switch_half = half;
        ck_assert_int_eq(gn_config_check(&c, &error), GN_OK);
        c.quantise = true;
        if (half) refuses(&c, "switch_half is for values without a codec: leave quantise or it off");
    }
    c = fine, c.switch_half = GN_HALVES;
    refuses(&c, "switch_half is 3: want GN_HALF_NONE, GN_HALF_TYPES or GN_HALF_ALL");
    c = fine, c.switch_channels = GN_ADMISSION_STREAMS_MAX;
    ck_assert_int_eq(gn_config_check(&c, &error), GN_OK);
    c.switch_channels++;
    ck_assert_int_eq(gn_config_check(&c, &error), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "switch_channels is "));
    for (unsigned slots = 0; slots <= 16; slots++) {
        c = fine, c.switch_slots = slots;
        const bool power = slots == 0 || slots == 1 || slots == 2 || slots == 4 || slots == 8 || slots == 16;
        ck_assert_int_eq(gn_config_check(&c, &error), power ? GN_OK : GN_INVALID);
    }
    c.switch_slots = GN_AGG_SLOTS_MAX;
    ck_assert_int_eq(gn_config_check(&c, &error), GN_OK);
    c.switch_slots = 2 * GN_AGG_SLOTS_MAX;
    ck_assert_int_eq(gn_config_check(&c, &error), GN_INVALID);
    c = fine, c.switch_values = GN_AGG_VALUES_MAX;
    ck_assert_int_eq(gn_config_check(&c, &error), GN_OK);
    c.switch_values++;
    ck_assert_int_eq(gn_config_check(&c, &error), GN_INVALID);
    c = fine, c.switch_rto_us = 1000000;
    ck_assert_int_eq(gn_config_check(&c, &error), GN_OK);
    c.switch_rto_us++;
    refuses(&c, "switch_rto_us is 1000001: want at most a second");
    c = fine, c.wire = no_wire;
    refuses(&c, "a wire function sees no data with algorithm switch");
    c = fine, c.wire_plain = no_plain_wire;
    refuses(&c, "a wire function sees no data with algorithm switch");
}
END_TEST

START_TEST(what_is_chosen)
{
    gn_comm_config c = gn_comm_config_default();
    gn_comm_config_choose(&c);
    ck_assert(c.data_tos == 0 && c.switch_channels == 1);
    c = gn_comm_config_default(), c.quantise = true, c.switch_channels = 2;
    gn_comm_config_choose(&c);
    ck_assert(c.data_tos == 0 && c.switch_channels == 2 && c.offload == GN_OFFLOAD_LIBRARY);
    c = gn_comm_config_default(), c.quantise = true, c.offload = GN_OFFLOAD_NIC;
    gn_comm_config_choose(&c);
    ck_assert_int_eq(c.data_tos, 0x28);
    c.data_tos = 4;
    gn_comm_config_choose(&c);
    ck_assert_int_eq(c.data_tos, 4);
    c = gn_comm_config_default(), c.quantise = true, c.algorithm = GN_SWITCH;
    gn_comm_config_choose(&c);
    ck_assert_int_eq(c.data_tos, 0);
    c = gn_comm_config_default(), c.quantise = c.switch_nic = true, c.algorithm = GN_SWITCH;
    gn_comm_config_choose(&c);
    ck_assert(c.data_tos == 0x28 && c.switch_nic && c.offload == GN_OFFLOAD_NIC);
    c = gn_comm_config_default(), c.quantise = true, c.algorithm = GN_SWITCH, c.offload = GN_OFFLOAD_NIC;
    gn_comm_config_choose(&c);
    ck_assert(c.data_tos == 0x28 && c.switch_nic);
    c = gn_comm_config_default(), c.quantise = true, c.groups = "host";
    gn_comm_config_choose(&c);
    ck_assert(c.algorithm == GN_GROUP_RING && c.group_offload == GN_OFFLOAD_NONE);
    c = gn_comm_config_default(), c.quantise = true, c.groups = "2";
    gn_comm_config_choose(&c);
    ck_assert(c.algorithm == GN_GROUP_RING && c.group_offload == GN_OFFLOAD_LIBRARY);
    c.timeout_ms = 0;
    ck_assert_int_eq(gn_timeout_ms(&c), 30000);
    c.timeout_ms = 1;
    ck_assert_int_eq(gn_timeout_ms(&c), 1);
    ck_assert_str_eq(gn_algorithm_name(GN_WORKER_AGGREGATOR), "worker-aggregator");
    ck_assert_str_eq(gn_algorithm_name(GN_DIRECT), "direct");
    ck_assert_str_eq(gn_algorithm_name(GN_AUTO), "auto");
    ck_assert_str_eq(gn_algorithm_name(GN_GROUP_RING), "group-ring");
    ck_assert_str_eq(gn_algorithm_name(GN_GROUP_AGGREGATOR), "group-aggregator");
    ck_assert_str_eq(gn_algorithm_name(GN_AGGREGATORS), "aggregators");
    ck_assert_ptr_null(gn_algorithm_name(GN_ALGORITHMS));
    ck_assert_ptr_null(gn_algorithm_name((gn_algorithm)-1));
}
END_TEST

START_TEST(terms_of_a_configuration)
{
    gn_comm_config c = gn_comm_config_default();
    c.scale_target = 5, c.switch_channels = 3, c.data_tos = 0x28;
    gn_terms t = gn_terms_of(&c);
    ck_assert_mem_eq(&t, (&(gn_terms){.version = GN_PROTOCOL_VERSION, .algorithm = GN_RING, .data_tos = 0x28}),
                     sizeof t);
    c.algorithm = GN_SWITCH, c.quantise = true, c.scale = GN_SCALE_AUTO, c.aggregator_weights = true;
    c.offload = GN_OFFLOAD_NIC;
    t = gn_terms_of(&c);
    ck_assert_mem_eq(&t,
                     (&(gn_terms){.version = GN_PROTOCOL_VERSION,
                                  .algorithm = GN_SWITCH,
                                  .quantise = 1,
                                  .profile = GN_DENSE,
                                  .bound_exp = 10,
                                  .scale = GN_SCALE_AUTO,
                                  .scale_target = 5,
                                  .data_tos = 0x28,
                                  .aggregator_weights = 1,
                                  .switch_channels = 3,
                                  .offload = GN_OFFLOAD_NIC}),
                     sizeof t);
    c = gn_comm_config_default(), c.algorithm = GN_AGGREGATORS, c.groups = "number:7";
    c.group_offload = GN_OFFLOAD_NONE;
    t = gn_terms_of(&c);
    ck_assert(t.algorithm == GN_AGGREGATORS && t.groups == GN_GROUPS_BY_NUMBER && t.group_offload == GN_OFFLOAD_NONE);
}
END_TEST

START_TEST(terms_that_differ)
{
    static const gn_terms none = {.version = 3};
    static const struct {
        gn_terms terms;
        const char *said, *back;
    } cases[] = {
        {{.version = 4, .algorithm = 1}, "protocol version 4", "protocol version 3"},
        {{3, .algorithm = 1, .quantise = 1}, "algorithm worker-aggregator", "algorithm ring"},
        {{3, .algorithm = 9}, "algorithm unknown", "algorithm ring"},
        {{3, .quantise = 1, .profile = 1}, "quantise on", "quantise off"},
        {{3, .profile = GN_DENSE, .bound_exp = 9}, "profile dense", "profile paper"},
        {{3, .profile = 77}, "profile unknown", "profile paper"},
        {{3, .bound_exp = 8, .scale = 1}, "bound 2^-8", "bound 2^0"},
        {{3, .bound_exp = -8}, "bound 2^8", "bound 2^0"},
        {{3, .scale = 1, .scale_target = 4}, "scale auto", "scale none"},
        {{3, .scale_target = -4, .data_tos = 1}, "scale target 2^-4", "scale target 2^0"},
        {{3, .switch_half = GN_HALF_ALL}, "switch half all", "switch half none"},
        {{3, .data_tos = 0x28, .aggregator_weights = 1}, "data ToS 0x28", "data ToS 0x00"},
        {{3, .aggregator_weights = 1, .switch_channels = 2}, "aggregator weights on", "aggregator weights off"},
        {{3, .switch_channels = 2}, "2 switch channels", "0 switch channels"},
        {{3, .offload = GN_OFFLOAD_NIC, .data_tos = 0x28}, "offload nic", "offload auto"},
        {{3, .offload = 77}, "offload unknown", "offload auto"},
        {{3, .groups = 4, .group_offload = 2}, "groups 4 ranks in a row", "groups by host"},
        {{3, .groups = 0xffff}, "groups by number", "groups by host"},
        {{3, .groups = 1}, "groups 1 rank in a row", "groups by host"},
        {{3, .group_offload = 3}, "offload within a group none", "offload within a group auto"}};
    char text[80];
    ck_assert(!gn_terms_differ(&none, &none, text, sizeof text));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert(gn_terms_differ(&cases[i].terms, &none, text, sizeof text));
        ck_assert_str_eq(text, cases[i].said);
        ck_assert(gn_terms_differ(&none, &cases[i].terms, text, sizeof text));
        ck_assert_str_eq(text, cases[i].back);
        ck_assert(!gn_terms_differ(&cases[i].terms, &cases[i].terms, text, sizeof text));
    }
}
END_TEST

static void missing(unsigned size, const char *wanted, const int *here, int count)
{
    gn_roster roster = {.size = (uint16_t)size};
    char text[300];
    for (int i = 0; i < count; i++) gn_roster_add(&roster, here[i]);
    gn_roster_missing(&roster, text, sizeof text);
    ck_assert_str_eq(text, wanted);
    ck_assert(!gn_roster_is_complete(&roster));
}

START_TEST(who_is_missing)
{
    static const int some[] = {0, 1, 4, 7, 8, 255};
    gn_roster roster = {.size = 10};
    missing(9, "ranks 2-3, 5-6", some, 5);
    missing(10, "ranks 2-3, 5-6, 9", some, 5);
    missing(3, "rank 2", some, 2);
    missing(4, "ranks 2-3", some, 2);
    missing(256, "ranks 2-3, 5-6, 9-254", some, 6);
    missing(2, "ranks 0-1", NULL, 0);
    for (int rank = 0; rank < 10; rank++) {
        ck_assert(!gn_roster_is_complete(&roster) && !gn_roster_has(&roster, rank));
        gn_roster_add(&roster, rank);
        ck_assert(gn_roster_has(&roster, rank) && !gn_roster_has(&roster, rank + 1));
    }
    ck_assert(gn_roster_is_complete(&roster));
    for (int rank = 0; rank < 10; rank++) {
        gn_roster_remove(&roster, rank);
        ck_assert(!gn_roster_has(&roster, rank) && !gn_roster_is_complete(&roster));
        gn_roster_add(&roster, rank);
    }
    roster = (gn_roster){.size = 256};  // every second one: more than the text takes
    char text[230];
    for (int rank = 0; rank < 256; rank += 2) gn_roster_add(&roster, rank);
    gn_roster_missing(&roster, text, sizeof text);
    ck_assert(strstr(text, "ranks 1, 3, 5, ") == text && strlen(text) == 6 + 199);
}
END_TEST

START_TEST(who_is_suspected)
{
    static const struct {
        gn_watch watch;
        gn_evidence evidence;
    } cases[] = {{{.left = true, .silent = 99, .still = 99}, GN_EVIDENCE_LEFT},
                 {{.silent = 10, .still = 20}, GN_EVIDENCE_NONE},
                 {{.silent = 11}, GN_EVIDENCE_SILENT},
                 {{.silent = 11, .still = 99, .stuck = true}, GN_EVIDENCE_SILENT},
                 {{.silent = 1, .still = 10, .stuck = true}, GN_EVIDENCE_NONE},
                 {{.silent = 1, .still = 11, .stuck = true}, GN_EVIDENCE_STUCK},
                 {{.silent = 1, .still = 11}, GN_EVIDENCE_NONE},
                 {{.silent = 1, .still = 21}, GN_EVIDENCE_STILL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gn_suspicion s = gn_suspect(&cases[i].watch, 10);
        ck_assert_int_eq(s.evidence, cases[i].evidence);
        ck_assert_uint_eq(s.silent, cases[i].watch.silent);
    }
    const gn_suspicion weak = {GN_EVIDENCE_STILL, 9}, longer = {GN_EVIDENCE_STILL, 10},
                       strong = {GN_EVIDENCE_SILENT, 0};
    ck_assert(gn_suspicion_stronger(longer, weak) && !gn_suspicion_stronger(weak, longer));
    ck_assert(!gn_suspicion_stronger(weak, weak));
    ck_assert((GN_EVIDENCE_SILENT > GN_EVIDENCE_STILL) == gn_suspicion_stronger(strong, longer));
    ck_assert(gn_suspicion_stronger(strong, longer) != gn_suspicion_stronger(longer, strong));
}
END_TEST

START_TEST(addresses_of_ranks)
{
    const gn_ip four = {4, {10, 0, 0, 1}}, local = {6, {0xfe, 0x80, [15] = 1}};
    gn_address a = gn_address_from(&four), b = a;
    ck_assert(a.family == 4 && !memcmp(a.bytes, four.bytes, 16) && !a.data_port && !a.oob_port);
    gn_endpoint e = gn_address_endpoint(&a, 9, 7);
    ck_assert(e.ip.version == 4 && e.port == 9 && e.scope == 0 && !gn_ip_compare(&e.ip, &four));
    ck_assert(gn_address_same(&a, &b));
    for (unsigned i = 0; i < 4; i++) {
        b = a;
        if (i == 0) b.family = 6;
        if (i == 1) b.data_port = 1;
        if (i == 2) b.oob_port = 1;
        if (i == 3) b.bytes[15] = 1;
        ck_assert(!gn_address_same(&a, &b));
    }
    a = gn_address_from(&local);
    e = gn_address_endpoint(&a, 9, 7);
    ck_assert(e.ip.version == 6 && e.scope == 7 && !gn_ip_compare(&e.ip, &local));
    static gn_rank_table table;
    char name[GN_ENDPOINT_TEXT];
    table.address[1] = gn_address_from(&four);
    table.address[1].data_port = 9;
    ck_assert_str_eq(gn_rank_name(&table, 1, name), "10.0.0.1");
}
END_TEST

// Each span of late counts whole, the one before by seven eighths.
START_TEST(pace)
{
    gn_pace p = {.born = 1000};
    gn_pace_begin(&p, 2000);
    ck_assert(p.computation == 0 && p.began == 2000);
    gn_pace_end(&p, 2800);
    ck_assert(p.communication == 800 && p.ended == 2800);
    gn_pace_begin(&p, 3200);
    ck_assert_uint_eq(p.computation, 400);
    gn_pace_end(&p, 3300);
    ck_assert_uint_eq(p.communication, 700 + 100);
    gn_pace_begin(&p, 3350);
    ck_assert_uint_eq(p.computation, 350 + 50);

    const uint64_t second = GN_SECOND;
    p = (gn_pace){.born = second};
    ck_assert_uint_eq(gn_pace_priority(&p, 3 * second, 0, 0, 0), gn_priority(2, 1, 1, 1, 1));
    ck_assert_uint_eq(gn_pace_priority(&p, 3 * second, 4 * second, 0, 0), gn_priority(4, 1, 1, 1, 1));
    ck_assert_uint_eq(gn_pace_priority(&p, 3 * second, 0, 2, 8), gn_priority(2, 8, 2, 1, 1));
    ck_assert_uint_eq(gn_pace_priority(&p, 3 * second, 0, 8, 8), gn_priority(2, 8, 8, 1, 1));
    ck_assert_uint_eq(gn_pace_priority(&p, 3 * second, 0, 9, 8), gn_priority(2, 1, 1, 1, 1));
    ck_assert_uint_eq(gn_pace_priority(&p, 3 * second, 0, 0, 8), gn_priority(2, 1, 1, 1, 1));
    p.communication = 3 * second;
    ck_assert_uint_eq(gn_pace_priority(&p, 3 * second, 0, 1, 1), gn_priority(2, 1, 1, 1, 1));
    p.computation = second / 2;
    ck_assert_uint_eq(gn_pace_priority(&p, 3 * second, 0, 1, 1), gn_priority(2, 1, 1, 3, 0.5));
    p.communication = 0;
    ck_assert_uint_eq(gn_pace_priority(&p, 3 * second, 0, 1, 1), gn_priority(2, 1, 1, 1, 1));
}
END_TEST

// 256 is one: as long for exchange as for computation, one layer, a second to go.
START_TEST(priorities)
{
    ck_assert_uint_eq(gn_priority(1, 1, 1, 1, 1), 256);
    ck_assert_uint_eq(gn_priority(2, 1, 1, 1, 1), 128);
    ck_assert_uint_eq(gn_priority(1, 8, 2, 1, 1), 1024);
    ck_assert_uint_eq(gn_priority(1, 1, 1, 3, 2), 384);
    ck_assert_uint_eq(gn_priority(256, 1, 1, 1, 1), 1);
    ck_assert_uint_eq(gn_priority(1e9, 1, 1, 1, 1), 1);
    ck_assert_uint_eq(gn_priority(170, 1, 1, 1, 1), 2);  // 1.5 is rounded
    ck_assert_uint_eq(gn_priority(0, 1, 1, 1, 1), 65535);
    ck_assert_uint_eq(gn_priority(256.0 / 65534, 1, 1, 1, 1), 65534);
    ck_assert_uint_eq(gn_priority(1e-9, 1, 1, 1, 1), 65535);
    ck_assert_uint_eq(gn_priority(0, 1, 1, 0, 1), 1);
}
END_TEST

// Four fit into a deadline, and none is longer than a second.
START_TEST(signs_of_life)
{
    static const struct {
        int timeout_ms;
        uint64_t span;
    } cases[] = {{1000, 250 * GN_MILLISECOND}, {3999, 999750000}, {4000, GN_SECOND}, {30000, GN_SECOND}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gn_comm comm = {.timeout_ms = cases[i].timeout_ms};
        ck_assert_uint_eq(gn_oob_beat_span(&comm), cases[i].span);
    }
}
END_TEST

// Each pass over the values says how long it took.
START_TEST(time_of_a_pass)
{
    static float values[1 << 16];
    gn_comm comm = {.rank = 0};
    const gn_bucket bucket = {.send = values, .recv = values, .count = sizeof values / sizeof *values};
    gn_codec_init(&comm.config.codec, GN_PAPER, 10);
    gn_exchange settled = {.comm = &comm, .bucket = &bucket, .sum_pass = true}, idle = {.comm = &comm};
    gn_exchange_settle(&settled, 0, bucket.count);
    gn_exchange_settle(&idle, 0, bucket.count);
    ck_assert_uint_gt(settled.quantising, 0);
    ck_assert_uint_eq(idle.quantising, 0);
}
END_TEST

// Algorithm auto: sizes of a class, and the cheaper way; of two that are alike the earlier one.
START_TEST(what_auto_chooses)
{
    ck_assert_uint_eq(gn_size_class_of(1), 0);
    ck_assert_uint_eq(gn_size_class_of(1023), 9);
    ck_assert_uint_eq(gn_size_class_of(1024), 10);
    ck_assert_uint_eq(gn_size_class_of(SIZE_MAX), 63);
    ck_assert_int_eq(gn_choice_cost(0), 0);
    ck_assert_int_eq(gn_choice_cost(1 << 20), 20 * 256);
    ck_assert_int_lt(gn_choice_cost(UINT64_MAX), INT16_MAX);
    ck_assert_int_eq(gn_choice_of((int16_t[]){500, 495, 499}, 3), GN_TAKE_DIRECT);
    ck_assert_int_eq(gn_choice_of((int16_t[]){500, 400, 300}, 3), GN_TAKE_DIRECT_PLAIN);
    ck_assert_int_eq(gn_choice_of((int16_t[]){500, 400, 300}, 2), GN_TAKE_RING);
    ck_assert_int_eq(gn_choice_of((int16_t[]){500, 400, 300, 200}, GN_CHOICES), GN_TAKE_RING_PLAIN);
}
END_TEST

// Packets of 1500 bytes: 10 Gbit/s for 1 ms are 1.25 MB, 834 of them.
START_TEST(slots_of_a_pool)
{
    const uint64_t ms = 1000000, rate = 10000000000u;
    ck_assert_uint_eq(gn_pool_slots(ms, rate, 1500, 256), 1024);
    ck_assert_uint_eq(gn_pool_slots(ms / 10, rate, 1500, 256), 256);
    ck_assert_uint_eq(gn_pool_slots(ms / 10, 10 * rate, 1500, 256), 1024);
    ck_assert_uint_eq(gn_pool_slots(ms, rate, 1500, 16), 1024);
    ck_assert_uint_eq(gn_pool_slots(ms, 1024 * 1500 * 8 * (uint64_t)1000, 1500, 16), 1024);
    ck_assert_uint_eq(gn_pool_slots(1000 * ms, rate, 1500, 512), GN_POOL_MOST);
    ck_assert_uint_eq(gn_pool_slots(0, rate, 1500, 512), 512);
    ck_assert_uint_eq(gn_pool_slots(ms, 0, 1500, 512), 512);
    ck_assert_uint_eq(gn_pool_of(-1, 1500, 512), 512);
    // Loopback has no speed.
    gn_endpoint here = {.port = 0};
    ck_assert(gn_ip_parse("127.0.0.1", &here.ip));
    int listener = gn_tcp_listen(&here, false, 0);
    ck_assert_int_ge(listener, 0);
    int fd = gn_tcp_connect(&here, NULL, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_uint_eq(gn_pool_of(fd, 1500, 512), 512);
    gn_close(&fd);
    gn_close(&listener);
}
END_TEST

int main(void)
{
    return RUN_TESTS("ring_parts", what_a_configuration_may_say, what_a_switch_wants, what_is_chosen,
                     terms_of_a_configuration, terms_that_differ, who_is_missing, who_is_suspected, addresses_of_ranks,
                     pace, priorities, signs_of_life, time_of_a_pass, what_auto_chooses, slots_of_a_pool);
}
