// SPDX-License-Identifier: Apache-2.0
// Names of hosts. getaddrinfo() is this file's, so a name has the addresses that a test needs.
#include <arpa/inet.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "net/clock.h"
#include "net/resolve.h"
#include "net/tcp.h"
#include "suite.h"

int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list);
void __real_freeaddrinfo(struct addrinfo *list);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list);
void __wrap_freeaddrinfo(struct addrinfo *list);

static const char *const *answer;  // the next name's addresses, ends with NULL
static unsigned slow_s;            // how long that takes
static atomic_uint asked, freed;

int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
    if (hints->ai_flags & AI_NUMERICHOST) return __real_getaddrinfo(host, service, hints, list);
    asked++;
    if (slow_s) sleep(slow_s);
    if (!answer) return EAI_AGAIN;
    struct addrinfo **end = list, numeric = *hints;
    numeric.ai_flags |= AI_NUMERICHOST;
    *list = NULL;
    for (const char *const *a = answer; *a; a++) {
        if (__real_getaddrinfo(*a, service, &numeric, end)) continue;
        while (*end) end = &(*end)->ai_next;
    }
    return *list ? 0 : EAI_NONAME;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
    freed++;
    while (list) {
        struct addrinfo *next = list->ai_next;
        list->ai_next = NULL;
        __real_freeaddrinfo(list);
        list = next;
    }
}

static void check_text(const gn_endpoint *endpoint, const char *wanted)
{
    char text[GN_ENDPOINT_TEXT];
    ck_assert_str_eq(gn_endpoint_format(endpoint, text), wanted);
}

START_TEST(names_and_what_is_none)
{
    static const char *const bad[] = {"",    ":1",      "1.2.3.4",         "1.2.3", "[::1]:1", "::1", "a b",  "a:",
                                      "a:0", "a:x",     "a:1:2",           "a/b",   "a%b",     "a,b", "a:-1", "a\n",
                                      "1-2", "a:65536", "\xc3\xa4.example"};
    char host[GN_HOST_TEXT], text[2 * GN_HOST_TEXT];
    uint16_t port;
    ck_assert(gn_name_parse("host-1.example.org:9", host, &port));
    ck_assert_str_eq(host, "host-1.example.org");
    ck_assert_uint_eq(port, 9);
    ck_assert(gn_name_parse("4a", host, &port));
    ck_assert_uint_eq(port, GN_PORT_DEFAULT);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!gn_name_parse(bad[i], host, &port), "%s", bad[i]);
    memset(text, 'a', sizeof text);
    text[GN_HOST_TEXT - 1] = 0;
    ck_assert(gn_name_parse(text, host, &port));
    text[GN_HOST_TEXT - 1] = 'a';
    text[GN_HOST_TEXT] = 0;
    ck_assert(!gn_name_parse(text, host, &port));
}
END_TEST

START_TEST(numeric_addresses_ask_nobody)
{
    gn_endpoint found;
    gn_error error;
    ck_assert_int_eq(gn_resolve("192.0.2.7", 5, &found, &error), GN_OK);
    check_text(&found, "192.0.2.7:5");
    ck_assert_int_eq(gn_resolve("2001:db8::7", 5, &found, &error), GN_OK);
    check_text(&found, "[2001:db8::7]:5");
    ck_assert_uint_eq(atomic_load(&asked), 0);
    ck_assert_uint_eq(atomic_load(&freed), 2);
}
END_TEST

START_TEST(all_addresses_once_in_order)
{
    static const char *const several[] = {"2001:db8::1", "192.0.2.1", "2001:db8::1", "192.0.2.2", NULL};
    gn_addresses found;
    gn_error error;
    answer = several;
    ck_assert_int_eq(gn_resolve_all("name", 7, AF_UNSPEC, &found, &error), GN_OK);
    ck_assert_uint_eq(found.count, 3);
    check_text(&found.at[0], "[2001:db8::1]:7");
    check_text(&found.at[1], "192.0.2.1:7");
    check_text(&found.at[2], "192.0.2.2:7");
    ck_assert_int_eq(gn_resolve_all("name", 7, AF_INET, &found, &error), GN_OK);
    ck_assert_uint_eq(found.count, 2);
    static const char *many[GN_ADDRESSES_MAX + 5];
    static char text[GN_ADDRESSES_MAX + 4][16];
    for (unsigned i = 0; i < GN_ADDRESSES_MAX + 4; i++) {
        snprintf(text[i], sizeof text[i], "192.0.2.%u", i + 1);
        many[i] = text[i];
    }
    answer = many;
    ck_assert_int_eq(gn_resolve_all("name", 7, AF_UNSPEC, &found, &error), GN_OK);
    ck_assert_uint_eq(found.count, GN_ADDRESSES_MAX);
}
END_TEST

