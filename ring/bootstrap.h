// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_BOOTSTRAP_H
#define GRADNIC_RING_BOOTSTRAP_H
/// How N processes become a group. Every rank opens its listeners and sends rank 0 a HELLO (rank, configuration, addresses) over the
/// rendezvous; rank 0 compares, and when all have come hands out a random token and the table of addresses. Then neighbours
/// connect (transport.c) and report READY; rank 0 answers GO when all have. Whatever goes wrong at one rank is told to all.

#include <gradnic/comm.h>

#include "address.h"
#include "connection.h"
#include "net/tcp.h"
#include "rendezvous.h"
#include "route.h"

typedef struct gn_guest {
    gn_connection connection;
    char name[GN_ENDPOINT_TEXT];
    uint64_t since, heard;  ///< when it came; when it last said something
    int rank;               ///< -1 until its HELLO
    bool ready;
    gn_address at_switch;  ///< algorithm switch
    uint16_t switch_values;
} gn_guest;

typedef struct gn_bootstrap {
    const gn_comm_config *config;
    int rank, size;
    gn_terms terms;
    uint64_t deadline;  ///< for all to come; then for all to connect
    gn_rendezvous rendezvous;
    gn_endpoint local;                ///< the selected address
    gn_address address;               ///< where this rank listens
    int data_listener, oob_listener;  ///< no data with GN_SWITCH
    gn_switch_route route;            ///< GN_SWITCH: to this rank's switch
    gn_rank_table table;              ///< after gather: token and all addresses
    uint64_t beat_at;                 ///< when the next sign of life is due
    uint64_t patience;  ///< span of silence after which a rank, or a switch, is given up; 0: not all have come

    // rank 0
    int listener;
    gn_guest **guests;  ///< those connected, whether they have said HELLO or not
    int guest_count, guest_room;
    int reporter;    ///< whose failure it is that is told to all: a guest's rank, or 0
    gn_roster lost;  ///< ranks that had come, and whose connection was lost again
    gn_guest *by_rank[GN_RANKS_MAX];

    // other ranks
    gn_connection *home;  ///< to rank 0
    gn_roster roster;
    char home_name[GN_ENDPOINT_TEXT];
    uint64_t home_heard;  ///< when it last said something, at first when the connection was made
    bool home_speaks;     ///< has ever
} gn_bootstrap;

/// Reads rank and size, selects the interface, opens the listeners.
gn_status gn_bootstrap_open(gn_bootstrap *boot, const gn_comm_config *config, gn_error *error);

/// Waits until all ranks have come; fills `table`.
gn_status gn_bootstrap_gather(gn_bootstrap *boot, gn_error *error);

/// Has anybody failed in the meantime? Does not wait.
gn_status gn_bootstrap_watch(gn_bootstrap *boot, gn_error *error);

/// Waits until all ranks are connected to their neighbours.
gn_status gn_bootstrap_commit(gn_bootstrap *boot, gn_error *error);

/// Tells everyone that this rank has failed.
void gn_bootstrap_fail(gn_bootstrap *boot, const gn_error *error);
void gn_bootstrap_close(gn_bootstrap *boot);

/// "10.9.0.3" of a rank in the table.
void gn_bootstrap_name(const gn_bootstrap *boot, int rank, char name[GN_ENDPOINT_TEXT]);

// bootstrap_life.c

/// Sends a sign of life if one is due. Wherever somebody waits while the group is set up.
void gn_bootstrap_beat(gn_bootstrap *boot);
/// When one is due, or the deadline.
uint64_t gn_bootstrap_beat_until(const gn_bootstrap *boot);
/// All have come: from here on silence counts, and a time of its own for connecting.
void gn_bootstrap_all_here(gn_bootstrap *boot);
/// This rank is connected. It gives the others a little more time: who is not knows better why.
void gn_bootstrap_ready(gn_bootstrap *boot);
/// @return GN_OK, or GN_PEER_LOST when somebody has been silent for longer than `patience`
gn_status gn_bootstrap_alive(const gn_bootstrap *boot, gn_error *error);
/// A deadline has passed, says `status` with `error`; if somebody is silent, that is why. @return the status to end with
gn_status gn_bootstrap_explain(const gn_bootstrap *boot, gn_status status, gn_error *error);

int gn_timeout_ms(const gn_comm_config *config);
void gn_log_text(const gn_comm_config *config, gn_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// bootstrap_server.c: rank 0's half
gn_status gn_server_open(gn_bootstrap *boot, gn_error *error);
gn_status gn_server_gather(gn_bootstrap *boot, gn_error *error);
gn_status gn_server_watch(gn_bootstrap *boot, gn_error *error);
gn_status gn_server_commit(gn_bootstrap *boot, gn_error *error);
void gn_server_broadcast(gn_bootstrap *boot, const uint8_t *frame, size_t length);
void gn_server_close(gn_bootstrap *boot);

/// "ranks 1-3, 7" of those whose bit is not set.
void gn_roster_missing(const gn_roster *roster, char *text, size_t room);

#endif
