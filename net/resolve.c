// SPDX-License-Identifier: Apache-2.0
// getaddrinfo() knows no deadline, so a thread calls it. Who gives up leaves the thread behind: the
// thread frees what both had.
#include "net/resolve.h"

#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net/clock.h"
#include "net/interface.h"
#include "net/tcp.h"

typedef struct search {
    char host[GN_HOST_TEXT], service[8];
    int family;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool done, abandoned;
    int failed;
    struct addrinfo *list;
} search;

static void free_search(search *s)
{
    if (s->list) freeaddrinfo(s->list);
    pthread_cond_destroy(&s->change);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static int look_up(search *s, int flags)
{
    const struct addrinfo hints = {.ai_family = s->family, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
    return getaddrinfo(s->host, s->service, &hints, &s->list);
}

static void *look_up_slowly(void *context)
{
    search *s = context;
    const int failed = look_up(s, AI_NUMERICSERV);
    pthread_mutex_lock(&s->lock);
    s->failed = failed;
    s->done = true;
    const bool abandoned = s->abandoned;
    pthread_cond_signal(&s->change);
    pthread_mutex_unlock(&s->lock);
    if (abandoned) free_search(s);
    return NULL;
}

static search *new_search(const char *host, uint16_t port, int family)
{
    pthread_condattr_t clock;
    search *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    snprintf(s->host, sizeof s->host, "%s", host);
    snprintf(s->service, sizeof s->service, "%u", port);
    s->family = family;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&s->change, &clock);
    pthread_condattr_destroy(&clock);
    return s;
}

/// The thread gets no signal: a handler of the program would not expect to run there.
static int start(search *s, pthread_t *thread)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(thread, NULL, look_up_slowly, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

/// @return false: it took too long, and `s` is the thread's now
static bool wait_for(search *s)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += GN_RESOLVE_SECONDS;
    pthread_mutex_lock(&s->lock);
    int late = 0;
    while (!s->done && !late) late = pthread_cond_timedwait(&s->change, &s->lock, &until);
    const bool done = s->done;
    s->abandoned = !done;
    pthread_mutex_unlock(&s->lock);
    return done;
}

static bool has(const gn_addresses *found, const gn_endpoint *one)
{
    for (unsigned i = 0; i < found->count; i++)
        if (!gn_ip_compare(&found->at[i].ip, &one->ip) && found->at[i].scope == one->scope) return true;
    return false;
}

static void take(const struct addrinfo *list, gn_addresses *found)
{
    for (found->count = 0; list && found->count < GN_ADDRESSES_MAX; list = list->ai_next) {
        struct sockaddr_storage address = {0};
        memcpy(&address, list->ai_addr, list->ai_addrlen);
        const gn_endpoint one = gn_endpoint_from_sockaddr(&address);
        if (one.ip.version && !has(found, &one)) found->at[found->count++] = one;
    }
}

gn_status gn_resolve_all(const char *host, uint16_t port, int family, gn_addresses *found, gn_error *error)
{
    pthread_t thread;
    search *s = new_search(host, port, family);
    if (!s) return gn_fail_memory(error);
    s->failed = look_up(s, AI_NUMERICSERV | AI_NUMERICHOST);
    if (s->failed == EAI_NONAME) {
        if (start(s, &thread)) {
            s->failed = look_up(s, AI_NUMERICSERV);  // no thread to be had: without a deadline
        } else if (wait_for(s)) {
            pthread_join(thread, NULL);
        } else {
            pthread_detach(thread);
            return gn_fail(error, GN_TIMEOUT, "host '%s': no answer from the name servers within %d s", host,
                           GN_RESOLVE_SECONDS);
        }
    }
    if (!s->failed) take(s->list, found);
    const int failed = s->failed;
    const bool none = !failed && !found->count;
    free_search(s);
    // EAI_AGAIN: no name server has answered. Such a name may be right.
    if (failed)
        return gn_fail(error, failed == EAI_AGAIN ? GN_IO : GN_INVALID, "host '%s': %s", host, gai_strerror(failed));
    return none ? gn_fail(error, GN_INVALID, "host '%s': no address", host) : GN_OK;
}

gn_status gn_resolve(const char *host, uint16_t port, gn_endpoint *endpoint, gn_error *error)
{
    gn_addresses found;
    const gn_status wrong = gn_resolve_all(host, port, AF_UNSPEC, &found, error);
    if (!wrong) *endpoint = found.at[0];
    return wrong;
}

static bool answers(const gn_endpoint *to)
{
    int fd = gn_tcp_connect(to, NULL, 0);
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    const bool fine = fd >= 0 && poll(&p, 1, 1000) == 1 && !gn_socket_connected(fd);
    gn_close(&fd);
    return fine;
}

gn_status gn_resolve_answering(const char *host, uint16_t port, gn_endpoint *endpoint, gn_error *error)
{
    gn_addresses found;
    const gn_status wrong = gn_resolve_all(host, port, AF_UNSPEC, &found, error);
    if (wrong) return wrong;
    unsigned i = 0;
    while (found.count > 1 && i < found.count && !answers(&found.at[i])) i++;
    *endpoint = found.at[i < found.count ? i : 0];
    return GN_OK;
}

static bool can_bind(const gn_ip *ip, uint32_t scope)
{
    const gn_endpoint own = {.ip = *ip, .scope = scope};
    int fd = socket(gn_ip_family(ip), SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool fine = fd >= 0 && !gn_socket_bind(fd, &own);
    gn_close(&fd);
    return fine;
}

/// Whether the kernel sends from the address to itself.
static bool sends_from(const gn_endpoint *endpoint)
{
    gn_endpoint from;
    gn_error ignored;
    return !gn_interface_select(NULL, endpoint, &from, &ignored) && !gn_ip_compare(&from.ip, &endpoint->ip);
}

bool gn_endpoint_is_own(const gn_endpoint *endpoint)
{
    // Nobody's: reserved, and to be discarded (RFC 6666). With net.ipv4.ip_nonlocal_bind a socket
    // can be bound to these as well, and that says nothing.
    static const gn_ip nobodys[2] = {{.version = 4, .bytes = {240, 0, 0, 1}}, {.version = 6, .bytes = {1}}};
    const gn_ip *ip = &endpoint->ip;
    return can_bind(ip, endpoint->scope) && (!can_bind(&nobodys[ip->version == 6], 0) || gn_ip_is_loopback(ip) ||
                                             gn_ip_is_any(ip) || sends_from(endpoint));
}

bool gn_endpoint_leads_to(const gn_endpoint *to, const gn_endpoint *at)
{
    static const gn_ip loopback[2] = {{.version = 4, .bytes = {127, 0, 0, 1}}, {.version = 6, .bytes = {[15] = 1}}};
    gn_endpoint there = *to;
    if (to->port != at->port) return false;
    if (to->scope && at->scope && to->scope != at->scope) return false;   // each link has an fe80:: of its own
    if (gn_ip_is_any(&to->ip)) there.ip = loopback[to->ip.version == 6];  // as the kernel does
    if (!gn_ip_is_any(&at->ip)) return !gn_ip_compare(&there.ip, &at->ip);
    return (at->ip.version == 6 || there.ip.version == 4) && gn_endpoint_is_own(&there);
}

bool gn_name_parse(const char *text, char host[GN_HOST_TEXT], uint16_t *port)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const size_t length = strcspn(text, ":");
    if (!length || length >= GN_HOST_TEXT) return false;
    memcpy(host, text, length);
    host[length] = 0;
    *port = GN_PORT_DEFAULT;
    if (strcspn(host, letters) == length) return false;
    for (const char *c = host; *c; c++)
        if (!strchr(letters, *c) && !strchr("0123456789-_.", *c)) return false;
    return !text[length] || gn_port_parse(text + length + 1, port);
}

gn_status gn_resolve_own(const char *text, gn_endpoint *endpoint, gn_error *error)
{
    char host[GN_HOST_TEXT];
    uint16_t port;
    gn_addresses found;
    if (!gn_name_parse(text, host, &port)) {
        if (gn_endpoint_parse(text, endpoint, error)) return error->status;
        return gn_ip_is_multicast(&endpoint->ip)
                   ? gn_fail(error, GN_INVALID, "'%s' is for many hosts: give an address of this one", text)
                   : GN_OK;
    }
    const gn_status wrong = gn_resolve_all(host, port, AF_UNSPEC, &found, error);
    if (wrong) return wrong;
    // Debian's /etc/hosts has 127.0.1.1 for a host's name. That is of no use for others.
    bool is_own = false;
    for (unsigned i = 0; i < found.count; i++) {
        if ((is_own && gn_ip_is_loopback(&found.at[i].ip)) || !gn_endpoint_is_own(&found.at[i])) continue;
        is_own = true;
        *endpoint = found.at[i];
        if (!gn_ip_is_loopback(&endpoint->ip)) break;
    }
    if (is_own) return GN_OK;
    char first[GN_ENDPOINT_TEXT];
    found.at[0].port = 0;
    return gn_fail(error, GN_INVALID, "host '%s' is not this one: it has no address %s%s", host,
                   gn_endpoint_format(&found.at[0], first), found.count > 1 ? ", nor another of that name" : "");
}
