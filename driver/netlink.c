// SPDX-License-Identifier: Apache-2.0
#include "driver/netlink.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <time.h>

enum {
    // From include/uapi/linux/fib_rules.h of Linux 6.12. Debian 12 builds with the headers of 6.1.
    ATTRIBUTE_FRA_DSCP = 25,
    MESSAGE_BYTES = 1024,
    REPLY_BYTES = 8192
};

static int family_of(int version)
{
    return version == 4 ? AF_INET : AF_INET6;
}

// Sends one request and waits for its acknowledgement, or with `parse` for its reply. `parse`
// returns MNL_CB_OK as long as more messages are to come.
static gn_status transact(struct nlmsghdr *request, mnl_cb_t parse, void *context)
{
    char reply[REPLY_BYTES];
    const unsigned sequence = (unsigned)time(NULL);
    struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (!socket) return GN_IO;
    gn_status status = GN_IO;
    int saved;
    request->nlmsg_flags = (uint16_t)(request->nlmsg_flags | NLM_F_REQUEST | (parse ? 0 : NLM_F_ACK));
    request->nlmsg_seq = sequence;
    if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0) goto done;
    const unsigned port = mnl_socket_get_portid(socket);
    if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0) goto done;
    for (int more = MNL_CB_OK; more > MNL_CB_STOP;) {
        const ssize_t bytes = mnl_socket_recvfrom(socket, reply, sizeof reply);
        if (bytes < 0 || (more = mnl_cb_run(reply, (size_t)bytes, sequence, port, parse, context)) < 0) goto done;
    }
    status = GN_OK;
done:
    saved = errno;
    mnl_socket_close(socket);
    errno = saved;
    return status;
}

static struct nlmsghdr *begin(void *buffer, uint16_t type, uint16_t flags)
{
    memset(buffer, 0, MESSAGE_BYTES);
    struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
    header->nlmsg_type = type;
    header->nlmsg_flags = flags;
    return header;
}

gn_status gn_link_set(unsigned index, const gn_link *link)
{
    char buffer[MESSAGE_BYTES];
    struct nlmsghdr *header = begin(buffer, RTM_NEWLINK, 0);
    struct ifinfomsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->ifi_index = (int)index;
    if (link->up) info->ifi_flags = info->ifi_change = 1;  // IFF_UP
    if (link->mtu) mnl_attr_put_u32(header, IFLA_MTU, link->mtu);
    if (link->queue_length) mnl_attr_put_u32(header, IFLA_TXQLEN, link->queue_length);
    if (link->gso_max_segments) mnl_attr_put_u32(header, IFLA_GSO_MAX_SEGS, link->gso_max_segments);
    return transact(header, NULL, NULL);
}

gn_status gn_link_accept_sources(unsigned index)
{
    char buffer[MESSAGE_BYTES];
    struct nlmsghdr *header = begin(buffer, RTM_SETLINK, 0);
    struct ifinfomsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->ifi_index = (int)index;
    struct nlattr *families = mnl_attr_nest_start(header, IFLA_AF_SPEC);
    struct nlattr *four = mnl_attr_nest_start(header, AF_INET);
    struct nlattr *settings = mnl_attr_nest_start(header, IFLA_INET_CONF);
    mnl_attr_put_u32(header, IPV4_DEVCONF_RP_FILTER, 0);
    mnl_attr_nest_end(header, settings);
    mnl_attr_nest_end(header, four);
    mnl_attr_nest_end(header, families);
    return transact(header, NULL, NULL);
}

static int take_filter(const struct nlattr *attribute, void *context)
{
    if (mnl_attr_get_type(attribute) == NETCONFA_RP_FILTER) *(int *)context = (int)mnl_attr_get_u32(attribute);
    return MNL_CB_OK;
}

static int parse_settings(const struct nlmsghdr *header, void *context)
{
    return mnl_attr_parse(header, sizeof(struct netconfmsg), take_filter, context) < 0 ? MNL_CB_ERROR : MNL_CB_STOP;
}

int gn_link_source_check(int index)
{
    char buffer[MESSAGE_BYTES];
    int filter = -1;
    struct nlmsghdr *header = begin(buffer, RTM_GETNETCONF, 0);
    struct netconfmsg *message = mnl_nlmsg_put_extra_header(header, sizeof *message);
    message->ncm_family = AF_INET;
    mnl_attr_put_u32(header, NETCONFA_IFINDEX, (uint32_t)index);
    _Static_assert(GN_ALL_LINKS == NETCONFA_IFINDEX_ALL, "as the kernel has it");
    return transact(header, parse_settings, &filter) ? -1 : filter;
}

