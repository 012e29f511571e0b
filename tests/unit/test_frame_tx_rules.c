// SPDX-License-Identifier: Apache-2.0
// Which rule a packet falls under, what is counted of it, and rules that are replaced.
#include "packets.h"
#include "suite.h"
#include "tx_fixture.h"

START_TEST(every_profile_has_its_kind)
{
    gn_rule by_default = gn_rule_default();
    ck_assert_int_eq(by_default.codec.profile, GN_DENSE);
    ck_assert_int_eq(by_default.codec.bound_exp, 10);
    size_t bytes[GN_PROFILE_COUNT];
    for (gn_profile profile = GN_PAPER; profile < GN_PROFILE_COUNT; profile++) {
        gn_rule one = by_default;
        ck_assert_int_eq(gn_codec_init(&one.codec, profile, 9), GN_OK);
        tx_use_rules(&one, 1);
        ck_assert_int_eq(tx_send((packet){.protocol = 17}, small, 1400), GN_VERDICT_WRITE);
        ck_assert_uint_eq(out_kind(), profile + 1u);
        ck_assert_int_eq(out_bound(), 9);
        ck_assert_uint_eq(tx_counters()->rule[0].compressed, 1);
        bytes[profile] = out_length;
    }
    ck_assert_uint_lt(bytes[GN_DENSE], bytes[GN_LATTICE]);
}
END_TEST

START_TEST(the_first_rule_that_matches_wins)
{
    gn_rule rules[4];
    for (int i = 0; i < 4; i++) rules[i] = gn_rule_default();
    rules[0].protocol = 17;
    rules[0].port_low = 5000, rules[0].port_high = 5010;
    ck_assert_int_eq(gn_codec_init(&rules[0].codec, GN_LATTICE, 4), GN_OK);
    rules[1].protocol = 6;
    ck_assert_int_eq(gn_codec_init(&rules[1].codec, GN_PAPER, 5), GN_OK);
    rules[2].tos = 0x48;
    ck_assert_int_eq(gn_codec_init(&rules[2].codec, GN_DENSE, 6), GN_OK);
    tx_use_rules(rules, 4);

    static const struct {
        packet p;
        int bound;
        size_t rule;
    } cases[] = {
        {{.protocol = 17, .destination = 5000}, 4, 0},
        {{.protocol = 17, .destination = 5010}, 4, 0},
        {{.protocol = 17, .destination = 4999}, 10, 3},
        {{.protocol = 17, .destination = 5011}, 10, 3},
        {{.protocol = 17, .destination = 65535, .source = 5005}, 10, 3},
        {{.destination = 5005}, 5, 1},
        {{.tos = 0x48, .protocol = 17}, 6, 2},
        {{.tos = 0x4b, .source = 7}, 6, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        packet p = cases[i].p;
        if (p.protocol != 17) tx_open_flow(p);
        uint64_t was = tx_counters()->rule[cases[i].rule].compressed;
        ck_assert_int_eq(tx_send(p, small, 1400), GN_VERDICT_WRITE);
        ck_assert_int_eq(out_bound(), cases[i].bound);
        ck_assert_uint_eq(tx_counters()->rule[cases[i].rule].compressed, was + 1);
    }
    ck_assert_int_eq(tx_send((packet){.tos = 0x50}, small, 1400), GN_VERDICT_PASS);
}
END_TEST

START_TEST(a_rule_s_counters)
{
    packet p = {.protocol = 17};
    ck_assert_int_eq(tx_send(p, small, 1401), GN_VERDICT_WRITE);
    const gn_tx_rule_counters *c = &tx_counters()->rule[0];
    ck_assert_uint_eq(c->compressed, 1);
    ck_assert_uint_eq(c->values, 350);
    ck_assert_uint_eq(c->payload_bytes, 1401);
    ck_assert_uint_eq(c->wire_bytes, out_length - 28);
    uint64_t wire = c->wire_bytes;
    ck_assert_int_eq(tx_send(p, noise, 1000), GN_VERDICT_WRITE);
    ck_assert_uint_eq(c->stored, 1);
    ck_assert_uint_eq(c->values, 350);
    ck_assert_uint_eq(c->payload_bytes, 2401);
    ck_assert_uint_eq(c->wire_bytes, wire + 1008);
    ck_assert_uint_eq(tx_counters()->stored_no_gain, 1);
}
END_TEST

START_TEST(rules_can_be_replaced)
{
    packet p = {.protocol = 17};
    gn_rule rules[2] = {rule, rule};
    rules[1].tos = 0x30;
    tx_send(p, small, 400);
    ck_assert_int_eq(gn_tx_set_rules(tx, rules, 2), GN_OK);
    ck_assert_uint_eq(tx_counters()->rule[0].compressed, 1);  // unchanged rule: goes on counting
    ck_assert_int_eq(gn_codec_init(&rules[0].codec, GN_DENSE, 3), GN_OK);
    ck_assert_int_eq(gn_tx_set_rules(tx, rules, 2), GN_OK);
    ck_assert_uint_eq(tx_counters()->rule[0].compressed, 0);  // changed: begins anew
    tx_send(p, small, 400);
    ck_assert_int_eq(gn_codec_init(&rules[0].codec, GN_LATTICE, 3), GN_OK);  // another profile of the same bound
    ck_assert_int_eq(gn_tx_set_rules(tx, rules, 2), GN_OK);
    ck_assert_uint_eq(tx_counters()->rule[0].compressed, 0);
    ck_assert_int_eq(tx_send(p, small, 400), GN_VERDICT_WRITE);
    ck_assert_int_eq(out_bound(), 3);
    rules[0].head = 8;  // another head alone
    ck_assert_int_eq(gn_tx_set_rules(tx, rules, 2), GN_OK);
    ck_assert_uint_eq(tx_counters()->rule[0].compressed, 0);
    ck_assert_int_eq(tx_send(p, small, 400), GN_VERDICT_WRITE);
    ck_assert_uint_eq(out_head(), 8);
    ck_assert_uint_eq(tx_counters()->rule[0].compressed, 1);
    ck_assert_int_eq(gn_tx_set_rules(tx, NULL, 0), GN_OK);
    ck_assert_int_eq(tx_send(p, small, 400), GN_VERDICT_PASS);

    gn_rule bad[] = {rule, rule, rule, rule};
    bad[0].port_low = 2, bad[0].port_high = 1;
    bad[1].protocol = 1;
    bad[2].codec.bound_exp = 99;
    bad[3].codec.kernel = NULL;
    for (int i = 0; i < 4; i++) {
        gn_tx *none;
        ck_assert_int_eq(gn_tx_set_rules(tx, &bad[i], 1), GN_INVALID);
        ck_assert_int_eq(gn_tx_new(&none, &(gn_tx_config){.rules = &bad[i], .rule_count = 1}), GN_INVALID);
        ck_assert_ptr_null(none);
    }
    gn_rule many[GN_RULES_MAX + 1];
    for (int i = 0; i <= GN_RULES_MAX; i++) many[i] = rule;
    ck_assert_int_eq(gn_tx_set_rules(tx, many, GN_RULES_MAX), GN_OK);
    ck_assert_int_eq(gn_tx_set_rules(tx, many, GN_RULES_MAX + 1), GN_INVALID);
    ck_assert_int_eq(tx_send(p, small, 400), GN_VERDICT_WRITE);  // the good ones are still there
}
END_TEST

int main(void)
{
    return RUN_SUITE("frame tx rules", tx_setup, tx_teardown, every_profile_has_its_kind,
                     the_first_rule_that_matches_wins, a_rule_s_counters, rules_can_be_replaced);
}
