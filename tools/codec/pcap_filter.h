// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_CODEC_PCAP_FILTER_H
#define GRADNIC_TOOLS_CODEC_PCAP_FILTER_H
/// `gradnic pcap`: the NIC over a capture. pcap.c is the command, pcap_filter.c the work, pcap_report.c the figures.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>
#include <pcap/pcap.h>

#include "driver/rules.h"
#include "net/error.h"

/// What happens to the packets of a capture.
typedef struct gn_pcap_filter {
    bool receive;  // wire to host; otherwise host to wire
    gn_rule rules[GN_RULES_MAX];
    size_t rule_count;
    gn_cut cut;
    size_t wire_mtu;
    bool cut_short_allowed;  // a capture that ends within a packet: its whole packets are taken
    // The work's own.
    gn_tx *tx;
    gn_rx *rx;
    gn_burst *burst;
    uint8_t *frame;        // the frame being written
    bool cut_short;        // ... and it was one
    uint64_t written;      // frames
    uint64_t no_ip;        // frames without an IP packet
    uint64_t truncated;    // captured with fewer bytes than they had
    uint64_t cut_packets;  // packets larger than the host's MTU, cut
    uint64_t too_large;    // ... that cannot be cut; passed
} gn_pcap_filter;

/// Runs every packet of `in` through the NIC, to `out`. `progress` is called for each packet.
gn_status gn_pcap_filter_run(gn_pcap_filter *filter, pcap_t *in, pcap_dumper_t *out, void (*progress)(void *),
                             void *progress_context, gn_error *error);
void gn_pcap_filter_free(gn_pcap_filter *filter);

/// The counters, as an aligned table and as JSON.
gn_status gn_pcap_print(const gn_pcap_filter *filter, FILE *stream, gn_error *error);
json_t *gn_pcap_json(const gn_pcap_filter *filter);

#endif
