// SPDX-License-Identifier: Apache-2.0
// Flows are in a table of sets. A flow can only be in the set that its hash names, and takes there
// the place of the flow that was silent for longest. The hash is keyed with random bytes, so nobody
// can choose ports that fall into one set.
#include "driver/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "driver/evicted.h"
#include "driver/inner.h"
#include "driver/looks.h"
#include "driver/rules.h"
#include "driver/sent.h"
#include "driver/untouched.h"
#include "host/warn.h"
#include "net/clock.h"
#include "net/splitmix.h"

enum { WAYS = 4, SETS = GN_GUARD_FLOWS / WAYS, KEY_WORDS = 10 };

typedef struct flow_key {
    uint32_t words[KEY_WORDS];  // source, destination, ports, version and protocol
} flow_key;

typedef struct entry {
    flow_key key;  // version 0: no flow
    gn_looks verdict;
    uint64_t seen;  // gn_now() of its last segment
    gn_sent sent;   // TCP
    gn_evidence evidence;
} entry;

struct gn_guard {
    const char *name;
    uint64_t secret[KEY_WORDS + 1];
    gn_untouched *untouched;
    gn_evicted *evicted;
    gn_log_limit limit;
    gn_guard_counters counters;
    entry *held;     // of the segment that was looked at last, when it is held
    gn_cuts *whole;  // of it, when its values must not leave in parts
    bool plain;      // it has no rule's mark, so the receiver looks for no shim
    entry flows[SETS][WAYS];
    gn_cuts cuts[SETS][WAYS];  // of each flow that has begun
    gn_cuts taken;             // of one that had given way
    uint8_t copy[GN_PACKET_MAX + GN_VALUE_BYTES];
};

void gn_guard_free(gn_guard *guard)
{
    if (!guard) return;
    gn_untouched_free(guard->untouched);
    gn_evicted_free(guard->evicted);
    free(guard);
}

gn_guard *gn_guard_new(const char *name)
{
    gn_guard *guard = calloc(1, sizeof *guard);
    if (!guard) return NULL;
    guard->name = name;
    guard->untouched = gn_untouched_new();
    guard->evicted = gn_evicted_new();
    if (guard->untouched && guard->evicted && !getentropy(guard->secret, sizeof guard->secret)) return guard;
    gn_guard_free(guard);
    return NULL;
}

const gn_guard_counters *gn_guard_count(const gn_guard *guard)
{
    return &guard->counters;
}

void gn_guard_forget(gn_guard *guard)
{
    memset(guard->flows, 0, sizeof guard->flows);
    gn_evicted_forget(guard->evicted);
}

// @return false when there is no whole IP packet
static bool make_key(flow_key *key, const gn_segment *segment, const gn_headers *h)
{
    gn_ip_header ip;
    if (!gn_ip_header_read(segment->packet, segment->length, &ip)) return false;
    memset(key, 0, sizeof *key);
    memcpy(key->words, segment->packet + ip.source, ip.address_bytes);
    memcpy(key->words + 4, segment->packet + ip.destination, ip.address_bytes);
    memcpy(key->words + 8, segment->packet + h->l4, 4);
    key->words[9] = (uint32_t)h->version << 8 | h->protocol;
    return true;
}

// Multilinear hashing (Lemire and Kaser 2014): strongly universal for a random key. Ports that
// follow one another would crowd in some sets, so the sum is mixed.
static uint64_t hash(const gn_guard *guard, const flow_key *key)
{
    uint64_t sum = guard->secret[KEY_WORDS];
    for (int i = 0; i < KEY_WORDS; i++) sum += guard->secret[i] * key->words[i];
    return splitmix64(&sum) | 1;
}

static entry *set_of(gn_guard *guard, uint64_t tag)
{
    return guard->flows[(tag >> 32) % SETS];
}

static gn_cuts *cuts_of(gn_guard *guard, const entry *flow)
{
    return guard->cuts[0] + (flow - guard->flows[0]);
}

// A flow of which nothing has left yet may begin anew.
static void make_room(gn_guard *guard, const entry *flow)
{
    if (!flow->key.words[9]) return;
    guard->counters.evicted++;
    if (!flow->sent.begun && flow->verdict == GN_LOOKS_UNDECIDED) return;
    const gn_evicted_flow kept = {
        .tag = hash(guard, &flow->key), .seen = flow->seen, .verdict = flow->verdict, .sent = flow->sent};
    gn_evicted_keep(guard->evicted, &kept, cuts_of(guard, flow));
}

// The entry that was silent for longest makes room.
static entry *add(gn_guard *guard, const flow_key *key)
{
    entry *set = set_of(guard, hash(guard, key)), *oldest = set;
    for (int i = 1; i < WAYS; i++)
        if (set[i].seen < oldest->seen) oldest = &set[i];
    make_room(guard, oldest);
    *oldest = (entry){.key = *key};
    return oldest;
}

