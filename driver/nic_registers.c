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

#define TX(field)                                                                                                      \
    {                                                                                                                  \
#field, offsetof(gn_tx_counters, field)                                                                        \
    }
const gn_counter_register gn_tx_registers[GN_TX_REGISTERS] = {TX(packets),
                                                              TX(bytes),
                                                              TX(passed),
                                                              TX(pass_bypass),
                                                              TX(pass_no_rule),
                                                              TX(pass_not_ip),
                                                              TX(pass_fragment),
                                                              TX(pass_extension),
                                                              TX(pass_protocol),
                                                              TX(pass_empty),
                                                              TX(pass_too_big),
                                                              TX(stored_no_gain),
                                                              TX(stored_no_syn),
                                                              TX(stored_syn),
                                                              {"dropped_bad", GN_NOT_IN_MODEL},
                                                              {"dropped_long", GN_NOT_IN_MODEL},
                                                              TX(flows_added),
                                                              TX(flows_evicted),
                                                              TX(flows_closed)};

#define RULE(field)                                                                                                    \
    {                                                                                                                  \
#field, offsetof(gn_tx_rule_counters, field)                                                                   \
    }
const gn_counter_register gn_tx_rule_registers[GN_TX_RULE_REGISTERS] = {RULE(compressed), RULE(stored), RULE(values),
                                                                        RULE(payload_bytes), RULE(wire_bytes)};

#define RX(name, field)                                                                                                \
    {                                                                                                                  \
        name, offsetof(gn_rx_counters, field)                                                                          \
    }
const gn_counter_register gn_rx_registers[GN_RX_REGISTERS] = {RX("packets", packets),
                                                              RX("bytes", bytes),
                                                              RX("passed", passed),
                                                              RX("foreign", foreign),
                                                              RX("restored_stored", restored[0]),
                                                              RX("restored_paper", restored[1]),
                                                              RX("restored_lattice", restored[2]),
                                                              RX("restored_dense", restored[3]),
                                                              RX("wire_bytes", wire_bytes),
                                                              RX("payload_bytes", payload_bytes),
                                                              RX("malformed", malformed),
                                                              RX("bad_version", bad_version),
                                                              RX("bad_kind", bad_kind),
                                                              RX("bad_bound", bad_bound),
                                                              RX("bad_head", bad_head),
                                                              RX("bad_length", bad_length),
                                                              RX("bad_stream", bad_stream),
                                                              RX("bad_checksum", bad_checksum),
                                                              {"dropped_bad", GN_NOT_IN_MODEL},
                                                              {"dropped_long", GN_NOT_IN_MODEL},
                                                              RX("too_large", too_large)};

unsigned gn_counter_address(unsigned base, const gn_counter_register *registers, const char *name)
{
    unsigned i = 0;
    while (strcmp(registers[i].name, name) != 0) i++;
    return base + GN_REG_COUNTER * i;
}
