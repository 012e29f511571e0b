// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_GROUP_H
#define GRADNIC_RING_GROUP_H
/// The communicator as the files of this folder see it.
///
/// Two kinds of threads touch it:
///
/// * One thread runs a collective: the caller's, or the progress thread of request.c. It owns the
///   data sockets, and every field that is not marked.
/// * Other threads call gn_comm_abort(), or wait in another communicator (life.h). They hold
///   `lock`, and touch only what is marked with it: the out-of-band connections and the error.
///
/// A function whose name ends in `_locked` is called with `lock` held; all others without.

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include <gradnic/comm.h>

#include "net/clock.h"
#include "net/error.h"
#include "ring/address.h"
#include "ring/circle.h"
#include "ring/connection.h"
#include "ring/log.h"

/// A rank that this one has connections with. In a ring there are two: left is 0, right is 1. With
/// an aggregator or a switch, rank 0 has all others, and they have rank 0. With `direct` each has
/// all others, in the order of ranks.
typedef struct gn_neighbour {
    int rank;
    char name[GN_ENDPOINT_TEXT];  ///< address, for messages
    int data_out, data_in;        ///< but in a ring one socket; -1: not in this direction
    uint64_t came;                ///< bytes of values from it, of this collective, with a ring and direct
    struct gn_shared *shared;     ///< data.c: the values go through it; NULL: through the sockets
    bool gone;                    ///< data.c: with `shared`: the connection has ended...
    int gone_why;                 ///< ... with this errno; 0: in order
    bool welcomed;                ///< transport.c: both its connections are there
    gn_framed *oob;               ///< lock: the out-of-band connection
    bool said_bye;                ///< lock: it has called gn_comm_free()...
    gn_failure why;               ///< lock: ... because of a failure in another group; or GN_OK
    bool failed_ahead;            ///< lock: it has told of a failure in the collective after ours
    uint64_t last_sign;           ///< lock: when anything last came from it
    uint64_t last_beat;           ///< lock: when we last sent it a sign of life
    uint64_t announced_sequence;  ///< lock: it has said that in this collective...
    uint64_t announced_sent;      ///< lock: ... it has sent us so many bytes
    uint64_t finished;            ///< lock: algorithm switch: it has so many collectives' results
} gn_neighbour;

/// One agreement: the largest value over all ranks.
typedef struct gn_round {
    uint8_t seen[GN_RANKS_MAX / 8];
    int count;      ///< ranks whose value is in
    int16_t value;  ///< the largest so far
    bool done;
} gn_round;

/// What the neighbours have said about one collective.
typedef struct gn_turn {
    uint64_t sequence;
    gn_round round[3];                  ///< 0: before the data, 1: meanwhile, for the next time, 2: choice.h
    int headers;                        ///< neighbours whose header has come and agrees with ours
    uint8_t have_header[GN_RANKS_MAX];  ///< by index of neighbour
    gn_op_header *header;               ///< by index of neighbour
} gn_turn;

struct gn_comm {
    gn_comm_config config;
    /// Of the configuration, for groups of its ranks; or NULL.
    char *interface, *secret_file, *grouping, *switch_address;
    int rank, size, timeout_ms;
    gn_rank_table table;
    gn_neighbour *neighbours;
    int neighbour_count;
    gn_circle whole;           ///< all ranks
    struct gn_groups *groups;  ///< groups/groups.h; NULL: the algorithm has none
    size_t segment;            ///< bytes, a multiple of 64
    uint8_t *memory;           ///< all that an allreduce needs beyond the caller's buffers
    size_t memory_bytes;
    uint8_t *stage;  ///< collectives/staged.h; NULL until the first use
    size_t stage_bytes;
    struct pollfd *poll_set;

