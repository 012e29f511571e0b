// SPDX-License-Identifier: Apache-2.0
#include "driver/counters.h"

#define TX(field, text)                                                                                                \
    {                                                                                                                  \
#field, text, offsetof(gn_tx_counters, field)                                                                  \
    }
const gn_counter gn_tx_counter_rows[] = {
    TX(packets, "packets offered"),
    TX(bytes, "bytes offered"),
    TX(passed, "passed untouched"),
    TX(pass_bypass, "passed: bypass"),
    TX(pass_not_ip, "passed: not a whole IP packet"),
    TX(pass_fragment, "passed: fragment"),
    TX(pass_extension, "passed: IPv6 extension header or IPv4 options"),
    TX(pass_protocol, "passed: neither TCP nor UDP"),
    TX(pass_empty, "passed: no payload"),
    TX(pass_no_rule, "passed: no rule matches"),
    TX(pass_too_big, "passed: too long with the shim"),
    TX(stored_no_gain, "stored: no gain"),
    TX(stored_no_syn, "stored: SYN not seen"),
    TX(stored_syn, "stored: carries SYN"),
    TX(flows_added, "TCP flows added"),
    TX(flows_evicted, "TCP flows evicted"),
    TX(flows_closed, "TCP flows closed"),
    TX(flows_now, "TCP flows now"),
    {0},
};

#define RULE(field, text)                                                                                              \
    {                                                                                                                  \
#field, text, offsetof(gn_tx_rule_counters, field)                                                             \
    }
const gn_counter gn_tx_rule_counter_rows[] = {
    RULE(compressed, "packets compressed"),  RULE(stored, "packets stored"),
    RULE(values, "values compressed"),       RULE(payload_bytes, "payload bytes before"),
    RULE(wire_bytes, "payload bytes after"), {0},
};

#define RX(name, field, text)                                                                                          \
    {                                                                                                                  \
        name, text, offsetof(gn_rx_counters, field)                                                                    \
    }
const gn_counter gn_rx_counter_rows[] = {
    RX("packets", packets, "packets offered"),
    RX("bytes", bytes, "bytes offered"),
    RX("passed", passed, "passed untouched"),
    RX("foreign", foreign, "passed: marked, no shim"),
    RX("restored_stored", restored[0], "restored: stored"),
    RX("restored_paper", restored[1], "restored: paper"),
    RX("restored_lattice", restored[2], "restored: lattice"),
    RX("restored_dense", restored[3], "restored: dense"),
    RX("wire_bytes", wire_bytes, "payload bytes before"),
    RX("payload_bytes", payload_bytes, "payload bytes after"),
    RX("malformed", malformed, "dropped: malformed"),
    RX("bad_checksum", bad_checksum, "malformed: checksum"),
    RX("bad_version", bad_version, "malformed: version"),
    RX("bad_kind", bad_kind, "malformed: kind"),
    RX("bad_bound", bad_bound, "malformed: bound"),
    RX("bad_head", bad_head, "malformed: head"),
    RX("bad_length", bad_length, "malformed: length"),
    RX("bad_stream", bad_stream, "malformed: stream"),
    RX("too_large", too_large, "malformed: too large when restored"),
    {0},
};
