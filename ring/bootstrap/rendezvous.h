// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_RENDEZVOUS_H
#define GRADNIC_RING_RENDEZVOUS_H
/// Where the ranks meet: rank 0 listens there, and the others connect. There are three ways to say
/// it. Where nobody does, a launcher's job may (job_meeting.h).
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
    bool one_host;         ///< a launcher has all ranks on this host, so loopback is enough
    bool several_hosts;    ///< a launcher has ranks on other hosts, so loopback is too little
    char text[400];        ///< for the log: what a launcher's job has decided; or ""
} gn_rendezvous;

/// FNV-1a, begun with GN_NAME_HASH. It only tells names apart. The token that rank 0 hands out is
/// what guards.
#define GN_NAME_HASH 0xCBF29CE484222325u
static inline uint64_t gn_name_hash(uint64_t hash, const char *name)
{
    for (; name && *name; name++) hash = (hash ^ (uint8_t)*name) * 0x100000001B3u;
    return hash;
}

/// Nowhere yet, with the name of the job from GRADNIC_JOB or TORCHELASTIC_RUN_ID.
void gn_rendezvous_init(gn_rendezvous *rendezvous);

/// Reads `spec`; NULL or "env" stands for the environment. Does not touch the network.
/// @return GN_OK, GN_INVALID
gn_status gn_rendezvous_parse(const char *spec, gn_rendezvous *rendezvous, gn_error *error);

/// Rank 0, of file: writes the address where it listens, until gn_rendezvous_withdraw().
/// @return GN_OK, or what gn_meeting_file_write() says
gn_status gn_rendezvous_publish(gn_rendezvous *rendezvous, const gn_endpoint *address, gn_error *error);
void gn_rendezvous_withdraw(gn_rendezvous *rendezvous);

/// Other ranks: the address to try now. `attempt` counts from 0: a name may lead to several
/// addresses, which take turns. @return how many take turns; 0 when the file is not there yet, or
/// stale.
/// Then `*status` is GN_OK, or an error that waiting will not mend
size_t gn_rendezvous_find(const gn_rendezvous *rendezvous, unsigned attempt, gn_endpoint *address, gn_status *status,
                          gn_error *error);
/// All addresses of its name. Not for a file. @return as gn_resolve_all()
gn_status gn_rendezvous_addresses(const gn_rendezvous *rendezvous, gn_addresses *found, gn_error *error);

#endif
