// SPDX-License-Identifier: Apache-2.0
// Profiles, bounds and kernels on the command line.
#include "codec_options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOWEST_BOUND_EXP = -31, HIGHEST_BOUND_EXP = 126 };  // over all profiles

/// Parses a decimal number of at most 4 digits with an optional sign.
/// @return the text behind it; NULL if there is none
static const char *scan_integer(const char *text, int *number)
{
    const bool negative = *text == '-';
    const char *digits = text + negative;
    const size_t length = strspn(digits, "0123456789");
    if (!length || length > 4) return NULL;
    *number = atoi(digits) * (negative ? -1 : 1);
    return digits + length;
}

gn_status gn_parse_bound(const char *text, int *bound_exp, gn_error *error)
{
    const bool power = !strncmp(text, "2^", 2);
    int k;
    const char *rest = scan_integer(power ? text + 2 : text, &k);
    if (!rest || *rest)
        return gn_fail(error, GN_INVALID, "'%s' is not a bound; write it as 2^-10, or 10 for short", text);
    if (power) k = -k;
    if (k < LOWEST_BOUND_EXP || k > HIGHEST_BOUND_EXP)
        return gn_fail(error, GN_INVALID,
                       "bound %s is outside of every profile's range, 2^%d (k = %d) to 2^-%d (k = %d)", text,
                       -LOWEST_BOUND_EXP, LOWEST_BOUND_EXP, HIGHEST_BOUND_EXP, HIGHEST_BOUND_EXP);
    *bound_exp = k;
    return GN_OK;
}

gn_status gn_parse_bounds(const char *text, int *bounds, size_t capacity, size_t *count, gn_error *error)
{
    char item[64];
    size_t n = 0;
    for (const char *at = text;; at++) {
        at = gn_list_item(at, item, sizeof item);
        int k = 0;
        gn_status wrong = gn_parse_bound(item, &k, error);
        if (wrong) return wrong;
        for (size_t i = 0; i < n; i++)
            if (bounds[i] == k) return gn_fail(error, GN_INVALID, "bound %s is given twice", item);
        if (n == capacity) return gn_fail(error, GN_INVALID, "more than %zu bounds", capacity);
        bounds[n++] = k;
        if (!*at) break;
    }
    *count = n;
    return GN_OK;
}

gn_status gn_parse_profile_or(const char *text, const char *other, gn_profile *profile, gn_error *error)
{
    if (gn_profile_parse(text, profile) == GN_OK) return GN_OK;
    char names[128] = "";
    for (gn_profile p = 0; p < GN_PROFILE_COUNT; p++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", gn_profile_name(p));
    }
    return gn_fail(error, GN_INVALID, "'%s' is not a profile; there are %s%s%s", text, names, *other ? ", " : "",
                   other);
}

gn_status gn_parse_profile(const char *text, gn_profile *profile, gn_error *error)
{
    return gn_parse_profile_or(text, "", profile, error);
}

gn_status gn_parse_kernel(const char *text, const char **kernel, gn_error *error)
{
    char names[128] = "auto";
    bool known = !strcmp(text, "auto");
    for (unsigned i = 0; gn_kernel_name(i); i++) {
        const size_t used = strlen(names);
        known |= !strcmp(text, gn_kernel_name(i));
        snprintf(names + used, sizeof names - used, ", %s", gn_kernel_name(i));
    }
    if (known) {
        *kernel = text;
        return GN_OK;
    }
    return gn_fail(error, GN_INVALID, "kernel '%s' is not in this build, or not for this machine; there are %s", text,
                   names);
}

size_t gn_all_profiles(gn_profile profiles[GN_PROFILE_COUNT])
{
    size_t n = 0;
    int lowest, highest;
    for (gn_profile p = 0; p < GN_PROFILE_COUNT; p++)
        if (!gn_profile_range(p, &lowest, &highest)) profiles[n++] = p;
    return n;
}

gn_status gn_parse_profiles(const char *text, gn_profile *profiles, size_t *count, gn_error *error)
{
    if (!strcmp(text, "all")) {
        *count = gn_all_profiles(profiles);
        return GN_OK;
    }
    char item[64];
    size_t n = 0;
    for (const char *at = text;; at++) {
        at = gn_list_item(at, item, sizeof item);
        gn_profile profile;
        gn_status wrong = gn_parse_profile_or(item, "all", &profile, error);
        if (wrong) return wrong;
        for (size_t i = 0; i < n; i++)
            if (profiles[i] == profile) return gn_fail(error, GN_INVALID, "profile %s is given twice", item);
        profiles[n++] = profile;
        if (!*at) break;
    }
    *count = n;
    return GN_OK;
}

gn_status gn_check_bound(gn_profile profile, int bound_exp, gn_error *error)
{
    int lowest, highest;
    gn_profile_range(profile, &lowest, &highest);
    if (bound_exp >= lowest && bound_exp <= highest) return GN_OK;
    return gn_fail(error, GN_INVALID, "%s takes bounds from 2^%d (k = %d) to 2^%d (k = %d); 2^%d is outside",
                   gn_profile_name(profile), -lowest, lowest, -highest, highest, -bound_exp);
}

gn_text gn_human_bound(int bound_exp)
{
    gn_text text;
    snprintf(text.s, sizeof text.s, "2^%d", -bound_exp);
    return text;
}
