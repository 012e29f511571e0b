// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_CODEC_PCAP_FILTER_H
#define GRADNIC_TOOLS_CODEC_PCAP_FILTER_H
/// `gradnic pcap` does to a capture what the NIC does. pcap.c is the command, pcap_filter.c does
/// the work, pcap_report.c prints the counters.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>
#include <pcap/pcap.h>

#include "driver/rules.h"
#include "net/error.h"

enum { GN_PCAP_FRAME_MAX = 262144 };  // bytes; libpcap's largest packet

/// The NIC, and what it did to the packets of a capture.
typedef struct gn_pcap_filter {
    bool receive;  // wire to host; otherwise host to wire
    gn_rule rules[GN_RULES_MAX];
    size_t rule_count;
    gn_cut cut;
    size_t wire_mtu;
    bool file_truncated_allowed;  // take the whole packets of a capture that ends within a packet
    // Set by gn_pcap_filter_run().
    gn_tx *tx;
    gn_rx *rx;
    gn_burst *burst;
    uint8_t *frame;        // the frame being written
    bool file_truncated;   // the capture ends within a packet
    int write_failure;     // errno of a packet that could not be written; it ended the run
    uint64_t written;      // frames
    uint64_t no_ip;        // frames without an IP packet
    uint64_t truncated;    // frames captured with fewer bytes than they had
    uint64_t cut_packets;  // packets beyond the host's MTU that were cut
    uint64_t too_large;    // ... that cannot be cut and were passed
} gn_pcap_filter;

/// Runs every packet of `in` through the NIC, to `out`. `progress` is called for each packet.
gn_status gn_pcap_filter_run(gn_pcap_filter *filter, pcap_t *in, pcap_dumper_t *out, void (*progress)(void *),
                             void *progress_context, gn_error *error);
void gn_pcap_filter_free(gn_pcap_filter *filter);

/// The counters, as an aligned table and as JSON.
gn_status gn_pcap_print(const gn_pcap_filter *filter, FILE *stream, gn_error *error);
json_t *gn_pcap_json(const gn_pcap_filter *filter);

#endif
