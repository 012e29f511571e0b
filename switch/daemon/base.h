// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_BASE_H
#define GRADNIC_SWITCH_DAEMON_BASE_H
/// What the parts of the daemon's main thread share: its state, its log, its list of sessions.

#include <stdatomic.h>

#include "net/log_limit.h"
#include "net/resolve.h"
#include "switch/daemon/session.h"
#include "switch/daemon/shard.h"
#include "switch/daemon/switchd.h"

enum {
    GN_SESSIONS_MAX = 5120,     ///< together with those in the lobby
    GN_SESSIONS_UPWARD = 1024,  ///< of these, kept free for jobs that ask above
    GN_OVERS = 4                ///< ended jobs that are remembered
};

/// Kinds of log lines, each with a limit of its own.
typedef enum gn_log_kind {
    GN_LOG_ITSELF,    ///< the switch
    GN_LOG_RUNS,      ///< a job runs
    GN_LOG_OVER,      ///< a job that ran has ended
    GN_LOG_NEVER,     ///< a job that never ran has ended
    GN_LOG_REFUSED,   ///< a child was refused
    GN_LOG_STRANGER,  ///< somebody else was
    GN_LOG_LACK,      ///< somebody could not be taken in
    GN_LOG_KINDS
} gn_log_kind;

/// Limits that a job or an address may meet (limits.h).
typedef enum gn_switchd_limit {
    GN_LIMIT_JOB_CHANNELS,
    GN_LIMIT_QUOTA,
    GN_LIMIT_ADDRESS_CHANNELS,
    GN_LIMIT_ADDRESS_SLOTS,
    GN_LIMIT_ADDRESS_JOBS,
    GN_LIMIT_ADDRESS_CONNECTIONS,
    GN_LIMIT_RESERVE,      ///< what is left is kept for others
    GN_LIMIT_CHANNELS,     ///< all are taken
    GN_LIMIT_SLOTS,        ///< the same
    GN_LIMIT_CONNECTIONS,  ///< the same
    GN_LIMITS
} gn_switchd_limit;

/// A job that has ended.
typedef struct gn_over {
    char job[GN_ADMISSION_NAME], why[GN_ADMISSION_TEXT];
    uint64_t at;  ///< gn_now()
} gn_over;

/// The last jobs that have ended.
typedef struct gn_overs {
    uint64_t count;          ///< of all that have ended
    gn_over last[GN_OVERS];  ///< by `count` % GN_OVERS
} gn_overs;

struct gn_switchd {
    gn_switchd_config config;
    gn_endpoint listen;      ///< with the port that was chosen
    gn_endpoint above;       ///< the parent or the parameter server; ip.version 0: none
    gn_addresses all_above;  ///< of its name; `above` is the one of them that is tried now
    unsigned above_now;
    int listener, stop_event;
    gn_lobby lobby;  ///< connections without a job
    gn_secret secret;
    gn_greeting door;  ///< what a child's greeting begins as
    atomic_bool stop;
    struct gn_control *control;
    struct gn_metrics *metrics;
    gn_shard *shard[GN_SWITCHD_SHARDS_MAX];
    unsigned shards, started;  ///< made; running
    gn_session *session[GN_SESSIONS_MAX];
    unsigned sessions;
    unsigned room;              ///< for connections of children and strangers
    unsigned most_connections;  ///< since memory was last given back
    struct gn_job *jobs;
    uint16_t next_job, next_gen;
    uint32_t instance;           ///< as in gn_admission_join
    uint64_t opened;             ///< gn_now()
    uint64_t admitted, refused;  ///< `refused`: without those who gave way in the lobby
    uint64_t refused_by[GN_LIMITS];
    int failed;         ///< errno when the main thread could not go on; 0: it can
    uint64_t gave_way;  ///< jobs that formed, and ended to make room
    /// Anybody can make jobs that never run. They do not push out the others.
    gn_overs ran, never_ran;
    gn_log_limit limit[GN_LOG_KINDS];
};

/// One line about what happens to jobs, for the caller's log. Past its kind's limit it is only
/// counted.
void gn_switchd_log(gn_switchd *daemon, gn_log_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Says how many lines were held back. @return when to be called again; UINT64_MAX: no need
uint64_t gn_switchd_log_rest(gn_switchd *daemon, uint64_t now);

/// Connections of children, strangers and those above.
unsigned gn_switchd_connections(const gn_switchd *daemon);

/// Adds a session to those that are served. @return false when there are too many: the session is
/// freed
bool gn_switchd_adopt(gn_switchd *daemon, gn_session *session);

/// How the core of one shard is set.
gn_switch_config gn_switchd_core(const gn_switchd_config *config);

#endif
