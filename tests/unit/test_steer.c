// SPDX-License-Identifier: Apache-2.0
// Policy rules, in a network of this test's own, also on a kernel that ignores the DSCP. All
// kernels before Linux 6.12 do.
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>

#include <libmnl/libmnl.h>

#include "driver/netlink.h"
#include "driver/steer.h"
#include "net/socket.h"
#include "suite.h"

enum { FRA_DSCP_ = 25, UNKNOWN = 200, LOOPBACK = 1, ANOTHER = 77 };

static bool kernel_is_old;
static gn_peers *peers;
static gn_error error;

static int hide_dscp(const struct nlattr *attribute, void *context)
{
    (void)context;
    if (mnl_attr_get_type(attribute) == FRA_DSCP_) ((struct nlattr *)attribute)->nla_type = UNKNOWN;
    return MNL_CB_OK;
}

// The linker puts this before libmnl's own (--wrap). No kernel knows attribute 200. This one takes
// a rule with such an attribute as an old one takes a rule with FRA_DSCP.
ssize_t __real_mnl_socket_sendto(const struct mnl_socket *socket, const void *request, size_t length);
ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *socket, const void *request, size_t length);
ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *socket, const void *request, size_t length)
{
    const struct nlmsghdr *header = request;
    const bool is_rule = header->nlmsg_type == RTM_NEWRULE || header->nlmsg_type == RTM_DELRULE;
    if (kernel_is_old && is_rule) (void)mnl_attr_parse(header, sizeof(struct fib_rule_hdr), hide_dscp, NULL);
    return __real_mnl_socket_sendto(socket, request, length);
}

/// A network of its own, with loopback up. @return false where that may not be made
static bool enter_network(void)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET)) return false;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    ck_assert_int_eq(ioctl(fd, SIOCSIFFLAGS, &request), 0);
    gn_close(&fd);
    return true;
}

static void begin(void)
{
    kernel_is_old = false;
    peers = gn_peers_new();
    ck_assert_int_eq(gn_peers_add(peers, "192.0.2.2/32=192.0.2.2:7777", &error), GN_OK);
    ck_assert_int_eq(gn_peers_add(peers, "2001:db8::2/128=192.0.2.3:7777", &error), GN_OK);
    ck_assert_int_eq(gn_peers_seal(peers, AF_INET, &error), GN_OK);
}

static void end(void)
{
    gn_peers_free(peers);
}

static gn_policy policy_of(int version, unsigned tos)
{
    return (gn_policy){.version = version, .table = GN_STEER_TABLE, .priority = GN_STEER_PRIORITY, .tos = tos};
}

static gn_policy marked(int version)
{
    gn_policy policy = policy_of(version, 0);
    policy.mark = GN_STEER_MARK_DEFAULT;
    return policy;
}

/// Whether this kernel has policy rules by DSCP.
static bool has_dscp(void)
{
    const gn_policy policy = policy_of(4, 0x28);
    if (gn_policy_add(&policy)) {
        ck_assert_int_eq(errno, EPROTONOSUPPORT);
        return false;
    }
    ck_assert_int_eq(gn_policy_remove(&policy), GN_OK);
    return true;
}

/// Whether any policy rule leads to the table. It is gone then.
static bool take_any(int version)
{
    const gn_policy any = policy_of(version, 0x28), by_mark = marked(version);
    const bool was_old = kernel_is_old;
    kernel_is_old = true;  // so all attributes but the DSCP decide
    const bool found = !gn_policy_remove(&any) || !gn_policy_remove(&by_mark);
    kernel_is_old = was_old;
    return found;
}

static gn_status open_for(gn_steer *steer, gn_steer_mode mode, unsigned device)
{
    const gn_steer_config config = {.mode = mode};
    const gn_rule rules[2] = {{.tos = 0x28}, {.tos = 0x48}};
    return gn_steer_open(steer, &config, device, peers, rules, 2, &error);
}

static gn_status open_steer(gn_steer *steer, gn_steer_mode mode)
{
    return open_for(steer, mode, LOOPBACK);
}

