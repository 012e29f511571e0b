// SPDX-License-Identifier: Apache-2.0
// Any bytes on a data connection of ranks that compress themselves. With a first byte of 128 or
// more the frame is made right, so that the stream in it is looked at, too.
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "ring/coded.h"

enum { VALUES = 96 };

static void consume(gn_exchange *x, gn_coded *in, gn_coded *out)
{
    if (gn_coded_add(x, 0, VALUES, in, out, true, true) == GN_OK)
        check(out->length <= gn_coded_room(x->comm) && gn_coded_take(x, 0, VALUES, out) == GN_OK);
    const gn_coded *const both[2] = {in, in};
    size_t wrong = 0;
    if (gn_coded_sum(x, 0, VALUES, both, 2, out, &wrong) == GN_OK)
        check(out->length <= gn_coded_room(x->comm) && gn_coded_take(x, 0, VALUES, out) == GN_OK);
    check(wrong <= 2);
    (void)gn_coded_join(x, 0, VALUES, in);
    (void)gn_coded_take(x, 0, VALUES, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gn_comm comm = {.size = 2, .segment = 4096, .config = {.quantise = true, .offload = GN_OFFLOAD_LIBRARY}};
    static float send[VALUES], recv[VALUES];
    const gn_bucket bucket = {.send = send, .recv = recv, .count = VALUES};
    gn_exchange x = {0};
    int ends[2];
    if (!size || size > 4000) return 0;
    check(!gn_codec_init(&comm.config.codec, (gn_profile)(data[0] % 3), 10));
    gn_exchange_prepare(&x, &comm, &bucket, GN_EXPONENT_NONE);
    gn_coded in = {.bytes = exact(gn_coded_room(&comm))}, out = {.bytes = exact(gn_coded_room(&comm))};
    gn_coded_in arriving = {.to = &in, .results = data[0] & 64};
    memset(in.bytes, 0, gn_coded_room(&comm));
    check(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    gn_neighbour from = {.data_out = -1, .data_in = ends[1]};
    if (data[0] >= 128 && size > GN_CODED_HEADER) {
        in.bytes[3] = data[0] & 1;
        memcpy(in.bytes + GN_CODED_HEADER, data + 1, size - 1);
        in.length = GN_CODED_HEADER + size - 1;
        if (data[0] & 64)
            gn_coded_seal_result(&in, 0);
        else
            gn_coded_seal(&in, 0);
        memcpy(out.bytes, in.bytes, in.length);
        check(write(ends[0], out.bytes, in.length) == (ssize_t)in.length);
    } else {
        check(write(ends[0], data + 1, size - 1) == (ssize_t)size - 1);
    }
    shutdown(ends[0], SHUT_WR);
    bool complete;
    for (unsigned i = 0; i < 10000; i++) {
        const ssize_t got = gn_coded_receive(&comm, &arriving, &from, &complete);
        if (complete) consume(&x, &in, &out);
        if (got < 0) break;
    }
    close(ends[0]);
    close(ends[1]);
    free(in.bytes);
    free(out.bytes);
    return 0;
}
