// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_PRIVATE_H
#define GRADNIC_SWITCH_DAEMON_PRIVATE_H
/// What the parts of the daemon's main thread share.

#include <stdatomic.h>

#include <jansson.h>

#include "switch/daemon/session.h"
#include "switch/daemon/shard.h"
#include "switch/daemon/switchd.h"

enum {
    GN_SESSIONS_MAX = 5120,
    GN_SESSIONS_UPWARD = 1024,  ///< of these, kept free of children: a job that has come together needs one
    GN_SESSIONS_STRANGER_MS =
        50  ///< in which whoever has connected is given the time to ask, even where all room is taken
};

/// A job that there was.
typedef struct gn_over {
    char job[GN_ADMISSION_NAME], why[GN_ADMISSION_TEXT];
    uint64_t at;  ///< gn_now()
} gn_over;

enum { GN_OVERS = 4 };  ///< that are remembered

struct gn_switchd {
    gn_switchd_config config;
    gn_endpoint listen;  ///< as it came to be
    gn_endpoint above;   ///< the parent or the parameter server; ip.version 0: none
    int listener, stop_event;
    atomic_bool stop;
    struct gn_control *control;
    gn_shard *shard[GN_SWITCHD_SHARDS_MAX];
    unsigned shards, started;  ///< made; running
    gn_session *session[GN_SESSIONS_MAX];
    unsigned sessions;
    uint64_t full_until;  ///< gn_now(): nobody is accepted before
    struct gn_job *jobs;
    uint16_t next_job, next_gen;
    uint32_t instance;  ///< as in gn_admission_join
    uint64_t opened;    ///< CLOCK_REALTIME, seconds
    uint64_t admitted, refused, ended;
    gn_over over[GN_OVERS];  ///< by `ended` % GN_OVERS
};

void gn_switchd_log(const gn_switchd *daemon, const char *format, ...) __attribute__((format(printf, 2, 3)));

// above.c

/// "parent switch" or "parameter server": what is above; "--parent" or "--ps", which says where, and what it says.
const char *gn_switchd_above(const gn_switchd *daemon);
const char *gn_switchd_above_option(const gn_switchd *daemon);
const char *gn_switchd_above_text(const gn_switchd *daemon);

/// Finds the address of what is above, if something is to be. @return 0, or -1 with `error` set
gn_status gn_switchd_find_above(gn_switchd *daemon, gn_error *error);
/// That it is not this switch, which listens by now. @return as gn_switchd_find_above()
gn_status gn_switchd_check_above(const gn_switchd *daemon, gn_error *error);

// switchd.c

/// Adds a session to those that are served. @return false when there are too many: it is freed
bool gn_switchd_adopt(gn_switchd *daemon, gn_session *session);

// status.c: new references; NULL when out of memory

/// Jobs and where their children and streams are.
json_t *gn_switchd_jobs(gn_switchd *daemon);
/// How the switch is set, and what each job waits for.
json_t *gn_switchd_status(gn_switchd *daemon);
// stats.c
json_t *gn_switchd_stats(gn_switchd *daemon);

// request.c

/// Answers a request of the control socket; a gn_control_answer, `context` is the daemon.
char *gn_switchd_answer(void *context, const char *text, size_t length);

#endif