START_TEST(rules_are_made_and_removed)
{
    gn_steer steer;
    if (!enter_network() || !has_dscp()) return;
    ck_assert_int_eq(open_steer(&steer, GN_STEER_DSCP), GN_OK);
    for (int version = 4; version <= 6; version += 2)
        for (unsigned tos = 0x28; tos <= 0x48; tos += 0x20) {
            const gn_policy policy = policy_of(version, tos);
            ck_assert(gn_policy_add(&policy) && errno == EEXIST);
        }
    gn_steer_close(&steer);
    ck_assert(!take_any(4) && !take_any(6));
}
END_TEST

// The rule would take every packet, those of the NIC itself too.
START_TEST(kernel_that_ignores_the_dscp)
{
    gn_steer steer;
    if (!enter_network()) return;
    kernel_is_old = true;
    ck_assert_fails(
        open_steer(&steer, GN_STEER_DSCP),
        "this kernel has no policy rules by DSCP (Linux 6.12 has them): mark the packets with your firewall, for "
        "example `nft add rule ip FILTER OUTPUT ip dscp 10 meta mark set 0x474e`, and use --steer mark");
    ck_assert_int_eq(error.status, GN_INVALID);
    ck_assert(!take_any(4) && !take_any(6));
    // What the message says.
    ck_assert_int_eq(open_steer(&steer, GN_STEER_MARK), GN_OK);
    gn_steer_close(&steer);
    ck_assert(!take_any(4) && !take_any(6));
}
END_TEST

static gn_kernel_route route_of(const char *prefix, unsigned index, unsigned table)
{
    gn_kernel_route route = {.index = index, .table = table};
    ck_assert_int_eq(gn_prefix_parse(prefix, &route.prefix, &error), GN_OK);
    return route;
}

// The device of a killed NIC may stay, with its routes: --existing. The next NIC has that device
// for itself. It starts, with routes to its own peers alone, and leaves none.
START_TEST(routes_of_a_killed_one_go)
{
    gn_steer killed, steer;
    if (!enter_network()) return;
    const gn_kernel_route old[2] = {route_of("192.0.2.9/32", LOOPBACK, GN_STEER_TABLE),
                                    route_of("2001:db8::9/128", LOOPBACK, GN_STEER_TABLE)};
    const gn_kernel_route other = route_of("192.0.2.9/32", LOOPBACK, GN_STEER_TABLE + 1);
    ck_assert_int_eq(open_steer(&killed, GN_STEER_MARK), GN_OK);
    for (int i = 0; i < 2; i++) ck_assert_int_eq(gn_kernel_route_add(&old[i]), GN_OK);
    ck_assert_int_eq(gn_kernel_route_add(&other), GN_OK);
    ck_assert_msg(open_steer(&steer, GN_STEER_MARK) == GN_OK, "%s", error.text);
    for (int i = 0; i < 2; i++) ck_assert(gn_kernel_route_remove(&old[i]) && errno == ESRCH);
    const gn_policy policies[2] = {marked(4), marked(6)};
    for (int i = 0; i < 2; i++) ck_assert(!gn_policy_is_idle(&policies[i]));
    gn_steer_close(&steer);
    ck_assert(!take_any(4) && !take_any(6));
    for (int i = 0; i < 2; i++) ck_assert(gn_policy_is_idle(&policies[i]));
    ck_assert_int_eq(gn_kernel_route_remove(&other), GN_OK);
}
END_TEST

/// A route that gn_kernel_route_add() does not make: for packets of one ToS.
static bool add_foreign_route(void)
{
    char buffer[256] = {0};
    const uint8_t to[4] = {198, 51, 100, 9};
    struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
    header->nlmsg_type = RTM_NEWROUTE;
    header->nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK;
    struct rtmsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    *info = (struct rtmsg){.rtm_family = AF_INET,
                           .rtm_dst_len = 32,
                           .rtm_tos = 0x10,
                           .rtm_protocol = RTPROT_STATIC,
                           .rtm_scope = RT_SCOPE_LINK,
                           .rtm_type = RTN_UNICAST};
    mnl_attr_put_u32(header, RTA_TABLE, GN_STEER_TABLE);
    mnl_attr_put(header, RTA_DST, sizeof to, to);
    mnl_attr_put_u32(header, RTA_OIF, LOOPBACK);
    struct mnl_socket *socket = mnl_socket_open(NETLINK_ROUTE);
    char reply[512];
    const bool sent = socket && mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) == 0 &&
                      mnl_socket_sendto(socket, header, header->nlmsg_len) > 0;
    const ssize_t got = sent ? mnl_socket_recvfrom(socket, reply, sizeof reply) : -1;
    const bool made = got > 0 && mnl_cb_run(reply, (size_t)got, 0, mnl_socket_get_portid(socket), NULL, NULL) >= 0;
    if (socket) mnl_socket_close(socket);
    return made;
}

