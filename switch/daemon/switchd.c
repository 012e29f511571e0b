// SPDX-License-Identifier: Apache-2.0
// Opening, the main thread's loop, closing.
#include "switch/daemon/switchd.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/control.h"
#include "host/ending.h"
#include "host/memory.h"
#include "host/metrics.h"
#include "host/notify.h"
#include "host/privilege.h"
#include "net/clock.h"
#include "net/socket.h"
#include "switch/daemon/above.h"
#include "switch/daemon/accept.h"
#include "switch/daemon/jobs.h"
#include "switch/daemon/request.h"
#include "switch/daemon/room.h"
#include "switch/daemon/serve.h"
#include "switch/daemon/status.h"
#include "switch/daemon/watch.h"

enum {
    FIXED = 2 + GN_CONTROL_POLL,                           ///< entries of poll()
    WATCHED = FIXED + GN_DOORS_MAX + 2 * GN_SESSIONS_MAX,  ///< and all connections
    SLOW_MIB = 1024
};

/// Slots are touched when they are made. Too many would push out other programs, or the kernel
/// would end this one.
static gn_status check_memory(gn_switchd *daemon, gn_error *error)
{
    const gn_switchd_config *c = &daemon->config;
    const uint64_t needed = gn_switchd_memory(c) >> 20,
                   available = (c->memory ? c->memory : gn_memory_available("")) >> 20;
    if (needed <= available && c->role != GN_SWITCHD_PS && needed >= SLOW_MIB)
        gn_switchd_log(daemon, GN_LOG_ITSELF, "taking %" PRIu64 " MiB of memory for slots", needed);
    if (needed <= available) return GN_OK;
    return gn_fail(error, GN_INVALID,
                   "%u slot%s of %u value%s need%s %" PRIu64 " MiB of memory, and %" PRIu64
                   " MiB are available (--slots, --values%s)",
                   c->slots, c->slots == 1 ? "" : "s", c->slot_values, c->slot_values == 1 ? "" : "s",
                   c->slots == 1 ? "s" : "", needed, available, c->mode == GN_PARTITIONED ? "" : ", --windows");
}

/// Each shard and direction has random numbers of its own.
static gn_fault_config fault_of(const gn_fault_config *given, unsigned number)
{
    gn_fault_config fault = *given;
    fault.seed += number;
    return fault;
}

static uint32_t quota_of(const gn_switchd_config *c, uint32_t given)
{
    const uint32_t quarter = gn_switchd_places(c) / 4;
    return given ? given : quarter ? quarter : 1;
}

gn_status gn_switchd_reconfigure(gn_switchd *daemon, const gn_switchd_config *config, gn_error *error)
{
    gn_switchd_config *c = &daemon->config;
    const uint32_t quota = quota_of(c, config->quota);
    const bool in = !gn_fault_same(&c->in, &config->in), out = !gn_fault_same(&c->out, &config->out);
    if (quota > gn_switchd_places(c))
        return gn_fail(error, GN_INVALID, "quota %u: the running switch has only %u slots for jobs", quota,
                       gn_switchd_places(c));
    c->quota = quota;
    c->job_channels = config->job_channels;
    c->address_channels = config->address_channels;
    c->address_slots = config->address_slots;
    c->address_jobs = config->address_jobs;
    c->reserve = config->reserve;
    c->join_timeout_ns = config->join_timeout_ns;
    c->in = config->in;
    c->out = config->out;
    // To set a bad link anew would begin its random numbers anew.
    for (unsigned i = 0; i < daemon->shards && (in || out); i++) {
        const gn_fault_config link_in = fault_of(&c->in, 2 * i), link_out = fault_of(&c->out, 2 * i + 1);
        gn_shard_lock(daemon->shard[i]);
        if (in) gn_fault_set(daemon->shard[i]->in, &link_in);
        if (out) gn_fault_set(daemon->shard[i]->out, &link_out);
        gn_shard_unlock(daemon->shard[i]);
    }
    return GN_OK;
}

static gn_status open_shards(gn_switchd *daemon, gn_error *error)
{
    const gn_switchd_config *c = &daemon->config;
    if (check_memory(daemon, error)) return error->status;
    for (unsigned i = 0; i < c->shards; i++) {
        gn_shard_config shard = {.sw = gn_switchd_core(c),
                                 .engine = c->engine,
                                 .places = gn_switchd_places(c) / c->shards,
                                 .listen = daemon->listen,
                                 .channels = c->channels,
                                 .buffer_bytes = c->buffer_bytes,
                                 .no_offload = c->no_offload,
                                 .stop_event = daemon->stop_event,
                                 .stop = &daemon->stop};
        shard.listen.port = c->udp_first ? (uint16_t)(c->udp_first + i * c->channels) : 0;
        shard.in = fault_of(&c->in, 2 * i);
        shard.out = fault_of(&c->out, 2 * i + 1);
        if (!(daemon->shard[i] = gn_shard_new(&shard, error))) return error->status;
        daemon->shards++;
    }
    return GN_OK;
}

