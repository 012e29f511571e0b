// SPDX-License-Identifier: Apache-2.0
// Addresses, prefixes and endpoints: as text, as values, as the kernel wants them.
#include <arpa/inet.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "net/address.h"
#include "net/number.h"
#include "net/resolve.h"
#include "suite.h"

static gn_error error;

static gn_ip ip_of(const char *text)
{
    gn_ip ip;
    ck_assert_msg(gn_ip_parse(text, &ip), "%s", text);
    return ip;
}

static gn_endpoint endpoint_of(const char *text)
{
    gn_endpoint endpoint;
    ck_assert_msg(gn_endpoint_parse(text, &endpoint, &error) == GN_OK, "%s", error.text);
    return endpoint;
}

START_TEST(addresses_as_text)
{
    static const char *const bad[] = {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", ":", "fd77::2::1", "host"};
    char text[GN_IP_TEXT];
    gn_ip ip = ip_of("10.77.0.2");
    ck_assert_uint_eq(ip.version, 4);
    ck_assert_mem_eq(ip.bytes, ((uint8_t[16]){10, 77, 0, 2}), 16);
    ck_assert_str_eq(gn_ip_format(&ip, text), "10.77.0.2");
    ck_assert_int_eq(gn_ip_family(&ip), AF_INET);
    ip = ip_of("fd77::2");
    ck_assert_uint_eq(ip.version, 6);
    ck_assert_mem_eq(ip.bytes, ((uint8_t[16]){0xfd, 0x77, [15] = 2}), 16);
    ck_assert_str_eq(gn_ip_format(&ip, text), "fd77::2");
    ck_assert_int_eq(gn_ip_family(&ip), AF_INET6);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ck_assert_msg(!gn_ip_parse(bad[i], &ip), "%s", bad[i]);
}
END_TEST

static int order(const char *a, const char *b)
{
    const gn_ip one = ip_of(a), two = ip_of(b);
    const int found = gn_ip_compare(&one, &two), back = gn_ip_compare(&two, &one);
    ck_assert((found < 0) == (back > 0) && (found > 0) == (back < 0));
    return found < 0 ? -1 : found > 0;
}

START_TEST(mapped_endpoints_are_of_ipv4)
{
    char text[GN_ENDPOINT_TEXT];
    const gn_endpoint mapped = endpoint_of("[::ffff:10.77.0.2]:5000"), six = endpoint_of("[::fffe:10.77.0.2]:5000");
    ck_assert_str_eq(gn_endpoint_format(&mapped, text), "10.77.0.2:5000");
    ck_assert_uint_eq(six.ip.version, 6);
}
END_TEST

START_TEST(addresses_have_an_order)
{
    ck_assert_int_eq(order("10.0.0.1", "10.0.0.1"), 0);
    ck_assert_int_eq(order("10.0.0.1", "10.0.0.2"), -1);
    ck_assert_int_eq(order("255.0.0.1", "::1"), -1);
    ck_assert_int_eq(order("fd77::1", "fd77::"), 1);
}
END_TEST

START_TEST(kinds_of_addresses)
{
    static const struct {
        const char *text;
        bool loopback, link_local;
    } cases[] = {{"127.0.0.1", true, false},  {"127.255.0.9", true, false},  {"126.0.0.1", false, false},
                 {"128.0.0.1", false, false}, {"169.254.0.1", false, false}, {"254.128.0.1", false, false},
                 {"::1", true, false},        {"::2", false, false},         {"7f00::1", false, false},
                 {"fe80::1", false, true},    {"febf::1", false, true},      {"fec0::1", false, false},
                 {"fe40::1", false, false},   {"ff80::1", false, false},     {"fd80::1", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gn_ip ip = ip_of(cases[i].text);
        ck_assert_msg(gn_ip_is_loopback(&ip) == cases[i].loopback, "%s", cases[i].text);
        ck_assert_msg(gn_ip_is_link_local(&ip) == cases[i].link_local, "%s", cases[i].text);
    }
}
END_TEST

static bool contains(const char *prefix, const char *address)
{
    gn_prefix parsed;
    const gn_ip ip = ip_of(address);
    ck_assert_msg(gn_prefix_parse(prefix, &parsed, &error) == GN_OK, "%s", error.text);
    return gn_prefix_contains(&parsed, &ip);
}

START_TEST(prefixes)
{
    char text[GN_PREFIX_TEXT];
    gn_prefix prefix;
    gn_ip masked;
    ck_assert(contains("10.77.0.0/16", "10.77.255.255") && !contains("10.77.0.0/16", "10.78.0.0"));
    ck_assert(contains("10.77.0.99/25", "10.77.0.127") && !contains("10.77.0.99/25", "10.77.0.128"));
    ck_assert(contains("0.0.0.0/0", "255.1.2.3") && !contains("0.0.0.0/0", "::1"));
    ck_assert(contains("10.77.0.2", "10.77.0.2") && !contains("10.77.0.2", "10.77.0.3"));
    ck_assert(contains("fd77::/63", "fd77:0:0:1::9") && !contains("fd77::/63", "fd77:0:0:2::9"));
    ck_assert(contains("fd77::2", "fd77::2") && !contains("fd77::2", "fd77::3"));
    ck_assert_int_eq(gn_prefix_parse("10.77.1.2/24", &prefix, &error), GN_OK);  // bits behind the length stay
    ck_assert_str_eq(gn_prefix_format(&prefix, text), "10.77.1.2/24");
    masked = gn_ip_mask(&prefix.ip, 23);
    ck_assert_mem_eq(masked.bytes, ((uint8_t[16]){10, 77}), 16);
    masked = gn_ip_mask(&prefix.ip, 24);
    ck_assert_mem_eq(masked.bytes, ((uint8_t[16]){10, 77, 1}), 16);
    ck_assert_uint_eq(masked.version, 4);
    ck_assert_int_eq(gn_prefix_parse("fd77::2", &prefix, &error), GN_OK);
    ck_assert_str_eq(gn_prefix_format(&prefix, text), "fd77::2/128");
    ck_assert_int_eq(gn_prefix_parse("10.1.1.1/32", &prefix, &error), GN_OK);
    ck_assert_uint_eq(prefix.length, 32);
    ck_assert_fails(gn_prefix_parse("10.1.1.1/33", &prefix, &error),
                    "'10.1.1.1/33': prefix length is not a number from 0 to 32");
    ck_assert_fails(gn_prefix_parse("fd77::/129", &prefix, &error),
                    "'fd77::/129': prefix length is not a number from 0 to 128");
    static const char *const bad[] = {"10.1.1.1/",    "10.1.1.1/-1", "10.1.1.1/ 8",
                                      "10.1.1.1/0x8", "10.1.1.1/8x", "10.1.1.1/0000000008"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(gn_prefix_parse(bad[i], &prefix, &error) == GN_INVALID, "%s", bad[i]);
    ck_assert_fails(gn_prefix_parse("10.1.1/8", &prefix, &error),
                    "'10.1.1/8' is not an IP prefix (10.77.0.2/32, fd77::2/128)");
    char longest[INET6_ADDRSTRLEN + 9];  // one more than there is room for
    memset(longest, '1', sizeof longest - 1), longest[sizeof longest - 1] = 0;
    ck_assert_int_eq(gn_prefix_parse(longest, &prefix, &error), GN_INVALID);
    ck_assert(!strstr(error.text, "(10.77.0.2/32"));
    longest[sizeof longest - 2] = 0;
    ck_assert_int_eq(gn_prefix_parse(longest, &prefix, &error), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "(10.77.0.2/32"));
}
END_TEST

START_TEST(endpoints_as_text)
{
    static const struct {
        const char *text, *whole;
        uint16_t port;
    } good[] = {{"192.0.2.1", "192.0.2.1:7777", 7777},         {"192.0.2.1:1", "192.0.2.1:1", 1},
                {"192.0.2.1:65535", "192.0.2.1:65535", 65535}, {"[2001:db8::1]", "[2001:db8::1]:7777", 7777},
                {"[2001:db8::1]:9", "[2001:db8::1]:9", 9},     {"[fe80::1%lo]:9", "[fe80::1%lo]:9", 9}};
    static const struct {
        const char *text, *said;
    } bad[] = {{"[::1", "'[::1': no ']' behind the IPv6 address"},
               {"[::1]9", "'[::1]9': ']' must be followed by ':PORT'"},
               {"[fe80::1%nosuch0]:9", "'[fe80::1%nosuch0]:9': no interface 'nosuch0'"},
               {"::1", "'::1': write an IPv6 endpoint as [address]:port"},
               {"192.0.2.1:", "'192.0.2.1:': port is not a number from 1 to 65535"},
               {"192.0.2.1:0", "'192.0.2.1:0': port is not a number from 1 to 65535"},
               {"192.0.2.1:65536", "'192.0.2.1:65536': port is not a number from 1 to 65535"},
               {"[::1]:", "'[::1]:': port is not a number from 1 to 65535"},
               {"host:9", "'host:9': give an address or a name, with or without a port (192.0.2.1, 192.0.2.1:7777, "
                          "[2001:db8::1]:7777)"}};
    char text[GN_ENDPOINT_TEXT];
    gn_endpoint endpoint;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        endpoint = endpoint_of(good[i].text);
        ck_assert_uint_eq(endpoint.port, good[i].port);
        ck_assert_str_eq(gn_endpoint_format(&endpoint, text), good[i].whole);
        ck_assert_uint_eq(endpoint.scope, strchr(text, '%') ? if_nametoindex("lo") : 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_fails(gn_endpoint_parse(bad[i].text, &endpoint, &error), bad[i].said);
    endpoint = endpoint_of("[2001:db8::1]:9");
    endpoint.port = 0;  // an address alone
    ck_assert_str_eq(gn_endpoint_format(&endpoint, text), "2001:db8::1");
    endpoint.scope = 0x7fffffff;  // an interface that is gone
    ck_assert_str_eq(gn_endpoint_format(&endpoint, text), "2001:db8::1");
    char longest[INET6_ADDRSTRLEN + IF_NAMESIZE + 17];
    memset(longest, '1', sizeof longest - 1), longest[sizeof longest - 1] = 0;
    ck_assert_int_eq(gn_endpoint_parse(longest, &endpoint, &error), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "is not an address with a port"));
    longest[sizeof longest - 2] = 0;
    ck_assert_int_eq(gn_endpoint_parse(longest, &endpoint, &error), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "give an address or a name"));
}
END_TEST

START_TEST(numbers)
{
    static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "0x1", "1.0", "8", "0000000001", "4294967297"};
    unsigned number = 9;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(!gn_number_parse(bad[i], 7, &number), "%s", bad[i]);
        ck_assert_uint_eq(number, 9);
    }
    ck_assert(gn_number_parse("0", 7, &number) && number == 0);
    ck_assert(gn_number_parse("000000007", 7, &number) && number == 7);
    ck_assert(gn_number_parse("999999999", UINT_MAX, &number) && number == 999999999);
}
END_TEST

