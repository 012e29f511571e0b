// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_RULES_H
#define GRADNIC_DRIVER_RULES_H
/// Rules as text, the same for `gradnic nic` and `gradnic pcap`:
///
///     tos=0x28,proto=tcp,port=5000-5010,profile=dense,k=10,head=0
///
/// | key | value | when left out |
/// | --- | --- | --- |
/// | tos | ToS or traffic class, 0 to 0xfc, the two ECN bits clear | 0x28 |
/// | proto | tcp, udp, any | any |
/// | port | destination port, a range of them, or any | any |
/// | profile | name of a profile | the caller's default |
/// | k | the bound is 2^-k | the caller's default |
/// | head | UDP payload bytes left verbatim, 0 to 255 | 0 |
///
/// Keys come in any order, each at most once. Numbers are decimal or 0x hexadecimal.

#include <gradnic/frame.h>

#include "net/error.h"

enum { GN_RULE_TEXT = 128 };  ///< room for any rule's text

/// Reads one rule. A key that the text leaves out comes from `defaults`, for example
/// gn_rule_default(). @return GN_OK with `*rule` written, or GN_INVALID
gn_status gn_rule_parse(const char *text, const gn_rule *defaults, gn_rule *rule, gn_error *error);

/// Writes the rule as a text that gn_rule_parse() reads back to the same rule. `text` has room for
/// GN_RULE_TEXT bytes. @return text
const char *gn_rule_format(const gn_rule *rule, char *text);

/// Whether all rules are different. The later one of two that are the same would never match.
/// @return GN_OK, or GN_INVALID with the rule that is there twice
gn_status gn_rules_check(const gn_rule *rules, size_t count, gn_error *error);

/// Whether a packet's ToS is one of the rules', whatever its protocol and ports. A receiver looks
/// for a shim then.
bool gn_rules_mark(const gn_rule *rules, size_t count, uint8_t tos);

#endif