// @return NULL when the flow is not known; one that has given way to others is
static entry *find(gn_guard *guard, const flow_key *key)
{
    const uint64_t tag = hash(guard, key);
    entry *set = set_of(guard, tag);
    gn_evicted_flow kept;
    for (int i = 0; i < WAYS; i++)
        if (!memcmp(&set[i].key, key, sizeof *key)) return &set[i];
    if (!gn_evicted_take(guard->evicted, tag, &kept, &guard->taken)) return NULL;
    entry *flow = add(guard, key);
    flow->verdict = kept.verdict;
    flow->seen = kept.seen;
    flow->sent = kept.sent;
    if (flow->sent.begun) *cuts_of(guard, flow) = guard->taken;
    return flow;
}

static void tell(gn_guard *guard, const gn_segment *segment, const gn_headers *h, const char *why, uint64_t now)
{
    gn_inner inner;
    (void)gn_guard_tell_rest(guard, now);
    if (!gn_log_limit_take(&guard->limit, now) || !gn_inner_read(segment->packet, segment->length, &inner)) return;
    const gn_endpoint from = {.ip = inner.source, .port = h->source_port},
                      to = {.ip = inner.destination, .port = h->destination_port};
    char source[GN_ENDPOINT_TEXT], destination[GN_ENDPOINT_TEXT];
    gn_warn("%s: %s from %s to %s is left alone: %s", guard->name, h->protocol == GN_PROTOCOL_TCP ? "TCP" : "UDP",
            gn_endpoint_format(&from, source), gn_endpoint_format(&to, destination), why);
}

uint64_t gn_guard_tell_rest(gn_guard *guard, uint64_t now)
{
    const uint64_t held = gn_log_limit_rest(&guard->limit, now), due = gn_log_limit_due(&guard->limit);
    if (held) gn_warn("%s: %llu more flows are left alone", guard->name, (unsigned long long)held);
    return due == UINT64_MAX ? due : due > now ? due - now : 0;
}

// A segment on its way, and what its headers say.
typedef struct view {
    const gn_segment *segment;
    gn_headers h;
    flow_key key;
} view;

// The words of a segment that would be compressed.
typedef struct words {
    const uint8_t *at;
    size_t count;
    bool all;  // no other word of the segment would be
} words;

// @return false when it is not known where values begin
static bool find_words(gn_datapath *datapath, const view *v, words *w)
{
    const gn_segment *s = v->segment;
    const bool tcp = v->h.protocol == GN_PROTOCOL_TCP;
    const int head = tcp ? gn_datapath_head(datapath, s->packet, s->length) : 0;
    size_t bytes = (size_t)(v->h.end - v->h.payload), skipped = head > 0 ? (size_t)head : 0;
    if (head < 0) return false;
    if (skipped > bytes) skipped = bytes;
    // Each datagram begins with a value. Of a segment of datagrams with odd sizes the first is
    // looked at.
    w->all = tcp || s->gso_size % 4 == 0;
    if (!w->all && s->gso_size < bytes) bytes = s->gso_size;
    w->at = s->packet + v->h.payload + skipped;
    w->count = (bytes - skipped) / 4;
    return true;
}

static entry *find_or_add(gn_guard *guard, const flow_key *key, const gn_headers *h, uint64_t now)
{
    entry *flow = find(guard, key);
    const bool old = flow && h->protocol == GN_PROTOCOL_UDP && now - flow->seen > GN_GUARD_UDP_PAUSE_S * GN_SECOND;
    if (!flow) flow = add(guard, key);
    if (old) *flow = (entry){.key = *key};
    flow->seen = now;
    return flow;
}

// Looks at one more segment of a flow without a verdict. @return whether it is to be left alone
static bool judge(gn_guard *guard, gn_datapath *datapath, entry *flow, const view *v, uint64_t now)
{
    words w;
    const char *why;
    char text[160];
    if (!find_words(datapath, v, &w)) return false;  // it goes stored
    gn_evidence_add(&flow->evidence, w.at, w.count);
    flow->verdict = gn_evidence_judge(&flow->evidence, &why);
    switch (flow->verdict) {
    case GN_LOOKS_GRADIENT:
        guard->counters.gradient_flows++;
        return false;
    case GN_LOOKS_OTHER:
        guard->counters.other_flows++;
        snprintf(text, sizeof text, "it looks like %s, not like gradients", why);
        tell(guard, v->segment, &v->h, text, now);
        return true;
    case GN_LOOKS_UNDECIDED:
        break;
    }
    return !w.all || !gn_words_travel_exactly(w.at, w.count);
}

