// SPDX-License-Identifier: Apache-2.0
// The example of docs/pictures/planes.svg: 32 values of a real gradient, the integers that profile
// dense makes of them, and the bytes that it writes. Printed as JSON.
//
//   dense_example            values 145504 to 145535 of tests/data/gradients/cnn-it100-w0, at 2^-10
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gradnic/codec.h>

#include "net/error.h"
#include "tools/files/values.h"

enum { QUAD = 32, FIRST = 4547 * QUAD, K = 10 };

int main(void)
{
    float *values, decoded[QUAD];
    size_t count, bytes;
    uint8_t stream[2 + 4 * 33];
    gn_codec codec;
    gn_error error;
    if (gn_values_load(GN_GRADIENTS "/cnn-it100-w0.npy.gz", GN_FORMAT_AUTO, &values, &count, &error)) {
        fprintf(stderr, "dense_example: %s\n", error.text);
        return EXIT_FAILURE;
    }
    if (count < FIRST + QUAD || gn_codec_init(&codec, GN_DENSE, K)) return EXIT_FAILURE;
    const float *quad = values + FIRST;
    if (gn_stream_encode(&codec, quad, QUAD, stream, sizeof stream, &bytes)) return EXIT_FAILURE;
    if (gn_stream_decode(&codec, stream, bytes, decoded, QUAD, NULL)) return EXIT_FAILURE;
    printf("{\"file\": \"cnn-it100-w0.npy.gz\", \"first\": %d, \"k\": %d,\n \"values\": [", FIRST, K);
    for (int i = 0; i < QUAD; i++) printf("%s%.9g", i ? ", " : "", (double)quad[i]);
    printf("],\n \"steps\": [");
    for (int i = 0; i < QUAD; i++) printf("%s%d", i ? ", " : "", (int)ldexpf(decoded[i], K - 1));
    printf("],\n \"stream\": [");
    for (size_t i = 0; i < bytes; i++) printf("%s%d", i ? ", " : "", stream[i]);
    puts("]}");
    free(values);
    return EXIT_SUCCESS;
}
