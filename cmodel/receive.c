// SPDX-License-Identifier: Apache-2.0
// Wire to host, one packet. Everything in it is untrusted. parse.c reads headers, shim.c the shim,
// the codec the stream. Each length is checked here before it is used.
#include <stdlib.h>
#include <string.h>

#include <gradnic/frame.h>
#include <gradnic/shim.h>

#include "stamp.h"

struct gn_rx {
    uint8_t tos[GN_RULES_MAX];
    size_t tos_count;
    bool bypass, checksum_vouched, partial_checksum;
    size_t max_restored;
    char kernel[32];
    gn_codec codec;  // of the last packet
    gn_rx_counters counters;
};

gn_status gn_rx_set_tos(gn_rx *rx, const uint8_t *tos, size_t count)
{
    if (count > GN_RULES_MAX) return GN_INVALID;
    if (count) memcpy(rx->tos, tos, count);
    rx->tos_count = count;
    return GN_OK;
}

gn_status gn_rx_new(gn_rx **result, const gn_rx_config *config)
{
    *result = NULL;
    gn_rx *rx = calloc(1, sizeof *rx);
    if (!rx) return GN_NO_MEMORY;
    rx->bypass = config->bypass;
    rx->checksum_vouched = config->checksum_vouched;
    rx->partial_checksum = config->partial_checksum;
    gn_rx_set_max_restored(rx, config->max_restored);
    const char *kernel = config->kernel ? config->kernel : "auto";
    const uint8_t gradient = GN_TOS_GRADIENT;
    gn_status status =
        config->tos ? gn_rx_set_tos(rx, config->tos, config->tos_count) : gn_rx_set_tos(rx, &gradient, 1);
    if (status == GN_OK && strlen(kernel) >= sizeof rx->kernel) status = GN_UNSUPPORTED;
    if (status == GN_OK) status = gn_codec_init_kernel(&rx->codec, GN_DENSE, 10, kernel);
    if (status != GN_OK) {
        free(rx);
        return status;
    }
    memcpy(rx->kernel, kernel, strlen(kernel) + 1);
    *result = rx;
    return GN_OK;
}

void gn_rx_free(gn_rx *rx)
{
    free(rx);
}

void gn_rx_set_bypass(gn_rx *rx, bool bypass)
{
    rx->bypass = bypass;
}

void gn_rx_set_max_restored(gn_rx *rx, size_t max_restored)
{
    rx->max_restored = max_restored && max_restored < GN_PACKET_MAX ? max_restored : GN_PACKET_MAX;
}

const gn_rx_counters *gn_rx_get_counters(const gn_rx *rx)
{
    return &rx->counters;
}

static bool is_marked(const gn_rx *rx, uint8_t tos)
{
    for (size_t i = 0; i < rx->tos_count; i++)
        if (!((rx->tos[i] ^ tos) & GN_TOS_MASK)) return true;
    return false;
}

static bool select_codec(gn_rx *rx, const gn_shim *shim, uint64_t **fault)
{
    gn_rx_counters *c = &rx->counters;
    unsigned profile = shim->kind - 1u;
    if ((unsigned)rx->codec.profile == profile && rx->codec.bound_exp == shim->bound_exp) return true;
    gn_codec codec;
    gn_status status = profile < GN_PROFILE_COUNT
                           ? gn_codec_init_kernel(&codec, (gn_profile)profile, shim->bound_exp, rx->kernel)
                           : GN_UNSUPPORTED;
    if (status == GN_OK) rx->codec = codec;
    *fault = status == GN_INVALID ? &c->bad_bound : &c->bad_kind;
    return status == GN_OK;
}

