// SPDX-License-Identifier: Apache-2.0
// Profiles on the command line.
#include <string.h>

#include "cli.h"

gn_message gn_parse_profile_or(const char *text, const char *other, gn_profile *profile)
{
    if (gn_profile_parse(text, profile) == GN_OK) return NULL;
    char names[128] = "";
    for (gn_profile p = 0; p < GN_PROFILE_COUNT; p++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", gn_profile_name(p));
    }
    return gn_message_format("'%s' is no profile; there are %s%s%s", text, names, *other ? ", " : "", other);
}

gn_message gn_parse_profile(const char *text, gn_profile *profile)
{
    return gn_parse_profile_or(text, "", profile);
}

gn_message gn_parse_kernel(const char *text, const char **kernel)
{
    char names[128] = "auto";
    *kernel = text;
    if (!strcmp(text, "auto")) return NULL;
    for (unsigned i = 0; gn_kernel_name(i); i++) {
        if (!strcmp(text, gn_kernel_name(i))) return NULL;
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", gn_kernel_name(i));
    }
    return gn_message_format("kernel '%s' is not in this build, or not for this machine; there are %s", text, names);
}

static size_t all_profiles(gn_profile *profiles)
{
    size_t n = 0;
    int lowest, highest;
    for (gn_profile p = 0; p < GN_PROFILE_COUNT; p++)
        if (!gn_profile_range(p, &lowest, &highest)) profiles[n++] = p;
    return n;
}

gn_message gn_parse_profiles(const char *text, gn_profile *profiles, size_t *count)
{
    if (!strcmp(text, "all")) {
        *count = all_profiles(profiles);
        return NULL;
    }
    char item[64];
    size_t n = 0;
    for (const char *at = text;; at++) {
        at = gn_list_item(at, item, sizeof item);
        gn_profile profile;
        gn_message wrong = gn_parse_profile_or(item, "all", &profile);
        if (wrong) return wrong;
        for (size_t i = 0; i < n; i++)
            if (profiles[i] == profile) return gn_message_format("profile %s is given twice", item);
        profiles[n++] = profile;
        if (!*at) break;
    }
    *count = n;
    return NULL;
}

gn_message gn_check_bound(gn_profile profile, int bound_exp)
{
    int lowest, highest;
    gn_profile_range(profile, &lowest, &highest);
    if (bound_exp >= lowest && bound_exp <= highest) return NULL;
    return gn_message_format("%s takes bounds from 2^%d (k = %d) to 2^%d (k = %d); 2^%d is outside",
                             gn_profile_name(profile), -lowest, lowest, -highest, highest, -bound_exp);
}
