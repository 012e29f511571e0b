// SPDX-License-Identifier: Apache-2.0
#include "driver/rules.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A rule being read.
typedef struct reader {
    gn_rule rule;
    unsigned seen;  // bit i: keys[i] was given
    char *why;
    size_t room;
} reader;

__attribute__((format(printf, 2, 3))) static bool fail(reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->why, r->room, format, args);
    va_end(args);
    return false;
}

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

static bool read_tos(reader *r, const char *value)
{
    long n;
    if (!read_number(value, 0, 255, &n)) return fail(r, "tos=%.32s: a number from 0 to 0xfc is needed", value);
    if (n & ~GN_TOS_MASK)
        return fail(r, "tos=%.32s: the two low bits are ECN's and take no part; write tos=0x%02lx", value,
                    n & GN_TOS_MASK);
    r->rule.tos = (uint8_t)n;
    return true;
}

static bool read_protocol(reader *r, const char *value)
{
    if (!strcmp(value, "any"))
        r->rule.protocol = 0;
    else if (!strcmp(value, "tcp"))
        r->rule.protocol = GN_PROTOCOL_TCP;
    else if (!strcmp(value, "udp"))
        r->rule.protocol = GN_PROTOCOL_UDP;
    else
        return fail(r, "proto=%.32s: tcp, udp or any is needed", value);
    return true;
}

static bool read_port(reader *r, const char *value)
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
    if (!good) return fail(r, "port=%.32s: a port, a range as 5000-5010, or any is needed", value);
    if (last < first) return fail(r, "port=%.32s: the range is empty", value);
    r->rule.port_low = (uint16_t)first;
    r->rule.port_high = (uint16_t)last;
    return true;
}

static bool read_profile(reader *r, const char *value)
{
    if (gn_profile_parse(value, &r->rule.codec.profile) == GN_OK) return true;
    return fail(r, "profile=%.32s: is no profile", value);
}

static bool read_bound(reader *r, const char *value)
{
    long n;
    if (!read_number(value, -127, 127, &n))
        return fail(r, "k=%.32s: a whole number is needed; the bound is 2^-k", value);
    r->rule.codec.bound_exp = (int)n;
    return true;
}

static bool read_head(reader *r, const char *value)
{
    long n;
    if (!read_number(value, 0, 255, &n)) return fail(r, "head=%.32s: a number of bytes from 0 to 255 is needed", value);
    r->rule.head = (uint8_t)n;
    return true;
}

static const struct {
    const char *name;
    bool (*read)(reader *, const char *value);
} keys[] = {{"tos", read_tos},         {"proto", read_protocol}, {"port", read_port},
            {"profile", read_profile}, {"k", read_bound},        {"head", read_head}};

enum { KEYS = sizeof keys / sizeof *keys };

static bool read_item(reader *r, char *item)
{
    char *equals = strchr(item, '=');
    if (!equals) return fail(r, "'%.32s': KEY=VALUE is needed", item);
    *equals = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, item) != 0) continue;
        if (r->seen & 1u << i) return fail(r, "%s is given twice", item);
        r->seen |= 1u << i;
        return keys[i].read(r, equals + 1);
    }
    return fail(r, "'%.32s' is no key; there are tos, proto, port, profile, k, head", item);
}

/// Profile and bound are known now: do they go together?
static bool finish(reader *r)
{
    gn_codec *codec = &r->rule.codec;
    gn_profile profile = codec->profile;
    int k = codec->bound_exp, low, high;
    gn_status status = gn_codec_init(codec, profile, k);
    if (status == GN_OK) return true;
    if (status == GN_INVALID && gn_profile_range(profile, &low, &high) == GN_OK)
        return fail(r, "k=%d: %s takes %d to %d", k, gn_profile_name(profile), low, high);
    return fail(r, "profile=%s: %s", gn_profile_name(profile), gn_status_string(status));
}

const char *gn_rule_parse(const char *text, const gn_rule *defaults, gn_rule *rule, char *why, size_t room)
{
    reader r = {.rule = *defaults, .why = why, .room = room};
    char copy[256];
    if (strlen(text) >= sizeof copy) return fail(&r, "the rule is too long"), why;
    memcpy(copy, text, strlen(text) + 1);
    char *rest = copy;
    do {
        char *item = strsep(&rest, ",");
        if (!read_item(&r, item)) return why;
    } while (rest);
    if (!finish(&r)) return why;
    *rule = r.rule;
    return NULL;
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
