// SPDX-License-Identifier: Apache-2.0
#include "tx_fixture.h"

#include <check.h>

uint8_t in[ROOM], out[ROOM];
size_t out_length;
float small[400], noise[400];
gn_tx *tx;
gn_rule rule;

void tx_use_rules(const gn_rule *rules, size_t count)
{
    gn_tx_free(tx);
    ck_assert_int_eq(gn_tx_new(&tx, &(gn_tx_config){.rules = rules, .rule_count = count}), GN_OK);
}

void tx_setup(void)
{
    uint32_t seed = 3;
    random_values(&seed, small, 400, 0.01f);
    random_values(&seed, noise, 400, 0);
    rule = gn_rule_default();
    tx_use_rules(&rule, 1);
}

void tx_teardown(void)
{
    gn_tx_free(tx);
    tx = NULL;
}

const gn_tx_counters *tx_counters(void)
{
    return gn_tx_get_counters(tx);
}

gn_verdict tx_send_bytes(size_t length)
{
    out_length = 0;
    return gn_tx_packet(tx, in, length, out, sizeof out, &out_length);
}

gn_verdict tx_send(packet p, const void *payload, size_t bytes)
{
    return tx_send_bytes(packet_build(&p, payload, bytes, in));
}

void tx_open_flow(packet p)
{
    p.flags = 0x02;
    p.seq--;
    ck_assert_int_eq(tx_send(p, "", 0), GN_VERDICT_PASS);
}

unsigned out_kind(void)
{
    return out[packet_headers(out) + 2] & 15;
}

unsigned out_head(void)
{
    return out[packet_headers(out) + 6];
}

int out_bound(void)
{
    return (int8_t)out[packet_headers(out) + 3];
}
