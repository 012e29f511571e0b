// SPDX-License-Identifier: Apache-2.0
#include "driver/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/netlink.h"
#include "net/resolve.h"
#include "net/whole_file.h"

typedef struct route {
    gn_prefix prefix;
    gn_peer *peer;
} route;

// Routes of one version and length lie together, sorted. A lookup is one binary search per length
// in use.
typedef struct stratum {
    uint8_t version, length;
    size_t first, count;
} stratum;

struct gn_peers {
    gn_peer **peer;  // sorted by endpoint once sealed
    size_t count;
    route *routes;
    size_t route_count;
    stratum *strata;
    size_t stratum_count;
};

gn_peers *gn_peers_new(void)
{
    return calloc(1, sizeof(gn_peers));
}

void gn_peers_free(gn_peers *peers)
{
    if (!peers) return;
    for (size_t i = 0; i < peers->count; i++) free(peers->peer[i]);
    free(peers->peer);
    free(peers->routes);
    free(peers->strata);
    free(peers);
}

static int compare_endpoints(const gn_endpoint *a, const gn_endpoint *b)
{
    const int order = gn_ip_compare(&a->ip, &b->ip);
    if (order) return order;
    if (a->port != b->port) return a->port < b->port ? -1 : 1;
    return (a->scope > b->scope) - (a->scope < b->scope);
}

// Doubles the room of an array whenever `count` is a power of two.
static void *grown(void *array, size_t count, size_t size)
{
    if (count & (count - 1)) return array;
    return realloc(array, (count ? 2 * count : 1) * size);
}

/// `name`: "" for a numeric address.
static gn_peer *peer_for(gn_peers *peers, const char *name, const gn_endpoint *endpoint)
{
    for (size_t i = 0; i < peers->count; i++)
        if (!strcmp(peers->peer[i]->name, name) && !compare_endpoints(&peers->peer[i]->endpoint, endpoint))
            return peers->peer[i];
    gn_peer **list = grown(peers->peer, peers->count, sizeof *list);
    if (!list) return NULL;
    peers->peer = list;
    gn_peer *peer = calloc(1, sizeof *peer);
    if (!peer) return NULL;
    peer->endpoint = *endpoint;
    memcpy(peer->name, name, strlen(name) + 1);
    return peers->peer[peers->count++] = peer;
}

static gn_status add_route(gn_peers *peers, const char *text, gn_peer *peer, gn_error *error)
{
    route added = {.peer = peer};
    if (gn_prefix_parse(text, &added.prefix, error)) return error->status;
    const gn_prefix masked = {gn_ip_mask(&added.prefix.ip, added.prefix.length), added.prefix.length};
    if (gn_ip_compare(&masked.ip, &added.prefix.ip)) {
        char meant[GN_PREFIX_TEXT];
        return gn_fail(error, GN_INVALID,
                       "'%s' has bits set behind its length; write %s for the prefix, '%.*s' for the host alone", text,
                       gn_prefix_format(&masked, meant), (int)strcspn(text, "/"), text);
    }
    route *list = grown(peers->routes, peers->route_count, sizeof *list);
    if (!list) return gn_fail_memory(error);
    peers->routes = list;
    peers->routes[peers->route_count++] = added;
    return GN_OK;
}

gn_status gn_peers_add(gn_peers *peers, const char *spec, gn_error *error)
{
    const char *equals = strchr(spec, '=');
    if (!equals || equals == spec)
        return gn_fail(error, GN_INVALID, "peer '%.80s' is not PREFIX[,PREFIX...]=ADDRESS:PORT", spec);
    char name[GN_HOST_TEXT];
    gn_endpoint endpoint = {.ip = {.version = 0}};
    if (!gn_name_parse(equals + 1, name, &endpoint.port)) {
        *name = 0;
        if (gn_endpoint_parse(equals + 1, &endpoint, error)) return error->status;
        if (gn_ip_is_any(&endpoint.ip) || gn_ip_is_multicast(&endpoint.ip))
            return gn_fail(error, GN_INVALID, "peer '%.80s': that is not the address of one host", spec);
    }
    gn_peer *peer = peer_for(peers, name, &endpoint);
    char *prefixes = strndup(spec, (size_t)(equals - spec));
    if (!peer || !prefixes) {
        free(prefixes);
        return gn_fail_memory(error);
    }
    gn_status status = GN_OK;
    char *rest = prefixes, *one;
    while (!status && (one = strsep(&rest, ","))) status = add_route(peers, one, peer, error);
    free(prefixes);
    return status;
}

