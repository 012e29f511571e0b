// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_CALLEE_H
#define GRADNIC_RING_CALLEE_H
/// A neighbour that this rank connects to: both connections with it, from the first call until it
/// has welcomed us. No function here waits.

#include "ring/bootstrap/bootstrap.h"
#include "ring/group.h"

/// Both kinds of connections.
enum { GN_CALL_OOB, GN_CALL_DATA, GN_CALLS };

/// "out-of-band", "data"
extern const char *const gn_call_names[GN_CALLS];

typedef struct gn_callee {
    gn_comm *comm;
    const gn_bootstrap *boot;
    gn_neighbour *neighbour;
    bool data;                    ///< values travel over TCP
    uint64_t retry_at[GN_CALLS];  ///< one of our two connections was lost: when to try again
    bool data_up;                 ///< the data connection is made
    gn_framed *data_talk;         ///< its greeting is under way; it shares the socket
    bool joined;                  ///< JOIN has been sent, after the greeting
    gn_greeting greeting[GN_CALLS];
    unsigned lost;  ///< how often one of the two was closed before the welcome
    bool welcomed;  ///< to be read
} gn_callee;

/// Begins. Nothing is connected yet.
void gn_callee_init(gn_callee *callee, gn_comm *comm, const gn_bootstrap *boot, gn_neighbour *neighbour);
/// Frees what is not the neighbour's. Zeros are allowed.
void gn_callee_close(gn_callee *callee);

/// Goes on with both connections. @return GN_OK, GN_IO, GN_MISMATCH, GN_CORRUPT, GN_NO_MEMORY
gn_status gn_callee_advance(gn_callee *callee, gn_error *error);
/// What poll() is to wait for: two entries.
void gn_callee_poll(const gn_callee *callee, struct pollfd set[GN_CALLS]);

#endif
