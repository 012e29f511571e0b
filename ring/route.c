// SPDX-License-Identifier: Apache-2.0
#include "ring/route.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

#include <gradnic/shim.h>

#include "net/socket.h"

gn_agg_format gn_switch_route_format(const gn_comm_config *config)
{
    if (!config->quantise) return GN_AGG_INT32;
    return config->codec.profile == GN_LATTICE ? GN_AGG_LATTICE : GN_AGG_DENSE;
}

int gn_route_socket(const gn_endpoint *to, const gn_endpoint *local)
{
    int fd = socket(gn_ip_family(&(to ? to : local)->ip), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    gn_socket_set_tos(fd, GN_TOS_ECT);
    if ((local && gn_socket_bind(fd, local)) || (to && gn_socket_connect(fd, to))) gn_close(&fd);
    return fd;
}

size_t gn_route_payload(int fd)
{
    gn_endpoint to;
    if (!gn_socket_remote(fd, &to)) return 0;
    const bool six = to.ip.version == 6;
    int mtu = 0;
    socklen_t length = sizeof mtu;
    if (getsockopt(fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_MTU : IP_MTU, &mtu, &length)) return 0;
    const int headers = (six ? 40 : 20) + 8;
    return mtu > headers ? (size_t)(mtu - headers) : 0;
}

enum {
    AUTO_MAX = GN_AGG_VALUES_MAX,  // what gradnic switch has in its slots unless it is told otherwise
    EXPECTED = 6  // streams are expected to be shorter than binary32 by this, though not always: packets are what costs
};

static unsigned values_that_fit(const gn_comm_config *config, size_t payload)
{
    const bool stream = gn_switch_route_format(config) != GN_AGG_INT32 && !config->switch_nic;
    const size_t headers = GN_AGG_HEADER + (stream ? GN_SHIM_BYTES : 0),
                 room = payload > headers ? payload - headers : 0;
    const size_t values = room / sizeof(float) * (stream ? EXPECTED : 1);
    return values < 1 ? 1 : values < AUTO_MAX ? (unsigned)values : AUTO_MAX;
}

gn_status gn_switch_route_find(const gn_comm_config *config, gn_switch_route *route, gn_error *error)
{
    char host[GN_HOST_TEXT];
    uint16_t port;
    *route = (gn_switch_route){.values = config->switch_values};
    if (!gn_host_and_port(config->switch_address, host, &port))
        return gn_fail(error, GN_INVALID, "switch_address '%s': want host:port", config->switch_address);
    gn_status status = gn_resolve(host, port, &route->address, error);
    if (status) return status;
    route->place = gn_address_from(&route->address.ip);
    route->place.data_port = port;
    gn_endpoint_format(&route->address, route->name);
    int fd = gn_route_socket(&route->address, NULL);
    if (fd < 0) return gn_fail(error, GN_IO, "no route to the switch at %s: %s", route->name, strerror(errno));
    if (!route->values) route->values = values_that_fit(config, gn_route_payload(fd));
    gn_close(&fd);
    return GN_OK;
}
