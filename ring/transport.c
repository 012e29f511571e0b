// SPDX-License-Identifier: Apache-2.0
#include "ring/transport.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "net/lobby.h"
#include "net/socket.h"
#include "ring/callee.h"
#include "ring/log.h"
#include "ring/neighbours.h"

enum {
    OOB = GN_CALL_OOB,
    DATA = GN_CALL_DATA,
    JOIN_BYTES = GN_FRAME_HEADER + GN_TOKEN_BYTES + 2,
    ROOM_MAX = GN_STRANGERS_MAX + 2 * GN_RANKS_MAX,  // two connections of each rank that is expected
    OTHER_FILES = 16,                                // what a process has open besides, at least
    LATER_FILES = 1                                  // what a group opens after its connections
};

typedef struct meeting {
    gn_comm *comm;
    gn_bootstrap *boot;
    bool data;           ///< values travel over TCP
    gn_callee *callees;  ///< [called]: those that we connect to
    int called;
    gn_greeting door[2];  ///< what strangers' begin as
    gn_lobby lobby;
} meeting;

/// The neighbour that may connect to us as `rank`.
static gn_neighbour *caller_of_rank(gn_comm *comm, int rank)
{
    for (int i = 0; i < comm->neighbour_count; i++)
        if (comm->neighbours[i].rank == rank && !gn_neighbours_calls(comm, i)) return &comm->neighbours[i];
    return NULL;
}

/// The socket that carries data of a neighbour that connects to us, whichever way.
static int *data_socket(meeting *m, gn_neighbour *neighbour)
{
    return m->comm->config.algorithm == GN_RING ? &neighbour->data_in : &neighbour->data_out;
}

// Those that connect to us ------------------------------------------------------------------------

static int parse_join(const uint8_t *bytes, size_t available, void *join)
{
    gn_frame frame;
    const int length = gn_frame_parse(bytes, available, &frame);
    if (length <= 0) return length;
    return frame.type == GN_MSG_JOIN && gn_join_read(&frame, join) ? length : -1;
}

static int parse_data_hello(const uint8_t *bytes, size_t available, void *join)
{
    if (available < GN_DATA_HELLO_BYTES) return 0;
    return gn_data_hello_read(bytes, join) ? GN_DATA_HELLO_BYTES : -1;
}

/// Whether a stranger says what its greeting has proved.
static bool is_greeted(const meeting *m, const gn_stranger *stranger, const gn_join *join)
{
    char name[GN_GREETING_NAME] = "";
    if (!m->boot->secret.set) return true;
    const gn_greeting_who *who = &stranger->greeting->who;
    gn_token_text(m->comm->table.token, name);
    return who->role == (stranger->door == DATA ? GN_ROLE_DATA : GN_ROLE_OOB) && who->rank == join->rank &&
           who->size == m->comm->size && !strcmp(who->name, name);
}

/// Takes in stranger `index`, who says that it is a rank. @return false when it is not one that we
/// wait for
static bool admit(meeting *m, unsigned index, const gn_join *join)
{
    const unsigned door = m->lobby.strangers[index].door;
    gn_neighbour *neighbour = caller_of_rank(m->comm, join->rank);
    if (!neighbour || memcmp(join->token, m->comm->table.token, sizeof join->token) != 0) return false;
    if (!is_greeted(m, &m->lobby.strangers[index], join)) return false;
    if (door == DATA ? *data_socket(m, neighbour) >= 0 : neighbour->oob != NULL) return false;
    const int fd = gn_framed_release(gn_lobby_admit(&m->lobby, index));
    if (door == DATA)
        *data_socket(m, neighbour) = fd;
    else
        neighbour->oob = gn_connection_new(fd, GN_FRAMED_OPEN);
    return true;
}

