// SPDX-License-Identifier: Apache-2.0
#include "driver/steer.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "driver/netlink.h"
#include "host/warn.h"

static unsigned table_of(const gn_steer *steer)
{
    return steer->config.mode == GN_STEER_OVERLAY ? 0 : steer->config.table;
}

// The device's own address brings a route to its whole subnet, which serves as well.
static bool leads_here(const gn_steer *steer, const gn_ip *ip)
{
    gn_path path;
    return steer->config.mode == GN_STEER_OVERLAY && !gn_path_find(ip, 0, &path) && path.index == steer->index;
}

static gn_status add_routes(const gn_steer *steer, gn_error *error)
{
    for (size_t i = 0; i < gn_peers_prefix_count(steer->peers); i++) {
        gn_kernel_route route = {
            .prefix = *gn_peers_prefix(steer->peers, i, NULL), .index = steer->index, .table = table_of(steer)};
        gn_path path;
        char text[GN_PREFIX_TEXT];
        // The device has no address when it carries the hosts' traffic: keep the source address
        // that the kernel would choose.
        if (steer->config.mode != GN_STEER_OVERLAY && !gn_path_find(&route.prefix.ip, 0, &path))
            route.source = path.source;
        if (!gn_kernel_route_add(&route)) continue;
        const int reason = errno;
        if (reason == EEXIST && leads_here(steer, &route.prefix.ip)) continue;
        return gn_fail(error, GN_IO, "cannot route %s to the device: %s%s", gn_prefix_format(&route.prefix, text),
                       strerror(reason), reason == EEXIST ? " (another route for this prefix is in the way)" : "");
    }
    return GN_OK;
}

static void remove_routes(const gn_steer *steer)
{
    for (size_t i = 0; i < gn_peers_prefix_count(steer->peers); i++) {
        const gn_kernel_route route = {
            .prefix = *gn_peers_prefix(steer->peers, i, NULL), .index = steer->index, .table = table_of(steer)};
        (void)gn_kernel_route_remove(&route);
    }
}

static bool has_version(const gn_peers *peers, int version)
{
    for (size_t i = 0; i < gn_peers_prefix_count(peers); i++)
        if (gn_peers_prefix(peers, i, NULL)->ip.version == version) return true;
    return false;
}

/// Policies: one for each ToS, of each IP version that peers have.
static size_t policy_count(const gn_steer *steer)
{
    return steer->tos_count * (size_t)(has_version(steer->peers, 4) + has_version(steer->peers, 6));
}

static gn_policy policy_at(const gn_steer *steer, size_t index)
{
    const bool is_4 = index < steer->tos_count && has_version(steer->peers, 4);
    return (gn_policy){.version = is_4 ? 4 : 6,
                       .table = steer->config.table,
                       .priority = steer->config.priority,
                       .tos = steer->tos[index % steer->tos_count],
                       .mark = steer->config.mode == GN_STEER_MARK ? steer->config.mark : 0};
}

/// Whether a rule that exists already is one of a NIC that was killed. A NIC that runs has routes
/// in the table. Those of a killed one have gone with its device, or were cleared.
static bool adopt(gn_steer *steer, const gn_policy *policy)
{
    if (errno != EEXIST || !gn_policy_is_idle(policy)) return false;
    steer->adopted |= UINT32_C(1) << steer->policies;
    return true;
}

