// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/ranks.h"

#include <stdio.h>

int gn_ranks_common(const gn_ranks *a, const gn_ranks *b)
{
    for (unsigned i = 0; i < sizeof a->bits / sizeof *a->bits; i++)
        if (a->bits[i] & b->bits[i]) return (int)(64 * i) + __builtin_ctzll(a->bits[i] & b->bits[i]);
    return -1;
}

bool gn_ranks_list(const gn_ranks *set, char *text, size_t room)
{
    size_t used = 0;
    unsigned count = 0;
    *text = 0;
    for (unsigned i = 0; i < GN_ADMISSION_RANKS_MAX; i++) {
        if (!gn_ranks_have(set, i)) continue;
        const char *comma = used ? ", " : "";
        unsigned last = i;
        while (last + 1 < GN_ADMISSION_RANKS_MAX && gn_ranks_have(set, last + 1)) last++;
        if (used + 16 > room) {
            snprintf(text + used, room - used, "%s...", comma);
            return true;
        }
        used += (size_t)snprintf(text + used, room - used, last == i ? "%s%u" : "%s%u-%u", comma, i, last);
        count += last - i + 1;
        i = last;
    }
    return count > 1;
}

const char *gn_bits_list(uint64_t bits, char *text, size_t room)
{
    const gn_ranks set = {.bits = {bits}};
    gn_ranks_list(&set, text, room);
    return text;
}
