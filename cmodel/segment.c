// SPDX-License-Identifier: Apache-2.0
// Host to wire, one segment of up to 64 KiB (TSO, USO): cut into packets. Each packet's payload
// goes straight from the segment into the burst. Its headers are stamped ahead of it.
#include <string.h>

#include "bytes.h"
#include "stamp.h"
#include "transmit.h"

enum { SMALLEST_ROOM = 16 };  // payload bytes, shim included, below which an MTU is impossible

// A segment on its way into a burst.
typedef struct cutter {
    gn_stamp stamp;
    const uint8_t *payload;
    size_t length;  // of the payload
    size_t done;    // bytes of it that are in packets
    size_t piece;   // payload bytes of a packet that is not compressed
    size_t within;  // 0, or the host's own pieces, which begin or end within values and are too large
    size_t head;    // with `within`: bytes ahead of the first value
    size_t largest;
    size_t room;  // payload bytes of a packet on the wire
    gn_burst *burst;
} cutter;

static bool is_cut_allowed(const gn_headers *h, uint16_t gso_size)
{
    // Neither is ever cut: a SYN takes a sequence number of its own, a RST ends everything (RFC
    // 9293).
    if (h->protocol == GN_PROTOCOL_TCP) return !(h->tcp_flags & (GN_TCP_SYN | GN_TCP_RST));
    return gso_size > 0;
}

// Finds the size of the pieces. `growth`: bytes that a stored packet gains. `head`: bytes ahead of
// the first value; negative: it is not known.
static bool prepare(cutter *c, const gn_segment *segment, const gn_headers *h, size_t growth, size_t wire_mtu, int head)
{
    bool tcp = h->protocol == GN_PROTOCOL_TCP;
    if (wire_mtu > GN_PACKET_MAX) wire_mtu = GN_PACKET_MAX;
    if (wire_mtu < (size_t)h->payload + SMALLEST_ROOM) return false;
    gn_stamp_prepare(&c->stamp, segment->packet, h);
    // The host knows a source route's last address; the header has the next one.
    if (segment->partial_checksum && gn_packet_has_options(h)) gn_stamp_trust_partial(&c->stamp);
    c->payload = segment->packet + h->payload;
    c->length = (size_t)(h->end - h->payload);
    c->done = 0;
    c->room = wire_mtu - h->payload;
    c->piece = segment->gso_size && segment->gso_size < c->length ? segment->gso_size : c->length;
    size_t largest = c->room - growth;
    c->largest = largest;
    c->within = 0;
    // A cut that the host does not make lies between two values.
    if (tcp && c->piece > largest && is_cut_allowed(h, segment->gso_size)) {
        if (head > 0 || (!head && c->piece < c->length && c->piece % 4)) c->within = c->piece;
        c->head = head > 0 ? (size_t)head : 0;
        c->piece = largest - largest % 4;
    }
    if (c->piece > largest) return false;
    if (c->piece < c->length && !is_cut_allowed(h, segment->gso_size)) return false;
    return !c->piece || (c->length + c->piece - 1) / c->piece <= GN_BURST_PACKETS;
}

// Where the next packet begins in the burst.
static size_t next_offset(const cutter *c)
{
    return c->burst->offset[c->burst->count];
}

static uint8_t *next_payload(const cutter *c)
{
    return c->burst->data + next_offset(c) + c->stamp.length;
}

// What differs in the headers of the packet that takes the next `taken` bytes.
static gn_imprint make_imprint(const cutter *c, unsigned index, size_t taken)
{
    gn_imprint imprint = {.seq_step = (uint32_t)c->done, .id_step = (uint16_t)index};
    if (c->done) imprint.clear_flags |= GN_TCP_CWR;
    if (c->done + taken < c->length) imprint.clear_flags |= GN_TCP_FIN | GN_TCP_PSH;
    return imprint;
}

// Completes a packet. Its payload of `bytes` bytes is in place, and stands for `taken` bytes of the
// segment.
static void finish_packet(cutter *c, size_t taken, size_t bytes)
{
    gn_burst *b = c->burst;
    uint8_t *packet = b->data + next_offset(c), *payload = next_payload(c);
    gn_imprint imprint = make_imprint(c, b->count, taken);
    imprint.payload_bytes = bytes;
    imprint.payload_sum = gn_checksum_add(0, payload, bytes);
    gn_stamp_write(&c->stamp, &imprint, packet);
    c->done += taken;
    b->offset[b->count + 1] = (uint32_t)((size_t)(packet - b->data) + c->stamp.length + bytes);
    b->count++;
}

