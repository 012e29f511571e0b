// SPDX-License-Identifier: Apache-2.0
#include "copy.h"

bool gn_copy_fits(const gn_copy *copy, const gn_agg_packet *p, gn_agg_format format)
{
    const bool says_nothing = p->flags & GN_AGG_POISON, nothing_said = copy->poison && !copy->values;
    if (p->values != copy->values && !says_nothing && !nothing_said) return false;
    return format == GN_AGG_INT32 ? p->exponent == copy->exponent : true;
}

gn_added gn_copy_add(gn_copy *copy, int32_t *sums, const gn_agg_packet *p, const gn_switch_job *job,
                     const gn_codec *codec, uint64_t now_ns, bool first)
{
    const bool poison = p->flags & GN_AGG_POISON;
    if (!first && !gn_copy_fits(copy, p, job->format)) return GN_ADD_FORMAT;
    gn_added added = poison ? GN_ADDED_POISON : GN_ADDED;
    if (!poison && p->values && (first || !copy->poison)) {
        added = gn_sums_add(sums, p, job, codec, first);
        if (added == GN_ADD_FORMAT || added == GN_ADD_STREAM) return added;
    }
    if (first)
        *copy = (gn_copy){.psn = p->psn,
                          .since_ns = now_ns,
                          .values = p->values,
                          .state = GN_COPY_OPEN,
                          .exponent = p->exponent,
                          .next = p->next};
    copy->seen |= p->bitmap;
    copy->poison |= added == GN_ADDED_POISON;
    copy->flags |= p->flags & GN_COPY_FLAGS;
    if (!copy->values) copy->values = p->values;  // the first had only said that it is poisoned
    if (p->next > copy->next) copy->next = p->next;
    return added;
}

bool gn_copy_may_open(const gn_copy *copy, const gn_copy *other, uint32_t slots, const gn_agg_packet *p)
{
    if (!p->version && copy->state == GN_COPY_EMPTY) return p->psn == p->slot;
    const bool has_before = other->state == GN_COPY_DONE && other->psn + slots == p->psn;
    if (copy->state == GN_COPY_EMPTY) return has_before && p->psn == slots + p->slot;
    return has_before && copy->state == GN_COPY_DONE;
}
