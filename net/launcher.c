// SPDX-License-Identifier: Apache-2.0
#include "net/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const gn_launcher launchers[GN_LAUNCHERS] = {
    {.kind = GN_BY_ENVIRONMENT, .name = "the environment", .rank = "RANK", .size = "WORLD_SIZE"},
    {.kind = GN_BY_OPEN_MPI,
     .name = "Open MPI",
     .rank = "OMPI_COMM_WORLD_RANK",
     .size = "OMPI_COMM_WORLD_SIZE",
     .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
     .local_size = "OMPI_COMM_WORLD_LOCAL_SIZE",
     // Version 4's job has a number of 16 random bits, so its address and its key count as well.
     .job = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri",
             "OMPI_MCA_orte_precondition_transports"},
     .pass = "mpirun -x MASTER_ADDR=HOST -x MASTER_PORT=29500"},
    {.kind = GN_BY_PMI,
     .name = "MPICH's Hydra",
     .rank = "PMI_RANK",
     .size = "PMI_SIZE",
     .local_rank = "MPI_LOCALRANKID",
     .local_size = "MPI_LOCALNRANKS",
     .job = {"PMI_JOBID"},
     .pass = "mpiexec -genv MASTER_ADDR HOST -genv MASTER_PORT 29500"},
    {.kind = GN_BY_SLURM,
     .name = "Slurm",
     .rank = "SLURM_PROCID",
     .size = "SLURM_STEP_NUM_TASKS",
     .old_size = "SLURM_NTASKS",
     .local_rank = "SLURM_LOCALID",
     .job = {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"},
     .pass = "srun --export=ALL,MASTER_ADDR=HOST,MASTER_PORT=29500"},
    {.kind = GN_BY_PMIX,
     .name = "PMIx",
     .rank = "PMIX_RANK",
     .job = {"PMIX_NAMESPACE"},
     .pass = "prterun -x MASTER_ADDR=HOST -x MASTER_PORT=29500"},
};

