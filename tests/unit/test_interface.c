// SPDX-License-Identifier: Apache-2.0
// Which local address is taken, on hosts that are made up.
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

#include "net/interface.h"
#include "suite.h"

int __wrap_getifaddrs(struct ifaddrs **list);
void __wrap_freeifaddrs(struct ifaddrs *list);

enum { MOST = 16 };

static struct ifaddrs there[MOST];
static struct sockaddr_storage address[MOST];
static unsigned count;
static int lists;  // that have not been given back
static bool broken;
static gn_error error;

int __wrap_getifaddrs(struct ifaddrs **list)
{
    if (broken) {
        errno = ENOMEM;
        return -1;
    }
    *list = count ? there : NULL;
    lists++;
    return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *list)
{
    ck_assert_ptr_eq(list, count ? there : NULL);
    lists--;
}

/// Adds an address to the host; without text, an interface that has none.
static void add(char *name, const char *text, unsigned flags)
{
    gn_endpoint at = {0};
    there[count] = (struct ifaddrs){.ifa_name = name, .ifa_flags = flags};
    if (text) {
        ck_assert(gn_ip_parse(text, &at.ip));
        (void)gn_endpoint_to_sockaddr(&at, gn_ip_family(&at.ip), &address[count]);
        there[count].ifa_addr = (struct sockaddr *)&address[count];
    }
    if (count) there[count - 1].ifa_next = &there[count];
    count++;
}

static void begin(void)
{
    count = 0, lists = 0, broken = false;
    add("lo", "127.0.0.1", IFF_UP | IFF_LOOPBACK);
    add("none", NULL, IFF_UP);
    add("eth0", "fe80::5", IFF_UP);
    add("eth0", "fd00::5", IFF_UP);
    add("eth0", "10.9.0.2", IFF_UP);
    add("eth0", "10.9.0.3", IFF_UP);
    add("eth1", "10.10.0.2", IFF_UP);
    add("down", "10.11.0.2", 0);
    add("lo", "::1", IFF_UP | IFF_LOOPBACK);
}

static void end(void)
{
    ck_assert_int_eq(lists, 0);
}

static void takes(const char *spec, const char *toward, const char *wanted)
{
    char text[GN_ENDPOINT_TEXT];
    gn_endpoint local = {.port = 9}, to = {.port = 5};
    if (toward) ck_assert(gn_ip_parse(toward, &to.ip));
    ck_assert_msg(gn_interface_select(spec, toward ? &to : NULL, &local, &error) == GN_OK, "%s", error.text);
    ck_assert_str_eq(gn_endpoint_format(&local, text), wanted);
}

START_TEST(the_first_that_is_not_loopback)
{
    takes(NULL, NULL, "10.9.0.2");
    takes("", NULL, "10.9.0.2");
    count = 1, there[0].ifa_next = NULL;
    takes(NULL, NULL, "127.0.0.1");
}
END_TEST

START_TEST(an_interface_by_its_name)
{
    takes("eth0", NULL, "10.9.0.2");
    takes("eth0", "10.0.0.1", "10.9.0.2");
    takes("eth0", "fd00::1", "fd00::5");  // of the version that is needed
    takes("eth1", "fd00::1", "10.10.0.2");
    takes("lo", NULL, "127.0.0.1");
    takes("lo", "::2", "::1");
}
END_TEST

START_TEST(an_address_or_a_network)
{
    takes("10.9.0.3", NULL, "10.9.0.3");
    takes("10.10.0.0/16", NULL, "10.10.0.2");
    takes("fd00::/8", NULL, "fd00::5");
    takes("fe80::/10", NULL, "fe80::5");
    takes("::/0", NULL, "fd00::5");  // a link-local one comes last
    takes("127.0.0.0/8", NULL, "127.0.0.1");
}
END_TEST

START_TEST(those_to_avoid)
{
    takes("^eth0", NULL, "10.10.0.2");
    takes("^eth0,eth1", NULL, "127.0.0.1");
    takes("^eth0,lo,et", NULL, "10.10.0.2");
    takes("^eth1,eth", NULL, "10.9.0.2");
    takes("^x,,eth0", NULL, "10.10.0.2");
    takes("^eth00", NULL, "10.9.0.2");
    takes("^", NULL, "10.9.0.2");
}
END_TEST

START_TEST(what_cannot_be_had)
{
    gn_endpoint local;
    ck_assert_fails(gn_interface_select("down", NULL, &local, &error),
                    "interface 'down': no interface that is up has it; there is: lo 127.0.0.1, eth0 fe80::5, eth0 "
                    "fd00::5, eth0 10.9.0.2, eth0 10.9.0.3, eth1 10.10.0.2, down 10.11.0.2 (down), lo ::1");
    ck_assert_int_eq(error.status, GN_INVALID);
    ck_assert_int_eq(gn_interface_select("10.9.0.4", NULL, &local, &error), GN_INVALID);
    ck_assert_int_eq(gn_interface_select("eth", NULL, &local, &error), GN_INVALID);
    ck_assert_int_eq(gn_interface_select("none", NULL, &local, &error), GN_INVALID);
    ck_assert_fails(gn_interface_select("10.9.0.0/33", NULL, &local, &error),
                    "interface '10.9.0.0/33' is not a network (10.9.0.0/24)");
    count = 0;
    ck_assert_fails(gn_interface_select(NULL, NULL, &local, &error),
                    "interface '': no interface that is up has it; there is: none with an address");
    broken = true;
    ck_assert_fails(gn_interface_select("lo", NULL, &local, &error), "list of interfaces: Cannot allocate memory");
    ck_assert_int_eq(error.status, GN_IO);
}
END_TEST

// Many interfaces: the list ends where there is no more room, and the message is still a text.
START_TEST(a_long_list_is_cut)
{
    gn_endpoint local;
    while (count < MOST) add("a-name-of-len15", "fd00:1111:2222:3333:4444:5555:6666:7777", IFF_UP);
    ck_assert_int_eq(gn_interface_select("nosuch", NULL, &local, &error), GN_INVALID);
    ck_assert_uint_lt(strlen(error.text), sizeof error.text);
    ck_assert_ptr_nonnull(strstr(error.text, "there is: lo 127.0.0.1, "));
}
END_TEST

// Without a wish, the address that the route has: on loopback it is the target itself.
START_TEST(by_the_route)
{
    takes(NULL, "127.0.0.1", "127.0.0.1");
    takes("", "::1", "::1");
    gn_endpoint local, nowhere = {.port = 5, .ip = {.version = 6, .bytes = {0xff, 0x02, [15] = 1}}};
    nowhere.scope = 0x7fffffff;
    ck_assert_int_eq(gn_interface_select(NULL, &nowhere, &local, &error), GN_IO);
    ck_assert_msg(strstr(error.text, "no route to the rendezvous [ff02::1]:5: ") == error.text, "%s", error.text);
}
END_TEST

int main(void)
{
    return RUN_SUITE("interface", begin, end, the_first_that_is_not_loopback, an_interface_by_its_name,
                     an_address_or_a_network, those_to_avoid, what_cannot_be_had, a_long_list_is_cut, by_the_route);
}
