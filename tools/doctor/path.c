// SPDX-License-Identifier: Apache-2.0
// The path to a peer: round trips and losses, the MTU of each direction, and whether the mark
// arrives. The far end is listen.c. Every wait has an end, and so many datagrams are sent at most:
// BURST, TRIES for each length that is tried (fewer than 40), and MARKS.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "doctor.h"
#include "net/clock.h"
#include "net/udp.h"
#include "net/udp_in.h"
#include "probe.h"
#include "tools/kit/units.h"

enum { BURST = 100, TRIES = 3, SEARCH_TRIES = 2, MARKS = 5, SMALL_MTU = 1280 };
static const uint64_t gap = GN_MILLISECOND, first_wait = 500 * GN_MILLISECOND, least_wait = 100 * GN_MILLISECOND;

typedef enum outcome { ANSWERED, SILENT, TOO_LARGE, REFUSED } outcome;

typedef struct asker {
    int fd;
    gn_endpoint peer;
    char name[GN_ENDPOINT_TEXT];
    uint64_t run, wait;  ///< this run's number; how long an answer is waited for
    uint32_t number;     ///< of the last question
    int reason;          ///< errno of REFUSED
    uint8_t *buffer;     ///< GN_UDP_MESSAGE_BYTES
} asker;

typedef struct answer {
    gn_probe probe;
    uint8_t tos;  ///< with which it came
} answer;

static outcome refused(asker *a, int reason)
{
    if (reason == EMSGSIZE) return TOO_LARGE;
    if (reason == EAGAIN || reason == ENOBUFS || reason == EINTR) return SILENT;
    a->reason = reason;
    return REFUSED;
}

static outcome send_question(asker *a, uint32_t bytes, uint32_t answer_bytes, uint8_t tos)
{
    const gn_probe probe = {.type = GN_PROBE_QUESTION,
                            .tos = tos,
                            .run = a->run,
                            .number = ++a->number,
                            .bytes = bytes,
                            .answer_bytes = answer_bytes};
    gn_probe_write(&probe, a->buffer);
    return send(a->fd, a->buffer, bytes, 0) == (ssize_t)bytes ? ANSWERED : refused(a, errno);
}

/// Waits until `until` for any answer of this run.
static outcome receive_answer(asker *a, uint64_t until, answer *got)
{
    for (;;) {
        gn_udp_arrival arrival;
        const int count = gn_udp_receive(a->fd, a->buffer, GN_UDP_MESSAGE_BYTES, NULL, &arrival);
        if (count < 0) return refused(a, errno);
        if (count && gn_probe_read(arrival.data, arrival.bytes, &got->probe) && got->probe.type == GN_PROBE_ANSWER &&
            got->probe.run == a->run) {
            got->tos = arrival.tos;
            return ANSWERED;
        }
        const uint64_t now = gn_now();
        if (now >= until) return SILENT;
        struct pollfd set = {.fd = a->fd, .events = POLLIN};
        if (!count) (void)gn_poll(&set, 1, gn_ms_until(until, now));
    }
}

/// One question, at most `tries` times until there is an answer.
static outcome ask_times(asker *a, int tries, uint32_t bytes, uint32_t answer_bytes, uint8_t tos, answer *got)
{
    gn_socket_set_tos(a->fd, tos);
    for (int i = 0; i < tries; i++) {
        const outcome sent = send_question(a, bytes, answer_bytes, tos);
        if (sent == TOO_LARGE || sent == REFUSED) return sent;
        const uint64_t until = gn_now() + a->wait;
        outcome came;
        do came = receive_answer(a, until, got);
        while (came == ANSWERED && got->probe.number != a->number && gn_now() < until);
        if (came == ANSWERED && got->probe.number != a->number) came = SILENT;  // only others, all the time
        if (came != SILENT) return came;
    }
    return SILENT;
}

static outcome ask(asker *a, uint32_t bytes, uint32_t answer_bytes, uint8_t tos, answer *got)
{
    return ask_times(a, TRIES, bytes, answer_bytes, tos, got);
}

// ---- round trips and losses

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

typedef struct burst {
    uint64_t sent[BURST], trip[BURST];
    bool answered[BURST];
    unsigned count;
} burst;

static void take_answers(asker *a, uint32_t first, uint64_t until, burst *b)
{
    answer got;
    // A peer that answers twice and more does not keep it here.
    for (int n = 0; n < 2 * BURST && b->count < BURST && receive_answer(a, until, &got) == ANSWERED; n++) {
        const uint32_t i = got.probe.number - first;
        if (i >= BURST || b->answered[i]) continue;
        b->answered[i] = true;
        b->trip[b->count++] = gn_elapsed(b->sent[i], gn_now());
    }
}

