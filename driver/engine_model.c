// SPDX-License-Identifier: Apache-2.0
// The reference in C as an engine.
#include "driver/model.h"

static void model_set_bypass(void *state, bool bypass)
{
    gn_model_set_bypass(state, bypass, bypass);
}

static gn_status model_transmit_headers(void *state, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                                        gn_headers_cut *cut)
{
    return gn_tx_segment_headers(((gn_model *)state)->tx, segment, wire_mtu, burst, cut);
}

static gn_status model_transmit(void *state, const gn_segment *segment, gn_cut cut, size_t wire_mtu, gn_burst *burst)
{
    return gn_tx_segment(((gn_model *)state)->tx, segment, cut, wire_mtu, burst);
}

static gn_verdict model_receive(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                                size_t *out_length)
{
    return gn_rx_packet(((gn_model *)state)->rx, packet, length, out, capacity, out_length);
}

static const gn_tx_counters *model_tx_counters(void *state)
{
    return gn_tx_get_counters(((gn_model *)state)->tx);
}
static const gn_rx_counters *model_rx_counters(void *state)
{
    return gn_rx_get_counters(((gn_model *)state)->rx);
}

const gn_engine gn_engine_model = {
    .name = "model",
    .fill = true,
    .partial_checksum = true,
    .open = gn_model_open,
    .close = gn_model_close,
    .set_rules = gn_model_set_rules,
    .set_bypass = model_set_bypass,
    .transmit_headers = model_transmit_headers,
    .transmit = model_transmit,
    .receive = model_receive,
    .tx_counters = model_tx_counters,
    .rx_counters = model_rx_counters,
};
