// SPDX-License-Identifier: Apache-2.0
// The NIC follows the path's MTU down and up again: when it asks the paths, and what it makes of
// the answer. The clock is the test's, and so is the kernel's answer.
#include "driver/host_mtu.h"
#include "driver/netlink.h"
#include "driver/pmtu.h"
#include "net/udp.h"
#include "suite.h"

enum { MTU = 1500, OVERHEAD = 28 };

static gn_nic nic;
static gn_out out;
static unsigned kernel_says, link_has, asked;
static const uint64_t again = GN_PMTU_AGAIN_MS * GN_MILLISECOND, recover = GN_PMTU_RECOVER_MS * GN_MILLISECOND;

unsigned __wrap_gn_udp_mtu(int fd);
unsigned __wrap_gn_udp_mtu(int fd)
{
    (void)fd;
    asked++;
    return kernel_says;
}

gn_status __wrap_gn_path_find_unlearnt(const gn_ip *ip, uint32_t scope, gn_path *path);
gn_status __wrap_gn_path_find_unlearnt(const gn_ip *ip, uint32_t scope, gn_path *path)
{
    (void)ip, (void)scope;
    *path = (gn_path){.mtu = link_has};
    return GN_OK;
}

static void setup(void)
{
    gn_error error;
    out = (gn_out){0};
    nic = (gn_nic){.out = &out,
                   .tun.name = "gn0",
                   .wire_mtu = MTU,
                   .wire_mtu_opened = MTU,
                   .packet_mtu = MTU - OVERHEAD,
                   .packet_mtu_opened = MTU - OVERHEAD,
                   .config.peers = gn_peers_new()};
    kernel_says = link_has = MTU, asked = 0;
    ck_assert_int_eq(gn_peers_add(nic.config.peers, "10.77.0.2=127.0.0.1:7777", &error), GN_OK);
    ck_assert_int_eq(gn_peers_seal(nic.config.peers, AF_INET, &error), GN_OK);
}

static void teardown(void)
{
    gn_peers_free(nic.config.peers);
}

/// At that time, the NIC asks the paths so often and has this MTU.
static void at(uint64_t now, unsigned times, unsigned mtu)
{
    asked = 0;
    gn_pmtu_follow(&nic, now);
    ck_assert_uint_eq(asked, times);
    ck_assert_uint_eq(nic.wire_mtu, mtu);
    ck_assert_uint_eq(nic.packet_mtu, mtu - OVERHEAD);
}

/// The same, after one more packet was refused. From now on the kernel says `says`.
static void refused_at(uint64_t now, unsigned says, unsigned times, unsigned mtu)
{
    kernel_says = says;
    out.wire.too_big++;
    at(now, times, mtu);
}

/// From now on the kernel says `says`; nothing was refused.
static void says_at(uint64_t now, unsigned says, unsigned times, unsigned mtu)
{
    kernel_says = says;
    at(now, times, mtu);
}

START_TEST(down_at_once_and_up_after_ten_seconds)
{
    const uint64_t begin = 1000 * GN_SECOND;
    at(begin, 0, MTU);
    at(begin + 100 * GN_SECOND, 0, MTU);  // nothing was refused: nobody is asked
    const uint64_t refused = begin + 200 * GN_SECOND;
    refused_at(refused, 1300, 1, 1300);
    at(refused + again, 0, 1300);  // no further refusal
    says_at(refused + recover - 1, MTU, 0, 1300);
    at(refused + recover, 1, MTU);
    at(refused + 2 * recover, 0, MTU);
}
END_TEST

START_TEST(asked_again_while_it_is_lowered)
{
    const uint64_t refused = 1000 * GN_SECOND;
    refused_at(refused, 1300, 1, 1300);
    for (uint64_t i = 1; i < 4; i++) at(refused + i * recover, 1, 1300);
    says_at(refused + 4 * recover, 1400, 1, 1400);
    says_at(refused + 5 * recover, 9000, 1, MTU);  // never more than at the start
}
END_TEST

START_TEST(many_refusals_ask_seldom)
{
    const uint64_t refused = 1000 * GN_SECOND;
    refused_at(refused, 1400, 1, 1400);
    for (uint64_t i = 1; i < 100; i++) refused_at(refused + i * again / 100, 1300, 0, 1400);
    at(refused + again, 1, 1300);
}
END_TEST

START_TEST(a_path_that_is_gone_or_absurd)
{
    const uint64_t now = 1000 * GN_SECOND;
    refused_at(now, 0, 1, MTU);
    refused_at(now + again, 50, 1, OVERHEAD + GN_PMTU_LEAST);
}
END_TEST

// Where a firewall marks, the kernel repeats what the host was told. A router's word is followed.
START_TEST(echoes_are_not_followed)
{
    const uint64_t now = 1000 * GN_SECOND, look = GN_PMTU_LOOK_MS * GN_MILLISECOND;
    const unsigned told = gn_host_mtu(MTU - OVERHEAD), lower = gn_host_mtu(1400 - OVERHEAD);
    nic.config.steer.mode = GN_STEER_MARK;
    nic.tun.mtu = told;
    says_at(now, told, 1, MTU);
    says_at(now + look - 1, told, 0, MTU);
    says_at(now + look, 1400, 1, 1400);
    says_at(now + 2 * look, lower, 1, 1400);
    says_at(now + 3 * look, told, 1, 1400);
    refused_at(now + 3 * look + again, lower, 1, 1400);
    says_at(now + 5 * look, MTU, 1, MTU);
    nic.config.steer.mode = GN_STEER_DSCP;
    refused_at(now + 6 * look, told, 1, told);
}
END_TEST

// An echo hides the link's MTU. It is seen all the same when it is lowered.
START_TEST(a_link_behind_an_echo)
{
    const uint64_t now = 1000 * GN_SECOND, look = GN_PMTU_LOOK_MS * GN_MILLISECOND;
    const unsigned told = gn_host_mtu(MTU - OVERHEAD);
    nic.config.steer.mode = GN_STEER_MARK;
    nic.tun.mtu = told;
    link_has = 1470;
    says_at(now, told, 1, 1470);
    says_at(now + look, gn_host_mtu(1470 - OVERHEAD), 1, 1470);
    link_has = told;
    says_at(now + 2 * look, told, 1, told);
    link_has = MTU;  // only a word that is no echo brings it up again
    says_at(now + 3 * look, told, 1, told);
    says_at(now + 4 * look, MTU, 1, MTU);
}
END_TEST

int main(void)
{
    return RUN_SUITE("pmtu", setup, teardown, down_at_once_and_up_after_ten_seconds, asked_again_while_it_is_lowered,
                     many_refusals_ask_seldom, a_path_that_is_gone_or_absurd, echoes_are_not_followed,
                     a_link_behind_an_echo);
}
