// SPDX-License-Identifier: Apache-2.0
// A rule as the port cfg_rules has it (rtl/nic/rule.vh), for the benches.
#pragma once

#include <cstdint>

#include <gradnic/frame.h>

namespace bench
{

constexpr uint64_t RULE_TOS = 0xff, RULE_ENABLE = 1ull << 63;

// The fields of a rule one by one: what they say need not be possible.
inline uint64_t rule_bits(unsigned tos, unsigned protocol, uint64_t port_low, uint64_t port_high, uint64_t profile,
                          int bound_exp, bool enabled)
{
    return tos | protocol << 8 | port_low << 16 | port_high << 32 | profile << 48 |
           static_cast<uint64_t>(bound_exp & 0xff) << 50 | (enabled ? RULE_ENABLE : 0);
}

inline uint64_t rule_bits(const gn_rule &r, bool enabled)
{
    return rule_bits(r.tos, r.protocol, r.port_low, r.port_high, r.codec.profile, r.codec.bound_exp, enabled);
}

}  // namespace bench
