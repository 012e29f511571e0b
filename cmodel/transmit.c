// SPDX-License-Identifier: Apache-2.0
// Host to wire, one packet. Finds whether it is eligible, its rule and its head; then makes payload
// and headers.
#include "transmit.h"

#include <stdlib.h>
#include <string.h>

#include "stamp.h"

enum { FLOWS_BY_DEFAULT = 4096 };

gn_rule gn_rule_default(void)
{
    gn_rule rule = {.tos = GN_TOS_GRADIENT, .port_high = 65535};
    gn_codec_init(&rule.codec, GN_DENSE, 10);
    return rule;
}

static bool same_rule(const gn_rule *a, const gn_rule *b)
{
    return a->tos == b->tos && a->protocol == b->protocol && a->port_low == b->port_low &&
           a->port_high == b->port_high && a->head == b->head && a->codec.profile == b->codec.profile &&
           a->codec.bound_exp == b->codec.bound_exp;
}

static bool valid_rule(const gn_rule *rule)
{
    gn_codec probe;
    bool protocol = !rule->protocol || rule->protocol == GN_PROTOCOL_TCP || rule->protocol == GN_PROTOCOL_UDP;
    return protocol && rule->port_low <= rule->port_high && rule->codec.kernel &&
           gn_codec_init(&probe, rule->codec.profile, rule->codec.bound_exp) == GN_OK;
}

gn_status gn_tx_set_rules(gn_tx *tx, const gn_rule *rules, size_t count)
{
    if (count > GN_RULES_MAX) return GN_INVALID;
    for (size_t i = 0; i < count; i++)
        if (!valid_rule(&rules[i])) return GN_INVALID;
    for (size_t i = 0; i < GN_RULES_MAX; i++) {
        bool kept = i < count && i < tx->rule_count && same_rule(&rules[i], &tx->rules[i]);
        if (!kept) tx->counters.rule[i] = (gn_tx_rule_counters){0};
        if (i < count) tx->rules[i] = rules[i];
    }
    tx->rule_count = count;
    return GN_OK;
}

// As many flows as `config` says, or a table as hardware has it.
static gn_flow_table *new_flows(const gn_tx_config *config)
{
    if (config->flow_log2) return gn_flow_new_sets(config->flow_log2, config->flow_seed);
    return gn_flow_new(config->flow_capacity ? config->flow_capacity : FLOWS_BY_DEFAULT);
}

gn_status gn_tx_new(gn_tx **result, const gn_tx_config *config)
{
    *result = NULL;
    if (config->flow_log2 && (config->flow_log2 < GN_FLOW_LOG2_MIN || config->flow_log2 > GN_FLOW_LOG2_MAX))
        return GN_INVALID;
    gn_tx *tx = calloc(1, sizeof *tx);
    if (!tx) return GN_NO_MEMORY;
    tx->bypass = config->bypass;
    gn_tx_set_wire_mtu(tx, config->wire_mtu);
    gn_status status = gn_tx_set_rules(tx, config->rules, config->rule_count);
    if (status == GN_OK) {
        tx->flows = new_flows(config);
        if (!tx->flows) status = GN_NO_MEMORY;
    }
    if (status != GN_OK) {
        gn_tx_free(tx);
        return status;
    }
    *result = tx;
    return GN_OK;
}

void gn_tx_free(gn_tx *tx)
{
    if (!tx) return;
    gn_flow_free(tx->flows);
    free(tx);
}

void gn_tx_set_bypass(gn_tx *tx, bool bypass)
{
    tx->bypass = bypass;
}

void gn_tx_set_wire_mtu(gn_tx *tx, size_t wire_mtu)
{
    tx->wire_mtu = wire_mtu && wire_mtu < GN_PACKET_MAX ? wire_mtu : GN_PACKET_MAX;
}

const gn_tx_counters *gn_tx_get_counters(const gn_tx *tx)
{
    return &tx->counters;
}

const gn_rule *gn_rule_match(const gn_rule *rules, size_t count, const gn_headers *h)
{
    for (const gn_rule *r = rules; r < rules + count; r++) {
        if ((r->tos ^ h->tos) & GN_TOS_MASK) continue;
        if (r->protocol && r->protocol != h->protocol) continue;
        if (h->destination_port < r->port_low || h->destination_port > r->port_high) continue;
        return r;
    }
    return NULL;
}

const gn_rule *gn_tx_match(const gn_tx *tx, const gn_headers *h)
{
    return gn_rule_match(tx->rules, tx->rule_count, h);
}

static void note_syn(gn_tx *tx, const uint8_t *packet, const gn_headers *h)
{
    gn_flow_added added = gn_flow_add(tx->flows, packet, h, h->seq);
    tx->counters.flows_added += added != GN_FLOW_AGAIN;
    tx->counters.flows_evicted += added == GN_FLOW_EVICTED;
}