/// RANK and WORLD_SIZE, where torchrun has set them.
static const gn_launcher torchrun = {
    .kind = GN_BY_ENVIRONMENT,
    .name = "torchrun",
    .rank = "RANK",
    .size = "WORLD_SIZE",
    .local_rank = "LOCAL_RANK",
    .local_size = "LOCAL_WORLD_SIZE",
    .job = {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT"}};

/// A number from 0 to `most`. Nothing may stand before or behind it.
static bool number_of(const char *text, unsigned long most, unsigned long *number)
{
    if (!text || *text < '0' || *text > '9') return false;
    char *end;
    *number = strtoul(text, &end, 10);
    return !*end && *number <= most;
}

static gn_status read_number(const char *name, int low, int high, int *value, gn_error *error)
{
    const char *text = getenv(name);
    unsigned long number;
    if (!number_of(text, (unsigned long)high, &number) || number < (unsigned long)low)
        return gn_fail(error, GN_INVALID, "%s is '%.60s' in the environment: want %d to %d", name, text ? text : "",
                       low, high);
    *value = (int)number;
    return GN_OK;
}

/// srun has started this process or one above it. A batch script and an interactive shell are in
/// the job too: Slurm gives them no step, or one of the numbers that it keeps for itself.
static bool in_slurm_step(void)
{
    static const unsigned long last_step = 0xFFFFFFEF;
    unsigned long step;
    return number_of(getenv("SLURM_STEP_ID"), last_step, &step) && getenv("SLURM_PROCID");
}

static const char *size_name(const gn_launcher *l)
{
    return l->old_size && !getenv(l->size) ? l->old_size : l->size;
}

static const char *name_of(const gn_launcher *l)
{
    return l->kind == GN_BY_ENVIRONMENT && getenv("TORCHELASTIC_RUN_ID") ? torchrun.name : l->name;
}

/// Whether it says a part of what is asked.
static bool says(const gn_launcher *l, bool rank, bool size)
{
    if (l->kind == GN_BY_SLURM && !in_slurm_step()) return false;
    // Slurm's own PMI server: the step is the job.
    if (l->kind == GN_BY_PMI && getenv("PMI_JOBID") && in_slurm_step()) return false;
    return (rank && getenv(l->rank)) || (size && l->size && getenv(size_name(l)));
}

/// @return the launcher that is asked first, from `from` on; NULL: none says anything
static const gn_launcher *first_that_says(gn_launcher_kind from, bool rank, bool size)
{
    for (gn_launcher_kind kind = from; kind < GN_LAUNCHERS; kind++)
        if (says(&launchers[kind], rank, size)) return &launchers[kind];
    return NULL;
}

static gn_status check_complete(const gn_launcher *l, bool rank, bool size, gn_error *error)
{
    if (size && !l->size)
        return gn_fail(error, GN_INVALID,
                       "no ranks: %s is set, and %s has no variable for the number of ranks: set RANK and WORLD_SIZE",
                       l->rank, l->name);
    if (rank && !getenv(l->rank))
        return gn_fail(error, GN_INVALID, "no ranks: %s is set in the environment, and %s is not", size_name(l),
                       l->rank);
    if (size && !getenv(size_name(l)))
        return gn_fail(error, GN_INVALID, "no ranks: %s is set in the environment, and %s is not", l->rank,
                       size_name(l));
    return GN_OK;
}

/// Reads what is -1. A rank that is not below the size is wrong.
static gn_status read_place(const gn_launcher *l, int *rank, int *size, gn_error *error)
{
    const bool wants_rank = *rank < 0, wants_size = *size < 0;
    gn_status status = check_complete(l, wants_rank, wants_size, error);
    if (!status && wants_size) status = read_number(size_name(l), 1, GN_LAUNCHER_SIZE_MAX, size, error);
    if (!status && wants_rank) status = read_number(l->rank, 0, *size - 1, rank, error);
    if (!status && *rank >= *size)
        return gn_fail(error, GN_INVALID, "rank %d: %s is %d in the environment, and ranks count from 0", *rank,
                       size_name(l), *size);
    return status;
}

/// The first launcher besides the chosen one that has another place for this process.
static void look_for_dispute(const gn_launcher *chosen, gn_place *place)
{
    const size_t used = (size_t)snprintf(NULL, 0, "%s", place->text);
    for (gn_launcher_kind kind = chosen->kind + 1; kind < GN_LAUNCHERS; kind++) {
        const gn_launcher *l = &launchers[kind];
        int rank = -1, size = l->size ? -1 : place->size;
        gn_error ignored;
        if (!says(l, true, true) || read_place(l, &rank, &size, &ignored)) continue;
        if (rank == place->rank && size == place->size) continue;
        place->disputed = true;
        snprintf(place->text + used, sizeof place->text - used, "; not taken: rank %d of %d from %s (%s)", rank, size,
                 l->name, l->rank);
        return;
    }
}

gn_status gn_place_find(int rank, int size, gn_place *place, gn_error *error)
{
    const bool wants_rank = rank < 0, wants_size = size < 0;
    *place = (gn_place){.rank = rank, .size = size, .by = GN_LAUNCHERS};
    if (!wants_rank && !wants_size) return GN_OK;
    const gn_launcher *l = first_that_says(GN_BY_ENVIRONMENT, wants_rank, wants_size);
    if (!l)
        return gn_fail(error, GN_INVALID,
                       "no ranks: set RANK and WORLD_SIZE, or start with a launcher (torchrun, mpirun, srun)");
    place->by = l->kind;
    const gn_status status = read_place(l, &place->rank, &place->size, error);
    if (status) return status;
    snprintf(place->text, sizeof place->text, "rank %d of %d from %s (%s)", place->rank, place->size, name_of(l),
             wants_rank ? l->rank : size_name(l));
    if (wants_rank && wants_size) look_for_dispute(l, place);
    return GN_OK;
}

const gn_launcher *gn_launcher_of(int rank, int size)
{
    const gn_launcher *l = first_that_says(GN_BY_ENVIRONMENT + 1, true, true);
    int its_rank = -1, its_size = l && l->size ? -1 : size;
    gn_error ignored;
    if (!l || read_place(l, &its_rank, &its_size, &ignored)) return NULL;
    return its_rank == rank && its_size == size ? l : NULL;
}

bool gn_torchrun_has_store(void)
{
    const char *store = getenv("TORCHELASTIC_USE_AGENT_STORE");
    return store && !strcmp(store, "True");
}

const gn_launcher *gn_torchrun_of(int rank, int size)
{
    int its_rank = -1, its_size = -1;
    gn_error ignored;
    if (read_place(&torchrun, &its_rank, &its_size, &ignored)) return NULL;
    return its_rank == rank && its_size == size ? &torchrun : NULL;
}

gn_status gn_launcher_local_size(const gn_launcher *l, int size, int *local, gn_error *error)
{
    int rank;
    *local = 0;
    if (!l->local_size || !getenv(l->local_size)) return GN_OK;
    const gn_status status = read_number(l->local_size, 1, size, local, error);
    if (status || !getenv(l->local_rank)) return status;
    return read_number(l->local_rank, 0, *local - 1, &rank, error);
}
