// SPDX-License-Identifier: Apache-2.0
#include "visited.h"

#include <stdlib.h>
#include <string.h>

#include "unit/suite.h"

uint64_t blend_bytes(uint64_t id, const void *bytes, size_t count)
{
    for (size_t at = 0; at < count; at += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + at, count - at < 8 ? count - at : 8);
        id = blend(id, word);
    }
    return blend(id, count);
}

/// Where `id` is, or should be.
static uint64_t *place_of(const visited_set *set, uint64_t id)
{
    uint64_t at = id & (set->places - 1);
    while (set->id[at] && set->id[at] != id) at = (at + 1) & (set->places - 1);
    return &set->id[at];
}

static void double_places(visited_set *set)
{
    const visited_set old = *set;
    set->places = old.places ? 2 * old.places : 1 << 12;
    set->id = calloc(set->places, sizeof *set->id);
    SUITE_CHECK(set->id, "no memory");
    for (uint64_t i = 0; i < old.places; i++)
        if (old.id[i]) *place_of(set, old.id[i]) = old.id[i];
    free(old.id);
}

bool visited_add(visited_set *set, uint64_t id)
{
    if (2 * set->count >= set->places) double_places(set);
    uint64_t *place = place_of(set, id);
    if (*place) return false;
    *place = id;
    set->count++;
    return true;
}