static gn_status open_all(gn_switchd *daemon, gn_error *error)
{
    gn_account account;
    uint8_t epoch[GN_GREETING_EPOCH];
    if (gn_secret_read(&daemon->secret, daemon->config.secret, error)) return error->status;
    if (getrandom(epoch, sizeof epoch, 0) != sizeof epoch)
        return gn_fail(error, GN_IO, "getrandom: %s", strerror(errno));
    gn_greeting_answer(&daemon->door, &daemon->secret, GN_GREETING_SWITCH, GN_GREETING_ANYBODY, epoch);
    if (gn_account_find(&account, daemon->config.user, error) || gn_switchd_find_above(daemon, error))
        return error->status;
    if (gn_switchd_check_above(daemon, error)) return error->status;
    if (gn_switchd_listen(daemon, error) || open_shards(daemon, error)) return error->status;
    const char *control = daemon->config.control;
    if (control && !(daemon->control = gn_control_open(control, &account, error))) return error->status;
    const gn_endpoint *metrics = &daemon->config.metrics;
    if (metrics->ip.version && !(daemon->metrics = gn_metrics_open(metrics, &gn_switchd_metrics, error)))
        return error->status;
    return gn_privilege_drop(&account, false, error);
}

/// Channels and children may need more than the usual 1024 files. @return how many there are
static uint64_t allow_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return UINT64_MAX;
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) ? before : limit.rlim_max;
}

/// A number for this process, not 0, that no other switch has.
static uint32_t draw_instance(void)
{
    uint32_t drawn = 0;
    while (!drawn) {
        if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) drawn = (uint32_t)(gn_now() ^ (uint64_t)getpid() << 16);
        drawn &= INT32_MAX;
    }
    return drawn;
}

gn_status gn_switchd_open(gn_switchd **out, const gn_switchd_config *config, gn_error *error)
{
    struct timespec now;
    gn_switchd *daemon = calloc(1, sizeof *daemon);
    if (!daemon) return gn_fail_memory(error);
    clock_gettime(CLOCK_REALTIME, &now);
    daemon->config = *config;
    if (!daemon->config.windows) daemon->config.windows = 4 * config->slots;
    if (!daemon->config.stuck_ns) daemon->config.stuck_ns = GN_SWITCHD_STUCK_S * GN_SECOND;
    if (!daemon->config.abandoned_ns) daemon->config.abandoned_ns = GN_SWITCHD_ABANDONED_S * GN_SECOND;
    daemon->config.quota = quota_of(&daemon->config, config->quota);
    daemon->listen = config->listen;
    if (!daemon->listen.ip.version) daemon->listen.ip.version = 4;
    daemon->opened = gn_now();
    // Generations begin with the time of the start, so a switch that starts again does not soon
    // repeat its last ones.
    daemon->next_gen = (uint16_t)now.tv_sec;
    daemon->next_job = (uint16_t)(now.tv_nsec >> 12);
    daemon->instance = draw_instance();
    daemon->listener = -1;
    gn_room_open(daemon, allow_files());
    daemon->stop_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (daemon->stop_event < 0) {
        gn_fail(error, GN_IO, "eventfd: %s", strerror(errno));
        free(daemon);
        return error->status;
    }
    const gn_status status = open_all(daemon, error);
    if (status) {
        gn_switchd_close(daemon);
        return status;
    }
    *out = daemon;
    return GN_OK;
}

void gn_switchd_close(gn_switchd *daemon)
{
    if (!daemon) return;
    gn_jobs_end_all(daemon, "the switch goes");
    for (unsigned i = 0; i < daemon->sessions; i++) gn_session_free(daemon->session[i]);
    for (unsigned i = 0; i < daemon->shards; i++) gn_shard_free(daemon->shard[i]);
    gn_metrics_close(daemon->metrics);
    gn_control_close(daemon->control);
    gn_lobby_close(&daemon->lobby);
    gn_close(&daemon->listener);
    gn_close(&daemon->stop_event);
    gn_secret_wipe(&daemon->secret);
    free(daemon);
}