START_TEST(ports)
{
    static const char *const bad[] = {NULL, "", "0", "65536", "-1", "+1", " 1", "1 ", "0x1", "1.0", "4294967297"};
    uint16_t port = 9;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!gn_port_parse(bad[i], &port), "%s", bad[i] ? bad[i] : "NULL");
    ck_assert_uint_eq(port, 9);
    ck_assert(gn_port_parse("1", &port) && port == 1);
    ck_assert(gn_port_parse("000065535", &port) && port == 65535);
}
END_TEST

START_TEST(names_of_hosts)
{
    char host[GN_HOST_TEXT], text[GN_HOST_TEXT + 8];
    uint16_t port;
    ck_assert(gn_host_and_port("host.example:80", host, &port) && port == 80);
    ck_assert_str_eq(host, "host.example");
    ck_assert(gn_host_and_port("[fe80::1%lo]:81", host, &port) && port == 81);
    ck_assert_str_eq(host, "fe80::1%lo");
    ck_assert(gn_host_and_port("[:82", host, &port) && !strcmp(host, "["));
    ck_assert(gn_host_and_port("a]:82", host, &port) && !strcmp(host, "a]"));
    ck_assert_fails(gn_host_and_port_parse("host", host, &port, &error), "'host': HOST:PORT is needed");
    ck_assert_fails(gn_host_and_port_parse(":80", host, &port, &error), "':80': HOST:PORT is needed");
    ck_assert_fails(gn_host_and_port_parse("[]:80", host, &port, &error), "'[]:80': HOST:PORT is needed");
    ck_assert_fails(gn_host_and_port_parse("host:", host, &port, &error),
                    "'host:': port is not a number from 1 to 65535");
    ck_assert(!gn_host_and_port("host:0", host, &port));
    memset(text, 'h', sizeof text);
    strcpy(text + GN_HOST_TEXT - 1, ":9");
    ck_assert(gn_host_and_port(text, host, &port));
    ck_assert_uint_eq(strlen(host), GN_HOST_TEXT - 1);
    text[GN_HOST_TEXT - 1] = 'h';
    strcpy(text + GN_HOST_TEXT, ":9");
    ck_assert(!gn_host_and_port(text, host, &port));
}
END_TEST

