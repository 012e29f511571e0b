// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "driver/rules.h"
#include "suite.h"

static gn_rule defaults;

static void setup(void)
{
    defaults = gn_rule_default();
    ck_assert_int_eq(gn_codec_init(&defaults.codec, GN_PAPER, 7), GN_OK);
}

START_TEST(every_key_is_read)
{
    gn_rule rule;
    gn_error why;
    ck_assert_int_eq(
        gn_rule_parse("tos=0x30,proto=tcp,port=5000-5010,profile=lattice,k=-3,head=12", &defaults, &rule, &why), GN_OK);
    ck_assert_uint_eq(rule.tos, 0x30);
    ck_assert_uint_eq(rule.protocol, 6);
    ck_assert_uint_eq(rule.port_low, 5000);
    ck_assert_uint_eq(rule.port_high, 5010);
    ck_assert_int_eq(rule.codec.profile, GN_LATTICE);
    ck_assert_int_eq(rule.codec.bound_exp, -3);
    ck_assert_ptr_nonnull(rule.codec.kernel);
    ck_assert_uint_eq(rule.head, 12);
}
END_TEST

START_TEST(what_is_left_out_is_the_default)
{
    gn_rule rule;
    gn_error why;
    ck_assert_int_eq(gn_rule_parse("port=80", &defaults, &rule, &why), GN_OK);
    ck_assert_uint_eq(rule.tos, 0x28);
    ck_assert_uint_eq(rule.protocol, 0);
    ck_assert_uint_eq(rule.port_low, 80);
    ck_assert_uint_eq(rule.port_high, 80);
    ck_assert_int_eq(rule.codec.profile, GN_PAPER);
    ck_assert_int_eq(rule.codec.bound_exp, 7);
    ck_assert_uint_eq(rule.head, 0);
    ck_assert_int_eq(gn_rule_parse("port=any,proto=any", &defaults, &rule, &why), GN_OK);
    ck_assert_uint_eq(rule.port_high, 65535);
}
END_TEST

// A leading zero does not make a number octal.
START_TEST(numbers_are_decimal_or_hexadecimal)
{
    gn_rule rule;
    gn_error why;
    ck_assert_int_eq(gn_rule_parse("tos=040,port=0010-0020,k=010,head=012", &defaults, &rule, &why), GN_OK);
    ck_assert_uint_eq(rule.tos, 40);
    ck_assert_uint_eq(rule.port_low, 10);
    ck_assert_uint_eq(rule.port_high, 20);
    ck_assert_int_eq(rule.codec.bound_exp, 10);
    ck_assert_uint_eq(rule.head, 12);
    ck_assert_int_eq(gn_rule_parse("tos=0X30,port=0x10,head=09", &defaults, &rule, &why), GN_OK);
    ck_assert_uint_eq(rule.tos, 0x30);
    ck_assert_uint_eq(rule.port_low, 16);
    ck_assert_uint_eq(rule.head, 9);
}
END_TEST

START_TEST(text_and_back)
{
    static const char *const texts[] = {"tos=0x28,proto=any,port=any,profile=dense,k=10,head=0",
                                        "tos=0x00,proto=udp,port=0,profile=paper,k=126,head=255",
                                        "tos=0xfc,proto=tcp,port=1-65535,profile=lattice,k=-31,head=1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gn_rule rule;
        gn_error why;
        char text[GN_RULE_TEXT];
        ck_assert_int_eq(gn_rule_parse(texts[i], &defaults, &rule, &why), GN_OK);
        ck_assert_str_eq(gn_rule_format(&rule, text), texts[i]);
    }
}
END_TEST

START_TEST(what_is_wrong_is_said)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "KEY=VALUE"},
        {"tos", "KEY=VALUE"},
        {"tos=0x28,", "KEY=VALUE"},
        {"color=blue", "'color' is not a key"},
        {"tos=0x28,tos=0x28", "tos is given twice"},
        {"tos=", "tos="},
        {"tos=0x2a", "write tos=0x28"},
        {"tos=256", "0 to 0xfc"},
        {"tos=-1", "0 to 0xfc"},
        {"tos= 40", "0 to 0xfc"},
        {"tos=40x", "0 to 0xfc"},
        {"proto=icmp", "tcp, udp or any"},
        {"port=65536", "a port"},
        {"port=5-", "a port"},
        {"port=-5", "a port"},
        {"port=10-5", "the range is empty"},
        {"port=1-2-3", "a port"},
        {"profile=zip", "not a profile"},
        {"k=ten", "whole number"},
        {"k=99999999999999999999", "whole number"},
        {"profile=lattice,k=32", "lattice takes -31 to 31"},
        {"profile=dense,k=-32", "dense takes -31 to 31"},
        {"profile=paper,k=0", "paper takes 1 to 126"},
        {"head=256", "0 to 255"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gn_rule rule;
        gn_error why;
        ck_assert_msg(gn_rule_parse(cases[i].text, &defaults, &rule, &why) == GN_INVALID, "'%s' was taken",
                      cases[i].text);
        ck_assert_msg(strstr(why.text, cases[i].says) != NULL, "'%s': %s", cases[i].text, why.text);
    }
    char longer[400];
    gn_error why;
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    gn_rule rule;
    ck_assert_int_eq(gn_rule_parse(longer, &defaults, &rule, &why), GN_INVALID);
    ck_assert_str_eq(why.text, "the rule is too long");
}
END_TEST

START_TEST(none_is_there_twice)
{
    gn_rule rules[3];
    gn_error why;
    static const char *const texts[] = {"port=80", "port=81", "tos=40,port=80-80"};
    for (int i = 0; i < 3; i++) ck_assert_int_eq(gn_rule_parse(texts[i], &defaults, &rules[i], &why), GN_OK);
    ck_assert_int_eq(gn_rules_check(rules, 2, &why), GN_OK);
    ck_assert_int_eq(gn_rules_check(rules, 3, &why), GN_INVALID);
    ck_assert_str_eq(why.text, "rule tos=0x28,proto=any,port=80,profile=paper,k=7,head=0 is given twice");
}
END_TEST

int main(void)
{
    return RUN_SUITE("rules", setup, NULL, none_is_there_twice, every_key_is_read, what_is_left_out_is_the_default,
                     numbers_are_decimal_or_hexadecimal, text_and_back, what_is_wrong_is_said);
}
