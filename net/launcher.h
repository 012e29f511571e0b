// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_LAUNCHER_H
#define GRADNIC_NET_LAUNCHER_H
/// Which rank this process is, as the program that started it says: torchrun, mpirun, srun. Each of
/// them sets variables of its own, and they are a table here. Reads the environment and changes
/// nothing.

#include <stdbool.h>

#include "net/error.h"

enum {
    GN_LAUNCHER_SIZE_MAX = 256,  ///< the most ranks of a group
    GN_PLACE_TEXT = 200
};

/// In the order in which they are asked.
typedef enum gn_launcher_kind {
    GN_BY_ENVIRONMENT,  ///< RANK and WORLD_SIZE: torchrun's, or set by hand
    GN_BY_OPEN_MPI,
    GN_BY_PMI,    ///< Hydra, which is MPICH's
    GN_BY_SLURM,  ///< in a step (srun); the shell of a batch script is no rank
    GN_BY_PMIX,   ///< it has no variable for the size
    GN_LAUNCHERS  ///< the number of launchers: none of them
} gn_launcher_kind;

typedef struct gn_launcher {
    gn_launcher_kind kind;
    const char *name;
    const char *rank, *size;              ///< names of variables; NULL: it has none
    const char *old_size;                 ///< taken where `size` is not set; NULL: there is none
    const char *local_rank, *local_size;  ///< among the ranks of this host; NULL: it has none
    const char *job[4];                   ///< those that are set tell its jobs apart
    const char *pass;                     ///< how its command line sets MASTER_ADDR for all ranks
} gn_launcher;

typedef struct gn_place {
    int rank, size;
    gn_launcher_kind by;       ///< GN_LAUNCHERS: nobody had to be asked
    bool disputed;             ///< another launcher says something else; `text` has both
    char text[GN_PLACE_TEXT];  ///< "rank 2 of 8 from Open MPI (OMPI_COMM_WORLD_RANK)"; or ""
} gn_place;

/// Fills in the rank or size that is not known yet (-1), or both, from the first launcher that says
/// something.
/// @return GN_OK; GN_INVALID: what the launcher says is wrong or not all that is needed, and the
/// text names the variables. Where no launcher says anything, `by` is GN_LAUNCHERS
gn_status gn_place_find(int rank, int size, gn_place *place, gn_error *error);

/// The launcher whose job a rank belongs to, which is the first that says something besides RANK
/// and WORLD_SIZE. NULL: there is none, or it has another rank or size.
const gn_launcher *gn_launcher_of(int rank, int size);

/// Whether torchrun has a store of its own at MASTER_ADDR and MASTER_PORT, so that nobody else can
/// listen there.
bool gn_torchrun_has_store(void);

/// torchrun, for a rank of its job. NULL: RANK and WORLD_SIZE have another rank or size.
const gn_launcher *gn_torchrun_of(int rank, int size);

/// How many of `size` ranks are on this host. 0: the launcher does not say.
/// @return GN_OK, GN_INVALID with the names of the variables
gn_status gn_launcher_local_size(const gn_launcher *launcher, int size, int *local, gn_error *error);

#endif
