// SPDX-License-Identifier: Apache-2.0
#include "driver/metrics.h"

#include "driver/counters.h"

#define COUNTER(name, text)                                                                                            \
    {                                                                                                                  \
        name, text, GN_METRIC_COUNTER, NULL                                                                            \
    }
#define GAUGE(name, text)                                                                                              \
    {                                                                                                                  \
        name, text, GN_METRIC_GAUGE, NULL                                                                              \
    }
#define LIST(...) ((const gn_metric[]){__VA_ARGS__, {0}})

static const gn_metric_group groups[] = {
    {"", "NIC", LIST(GAUGE("uptime_s", "seconds since it was opened")), NULL},
    {"tx.host", "From the host",
     LIST(COUNTER("segments", "segments as the host handed them over"), COUNTER("bytes", "bytes of them"),
          COUNTER("queue_drops", "segments that the kernel dropped because the queue to the NIC was full"),
          COUNTER("not_ip", "dropped: not a whole IP packet"),
          COUNTER("no_peer", "dropped: no peer has the destination"),
          COUNTER("uncuttable", "dropped: cannot be cut to the MTU"),
          COUNTER("told_too_big", "ICMP messages to the host about packets that are too big")),
     NULL},
    {"tx.guard", "Guard",
     LIST(COUNTER("gradient_flows", "flows that look like gradients"), COUNTER("other_flows", "flows that do not"),
          COUNTER("left", "segments of other flows, left alone"), COUNTER("left_bytes", "bytes of them"),
          COUNTER("undecided", "segments left alone before there was a verdict"),
          COUNTER("undecided_bytes", "bytes of them"),
          COUNTER("shielded", "packets left alone that went stored, because they begin like a shim"),
          COUNTER("evicted", "flows forgotten to make room")),
     NULL},
    {"tx.engine", "Engine, to the wire", LIST(GAUGE("flows_now", "TCP flows now")), gn_tx_counter_rows},
    {"tx.rules", "Rule", LIST(GAUGE("ratio", "payload bytes before, divided by those after")), gn_tx_rule_counter_rows},
    {"tx", "All rules", LIST(GAUGE("ratio", "payload bytes before, divided by those after")), NULL},
    {"tx.fault", "Bad link on purpose",
     LIST(COUNTER("lost", "packets lost"), COUNTER("duplicated", "packets sent twice"),
          COUNTER("reordered", "packets held back"), COUNTER("delayed", "packets delayed"),
          COUNTER("overflow", "packets lost because too many were waiting")),
     NULL},
    {"tx.wire", "To the wire",
     LIST(COUNTER("packets", "IP packets after cutting and compressing"), COUNTER("packet_bytes", "bytes of them"),
          COUNTER("datagrams", "datagrams sent"), COUNTER("bytes", "bytes on the link, with all headers"),
          {"padding", "of these, zeros behind packets", GN_METRIC_COUNTER, "padding_bytes"},
          COUNTER("calls", "system calls that sent"), COUNTER("too_big", "refused: larger than the MTU of the path"),
          COUNTER("errors", "refused for other reasons")),
     NULL},
    {"rx.wire", "From the wire",
     LIST(COUNTER("batches", "system calls that received"), COUNTER("datagrams", "datagrams from anyone"),
          COUNTER("bytes", "bytes on the link, with all headers"),
          COUNTER("unknown_sender", "dropped: not from the endpoint of a peer")),
     NULL},
    {"rx.engine", "Engine, from the wire", NULL, gn_rx_counter_rows},
    {"rx", "All packets", LIST(GAUGE("ratio", "payload bytes after, divided by those before")), NULL},
    {"rx.host", "To the host",
     LIST(COUNTER("packets", "packets before they were joined"), COUNTER("bytes", "bytes of them"),
          COUNTER("writes", "system calls that handed them over"),
          COUNTER("refused", "packets that the host did not take")),
     NULL},
    {"peers.tx", "To the peer", LIST(COUNTER("packets", "IP packets sent"), COUNTER("bytes", "bytes of them")), NULL},
    {"peers.rx", "From the peer",
     LIST(COUNTER("packets", "IP packets accepted"), COUNTER("bytes", "bytes of them"),
          COUNTER("bad_packet", "dropped: no whole IP packet"),
          COUNTER("bad_source", "dropped: the source is not in the prefixes of the peer")),
     NULL},
    {"captures.host", "Capture of the packets of the host",
     LIST(COUNTER("packets", "packets written"), COUNTER("lost", "packets lost because the disk was full")), NULL},
    {"captures.wire", "Capture of the packets of the wire",
     LIST(COUNTER("packets", "packets written"), COUNTER("lost", "packets lost because the disk was full")), NULL},
    {"comparison", "Engine lockstep",
     LIST(COUNTER("tx_packets", "packets compared on their way to the wire"),
          COUNTER("rx_packets", "packets compared on their way from the wire"),
          COUNTER("differences", "packets that differed")),
     NULL},
    {0},
};

const gn_metric_set gn_nic_metrics = {"gradnic", "device", NULL, groups};
