// SPDX-License-Identifier: Apache-2.0
#include "driver/nic_registers.h"

#include <string.h>

gn_rule_words gn_rule_to_words(const gn_rule *rule)
{
    return (gn_rule_words){{1u << 31 | (uint32_t)rule->codec.profile << 16 | (uint32_t)rule->protocol << 8 | rule->tos,
                            (uint32_t)rule->port_high << 16 | rule->port_low,
                            (uint32_t)rule->head << 8 | (uint8_t)rule->codec.bound_exp}};
}

bool gn_rule_from_words(const gn_rule_words *words, gn_rule *rule)
{
    const uint32_t match = words->word[0], ports = words->word[1], codec = words->word[2];
    *rule = (gn_rule){.tos = (uint8_t)match,
                      .protocol = (uint8_t)(match >> 8),
                      .port_low = (uint16_t)ports,
                      .port_high = (uint16_t)(ports >> 16),
                      .head = (uint8_t)(codec >> 8)};
    const gn_status status = gn_codec_init(&rule->codec, (gn_profile)(match >> 16 & 3), (int8_t)codec);
    return match >> 31 && status == GN_OK;
}

#define TX(name, field) {name, offsetof(gn_tx_counters, field)},
#define RULE(name, field) {name, offsetof(gn_tx_rule_counters, field)},
#define RX(name, field) {name, offsetof(gn_rx_counters, field)},
#define OTHER(name) {name, GN_NOT_IN_MODEL},
const gn_counter_register gn_tx_registers[GN_TX_REGISTERS] = {GN_TX_REGISTER_ROWS(TX, OTHER)};
const gn_counter_register gn_tx_rule_registers[GN_TX_RULE_REGISTERS] = {GN_TX_RULE_REGISTER_ROWS(RULE, OTHER)};
const gn_counter_register gn_rx_registers[GN_RX_REGISTERS] = {GN_RX_REGISTER_ROWS(RX, OTHER)};

unsigned gn_counter_address(unsigned base, const gn_counter_register *registers, const char *name)
{
    unsigned i = 0;
    while (strcmp(registers[i].name, name) != 0) i++;
    return base + GN_REG_COUNTER * i;
}
