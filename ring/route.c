// SPDX-License-Identifier: Apache-2.0
#include "ring/route.h"

#include <errno.h>
#include <string.h>

#include <gradnic/shim.h>

#include "net/resolve.h"
#include "net/udp.h"

gn_agg_format gn_switch_route_format(const gn_comm_config *config)
{
    if (!config->quantise) return config->switch_half ? GN_AGG_HALF : GN_AGG_INT32;
    return config->codec.profile == GN_LATTICE ? GN_AGG_LATTICE : GN_AGG_DENSE;
}

enum { RECEIVE_BUFFER = 4 << 20 };  // results come in bursts

int gn_route_socket(const gn_endpoint *to, const gn_endpoint *local)
{
    const gn_udp_options options = {
        .nonblocking = true, .join = true, .tos = GN_ECN_CAPABLE, .receive_bytes = RECEIVE_BUFFER};
    int fd = gn_udp_open(gn_ip_family(&(to ? to : local)->ip), &options);
    if (fd < 0) return -1;
    if ((local && gn_socket_bind(fd, local)) || (to && gn_socket_connect(fd, to))) gn_close(&fd);
    return fd;
}

enum {
    AUTO_MAX = GN_AGG_VALUES_MAX,  // what gradnic switch has in its slots unless it is told otherwise
    EXPECTED = 6  // streams are expected to be shorter than binary32 by this, though not always: packets are what costs
};

static unsigned values_that_fit(const gn_comm_config *config, size_t payload)
{
    const gn_agg_format format = gn_switch_route_format(config);
    const bool shim = !gn_agg_in_blocks(format) && !config->switch_nic,
               stream = shim && config->offload == GN_OFFLOAD_LIBRARY;
    const size_t headers = GN_AGG_HEADER + (shim ? GN_SHIM_BYTES : 0), room = payload > headers ? payload - headers : 0;
    const size_t value = format == GN_AGG_HALF ? sizeof(uint16_t) : sizeof(float);
    const size_t values = room / value * (stream ? EXPECTED : 1);
    return values < 1 ? 1 : values < AUTO_MAX ? (unsigned)values : AUTO_MAX;
}

gn_status gn_switch_route_find(const gn_comm_config *config, gn_switch_route *route, gn_error *error)
{
    char host[GN_HOST_TEXT];
    uint16_t port;
    *route = (gn_switch_route){.values = config->switch_values};
    if (!gn_host_and_port(config->switch_address, host, &port))
        return gn_fail(error, GN_INVALID, "switch_address '%s': want host:port", config->switch_address);
    gn_error why;
    gn_status status = gn_resolve_answering(host, port, &route->address, &why);
    if (status) return gn_fail(error, status, "switch_address '%s': %s", config->switch_address, why.text);
    route->place = gn_address_from(&route->address.ip);
    route->place.data_port = port;
    gn_endpoint_format(&route->address, route->name);
    int fd = gn_route_socket(&route->address, NULL);
    if (fd < 0) return gn_fail(error, GN_IO, "no route to the switch at %s: %s", route->name, strerror(errno));
    if (!route->values) route->values = values_that_fit(config, gn_udp_payload(fd));
    gn_close(&fd);
    return GN_OK;
}