static void find_losses(gn_findings *findings, asker *a)
{
    burst b = {.count = 0};
    const uint32_t first = a->number + 1;
    gn_socket_set_tos(a->fd, 0);
    for (unsigned i = 0; i < BURST; i++) {
        b.sent[i] = gn_now();
        (void)send_question(a, GN_PROBE_HEAD, GN_PROBE_HEAD, 0);
        take_answers(a, first, b.sent[i] + gap, &b);
    }
    take_answers(a, first, gn_now() + (a->wait > first_wait ? a->wait : first_wait), &b);
    qsort(b.trip, b.count, sizeof *b.trip, by_size);
    // What comes next takes silence for a loss. Hosts that are busy answer late.
    if (b.count && 4 * b.trip[b.count - 1] > a->wait) a->wait = 4 * b.trip[b.count - 1];
    if (a->wait > first_wait) a->wait = first_wait;
    const unsigned lost = BURST - b.count;
    gn_find(findings, "loss", lost > BURST / 100 ? GN_LEVEL_WARN : GN_LEVEL_OK,
            lost > BURST / 100 ? "What is lost is sent again: the exchange waits for it."
                               : "Round trips of small datagrams, sent a millisecond apart.",
            lost > BURST / 100 ? "look for a full queue, a bad cable, or a policer on the way" : NULL,
            "%u of %u lost; round trip %s (median), %s (longest)", lost, BURST,
            gn_human_duration(b.count ? (double)b.trip[b.count / 2] : 0).s,
            gn_human_duration(b.count ? (double)b.trip[b.count - 1] : 0).s);
}

// ---- MTU

