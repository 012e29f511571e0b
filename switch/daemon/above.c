// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/above.h"

#include <string.h>
#include <sys/socket.h>

#include "net/socket.h"

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

/// As gn_host_and_port_parse(). An IPv6 address has to be in brackets.
static gn_status parse_above(const char *text, char host[GN_HOST_TEXT], uint16_t *port, gn_error *error)
{
    if (gn_host_and_port_parse(text, host, port, error)) return error->status;
    if (*text != '[' && strchr(host, ':'))
        return gn_fail(error, GN_INVALID, "'%s': write an IPv6 address as [ADDRESS]:PORT", text);
    return GN_OK;
}

gn_status gn_switchd_check_address(const char *text, gn_error *error)
{
    char host[GN_HOST_TEXT];
    uint16_t port;
    return parse_above(text, host, &port, error);
}

gn_status gn_switchd_find_above(gn_switchd *daemon, gn_error *error)
{
    const char *text = gn_switchd_above_text(daemon);
    char host[GN_HOST_TEXT];
    uint16_t port;
    if (!text) return GN_OK;
    if (parse_above(text, host, &port, error)) return error->status;
    const int family = daemon->listen.ip.version == 4 ? AF_INET : AF_UNSPEC;
    if (gn_resolve_family(host, port, family, &daemon->above, error))
        return gn_fail(error, GN_IO, "%s %s: %s", gn_switchd_above_option(daemon), text, error->text);
    return GN_OK;
}

static bool is_any(const gn_ip *ip)
{
    return !gn_ip_compare(ip, &(gn_ip){.version = ip->version});
}

/// Whether an address is this host's. Only such an address can be bound to.
static bool is_own(const gn_endpoint *endpoint)
{
    gn_endpoint own = *endpoint;
    own.port = 0;
    int fd = socket(gn_ip_family(&own.ip), SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool fine = fd >= 0 && !gn_socket_bind(fd, &own);
    gn_close(&fd);
    return fine;
}

/// Whether a connection to `to` comes to a listener at `at` on this host.
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
