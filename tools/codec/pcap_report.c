// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>

#include "driver/counters.h"
#include "pcap_filter.h"
#include "tools/kit/json.h"

static const gn_counter own_rows[] = {
    {"written", "packets written", offsetof(gn_pcap_filter, written)},
    {"no_ip", "frames without IP, passed", offsetof(gn_pcap_filter, no_ip)},
    {"truncated", "truncated by the capture", offsetof(gn_pcap_filter, truncated)},
    {"cut", "packets above the host's MTU, cut", offsetof(gn_pcap_filter, cut_packets)},
    {"too_large", "... that cannot be cut, passed", offsetof(gn_pcap_filter, too_large)},
    {0},
};

/// The table leaves out counters that are 0; JSON has them all.
static void print_rows(FILE *stream, const gn_counter *rows, const void *counters)
{
    for (const gn_counter *row = rows; row->name; row++) {
        uint64_t value = gn_counter_value(row, counters);
        if (value) fprintf(stream, "  %-36s %14" PRIu64 "\n", row->text, value);
    }
}

static double ratio(uint64_t before, uint64_t after)
{
    return after ? (double)before / (double)after : 1;
}

static void print_ratio(FILE *stream, uint64_t before, uint64_t after)
{
    if (after) fprintf(stream, "  %-36s %14.2f\n", "ratio", ratio(before, after));
}

static void print_table(const gn_pcap_filter *f, FILE *stream)
{
    fprintf(stream, "%s\n", f->receive ? "wire to host" : "host to wire");
    if (f->receive) {
        const gn_rx_counters *rx = gn_rx_get_counters(f->rx);
        print_rows(stream, gn_rx_counter_rows, rx);
        print_ratio(stream, rx->payload_bytes, rx->wire_bytes);
    } else {
        print_rows(stream, gn_tx_counter_rows, gn_tx_get_counters(f->tx));
    }
    print_rows(stream, own_rows, f);
    for (size_t i = 0; !f->receive && i < f->rule_count; i++) {
        const gn_tx_rule_counters *c = &gn_tx_get_counters(f->tx)->rule[i];
        char text[GN_RULE_TEXT];
        fprintf(stream, "rule %zu: %s\n", i + 1, gn_rule_format(&f->rules[i], text));
        print_rows(stream, gn_tx_rule_counter_rows, c);
        print_ratio(stream, c->payload_bytes, c->wire_bytes);
    }
}

static void add_rows(json_t *object, const gn_counter *rows, const void *counters)
{
    for (const gn_counter *row = rows; row->name; row++)
        json_object_set_new(object, row->name, gn_json_count(gn_counter_value(row, counters)));
}

static json_t *make_rule(const gn_rule *rule, const gn_tx_rule_counters *c)
{
    char text[GN_RULE_TEXT];
    json_t *object = json_object();
    json_object_set_new(object, "rule", json_string(gn_rule_format(rule, text)));
    add_rows(object, gn_tx_rule_counter_rows, c);
    json_object_set_new(object, "ratio", gn_json_real(ratio(c->payload_bytes, c->wire_bytes)));
    return object;
}

json_t *gn_pcap_json(const gn_pcap_filter *f)
{
    json_t *object = json_object();
    json_object_set_new(object, "direction", json_string(f->receive ? "rx" : "tx"));
    add_rows(object, own_rows, f);
    if (f->receive) {
        const gn_rx_counters *rx = gn_rx_get_counters(f->rx);
        add_rows(object, gn_rx_counter_rows, rx);
        json_object_set_new(object, "ratio", gn_json_real(ratio(rx->payload_bytes, rx->wire_bytes)));
        return object;
    }
    const gn_tx_counters *tx = gn_tx_get_counters(f->tx);
    add_rows(object, gn_tx_counter_rows, tx);
    json_t *rules = json_array();
    for (size_t i = 0; i < f->rule_count; i++) json_array_append_new(rules, make_rule(&f->rules[i], &tx->rule[i]));
    json_object_set_new(object, "rules", rules);
    return object;
}

gn_status gn_pcap_print(const gn_pcap_filter *f, FILE *stream, gn_error *error)
{
    print_table(f, stream);
    return fflush(stream) ? gn_fail(error, GN_IO, "the report cannot be written") : GN_OK;
}
