// SPDX-License-Identifier: Apache-2.0
// Error feedback, and two buckets under way at a time. Every value is far below the error bound, so
// compression alone would remove all of them. Feedback delays them: nothing is lost. Start it as
// allreduce.c.
#include <gradnic/comm.h>

#include <math.h>
#include <stdio.h>

enum { BUCKETS = 2, COUNT = 1000, STEPS = 64 };

static float gradient[BUCKETS][COUNT], average[BUCKETS][COUNT], residual[BUCKETS][COUNT];
static float weights[BUCKETS][COUNT];

// One step of training: starts all buckets, then waits for each.
static gn_status exchange(gn_comm *comm)
{
    gn_request *request[BUCKETS];
    for (unsigned b = 0; b < BUCKETS; b++) {
        const gn_bucket bucket = {.send = gradient[b],
                                  .recv = average[b],
                                  .count = COUNT,
                                  .op = GN_AVERAGE,
                                  .residual = residual[b],  // zero at first; kept between steps
                                  .id = b};
        const gn_status status = gn_iallreduce(comm, &bucket, &request[b]);
        if (status) return status;
    }
    gn_status first = GN_OK;
    for (unsigned b = 0; b < BUCKETS; b++) {
        const gn_status status = gn_wait(request[b]);
        if (!first) first = status;
    }
    return first;
}

int main(int argc, char **argv)
{
    gn_comm_config config = gn_comm_config_default();
    config.rendezvous = argc > 1 ? argv[1] : NULL;
    config.quantise = true;
    gn_comm *comm;
    if (gn_comm_init(&comm, &config)) {
        fprintf(stderr, "%s\n", gn_comm_last_error(NULL));
        return 1;
    }
    for (int step = 0; step < STEPS; step++) {
        for (int b = 0; b < BUCKETS; b++)
            for (int i = 0; i < COUNT; i++) gradient[b][i] = 0x1p-14f;
        if (exchange(comm)) {
            fprintf(stderr, "%s\n", gn_comm_last_error(comm));
            return 1;
        }
        for (int b = 0; b < BUCKETS; b++)
            for (int i = 0; i < COUNT; i++) weights[b][i] += average[b][i];
    }
    gn_comm_free(comm);

    const float all = STEPS * 0x1p-14f;
    printf("given %g, arrived %g\n", (double)all, (double)weights[0][0]);
    for (int b = 0; b < BUCKETS; b++)
        for (int i = 0; i < COUNT; i++)
            if (fabsf(weights[b][i] - all) > 0x1p-10f) return 1;
    return 0;
}