// Notes a TCP segment. @return whether it has to go untouched, whatever the flow looks like
static gn_sent_held hold(gn_guard *guard, gn_datapath *datapath, entry *flow, const view *v)
{
    const bool ends = v->h.tcp_flags & (GN_TCP_FIN | GN_TCP_RST);
    gn_sent *sent = &flow->sent;
    if (v->h.protocol != GN_PROTOCOL_TCP) return GN_SENT_FREE;
    if (!sent->begun) {
        // Of a flow whose SYN was not seen all goes stored. To ask at its end would forget it.
        const int head = ends ? -1 : gn_datapath_head(datapath, v->segment->packet, v->segment->length);
        if (head < 0) return GN_SENT_FREE;
        gn_sent_begin(sent, cuts_of(guard, flow), v->h.seq, head);
    }
    return gn_sent_note(sent, cuts_of(guard, flow),
                        &(gn_sent_segment){.seq = v->h.seq,
                                           .bytes = (uint32_t)(v->h.end - v->h.payload),
                                           .piece = v->segment->gso_size,
                                           .end = v->h.tcp_flags & GN_TCP_FIN});
}

static bool leaves(gn_guard *guard, gn_datapath *datapath, const view *v, uint64_t now)
{
    entry *flow = find_or_add(guard, &v->key, &v->h, now);
    const gn_sent_held held = hold(guard, datapath, flow, v);
    if (flow->verdict == GN_LOOKS_GRADIENT && !held) return false;
    if (v->h.tcp_flags & (GN_TCP_FIN | GN_TCP_RST))
        (void)gn_datapath_head(datapath, v->segment->packet, v->segment->length);  // forgets the flow
    else if (flow->verdict == GN_LOOKS_UNDECIDED && !judge(guard, datapath, flow, v, now) && !held)
        return false;
    const bool other = held || flow->verdict == GN_LOOKS_OTHER;
    if (held) guard->held = flow;
    // Of a flow that does not look like gradients, nothing was ever rounded.
    if (held == GN_SENT_AGAIN && flow->verdict != GN_LOOKS_OTHER) guard->whole = cuts_of(guard, flow);
    *(other ? &guard->counters.left : &guard->counters.undecided) += 1;
    *(other ? &guard->counters.left_bytes : &guard->counters.undecided_bytes) += v->segment->length;
    return true;
}

// A flow begins, and another one may have had its ports. Marked from here on, it is known.
static void begin(gn_guard *guard, const view *v, bool marked, uint64_t now)
{
    entry *flow = find(guard, &v->key);
    if (flow) *flow = (entry){0};
    if (!marked) return;
    if (!flow) flow = add(guard, &v->key);
    *flow = (entry){.key = v->key, .seen = now};
    gn_sent_know(&flow->sent, v->h.seq + 1);
}

/// Why a connection's bytes have to arrive as they are, whatever they look like; NULL: they do not.
static const char *must_stay(const view *v)
{
    static const uint64_t kinds =
        UINT64_C(1) << GN_TCP_OPTION_MD5 | UINT64_C(1) << GN_TCP_OPTION_AO | UINT64_C(1) << GN_TCP_OPTION_MPTCP;
    const uint8_t *option = v->segment->packet + gn_packet_tcp_option(v->segment->packet, &v->h, kinds);
    if (option == v->segment->packet) return NULL;
    if (*option != GN_TCP_OPTION_MPTCP) return "its bytes are signed (TCP-MD5, TCP-AO)";
    // A SYN offers MPTCP (subtype MP_CAPABLE, 0). Not every host takes the offer.
    const bool offers =
        (v->h.tcp_flags & (GN_TCP_SYN | GN_TCP_ACK)) == GN_TCP_SYN && option[1] > 2 && !(option[2] >> 4);
    return offers ? NULL : "it has a part of the bytes of a connection (MPTCP)";
}

static void leave_alone(gn_guard *guard, const view *v, const char *why, uint64_t now)
{
    entry *flow = find_or_add(guard, &v->key, &v->h, now);
    if (flow->verdict == GN_LOOKS_OTHER) return;
    flow->verdict = GN_LOOKS_OTHER;
    guard->counters.other_flows++;
    tell(guard, v->segment, &v->h, why, now);
}

