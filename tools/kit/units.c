// SPDX-License-Identifier: Apache-2.0
// Numbers with units, parsed from options and printed for people.
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "net/clock.h"

typedef struct unit {
    const char *name;
    double factor;
} unit;

static const unit size_units[] = {
    {"", 1},         {"B", 1},        {"K", 0x1p10},   {"M", 0x1p20},   {"G", 0x1p30},
    {"T", 0x1p40},   {"KB", 0x1p10},  {"MB", 0x1p20},  {"GB", 0x1p30},  {"TB", 0x1p40},
    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {NULL, 0},
};

static const unit rate_units[] = {
    {"", 1},           {"bit", 1},        {"kbit", 1e3},     {"mbit", 1e6},     {"gbit", 1e9}, {"tbit", 1e12},
    {"kibit", 0x1p10}, {"mibit", 0x1p20}, {"gibit", 0x1p30}, {"tibit", 0x1p40}, {"bps", 8},    {"kbps", 8e3},
    {"mbps", 8e6},     {"gbps", 8e9},     {"tbps", 8e12},    {NULL, 0},
};

static const unit frequency_units[] = {
    {"hz", 1}, {"khz", 1e3}, {"mhz", 1e6}, {"ghz", 1e9}, {NULL, 0},
};

static const unit duration_units[] = {
    {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}, {NULL, 0},
};

static const unit *find_unit(const unit *table, const char *name)
{
    for (; table->name; table++)
        if (!strcasecmp(table->name, name)) return table;
    return NULL;
}

/// A plain decimal number ("12", "1.5", ".5") and the text behind it. strtod() alone would also
/// take "0x1p3" and "inf".
static bool scan_decimal(const char *text, bool fractions, double *number, const char **rest)
{
    size_t length = strspn(text, fractions ? "0123456789." : "0123456789");
    if (!length || length > 40) return false;
    char digits[48];
    memcpy(digits, text, length);
    digits[length] = 0;
    char *end;
    *number = strtod(digits, &end);
    *rest = text + length;
    return end == digits + length;
}

typedef enum scanned { NOT_ONE, TOO_LARGE, SCANNED } scanned;

/// Number times unit, as an integer below 2^63. TOO_LARGE: it is not, and `out` is the largest.
static scanned scan_quantity(const char *text, bool fractions, const unit *table, uint64_t *out)
{
    double number;
    const char *rest;
    if (!scan_decimal(text, fractions, &number, &rest)) return NOT_ONE;
    const unit *u = find_unit(table, rest);
    if (!u && number == 0 && !*rest) u = table;
    if (!u) return NOT_ONE;
    const bool fits = number * u->factor < 0x1p63;
    *out = fits ? (uint64_t)(number * u->factor + 0.5) : INT64_MAX;
    return fits ? SCANNED : TOO_LARGE;
}

static gn_status too_large(const char *text, gn_error *error)
{
    return gn_fail(error, GN_INVALID, "%s is too large", text);
}

static gn_status parse_number(const char *text, bool hex, uint64_t low, uint64_t high, uint64_t *out, gn_error *error)
{
    errno = 0;
    char *end;
    const char *digits = text + (hex ? 2 : 0);
    const bool begun = hex ? isxdigit((unsigned char)*digits) : isdigit((unsigned char)*digits);
    unsigned long long n = strtoull(digits, &end, hex ? 16 : 10);
    if (!begun || *end || (hex && strpbrk(digits, "xX")))
        return gn_fail(error, GN_INVALID, "'%s' is not a number", text);
    if (errno || n < low || n > high)
        return gn_fail(error, GN_INVALID, "%s is outside %" PRIu64 " to %" PRIu64, text, low, high);
    *out = n;
    return GN_OK;
}

gn_status gn_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out, gn_error *error)
{
    return parse_number(text, false, low, high, out, error);
}

gn_status gn_parse_any_base(const char *text, uint64_t low, uint64_t high, uint64_t *out, gn_error *error)
{
    return parse_number(text, !strncasecmp(text, "0x", 2), low, high, out, error);
}

gn_status gn_parse_size(const char *text, uint64_t *bytes, gn_error *error)
{
    const scanned found = scan_quantity(text, false, size_units, bytes);
    if (found) return found == SCANNED ? GN_OK : too_large(text, error);
    return gn_fail(error, GN_INVALID, "'%s' is not a size; write bytes, or 4K, 25M, 1G (powers of 1024)", text);
}