// Checks the shim of a packet. `bytes` bytes of payload are behind it, and may become `room` bytes.
// @return NULL, or the counter of what is wrong
static uint64_t *check_shim(gn_rx *rx, const gn_shim *shim, size_t bytes, size_t room)
{
    gn_rx_counters *c = &rx->counters;
    bool stored = shim->kind == GN_KIND_STORED;
    uint64_t *fault;
    if (shim->version != GN_SHIM_VERSION) return &c->bad_version;
    if (stored && shim->bound_exp) return &c->bad_bound;
    if (!stored && !select_codec(rx, shim, &fault)) return fault;
    if (shim->head > (stored ? 0 : shim->length)) return &c->bad_head;
    size_t verbatim = stored ? shim->length : shim->head + (shim->length - shim->head) % 4u;
    bool wrong = stored ? bytes != verbatim : bytes < verbatim;
    if (wrong || !shim->length) return &c->bad_length;
    return shim->length > room ? &c->too_large : NULL;
}

// Restores the `bytes` bytes behind a checked shim to shim->length bytes.
static bool restore(const gn_codec *codec, const gn_shim *shim, const uint8_t *in, size_t bytes, uint8_t *out)
{
    if (shim->kind == GN_KIND_STORED) {
        memcpy(out, in, bytes);
        return true;
    }
    size_t head = shim->head, values = (shim->length - head) / 4, tail = (shim->length - head) % 4;
    size_t stream = bytes - head - tail;
    memcpy(out, in, head);
    if (gn_stream_decode(codec, in + head, stream, out + head, values, NULL) != GN_OK) return false;
    memcpy(out + head + 4 * values, in + head + stream, tail);
    return true;
}

// @return NULL when the packet is right and `out` has its payload; else the counter of what is
// wrong
static uint64_t *receive(gn_rx *rx, const gn_shim *shim, const uint8_t *packet, const gn_headers *h, uint8_t *out,
                         size_t capacity)
{
    gn_rx_counters *c = &rx->counters;
    if (!rx->checksum_vouched && !gn_packet_checksum_ok(packet, h)) return &c->bad_checksum;
    const uint8_t *behind = packet + h->payload + GN_SHIM_BYTES;
    size_t bytes = (size_t)(h->end - h->payload - GN_SHIM_BYTES);
    size_t most = capacity < rx->max_restored ? capacity : rx->max_restored;
    uint64_t *fault = check_shim(rx, shim, bytes, most > h->payload ? most - h->payload : 0);
    if (fault) return fault;
    return restore(&rx->codec, shim, behind, bytes, out + h->payload) ? NULL : &c->bad_stream;
}

gn_verdict gn_rx_packet(gn_rx *rx, const uint8_t *packet, size_t length, uint8_t *out, size_t capacity,
                        size_t *out_length)
{
    gn_rx_counters *c = &rx->counters;
    c->packets++;
    c->bytes += length;
    gn_headers h;
    bool marked = !rx->bypass && gn_packet_parse(packet, length, &h) == GN_PARSE_OK && !gn_packet_has_options(&h) &&
                  h.end > h.payload && is_marked(rx, h.tos);
    gn_shim shim;
    bool ours = marked && h.end - h.payload >= GN_SHIM_BYTES && gn_shim_read(packet + h.payload, &shim);
    if (!ours) {
        c->passed++;
        c->foreign += marked;
        return GN_VERDICT_PASS;
    }
    uint64_t *fault = receive(rx, &shim, packet, &h, out, capacity);
    if (fault) {
        c->malformed++;
        ++*fault;
        return GN_VERDICT_DROP;
    }
    c->restored[shim.kind]++;
    c->wire_bytes += (uint64_t)(h.end - h.payload);
    c->payload_bytes += shim.length;

    gn_stamp stamp;
    gn_stamp_prepare(&stamp, packet, &h);
    bool partial = rx->partial_checksum;
    gn_imprint imprint = {.payload_bytes = shim.length, .partial = partial};
    if (!partial) imprint.payload_sum = gn_checksum_add(0, out + h.payload, shim.length);
    gn_stamp_write(&stamp, &imprint, out);
    *out_length = stamp.length + shim.length;
    return GN_VERDICT_WRITE;
}
