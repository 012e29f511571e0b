// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_LIMITS_H
#define GRADNIC_SWITCH_DAEMON_LIMITS_H
/// What one job and one address may have here, and what is kept for addresses that have nothing
/// yet. So no stranger takes a whole switch from the others.
///
/// A job counts at each address that one of its children has come from. Of IPv6, the first 64 bits
/// count: one host has all addresses below them.
///
/// | resource | by job | by address | kept for others |
/// | --- | --- | --- | --- |
/// | channels | job_channels | address_channels | reserve |
/// | slots | quota | address_slots | reserve |
/// | jobs that form | | address_jobs | the address with most connections gives way |
/// | connections (room.h) | | half of all | the same |

#include "switch/daemon/base.h"
#include "switch/daemon/job.h"

/// Whether one more child from there may wait for a job. `job`: which; NULL: a new one.
/// @return GN_OK; GN_NO_SPACE with the reason
gn_status gn_limits_check_forming(gn_switchd *daemon, const gn_job *job, const gn_ip *from, gn_error *error);

/// Channels of all shards together, and how many of them one job may have.
unsigned gn_limits_channels(const gn_switchd *daemon);
unsigned gn_limits_job_channels(const gn_switchd *daemon);

/// Channels of all shards together that are kept for addresses without any.
unsigned gn_limits_reserved_channels(const gn_switchd *daemon);
/// The same for the slots of each shard.
uint32_t gn_limits_reserved_slots(const gn_switchd *daemon);

/// What a job may have because of its addresses.
typedef struct gn_share {
    uint32_t slots, channels;  ///< the most that the limits by address leave; UINT32_MAX: any
    bool has_none;             ///< one of its addresses has nothing yet: it may have of the reserve
} gn_share;

gn_share gn_limits_share(const gn_switchd *daemon, const gn_job *job);

/// Counts a refusal. Every function above that fails has counted it.
gn_status gn_limits_refuse(gn_switchd *daemon, gn_switchd_limit limit, gn_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/// Whether a child of the job has come from there.
bool gn_limits_concern(const gn_job *job, const gn_ip *site);

/// A name for statistics: "address_jobs".
const char *gn_limits_name(gn_switchd_limit limit);

/// The address as limits count it.
gn_ip gn_limits_site(const gn_ip *from);

#endif
