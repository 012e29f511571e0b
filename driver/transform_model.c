// SPDX-License-Identifier: Apache-2.0
// The reference in C, packet by packet: what hardware is compared with.
#include "driver/transform.h"

#include <string.h>

#include "driver/model.h"

static gn_status model_open(void **state, const gn_engine_config *config, gn_error *error)
{
    gn_engine_config own = *config;
    own.flow_capacity = 1;  // flows are not its business
    own.partial_checksum = false;
    return gn_model_open(state, &own, error);
}

static gn_status model_set_bypass(void *state, bool bypass, gn_error *error)
{
    (void)error;
    gn_model_set_bypass(state, bypass, bypass);
    return GN_OK;
}

static gn_status model_transmit(void *state, const gn_burst *in, const int *heads, gn_burst *out, gn_error *error)
{
    out->count = 0;
    out->offset[0] = 0;
    for (unsigned i = 0; i < in->count; i++) {
        const uint8_t *packet = in->data + in->offset[i];
        const size_t length = in->offset[i + 1] - in->offset[i], room = sizeof out->data - out->offset[i];
        uint8_t *to = out->data + out->offset[i];
        size_t bytes = length;
        if (gn_tx_packet_head(((gn_model *)state)->tx, packet, length, heads[i], to, room, &bytes) == GN_VERDICT_PASS) {
            if (length > room) return gn_fail(error, GN_INVALID, "a burst is too long");
            memcpy(to, packet, length);
        }
        out->offset[++out->count] = (uint32_t)(out->offset[i] + bytes);
    }
    return GN_OK;
}

static gn_status model_receive(void *state, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                               size_t *out_length, gn_error *error)
{
    switch (gn_rx_packet(((gn_model *)state)->rx, packet, length, out, capacity, out_length)) {
    case GN_VERDICT_DROP:
        *out_length = 0;
        return GN_OK;
    case GN_VERDICT_WRITE:
        return GN_OK;
    case GN_VERDICT_PASS:
        break;
    }
    if (length > capacity)
        return gn_fail(error, GN_INVALID, "a packet of %zu bytes has no room in %zu", length, capacity);
    memcpy(out, packet, length);
    *out_length = length;
    return GN_OK;
}

static gn_status model_tx_counters(void *state, gn_tx_counters *counters, gn_error *error)
{
    (void)error;
    *counters = *gn_tx_get_counters(((gn_model *)state)->tx);
    return GN_OK;
}

static gn_status model_rx_counters(void *state, gn_rx_counters *counters, gn_error *error)
{
    (void)error;
    *counters = *gn_rx_get_counters(((gn_model *)state)->rx);
    return GN_OK;
}

const gn_transform gn_transform_model = {
    .name = "model",
    .open = model_open,
    .close = gn_model_close,
    .set_rules = gn_model_set_rules,
    .set_bypass = model_set_bypass,
    .transmit = model_transmit,
    .receive = model_receive,
    .tx_counters = model_tx_counters,
    .rx_counters = model_rx_counters,
};
