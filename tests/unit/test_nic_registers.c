// SPDX-License-Identifier: Apache-2.0
// The NIC's registers as software sees them. Counters have the same names as everywhere else, and
// are the model's counters of that name. A rule's words are read back as the rule.
#include <string.h>

#include "driver/counters.h"
#include "driver/nic_registers.h"
#include "suite.h"

static void expect_rows(const gn_counter_register *registers, unsigned count, const gn_counter *rows)
{
    for (unsigned i = 0; i < count; i++) {
        if (registers[i].offset == GN_NOT_IN_MODEL) continue;
        const gn_counter *row = rows;
        while (row->name && strcmp(row->name, registers[i].name) != 0) row++;
        ck_assert_msg(row->name != NULL, "no counter is called %s", registers[i].name);
        ck_assert_msg(row->offset == registers[i].offset, "%s is another counter's place", registers[i].name);
    }
}

START_TEST(names)
{
    expect_rows(gn_tx_registers, GN_TX_REGISTERS, gn_tx_counter_rows);
    expect_rows(gn_tx_rule_registers, GN_TX_RULE_REGISTERS, gn_tx_rule_counter_rows);
    expect_rows(gn_rx_registers, GN_RX_REGISTERS, gn_rx_counter_rows);
    ck_assert_uint_eq(gn_counter_address(GN_REG_RX, gn_rx_registers, "malformed"), 0x850);
    ck_assert_uint_eq(gn_counter_address(GN_REG_RX, gn_rx_registers, "dropped_long"), 0x898);
}
END_TEST

START_TEST(rule_words)
{
    gn_rule rule = {.tos = 0x28, .protocol = 17, .port_low = 1000, .port_high = 2000, .head = 12}, back;
    ck_assert_int_eq(gn_codec_init(&rule.codec, GN_LATTICE, -4), GN_OK);
    gn_rule_words words = gn_rule_to_words(&rule);
    ck_assert_uint_eq(words.word[0], 0x80011128);
    ck_assert_uint_eq(words.word[1], 0x07d003e8);
    ck_assert_uint_eq(words.word[2], 0x00000cfc);
    ck_assert(gn_rule_from_words(&words, &back));
    ck_assert_uint_eq(back.tos, 0x28);
    ck_assert_uint_eq(back.protocol, 17);
    ck_assert_uint_eq(back.port_low, 1000);
    ck_assert_uint_eq(back.port_high, 2000);
    ck_assert_uint_eq(back.head, 12);
    ck_assert_int_eq(back.codec.profile, GN_LATTICE);
    ck_assert_int_eq(back.codec.bound_exp, -4);
    words.word[2] = 100;  // a bound that lattice does not have
    ck_assert(!gn_rule_from_words(&words, &back));
    ck_assert(!gn_rule_from_words(&(gn_rule_words){{0x00011128, 0, 0}}, &back));  // not enabled
}
END_TEST

int main(void)
{
    return RUN_TESTS("nic registers", names, rule_words);
}
