// SPDX-License-Identifier: Apache-2.0
#include "payload.h"

#include <string.h>

#include <gradnic/frame.h>

gn_encoded gn_payload_store(const uint8_t *in, size_t length, uint8_t *out)
{
    gn_shim_write(&(gn_shim){.version = GN_SHIM_VERSION, .kind = GN_KIND_STORED, .length = (uint16_t)length}, out);
    memcpy(out + GN_SHIM_BYTES, in, length);
    return (gn_encoded){.taken = length, .bytes = GN_SHIM_BYTES + length, .stored = true};
}

// Puts shim, head and tail around a stream of `values` values that is already in its place.
static gn_encoded wrap(const gn_codec *codec, size_t head, const uint8_t *in, size_t length, uint8_t *out,
                       size_t values, size_t stream_bytes)
{
    gn_shim shim = {.version = GN_SHIM_VERSION,
                    .kind = (uint8_t)(codec->profile + 1),
                    .bound_exp = (int8_t)codec->bound_exp,
                    .length = (uint16_t)length,
                    .head = (uint8_t)head};
    gn_shim_write(&shim, out);
    memcpy(out + GN_SHIM_BYTES, in, head);
    size_t before_tail = head + 4 * values, tail = length - before_tail;
    uint8_t *end = out + GN_SHIM_BYTES + head + stream_bytes;
    memcpy(end, in + before_tail, tail);
    return (gn_encoded){.taken = length, .bytes = (size_t)(end - out) + tail, .values = values};
}

gn_encoded gn_payload_encode(const gn_codec *codec, size_t head, const uint8_t *in, size_t length, uint8_t *out)
{
    if (length < head + 4) return gn_payload_store(in, length, out);
    size_t values = (length - head) / 4, bytes;
    // One byte less than the values have: a stream that does not fit there does not pay.
    gn_status status = gn_stream_encode(codec, in + head, values, out + GN_SHIM_BYTES + head, 4 * values - 1, &bytes);
    if (status != GN_OK) return gn_payload_store(in, length, out);
    return wrap(codec, head, in, length, out, values, bytes);
}

gn_encoded gn_payload_fill(const gn_codec *codec, size_t head, const uint8_t *in, size_t length, uint8_t *out,
                           size_t room)
{
    size_t payload_room = room - GN_SHIM_BYTES;
    // A payload that fits stored stays one packet, whatever the codec makes of it.
    if (length <= payload_room) return gn_payload_encode(codec, head, in, length, out);

    size_t tail = (length - head) % 4, values = (length - head) / 4;
    // The next packet begins with a whole value.
    size_t stored = head + (payload_room - head) / 4 * 4;
    size_t taken, bytes;
    gn_status status = gn_stream_encode_fit(codec, in + head, values, out + GN_SHIM_BYTES + head,
                                            payload_room - head - tail, &taken, &bytes);
    if (status != GN_OK || head + 4 * taken <= stored) return gn_payload_store(in, stored, out);
    return wrap(codec, head, in, taken == values ? length : head + 4 * taken, out, taken, bytes);
}
