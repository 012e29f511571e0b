// SPDX-License-Identifier: Apache-2.0
#include "gather.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, BUCKET = 65535 };  // a bucket of its own, without the gradients' scales
// Every bound leaves its sign, and all but the largest leave it whole. Gradients have such values,
// so the guard of a NIC takes these for gradients. (The largest bound makes it 2^32.)
static const float one = 0x1.8p31f;

static gn_status unpack(const float *bits, size_t words, uint64_t *all)
{
    memset(all, 0, words * sizeof *all);
    for (size_t i = 0; i < words * WORD_BITS; i++) {
        if (bits[i] >= one)
            all[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
        else if (!(bits[i] <= -one))
            return GN_CORRUPT;
    }
    return GN_OK;
}

gn_status gn_gather_words(gn_comm *comm, const uint64_t *mine, size_t count, uint64_t *all)
{
    const size_t words = count * (size_t)gn_comm_size(comm);
    float *bits = calloc(words, WORD_BITS * sizeof *bits);
    if (!bits) return GN_NO_MEMORY;
    float *own = bits + (size_t)gn_comm_rank(comm) * count * WORD_BITS;
    for (size_t i = 0; i < count * WORD_BITS; i++) own[i] = mine[i / WORD_BITS] >> i % WORD_BITS & 1 ? one : -one;
    const gn_bucket bucket = {.send = bits, .recv = bits, .count = words * WORD_BITS, .op = GN_SUM, .id = BUCKET};
    gn_status status = gn_allreduce_bucket(comm, &bucket);
    if (!status) status = unpack(bits, words, all);
    free(bits);
    return status;
}
