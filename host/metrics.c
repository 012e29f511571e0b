// SPDX-License-Identifier: Apache-2.0
// libmicrohttpd speaks HTTP. This thread runs it, so its callbacks need no lock among themselves.
// Its own timeout counts from the last byte, which a slow client can use to stay for ever. So this
// file keeps the time of each connection itself.
#include "host/metrics.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "net/clock.h"
#include "net/resolve.h"
#include "net/socket.h"
#include "net/tcp.h"

/// The library's limit. Those above GN_METRICS_CONNECTIONS have a moment to ask. New ones wait in
/// the kernel's queue meanwhile.
enum { PLACES = 2 * GN_METRICS_CONNECTIONS };

typedef struct visitor {
    int fd;          ///< -1: a free place
    uint64_t since;  ///< gn_now()
    bool asked;      ///< has sent a whole request
    bool cut;        ///< was hung up on
} visitor;

struct gn_metrics {
    const gn_metric_set *set;
    gn_endpoint at;
    int listener, stop, wanted;
    pthread_t thread;
    bool started;
    // The thread's own.
    struct MHD_Daemon *http;
    char *value;
    visitor visitors[PLACES];
    bool left;  ///< somebody has
    json_t *picture;
    uint64_t pictured;  ///< gn_now(); 0: never
    struct MHD_Response *answers[GN_METRICS_FORMATS];
    // What both threads share.
    pthread_mutex_t lock;
    pthread_cond_t given;
    bool is_given;
    json_t *gift;
};

gn_status gn_metrics_parse(const char *text, gn_endpoint *at, gn_error *error)
{
    char host[GN_HOST_TEXT] = "127.0.0.1";
    uint16_t port;
    if (*text != ':') {
        if (gn_host_and_port_parse(text, host, &port, error))
            return gn_fail(error, GN_INVALID, "'%.80s' is not ADDRESS:PORT (127.0.0.1:9464, [::1]:9464, :9464)", text);
    } else if (!gn_port_parse(text + 1, &port)) {
        return gn_fail(error, GN_INVALID, "'%.80s': port is not a number from 1 to 65535", text);
    }
    return gn_resolve(host, port, at, error);
}

static void signal_fd(int fd)
{
    const uint64_t one = 1;
    (void)!write(fd, &one, sizeof one);
}

static void clear_fd(int fd)
{
    uint64_t count;
    (void)!read(fd, &count, sizeof count);
}

/// Asks the main thread for a picture, and waits for it, but not for ever.
static void take_picture(gn_metrics *m)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += GN_METRICS_PATIENCE_MS / 1000;
    pthread_mutex_lock(&m->lock);
    json_decref(m->gift);  // one that came too late
    m->gift = NULL;
    m->is_given = false;
    signal_fd(m->wanted);
    int late = 0;
    while (!m->is_given && !late) late = pthread_cond_timedwait(&m->given, &m->lock, &until);
    json_decref(m->picture);
    m->picture = m->gift;
    m->gift = NULL;
    pthread_mutex_unlock(&m->lock);
    m->pictured = gn_now();
    for (int f = 0; f < GN_METRICS_FORMATS; f++) {
        if (m->answers[f]) MHD_destroy_response(m->answers[f]);
        m->answers[f] = NULL;
    }
}

static struct MHD_Response *text_response(char *text, enum MHD_ResponseMemoryMode mode, const char *type)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(strlen(text), text, mode);
    if (!r) return NULL;
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    // One request a connection: so the limit of a connection's life is that of a request.
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
    return r;
}

