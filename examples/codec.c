// SPDX-License-Identifier: Apache-2.0
// Compresses an array of floats, decompresses it, and checks the error bound.
#include <gradnic/codec.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000 };

int main(void)
{
    static float values[COUNT], decoded[COUNT];
    for (int i = 0; i < COUNT; i++) values[i] = sinf((float)i) / 100;

    gn_codec codec;
    gn_codec_init(&codec, GN_DENSE, 10);  // |error| <= 2^-10
    size_t bytes, room = gn_stream_bound(GN_DENSE, COUNT);
    void *stream = malloc(room);
    if (!stream || gn_stream_encode(&codec, values, COUNT, stream, room, &bytes)) return 1;
    if (gn_stream_decode(&codec, stream, bytes, decoded, COUNT, NULL)) return 1;

    float largest = 0;
    for (int i = 0; i < COUNT; i++) largest = fmaxf(largest, fabsf(values[i] - decoded[i]));
    printf("%zu bytes to %zu, largest error %g (kernel %s)\n", sizeof values, bytes, (double)largest,
           gn_codec_kernel_name(&codec));
    free(stream);
    return largest <= 0x1p-10f ? 0 : 1;
}
