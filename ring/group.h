// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_GROUP_H
#define GRADNIC_RING_GROUP_H
/// The communicator as its own parts see it.
///
/// Two kinds of threads: the one that runs a collective (the caller's, or request.c's progress thread) owns the data sockets and
/// everything not marked; the out-of-band connections and the error are also touched by gn_comm_abort() from anywhere, under `lock`.

#include <poll.h>
#include <pthread.h>
#include <sys/types.h>

#include <gradnic/comm.h>

#include "connection.h"
#include "net/clock.h"
#include "net/error.h"
#include "net/tcp.h"

/// A rank that this one has connections with: left and right in a ring; rank 0 or all workers with an aggregator.
typedef struct gn_neighbour {
    int rank;
    char name[GN_ENDPOINT_TEXT];  ///< address, for messages
    int data_out, data_in;        ///< the same socket with an aggregator; -1 for a direction that does not exist
    bool welcomed;                ///< transport.c: both its connections are there
    gn_connection oob;            ///< lock
    bool said_bye;                ///< lock: gn_comm_free() there...
    gn_failure why;               ///< lock: ... and why, when another communicator of its process failed; else GN_OK
    bool failed_ahead;            ///< lock: it has told of a failure in the collective after ours
    uint64_t last_sign;           ///< lock: when anything last came from it
    uint64_t last_beat;           ///< lock: when we last sent it a sign of life
    uint64_t announced_sequence;  ///< lock: of the collective...
    uint64_t announced_sent;      ///< lock: ... in which it has sent us so many bytes
    uint64_t finished;            ///< lock: algorithm switch: collectives of which it has all results
} gn_neighbour;

/// One agreement: the largest value over all ranks.
typedef struct gn_round {
    uint8_t seen[GN_RANKS_MAX / 8];
    int count;      ///< ranks whose value is in
    int16_t value;  ///< the largest so far
    bool done;
} gn_round;

/// What out-of-band connections have said about one collective. A neighbour may be one collective ahead of us, never two.
typedef struct gn_turn {
    uint64_t sequence;
    gn_round round[2];                  ///< 0: before the data, 1: meanwhile, for the next time
    int headers;                        ///< neighbours whose header has come and agrees with ours
    uint8_t have_header[GN_RANKS_MAX];  ///< by index of neighbour
    gn_op_header *header;               ///< by index of neighbour
} gn_turn;

struct gn_comm {
    gn_comm_config config;
    int rank, size, timeout_ms;
    gn_rank_table table;
    gn_neighbour *neighbours;
    int neighbour_count;
    size_t segment;   ///< bytes, multiple of 64
    uint8_t *memory;  ///< staging, everything an allreduce needs beyond the caller's buffers
    size_t memory_bytes;
    struct pollfd *poll_set;

    pthread_mutex_t lock;
    gn_error error;            ///< lock
    bool dead;                 ///< lock
    bool unheard;              ///< lock: it died while the caller was not in a collective; the next call says so
    uint64_t born, died;       ///< lock
    gn_failure why;            ///< lock: for our BYE: how another communicator of this process failed; else GN_OK
    gn_failure later;          ///< lock: waits for our next collective...
    gn_neighbour *later_from;  ///< lock: ... and comes from this neighbour; NULL: none
    char error_copy[GN_ERROR_TEXT];
    int wake;  ///< eventfd: gn_comm_abort() was called

    uint64_t sequence;    ///< of the collective that runs, or of the next one
    gn_turn turn[2];      ///< lock: by sequence % 2
    bool own_header_set;  ///< lock
    gn_op_header own_header;
    int16_t *history;  ///< exponent by bucket; NULL until the first use of GN_SCALE_AUTO
    const char *phase;
    uint64_t last_progress;  ///< lock: when data last moved
    uint64_t looked, awake;  ///< lock: when deadlines were last looked at; when this process last stood still
    uint64_t data_received, data_expected;  ///< of this collective
    uint64_t *data_sent;                    ///< by index of neighbour

    struct gn_switched *switched;     ///< algorithm switch
    uint64_t finished, all_finished;  ///< lock: of its collectives: by this rank, by every rank

    pthread_mutex_t stats_lock;
    gn_comm_stats stats;
    uint64_t remaining;  ///< stats_lock: time that the job has to go; 0: not known

    pid_t process;        ///< life.c: a child that was forked has a copy which is not its own
    gn_comm *next_alive;  ///< life.c: of this process
    uint64_t serve_at;    ///< life.c: when it wants to be looked at, while others wait

    struct gn_queue *queue;  ///< request.c; NULL until the first gn_iallreduce()
};