static gn_status add_policies(gn_steer *steer, gn_error *error)
{
    _Static_assert(2 * GN_RULES_MAX <= 32, "each policy has a bit");
    for (const size_t count = policy_count(steer); steer->policies < count; steer->policies++) {
        const gn_policy policy = policy_at(steer, steer->policies);
        if (!gn_policy_add(&policy)) continue;
        const int reason = errno;
        if (adopt(steer, &policy)) continue;
        errno = reason;
        if (errno == EEXIST)
            return gn_fail(error, GN_INVALID,
                           "a policy rule for table %u exists already, and the table has routes: does another NIC "
                           "steer? (--table chooses another table)",
                           policy.table);
        if (errno == EPROTONOSUPPORT)
            return gn_fail(
                error, GN_INVALID,
                "this kernel has no policy rules by DSCP (Linux 6.12 has them): mark the packets with your "
                "firewall, for example `nft add rule ip FILTER OUTPUT ip dscp 10 meta mark set %#x`, and use "
                "--steer mark",
                GN_STEER_MARK_DEFAULT);
        return gn_fail(error, GN_IO, "cannot add a policy rule: %s", strerror(errno));
    }
    return GN_OK;
}

/// All but those of the mask `kept`.
static void remove_policies(gn_steer *steer, uint32_t kept)
{
    while (steer->policies) {
        const gn_policy policy = policy_at(steer, --steer->policies);
        if (!(kept >> steer->policies & 1)) (void)gn_policy_remove(&policy);
    }
}

static void close_but(gn_steer *steer, uint32_t kept)
{
    if (!steer->index) return;
    remove_policies(steer, kept);
    remove_routes(steer);
    steer->index = 0;
}

static void collect_tos(gn_steer *steer, const gn_rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t tos = rules[i].tos & GN_TOS_MASK;
        if (!memchr(steer->tos, tos, steer->tos_count)) steer->tos[steer->tos_count++] = tos;
    }
    // One mark stands for all of them.
    if (steer->config.mode == GN_STEER_MARK) steer->tos_count = 1;
}

/// Without its mark, a packet would go past the device. So the kernel drops what comes out of it,
/// where it looks for the way back to a source. The NIC has looked at sources itself.
static void accept_sources(const gn_steer *steer)
{
    char device[IF_NAMESIZE] = "";
    if (steer->config.mode != GN_STEER_MARK || !has_version(steer->peers, 4)) return;
    (void)gn_link_accept_sources(steer->index);
    if_indextoname(steer->index, device);
    const int all = gn_link_source_check(GN_ALL_LINKS), own = gn_link_source_check((int)steer->index);
    if (all > 0)
        gn_warn("net.ipv4.conf.all.rp_filter is %d: the kernel drops what comes out of %s; set it to 0 (sysctl -w)",
                all, device);
    else if (own > 0)
        gn_warn("rp_filter of %s is %d: the kernel drops what comes out of it; set net.ipv4.conf.%s.rp_filter to 0",
                device, own, device);
}

gn_status gn_steer_open(gn_steer *steer, const gn_steer_config *config, unsigned index, const gn_peers *peers,
                        const gn_rule *rules, size_t rule_count, gn_error *error)
{
    *steer = (gn_steer){.config = *config, .index = index, .peers = peers};
    if (!steer->config.table) steer->config.table = GN_STEER_TABLE;
    if (!steer->config.priority) steer->config.priority = GN_STEER_PRIORITY;
    if (!steer->config.mark) steer->config.mark = GN_STEER_MARK_DEFAULT;
    collect_tos(steer, rules, rule_count);
    // A device that stays (--existing) keeps the routes of a NIC that was killed. Nobody else has
    // the device now, so they are nobody's. Where they cannot be removed, the next steps say why.
    if (steer->config.mode != GN_STEER_OVERLAY) (void)gn_kernel_routes_clear(index, steer->config.table);
    // The rules come first: as long as their table has no routes, they do nothing, even where the
    // kernel has got a rule wrong.
    if (steer->config.mode != GN_STEER_OVERLAY && add_policies(steer, error)) goto failed;
    if (add_routes(steer, error)) goto failed;
    accept_sources(steer);
    return GN_OK;
failed:
    close_but(steer, steer->adopted);  // it may be of a NIC that has started a moment ago
    return error->status;
}

void gn_steer_close(gn_steer *steer)
{
    close_but(steer, 0);
}