    pthread_mutex_t lock;
    gn_error error;            ///< lock
    bool dead;                 ///< lock
    bool unheard;              ///< lock: it died while no call ran, and no call has said so yet
    uint64_t born, died;       ///< lock
    gn_failure why;            ///< lock: for our BYE: the failure of another group; or GN_OK
    gn_failure later;          ///< lock: a failure that waits for our next collective...
    gn_neighbour *later_from;  ///< lock: ... and who has told of it; NULL: there is none
    char error_copy[GN_ERROR_TEXT];
    int wake;  ///< eventfd: gn_comm_abort() was called

    uint64_t sequence;    ///< of the collective that runs, or of the next one
    gn_turn turn[2];      ///< lock: by sequence % 2: a neighbour is at most one collective ahead
    bool own_header_set;  ///< lock
    gn_op_header own_header;
    bool leads;        ///< lock: that header goes ahead of the values, where TCP carries them
    int16_t *history;  ///< exponent by bucket; NULL until the first use of GN_SCALE_AUTO
    const char *phase;
    uint64_t last_progress;                 ///< lock: when data last moved
    uint64_t looked;                        ///< lock: when deadlines were last looked at
    unsigned looks;                         ///< await.c: at memory, instead of a wait
    uint64_t asked;                         ///< deadline.c: when `interrupted` was last asked
    uint64_t data_received, data_expected;  ///< of this collective
    uint64_t *data_sent;                    ///< of this collective, by index of neighbour
    uint64_t wire_sent, wire_received;      ///< offload library: of this collective, compressed

    struct gn_size_class *classes;    ///< algorithm auto, by class
    struct gn_switched *switched;     ///< algorithm switch
    uint64_t finished, all_finished;  ///< lock: its collectives: by this rank, by every rank

    pthread_mutex_t stats_lock;
    gn_comm_stats stats;
    uint64_t remaining;  ///< stats_lock: span that the job has to go; 0: not known

    pid_t process;        ///< life.c: a forked process has a copy that is not its own
    gn_comm *next_alive;  ///< life.c: the next one of this process
    uint64_t serve_at;    ///< life.c: when it wants to be served, while others wait

    struct gn_queue *queue;  ///< request.c; NULL until the first gn_iallreduce()
    atomic_bool occupied;    ///< request.c: a thread is in a call that one at a time may make
    struct gn_peers *peers;  ///< peers/: messages between two ranks
};

/// As gn_comm_init(). `door` is -1, or a socket that listens at the rendezvous of rank 0. It is
/// taken over, also when this fails.
gn_status gn_comm_init_at(gn_comm **result, const gn_comm_config *config, int door);

/// Whether there is nobody to ask: one rank, and no switch. A switch is asked even by one rank.
static inline bool gn_comm_is_alone(const gn_comm *comm)
{
    return comm->size == 1 && comm->config.algorithm != GN_SWITCH;
}

/// Whether all ranks are neighbours.
static inline bool gn_comm_is_mesh(const gn_comm *comm)
{
    const gn_algorithm algorithm = comm->config.algorithm;
    return algorithm == GN_DIRECT || algorithm == GN_AUTO || gn_algorithm_has_groups(algorithm);
}

/// Whether values are marked for NICs. Then nothing else may travel with them.
static inline bool gn_comm_marks(const gn_comm *comm)
{
    return comm->config.offload == GN_OFFLOAD_NIC || comm->config.data_tos > 0;
}

/// Index of the neighbour with this rank, where all are neighbours.
static inline int gn_comm_index_of(const gn_comm *comm, int rank)
{
    return rank < comm->rank ? rank : rank - 1;
}

/// Whether this rank has connections with those before and behind it.
static inline bool gn_comm_goes_round(const gn_comm *comm)
{
    return comm->config.algorithm == GN_RING || gn_comm_is_mesh(comm);
}

/// So many bytes of values have come from neighbour `index`.
static inline void gn_comm_count_received(gn_comm *comm, int index, size_t bytes)
{
    comm->neighbours[index].came += bytes;
    comm->data_received += bytes;
}

/// How long a neighbour may be silent.
static inline uint64_t gn_comm_timeout(const gn_comm *comm)
{
    return (uint64_t)comm->timeout_ms * GN_MILLISECOND;
}

#endif
