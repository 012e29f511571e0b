// SPDX-License-Identifier: Apache-2.0
// Opening, the main thread's loop, closing.
#include "switch/daemon/switchd.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/control.h"
#include "host/ending.h"
#include "host/memory.h"
#include "host/privilege.h"
#include "switch/daemon/jobs.h"

enum { BACKLOG = 256, FIXED = 2 + GN_CONTROL_POLL, SLOW_MIB = 1024 };

void gn_switchd_log(const gn_switchd *daemon, const char *format, ...)
{
    char text[400];
    if (!daemon->config.log) return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    daemon->config.log(daemon->config.log_context, text);
}

const char *gn_switchd_address(const gn_switchd *daemon, char *text)
{
    return gn_endpoint_format(&daemon->listen, text);
}

bool gn_switchd_adopt(gn_switchd *daemon, gn_session *session)
{
    const bool fits = daemon->sessions < GN_SESSIONS_MAX;
    if (fits)
        daemon->session[daemon->sessions++] = session;
    else
        gn_session_free(session);
    return fits;
}

static gn_status listen_tcp(gn_switchd *daemon, gn_error *error)
{
    struct sockaddr_storage address;
    char text[GN_ENDPOINT_TEXT];
    const int on = 1, off = 0, family = daemon->listen.ip.version == 4 ? AF_INET : AF_INET6;
    socklen_t length = gn_endpoint_to_sockaddr(&daemon->listen, family, &address);
    daemon->listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (daemon->listener < 0) return gn_fail(error, GN_IO, "TCP socket: %s", strerror(errno));
    (void)setsockopt(daemon->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (family == AF_INET6) (void)setsockopt(daemon->listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(daemon->listener, (struct sockaddr *)&address, length) || listen(daemon->listener, BACKLOG))
        return gn_fail(error, GN_IO, "cannot listen on TCP %s: %s", gn_endpoint_format(&daemon->listen, text),
                       strerror(errno));
    length = sizeof address;
    if (!getsockname(daemon->listener, (struct sockaddr *)&address, &length))
        daemon->listen.port = gn_endpoint_from_sockaddr(&address).port;
    return GN_OK;
}

/// The core of one shard. That of a parameter server adds nothing itself.
static gn_switch_config core_of(const gn_switchd_config *c)
{
    return (gn_switch_config){.slots = c->role == GN_SWITCHD_PS ? 1 : c->slots / c->shards,
                              .slot_values = c->slot_values,
                              .jobs = (uint16_t)c->streams,
                              .mode = c->mode,
                              .windows = c->mode == GN_PARTITIONED ? 0 : gn_switchd_places(c) / c->shards};
}

uint64_t gn_switchd_memory(const gn_switchd_config *config)
{
    const gn_switch_config core = core_of(config);
    if (config->role == GN_SWITCHD_PS) return 2 * sizeof(int32_t) * (uint64_t)config->slots * config->slot_values;
    return (uint64_t)config->shards * gn_switch_bytes(&core);
}

/// Slots are touched when they are made: too many would push out what else runs here, or end this process with no word.
static gn_status check_memory(const gn_switchd *daemon, gn_error *error)
{
    const gn_switchd_config *c = &daemon->config;
    const uint64_t needed = gn_switchd_memory(c) >> 20,
                   available = (c->memory ? c->memory : gn_memory_available("")) >> 20;
    if (needed <= available && c->role != GN_SWITCHD_PS && needed >= SLOW_MIB)
        gn_switchd_log(daemon, "taking %" PRIu64 " MiB of memory for slots", needed);
    if (needed <= available) return GN_OK;
    return gn_fail(error, GN_INVALID,
                   "%u slot%s of %u value%s need%s %" PRIu64 " MiB of memory, and %" PRIu64
                   " MiB are available (--slots, --values%s)",
                   c->slots, c->slots == 1 ? "" : "s", c->slot_values, c->slot_values == 1 ? "" : "s",
                   c->slots == 1 ? "s" : "", needed, available, c->mode == GN_PARTITIONED ? "" : ", --windows");
}

static gn_status open_shards(gn_switchd *daemon, gn_error *error)
{
    const gn_switchd_config *c = &daemon->config;
    if (check_memory(daemon, error)) return error->status;
    for (unsigned i = 0; i < c->shards; i++) {
        gn_shard_config shard = {.sw = core_of(c),
                                 .places = gn_switchd_places(c) / c->shards,
                                 .listen = daemon->listen,
                                 .streams = c->streams,
                                 .buffer_bytes = c->buffer_bytes,
                                 .no_offload = c->no_offload,
                                 .in = c->in,
                                 .out = c->out,
                                 .stop_event = daemon->stop_event,
                                 .stop = &daemon->stop};
        shard.listen.port = c->udp_first ? (uint16_t)(c->udp_first + i * c->streams) : 0;
        shard.in.seed += 2 * (uint64_t)i;
        shard.out.seed += 2 * (uint64_t)i + 1;
        if (!(daemon->shard[i] = gn_shard_new(&shard, error))) return error->status;
        daemon->shards++;
    }
    return GN_OK;
}

static gn_status open_all(gn_switchd *daemon, gn_error *error)
{
    gn_account account;
    if (gn_account_find(&account, daemon->config.user, error) || gn_switchd_find_above(daemon, error))
        return error->status;
    if (gn_switchd_check_above(daemon, error)) return error->status;
    if (listen_tcp(daemon, error) || open_shards(daemon, error)) return error->status;
    const char *control = daemon->config.control;
    if (control && !(daemon->control = gn_control_open(control, &account, error))) return error->status;
    return gn_privilege_drop(&account, false, error);
}

// Streams and children may be more than the usual 1024 files.
static void allow_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/// Not 0, and other than any other switch's.
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
    if (!daemon->config.stuck_ns) daemon->config.stuck_ns = GN_SWITCHD_STUCK_S * UINT64_C(1000000000);
    if (!daemon->config.abandoned_ns) daemon->config.abandoned_ns = GN_SWITCHD_ABANDONED_S * UINT64_C(1000000000);
    const uint32_t all = gn_switchd_places(&daemon->config);
    if (!daemon->config.quota) daemon->config.quota = all / 4 ? all / 4 : 1;
    daemon->listen = config->listen;
    if (!daemon->listen.ip.version) daemon->listen.ip.version = 4;
    daemon->opened = (uint64_t)now.tv_sec;
    // A switch that starts again gives none of its last generations soon: they began with its own start.
    daemon->next_gen = (uint16_t)now.tv_sec;
    daemon->next_job = (uint16_t)(now.tv_nsec >> 12);
    daemon->instance = draw_instance();
    daemon->listener = -1;
    allow_files();
    daemon->stop_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (daemon->stop_event < 0) {
        free(daemon);
        return gn_fail(error, GN_IO, "eventfd: %s", strerror(errno));
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
    gn_control_close(daemon->control);
    if (daemon->listener >= 0) close(daemon->listener);
    close(daemon->stop_event);
    free(daemon);
}

/// Room for one more child, if need be that of who has connected and asked for nothing for longest. @return false: all came just now, or take part
static bool make_room(gn_switchd *daemon)
{
    unsigned oldest = daemon->sessions;
    if (daemon->sessions < GN_SESSIONS_MAX - GN_SESSIONS_UPWARD) return true;
    for (unsigned i = 0; i < daemon->sessions; i++) {
        const gn_session *session = daemon->session[i];
        if (session->job || session->upward) continue;
        if (oldest == daemon->sessions || session->deadline < daemon->session[oldest]->deadline) oldest = i;
    }
    if (oldest == daemon->sessions) return false;
    const uint64_t ms = 1000000, age = gn_now() + GN_SESSION_HELLO_MS * ms - daemon->session[oldest]->deadline;
    if (age < GN_SESSIONS_STRANGER_MS * ms) return false;
    daemon->refused++;
    gn_session_free(daemon->session[oldest]);
    daemon->session[oldest] = daemon->session[--daemon->sessions];
    return true;
}

static void accept_children(gn_switchd *daemon)
{
    for (int i = 0; i < BACKLOG; i++) {
        const bool room = make_room(daemon);
        const int fd = room ? accept4(daemon->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
        if (!room || (fd < 0 && (errno == EMFILE || errno == ENFILE)))
            daemon->full_until = gn_now() + GN_SESSIONS_STRANGER_MS * UINT64_C(1000000);
        if (fd < 0) return;
        gn_session *session = gn_session_accepted(fd);
        if (session) (void)gn_switchd_adopt(daemon, session);
    }
}

static void answer_ping(gn_switchd *daemon, gn_session *session)
{
    gn_admission pong = {.type = GN_ADMISSION_PONG};
    if (session->job) gn_job_waits_for(daemon, session->job, pong.text);
    gn_session_send(session, &pong);
}

static void child_says(gn_switchd *daemon, gn_session *session, const gn_admission *frame)
{
    if (frame->type == GN_ADMISSION_PING)
        answer_ping(daemon, session);
    else if (frame->type == GN_ADMISSION_JOIN && !session->job)
        gn_jobs_join(daemon, session, &frame->join);
    else if (frame->type == GN_ADMISSION_GONE && session->job)
        gn_jobs_child_gone(daemon, session, frame->text);
    else if (frame->type == GN_ADMISSION_LEAVE && session->job)
        session->leaves = true;
    else
        gn_session_close(session, "sent a frame that is not a child's");
}

static void hear(gn_switchd *daemon, gn_session *session)
{
    gn_admission frame;
    const char *wrong;
    int got = 0;
    while (session->state == GN_SESSION_OPEN && (got = gn_session_next(session, &frame, &wrong)) > 0) {
        if (!session->upward)
            child_says(daemon, session, &frame);
        else if (session->job)
            gn_jobs_above_says(daemon, session, &frame);
    }
    if (session->state != GN_SESSION_OPEN || got >= 0) return;
    char fault[GN_ADMISSION_FAULT];
    gn_admission_fault(session->in, session->in_bytes, fault);
    if (session->job || session->upward) {
        gn_session_close(session, fault);
        return;
    }
    daemon->refused++;
    // Of who does not speak the protocol at all there may be many: they are only counted.
    if (strcmp(wrong, "magic") != 0) gn_switchd_log(daemon, "%s was refused: it %s", session->name, fault);
    gn_session_end(session, GN_ADMISSION_REFUSED, fault);
}

static void serve_session(gn_switchd *daemon, gn_session *session, short events, uint64_t now)
{
    const bool connecting = session->state == GN_SESSION_CONNECTING;
    gn_session_serve(session, events);
    if (connecting && session->state == GN_SESSION_OPEN && session->job) gn_jobs_ask_above(daemon, session);
    hear(daemon, session);
    if (session->deadline && session->deadline <= now && session->state != GN_SESSION_CLOSED)
        gn_session_close(session, NULL);
    if (session->state == GN_SESSION_CLOSED && session->job) gn_jobs_lost(daemon, session);
}

static void sweep(gn_switchd *daemon)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < daemon->sessions; i++) {
        gn_session *session = daemon->session[i];
        if (session->state == GN_SESSION_CLOSED) {
            if (session->job) gn_jobs_lost(daemon, session);
            gn_session_free(session);
        } else {
            daemon->session[kept++] = session;
        }
    }
    daemon->sessions = kept;
}

