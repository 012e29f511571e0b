// SPDX-License-Identifier: Apache-2.0
#include "ring/bootstrap/roster.h"

#include <stdio.h>

bool gn_roster_has(const gn_roster *roster, int rank)
{
    return roster->present[rank / 8] >> (rank % 8) & 1;
}

void gn_roster_add(gn_roster *roster, int rank)
{
    roster->present[rank / 8] |= (uint8_t)(1u << (rank % 8));
}

void gn_roster_remove(gn_roster *roster, int rank)
{
    roster->present[rank / 8] &= (uint8_t) ~(1u << (rank % 8));
}

bool gn_roster_is_complete(const gn_roster *roster)
{
    for (int rank = 0; rank < roster->size; rank++)
        if (!gn_roster_has(roster, rank)) return false;
    return true;
}

void gn_roster_missing(const gn_roster *roster, char *text, size_t room)
{
    char ranks[200] = "";
    size_t used = 0;
    int missing = 0;
    for (int rank = 0; rank < roster->size && used < sizeof ranks; rank++) {
        int last = rank;
        while (last < roster->size && !gn_roster_has(roster, last)) last++;
        if (last == rank) continue;
        missing += last - rank;
        const char *comma = used ? ", " : "";
        const int n = last - rank > 1 ? snprintf(ranks + used, sizeof ranks - used, "%s%d-%d", comma, rank, last - 1)
                                      : snprintf(ranks + used, sizeof ranks - used, "%s%d", comma, rank);
        used += n > 0 ? (size_t)n : 0;
        rank = last;
    }
    snprintf(text, room, "rank%s %s", missing == 1 ? "" : "s", ranks);
}

void gn_guests_tell(gn_bootstrap *boot, const uint8_t *frame, size_t length)
{
    for (int rank = 1; rank < GN_RANKS_MAX; rank++) (void)gn_framed_send(boot->guest[rank].connection, frame, length);
}