static int shorter(int a, int b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

static void reload(gn_switchd *daemon)
{
    gn_notify(GN_NOTICE_RELOADING);
    daemon->config.reload(daemon->config.reload_context, daemon);
    gn_notify(GN_NOTICE_READY);
}

/// One round of the main thread. @return false: a signal has come, or it cannot wait any more
static bool serve_all(gn_switchd *daemon, int signals, struct pollfd *watched)
{
    const uint64_t now = gn_now(), jobs = gn_jobs_expire(daemon, now), lobby = gn_lobby_due(&daemon->lobby, now);
    const uint64_t log = gn_switchd_log_rest(daemon, now), due = lobby < log ? lobby : log;
    const unsigned sessions = daemon->sessions;
    watched[0] = (struct pollfd){.fd = signals, .events = POLLIN};
    watched[1] = (struct pollfd){.fd = gn_metrics_fd(daemon->metrics), .events = POLLIN};
    const int control = gn_control_prepare(daemon->control, watched + 2);
    for (unsigned i = 0; i < sessions; i++) watched[FIXED + i] = gn_framed_poll(daemon->session[i]->connection);
    struct pollfd *strangers = watched + FIXED + sessions;
    const unsigned all = FIXED + sessions + gn_lobby_poll(&daemon->lobby, strangers, now);
    if (gn_poll(watched, all, shorter(control, gn_ms_until(jobs < due ? jobs : due, now))) < 0) {
        if (errno != EINTR) daemon->failed = errno;
        return errno == EINTR;
    }
    gn_lobby_serve(&daemon->lobby, strangers);
    for (unsigned i = 0; i < sessions; i++) gn_switchd_serve(daemon, daemon->session[i], watched[FIXED + i].revents);
    gn_switchd_hear_strangers(daemon);
    gn_switchd_sweep(daemon);
    gn_room_tidy(daemon);
    gn_control_serve(daemon->control, watched + 2, gn_switchd_answer, daemon);
    if (watched[1].revents) gn_metrics_give(daemon->metrics, gn_switchd_stats(daemon));
    gn_switchd_accept(daemon);
    const gn_ending asked = signals < 0 ? GN_ENDING_NONE : gn_ending_next(signals, daemon->config.reload);
    if (asked == GN_ENDING_RELOAD) reload(daemon);
    return asked != GN_ENDING_NOW;
}

/// Tells everyone that the switch goes. Serves until all have heard it, but not for long.
static void say_goodbye(gn_switchd *daemon, struct pollfd *watched)
{
    gn_switchd_close_door(daemon);
    gn_jobs_end_all(daemon, "the switch was told to end");
    gn_switchd_send_away(daemon, "the switch was told to end");
    while (daemon->lobby.count && serve_all(daemon, -1, watched)) continue;
    (void)gn_switchd_log_rest(daemon, UINT64_MAX);
}

static void stop_shards(gn_switchd *daemon)
{
    const uint64_t one = 1;
    atomic_store(&daemon->stop, true);
    (void)!write(daemon->stop_event, &one, sizeof one);
    for (unsigned i = 0; i < daemon->started; i++) pthread_join(daemon->shard[i]->thread, NULL);
    daemon->started = 0;
}

/// What the engines have done, where that is not the core's business.
static gn_status end_engines(gn_switchd *daemon, gn_error *error)
{
    for (unsigned i = 0; i < daemon->shards; i++) {
        const gn_shard *shard = daemon->shard[i];
        char text[80];
        if (!shard->adds) continue;
        if (shard->engine_error.status)
            return gn_fail(error, shard->engine_error.status, "engine %s of shard %u has ended: %s",
                           shard->engine->name, i, shard->engine_error.text);
        shard->engine->describe(shard->adds, text, sizeof text);
        gn_switchd_log(daemon, GN_LOG_ITSELF, "engine %s of shard %u: %s", shard->engine->name, i, text);
    }
    return GN_OK;
}

static gn_status start_shards(gn_switchd *daemon, gn_error *error)
{
    for (; daemon->started < daemon->shards; daemon->started++) {
        gn_shard *shard = daemon->shard[daemon->started];
        const int failed = pthread_create(&shard->thread, NULL, gn_shard_thread, shard);
        if (failed) return gn_fail(error, GN_IO, "cannot start a thread: %s", strerror(failed));
    }
    return GN_OK;
}

static gn_status start_threads(gn_switchd *daemon, gn_error *error)
{
    char listen[GN_ENDPOINT_TEXT];
    if (daemon->metrics && gn_metrics_start(daemon->metrics, gn_switchd_address(daemon, listen), error))
        return error->status;
    return start_shards(daemon, error);
}

gn_status gn_switchd_run(gn_switchd *daemon, gn_error *error)
{
    struct pollfd *watched = calloc(WATCHED, sizeof *watched);
    const int signals = gn_ending_open();
    gn_status status;
    if (!watched || signals < 0) {
        status = gn_fail(error, GN_IO, "cannot wait for signals: %s", strerror(errno));
    } else if (!(status = start_threads(daemon, error))) {
        gn_notify(GN_NOTICE_READY);
        while (serve_all(daemon, signals, watched)) continue;
        gn_notify(GN_NOTICE_STOPPING);
        if (daemon->failed) status = gn_fail(error, GN_IO, "cannot wait for connections: %s", strerror(daemon->failed));
        say_goodbye(daemon, watched);
    }
    stop_shards(daemon);
    if (!status) status = end_engines(daemon, error);
    if (signals >= 0) close(signals);
    free(watched);
    return status;
}