gn_status gn_parse_rate(const char *text, uint64_t *bits_per_second, gn_error *error)
{
    const scanned found = scan_quantity(text, true, rate_units, bits_per_second);
    if (found) return found == SCANNED ? GN_OK : too_large(text, error);
    return gn_fail(error, GN_INVALID, "'%s' is not a rate; write it as 200mbit or 1gbit", text);
}

gn_status gn_parse_frequency(const char *text, uint64_t *hertz, gn_error *error)
{
    const scanned found = scan_quantity(text, true, frequency_units, hertz);
    if (found) return found == SCANNED ? GN_OK : too_large(text, error);
    return gn_fail(error, GN_INVALID, "'%s' is not a frequency; write it with its unit: 100mhz, 156.25mhz, 1ghz", text);
}

gn_status gn_parse_duration(const char *text, uint64_t *nanoseconds, gn_error *error)
{
    if (scan_quantity(text, true, duration_units, nanoseconds) != NOT_ONE) return GN_OK;
    return gn_fail(error, GN_INVALID, "'%s' is not a duration; write it with its unit: 250us, 10ms, 2s, 1min", text);
}

gn_status gn_parse_seconds(const char *text, uint64_t *nanoseconds, gn_error *error)
{
    static const unit seconds[] = {{"", GN_SECOND}, {NULL, 0}};
    if (scan_quantity(text, true, seconds, nanoseconds) != NOT_ONE) return GN_OK;
    if (scan_quantity(text, true, duration_units, nanoseconds) != NOT_ONE) return GN_OK;
    return gn_fail(error, GN_INVALID, "'%s' is not a duration; write it as 5s, 500ms, or a number of seconds", text);
}

gn_status gn_parse_probability(const char *text, double *probability, gn_error *error)
{
    double number;
    const char *rest;
    if (scan_decimal(text, true, &number, &rest)) {
        if (!strcmp(rest, "%")) number /= 100, rest++;
        if (!*rest && number <= 1) {
            *probability = number;
            return GN_OK;
        }
    }
    return gn_fail(error, GN_INVALID, "'%s' is not a probability; write it as 1%% or 0.01", text);
}

const char *gn_list_item(const char *list, char *item, size_t room)
{
    const size_t length = strcspn(list, ",");
    snprintf(item, room, "%.*s", (int)(length < room ? length : room - 1), list);
    return list + length;
}

/// Three significant digits and a prefix out of `prefixes`.
static gn_text scale(double value, double base, const char *const *prefixes, const char *unit_name)
{
    gn_text text;
    while (value >= base * 0.9995 && prefixes[1]) value /= base, prefixes++;
    const int decimals = value >= 99.95 || value == floor(value) ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(text.s, sizeof text.s, "%.*f %s%s", decimals, value, *prefixes, unit_name);
    size_t length = strlen(text.s);
    if (length && text.s[length - 1] == ' ') text.s[length - 1] = 0;
    return text;
}

static const char *const decimal_prefixes[] = {"", "k", "M", "G", "T", "P", "E", NULL};

gn_text gn_human_bytes(uint64_t bytes)
{
    static const char *const binary_prefixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", NULL};
    return scale((double)bytes, 1024, binary_prefixes, "B");
}

gn_text gn_human_count(uint64_t count)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E", NULL};
    return scale((double)count, 1000, prefixes, "");
}

gn_text gn_human_rate(double bytes_per_second)
{
    return scale(bytes_per_second, 1000, decimal_prefixes, "B/s");
}

gn_text gn_human_bits(double bits_per_second)
{
    return scale(bits_per_second, 1000, decimal_prefixes, "bit/s");
}

gn_text gn_human_frequency(double hertz)
{
    return scale(hertz, 1000, decimal_prefixes, "Hz");
}

gn_text gn_human_duration(double nanoseconds)
{
    static const char *const units[] = {"n", "u", "m", "", NULL};
    if (nanoseconds < 120e9) return scale(nanoseconds, 1000, units, "s");
    gn_text text;
    const uint64_t seconds = (uint64_t)(nanoseconds / 1e9 + 0.5);
    if (seconds < 7200)
        snprintf(text.s, sizeof text.s, "%" PRIu64 " min %" PRIu64 " s", seconds / 60, seconds % 60);
    else
        snprintf(text.s, sizeof text.s, "%" PRIu64 " h %" PRIu64 " min", seconds / 3600, seconds / 60 % 60);
    return text;
}