/// The counters in one format; those who ask soon after one another get the same. NULL: not to be
/// had
static struct MHD_Response *counters(gn_metrics *m, gn_metrics_format format)
{
    static const char *const types[GN_METRICS_FORMATS] = {"text/plain; version=0.0.4; charset=utf-8",
                                                          "application/openmetrics-text; version=1.0.0; charset=utf-8"};
    const uint64_t now = gn_now();
    if (!m->pictured || now - m->pictured >= GN_METRICS_AGE_MS * GN_MILLISECOND) take_picture(m);
    if (m->answers[format] || !m->picture) return m->answers[format];
    char *text = gn_prometheus(json_incref(m->picture), m->set, m->value, format);
    if (!text) return NULL;
    m->answers[format] = text_response(text, MHD_RESPMEM_MUST_FREE, types[format]);
    if (!m->answers[format]) free(text);
    return m->answers[format];
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *words)
{
    struct MHD_Response *r =
        text_response((char *)(uintptr_t)words, MHD_RESPMEM_PERSISTENT, "text/plain; charset=utf-8");
    if (!r) return MHD_NO;
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    const enum MHD_Result done = MHD_queue_response(connection, status, r);
    MHD_destroy_response(r);
    return done;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *body, size_t *body_length, void **request)
{
    gn_metrics *m = context;
    (void)version, (void)body, (void)body_length, (void)request;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (info && info->socket_context) ((visitor *)info->socket_context)->asked = true;
    if (strcmp(url, "/metrics") != 0) return refuse(connection, MHD_HTTP_NOT_FOUND, "only /metrics is here\n");
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    struct MHD_Response *r = counters(
        m, gn_metrics_accepted(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT)));
    if (!r) return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "the counters cannot be had now\n");
    return MHD_queue_response(connection, MHD_HTTP_OK, r);
}

static void hang_up(visitor *v)
{
    v->cut = true;
    (void)shutdown(v->fd, SHUT_RDWR);  // the library sees it and closes
}

/// The oldest that has not asked, or else the oldest, when there are too many. NULL: there are not
static visitor *too_many(gn_metrics *m)
{
    visitor *oldest = NULL;
    unsigned count = 0;
    for (unsigned i = 0; i < PLACES; i++) {
        visitor *v = &m->visitors[i];
        if (v->fd < 0 || v->cut) continue;
        count++;
        if (!oldest || v->asked < oldest->asked || (v->asked == oldest->asked && v->since < oldest->since)) oldest = v;
    }
    return count > GN_METRICS_CONNECTIONS ? oldest : NULL;
}

/// Where there are too many, some give way. As in a lobby, each has had a moment to ask, and
/// was read after that. `read_at`: when all were last read. @return when the next may give way
static uint64_t make_room(gn_metrics *m, uint64_t read_at)
{
    visitor *v;
    while ((v = too_many(m)) && v->since + GN_METRICS_GRACE_MS * GN_MILLISECOND <= read_at) hang_up(v);
    return v ? v->since + GN_METRICS_GRACE_MS * GN_MILLISECOND : GN_FOREVER;
}

static void come_and_go(void *context, struct MHD_Connection *connection, void **mine,
                        enum MHD_ConnectionNotificationCode what)
{
    gn_metrics *m = context;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*mine) *(visitor *)*mine = (visitor){.fd = -1};
        *mine = NULL;
        m->left = true;
        return;
    }
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    for (unsigned i = 0; i < PLACES && !*mine && info; i++) {
        if (m->visitors[i].fd >= 0) continue;
        m->visitors[i] = (visitor){.fd = info->connect_fd, .since = gn_now()};
        *mine = &m->visitors[i];
    }
}

/// Hangs up on those whose time is over. @return milliseconds until the next; -1: nobody is there
static int sweep(gn_metrics *m, uint64_t read_at)
{
    const uint64_t now = gn_now();
    uint64_t first = make_room(m, read_at);
    for (unsigned i = 0; i < PLACES; i++) {
        visitor *v = &m->visitors[i];
        if (v->fd < 0 || v->cut) continue;
        const uint64_t end = v->since + GN_METRICS_LIFE_MS * GN_MILLISECOND;
        if (end <= now)
            hang_up(v);
        else if (end < first)
            first = end;
    }
    return gn_ms_until(first, now);
}