typedef struct link_facts {
    unsigned mtu;
    uint64_t tx_dropped;
} link_facts;

static int take_link(const struct nlattr *attribute, void *context)
{
    link_facts *facts = context;
    struct rtnl_link_stats64 stats;
    if (mnl_attr_get_type(attribute) == IFLA_MTU) facts->mtu = mnl_attr_get_u32(attribute);
    if (mnl_attr_get_type(attribute) != IFLA_STATS64) return MNL_CB_OK;
    const size_t bytes = mnl_attr_get_payload_len(attribute);
    memset(&stats, 0, sizeof stats);
    memcpy(&stats, mnl_attr_get_payload(attribute), bytes < sizeof stats ? bytes : sizeof stats);
    facts->tx_dropped = stats.tx_dropped;
    return MNL_CB_OK;
}

static int parse_link(const struct nlmsghdr *header, void *context)
{
    return mnl_attr_parse(header, sizeof(struct ifinfomsg), take_link, context) < 0 ? MNL_CB_ERROR : MNL_CB_STOP;
}

static gn_status ask_link(unsigned index, link_facts *facts)
{
    char buffer[MESSAGE_BYTES];
    struct nlmsghdr *header = begin(buffer, RTM_GETLINK, 0);
    struct ifinfomsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->ifi_index = (int)index;
    return transact(header, parse_link, facts);
}

gn_status gn_link_mtu(unsigned index, unsigned *mtu)
{
    link_facts facts = {0};
    const gn_status status = ask_link(index, &facts);
    *mtu = facts.mtu;
    return status;
}

uint64_t gn_link_tx_dropped(unsigned index)
{
    link_facts facts = {0};
    return ask_link(index, &facts) ? 0 : facts.tx_dropped;
}

gn_status gn_address_add(unsigned index, const gn_prefix *address)
{
    char buffer[MESSAGE_BYTES];
    struct nlmsghdr *header = begin(buffer, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE);
    struct ifaddrmsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->ifa_family = (uint8_t)family_of(address->ip.version);
    info->ifa_prefixlen = address->length;
    info->ifa_index = index;
    // No duplicate address detection: a TUN device has no neighbours, and the address would be
    // late.
    if (address->ip.version == 6) info->ifa_flags = IFA_F_NODAD;
    mnl_attr_put(header, IFA_LOCAL, gn_ip_bytes(&address->ip), address->ip.bytes);
    mnl_attr_put(header, IFA_ADDRESS, gn_ip_bytes(&address->ip), address->ip.bytes);
    return transact(header, NULL, NULL);
}

static gn_status change_route(uint16_t type, uint16_t flags, const gn_kernel_route *route)
{
    char buffer[MESSAGE_BYTES];
    struct nlmsghdr *header = begin(buffer, type, flags);
    struct rtmsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->rtm_family = (uint8_t)family_of(route->prefix.ip.version);
    info->rtm_dst_len = route->prefix.length;
    info->rtm_table = RT_TABLE_UNSPEC;
    info->rtm_protocol = RTPROT_STATIC;
    info->rtm_scope = type == RTM_DELROUTE ? RT_SCOPE_NOWHERE : RT_SCOPE_LINK;
    info->rtm_type = RTN_UNICAST;
    mnl_attr_put_u32(header, RTA_TABLE, route->table ? route->table : RT_TABLE_MAIN);
    if (route->prefix.length) mnl_attr_put(header, RTA_DST, gn_ip_bytes(&route->prefix.ip), route->prefix.ip.bytes);
    mnl_attr_put_u32(header, RTA_OIF, route->index);
    if (route->source.version) mnl_attr_put(header, RTA_PREFSRC, gn_ip_bytes(&route->source), route->source.bytes);
    return transact(header, NULL, NULL);
}

gn_status gn_kernel_route_add(const gn_kernel_route *route)
{
    return change_route(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, route);
}
gn_status gn_kernel_route_remove(const gn_kernel_route *route)
{
    return change_route(RTM_DELROUTE, 0, route);
}

static int take_metric(const struct nlattr *attribute, void *context)
{
    if (mnl_attr_get_type(attribute) == RTAX_MTU) ((gn_path *)context)->mtu = mnl_attr_get_u32(attribute);
    return MNL_CB_OK;
}

