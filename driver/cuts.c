// SPDX-License-Identifier: Apache-2.0
#include "driver/cuts.h"

#include <string.h>

enum {
    WINDOW = 1 << 30,  // TCP has no larger one (RFC 7323 2.3)
    ALL = (1 << GN_VALUE_BYTES) - 1,
    TRIES = 3  // a host that sends nothing but a part again and again would wait for ever
};

void gn_cuts_begin(gn_cuts *cuts, uint32_t first)
{
    cuts->since = cuts->aged = first;
    cuts->runs = cuts->next = 0;
    cuts->next_part = 0;
    memset(cuts->part, 0, sizeof cuts->part);
}

void gn_cuts_age(gn_cuts *cuts, uint32_t top)
{
    if (top - cuts->aged < WINDOW / 2) return;
    cuts->aged = top;
    memset(cuts->part, 0, sizeof cuts->part);
    if (top - cuts->since > WINDOW) cuts->since = top - WINDOW;
    for (unsigned i = 0; i < cuts->runs; i++)
        if (top - cuts->run[i].to > WINDOW) cuts->run[i] = (gn_cuts_run){.from = cuts->since, .to = cuts->since};
}

void gn_cuts_note(gn_cuts *cuts, const gn_cuts_run *run)
{
    gn_cuts_run *place = &cuts->run[cuts->next];
    if (cuts->runs == GN_CUTS_RUNS)
        cuts->since = place->to;
    else
        cuts->runs++;
    *place = *run;
    cuts->next = (uint16_t)((cuts->next + 1) % GN_CUTS_RUNS);
}

// Whether `at` lies within the value that begins with `value`.
static bool is_within(uint32_t at, uint32_t value)
{
    return at - value - 1 < GN_VALUE_BYTES - 1;
}

static bool run_cuts(const gn_cuts_run *run, uint32_t value)
{
    if (is_within(run->from, value) || is_within(run->to, value)) return true;
    const uint32_t ahead = value + GN_VALUE_BYTES - 1 - run->from;  // of the value's last byte
    if (!run->piece || ahead >= run->to - run->from) return false;
    return is_within(run->from + ahead / run->piece * run->piece, value);
}

// Whether a value was cut when it was sent first, or that is not known.
static bool was_cut(const gn_cuts *cuts, uint32_t value, uint32_t top)
{
    if ((int32_t)(value + GN_VALUE_BYTES - top) > 0 || (int32_t)(value - cuts->since) < 0) return true;
    for (unsigned i = 0; i < cuts->runs; i++)
        if (run_cuts(&cuts->run[i], value)) return true;
    return false;
}

static gn_cuts_part *part_of(gn_cuts *cuts, uint32_t value)
{
    for (unsigned i = 0; i < GN_CUTS_PARTS; i++)
        if (cuts->part[i].have && cuts->part[i].at == value) return &cuts->part[i];
    gn_cuts_part *part = &cuts->part[cuts->next_part];
    cuts->next_part = (uint8_t)((cuts->next_part + 1) % GN_CUTS_PARTS);
    *part = (gn_cuts_part){.at = value};
    return part;
}

// Keeps bytes `first` to `first + count` of a value.
static gn_cuts_part *keep(gn_cuts *cuts, uint32_t value, const uint8_t *bytes, unsigned first, unsigned count)
{
    gn_cuts_part *part = part_of(cuts, value);
    memcpy(part->bytes + first, bytes, count);
    part->have = (uint8_t)(part->have | ((1U << count) - 1) << first);
    return part;
}

// The first bytes belong to a value that begins ahead of the segment. @return the value's part,
// when they must not leave
static gn_cuts_part *make_head(gn_cuts *cuts, const gn_cuts_segment *s, gn_cuts_whole *w)
{
    const uint32_t value = s->seq + s->head - GN_VALUE_BYTES;
    const unsigned first = GN_VALUE_BYTES - s->head, count = s->bytes < s->head ? s->bytes : s->head;
    if (was_cut(cuts, value, s->top)) return NULL;
    gn_cuts_part *part = keep(cuts, value, s->payload, first, count);
    if (part->have != ALL) {
        w->start = count;
        return part;
    }
    w->lead = (uint8_t)first;
    memcpy(w->ahead, part->bytes, first);
    w->trail = (uint8_t)(s->head - count);
    memcpy(w->behind, part->bytes + first + count, w->trail);
    return NULL;
}

// The last bytes belong to a value that ends behind the segment.
static gn_cuts_part *make_tail(gn_cuts *cuts, const gn_cuts_segment *s, gn_cuts_whole *w)
{
    const unsigned count = (s->bytes - s->head) % GN_VALUE_BYTES;
    const uint32_t value = s->seq + s->bytes - count;
    if (!count || was_cut(cuts, value, s->top)) return NULL;
    gn_cuts_part *part = keep(cuts, value, s->payload + s->bytes - count, 0, count);
    if (part->have != ALL) {
        w->end = s->bytes - count;
        return part;
    }
    w->trail = (uint8_t)(GN_VALUE_BYTES - count);
    memcpy(w->behind, part->bytes + count, w->trail);
    return NULL;
}

// A host that has had an answer to part of a value sends nothing again that comes before it.
static void begin_anew(gn_cuts *cuts, uint32_t seq)
{
    for (unsigned i = 0; i < GN_CUTS_PARTS; i++)
        if ((int32_t)(seq - cuts->part[i].at) < 0) cuts->part[i].tries = 0;
}

void gn_cuts_make_whole(gn_cuts *cuts, const gn_cuts_segment *segment, gn_cuts_whole *whole)
{
    gn_cuts_part *head = NULL, *tail = NULL;
    begin_anew(cuts, segment->seq);
    *whole = (gn_cuts_whole){.end = segment->bytes};
    if (segment->head) head = make_head(cuts, segment, whole);
    if (segment->bytes > segment->head) tail = make_tail(cuts, segment, whole);
    if (head && head->tries++ >= TRIES) {
        gn_cuts_note(cuts, &(gn_cuts_run){.from = segment->seq, .to = segment->seq});
        whole->start = 0;
    }
    if (tail && whole->start == whole->end && !whole->lead && tail->tries++ >= TRIES) {
        gn_cuts_note(cuts, &(gn_cuts_run){.from = segment->seq + segment->bytes, .to = segment->seq + segment->bytes});
        whole->end = segment->bytes;
    }
}
