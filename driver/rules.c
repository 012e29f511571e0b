// SPDX-License-Identifier: Apache-2.0
#include "driver/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A rule being read.
typedef struct reader {
    gn_rule rule;
    unsigned seen;  // bit i: keys[i] was given
    gn_error *error;
} reader;

static bool read_number(const char *text, long low, long high, long *number)
{
    size_t sign = *text == '-';
    if (text[sign] < '0' || text[sign] > '9') return false;  // strtol() would skip blanks
    char *end;
    errno = 0;
    // No octal: a leading zero must not change what a number means.
    bool hex = text[sign] == '0' && (text[sign + 1] == 'x' || text[sign + 1] == 'X');
    *number = strtol(text, &end, hex ? 16 : 10);
    return !*end && !errno && *number >= low && *number <= high;
}

static gn_status read_tos(reader *r, const char *value)
{
    long n;
    if (!read_number(value, 0, 255, &n))
        return gn_fail(r->error, GN_INVALID, "tos=%.32s: must be a number from 0 to 0xfc", value);
    if (n & ~GN_TOS_MASK)
        return gn_fail(r->error, GN_INVALID, "tos=%.32s: the two low bits belong to ECN; write tos=0x%02lx", value,
                       n & GN_TOS_MASK);
    r->rule.tos = (uint8_t)n;
    return GN_OK;
}

static gn_status read_protocol(reader *r, const char *value)
{
    if (!strcmp(value, "any"))
        r->rule.protocol = 0;
    else if (!strcmp(value, "tcp"))
        r->rule.protocol = GN_PROTOCOL_TCP;
    else if (!strcmp(value, "udp"))
        r->rule.protocol = GN_PROTOCOL_UDP;
    else
        return gn_fail(r->error, GN_INVALID, "proto=%.32s: must be tcp, udp or any", value);
    return GN_OK;
}

static gn_status read_port(reader *r, const char *value)
{
    if (!strcmp(value, "any")) value = "0-65535";
    char low[8];
    size_t digits = strcspn(value, "-");
    long first = 0, last = 0;
    bool good = digits < sizeof low;
    if (good) {
        memcpy(low, value, digits);
        low[digits] = 0;
        good = read_number(low, 0, 65535, &first);
        last = first;
        if (good && value[digits]) good = read_number(value + digits + 1, 0, 65535, &last);
    }
    if (!good)
        return gn_fail(r->error, GN_INVALID, "port=%.32s: must be a port, a range such as 5000-5010, or any", value);
    if (last < first) return gn_fail(r->error, GN_INVALID, "port=%.32s: the range is empty", value);
    r->rule.port_low = (uint16_t)first;
    r->rule.port_high = (uint16_t)last;
    return GN_OK;
}

static gn_status read_profile(reader *r, const char *value)
{
    if (gn_profile_parse(value, &r->rule.codec.profile) == GN_OK) return GN_OK;
    return gn_fail(r->error, GN_INVALID, "profile=%.32s: not a profile", value);
}

static gn_status read_bound(reader *r, const char *value)
{
    long n;
    if (!read_number(value, -127, 127, &n))
        return gn_fail(r->error, GN_INVALID, "k=%.32s: must be a whole number from -127 to 127; the bound is 2^-k",
                       value);
    r->rule.codec.bound_exp = (int)n;
    return GN_OK;
}

static gn_status read_head(reader *r, const char *value)
{
    long n;
    if (!read_number(value, 0, 255, &n))
        return gn_fail(r->error, GN_INVALID, "head=%.32s: must be a number of bytes from 0 to 255", value);
    r->rule.head = (uint8_t)n;
    return GN_OK;
}

static const struct {
    const char *name;
    gn_status (*read)(reader *, const char *value);
} keys[] = {{"tos", read_tos},         {"proto", read_protocol}, {"port", read_port},
            {"profile", read_profile}, {"k", read_bound},        {"head", read_head}};

enum { KEYS = sizeof keys / sizeof *keys };

static gn_status read_item(reader *r, char *item)
{
    char *equals = strchr(item, '=');
    if (!equals) return gn_fail(r->error, GN_INVALID, "'%.32s' is not KEY=VALUE", item);
    *equals = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, item) != 0) continue;
        if (r->seen & 1u << i) return gn_fail(r->error, GN_INVALID, "%s is given twice", item);
        r->seen |= 1u << i;
        return keys[i].read(r, equals + 1);
    }
    return gn_fail(r->error, GN_INVALID, "'%.32s' is not a key; there are tos, proto, port, profile, k, head", item);
}

// Profile and bound are known now. Do they go together?
static gn_status finish(reader *r)
{
    gn_codec *codec = &r->rule.codec;
    gn_profile profile = codec->profile;
    int k = codec->bound_exp, low, high;
    gn_status status = gn_codec_init(codec, profile, k);
    if (status == GN_OK) return GN_OK;
    if (status == GN_INVALID && gn_profile_range(profile, &low, &high) == GN_OK)
        return gn_fail(r->error, GN_INVALID, "k=%d: %s takes %d to %d", k, gn_profile_name(profile), low, high);
    return gn_fail(r->error, GN_INVALID, "profile=%s: %s", gn_profile_name(profile), gn_status_string(status));
}

gn_status gn_rule_parse(const char *text, const gn_rule *defaults, gn_rule *rule, gn_error *error)
{
    reader r = {.rule = *defaults, .error = error};
    char copy[256];
    if (strlen(text) >= sizeof copy) return gn_fail(error, GN_INVALID, "the rule is too long");
    memcpy(copy, text, strlen(text) + 1);
    char *rest = copy;
    do {
        const gn_status status = read_item(&r, strsep(&rest, ","));
        if (status != GN_OK) return status;
    } while (rest);
    const gn_status status = finish(&r);
    if (status == GN_OK) *rule = r.rule;
    return status;
}

const char *gn_rule_format(const gn_rule *rule, char *text)
{
    const char *protocol = rule->protocol == GN_PROTOCOL_TCP   ? "tcp"
                           : rule->protocol == GN_PROTOCOL_UDP ? "udp"
                                                               : "any";
    char port[16] = "any";
    if (rule->port_low == rule->port_high)
        snprintf(port, sizeof port, "%u", rule->port_low);
    else if (rule->port_low || rule->port_high != 65535)
        snprintf(port, sizeof port, "%u-%u", rule->port_low, rule->port_high);
    snprintf(text, GN_RULE_TEXT, "tos=0x%02x,proto=%s,port=%s,profile=%s,k=%d,head=%u", rule->tos & GN_TOS_MASK,
             protocol, port, gn_profile_name(rule->codec.profile), rule->codec.bound_exp, rule->head);
    return text;
}

gn_status gn_rules_check(const gn_rule *rules, size_t count, gn_error *error)
{
    char text[GN_RULE_TEXT], other[GN_RULE_TEXT];
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(gn_rule_format(&rules[i], text), gn_rule_format(&rules[j], other)))
                return gn_fail(error, GN_INVALID, "rule %s is given twice", text);
    return GN_OK;
}

bool gn_rules_mark(const gn_rule *rules, size_t count, uint8_t tos)
{
    for (size_t i = 0; i < count; i++)
        if (!((rules[i].tos ^ tos) & GN_TOS_MASK)) return true;
    return false;
}
