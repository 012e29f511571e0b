// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_REQUEST_H
#define GRADNIC_DRIVER_REQUEST_H
/// The requests that a running NIC answers on its control socket. A request is one JSON object:
///
///     {"command": "status"}                              device, MTU, peers, rules, settings
///     {"command": "stats"}                               every counter
///     {"command": "stats", "format": "prometheus"}       the same as Prometheus text (0.0.4)
///     {"command": "stats", "format": "openmetrics"}      the same as OpenMetrics text
///     {"command": "set", ...}                            changes settings, all or none. Members:
///         "rules": ["tos=0x28,profile=dense,k=10", ...]   replaces the rules
///         "profile": "paper", "bound": 8                        of every rule
///         "cut": "mtu" | "fill", "bypass": true, "guard": true
///         "rate": BITS_PER_SECOND (0: unlimited)
///         "loss", "duplicate", "reorder": 0..1, "delay_ns", "jitter_ns", "reorder_ns", "seed"
///
/// The answer is a JSON object (or Prometheus text); a refusal is {"error": "what and why"}.

#include "driver/nic.h"
#include "host/prometheus.h"

/// The changes of a "set". Only members with their bit in `given` count.
typedef struct gn_change {
    enum {
        GN_CHANGE_RULES = 1 << 0,
        GN_CHANGE_PROFILE = 1 << 1,
        GN_CHANGE_BOUND = 1 << 2,
        GN_CHANGE_CUT = 1 << 3,
        GN_CHANGE_BYPASS = 1 << 4,
        GN_CHANGE_RATE = 1 << 5,
        GN_CHANGE_LOSS = 1 << 6,
        GN_CHANGE_DUPLICATE = 1 << 7,
        GN_CHANGE_REORDER = 1 << 8,
        GN_CHANGE_DELAY = 1 << 9,
        GN_CHANGE_JITTER = 1 << 10,
        GN_CHANGE_REORDER_NS = 1 << 11,
        GN_CHANGE_SEED = 1 << 12,
        GN_CHANGE_GUARD = 1 << 13
    } given;
    gn_rule rules[GN_RULES_MAX];
    size_t rule_count;
    gn_profile profile;
    int bound_exp;
    gn_cut cut;
    bool bypass, guard;
    uint64_t rate;
    gn_fault_config fault;
} gn_change;

typedef struct gn_nic_request {
    enum { GN_NIC_REQUEST_STATUS, GN_NIC_REQUEST_STATS, GN_NIC_REQUEST_SET } command;
    bool metrics;  ///< as text for Prometheus, in this format:
    gn_metrics_format format;
    gn_change change;
} gn_nic_request;

/// Reads a request from untrusted bytes.
gn_status gn_nic_request_parse(const char *text, size_t length, gn_nic_request *request, gn_error *error);

/// Reads a request, does what it asks and makes the answer. The caller frees the answer; NULL when
/// out of memory.
char *gn_nic_request_answer(const char *text, size_t length, gn_nic *nic);

/// Applies a change to a running NIC: all of it, or nothing (change.c).
gn_status gn_nic_change(gn_nic *nic, const gn_change *change, gn_error *error);

/// Applies what of `config` a running NIC can change: rules, cut, bypass, rate, bad link. Packets
/// under way stay, and so do the counters of rules that stay. All of it, or nothing.
gn_status gn_nic_reconfigure(gn_nic *nic, const gn_nic_config *config, gn_error *error);

#endif