static int take_route(const struct nlattr *attribute, void *context)
{
    gn_path *path = context;
    const unsigned bytes = mnl_attr_get_payload_len(attribute);
    switch (mnl_attr_get_type(attribute)) {
    case RTA_OIF:
        path->index = mnl_attr_get_u32(attribute);
        break;
    case RTA_METRICS:
        return mnl_attr_parse_nested(attribute, take_metric, path);
    case RTA_PREFSRC:
        if (bytes > sizeof path->source.bytes) return MNL_CB_ERROR;
        path->source.version = bytes == 4 ? 4 : 6;
        memcpy(path->source.bytes, mnl_attr_get_payload(attribute), bytes);
        break;
    default:
        break;
    }
    return MNL_CB_OK;
}

static int parse_route(const struct nlmsghdr *header, void *context)
{
    return mnl_attr_parse(header, sizeof(struct rtmsg), take_route, context) < 0 ? MNL_CB_ERROR : MNL_CB_STOP;
}

static gn_status find_path(const gn_ip *ip, uint32_t scope, unsigned flags, gn_path *path)
{
    char buffer[MESSAGE_BYTES];
    memset(path, 0, sizeof *path);
    struct nlmsghdr *header = begin(buffer, RTM_GETROUTE, 0);
    struct rtmsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->rtm_family = (uint8_t)family_of(ip->version);
    info->rtm_flags = flags;
    info->rtm_dst_len = (uint8_t)gn_ip_bits(ip);
    mnl_attr_put(header, RTA_DST, gn_ip_bytes(ip), ip->bytes);
    if (scope) mnl_attr_put_u32(header, RTA_OIF, scope);
    unsigned link;
    if (transact(header, parse_route, path) || gn_link_mtu(path->index, &link)) return GN_IO;
    if (!path->mtu || path->mtu > link) path->mtu = link;
    return GN_OK;
}

gn_status gn_path_find(const gn_ip *ip, uint32_t scope, gn_path *path)
{
    return find_path(ip, scope, 0, path);
}

gn_status gn_path_find_unlearnt(const gn_ip *ip, uint32_t scope, gn_path *path)
{
    // The route itself. One of several ways names no device: then what has been learnt is better.
    return find_path(ip, scope, RTM_F_FIB_MATCH, path) ? find_path(ip, scope, 0, path) : GN_OK;
}

static gn_status change_policy(uint16_t type, uint16_t flags, const gn_policy *policy)
{
    char buffer[MESSAGE_BYTES];
    struct nlmsghdr *header = begin(buffer, type, flags);
    struct fib_rule_hdr *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->family = (uint8_t)family_of(policy->version);
    info->action = FR_ACT_TO_TBL;
    mnl_attr_put_u32(header, FRA_TABLE, policy->table);
    mnl_attr_put_u32(header, FRA_PRIORITY, policy->priority);
    if (policy->mark) {
        mnl_attr_put_u32(header, FRA_FWMARK, policy->mark);
        mnl_attr_put_u32(header, FRA_FWMASK, 0xffffffff);
    } else {
        mnl_attr_put_u8(header, ATTRIBUTE_FRA_DSCP, (uint8_t)(policy->tos >> 2));
        mnl_attr_put_strz(header, FRA_IIFNAME, "lo");
    }
    return transact(header, NULL, NULL);
}

/// One rule of the kernel.
typedef struct kernel_rule {
    unsigned table, priority;
    int dscp;  // -1: any
} kernel_rule;

/// A rule by DSCP that is looked for.
typedef struct rule_search {
    kernel_rule wanted;
    bool found;
} rule_search;

static int take_rule(const struct nlattr *attribute, void *context)
{
    kernel_rule *rule = context;
    const uint16_t type = mnl_attr_get_type(attribute);
    if (type == FRA_TABLE) rule->table = mnl_attr_get_u32(attribute);
    if (type == FRA_PRIORITY) rule->priority = mnl_attr_get_u32(attribute);
    if (type == ATTRIBUTE_FRA_DSCP) rule->dscp = mnl_attr_get_u8(attribute);
    return MNL_CB_OK;
}