gn_status gn_peers_parse(gn_peers *peers, const char *name, const char *text, size_t length, gn_error *error)
{
    static const char blanks[] = " \t\r";
    unsigned number = 0;
    while (length) {
        const char *newline = memchr(text, '\n', length);
        size_t taken = newline ? (size_t)(newline - text) : length;
        const size_t step = newline ? taken + 1 : taken;
        char line[1024];
        number++;
        if (taken >= sizeof line)
            return gn_fail(error, GN_INVALID, "%s: line %u is longer than %zu bytes", name, number, sizeof line - 1);
        memcpy(line, text, taken);
        line[taken] = 0;
        if (strlen(line) < taken)
            return gn_fail(error, GN_INVALID, "%s: line %u has a zero byte: it is not a text", name, number);
        line[strcspn(line, "#")] = 0;
        char *start = line + strspn(line, blanks), *end = start + strcspn(start, blanks);
        if (end[strspn(end, blanks)])
            return gn_fail(error, GN_INVALID, "%s: line %u: one peer a line, without blanks", name, number);
        *end = 0;
        gn_error reason;
        if (*start && gn_peers_add(peers, start, &reason))
            return gn_fail(error, GN_INVALID, "%s: line %u: %s", name, number, reason.text);
        text += step;
        length -= step;
    }
    return GN_OK;
}

gn_status gn_peers_load(gn_peers *peers, const char *path, gn_error *error)
{
    size_t size;
    const int fd = gn_whole_file_open(path);
    char *text = gn_whole_file_load(fd, path, GN_PEERS_BYTES_MAX, &size, error);
    gn_status status = text ? GN_OK : error->status;
    if (text && size > GN_PEERS_BYTES_MAX)
        status = gn_fail(error, GN_INVALID, "%s: longer than %d bytes", path, GN_PEERS_BYTES_MAX);
    else if (text)
        status = gn_peers_parse(peers, path, text, size, error);
    free(text);
    if (fd >= 0) close(fd);
    return status;
}

static gn_status resolve(gn_peer *peer, int family, gn_error *error)
{
    gn_error why;
    gn_addresses found;
    gn_path ignored;
    const gn_status wrong = gn_resolve_all(peer->name, peer->endpoint.port, family, &found, &why);
    if (wrong) return gn_fail(error, wrong, "peer %s: %s", peer->name, why.text);
    unsigned i = 0;
    while (found.count > 1 && i < found.count && gn_path_find(&found.at[i].ip, found.at[i].scope, &ignored)) i++;
    peer->endpoint = found.at[i < found.count ? i : 0];
    return GN_OK;
}

gn_status gn_peers_resolve(gn_peers *peers, int family, gn_error *error)
{
    for (size_t i = 0; i < peers->count; i++)
        if (*peers->peer[i]->name && resolve(peers->peer[i], family, error)) return error->status;
    return GN_OK;
}

/// Two names, or a name and an address, of one endpoint. Sorted, they stand together.
static gn_status check_twice(const gn_peers *peers, gn_error *error)
{
    for (size_t i = 1; i < peers->count; i++) {
        const gn_peer *a = peers->peer[i - 1], *b = peers->peer[i];
        char text[GN_ENDPOINT_TEXT];
        if (!compare_endpoints(&a->endpoint, &b->endpoint))
            return gn_fail(error, GN_INVALID, "peer %s is given as %s and as %s: write it one way",
                           gn_endpoint_format(&a->endpoint, text), *a->name ? a->name : "an address",
                           *b->name ? b->name : "an address");
    }
    return GN_OK;
}