static void read_strangers(meeting *m)
{
    for (unsigned i = m->lobby.count; i-- > 0;) {
        gn_stranger *stranger = &m->lobby.strangers[i];
        const unsigned door = stranger->door;
        const gn_greeting_step step = gn_stranger_greet(stranger);
        char name[GN_ENDPOINT_TEXT];
        gn_join join;
        int found = step == GN_GREETING_FAILED ? -1 : 0;
        if (step == GN_GREETING_DONE)
            found = gn_framed_next(stranger->connection, door == DATA ? parse_data_hello : parse_join, &join);
        if (!found && !gn_stranger_is_over(stranger, gn_now())) continue;
        if (found > 0 && admit(m, i, &join)) continue;
        gn_log_text(&m->comm->config, GN_LOG_WARNING, "a stranger, %s, connected to the %s port%s: sent away",
                    gn_endpoint_format(&stranger->from, name), gn_call_names[door],
                    step == GN_GREETING_FAILED ? " without the shared secret" : "");
        gn_lobby_dismiss(&m->lobby, i);
    }
}

/// Answers a neighbour whose two connections are both there. @return whether all have been answered
static bool welcome_complete(meeting *m)
{
    bool complete = true;
    for (int i = 0; i < m->comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &m->comm->neighbours[i];
        if (gn_neighbours_calls(m->comm, i)) continue;
        if ((m->data && *data_socket(m, neighbour) < 0) || !neighbour->oob) {
            complete = false;
        } else if (!neighbour->welcomed) {
            uint8_t frame[GN_FRAME_MAX];
            (void)gn_framed_send(neighbour->oob, frame, gn_empty_write(frame, GN_MSG_WELCOME));
            neighbour->welcomed = true;
        }
    }
    return complete;
}

// Both --------------------------------------------------------------------------------------------

static gn_status step(meeting *m, bool *done, gn_error *error)
{
    bool welcomed = true;
    for (int i = 0; i < m->called; i++) {
        const gn_status status = gn_callee_advance(&m->callees[i], error);
        if (status) return status;
        welcomed = welcomed && m->callees[i].welcomed;
    }
    read_strangers(m);
    gn_lobby_accept(&m->lobby);
    *done = welcome_complete(m) && welcomed;
    return GN_OK;
}

static void await_events(meeting *m)
{
    struct pollfd set[GN_DOORS_MAX + ROOM_MAX + GN_CALLS * GN_RANKS_MAX];
    nfds_t n = gn_lobby_poll(&m->lobby, set, gn_now());
    for (int i = 0; i < m->called; i++, n += GN_CALLS) gn_callee_poll(&m->callees[i], &set[n]);
    (void)gn_poll(set, n, 20);  // short, because the bootstrap connections are looked at between
    gn_lobby_serve(&m->lobby, set);
}

static gn_status timed_out(const meeting *m, gn_error *error)
{
    char own[16], lack[GN_LOBBY_LACK];
    snprintf(own, sizeof own, "rank %d", m->comm->rank);
    for (int i = 0; i < m->called; i++) {
        const gn_callee *callee = &m->callees[i];
        if (!callee->welcomed)
            return gn_fail(error, GN_TIMEOUT, "no connection to rank %d at %s within %d ms%s", callee->neighbour->rank,
                           callee->neighbour->name, m->comm->timeout_ms,
                           callee->lost ? " (it closed our connections)" : "");
    }
    for (int i = 0; i < m->comm->neighbour_count; i++) {
        const gn_neighbour *neighbour = &m->comm->neighbours[i];
        if (!gn_neighbours_calls(m->comm, i) && !neighbour->welcomed)
            return gn_fail(error, GN_TIMEOUT, "no connection from rank %d at %s within %d ms%s", neighbour->rank,
                           neighbour->name, m->comm->timeout_ms, gn_lobby_lack(&m->lobby, own, lack));
    }
    return gn_fail(error, GN_TIMEOUT, "no connection to the neighbours within %d ms", m->comm->timeout_ms);
}

static gn_status meet(meeting *m, gn_error *error)
{
    gn_status status = GN_OK;
    for (bool done = false; !status && !done;) {
        if (gn_now() >= m->boot->deadline) return timed_out(m, error);
        status = step(m, &done, error);
        if (!status && !done) await_events(m);
        if (!status) status = gn_bootstrap_watch(m->boot, error);
    }
    return status;
}

