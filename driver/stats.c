// SPDX-License-Identifier: Apache-2.0
#include "driver/stats.h"

#include <string.h>
#include <unistd.h>

#include "driver/capture.h"
#include "driver/counters.h"
#include "driver/metrics.h"
#include "driver/netlink.h"
#include "driver/nic_state.h"
#include "driver/rules.h"
#include "host/json.h"

static json_t *rules_as_text(const gn_nic *nic)
{
    json_t *list = json_array();
    for (size_t i = 0; i < nic->config.rule_count; i++) {
        char text[GN_RULE_TEXT];
        json_array_append_new(list, json_string(gn_rule_format(&nic->config.rules[i], text)));
    }
    return list;
}

static json_t *prefixes_of(const gn_nic *nic, const gn_peer *peer)
{
    json_t *list = json_array();
    for (size_t i = 0; i < gn_peers_prefix_count(nic->config.peers); i++) {
        const gn_peer *owner;
        char text[GN_PREFIX_TEXT];
        const gn_prefix *prefix = gn_peers_prefix(nic->config.peers, i, &owner);
        if (owner == peer) json_array_append_new(list, json_string(gn_prefix_format(prefix, text)));
    }
    return list;
}

static json_t *peer_settings(const gn_nic *nic)
{
    json_t *list = json_array();
    for (size_t i = 0; i < gn_peers_count(nic->config.peers); i++) {
        const gn_peer *peer = gn_peers_at(nic->config.peers, i);
        char text[GN_ENDPOINT_TEXT];
        json_t *one = json_pack("{s:s,s:o}", "peer", gn_endpoint_format(&peer->endpoint, text), "prefixes",
                                prefixes_of(nic, peer));
        if (*peer->name) json_object_set_new(one, "name", json_string(peer->name));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *addresses_of(const gn_nic *nic)
{
    json_t *list = json_array();
    for (size_t i = 0; i < nic->config.address_count; i++) {
        char text[GN_PREFIX_TEXT];
        json_array_append_new(list, json_string(gn_prefix_format(&nic->config.addresses[i], text)));
    }
    return list;
}

json_t *gn_nic_status(gn_nic *nic)
{
    static const char *const steering[] = {"overlay", "dscp", "mark"};
    char listen[GN_ENDPOINT_TEXT];
    pthread_mutex_lock(&nic->out->lock);
    json_t *status = json_pack(
        "{s:s,s:i,s:o,s:o,s:s,s:s,s:s,s:b,s:b,s:i,s:b,s:o,s:i,s:i,s:s,s:b,s:b,s:o,s:o,s:o}", "device", nic->tun.name,
        "pid", (int)getpid(), "uptime_s", gn_json_number(gn_elapsed(nic->started, gn_now()) / GN_SECOND), "addresses",
        addresses_of(nic), "listen", gn_endpoint_format(&nic->listen, listen), "engine", nic->config.engine->name,
        "cut", nic->out->cut == GN_CUT_FILL ? "fill" : "mtu", "bypass", nic->config.bypass, "no_restore",
        nic->config.no_restore, "max_restored",
        (int)(nic->config.max_restored ? nic->config.max_restored : GN_PACKET_MAX), "guard", nic->config.guard, "rate",
        gn_json_number(nic->out->rate.bits_per_second), "wire_mtu", (int)nic->wire_mtu, "host_mtu", (int)nic->tun.mtu,
        "steer", steering[nic->config.steer.mode], "udp_segmentation", nic->wire.segmentation, "udp_segments_from_host",
        nic->tun.uso, "rules", rules_as_text(nic), "fault", gn_json_fault_settings(gn_fault_get(nic->out->fault)),
        "peers", peer_settings(nic));
    pthread_mutex_unlock(&nic->out->lock);
    return status;
}

static json_t *ratio(uint64_t before, uint64_t after)
{
    return after ? json_real((double)before / (double)after) : json_null();
}

static json_t *tx_rules(const gn_nic *nic, const gn_tx_counters *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < nic->config.rule_count; i++) {
        char text[GN_RULE_TEXT];
        json_t *one = gn_json_rows(gn_tx_rule_counter_rows, &c->rule[i]);
        json_object_set_new(one, "rule", json_string(gn_rule_format(&nic->config.rules[i], text)));
        json_object_set_new(one, "ratio", ratio(c->rule[i].payload_bytes, c->rule[i].wire_bytes));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *tx_guard(const gn_out *out)
{
    const gn_guard_counters *c = gn_guard_count(out->guard);
    return GN_JSON_FIELDS({"gradient_flows", c->gradient_flows}, {"other_flows", c->other_flows}, {"left", c->left},
                          {"left_bytes", c->left_bytes}, {"undecided", c->undecided},
                          {"undecided_bytes", c->undecided_bytes}, {"shielded", c->shielded}, {"evicted", c->evicted});
}

static json_t *tx_stats(const gn_nic *nic)
{
    const gn_out *out = nic->out;
    const gn_tx_counters *c = gn_datapath_tx_counters(nic->datapath);
    const gn_wire_counters *w = &out->wire;
    uint64_t before = 0, after = 0;
    for (size_t i = 0; i < nic->config.rule_count; i++)
        before += c->rule[i].payload_bytes, after += c->rule[i].wire_bytes;
    json_t *host = GN_JSON_FIELDS({"segments", out->segments}, {"bytes", out->bytes},
                                  {"queue_drops", gn_link_tx_dropped(nic->tun.index)}, {"not_ip", out->not_ip},
                                  {"no_peer", out->no_peer}, {"uncuttable", out->uncuttable},
                                  {"bad_checksum", out->bad_checksum}, {"told_too_big", out->told_too_big});
    json_t *fault = gn_json_fault_counters(gn_fault_get_counters(out->fault));
    json_t *wire = GN_JSON_FIELDS({"packets", out->packets}, {"packet_bytes", out->packet_bytes},
                                  {"datagrams", w->datagrams}, {"bytes", w->bytes}, {"padding", w->padding},
                                  {"calls", w->calls}, {"too_big", w->too_big}, {"errors", w->errors});
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "host", host, "guard", tx_guard(out), "engine",
                     gn_json_rows(gn_tx_counter_rows, c), "rules", tx_rules(nic, c), "ratio", ratio(before, after),
                     "fault", fault, "wire", wire);
}

static json_t *rx_stats(const gn_nic *nic)
{
    const gn_in *in = nic->in;
    const gn_coalescer_counters *j = &in->coalescer.counters;
    const gn_rx_counters *c = gn_datapath_rx_counters(nic->datapath);
    json_t *wire = GN_JSON_FIELDS({"batches", in->batches}, {"datagrams", in->datagrams}, {"bytes", in->bytes},
                                  {"unknown_sender", in->unknown_sender});
    json_t *host =
        GN_JSON_FIELDS({"packets", j->packets}, {"bytes", j->bytes}, {"writes", j->writes}, {"refused", j->refused});
    return json_pack("{s:o,s:o,s:o,s:o}", "wire", wire, "engine", gn_json_rows(gn_rx_counter_rows, c), "ratio",
                     ratio(c->payload_bytes, c->wire_bytes), "host", host);
}

static void add_peers(const gn_nic *nic, json_t *list, bool tx)
{
    for (size_t i = 0; i < gn_peers_count(nic->config.peers); i++) {
        const gn_peer *peer = gn_peers_at(nic->config.peers, i);
        const gn_peer_counters *c = &peer->counters;
        char text[GN_ENDPOINT_TEXT];
        if (tx) {
            json_array_append_new(list, json_pack("{s:s,s:o}", "peer", gn_endpoint_format(&peer->endpoint, text), "tx",
                                                  GN_JSON_FIELDS({"packets", c->tx_packets}, {"bytes", c->tx_bytes})));
        } else {
            json_object_set_new(json_array_get(list, i), "rx",
                                GN_JSON_FIELDS({"packets", c->rx_packets}, {"bytes", c->rx_bytes},
                                               {"bad_packet", c->rx_bad_packet}, {"bad_source", c->rx_bad_source}));
        }
    }
}

/// A capture that was not asked for is missing.
static void add_capture(json_t *captures, const char *name, gn_capture *capture)
{
    if (!capture) return;
    const gn_capture_counters c = gn_capture_count(capture);
    json_object_set_new(captures, name, GN_JSON_FIELDS({"packets", c.packets}, {"lost", c.lost}));
}

json_t *gn_nic_stats(gn_nic *nic)
{
    json_t *peers = json_array();
    pthread_mutex_lock(&nic->out->lock);
    json_t *tx = tx_stats(nic);
    add_peers(nic, peers, true);
    pthread_mutex_unlock(&nic->out->lock);
    pthread_mutex_lock(&nic->in->lock);
    json_t *rx = rx_stats(nic);
    add_peers(nic, peers, false);
    pthread_mutex_unlock(&nic->in->lock);
    (void)gn_nic_stop_if_failed(nic);
    json_t *stats =
        json_pack("{s:s,s:o,s:o,s:o,s:o}", "device", nic->tun.name, "uptime_s",
                  gn_json_number(gn_elapsed(nic->started, gn_now()) / GN_SECOND), "tx", tx, "rx", rx, "peers", peers);
    json_t *captures = json_object();
    add_capture(captures, "host", nic->pcap_host);
    add_capture(captures, "wire", nic->pcap_wire);
    if (json_object_size(captures))
        json_object_set_new(stats, "captures", captures);
    else
        json_decref(captures);
    gn_comparison c;
    if (gn_nic_comparison(nic, &c))
        json_object_set_new(
            stats, "comparison",
            GN_JSON_FIELDS({"tx_packets", c.tx_packets}, {"rx_packets", c.rx_packets}, {"differences", c.differences}));
    return stats;
}

char *gn_nic_prometheus(gn_nic *nic, gn_metrics_format format)
{
    return gn_prometheus(gn_nic_stats(nic), &gn_nic_metrics, gn_nic_device(nic), format);
}