// Somebody's own route through the device cannot be removed in this way. The NIC starts, and does
// not try for ever.
START_TEST(a_route_of_another_kind_stays)
{
    gn_steer steer;
    if (!enter_network()) return;
    ck_assert(add_foreign_route());
    ck_assert(gn_kernel_routes_clear(LOOPBACK, GN_STEER_TABLE) == GN_IO && errno == ESRCH);
    ck_assert_msg(open_steer(&steer, GN_STEER_MARK) == GN_OK, "%s", error.text);
    gn_steer_close(&steer);
}
END_TEST

// Another NIC steers. This one fails, and leaves the other's rules alone.
START_TEST(rules_of_others_stay)
{
    gn_steer first, second;
    if (!enter_network()) return;
    ck_assert_int_eq(open_steer(&first, GN_STEER_MARK), GN_OK);
    ck_assert_int_eq(open_for(&second, GN_STEER_MARK, ANOTHER), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "a policy rule for table 18766 exists already"));
    ck_assert(take_any(4) && take_any(6));
    gn_steer_close(&first);
}
END_TEST

// A NIC was killed: its device went with its routes, and its rules stayed. The next one starts all
// the same, and leaves none.
START_TEST(rules_of_a_killed_one_are_taken_over)
{
    gn_steer steer;
    const gn_policy left[2] = {marked(4), marked(6)};
    if (!enter_network()) return;
    for (int i = 0; i < 2; i++) ck_assert_int_eq(gn_policy_add(&left[i]), GN_OK);
    for (int i = 0; i < 2; i++) ck_assert(gn_policy_is_idle(&left[i]));
    ck_assert_int_eq(open_steer(&steer, GN_STEER_MARK), GN_OK);
    for (int i = 0; i < 2; i++) ck_assert(!gn_policy_is_idle(&left[i]));
    gn_steer_close(&steer);
    ck_assert(!take_any(4) && !take_any(6));
    for (int i = 0; i < 2; i++) ck_assert(gn_policy_is_idle(&left[i]));
}
END_TEST

// It fails behind that, at a rule of IPv6 whose table is in use. What was there stays.
START_TEST(who_fails_leaves_what_it_found)
{
    gn_steer steer;
    const gn_policy left[2] = {marked(4), marked(6)};
    if (!enter_network()) return;
    const gn_kernel_route route = route_of("2001:db8::7/128", LOOPBACK, GN_STEER_TABLE);
    for (int i = 0; i < 2; i++) ck_assert_int_eq(gn_policy_add(&left[i]), GN_OK);
    ck_assert_int_eq(gn_kernel_route_add(&route), GN_OK);
    ck_assert_int_eq(open_for(&steer, GN_STEER_MARK, ANOTHER), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "a policy rule for table 18766 exists already, and the table has routes"));
    ck_assert(!gn_policy_is_idle(&left[1]));
    ck_assert(take_any(4) && take_any(6));
}
END_TEST

// On a kernel that ignores the DSCP, a rule without one is no NIC's: it takes every packet.
START_TEST(rule_without_dscp_is_not_taken_over)
{
    gn_steer steer;
    const gn_policy any = policy_of(4, 0x28);
    if (!enter_network()) return;
    kernel_is_old = true;
    ck_assert(gn_policy_add(&any) && errno == EPROTONOSUPPORT);
    ck_assert(!take_any(4) && !gn_policy_is_idle(&any));
    ck_assert_int_ne(open_steer(&steer, GN_STEER_DSCP), GN_OK);
}
END_TEST

int main(void)
{
    return RUN_SUITE("steer", begin, end, rules_are_made_and_removed, kernel_that_ignores_the_dscp,
                     routes_of_a_killed_one_go, a_route_of_another_kind_stays, rules_of_others_stay,
                     rules_of_a_killed_one_are_taken_over, who_fails_leaves_what_it_found,
                     rule_without_dscp_is_not_taken_over);
}
