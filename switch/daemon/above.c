// SPDX-License-Identifier: Apache-2.0
// What is above this switch: its parent, or its parameter server.
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "switch/daemon/private.h"

const char *gn_switchd_above(const gn_switchd *daemon)
{
    return daemon->config.ps ? "parameter server" : "parent switch";
}

const char *gn_switchd_above_option(const gn_switchd *daemon)
{
    return daemon->config.ps ? "--ps" : "--parent";
}

const char *gn_switchd_above_text(const gn_switchd *daemon)
{
    return daemon->config.ps ? daemon->config.ps : daemon->config.parent;
}

gn_status gn_switchd_host_port(const char *text, char *host, const char **port, gn_error *error)
{
    const char *colon = strrchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : 0;
    if (!length || length >= GN_SWITCHD_HOST) return gn_fail(error, GN_INVALID, "'%s': HOST:PORT is needed", text);
    const bool bracketed = length > 2 && *text == '[' && text[length - 1] == ']';
    if (!bracketed && memchr(text, ':', length))
        return gn_fail(error, GN_INVALID, "'%s': write an IPv6 address as [ADDRESS]:PORT", text);
    *port = colon + 1;
    const unsigned long number = strtoul(*port, NULL, 10);
    if (strspn(*port, "0123456789") != strlen(*port) || !number || number > 65535)
        return gn_fail(error, GN_INVALID, "'%s': port is not a number from 1 to 65535", text);
    snprintf(host, GN_SWITCHD_HOST, "%.*s", (int)(bracketed ? length - 2 : length), text + bracketed);
    return GN_OK;
}

gn_status gn_switchd_find_above(gn_switchd *daemon, gn_error *error)
{
    const char *text = gn_switchd_above_text(daemon), *port = NULL;
    char host[GN_SWITCHD_HOST];
    if (!text) return GN_OK;
    if (gn_switchd_host_port(text, host, &port, error)) return error->status;
    const struct addrinfo hints = {.ai_family = daemon->listen.ip.version == 4 ? AF_INET : AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    const int status = getaddrinfo(host, port, &hints, &found);
    if (status) return gn_fail(error, GN_IO, "%s %s: %s", gn_switchd_above_option(daemon), text, gai_strerror(status));
    struct sockaddr_storage address = {0};
    memcpy(&address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    daemon->above = gn_endpoint_from_sockaddr(&address);
    return GN_OK;
}

static bool is_any(const gn_ip *ip)
{
    return !gn_ip_compare(ip, &(gn_ip){.version = ip->version});
}

/// Whether an address is this host's: only such a one can be bound to.
static bool is_own(const gn_endpoint *endpoint)
{
    struct sockaddr_storage address;
    gn_endpoint own = *endpoint;
    own.port = 0;
    const int family = own.ip.version == 4 ? AF_INET : AF_INET6;
    const socklen_t length = gn_endpoint_to_sockaddr(&own, family, &address);
    const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool fine = fd >= 0 && !bind(fd, (struct sockaddr *)&address, length);
    if (fd >= 0) close(fd);
    return fine;
}

/// Whether who connects to `to` comes to who listens at `at`, which is on this host.
static bool leads_to(const gn_endpoint *to, const gn_endpoint *at)
{
    static const gn_ip loopback[2] = {{.version = 4, .bytes = {127, 0, 0, 1}}, {.version = 6, .bytes = {[15] = 1}}};
    gn_endpoint there = *to;
    if (to->port != at->port) return false;
    if (is_any(&to->ip)) there.ip = loopback[to->ip.version == 6];  // as the kernel does
    if (!is_any(&at->ip)) return !gn_ip_compare(&there.ip, &at->ip);
    return (at->ip.version == 6 || there.ip.version == 4) && is_own(&there);
}

gn_status gn_switchd_check_above(const gn_switchd *daemon, gn_error *error)
{
    char listen[GN_ENDPOINT_TEXT];
    if (!daemon->above.ip.version || !leads_to(&daemon->above, &daemon->listen)) return GN_OK;
    return gn_fail(error, GN_INVALID, "%s %s is this switch itself, which listens on %s",
                   gn_switchd_above_option(daemon), gn_switchd_above_text(daemon), gn_switchd_address(daemon, listen));
}