static int compare_rule(const struct nlmsghdr *header, void *context)
{
    rule_search *search = context;
    const kernel_rule *wanted = &search->wanted;
    kernel_rule rule = {.dscp = -1};
    if (mnl_attr_parse(header, sizeof(struct fib_rule_hdr), take_rule, &rule) < 0) return MNL_CB_ERROR;
    search->found |= rule.table == wanted->table && rule.priority == wanted->priority && rule.dscp == wanted->dscp;
    return MNL_CB_OK;
}

/// Looks whether the kernel has taken the DSCP of a rule. @return false with errno
static bool has_dscp(const gn_policy *policy)
{
    char buffer[MESSAGE_BYTES];
    rule_search search = {.wanted = {policy->table, policy->priority, (int)policy->tos >> 2}};
    struct nlmsghdr *header = begin(buffer, RTM_GETRULE, NLM_F_DUMP);
    struct fib_rule_hdr *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->family = (uint8_t)family_of(policy->version);
    if (transact(header, compare_rule, &search)) return false;
    if (!search.found) errno = EPROTONOSUPPORT;
    return search.found;
}

gn_status gn_policy_add(const gn_policy *policy)
{
    const gn_status status = change_policy(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, policy);
    // Before 6.12 the kernel ignores the DSCP, and the rule stands for every packet.
    if (status || policy->mark || has_dscp(policy)) return status;
    const int reason = errno;
    (void)gn_policy_remove(policy);
    errno = reason;
    return GN_IO;
}
gn_status gn_policy_remove(const gn_policy *policy)
{
    return change_policy(RTM_DELRULE, 0, policy);
}

enum { ROUTES_MAX = 64 };  // that one dump takes down

/// The routes of one table, to any device or to one.
typedef struct route_search {
    unsigned table, index;  ///< index 0: any
    size_t count;
    gn_kernel_route found[ROUTES_MAX];  ///< the first of them
} route_search;

static int take_listed(const struct nlattr *attribute, void *context)
{
    gn_kernel_route *route = context;
    const unsigned bytes = mnl_attr_get_payload_len(attribute);
    switch (mnl_attr_get_type(attribute)) {
    case RTA_TABLE:
        route->table = mnl_attr_get_u32(attribute);
        break;
    case RTA_OIF:
        route->index = mnl_attr_get_u32(attribute);
        break;
    case RTA_DST:
        if (bytes > sizeof route->prefix.ip.bytes) return MNL_CB_ERROR;
        memcpy(route->prefix.ip.bytes, mnl_attr_get_payload(attribute), bytes);
        break;
    default:
        break;
    }
    return MNL_CB_OK;
}

static int note_route(const struct nlmsghdr *header, void *context)
{
    route_search *search = context;
    const struct rtmsg *info = mnl_nlmsg_get_payload(header);
    gn_kernel_route route = {
        .prefix = {.ip = {.version = info->rtm_family == AF_INET ? 4 : 6}, .length = info->rtm_dst_len}};
    if (mnl_attr_parse(header, sizeof *info, take_listed, &route) < 0) return MNL_CB_ERROR;
    if (route.table != search->table || (search->index && route.index != search->index)) return MNL_CB_OK;
    if (search->count < ROUTES_MAX) search->found[search->count] = route;
    search->count++;
    return MNL_CB_OK;
}

static gn_status list_routes(int version, route_search *search)
{
    char buffer[MESSAGE_BYTES];
    struct nlmsghdr *header = begin(buffer, RTM_GETROUTE, NLM_F_DUMP);
    struct rtmsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->rtm_family = (uint8_t)family_of(version);
    search->count = 0;
    return transact(header, note_route, search);
}

static gn_status clear_routes(int version, unsigned index, unsigned table)
{
    route_search search = {.table = table, .index = index};
    for (;;) {
        if (list_routes(version, &search)) return GN_IO;
        if (!search.count) return GN_OK;
        for (size_t i = 0; i < search.count && i < ROUTES_MAX; i++)
            if (gn_kernel_route_remove(&search.found[i])) return GN_IO;
    }
}

gn_status gn_kernel_routes_clear(unsigned index, unsigned table)
{
    const gn_status four = clear_routes(4, index, table), six = clear_routes(6, index, table);
    return four ? four : six;
}

/// False, too, where the kernel does not say it.
static bool is_empty(int version, unsigned table)
{
    route_search search = {.table = table};
    return !list_routes(version, &search) && !search.count;
}

bool gn_policy_is_idle(const gn_policy *policy)
{
    return is_empty(policy->version, policy->table) && (policy->mark || has_dscp(policy));
}