// What a flow sends without its mark counts, too, where it has one at other times. Values that have
// left rounded must not come again in parts. Before that, all leaves as the host cuts it. @return
// whether the segment is to be left alone
static bool leaves_unmarked(gn_guard *guard, gn_datapath *datapath, const view *v)
{
    entry *flow = find(guard, &v->key);
    if (!flow || (!flow->sent.begun && !flow->sent.known)) return false;
    gn_cuts *cuts = cuts_of(guard, flow);
    // The datapath looks at marked segments only. Values begin with the first byte.
    if (!flow->sent.begun) gn_sent_begin(&flow->sent, cuts, v->h.seq, (int)((flow->sent.first - v->h.seq) & 3));
    if (hold(guard, datapath, flow, v) != GN_SENT_AGAIN) return false;
    if (flow->verdict != GN_LOOKS_GRADIENT) {
        const uint32_t behind = v->h.seq + (uint32_t)(v->h.end - v->h.payload);
        gn_cuts_note(cuts, &(gn_cuts_run){v->h.seq, behind, v->segment->gso_size});
        return false;
    }
    if (v->h.tcp_flags & (GN_TCP_FIN | GN_TCP_RST))
        (void)gn_datapath_head(datapath, v->segment->packet, v->segment->length);  // forgets the flow
    guard->held = flow;
    guard->whole = cuts;
    guard->counters.left++;
    guard->counters.left_bytes += v->segment->length;
    return true;
}

bool gn_guard_leaves(gn_guard *guard, gn_datapath *datapath, const gn_rule *rules, size_t rule_count,
                     const gn_segment *segment, uint64_t now)
{
    view v;
    v.segment = segment;
    guard->held = NULL;
    guard->whole = NULL;
    guard->plain = false;
    if (gn_packet_parse(segment->packet, segment->length, &v.h) != GN_PARSE_OK) return false;
    const bool begins = v.h.tcp_flags & GN_TCP_SYN, tcp = v.h.protocol == GN_PROTOCOL_TCP;
    const char *why = must_stay(&v);
    const bool data = v.h.end != v.h.payload;
    if (!begins && !data && !why) return false;
    const gn_rule *rule = gn_rule_match(rules, rule_count, &v.h);
    // A head in the rule describes the packets of one program, such as those for a switch.
    if (!tcp && (!rule || rule->head)) return false;
    if (!make_key(&v.key, segment, &v.h)) return false;
    if (begins) begin(guard, &v, rule, now);
    if (rule && why) leave_alone(guard, &v, why, now);
    if (begins || !data) return false;
    if (rule) return leaves(guard, datapath, &v, now);
    if (!leaves_unmarked(guard, datapath, &v)) return false;
    guard->plain = !gn_rules_mark(rules, rule_count, v.h.tos);
    return true;
}

// Makes of a segment what may leave of it. @return false when that is nothing
static bool make_whole(gn_guard *guard, const gn_sent *sent, gn_cuts *whole, gn_segment *s, gn_headers *h)
{
    gn_cuts_whole w;
    const uint8_t *payload = s->packet + h->payload;
    const gn_cuts_segment segment = {.payload = payload,
                                     .seq = h->seq,
                                     .bytes = (uint32_t)(h->end - h->payload),
                                     .head = gn_sent_head(sent, h->seq),
                                     .top = sent->top};
    s->gso_size = 0;  // what the host cuts within a value is put together here
    gn_cuts_make_whole(whole, &segment, &w);
    const size_t kept = w.end - w.start, bytes = w.lead + kept + w.trail;
    if ((kept == segment.bytes && !w.lead && !w.trail) || h->payload + bytes > GN_PACKET_MAX) return true;
    if (!bytes && !(h->tcp_flags & GN_TCP_FIN)) return false;
    uint8_t *at = guard->copy + h->payload;
    memcpy(guard->copy, s->packet, h->payload);
    memcpy(at, w.ahead, w.lead);
    memcpy(at + w.lead, payload + w.start, kept);
    memcpy(at + w.lead + kept, w.behind, w.trail);
    h->seq += w.start - w.lead;
    h->end = (uint16_t)(h->payload + bytes);
    gn_untouched_renumber(guard->copy, h);
    s->packet = guard->copy;
    s->length = h->end;
    s->partial_checksum = true;
    s->checksum_start = h->l4;
    s->checksum_offset = (uint16_t)(gn_packet_checksum_at(h) - h->l4);
    return true;
}

gn_status gn_guard_cut(gn_guard *guard, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                       gn_headers_cut *cut)
{
    gn_segment s = *segment;
    gn_headers h;
    const entry *held = guard->held;
    gn_cuts *whole = guard->whole;
    uint64_t *shielded = guard->plain ? NULL : &guard->counters.shielded;
    guard->held = NULL;
    guard->whole = NULL;
    guard->plain = false;
    if (held && gn_packet_parse(s.packet, s.length, &h) == GN_PARSE_OK) {
        burst->count = 0;
        cut->header_bytes = 0;
        if (whole && !gn_packet_has_options(&h) && !make_whole(guard, &held->sent, whole, &s, &h)) return GN_OK;
        s.values = true;
        s.head = gn_sent_head(&held->sent, h.seq);
    }
    return gn_untouched_cut(guard->untouched, &s, wire_mtu, burst, cut, shielded);
}
