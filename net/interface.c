// SPDX-License-Identifier: Apache-2.0
#include "net/interface.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/socket.h"

gn_endpoint gn_interface_address(const struct ifaddrs *entry)
{
    struct sockaddr_storage address = {0};
    const int family = entry->ifa_addr ? entry->ifa_addr->sa_family : AF_UNSPEC;
    if (family == AF_INET) memcpy(&address, entry->ifa_addr, sizeof(struct sockaddr_in));
    if (family == AF_INET6) memcpy(&address, entry->ifa_addr, sizeof(struct sockaddr_in6));
    return gn_endpoint_from_sockaddr(&address);
}

/// Is `name` in the comma-separated `list`?
static bool in_list(const char *name, const char *list)
{
    size_t length = strlen(name);
    for (const char *p = list; *p;) {
        size_t word = strcspn(p, ",");
        if (word == length && !memcmp(p, name, length)) return true;
        p += word + (p[word] == ',');
    }
    return false;
}

/// How well an address fits; 0 for not at all.
static int fitness(const struct ifaddrs *entry, const char *spec, const gn_prefix *network, int version)
{
    const gn_endpoint at = gn_interface_address(entry);
    int score = 1;
    if (!at.ip.version || !(entry->ifa_flags & IFF_UP)) return 0;
    if (network && !gn_prefix_contains(network, &at.ip)) return 0;
    if (!network && spec && *spec == '^' && in_list(entry->ifa_name, spec + 1)) return 0;
    if (!network && spec && *spec != '^' && strcmp(entry->ifa_name, spec) != 0) return 0;
    if (!(entry->ifa_flags & IFF_LOOPBACK)) score += 8;
    if (!gn_ip_is_link_local(&at.ip)) score += 4;  // its scope may have other names at other hosts
    if (at.ip.version == (version ? version : 4)) score += 2;
    return score;
}

/// "lo 127.0.0.1, eth0 10.0.0.2 (down)"
static void list_interfaces(const struct ifaddrs *list, char *text, size_t room)
{
    size_t used = 0;
    for (const struct ifaddrs *e = list; e && used < room; e = e->ifa_next) {
        char host[GN_IP_TEXT];
        const gn_endpoint at = gn_interface_address(e);
        if (!at.ip.version) continue;
        const int n = snprintf(text + used, room - used, "%s%s %s%s", used ? ", " : "", e->ifa_name,
                               gn_ip_format(&at.ip, host), e->ifa_flags & IFF_UP ? "" : " (down)");
        if (n < 0) break;
        used += (size_t)n;
    }
    if (!used) snprintf(text, room, "none with an address");
}

/// The source address that the kernel would take for packets to `toward`; no packet is sent.
static gn_status by_route(const gn_endpoint *toward, gn_endpoint *local, gn_error *error)
{
    char name[GN_ENDPOINT_TEXT];
    int fd = socket(gn_ip_family(&toward->ip), SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return gn_fail(error, GN_IO, "socket: %s", strerror(errno));
    const bool found = !gn_socket_connect(fd, toward) && gn_socket_local(fd, local);
    gn_close(&fd);
    if (!found)
        return gn_fail(error, GN_IO, "no route to the rendezvous %s: %s", gn_endpoint_format(toward, name),
                       strerror(errno));
    local->port = 0;
    return GN_OK;
}

gn_status gn_interface_select(const char *spec, const gn_endpoint *toward, gn_endpoint *local, gn_error *error)
{
    gn_prefix parsed;
    if (spec && !*spec) spec = NULL;
    if (!spec && toward) return by_route(toward, local, error);
    const gn_prefix *network = spec && !gn_prefix_parse(spec, &parsed, error) ? &parsed : NULL;
    if (spec && !network && strchr(spec, '/'))
        return gn_fail(error, GN_INVALID, "interface '%s' is not a network (10.9.0.0/24)", spec);
    struct ifaddrs *list = NULL;
    if (getifaddrs(&list)) return gn_fail(error, GN_IO, "list of interfaces: %s", strerror(errno));

    int best_score = 0;
    for (const struct ifaddrs *e = list; e; e = e->ifa_next) {
        const int score = fitness(e, spec, network, toward ? toward->ip.version : 0);
        if (score <= best_score) continue;
        best_score = score;
        *local = gn_interface_address(e);
    }
    gn_status status = GN_OK;
    if (!best_score) {
        char there[280];
        list_interfaces(list, there, sizeof there);
        status = gn_fail(error, GN_INVALID, "interface '%s': no interface that is up has it; there is: %s",
                         spec ? spec : "", there);
    }
    freeifaddrs(list);
    return status;
}

/// What the kernel says of an interface, in bits a second; 0: nothing. Loopback has no speed.
static uint64_t speed_of(const char *interface)
{
    char path[64];
    long megabits = 0;
    snprintf(path, sizeof path, "/sys/class/net/%s/speed", interface);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    if (fscanf(file, "%ld", &megabits) != 1 || megabits < 0) megabits = 0;
    fclose(file);
    return (uint64_t)megabits * 1000000;
}

uint64_t gn_interface_rate(const gn_ip *local)
{
    struct ifaddrs *list;
    uint64_t rate = 0;
    if (getifaddrs(&list)) return 0;
    for (const struct ifaddrs *e = list; e && !rate; e = e->ifa_next) {
        const gn_endpoint at = gn_interface_address(e);
        if (at.ip.version && !gn_ip_compare(&at.ip, local)) rate = speed_of(e->ifa_name);
    }
    freeifaddrs(list);
    return rate;
}