/// A neighbour says no more than so many bytes after the greeting, until it is welcome.
static void add_door(meeting *m, int which, int listener, size_t bytes)
{
    gn_door door = {.listener = listener, .in_room = bytes};
    if (m->boot->secret.set) {
        gn_greeting_answer(&m->door[which], &m->boot->secret, which == DATA ? GN_GREETING_VALUES : GN_GREETING_EXCHANGE,
                           (uint16_t)m->comm->rank, NULL);
        door.in_room = door.out_room = GN_GREETING_MAX;
        door.greeting = &m->door[which];
    }
    gn_lobby_add_door(&m->lobby, door);
}

/// Open files of this process. 0: not known.
static unsigned open_files(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return 0;
    for (const struct dirent *entry; (entry = readdir(folder));) count += *entry->d_name != '.';
    closedir(folder);
    return count - 1;  // without the folder's own
}

/// Says before anything is connected that the limit of open files does not suffice. Shared memory
/// is not counted: without a file for it, values travel over TCP.
static gn_status check_files(const gn_comm *comm, gn_error *error)
{
    struct rlimit limit;
    const unsigned neighbours = (unsigned)comm->neighbour_count, there = open_files();
    const unsigned long long least = GN_CALLS * neighbours + OTHER_FILES,
                             now = GN_CALLS * neighbours + LATER_FILES + there, wanted = now > least ? now : least;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted) return GN_OK;
    return gn_fail(error, GN_IO,
                   "rank %d needs %llu open files for its connections with %d ranks, and its limit is %llu: raise "
                   "ulimit -n%s",
                   comm->rank, wanted, comm->neighbour_count, (unsigned long long)limit.rlim_cur,
                   comm->config.algorithm == GN_RING ? "" : ", or take algorithm ring");
}

static gn_status begin(meeting *m, gn_error *error)
{
    gn_comm *comm = m->comm;
    m->callees = calloc((size_t)comm->neighbour_count, sizeof *m->callees);
    if (!m->callees) return gn_fail_memory(error);
    for (int i = 0; i < comm->neighbour_count; i++)
        if (gn_neighbours_calls(comm, i)) gn_callee_init(&m->callees[m->called++], comm, m->boot, &comm->neighbours[i]);
    const unsigned expected = 2 * (unsigned)(comm->neighbour_count - m->called);
    if (gn_lobby_open(&m->lobby, GN_STRANGERS_MAX + expected)) return gn_fail_memory(error);
    add_door(m, OOB, m->boot->oob_listener, JOIN_BYTES);
    add_door(m, DATA, m->boot->data_listener, GN_DATA_HELLO_BYTES);
    return GN_OK;
}

/// One connection, both ways. The second leg of an aggregator chooses its own ToS.
static void join_ways(gn_comm *comm)
{
    const gn_comm_config *config = &comm->config;
    const bool weights = config->algorithm == GN_WORKER_AGGREGATOR && config->aggregator_weights;
    for (int i = 0; i < comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &comm->neighbours[i];
        neighbour->data_in = neighbour->data_out;
        if (!gn_neighbours_calls(comm, i) && neighbour->data_out >= 0)
            gn_socket_set_tos(neighbour->data_out, weights ? 0 : (uint8_t)config->data_tos);
    }
}

gn_status gn_transport_connect(gn_comm *comm, gn_bootstrap *boot, gn_error *error)
{
    meeting m = {.comm = comm, .boot = boot, .data = comm->config.algorithm != GN_SWITCH};
    gn_status status = gn_neighbours_make(comm, error);
    if (!status) status = check_files(comm, error);
    if (!status) status = begin(&m, error);
    if (!status) status = meet(&m, error);
    for (int i = 0; i < m.called; i++) gn_callee_close(&m.callees[i]);
    free(m.callees);
    gn_lobby_close(&m.lobby);
    if (comm->config.algorithm != GN_RING) join_ways(comm);
    return status;
}
