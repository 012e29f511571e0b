// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_JOB_MEETING_H
#define GRADNIC_RING_JOB_MEETING_H
/// Where the ranks of a launcher's job meet when nobody has said where. All of them come to the
/// same answer, each from its own environment:
///
/// * All on one host: a file in a folder that is this user's alone. The hash of the job's name is
///   its name.
/// * On several hosts, started by torchrun: the host of its store, at another port, which follows
///   from that of the store.
/// * On several hosts, started by Slurm: the first host of the step, at a port that follows from
///   the numbers of job and step.
/// * On several hosts, started by another launcher: no answer, because its variables do not say
///   where rank 0 is.

#include "ring/bootstrap/rendezvous.h"

/// Ports for jobs of Slurm and torchrun: this one and those above it.
enum { GN_JOB_PORT_FIRST = 20000, GN_JOB_PORTS = 10000 };

/// Reads `spec` as gn_rendezvous_parse() does. Where neither it nor MASTER_ADDR nor MASTER_PORT
/// says anything, the job of this rank decides. It does so, too, where these two are torchrun's
/// store.
/// @return GN_OK; GN_INVALID with what to do; GN_IO: there is no folder for the file
gn_status gn_meeting_choose(const char *spec, int rank, int size, gn_rendezvous *rendezvous, gn_error *error);

#endif
