// SPDX-License-Identifier: Apache-2.0
// With the preload, MPI_Allreduce has the bits of the library. The argument is "exact", "2^-6",
// "kill": then rank 1 dies between sums, or "late": then rank 1 misses two, and rank 0 gets errors.
#include <mpi.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gradnic/comm.h>

enum { COUNT = 100003 };

static int gather(void *context, const void *own, void *all, size_t bytes)
{
    (void)context;
    return MPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static int fail(const char *why)
{
    fprintf(stderr, "bits: %s\n", why);
    MPI_Finalize();  // all ranks are here, and an abort may lose what was said
    return 9;
}

/// Rank 1 comes to the preload's barrier and then to no sum. The error of rank 0 says so.
static int is_told(int rank, float *values, float *sums)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, right = 1, code = MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int round = 0; round < 2; round++) {
        if (rank == 1) PMPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            code = MPI_Allreduce(values, sums, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
            text[0] = 0;
            if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
            right = right && !strncmp(text, "gradnic: rank 0: MPI_Allreduce: ", 32) && strlen(text) > 40;
        }
        PMPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return right;
}

int main(int argc, char **argv)
{
    static float values[COUNT], sums[COUNT], expected[COUNT], exact[COUNT];
    const char *how = argc > 1 ? argv[1] : "exact";
    gn_comm_config config = gn_comm_config_default();
    gn_comm *comm;
    float worst = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &config.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &config.size);
    config.quantise = strcmp(how, "2^-6") == 0;
    if (config.quantise) gn_codec_init(&config.codec, GN_DENSE, 6);
    for (int i = 0; i < COUNT; i++) values[i] = sinf((float)(i * (config.rank + 1)));
    if (gn_comm_init_gathered(&comm, &config, gather, NULL)) return fail(gn_comm_last_error(NULL));
    const gn_call call = {
        .collective = GN_ALLREDUCE, .send = values, .recv = expected, .count = COUNT, .id = GN_BUCKET_NONE};
    if (gn_comm_run(comm, &call)) return fail(gn_comm_last_error(comm));
    gn_comm_free(comm);
    PMPI_Allreduce(values, exact, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int round = 0; round < 3; round++) {
        MPI_Allreduce(values, sums, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (memcmp(sums, expected, sizeof sums) != 0) return fail("not the bits of the library");
    }
    for (int i = 0; i < COUNT; i++) worst = fmaxf(worst, fabsf(sums[i] - exact[i]));
    const float most = config.quantise ? (float)config.size * 0x1p-6f : 1e-5f;
    if (worst > most) return fail("an error above the bound");
    if (config.quantise && worst < 0x1p-9f) return fail("nothing was compressed");
    if (!strcmp(how, "kill"))
        for (int round = 0;; round++) {
            if (config.rank == 1 && round == 20) raise(SIGKILL);
            MPI_Allreduce(values, sums, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        }
    if (!strcmp(how, "late") && !is_told(config.rank, values, sums)) return fail("an error is not told");
    MPI_Finalize();
    return 0;
}
