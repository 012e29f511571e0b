// SPDX-License-Identifier: Apache-2.0
#include "old_names.h"

#include <stdio.h>

#include "option_values.h"

void gn_option_renamed(const struct argp_state *state, const char *old, const char *now)
{
    fprintf(stderr, "%s: %s is now %s\n", state->name, old, now);
}

int gn_option_current(const struct argp_state *state, int key, const gn_old_name *names)
{
    for (; names->old; names++) {
        if (names->old_key != key) continue;
        char now[64];
        snprintf(now, sizeof now, "--%s", gn_option_name(state, names->key));
        gn_option_renamed(state, names->old, names->now ? names->now : now);
        return names->key;
    }
    return key;
}