/// Has nobody to ask: one rank, and no switch, which is asked even so.
static inline bool gn_comm_is_alone(const gn_comm *comm)
{
    return comm->size == 1 && comm->config.algorithm != GN_SWITCH;
}

/// How long a neighbour may be silent.
static inline uint64_t gn_comm_timeout(const gn_comm *comm)
{
    return (uint64_t)comm->timeout_ms * GN_MILLISECOND;
}

/// transport.c: connects to the neighbours that the algorithm needs. Fills neighbours.
struct gn_bootstrap;
gn_status gn_transport_connect(gn_comm *comm, struct gn_bootstrap *boot, gn_error *error);
void gn_transport_close(gn_comm *comm);

/// Address of any rank.
void gn_comm_name(const gn_comm *comm, int rank, char name[GN_ENDPOINT_TEXT]);

// oob.c ----------------------------------------------------------------------------------------------------------

/// Ends the communicator: keeps the first error, tells every neighbour. `culprit`: the rank at fault, or -1. @return the status of the
/// error that is kept, which may be an earlier one.
gn_status gn_oob_fail(gn_comm *comm, gn_status status, int culprit, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/// A call that is wrong by itself: keeps the text for gn_comm_last_error(), tells nobody, ends nothing. @return GN_INVALID.
gn_status gn_oob_refuse(gn_comm *comm, const char *wrong);

/// A failure in the next collective that a neighbour has told of, and that waits for us to get there, ends this one: it cannot be finished.
void gn_oob_take_later(gn_comm *comm);

/// GN_OK, or the status with which the communicator has failed.
gn_status gn_oob_state(gn_comm *comm);

/// May a call begin? @return GN_OK; the status of a failure that no call has returned yet; then GN_DEAD.
gn_status gn_oob_usable(gn_comm *comm);

/// Opens a collective: sends our header to the neighbours. @return the status of a failure that came meanwhile.
gn_status gn_oob_begin(gn_comm *comm, const gn_op_header *header);
void gn_oob_end(gn_comm *comm);

/// Has neighbour `index` sent the header of this collective? (It has been compared with ours.)
bool gn_oob_has_header(gn_comm *comm, int index);

/// Gives this rank's value to an agreement round. Messages go round the ring, or to rank 0 and back, beside the data.
void gn_oob_offer(gn_comm *comm, int round, int value);
bool gn_oob_agreed(gn_comm *comm, int round, int *value);

/// Waits for one of `count` data sockets (their revents are filled in), for out-of-band messages, or `wait` ms at most (-1: until the
/// next sign of life is due); handles out-of-band messages; sends signs of life, also on the other
/// communicators of this process.
gn_status gn_oob_poll(gn_comm *comm, struct pollfd *data, int count, int wait);

/// Algorithm switch: this rank has all results of its first `collectives` collectives. Rank 0 tells everyone when all have.
void gn_oob_finish(gn_comm *comm, uint64_t collectives);
bool gn_oob_all_finished(gn_comm *comm, uint64_t collectives);

/// Has neighbour `index`? (Rank 0.)
bool gn_oob_has_finished(gn_comm *comm, int index, uint64_t collectives);

/// GN_ABORTED for everybody; any thread.
gn_status gn_oob_abort(gn_comm *comm, const char *reason);

/// Says goodbye and closes.
void gn_oob_leave(gn_comm *comm);

// deadline.c ---------------------------------------------------------------------------------------------------------

/// Until `index` has sent its header / the round is agreed.
gn_status gn_oob_await_header(gn_comm *comm, int index);
gn_status gn_oob_await_agreement(gn_comm *comm, int round, int *value);

/// The data connection with neighbour `index` has ended (`cause` 0) or broken (errno). Asks the out-of-band connection why, then fails.
gn_status gn_oob_data_lost(gn_comm *comm, int index, int cause);

/// Fails when a neighbour that we wait for has been silent for too long. `waiting[i]`: we need something of neighbour i.
gn_status gn_oob_check_deadline(gn_comm *comm, const uint8_t *waiting);

/// Algorithm switch: until when those who lack results of the first `collectives` collectives are worth waiting for, who has waited since `begun`: they are
/// in one, so they give signs of life.
uint64_t gn_oob_finish_until(gn_comm *comm, uint64_t collectives, uint64_t begun);

/// Data has moved, between us and no neighbour.
void gn_oob_progress(gn_comm *comm, uint64_t now);

/// Data has moved between us and neighbour `index`: a sign of life, and progress.
void gn_oob_sign(gn_comm *comm, int index, uint64_t now);

#endif