/// The longest datagram that has an answer: from `low`, which has one, to `high`, which has none.
static uint32_t search(asker *a, uint32_t low, uint32_t high, bool back, uint32_t there)
{
    answer got;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        const outcome came = ask_times(a, SEARCH_TRIES, back ? there : middle, back ? middle : GN_PROBE_HEAD, 0, &got);
        if (came == REFUSED) break;
        if (came == ANSWERED)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t longest(asker *a)
{
    const size_t payload = gn_udp_payload(a->fd);
    return payload > GN_PROBE_MAX ? GN_PROBE_MAX : payload < GN_PROBE_HEAD ? GN_PROBE_HEAD : (uint32_t)payload;
}

typedef struct mtu {
    uint32_t link, there, back;  ///< bytes of datagrams: of this host's link; of the ways there and back
    bool told;                   ///< the network said by ICMP that there is a smaller one
} mtu;

static mtu measure_mtu(asker *a)
{
    answer got;
    mtu m = {.link = longest(a)};
    m.there = m.link;
    for (int i = 0; i < TRIES; i++) {
        const outcome came = ask(a, m.there, GN_PROBE_HEAD, 0, &got);
        const uint32_t now = longest(a);
        if (came == ANSWERED) break;
        if (now >= m.there) {
            m.told = false;
            m.there = search(a, GN_PROBE_HEAD, m.there, false, 0);
            break;
        }
        m.told = true;
        m.there = now;
    }
    m.back = ask(a, m.there, m.there, 0, &got) == ANSWERED ? m.there : search(a, GN_PROBE_HEAD, m.there, true, m.there);
    return m;
}

static void find_mtu(gn_findings *findings, asker *a)
{
    const mtu m = measure_mtu(a);
    const uint32_t headers = gn_udp_headers(&a->peer.ip), link = m.link + headers, there = m.there + headers,
                   back = m.back + headers, least = there < back ? there : back;
    const bool hole = there < link && !m.told, odd = back < there;
    char fix[GN_FIX_TEXT];
    snprintf(fix, sizeof fix,
             hole  ? "let ICMP through (RFC 4890), or set the MTU by hand: gradnic nic --mtu, ip route ... mtu %u"
             : odd ? "look at the peer's own doctor; set the MTU of its route by hand: ip route ... mtu %u"
                   : "raise it to that of the link, or let it be: %u works",
             least);
    gn_find(findings, "mtu",
            hole || odd || least < SMALL_MTU ? GN_LEVEL_FAIL
            : there < link                   ? GN_LEVEL_WARN
                                             : GN_LEVEL_OK,
            hole                ? "Larger packets vanish without a word (a black hole). Programs would hang."
            : odd               ? "Larger packets from the peer do not arrive. It may not know of it."
            : least < SMALL_MTU ? "That is too small for IPv6 in an overlay."
            : there < link      ? "The network says so itself. Packets are cut smaller."
                                : "Packets as large as the link's arrive whole, both ways.",
            hole || odd || there < link || least < SMALL_MTU ? fix : NULL,
            "%u to the peer, %u back; the link here has %u", there, back, link);
}

// ---- the mark

/// A byte that most of the answers have: of MARKS questions, the first that came twice.
static bool usual(asker *a, uint8_t tos, uint8_t *there, uint8_t *back)
{
    answer got, before = {.tos = 0};
    for (int i = 0, count = 0; i < MARKS; i++) {
        if (ask(a, GN_PROBE_HEAD, GN_PROBE_HEAD, tos, &got) != ANSWERED) continue;
        const bool same = count++ && (got.tos ^ before.tos) < 4 && (got.probe.tos_seen ^ before.probe.tos_seen) < 4;
        before = got;
        if (!same) continue;
        *there = got.probe.tos_seen;
        *back = got.tos;
        return true;
    }
    return false;
}

static void find_mark(gn_findings *findings, asker *a, uint8_t tos)
{
    static const char fix[] =
        "let switches and routers between trust DSCP, or take a mark that they keep: gradnic nic --rule tos=0x48";
    uint8_t there, back;
    if (!usual(a, gn_ecn_capable(tos), &there, &back)) {
        gn_find(findings, "dscp", GN_LEVEL_FAIL, "Marked packets do not arrive at all.", fix,
                "packets with ToS 0x%02x have no answer, others do", tos);
        return;
    }
    const bool kept = (there & ~GN_ECN_MASK) == tos && (back & ~GN_ECN_MASK) == tos;
    gn_find(findings, "dscp", kept ? GN_LEVEL_OK : GN_LEVEL_WARN,
            kept ? "The mark survives the path."
                 : "NICs in hardware, and queues, do not see the mark there. NICs in user space carry it inside.",
            kept ? NULL : fix, "ToS 0x%02x arrives there as 0x%02x and here as 0x%02x", tos, there & ~GN_ECN_MASK,
            back & ~GN_ECN_MASK);
    const bool capable = there & GN_ECN_MASK && back & GN_ECN_MASK;
    if (tos)
        gn_find(findings, "ecn", capable ? GN_LEVEL_OK : GN_LEVEL_WARN,
                capable ? "A full queue can mark packets, and workers slow down before packets are lost."
                        : "A full queue on this path can only lose packets.",
                capable ? NULL : "let the routers between keep the two bits of ECN", "ECN's bits: %s there, %s back",
                there & GN_ECN_MASK ? "kept" : "cleared", back & GN_ECN_MASK ? "kept" : "cleared");
}

// ---- all of it

static bool open_path(gn_findings *findings, asker *a)
{
    const char *what = "UDP socket";
    a->fd =
        gn_udp_open(gn_ip_family(&a->peer.ip), &(gn_udp_options){.nonblocking = true, .whole = true, .read_tos = true});
    a->buffer = malloc(GN_UDP_MESSAGE_BYTES);
    if (a->fd >= 0 && a->buffer && !gn_socket_connect(a->fd, &a->peer) &&
        getrandom(&a->run, sizeof a->run, 0) == sizeof a->run)
        return true;
    gn_find(findings, "peer", GN_LEVEL_FAIL, "There is no way to the peer.",
            "ip route get ADDRESS says which one is missing", "%s: %s: %s", a->name, what, strerror(errno));
    return false;
}

static bool find_peer(gn_findings *findings, asker *a)
{
    char fix[GN_FIX_TEXT];
    answer got;
    const uint64_t begun = gn_now();
    const outcome came = ask(a, GN_PROBE_HEAD, GN_PROBE_HEAD, 0, &got);
    snprintf(fix, sizeof fix, "start gradnic doctor --listen there, and let UDP port %u through the firewalls between",
             a->peer.port);
    if (came == ANSWERED) {
        const uint64_t wait = 4 * gn_elapsed(begun, gn_now());
        a->wait = wait < least_wait ? least_wait : wait;
        gn_find(findings, "peer", GN_LEVEL_OK, "UDP passes both ways.", NULL, "%s answers", a->name);
        return true;
    }
    gn_find(findings, "peer", GN_LEVEL_FAIL, "Nothing about the path could be looked at.", fix, "%s: %s", a->name,
            came == REFUSED ? strerror(a->reason) : "no answer");
    return false;
}

void gn_doctor_path(gn_findings *findings, const gn_endpoint *peer, uint8_t tos)
{
    asker a = {.fd = -1, .peer = *peer, .wait = first_wait};
    gn_endpoint_format(peer, a.name);
    if (open_path(findings, &a) && find_peer(findings, &a)) {
        find_losses(findings, &a);
        find_mtu(findings, &a);
        find_mark(findings, &a, tos);
    }
    gn_close(&a.fd);
    free(a.buffer);
}