// IPv4 before IPv6, longest prefix first.
static int compare_routes(const void *left, const void *right)
{
    const gn_prefix *a = &((const route *)left)->prefix, *b = &((const route *)right)->prefix;
    if (a->ip.version != b->ip.version) return a->ip.version < b->ip.version ? -1 : 1;
    if (a->length != b->length) return a->length > b->length ? -1 : 1;
    return gn_ip_compare(&a->ip, &b->ip);
}

static int compare_peers(const void *left, const void *right)
{
    return compare_endpoints(&(*(gn_peer *const *)left)->endpoint, &(*(gn_peer *const *)right)->endpoint);
}

static gn_status build_strata(gn_peers *peers, gn_error *error)
{
    for (size_t i = 0; i < peers->route_count; i++) {
        const gn_prefix *prefix = &peers->routes[i].prefix;
        if (i && !compare_routes(&peers->routes[i - 1], &peers->routes[i])) {
            char text[GN_PREFIX_TEXT];
            return gn_fail(error, GN_INVALID, "overlay prefix %s is given twice", gn_prefix_format(prefix, text));
        }
        stratum *last = peers->stratum_count ? &peers->strata[peers->stratum_count - 1] : NULL;
        if (last && last->version == prefix->ip.version && last->length == prefix->length) {
            last->count++;
            continue;
        }
        stratum *list = grown(peers->strata, peers->stratum_count, sizeof *list);
        if (!list) return gn_fail_memory(error);
        peers->strata = list;
        peers->strata[peers->stratum_count++] = (stratum){prefix->ip.version, prefix->length, i, 1};
    }
    return GN_OK;
}

gn_status gn_peers_seal(gn_peers *peers, int family, gn_error *error)
{
    if (!peers->count) return gn_fail(error, GN_INVALID, "no peer is given");
    for (size_t i = 0; i < peers->count; i++)
        if (!peers->peer[i]->endpoint.ip.version)
            return gn_fail(error, GN_INVALID, "peer %s has no address yet", peers->peer[i]->name);
    qsort(peers->peer, peers->count, sizeof *peers->peer, compare_peers);
    if (check_twice(peers, error)) return error->status;
    if (peers->route_count) qsort(peers->routes, peers->route_count, sizeof *peers->routes, compare_routes);
    for (size_t i = 0; i < peers->count; i++) {
        gn_peer *peer = peers->peer[i];
        char text[GN_ENDPOINT_TEXT];
        if (family == AF_INET && peer->endpoint.ip.version != 4)
            return gn_fail(error, GN_INVALID, "peer %s is IPv6, but the wire listens on an IPv4 address",
                           gn_endpoint_format(&peer->endpoint, text));
        peer->address_length = gn_endpoint_to_sockaddr(&peer->endpoint, family, &peer->address);
    }
    peers->stratum_count = 0;
    return build_strata(peers, error);
}

gn_peer *gn_peers_route(const gn_peers *peers, const gn_ip *ip)
{
    for (size_t s = 0; s < peers->stratum_count; s++) {
        const stratum *level = &peers->strata[s];
        if (level->version != ip->version) continue;
        const gn_ip wanted = gn_ip_mask(ip, level->length);
        size_t low = level->first, high = low + level->count;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            const int order = gn_ip_compare(&peers->routes[middle].prefix.ip, &wanted);
            if (!order) return peers->routes[middle].peer;
            if (order < 0)
                low = middle + 1;
            else
                high = middle;
        }
    }
    return NULL;
}

gn_peer *gn_peers_find(const gn_peers *peers, const gn_endpoint *endpoint)
{
    size_t low = 0, high = peers->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare_endpoints(&peers->peer[middle]->endpoint, endpoint);
        if (!order) return peers->peer[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

size_t gn_peers_count(const gn_peers *peers)
{
    return peers->count;
}
gn_peer *gn_peers_at(const gn_peers *peers, size_t index)
{
    return peers->peer[index];
}
size_t gn_peers_prefix_count(const gn_peers *peers)
{
    return peers->route_count;
}

const gn_prefix *gn_peers_prefix(const gn_peers *peers, size_t index, const gn_peer **peer)
{
    if (peer) *peer = peers->routes[index].peer;
    return &peers->routes[index].prefix;
}
