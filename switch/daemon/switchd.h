// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_SWITCHD_H
#define GRADNIC_SWITCH_DAEMON_SWITCHD_H
/// The software switch: the slot logic of switch.h behind UDP, and jobs admitted over TCP
/// (admission.h). In its other role it is the parameter server of ps.h, for switches that share
/// their slots.
///
/// Each shard has a thread and slots of its own. The caller's thread admits jobs and serves the
/// control socket until a signal ends it.

#include <gradnic/switch.h>

#include "net/address.h"
#include "net/fault.h"
#include "switch/daemon/engine.h"

enum {
    GN_SWITCHD_SHARDS_MAX = 16,
    GN_SWITCHD_SLOTS = 8192,
    GN_SWITCHD_VALUES = GN_AGG_VALUES_MAX,
    GN_SWITCHD_CHANNELS = 16,        ///< for each shard
    GN_SWITCHD_BUFFER = 8 << 20,     ///< bytes to receive, of each channel; a quarter of it to send
    GN_SWITCHD_JOIN_TIMEOUT_S = 60,  ///< until all children have come
    GN_SWITCHD_ADDRESS_JOBS = 64,
    GN_SWITCHD_RESERVE = 12,      ///< percent
    GN_SWITCHD_ABANDONED_S = 30,  ///< without a packet from those who are left
    GN_SWITCHD_STUCK_S = 5        ///< packets but no result: somebody who has left is missing
};

typedef enum gn_switchd_role { GN_SWITCHD_SWITCH, GN_SWITCHD_PS } gn_switchd_role;

struct gn_switchd;

typedef struct gn_switchd_config {
    gn_switchd_role role;
    gn_endpoint listen;              ///< TCP; UDP is at the same address. version 0: any address
    uint16_t udp_first;              ///< first UDP port of the channels; the others follow. 0: any free ones
    unsigned shards;                 ///< threads
    unsigned channels;               ///< of jobs at a time in a shard: at most GN_SWITCH_JOBS_MAX
    gn_memory_mode mode;             ///< of a switch
    const gn_switch_engine *engine;  ///< who adds; NULL: the core
    uint32_t slots;                  ///< of all shards; parameter server: chunks under way of all jobs
    /// Modes shared, preemptive: chunks under way of all jobs in all shards together; 0: 4 * slots.
    uint32_t windows;
    /// The most slots of one job, all its channels together; where slots are shared, chunks under
    /// way. 0: a quarter of all.
    uint32_t quota;
    // What one job and one address may have (limits.h); 0: as much as there is.
    unsigned job_channels;      ///< channels of one job
    unsigned address_channels;  ///< of all jobs of an address
    uint32_t address_slots;     ///< the same; where slots are shared, chunks under way
    unsigned address_jobs;      ///< jobs of an address that are not complete
    unsigned reserve;           ///< percent of channels and slots kept for addresses that have none
    uint16_t slot_values;
    size_t buffer_bytes;
    bool no_offload;  ///< a message of a system call is one datagram, in and out
    uint64_t join_timeout_ns;
    // After somebody has left a job, it ends when it sees packets but no result for so long, or
    // when it sees no packet for so long. 0: GN_SWITCHD_STUCK_S, GN_SWITCHD_ABANDONED_S.
    uint64_t stuck_ns;
    uint64_t abandoned_ns;
    uint64_t memory;     ///< most bytes for slots; 0: what the machine has
    const char *parent;  ///< HOST:PORT; NULL: none
    /// HOST:PORT of the parameter server; NULL: none. Modes shared and preemptive need one where
    /// there is no parent.
    const char *ps;
    uint8_t place_bit, place_fanin;  ///< at the parent, for all jobs; place_fanin 0: children say
    gn_fault_config in, out;         ///< bad links, for what comes in and what goes out
    const char *control;             ///< path of the control socket; NULL: none
    gn_endpoint metrics;             ///< counters over HTTP; version 0: none
    const char *secret;              ///< path of the secret file; NULL: as gn_secret_read() says
    const char *user;                ///< to become after opening; NULL: gn_account_default() if root
    /// A line about a job; NULL: no log.
    void (*log)(void *context, const char *text);
    void *log_context;
    /// SIGHUP: called in the thread of gn_switchd_run(). NULL: SIGHUP ends the switch.
    void (*reload)(void *context, struct gn_switchd *daemon);
    void *reload_context;
} gn_switchd_config;

typedef struct gn_switchd gn_switchd;

/// Slots that jobs can have. Where slots are shared, and at a parameter server: chunks under way.
static inline uint32_t gn_switchd_places(const gn_switchd_config *config)
{
    if (config->mode == GN_PARTITIONED) return config->slots;
    return config->windows ? config->windows : 4 * config->slots;
}

/// Whether the parent must share its slots, because this switch does: sums of any contributions go
/// up (docs/switch.md).
static inline bool gn_switchd_shares_above(const gn_switchd_config *config)
{
    return config->parent && config->mode != GN_PARTITIONED;
}

/// Bytes of slots and what belongs to them. A switch takes them when it opens; a parameter server
/// takes at most so many, while jobs have them.
uint64_t gn_switchd_memory(const gn_switchd_config *config);

/// Whether the text can be the HOST:PORT of a parent or parameter server. An IPv6 address has to be
/// in brackets. @return GN_OK, GN_INVALID
gn_status gn_switchd_check_address(const char *text, gn_error *error);

/// Opens everything, then gives up all privileges. Call from a process with one thread.
/// @return GN_OK; GN_INVALID when the configuration by itself is wrong; another status
gn_status gn_switchd_open(gn_switchd **daemon, const gn_switchd_config *config, gn_error *error);

/// Runs until SIGTERM or SIGINT (or SIGHUP, without `reload`), and tells everyone that the switch
/// goes. Tells the service manager when it is ready (host/notify.h). @return as gn_switchd_open()
gn_status gn_switchd_run(gn_switchd *daemon, gn_error *error);

/// Whether it has a shared secret.
bool gn_switchd_has_secret(const gn_switchd *daemon);

/// Takes from `config` what a running switch can change: limits and patience for jobs to come, and
/// the bad links. All of it, or nothing. To be called by `reload`.
gn_status gn_switchd_reconfigure(gn_switchd *daemon, const gn_switchd_config *config, gn_error *error);

/// NULL allowed.
void gn_switchd_close(gn_switchd *daemon);

/// Where it listens; if port 0 was asked for, with the port that was chosen. `text`:
/// GN_ENDPOINT_TEXT bytes. @return text
const char *gn_switchd_address(const gn_switchd *daemon, char *text);

#endif