int gn_tx_note_flow(gn_tx *tx, const uint8_t *packet, const gn_headers *h)
{
    if (h->protocol != GN_PROTOCOL_TCP) return 0;
    int head = GN_HEAD_STORED;
    uint32_t isn;
    if (h->tcp_flags & GN_TCP_SYN) note_syn(tx, packet, h);
    // Only flows that a rule matches stay young in the table. Other traffic must not push them out.
    else if (h->end > h->payload && gn_tx_match(tx, h) && gn_flow_find(tx->flows, packet, h, &isn))
        head = (int)((isn + 1 - h->seq) & 3);
    if (h->tcp_flags & (GN_TCP_FIN | GN_TCP_RST)) tx->counters.flows_closed += gn_flow_remove(tx->flows, packet, h);
    tx->counters.flows_now = gn_flow_count(tx->flows);
    return head;
}

int gn_tx_head(gn_tx *tx, const uint8_t *packet, size_t length)
{
    gn_headers h;
    return gn_packet_parse(packet, length, &h) == GN_PARSE_OK ? gn_tx_note_flow(tx, packet, &h) : 0;
}

// The counter of why a packet passes, or NULL for an eligible packet.
static uint64_t *reason_to_pass(gn_tx *tx, gn_parse parse, const gn_headers *h)
{
    gn_tx_counters *c = &tx->counters;
    if (tx->bypass) return &c->pass_bypass;
    switch (parse) {
    case GN_PARSE_NOT_IP:
        return &c->pass_not_ip;
    case GN_PARSE_FRAGMENT:
        return &c->pass_fragment;
    case GN_PARSE_EXTENSION:
        return &c->pass_extension;
    case GN_PARSE_PROTOCOL:
        return &c->pass_protocol;
    case GN_PARSE_OK:
        break;
    }
    if (gn_packet_has_options(h)) return &c->pass_extension;
    if (h->end == h->payload) return &c->pass_empty;
    return gn_tx_match(tx, h) ? NULL : &c->pass_no_rule;
}

bool gn_tx_make_plan(gn_tx *tx, gn_parse parse, const gn_headers *h, size_t length, int tcp_head, gn_plan *plan)
{
    tx->counters.packets++;
    tx->counters.bytes += length;
    uint64_t *reason = reason_to_pass(tx, parse, h);
    if (reason) {
        tx->counters.passed++;
        ++*reason;
        return false;
    }
    plan->rule = gn_tx_match(tx, h);
    plan->count = &tx->counters.rule[plan->rule - tx->rules];
    plan->head = h->protocol == GN_PROTOCOL_UDP ? plan->rule->head : tcp_head;
    plan->stored_reason = &tx->counters.stored_no_gain;
    if (h->tcp_flags & GN_TCP_SYN) {
        plan->head = GN_HEAD_STORED;
        plan->stored_reason = &tx->counters.stored_syn;
    } else if (plan->head == GN_HEAD_STORED) {
        plan->stored_reason = &tx->counters.stored_no_syn;
    }
    return true;
}

gn_encoded gn_plan_encode(const gn_plan *plan, size_t head, const uint8_t *in, size_t length, uint8_t *out)
{
    if (plan->head == GN_HEAD_STORED) return gn_payload_store(in, length, out);
    return gn_payload_encode(&plan->rule->codec, head, in, length, out);
}

void gn_plan_count(const gn_plan *plan, const gn_encoded *encoded)
{
    gn_tx_rule_counters *c = plan->count;
    c->payload_bytes += encoded->taken;
    c->wire_bytes += encoded->bytes;
    c->values += encoded->values;
    if (encoded->stored) {
        c->stored++;
        ++*plan->stored_reason;
    } else {
        c->compressed++;
    }
}

static gn_verdict transmit(gn_tx *tx, gn_parse parse, const gn_headers *h, const uint8_t *packet, size_t length,
                           int tcp_head, uint8_t *out, size_t capacity, size_t *out_length)
{
    gn_plan plan;
    if (!gn_tx_make_plan(tx, parse, h, length, tcp_head, &plan)) return GN_VERDICT_PASS;
    size_t most = (size_t)h->end + GN_SHIM_BYTES;
    if (most > tx->wire_mtu || most > capacity) {
        tx->counters.passed++;
        tx->counters.pass_too_big++;
        return GN_VERDICT_PASS;
    }
    gn_encoded encoded =
        gn_plan_encode(&plan, (size_t)plan.head, packet + h->payload, (size_t)(h->end - h->payload), out + h->payload);
    gn_plan_count(&plan, &encoded);

    gn_stamp stamp;
    gn_stamp_prepare(&stamp, packet, h);
    gn_stamp_write(&stamp,
                   &(gn_imprint){.payload_bytes = encoded.bytes,
                                 .payload_sum = gn_checksum_add(0, out + h->payload, encoded.bytes)},
                   out);
    *out_length = stamp.length + encoded.bytes;
    return GN_VERDICT_WRITE;
}

gn_verdict gn_tx_packet_head(gn_tx *tx, const uint8_t *packet, size_t length, int head, uint8_t *out, size_t capacity,
                             size_t *out_length)
{
    gn_headers h;
    gn_parse parse = gn_packet_parse(packet, length, &h);
    return transmit(tx, parse, &h, packet, length, head, out, capacity, out_length);
}

gn_verdict gn_tx_packet(gn_tx *tx, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                        size_t *out_length)
{
    gn_headers h;
    gn_parse parse = gn_packet_parse(packet, length, &h);
    int head = parse == GN_PARSE_OK ? gn_tx_note_flow(tx, packet, &h) : 0;
    return transmit(tx, parse, &h, packet, length, head, out, capacity, out_length);
}
