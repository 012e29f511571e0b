// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_RENDEZVOUS_H
#define GRADNIC_RING_RENDEZVOUS_H
/// Where the ranks meet: rank 0 listens there, and the others connect. There are three ways to say
/// it:
///
/// * the environment that torchrun sets: MASTER_ADDR, MASTER_PORT;
/// * "tcp://host:port";
/// * "file:///path" on a shared file system: rank 0 writes its address into that file.

#include <stdbool.h>
#include <stdint.h>

#include "net/resolve.h"
#include "ring/bootstrap/meeting_file.h"

typedef struct gn_rendezvous {
    bool is_file;
    char host[GN_HOST_TEXT];  ///< of tcp
    uint16_t port;
    gn_meeting_file file;  ///< of file
    uint64_t job;          ///< hash of the job's name: tells other jobs at the same address apart
} gn_rendezvous;

/// Reads `spec`; NULL or "env" stands for the environment. Does not touch the network.
/// @return GN_OK, GN_INVALID
gn_status gn_rendezvous_parse(const char *spec, gn_rendezvous *rendezvous, gn_error *error);

/// Rank 0, of file: writes the address where it listens, until gn_rendezvous_withdraw().
/// @return GN_OK, or what gn_meeting_file_write() says
gn_status gn_rendezvous_publish(gn_rendezvous *rendezvous, const gn_endpoint *address, gn_error *error);
void gn_rendezvous_withdraw(gn_rendezvous *rendezvous);

/// Other ranks: the address to try now. `attempt` counts from 0: a name may lead to several
/// addresses, which take turns. @return false when the file is not there yet, or stale.
/// Then `*status` is GN_OK, or an error that waiting will not mend
bool gn_rendezvous_find(const gn_rendezvous *rendezvous, unsigned attempt, gn_endpoint *address, gn_status *status,
                        gn_error *error);
/// All addresses of its name. Not for a file. @return as gn_resolve_all()
gn_status gn_rendezvous_addresses(const gn_rendezvous *rendezvous, gn_addresses *found, gn_error *error);

/// Reads a rank or the size from the environment.
/// @return false when it is missing, or not a number below `limit`
bool gn_environment_number(const char *name, int limit, int *value);

#endif
