// SPDX-License-Identifier: Apache-2.0
// The engine `model`: the reference in C. A NIC gives it whole segments; lockstep gives it packets,
// as it gives them to hardware.
#include <string.h>

#include "driver/model.h"

static gn_status open_model(const gn_engine *engine, void **state, const gn_engine_config *config, gn_error *error)
{
    (void)engine;
    gn_model *model;
    const gn_status status = gn_model_open(&model, config, error);
    if (status == GN_OK) *state = model;
    return status;
}

static void close_model(void *state)
{
    gn_model_close(state);
}

static gn_status set_rules(void *state, const gn_rule *rules, size_t count, gn_error *error)
{
    return gn_model_set_rules(state, rules, count, error);
}

static gn_status set_bypass(void *state, bool bypass, gn_error *error)
{
    (void)error;
    gn_tx_set_bypass(((gn_model *)state)->tx, bypass);
    return GN_OK;
}

static gn_verdict transform(const gn_model *m, const uint8_t *packet, size_t length, int head, uint8_t *out,
                            size_t room, size_t *bytes)
{
    return m->own_flows ? gn_tx_packet(m->tx, packet, length, out, room, bytes)
                        : gn_tx_packet_head(m->tx, packet, length, head, out, room, bytes);
}

static gn_status transmit(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error)
{
    const gn_model *model = state;
    out->count = 0;
    out->offset[0] = 0;
    for (unsigned i = 0; i < in->count; i++) {
        const uint8_t *packet = in->data + in->offset[i];
        const size_t length = in->offset[i + 1] - in->offset[i], room = sizeof out->data - out->offset[i];
        uint8_t *to = out->data + out->offset[i];
        size_t bytes = length;
        if (transform(model, packet, length, heads[i], to, room, &bytes) == GN_VERDICT_PASS) {
            if (length > room) return gn_fail(error, GN_INVALID, "a burst is too long");
            memcpy(to, packet, length);
        }
        out->offset[++out->count] = (uint32_t)(out->offset[i] + bytes);
    }
    return GN_OK;
}

static gn_status receive(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                         size_t *out_length, gn_verdict *verdict, gn_error *error)
{
    (void)error;
    *verdict = gn_rx_packet(((gn_model *)state)->rx, packet, length, out, capacity, out_length);
    return GN_OK;
}

static gn_status tx_counters(void *state, gn_tx_counters *counters, gn_error *error)
{
    (void)error;
    *counters = *gn_tx_get_counters(((gn_model *)state)->tx);
    return GN_OK;
}

static gn_status rx_counters(void *state, gn_rx_counters *counters, gn_error *error)
{
    (void)error;
    *counters = *gn_rx_get_counters(((gn_model *)state)->rx);
    return GN_OK;
}

static gn_tx *whole_segments(void *state)
{
    return ((gn_model *)state)->tx;
}

const gn_engine gn_engine_model = {
    .name = "model",
    .partial_checksum = true,
    .open = open_model,
    .close = close_model,
    .set_rules = set_rules,
    .set_bypass = set_bypass,
    .transmit = transmit,
    .receive = receive,
    .tx_counters = tx_counters,
    .rx_counters = rx_counters,
    .whole_segments = whole_segments,
};
