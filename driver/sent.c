// SPDX-License-Identifier: Apache-2.0
// A value may not come half exact and half rounded. What is sent again may be cut elsewhere than
// before, and the receiver puts it together with what it has. So of a flow that is cut within
// values, only what is certainly new may be rounded. What is sent again leaves in whole values, but
// for those that were cut when they were new: these were never rounded.
//
// A host sends one byte after the other. Bytes that are missing here were sent past the NIC, got
// lost on their way to it, or the segment is another connection's, whose SYN was not seen: then the
// flow's phase says nothing. Lost ones come again, and that tells.
#include "driver/sent.h"

enum {
    WINDOW = 1 << 30,  // TCP has no larger one (RFC 7323 2.3)
    EARLIER = 1 << 26  // as much may have been sent before the first byte that was seen, and come again
};

void gn_sent_know(gn_sent *sent, uint32_t first)
{
    *sent = (gn_sent){.first = first, .known = true};
}

void gn_sent_begin(gn_sent *sent, gn_cuts *cuts, uint32_t seq, int head)
{
    if (!sent->known) sent->first = seq;
    gn_cuts_begin(cuts, sent->first);
    sent->top = seq;
    sent->phase = (uint8_t)((seq + (uint32_t)head) & 3);
    sent->begun = true;
}

void gn_sent_forget_cuts(gn_sent *sent)
{
    if (!sent->within || sent->lost) return;
    sent->lost = sent->recut = true;
}

// How many bytes later than `b` in the stream `a` is; negative: earlier.
static int32_t beyond(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

static void note_gap(gn_sent *sent, const gn_sent_segment *s)
{
    const uint32_t behind = s->seq + s->bytes;
    if (sent->gapped && beyond(s->seq, sent->gap) <= 0 && beyond(behind, sent->gap) > 0) sent->gapped = false;
    // Without a cut within values, it does not matter which connection's the segment is.
    if (!sent->gapped && sent->within && beyond(s->seq, sent->top) > 0) {
        sent->gapped = true;
        sent->gap = sent->top;
    }
}

uint8_t gn_sent_head(const gn_sent *sent, uint32_t seq)
{
    return (sent->phase - seq) & 3;
}

// Whether all that the host makes of a segment begins and ends with values.
static bool has_whole_values(const gn_sent *sent, const gn_sent_segment *s)
{
    const bool cut = s->piece && s->piece < s->bytes;
    return !gn_sent_head(sent, s->seq) && !(cut && s->piece % 4) && (s->end || !(s->bytes % 4));
}

// Whether a segment begins where none of the flow's own segments does.
static bool begins_elsewhere(const gn_sent *sent, const gn_sent_segment *s)
{
    return sent->noted && !sent->within && beyond(s->seq, sent->top) <= 0 && gn_sent_head(sent, s->seq);
}

// Whether a segment cannot be of this flow: it is further away than any window, or earlier than the
// first byte.
static bool is_far(const gn_sent *sent, const gn_sent_segment *s)
{
    const int32_t ahead = beyond(s->seq, sent->top), early = beyond(sent->first, s->seq);
    return ahead > WINDOW || ahead < -WINDOW || early > (sent->known ? 0 : EARLIER);
}

// What begins elsewhere may be another connection's, and nothing is rounded any more. Or the path
// has become narrower, and this host sends again in other pieces.
static void note_foreign(gn_sent *sent, const gn_sent_segment *s)
{
    if (sent->lost) return;
    const bool far = is_far(sent, s);
    sent->lost = far || begins_elsewhere(sent, s);
    sent->recut = sent->lost && !far;
}

static void note_cuts(const gn_sent *sent, gn_cuts *cuts, const gn_sent_segment *s)
{
    const uint32_t behind = s->seq + s->bytes;
    gn_cuts_age(cuts, sent->top);
    if (beyond(s->seq, sent->top) >= 0) {
        if (!has_whole_values(sent, s)) gn_cuts_note(cuts, &(gn_cuts_run){s->seq, behind, s->piece});
    } else if (beyond(behind, sent->top) > 0 && gn_sent_head(sent, behind)) {
        gn_cuts_note(cuts, &(gn_cuts_run){behind, behind, 0});
    }
}

gn_sent_held gn_sent_note(gn_sent *sent, gn_cuts *cuts, const gn_sent_segment *s)
{
    const uint32_t behind = s->seq + s->bytes;
    const bool again = beyond(s->seq, sent->top) < 0;
    note_foreign(sent, s);
    if (sent->lost) return sent->recut && again && !is_far(sent, s) ? GN_SENT_AGAIN : GN_SENT_HELD;
    sent->noted = true;
    if (!has_whole_values(sent, s)) sent->within = true;
    note_gap(sent, s);
    note_cuts(sent, cuts, s);
    if (beyond(behind, sent->top) > 0) sent->top = behind;
    if (sent->gapped && sent->top - sent->gap > WINDOW) sent->lost = true;
    if (beyond(sent->top, sent->first) > WINDOW) sent->first = sent->top - WINDOW;
    if (sent->lost) return GN_SENT_HELD;
    if (sent->within && again) return GN_SENT_AGAIN;
    return sent->gapped || (sent->within && !sent->known) ? GN_SENT_HELD : GN_SENT_FREE;
}
