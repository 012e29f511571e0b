// SPDX-License-Identifier: Apache-2.0
#include "mpi/beside.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi/take.h"
#include "ring/group.h"

typedef struct beside {
    MPI_Comm mpi;
    size_t least;  ///< bytes; the largest wish of all ranks; SIZE_MAX: MPI does all
    bool lossy;    ///< groups[0] compresses, as the environment of a rank says
    struct {
        gn_comm *comm;  ///< NULL: not yet, or in vain
        bool done;      ///< tried
    } groups[2];        ///< as the environment says; that compresses, where that one does not
    struct beside *next, *previous;
} beside;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // of what follows
static beside *all;                                       // that there are
static atomic_bool over;                                  // within MPI_Finalize(), which calls back
static gn_mpi_sent sent;                                  // by groups that were freed
static atomic_bool awaited;                               // MPI's end is

static pthread_once_t prepared = PTHREAD_ONCE_INIT;  // of what follows; nothing changes it later
static int key = MPI_KEYVAL_INVALID;                 // the attribute
static gn_mpi_settings settings;

// Not `lock`: MPI may call forget() below a lock of its own, so none calls MPI below `lock`.
static pthread_mutex_t code_lock = PTHREAD_MUTEX_INITIALIZER;
static int code = -1;  // the error code

/// The rank in MPI_COMM_WORLD. -1: a program that has sessions alone (MPI 4) has no such
/// communicator, nor MPI_COMM_SELF.
static int world_rank(void)
{
    int begun = 0, rank = 0;
    if (PMPI_Initialized(&begun) || !begun) return -1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/// A launcher that is told to abort may end before it has passed on what was said. So it gets time.
static void give_up(const char *why)
{
    const struct timespec moment = {.tv_nsec = 300000000};
    const int rank = world_rank();
    if (rank < 0)
        fprintf(stderr, "gradnic: process %ld: %s\n", (long)getpid(), why);
    else
        fprintf(stderr, "gradnic: rank %d: %s\n", rank, why);
    nanosleep(&moment, NULL);
    if (rank < 0) _exit(2);  // its launcher ends the others
    PMPI_Abort(MPI_COMM_WORLD, 2);
}

/// Adds what a group has sent to what those before have.
static void count(gn_mpi_sent *total, const beside *b)
{
    for (int i = 0; i < 2; i++) {
        const gn_comm *comm = b->groups[i].comm;
        const gn_comm_stats stats = gn_comm_get_stats(comm);
        total->bytes += stats.sent_bytes;
        total->wire_bytes += stats.sent_wire_bytes;
        if ((i || settings.comm.quantise) && gn_comm_size(comm) > total->ranks) total->ranks = gn_comm_size(comm);
    }
}

// The attribute -----------------------------------------------------------------------------------

static int forget(MPI_Comm comm, int keyval, void *value, void *extra)
{
    beside *b = value;
    (void)comm, (void)keyval, (void)extra;
    pthread_mutex_lock(&lock);
    if (b->previous) b->previous->next = b->next;
    if (all == b) all = b->next;
    if (b->next) b->next->previous = b->previous;
    count(&sent, b);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++) gn_comm_free(b->groups[i].comm);
    free(b);
    return MPI_SUCCESS;
}

/// Frees all groups. It calls nothing of MPI: their attributes go when MPI takes them.
static void end_all(void)
{
    pthread_mutex_lock(&lock);
    for (beside *b = all; b; b = b->next) {
        count(&sent, b);
        for (int i = 0; i < 2; i++) {
            gn_comm_free(b->groups[i].comm);
            b->groups[i].comm = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
}

/// MPI's end, whoever calls it: first of all it deletes the attributes of MPI_COMM_SELF.
static int finish(MPI_Comm self, int keyval, void *value, void *extra)
{
    (void)self, (void)keyval, (void)value, (void)extra;
    atomic_store(&over, true);
    gn_mpi_summary(world_rank());
    end_all();
    return MPI_SUCCESS;
}

/// As soon as there is MPI_COMM_SELF. That may be after sessions, or never.
static void await_end(void)
{
    int last;
    if (world_rank() < 0 || atomic_exchange(&awaited, true)) return;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish, &last, NULL)) return;
    PMPI_Comm_set_attr(MPI_COMM_SELF, last, NULL);
    PMPI_Comm_free_keyval(&last);
}

/// A misspelled variable would do nothing, and nobody would know.
static void tell_of_unknown(void)
{
    size_t at = 0;
    const int rank = world_rank();
    if (rank > 0) return;
    for (const char *entry; (entry = gn_mpi_settings_unknown(environ, &at));)
        fprintf(stderr, "gradnic: %s%.*s is set, and nothing here reads it\n",
                rank ? "" : "rank 0: ", (int)strcspn(entry, "="), entry);
}

/// Programs as they are may have small values beside large ones, and nobody would know.
static void tell_of_integers(void)
{
    if (!gn_mpi_adds_integers(&settings.comm) || world_rank() > 0) return;
    fprintf(stderr, "gradnic: rank 0: the switch adds float as integers: small values beside large ones lose bits, "
                    "or all (GRADNIC_BOUND sets a bound, another GRADNIC_ALGORITHM is exact)\n");
}

static void prepare_once(void)
{
    gn_error error;
    if (gn_mpi_settings_read(&settings, &error)) give_up(error.text);
    tell_of_unknown();
    tell_of_integers();
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
}

