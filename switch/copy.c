// SPDX-License-Identifier: Apache-2.0
#include "copy.h"

bool gn_copy_may_open(const gn_copy *copy, const gn_copy *other, uint32_t slots, const gn_agg_packet *p)
{
    if (!p->version && copy->state == GN_COPY_EMPTY) return p->psn == p->slot;
    const bool has_before = other->state == GN_COPY_DONE && other->psn + slots == p->psn;
    if (copy->state == GN_COPY_EMPTY) return has_before && p->psn == slots + p->slot;
    return has_before && copy->state == GN_COPY_DONE;
}