static int milliseconds_until(uint64_t instant, uint64_t now)
{
    if (instant == UINT64_MAX) return -1;
    const uint64_t ms = instant <= now ? 0 : (instant - now) / 1000000 + 1;
    return ms > 60000 ? 60000 : (int)ms;
}

static int shorter(int a, int b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

/// One round. @return false: a signal has come
static bool serve(gn_switchd *daemon, int signals, struct pollfd *watched)
{
    const uint64_t before = gn_now();
    uint64_t first = gn_jobs_expire(daemon, before);
    const unsigned sessions = daemon->sessions;
    watched[0] = (struct pollfd){.fd = signals, .events = POLLIN};
    const bool full = before < daemon->full_until;  // whoever knocks has to wait
    if (full && daemon->full_until < first) first = daemon->full_until;
    watched[1] = (struct pollfd){.fd = full ? -1 : daemon->listener, .events = POLLIN};
    const int control = gn_control_prepare(daemon->control, watched + 2);
    for (unsigned i = 0; i < sessions; i++) {
        const gn_session *session = daemon->session[i];
        watched[FIXED + i] = (struct pollfd){.fd = session->fd, .events = gn_session_events(session)};
        if (session->deadline && session->deadline < first) first = session->deadline;
    }
    if (poll(watched, FIXED + sessions, shorter(control, milliseconds_until(first, before))) < 0) return errno == EINTR;
    const uint64_t now = gn_now();
    for (unsigned i = 0; i < sessions; i++) serve_session(daemon, daemon->session[i], watched[FIXED + i].revents, now);
    sweep(daemon);
    gn_control_serve(daemon->control, watched + 2, gn_switchd_answer, daemon);
    if (watched[1].revents) accept_children(daemon);
    return !watched[0].revents;
}

/// Until everyone has heard it, but not for long.
static void say_goodbye(gn_switchd *daemon, struct pollfd *watched)
{
    close(daemon->listener);
    daemon->listener = -1;
    gn_jobs_end_all(daemon, "the switch was told to end");
    for (unsigned i = 0; i < daemon->sessions; i++)
        if (daemon->session[i]->state == GN_SESSION_OPEN)
            gn_session_end(daemon->session[i], GN_ADMISSION_GONE, "the switch was told to end");
    while (daemon->sessions && serve(daemon, -1, watched)) continue;
}

static void stop_shards(gn_switchd *daemon)
{
    const uint64_t one = 1;
    atomic_store(&daemon->stop, true);
    (void)!write(daemon->stop_event, &one, sizeof one);
    for (unsigned i = 0; i < daemon->started; i++) pthread_join(daemon->shard[i]->thread, NULL);
    daemon->started = 0;
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

gn_status gn_switchd_run(gn_switchd *daemon, gn_error *error)
{
    struct pollfd *watched = calloc(FIXED + GN_SESSIONS_MAX, sizeof *watched);
    const int signals = gn_ending_open();
    gn_status status;
    if (!watched || signals < 0) {
        status = gn_fail(error, GN_IO, "cannot wait for signals: %s", strerror(errno));
    } else if (!(status = start_shards(daemon, error))) {
        while (serve(daemon, signals, watched)) continue;
        say_goodbye(daemon, watched);
    }
    stop_shards(daemon);
    if (signals >= 0) close(signals);
    free(watched);
    return status;
}