START_TEST(failures_name_the_host)
{
    gn_endpoint found;
    gn_error error;
    static const char *const none[] = {NULL};
    answer = none;
    ck_assert_int_eq(gn_resolve("nobody.example", 7, &found, &error), GN_INVALID);
    ck_assert_ptr_eq(strstr(error.text, "host 'nobody.example': "), error.text);
    // Without an answer nobody knows whether the name is wrong.
    answer = NULL;
    ck_assert_int_eq(gn_resolve("nobody.example", 7, &found, &error), GN_IO);
    ck_assert_ptr_eq(strstr(error.text, "host 'nobody.example': "), error.text);
}
END_TEST

START_TEST(slow_name_servers_have_a_deadline)
{
    static const char *const one[] = {"192.0.2.1", NULL};
    gn_endpoint found;
    gn_error error;
    answer = one;
    slow_s = GN_RESOLVE_SECONDS + 1;
    const uint64_t start = gn_now();
    ck_assert_int_eq(gn_resolve("slow.example", 7, &found, &error), GN_TIMEOUT);
    ck_assert_str_eq(error.text, "host 'slow.example': no answer from the name servers within 10 s");
    ck_assert(gn_now() - start < (GN_RESOLVE_SECONDS + 1) * GN_SECOND - GN_SECOND / 10);
    for (int i = 0; i < 400 && !atomic_load(&freed); i++) usleep(10000);  // what was left behind goes by itself
    ck_assert_uint_eq(atomic_load(&freed), 1);
}
END_TEST

START_TEST(the_first_that_answers)
{
    static const char *const both[] = {"127.0.0.9", "127.0.0.1", NULL};
    gn_endpoint here = {.ip = {.version = 4, .bytes = {127, 0, 0, 1}}}, found;
    gn_error error;
    int fd = gn_tcp_listen(&here, false, 0);
    ck_assert_int_ge(fd, 0);
    answer = both;
    ck_assert_int_eq(gn_resolve_answering("name", here.port, &found, &error), GN_OK);
    ck_assert_uint_eq(found.ip.bytes[3], 1);
    gn_close(&fd);
    ck_assert_int_eq(gn_resolve_answering("name", here.port, &found, &error), GN_OK);
    ck_assert_uint_eq(found.ip.bytes[3], 9);  // none: the first
}
END_TEST

START_TEST(own_addresses)
{
    static const char *const both[] = {"192.0.2.99", "127.0.0.1", NULL}, *const other[] = {"192.0.2.99", NULL};
    gn_endpoint found;
    gn_error error;
    answer = both;
    ck_assert_int_eq(gn_resolve_own("name:8", &found, &error), GN_OK);
    check_text(&found, "127.0.0.1:8");
    ck_assert_int_eq(gn_resolve_own("192.0.2.99:8", &found, &error), GN_OK);  // bind() will say it
    answer = other;
    ck_assert_fails(gn_resolve_own("239.1.2.3:8", &found, &error),
                    "'239.1.2.3:8' is for many hosts: give an address of this one");
    ck_assert_int_eq(gn_resolve_own("255.255.255.255:8", &found, &error), GN_INVALID);
    ck_assert_int_eq(gn_resolve_own("[ff02::1]:8", &found, &error), GN_INVALID);
    ck_assert_fails(gn_resolve_own("name", &found, &error),
                    "host 'name' is not this one: it has no address 192.0.2.99");
}
END_TEST

int main(void)
{
    return RUN_TESTS("resolve", names_and_what_is_none, numeric_addresses_ask_nobody, all_addresses_once_in_order,
                     failures_name_the_host, slow_name_servers_have_a_deadline, the_first_that_answers, own_addresses);
}
