// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_NIC_REGISTERS_H
#define GRADNIC_DRIVER_NIC_REGISTERS_H
/// The registers of rtl/nic/gn_nic_regs as software sees them: addresses (nic_register_map.h), the
/// words of a rule, the places of counters. rtl/README.md has the table. Everything that drives the
/// hardware uses this, Verilated or simulated. The hardware's own benches have literals of their
/// own on purpose.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gradnic/frame.h>

#include "driver/nic_register_map.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The fields of GN_REG_PARAMS.
static inline unsigned gn_nic_profiles(uint32_t params)
{
    return params & 7;  // bit p: profile p is built
}
static inline unsigned gn_nic_rules(uint32_t params)
{
    return params >> 8 & 0xff;
}

/// The value for GN_REG_CONTROL.
static inline uint32_t gn_nic_control(bool bypass_transmit, bool bypass_receive)
{
    return (uint32_t)bypass_transmit | (uint32_t)bypass_receive << 1;
}

/// A rule as its registers, in the order of their addresses. All zero: no rule.
typedef struct gn_rule_words {
    uint32_t word[GN_RULE_WORDS];
} gn_rule_words;

gn_rule_words gn_rule_to_words(const gn_rule *rule);
/// @return false for a rule that matches nothing: it is not enabled, or its profile lacks the bound
bool gn_rule_from_words(const gn_rule_words *words, gn_rule *rule);

/// One counter of a block. They lie GN_REG_COUNTER apart, in the order of the block.
typedef struct gn_counter_register {
    const char *name;  ///< as counters.h has it
    size_t offset;     ///< of the uint64_t in the struct of frame.h, or GN_NOT_IN_MODEL
} gn_counter_register;

/// The counter is of frames that the C model never sees.
#define GN_NOT_IN_MODEL SIZE_MAX

extern const gn_counter_register gn_tx_registers[GN_TX_REGISTERS];
extern const gn_counter_register gn_tx_rule_registers[GN_TX_RULE_REGISTERS];
extern const gn_counter_register gn_rx_registers[GN_RX_REGISTERS];

/// The address of a counter by name, in a block that begins at `base` and has that name.
unsigned gn_counter_address(unsigned base, const gn_counter_register *registers, const char *name);

#ifdef __cplusplus
}
#endif

#endif
