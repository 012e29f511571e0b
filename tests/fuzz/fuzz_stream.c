// SPDX-License-Identifier: Apache-2.0
// Any bytes as a stream, through every kernel: they agree on whether it is good, where it is not, and on all values;
// the tally agrees with them; and what was decoded survives encoding, also where it just does not fit.
//
// Input: flags (bit 0: profile, bit 1: take as many values as the records give), k, count (16 bits), stream.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/codec.h>

enum { HEAD = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *exact(size_t bytes)  // the sanitizer sees every step past its end
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) abort();
    return p;
}

static gn_codec codec_of(uint8_t flags, uint8_t k, const char *kernel)
{
    gn_profile profile = flags & 1 ? GN_LATTICE : GN_PAPER;
    int low, high;
    gn_codec codec;
    if (gn_profile_range(profile, &low, &high)) abort();
    if (gn_codec_init_kernel(&codec, profile, low + k % (high - low + 1), kernel)) abort();
    return codec;
}

// Values of the longest good stream at the start of the bytes; its last record loses the empty lanes at its end.
static size_t natural_count(const uint8_t *stream, size_t bytes)
{
    size_t count = 0;
    for (size_t at = 0; at + 2 <= bytes;) {
        unsigned tags = stream[at] | (unsigned)stream[at + 1] << 8;
        size_t length = 2;
        for (unsigned lane = 0; lane < 8; lane++) length += (0x4210u >> 4 * (tags >> 2 * lane & 3)) & 15;
        if (length > bytes - at) break;
        at += length;
        count += 8;
        if (at == bytes) count -= tags >> 14 ? 0 : tags >> 8 ? 1 : tags ? 4 : 7;
    }
    return count;
}

// What was decoded, encoded by one kernel: the stream decodes to what gn_quantise() says, and that is a fixed point.
static void check_again(const gn_codec *codec, const float *values, size_t count)
{
    size_t room = gn_stream_bound(codec->profile, count), bytes, again, taken;
    uint8_t *stream = exact(room), *tight;
    float *seen = exact(count * 4), *back = exact(count * 4);
    if (gn_stream_encode(codec, values, count, stream, room, &bytes)) abort();
    if (gn_quantise(codec, values, seen, NULL, count)) abort();
    if (gn_stream_decode(codec, stream, bytes, back, count, NULL) || (count && memcmp(back, seen, count * 4))) abort();
    if (gn_quantise(codec, seen, back, NULL, count) || (count && memcmp(back, seen, count * 4))) abort();
    tight = exact(bytes);
    if (gn_stream_encode(codec, values, count, tight, bytes, &again) || again != bytes) abort();
    if (bytes && memcmp(tight, stream, bytes)) abort();
    free(tight);
    if (bytes) {
        tight = exact(bytes - 1);
        if (gn_stream_encode(codec, values, count, tight, bytes - 1, &again) != GN_NO_SPACE || again != 0) abort();
        if (gn_stream_encode_fit(codec, values, count, tight, bytes - 1, &taken, &again) ||
            taken != (count - 1) / 8 * 8)
            abort();
        free(tight);
    }
    free(stream), free(seen), free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD) return 0;
    size_t bytes = size - HEAD, count = data[2] | (size_t)data[3] << 8;
    uint8_t *stream = exact(bytes);
    memcpy(stream, data + HEAD, bytes);
    if (data[0] & 2) count = natural_count(stream, bytes);

    gn_status first = GN_OK;
    size_t first_offset = 0;
    float *first_values = exact(count * 4);
    for (unsigned n = 0; gn_kernel_name(n); n++) {
        gn_codec codec = codec_of(data[0], data[1], gn_kernel_name(n));
        float *values = exact(count * 4);
        size_t offset = 0;
        gn_status status = gn_stream_decode(&codec, stream, bytes, values, count, &offset);
        if (n == 0) {
            first = status, first_offset = offset;
            if (count) memcpy(first_values, values, count * 4);
        }
        if (status != first || offset != first_offset) abort();
        if (!status && count && memcmp(values, first_values, count * 4)) abort();

        gn_tally tally = {0};
        if (gn_stream_tally(&codec, stream, bytes, count, &tally) != status) abort();
        if (!status && (tally.stream_bytes != bytes || tally.values != count || tally.groups != (count + 7) / 8))
            abort();
        if (!status && tally.tags[0] + tally.tags[1] + tally.tags[2] + tally.tags[3] != count) abort();
        if (!status && 2 * tally.groups + tally.tags[1] + 2 * tally.tags[2] + 4 * tally.tags[3] != bytes) abort();
        if (!status) check_again(&codec, values, count);
        free(values);
    }
    free(first_values);
    free(stream);
    return 0;
}
