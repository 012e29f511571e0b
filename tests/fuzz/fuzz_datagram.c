// SPDX-License-Identifier: Apache-2.0
// Any bytes as a batch of datagrams to the NIC, from a peer or from a stranger. Counters add up.
// The host (a pipe to nowhere) gets only whole packets of the peer's prefix. The first byte says
// who sent it, the next two the datagrams' size.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "driver/nic_state.h"
#include "fuzz.h"

static gn_nic *make_nic(void)
{
    gn_nic *nic = calloc(1, sizeof *nic);
    if (!nic) abort();
    nic->in = calloc(1, sizeof *nic->in);
    nic->config.peers = gn_peers_new();
    if (!nic->in || !nic->config.peers) abort();
    if (gn_peers_add(nic->config.peers, "10.77.0.2/32,fd77::2/128=192.0.2.2:7777", NULL)) abort();
    if (gn_peers_seal(nic->config.peers, AF_INET, NULL)) abort();
    nic->tun.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    nic->tun.mtu = 1464;
    nic->partial = true;
    const gn_rule rule = gn_rule_default();
    const gn_engine_config engine = {.rules = &rule, .rule_count = 1, .partial_checksum = true};
    if (nic->tun.fd < 0 || gn_datapath_open(&nic->datapath, &gn_engine_model, &engine, NULL)) abort();
    gn_onward_init(&nic->onward);
    if (gn_coalescer_open(&nic->in->coalescer, &nic->tun, &nic->onward)) abort();
    return nic;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gn_nic *nic;
    if (!nic) nic = make_nic();
    if (size < 3 || size - 3 > sizeof nic->in->batch) return 0;
    gn_wire_batch batch = {.bytes = size - 3, .size = (size_t)data[1] << 8 | data[2]};
    if (!batch.size || batch.size > batch.bytes) batch.size = batch.bytes;
    if (gn_endpoint_parse(data[0] & 1 ? "192.0.2.2:7777" : "192.0.2.3:7777", &batch.from, NULL)) abort();
    memcpy(nic->in->batch, data + 3, batch.bytes);
    const gn_peer_counters *peer = &gn_peers_at(nic->config.peers, 0)->counters;
    gn_in_batch(nic, &batch);
    const gn_rx_counters *engine = gn_datapath_rx_counters(nic->datapath);
    const gn_in *in = nic->in;
    const uint64_t refused = in->unknown_sender + peer->rx_bad_packet + peer->rx_bad_source;
    if (in->coalescer.open || in->coalescer.counters.refused) abort();
    if (refused + peer->rx_packets != in->datagrams || peer->rx_packets != engine->packets) abort();
    if (in->coalescer.counters.packets != engine->packets - engine->malformed) abort();
    return 0;
}
