// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_SWITCHD_H
#define GRADNIC_SWITCH_DAEMON_SWITCHD_H
/// The software switch: the slot logic of switch.h behind UDP, jobs admitted over TCP (admission.h). Or, in its other role, the parameter server of ps.h, for switches that share their slots. A thread for each shard, which has slots of its own; the
/// caller's thread admits jobs and serves the control socket until a signal ends it.

#include <gradnic/switch.h>

#include "net/address.h"
#include "net/fault.h"

enum {
    GN_SWITCHD_SHARDS_MAX = 16,
    GN_SWITCHD_SLOTS = 8192,
    GN_SWITCHD_VALUES = GN_AGG_VALUES_MAX,
    GN_SWITCHD_STREAMS = 16,         ///< for each shard
    GN_SWITCHD_BUFFER = 8 << 20,     ///< bytes: receive buffer of each stream; a quarter of it to send
    GN_SWITCHD_JOIN_TIMEOUT_S = 60,  ///< until all children have come
    GN_SWITCHD_ABANDONED_S = 30,     ///< without a packet from those who are left
    GN_SWITCHD_STUCK_S = 5,  ///< packets without a result for so long, after somebody has left: he is waited for
    GN_SWITCHD_HOST = 256    ///< bytes of a host's name, with its end
};

typedef enum gn_switchd_role { GN_SWITCHD_SWITCH, GN_SWITCHD_PS } gn_switchd_role;

typedef struct gn_switchd_config {
    gn_switchd_role role;
    gn_endpoint listen;   ///< TCP; UDP is at the same address. version 0: any address
    uint16_t udp_first;   ///< UDP ports of the streams are this and those that follow; 0: any that are free
    unsigned shards;      ///< threads
    unsigned streams;     ///< most streams of jobs at a time in a shard, at most GN_SWITCH_JOBS_MAX
    gn_memory_mode mode;  ///< of a switch
    uint32_t slots;       ///< of all shards together; parameter server: chunks under way of all jobs
    uint32_t windows;     ///< modes shared, preemptive: chunks under way of all jobs, all shards together; 0: 4 * slots
    uint32_t
        quota;  ///< most slots (shared: chunks under way) of one job, of all its streams together; 0: a quarter of all
    uint16_t slot_values;
    size_t buffer_bytes;
    bool no_offload;  ///< a system call's message is one datagram, in and out
    uint64_t join_timeout_ns;
    uint64_t stuck_ns;  ///< with packets, but no result, after which a job that somebody has left ends; 0: ..._STUCK_S
    uint64_t abandoned_ns;  ///< without a packet, after which a job that somebody has left ends; 0: ..._ABANDONED_S
    uint64_t memory;        ///< most bytes for slots; 0: what the machine has
    const char *parent;     ///< HOST:PORT; NULL: none
    const char *
        ps;  ///< HOST:PORT of the parameter server, which modes shared and preemptive need without a parent; NULL: none
    uint8_t place_bit, place_fanin;                ///< at the parent, for all jobs; place_fanin 0: as the children say
    gn_fault_config in, out;                       ///< bad links, for what comes in and what goes out
    const char *control;                           ///< path of the control socket; NULL: none
    const char *user;                              ///< to become after opening; NULL: nobody when root, else unchanged
    void (*log)(void *context, const char *text);  ///< what happens to jobs, a line each; NULL: not said
    void *log_context;
} gn_switchd_config;

typedef struct gn_switchd gn_switchd;

/// Slots that jobs can have; where they are shared and at a parameter server, chunks under way.
static inline uint32_t gn_switchd_places(const gn_switchd_config *config)
{
    if (config->mode == GN_PARTITIONED) return config->slots;
    return config->windows ? config->windows : 4 * config->slots;
}

/// Whether the parent must share its slots, for this switch does: sums of any contributions go up (docs/switch.md).
static inline bool gn_switchd_shares_above(const gn_switchd_config *config)
{
    return config->parent && config->mode != GN_PARTITIONED;
}

/// Bytes of slots and what belongs to them: taken when it opens; of a parameter server at most, while jobs have them.
uint64_t gn_switchd_memory(const gn_switchd_config *config);

/// Takes HOST:PORT of a parent or parameter server apart; an IPv6 address is in brackets. `host` has GN_SWITCHD_HOST bytes, `*port` points into `text`.
/// @return GN_OK, GN_INVALID
gn_status gn_switchd_host_port(const char *text, char *host, const char **port, gn_error *error);

/// Opens everything, then gives up all privileges. Call from a process with one thread.
/// @return GN_OK; GN_INVALID when the configuration is wrong by itself; another status
gn_status gn_switchd_open(gn_switchd **daemon, const gn_switchd_config *config, gn_error *error);

/// Runs until SIGTERM, SIGINT or SIGHUP; then everyone is told that the switch goes. @return as gn_switchd_open()
gn_status gn_switchd_run(gn_switchd *daemon, gn_error *error);

/// NULL allowed.
void gn_switchd_close(gn_switchd *daemon);

/// Where it listens, with the port that was chosen when 0 was asked for. `text`: GN_ENDPOINT_TEXT bytes. @return text
const char *gn_switchd_address(const gn_switchd *daemon, char *text);

#endif