START_TEST(hosts_become_addresses)
{
    char text[GN_ENDPOINT_TEXT];
    gn_endpoint endpoint;
    ck_assert_int_eq(gn_resolve("127.0.0.1", 65535, &endpoint, &error), GN_OK);
    ck_assert_str_eq(gn_endpoint_format(&endpoint, text), "127.0.0.1:65535");
    ck_assert_int_eq(gn_resolve("::1", 9, &endpoint, &error), GN_OK);
    ck_assert_str_eq(gn_endpoint_format(&endpoint, text), "[::1]:9");
    gn_addresses found;
    ck_assert_int_eq(gn_resolve_all("127.0.0.1", 9, AF_INET, &found, &error), GN_OK);
    ck_assert_int_eq(gn_resolve_all("127.0.0.1", 9, AF_INET6, &found, &error), GN_INVALID);
    ck_assert_msg(strstr(error.text, "host '127.0.0.1': ") == error.text, "%s", error.text);
}
END_TEST

START_TEST(as_the_kernel_wants_them)
{
    struct sockaddr_storage address;
    const struct sockaddr_in *in = (const struct sockaddr_in *)&address;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address;
    gn_endpoint four = endpoint_of("192.0.2.1:258"), six = endpoint_of("[2001:db8::1]:258"), back;
    char text[GN_ENDPOINT_TEXT];

    memset(&address, 0xff, sizeof address);
    ck_assert_uint_eq(gn_endpoint_to_sockaddr(&four, AF_INET, &address), sizeof *in);
    ck_assert_int_eq(in->sin_family, AF_INET);
    ck_assert_uint_eq(in->sin_port, htons(258));
    ck_assert_uint_eq(in->sin_addr.s_addr, htonl(0xc0000201));
    ck_assert_mem_eq(in->sin_zero, "\0\0\0\0\0\0\0\0", 8);
    back = gn_endpoint_from_sockaddr(&address);
    ck_assert_str_eq(gn_endpoint_format(&back, text), "192.0.2.1:258");

    memset(&address, 0xff, sizeof address);
    ck_assert_uint_eq(gn_endpoint_to_sockaddr(&four, AF_INET6, &address), sizeof *in6);
    ck_assert_int_eq(in6->sin6_family, AF_INET6);
    ck_assert_uint_eq(in6->sin6_port, htons(258));
    ck_assert(IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr));
    ck_assert_mem_eq(in6->sin6_addr.s6_addr + 12, "\xc0\0\2\1", 4);
    back = gn_endpoint_from_sockaddr(&address);
    ck_assert_uint_eq(back.ip.version, 4);
    ck_assert_str_eq(gn_endpoint_format(&back, text), "192.0.2.1:258");

    six.scope = 3;
    ck_assert_uint_eq(gn_endpoint_to_sockaddr(&six, AF_INET6, &address), sizeof *in6);
    ck_assert_mem_eq(in6->sin6_addr.s6_addr, six.ip.bytes, 16);
    ck_assert_uint_eq(in6->sin6_scope_id, 3);
    back = gn_endpoint_from_sockaddr(&address);
    ck_assert_uint_eq(back.scope, 0);  // only link-local addresses have one
    ck_assert_uint_eq(back.port, 258);
    six = endpoint_of("[fe80::1%lo]:7");
    gn_endpoint_to_sockaddr(&six, AF_INET6, &address);
    back = gn_endpoint_from_sockaddr(&address);
    ck_assert_uint_eq(back.scope, if_nametoindex("lo"));
    address.ss_family = AF_UNIX;
    back = gn_endpoint_from_sockaddr(&address);
    ck_assert_uint_eq(back.ip.version, 0);
}
END_TEST

int main(void)
{
    return RUN_TESTS("address", mapped_endpoints_are_of_ipv4, addresses_as_text, addresses_have_an_order,
                     kinds_of_addresses, prefixes, numbers, endpoints_as_text, ports, names_of_hosts,
                     hosts_become_addresses, as_the_kernel_wants_them);
}
