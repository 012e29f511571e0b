// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_BOOTSTRAP_H
#define GRADNIC_RING_BOOTSTRAP_H
/// How N processes become a group:
///
/// 0. Where a secret is set, every connection begins with a greeting (net/greeting.h).
/// 1. Every rank opens its listeners and sends rank 0 a HELLO over the rendezvous: rank,
///    configuration, addresses.
/// 2. Rank 0 compares. When all have come, it hands out a random token and the table of addresses.
/// 3. Neighbours connect (transport.c) and report READY.
/// 4. Rank 0 answers GO when all have.
///
/// All ranks are told what goes wrong at one of them. One thread.
///
/// server.c is the half of rank 0, and home.c that of the other ranks. Both use signs.c for signs
/// of life, and roster.c for who has come.

#include <gradnic/comm.h>

#include "net/clock.h"
#include "net/greeting.h"
#include "net/lobby.h"
#include "net/log_limit.h"
#include "net/secret.h"
#include "ring/address.h"
#include "ring/bootstrap/rendezvous.h"
#include "ring/connection.h"
#include "ring/route.h"

/// A rank that has said HELLO to rank 0.
typedef struct gn_guest {
    gn_framed *connection;  ///< NULL: it has not come, or has gone again
    char name[GN_ENDPOINT_TEXT];
    bool ready;
    gn_address at_switch;  ///< algorithm switch
    uint16_t switch_values;
    uint16_t group;  ///< algorithms with groups
} gn_guest;

typedef struct gn_bootstrap {
    const gn_comm_config *config;
    int rank, size;
    gn_terms terms;
    gn_secret secret;   ///< for as long as the group is set up
    uint64_t deadline;  ///< for all to come; then for all to connect
    gn_rendezvous rendezvous;
    gn_endpoint local;                ///< the selected address
    gn_address address;               ///< where this rank listens
    int data_listener, oob_listener;  ///< GN_SWITCH has no data_listener
    gn_switch_route route;            ///< GN_SWITCH: to this rank's switch
    uint16_t group;                   ///< gn_grouping.number
    gn_rank_table table;              ///< after gather: token and all addresses
    gn_roster roster;                 ///< who has come
    uint64_t beat_at;                 ///< when the next sign of life is due
    uint64_t patience;                ///< silence that is too long; 0: not all have come
    uint64_t all_here;                ///< when all had come; 0: not yet

    // Rank 0.
    int listener;
    gn_greeting door;              ///< what strangers' greetings begin as
    gn_lobby lobby;                ///< those who have connected and not said HELLO
    gn_guest guest[GN_RANKS_MAX];  ///< by rank
    gn_roster lost;                ///< ranks that had come, and whose connection was lost again
    gn_log_limit sent_away;        ///< log lines about those whose HELLO fits no rank of this group
    char last_sent_away[300];      ///< the last of them: address and reason; "": none
    struct pollfd *poll_set;
    const uint8_t *last_words;  ///< the group has failed: what ranks hear that come now
    size_t last_words_length;

    // Other ranks.
    gn_framed *home;      ///< the connection with rank 0
    gn_endpoint home_at;  ///< its far end
    char home_name[GN_ENDPOINT_TEXT];
    bool home_speaks;      ///< something has come over it
    bool let_in;           ///< over it: who has come
    gn_greeting greeting;  ///< of it
    bool said_hello;       ///< over it, after the greeting
} gn_bootstrap;

/// What a rank can see alone, before it meets others: its secret, its interface, the way to its
/// switch, and room for the files that it opens. `config`: as gn_comm_config_choose() leaves it.
gn_status gn_bootstrap_check(const gn_comm_config *config, gn_error *error);

/// Reads rank and size, selects the interface, opens the listeners. `door` is -1, or a socket that
/// listens at the rendezvous already. It is taken over.
gn_status gn_bootstrap_open(gn_bootstrap *boot, const gn_comm_config *config, int door, gn_error *error);
void gn_bootstrap_close(gn_bootstrap *boot);

/// Waits until all ranks have come, and fills in `table`.
gn_status gn_bootstrap_gather(gn_bootstrap *boot, gn_error *error);
/// Looks whether a rank has failed in the meantime. Does not wait.
gn_status gn_bootstrap_watch(gn_bootstrap *boot, gn_error *error);
/// This rank is connected. Waits until all are.
gn_status gn_bootstrap_commit(gn_bootstrap *boot, gn_error *error);

/// Setting up has ended with `status`. If it is a timeout and somebody has been silent, `error`
/// says so instead. @return the status to end with
gn_status gn_bootstrap_explain(const gn_bootstrap *boot, gn_status status, gn_error *error);
/// Tells all ranks that this one has failed, or the rank error->who.
void gn_bootstrap_fail(gn_bootstrap *boot, const gn_error *error);

#endif