static void *serve(void *context)
{
    gn_metrics *m = context;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(m->http, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd watched[2] = {{.fd = m->stop, .events = POLLIN}, {.fd = info->epoll_fd, .events = POLLIN}};
    uint64_t read_at = 0;
    while (!watched[0].revents) {
        MHD_UNSIGNED_LONG_LONG its = 0;
        int timeout = sweep(m, read_at);
        if (MHD_get_timeout(m->http, &its) == MHD_YES && (timeout < 0 || its < (unsigned)timeout)) timeout = (int)its;
        if (poll(watched, 2, timeout) < 0 && errno != EINTR) break;
        read_at = gn_now();
        (void)MHD_run(m->http);
        if (m->left) (void)MHD_run(m->http);  // only at its start it sees that new ones may come in
        m->left = false;
    }
    return NULL;
}

gn_metrics *gn_metrics_open(const gn_endpoint *at, const gn_metric_set *set, gn_error *error)
{
    char text[GN_ENDPOINT_TEXT];
    pthread_condattr_t clock;
    gn_metrics *m = calloc(1, sizeof *m);
    if (!m) {
        gn_fail_memory(error);
        return NULL;
    }
    m->set = set;
    m->at = *at;
    for (unsigned i = 0; i < PLACES; i++) m->visitors[i].fd = -1;
    pthread_mutex_init(&m->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&m->given, &clock);
    pthread_condattr_destroy(&clock);
    m->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    m->wanted = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    m->listener = gn_tcp_listen(&m->at, false, 0);
    if (m->listener >= 0 && m->stop >= 0 && m->wanted >= 0) return m;
    gn_fail(error, GN_IO, "--metrics: cannot listen at %s: %s", gn_endpoint_format(at, text), strerror(errno));
    gn_metrics_close(m);
    return NULL;
}

gn_status gn_metrics_start(gn_metrics *m, const char *value, gn_error *error)
{
    if (!(m->value = strdup(value))) return gn_fail_memory(error);
    const unsigned flags = MHD_USE_EPOLL | (m->at.ip.version == 6 ? MHD_USE_IPv6 : 0);
    m->http = MHD_start_daemon(flags, 0, NULL, NULL, answer, m, MHD_OPTION_LISTEN_SOCKET, m->listener,
                               MHD_OPTION_CONNECTION_LIMIT, (unsigned)PLACES, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                               (size_t)GN_METRICS_HEADER, MHD_OPTION_NOTIFY_CONNECTION, come_and_go, m, MHD_OPTION_END);
    if (!m->http) return gn_fail(error, GN_IO, "--metrics: the HTTP server does not start");
    m->listener = -1;  // the library closes it
    const int failed = pthread_create(&m->thread, NULL, serve, m);
    if (failed) return gn_fail(error, GN_IO, "cannot start a thread: %s", strerror(failed));
    m->started = true;
    return GN_OK;
}

void gn_metrics_close(gn_metrics *m)
{
    if (!m) return;
    if (m->started) {
        gn_metrics_give(m, NULL);  // it may be waiting
        signal_fd(m->stop);
        pthread_join(m->thread, NULL);
    }
    if (m->http) MHD_stop_daemon(m->http);
    for (int f = 0; f < GN_METRICS_FORMATS; f++)
        if (m->answers[f]) MHD_destroy_response(m->answers[f]);
    gn_close(&m->listener);
    gn_close(&m->stop);
    gn_close(&m->wanted);
    json_decref(m->picture);
    json_decref(m->gift);
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->given);
    free(m->value);
    free(m);
}

int gn_metrics_fd(const gn_metrics *m)
{
    return m ? m->wanted : -1;
}

void gn_metrics_give(gn_metrics *m, json_t *stats)
{
    clear_fd(m->wanted);
    pthread_mutex_lock(&m->lock);
    json_decref(m->gift);
    m->gift = stats;
    m->is_given = true;
    pthread_cond_signal(&m->given);
    pthread_mutex_unlock(&m->lock);
}