// Whether the burst has room for one more packet with at most `bytes` payload bytes.
static bool has_place(const cutter *c, size_t bytes)
{
    return c->burst->count < GN_BURST_PACKETS && next_offset(c) + c->stamp.length + bytes <= GN_BURST_BYTES;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// The payload bytes of the next packet that is not compressed. Where the host cuts within values,
// it may send again what ends there, and that is exact. So its cuts stay, and its pieces are cut
// into smaller ones that end with values.
static size_t next_take(const cutter *c)
{
    const size_t rest = c->length - c->done;
    if (!c->within) return smaller(c->piece, rest);
    const size_t piece = smaller(c->within - c->done % c->within, rest), head = (c->head - c->done) & 3;
    return piece <= c->largest ? piece : head + (c->largest - head) / 4 * 4;
}

static gn_status cut_untouched(cutter *c)
{
    do {
        size_t take = next_take(c);
        if (!has_place(c, take)) return GN_INVALID;
        memcpy(next_payload(c), c->payload + c->done, take);
        finish_packet(c, take, take);
    } while (c->done < c->length);
    return GN_OK;
}

// The head of the packet that begins `done` bytes into a segment with this plan. Values go on from
// one TCP packet to the next. A datagram begins anew.
static size_t head_at(const cutter *c, const gn_plan *plan)
{
    if (plan->head == GN_HEAD_STORED) return 0;
    if (c->stamp.headers.protocol == GN_PROTOCOL_UDP) return (size_t)plan->head;
    return ((size_t)plan->head - c->done) & 3;
}

static gn_status cut_to_mtu(cutter *c, const gn_plan *plan)
{
    while (c->done < c->length) {
        size_t take = next_take(c);
        if (!has_place(c, take + GN_SHIM_BYTES)) return GN_INVALID;
        gn_encoded e = gn_plan_encode(plan, head_at(c, plan), c->payload + c->done, take, next_payload(c));
        gn_plan_count(plan, &e);
        finish_packet(c, take, e.bytes);
    }
    return GN_OK;
}

static gn_status cut_to_fill(cutter *c, const gn_plan *plan)
{
    while (c->done < c->length) {
        if (!has_place(c, c->room)) return GN_INVALID;
        gn_encoded e = gn_payload_fill(&plan->rule->codec, head_at(c, plan), c->payload + c->done, c->length - c->done,
                                       next_payload(c), c->room);
        // What gains nothing has the size that the host gives it: a link behind the receiver may
        // carry no more.
        const size_t take = next_take(c);
        if (e.stored && e.taken > take) e = gn_payload_store(c->payload + c->done, take, next_payload(c));
        gn_plan_count(plan, &e);
        finish_packet(c, e.taken, e.bytes);
    }
    return GN_OK;
}

// Whether the host left another checksum to the NIC than that of `h`, such as one in a tunnel.
static bool is_checksum_elsewhere(const gn_segment *s, gn_parse parse, const gn_headers *h)
{
    if (!s->partial_checksum || (!s->checksum_start && !s->checksum_offset)) return false;
    return parse != GN_PARSE_OK || s->checksum_start != h->l4 ||
           s->checksum_start + s->checksum_offset != (int)gn_packet_checksum_at(h);
}

// Copies a packet that is neither cut nor looked into, and completes its checksum wherever that is.
static gn_status copy_whole(const gn_segment *s, size_t wire_mtu, gn_burst *burst)
{
    if (s->length > wire_mtu || s->length > GN_PACKET_MAX) return GN_INVALID;
    memcpy(burst->data, s->packet, s->length);
    size_t start = s->checksum_start, at = start + s->checksum_offset;
    if (s->partial_checksum && at) {
        if (at + 2 > s->length) return GN_INVALID;
        uint16_t sum = gn_checksum_finish(gn_checksum_add(0, burst->data + start, s->length - start));
        gn_put16(burst->data + at, sum ? sum : 0xffff);  // the same sum, but 0 in UDP means none
    }
    burst->offset[1] = (uint32_t)s->length;
    burst->count = 1;
    return GN_OK;
}

// Whether a segment stays as it is: its checksum is complete, and it fits with room to grow.
static bool is_whole(const gn_segment *s, const gn_headers *h, size_t growth, size_t wire_mtu)
{
    return !s->partial_checksum && s->length + growth <= wire_mtu &&
           (!s->gso_size || h->end - h->payload <= s->gso_size);
}

// Whether gn_tx_make_plan() would make a plan. Counts nothing.
static bool is_eligible(const gn_tx *tx, gn_parse parse, const gn_headers *h)
{
    return parse == GN_PARSE_OK && !tx->bypass && !gn_packet_has_options(h) && h->end > h->payload &&
           gn_tx_match(tx, h);
}

// Whether the host cuts this segment between values. Where it does not, it may send again what ends
// within a value, and that part is exact. The receiver puts both together, so the same value must
// not have come rounded: packets have to end where the host's do.
static bool ends_with_values(const cutter *c, const gn_segment *s, int head)
{
    if (!s->gso_size || s->gso_size >= c->length) return true;
    return !head && s->gso_size % 4 == 0;
}

static int head_of_values(const gn_segment *s)
{
    return s->values ? s->head : -1;
}

static gn_status cut_segment(gn_tx *tx, const gn_segment *s, gn_cut cut, size_t wire_mtu, gn_burst *burst)
{
    gn_headers h;
    gn_parse parse = gn_packet_parse(s->packet, s->length, &h);
    if (is_checksum_elsewhere(s, parse, &h)) parse = GN_PARSE_PROTOCOL;
    int tcp_head = parse == GN_PARSE_OK ? gn_tx_note_flow(tx, s->packet, &h) : 0;
    gn_plan plan;
    bool eligible = gn_tx_make_plan(tx, parse, &h, s->length, tcp_head, &plan);
    if (parse != GN_PARSE_OK || (!eligible && is_whole(s, &h, 0, wire_mtu))) return copy_whole(s, wire_mtu, burst);

    cutter c;
    c.burst = burst;
    const int head = eligible ? plan.head : head_of_values(s);
    if (!prepare(&c, s, &h, eligible ? GN_SHIM_BYTES : 0, wire_mtu, head)) return GN_INVALID;
    if (!eligible) return cut_untouched(&c);
    bool fill = cut == GN_CUT_FILL && h.protocol == GN_PROTOCOL_TCP && plan.head != GN_HEAD_STORED &&
                ends_with_values(&c, s, plan.head);
    return fill ? cut_to_fill(&c, &plan) : cut_to_mtu(&c, &plan);
}

gn_status gn_tx_segment(gn_tx *tx, const gn_segment *segment, gn_cut cut, size_t wire_mtu, gn_burst *burst)
{
    burst->count = 0;
    burst->offset[0] = 0;
    gn_status status = cut_segment(tx, segment, cut, wire_mtu, burst);
    if (status != GN_OK) burst->count = 0;
    return status;
}

static gn_status cut_only(const gn_tx *tx, const gn_segment *s, size_t wire_mtu, gn_burst *burst)
{
    gn_headers h;
    gn_parse parse = gn_packet_parse(s->packet, s->length, &h);
    if (is_checksum_elsewhere(s, parse, &h)) parse = GN_PARSE_PROTOCOL;
    size_t growth = is_eligible(tx, parse, &h) ? GN_SHIM_BYTES : 0;
    if (wire_mtu > GN_PACKET_MAX) wire_mtu = GN_PACKET_MAX;
    if (parse != GN_PARSE_OK || is_whole(s, &h, growth, wire_mtu)) return copy_whole(s, wire_mtu, burst);
    cutter c;
    c.burst = burst;
    return prepare(&c, s, &h, growth, wire_mtu, head_of_values(s)) ? cut_untouched(&c) : GN_INVALID;
}

gn_status gn_tx_segment_cut(const gn_tx *tx, const gn_segment *segment, size_t wire_mtu, gn_burst *burst)
{
    burst->count = 0;
    burst->offset[0] = 0;
    gn_status status = cut_only(tx, segment, wire_mtu, burst);
    if (status != GN_OK) burst->count = 0;
    return status;
}

gn_status gn_tx_segment_headers(gn_tx *tx, const gn_segment *segment, size_t wire_mtu, gn_burst *burst,
                                gn_headers_cut *cut)
{
    burst->count = 0;
    gn_headers h;
    gn_parse parse = gn_packet_parse(segment->packet, segment->length, &h);
    if (parse != GN_PARSE_OK || is_checksum_elsewhere(segment, parse, &h)) return GN_UNSUPPORTED;
    if (is_eligible(tx, parse, &h) || segment->values) return GN_UNSUPPORTED;

    int tcp_head = gn_tx_note_flow(tx, segment->packet, &h);
    gn_plan plan;
    gn_tx_make_plan(tx, parse, &h, segment->length, tcp_head, &plan);
    if (is_whole(segment, &h, 0, wire_mtu)) {
        memcpy(burst->data, segment->packet, h.payload);
        burst->count = 1;
        *cut = (gn_headers_cut){.header_bytes = h.payload, .payload_offset = h.payload, .piece = h.end - h.payload};
        return GN_OK;
    }
    cutter c;
    c.burst = burst;
    if (!prepare(&c, segment, &h, 0, wire_mtu, -1)) return GN_INVALID;
    unsigned count = 0;
    do {
        size_t take = smaller(c.piece, c.length - c.done);
        gn_imprint imprint = make_imprint(&c, count, take);
        imprint.payload_bytes = take;
        imprint.payload_sum = gn_checksum_add(0, c.payload + c.done, take);
        gn_stamp_write(&c.stamp, &imprint, burst->data + count++ * c.stamp.length);
        c.done += take;
    } while (c.done < c.length);
    burst->count = count;
    *cut = (gn_headers_cut){.header_bytes = c.stamp.length, .payload_offset = h.payload, .piece = c.piece};
    return GN_OK;
}
