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
    // What is asked above leaves from the address that is listened on, if that is one.
    if (gn_resolve_all(host, port, gn_ip_reaches(&daemon->listen.ip), &daemon->all_above, error))
        return gn_fail(error, GN_IO, "%s %s: %s", gn_switchd_above_option(daemon), text, error->text);
    daemon->above = daemon->all_above.at[0];
    return GN_OK;
}

void gn_switchd_next_above(gn_switchd *daemon)
{
    daemon->above_now = (daemon->above_now + 1) % daemon->all_above.count;
    daemon->above = daemon->all_above.at[daemon->above_now];
}

gn_status gn_switchd_check_above(const gn_switchd *daemon, gn_error *error)
{
    char listen[GN_ENDPOINT_TEXT];
    unsigned i = 0;
    while (i < daemon->all_above.count && !gn_endpoint_leads_to(&daemon->all_above.at[i], &daemon->listen)) i++;
    if (i == daemon->all_above.count) return GN_OK;
    return gn_fail(error, GN_INVALID, "%s %s is this switch itself, which listens on %s",
                   gn_switchd_above_option(daemon), gn_switchd_above_text(daemon), gn_switchd_address(daemon, listen));
}
