// SPDX-License-Identifier: Apache-2.0
#include "interface.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "socket.h"

/// A network to match addresses with.
typedef struct network {
    int family;
    unsigned bits;
    uint8_t bytes[16];
} network;

static const uint8_t *address_bytes(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return (const uint8_t *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;
    return (const uint8_t *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
}

/// "10.9.0.0/24" or a plain address. @return false when it is neither.
static bool parse_network(const char *text, network *net)
{
    char host[INET6_ADDRSTRLEN + 1];
    const char *slash = strchr(text, '/');
    size_t length = slash ? (size_t)(slash - text) : strlen(text);
    if (length >= sizeof host) return false;
    memcpy(host, text, length);
    host[length] = 0;
    net->family = strchr(host, ':') ? AF_INET6 : AF_INET;
    unsigned limit = net->family == AF_INET6 ? 128 : 32;
    if (inet_pton(net->family, host, net->bytes) != 1) return false;
    net->bits = limit;
    if (!slash) return true;
    char *end;
    unsigned long bits = strtoul(slash + 1, &end, 10);
    if (end == slash + 1 || *end || bits > limit) return false;
    net->bits = (unsigned)bits;
    return true;
}

static bool in_network(const struct sockaddr *address, const network *net)
{
    if (address->sa_family != net->family) return false;
    const uint8_t *bytes = address_bytes(address);
    unsigned whole = net->bits / 8, rest = net->bits % 8;
    if (memcmp(bytes, net->bytes, whole) != 0) return false;
    return !rest || !((bytes[whole] ^ net->bytes[whole]) >> (8 - rest));
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

static bool is_link_local(const struct sockaddr *address)
{
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static bool usable(const struct ifaddrs *entry)
{
    return entry->ifa_addr && (entry->ifa_addr->sa_family == AF_INET || entry->ifa_addr->sa_family == AF_INET6) &&
           (entry->ifa_flags & IFF_UP);
}

/// How well an address fits; 0 for not at all.
static int fitness(const struct ifaddrs *entry, const char *spec, const network *net, int family)
{
    int score = 1;
    if (net && !in_network(entry->ifa_addr, net)) return 0;
    if (!net && spec && *spec == '^' && in_list(entry->ifa_name, spec + 1)) return 0;
    if (!net && spec && *spec != '^' && strcmp(entry->ifa_name, spec) != 0) return 0;
    if (!(entry->ifa_flags & IFF_LOOPBACK)) score += 8;
    if (!is_link_local(entry->ifa_addr)) score += 4;  // needs a scope, which the peers may name differently
    if (family ? entry->ifa_addr->sa_family == family : entry->ifa_addr->sa_family == AF_INET) score += 2;
    return score;
}

/// "lo 127.0.0.1, eth0 10.0.0.2 (down)"
static void list_interfaces(const struct ifaddrs *list, char *text, size_t room)
{
    size_t used = 0;
    for (const struct ifaddrs *e = list; e && used < room; e = e->ifa_next) {
        if (!e->ifa_addr || (e->ifa_addr->sa_family != AF_INET && e->ifa_addr->sa_family != AF_INET6)) continue;
        char host[INET6_ADDRSTRLEN] = "?";
        inet_ntop(e->ifa_addr->sa_family, address_bytes(e->ifa_addr), host, sizeof host);
        int n = snprintf(text + used, room - used, "%s%s %s%s", used ? ", " : "", e->ifa_name, host,
                         e->ifa_flags & IFF_UP ? "" : " (down)");
        if (n < 0) break;
        used += (size_t)n;
    }
    if (!used) snprintf(text, room, "none with an address");
}

/// The source address that the kernel would take for packets to `toward`; no packet is sent.
static gn_status by_route(const struct sockaddr_storage *toward, struct sockaddr_storage *local, gn_error *error)
{
    char name[GN_NAME];
    gn_sockaddr_name(toward, name);
    int fd = socket(toward->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return gn_cause_set(error, GN_IO, "socket: %s", strerror(errno));
    socklen_t length = sizeof *local;
    memset(local, 0, sizeof *local);
    int failed = connect(fd, (const struct sockaddr *)toward, gn_sockaddr_length(toward)) ||
                 getsockname(fd, (struct sockaddr *)local, &length);
    int cause = errno;
    close(fd);
    if (failed) return gn_cause_set(error, GN_IO, "no route to the rendezvous %s: %s", name, strerror(cause));
    gn_sockaddr_set_port(local, 0);
    return GN_OK;
}

gn_status gn_interface_select(const char *spec, const struct sockaddr_storage *toward, struct sockaddr_storage *local,
                              gn_error *error)
{
    if (spec && !*spec) spec = NULL;
    if (!spec && toward) return by_route(toward, local, error);
    network parsed, *net = spec && parse_network(spec, &parsed) ? &parsed : NULL;
    if (spec && !net && strchr(spec, '/'))
        return gn_cause_set(error, GN_INVALID, "interface '%s' is no network (10.9.0.0/24)", spec);
    struct ifaddrs *list = NULL;
    if (getifaddrs(&list)) return gn_cause_set(error, GN_IO, "list of interfaces: %s", strerror(errno));

    const struct ifaddrs *best = NULL;
    int best_score = 0;
    for (const struct ifaddrs *e = list; e; e = e->ifa_next) {
        int score = usable(e) ? fitness(e, spec, net, toward ? toward->ss_family : 0) : 0;
        if (score > best_score) best = e, best_score = score;
    }
    gn_status status = GN_OK;
    if (best) {
        memset(local, 0, sizeof *local);
        size_t length = best->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
        memcpy(local, best->ifa_addr, length);
    } else {
        char there[280];
        list_interfaces(list, there, sizeof there);
        status = gn_cause_set(error, GN_INVALID, "interface '%s': no interface that is up has it; there is: %s",
                              spec ? spec : "", there);
    }
    freeifaddrs(list);
    return status;
}