/// The first call of any thread does it, and the others wait until it is done.
static void prepare(void)
{
    pthread_once(&prepared, prepare_once);
    if (!atomic_load(&awaited)) await_end();
}

const gn_mpi_settings *gn_mpi_settings_get(void)
{
    prepare();
    return &settings;
}

/// Whether all processes of a communicator are of this program's MPI_COMM_WORLD. Others, such as
/// those that MPI_Comm_spawn() has started, may be without this library: they would not take part
/// in what the ranks agree on. A program of sessions alone has no such communicator.
static bool is_within_world(MPI_Comm comm)
{
    enum { PART = 64 };
    MPI_Group own, world;
    int size = 0, outside = 0, from[PART], to[PART];
    if (world_rank() < 0) return true;
    if (PMPI_Comm_group(comm, &own)) return false;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &world)) {
        PMPI_Group_free(&own);
        return false;
    }
    PMPI_Group_size(own, &size);
    for (int first = 0; first < size && !outside; first += PART) {
        const int count = size - first < PART ? size - first : PART;
        for (int i = 0; i < count; i++) from[i] = first + i;
        PMPI_Group_translate_ranks(own, count, from, world, to);
        for (int i = 0; i < count; i++) outside |= to[i] == MPI_UNDEFINED;
    }
    PMPI_Group_free(&own);
    PMPI_Group_free(&world);
    return !outside;
}

/// The ranks agree on `least` and `lossy`, whatever their environments say: they must take the same
/// calls, and make the same groups for them.
/// @return NULL when MPI has refused, or there is no memory
static beside *begin(MPI_Comm comm)
{
    beside *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    int inter = 1, size = 0;
    const uint64_t wish[] = {settings.least, settings.comm.quantise};
    uint64_t agreed[] = {UINT64_MAX, 0};
    PMPI_Comm_test_inter(comm, &inter);
    if (!inter && is_within_world(comm)) PMPI_Comm_size(comm, &size);
    if (size > 1 && size <= GN_RANKS_MAX && PMPI_Allreduce(wish, agreed, 2, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS)
        agreed[0] = UINT64_MAX;
    *b = (beside){.mpi = comm, .least = (size_t)agreed[0], .lossy = agreed[1]};
    pthread_mutex_lock(&lock);
    b->next = all;
    if (all) all->previous = b;
    all = b;
    pthread_mutex_unlock(&lock);
    PMPI_Comm_set_attr(comm, key, b);
    return b;
}

// The communicator --------------------------------------------------------------------------------

static int gather(void *context, const void *own, void *from_all, size_t bytes)
{
    MPI_Comm *comm = context;
    return PMPI_Allgather(own, (int)bytes, MPI_BYTE, from_all, (int)bytes, MPI_BYTE, *comm);
}

/// `which` of `groups`. All ranks have one, or none has.
static gn_comm *join(MPI_Comm comm, int which)
{
    gn_comm_config config = settings.comm;
    gn_comm *group = NULL;
    config.quantise |= which == 1;
    PMPI_Comm_rank(comm, &config.rank);
    PMPI_Comm_size(comm, &config.size);
    int bad = gn_comm_init_gathered(&group, &config, gather, &comm) != GN_OK, any = 1;
    if (bad)
        fprintf(stderr, "gradnic: rank %d: %s; MPI does this communicator's sums\n", config.rank,
                gn_comm_last_error(NULL));
    PMPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, comm);
    if (!any) return group;
    gn_comm_free(group);
    return NULL;
}

gn_comm *gn_mpi_beside(MPI_Comm comm, size_t bytes, bool compressed)
{
    void *value;
    int found = 0;
    if (comm == MPI_COMM_NULL) return NULL;  // an error that MPI tells of
    prepare();
    if (atomic_load(&over)) return NULL;
    if (PMPI_Comm_get_attr(comm, key, &value, &found) != MPI_SUCCESS) return NULL;
    beside *b = found ? value : begin(comm);
    if (!b) {
        give_up("out of memory");
        return NULL;
    }
    if (bytes < b->least) return NULL;
    const int which = compressed && !b->lossy;
    if (!b->groups[which].done) {
        gn_comm *group = join(comm, which);
        pthread_mutex_lock(&lock);
        b->groups[which].comm = group;
        b->groups[which].done = true;
        pthread_mutex_unlock(&lock);
    }
    return b->groups[which].comm;
}

gn_mpi_sent gn_mpi_beside_sent(void)
{
    pthread_mutex_lock(&lock);
    gn_mpi_sent total = sent;
    for (const beside *b = all; b; b = b->next) count(&total, b);
    pthread_mutex_unlock(&lock);
    return total;
}

// The ends ----------------------------------------------------------------------------------------

int gn_mpi_fail(MPI_Comm comm, const char *function, const char *why)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, rank = -1;
    PMPI_Comm_rank(comm, &rank);
    snprintf(text, sizeof text, "gradnic: rank %d: %s: %.200s", rank, function, why);
    fprintf(stderr, "gradnic: rank %d: %s: %s\n", rank, function, why);
    pthread_mutex_lock(&code_lock);
    if (code == -1 && (PMPI_Add_error_class(&class) || PMPI_Add_error_code(class, &code))) code = MPI_ERR_OTHER;
    if (code != MPI_ERR_OTHER) PMPI_Add_error_string(code, text);
    const int raised = code;
    pthread_mutex_unlock(&code_lock);
    PMPI_Comm_call_errhandler(comm, raised);
    return raised;
}
