// SPDX-License-Identifier: Apache-2.0
#include "ring/groups/grouping.h"

#include <stdio.h>
#include <string.h>

#include "net/number.h"

gn_status gn_grouping_read(const char *text, gn_grouping *grouping, gn_error *error)
{
    static const char by_number[] = "number:";
    const size_t prefix = sizeof by_number - 1;
    unsigned number = 0;
    *grouping = (gn_grouping){.by = GN_GROUPS_BY_HOST};
    if (!text || !*text || !strcmp(text, "host")) return GN_OK;
    if (!strncmp(text, by_number, prefix)) {
        grouping->by = GN_GROUPS_BY_NUMBER;
        if (gn_number_parse(text + prefix, UINT16_MAX, &number)) {
            grouping->number = (uint16_t)number;
            return GN_OK;
        }
    } else if (gn_number_parse(text, GN_RANKS_MAX, &number) && number) {
        grouping->by = (uint16_t)number;
        return GN_OK;
    }
    return gn_fail(error, GN_INVALID,
                   "groups is '%.40s': want host, ranks of a group (1 to %d), or number:G with this rank's group G (0 "
                   "to %d)",
                   text, GN_RANKS_MAX, UINT16_MAX);
}

void gn_grouping_say(uint16_t by, char *text, size_t room)
{
    if (by == GN_GROUPS_BY_HOST)
        snprintf(text, room, "by host");
    else if (by == GN_GROUPS_BY_NUMBER)
        snprintf(text, room, "by number");
    else
        snprintf(text, room, "%u rank%s in a row", by, by == 1 ? "" : "s");
}

static bool same_host(const gn_address *a, const gn_address *b)
{
    return a->family == b->family && !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

void gn_grouping_divide(uint16_t by, const uint16_t numbers[GN_RANKS_MAX], gn_rank_table *table)
{
    int first[GN_RANKS_MAX];  // rank of a group
    unsigned groups = 0;
    for (int rank = 0; rank < table->size; rank++) {
        unsigned g = 0;
        for (; g < groups; g++) {
            if (by == GN_GROUPS_BY_HOST && same_host(&table->address[first[g]], &table->address[rank])) break;
            if (by == GN_GROUPS_BY_NUMBER && numbers[first[g]] == numbers[rank]) break;
            if (by != GN_GROUPS_BY_HOST && by != GN_GROUPS_BY_NUMBER && first[g] / by == rank / by) break;
        }
        if (g == groups) first[groups++] = rank;
        table->group[rank] = (uint8_t)g;
    }
}
