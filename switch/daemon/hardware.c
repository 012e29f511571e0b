// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/hardware.h"

#include <stdlib.h>
#include <string.h>

#include <gradnic/packet.h>

#include "switch/daemon/rtl/aggregator_words.h"
#include "switch/daemon/rtl/rtl_switch.h"
#include "switch/daemon/sources.h"

enum { ETHERNET = 14, IPV4 = 20, UDP = 8, HEADERS = ETHERNET + IPV4 + UDP, UDP_PORT = 7777, TTL = 64 };

struct gn_hardware {
    const gn_switch *sw;
    gn_rtl_switch *rtl;
    gn_aggregator_child child[GN_RTL_SWITCH_JOBS][GN_AGGREGATOR_CHILDREN];
    unsigned child_index, job_index;  // of the last packet: whose results come
    bool to_all;
    uint64_t packets;
    uint8_t in[GN_RTL_SWITCH_FRAME], out[GN_RTL_SWITCH_FRAME], expected[GN_RTL_SWITCH_FRAME];
};

const gn_switch_engine_limits gn_hardware_limits = {.slots = GN_RTL_SWITCH_SLOTS,
                                                    .values = GN_RTL_SWITCH_VALUES,
                                                    .jobs = GN_RTL_SWITCH_JOBS,
                                                    .children = GN_AGGREGATOR_CHILDREN};

gn_hardware *gn_hardware_new(const gn_switch *sw)
{
    gn_hardware *h = calloc(1, sizeof *h);
    if (!h || !(h->rtl = gn_rtl_switch_new())) {
        free(h);
        return NULL;
    }
    h->sw = sw;
    return h;
}

void gn_hardware_free(gn_hardware *h)
{
    if (!h) return;
    gn_rtl_switch_free(h->rtl);
    free(h);
}

static gn_status put(gn_hardware *h, uint16_t address, uint32_t word, gn_error *error)
{
    if (!gn_rtl_switch_write(h->rtl, address, word)) return GN_OK;
    return gn_fail(error, GN_TIMEOUT, "the hardware does not take word 0x%04x", address);
}

/// Locally administered addresses, and private ones. Only the hardware sees them.
static gn_aggregator_child child_at(uint16_t port)
{
    const uint8_t high = (uint8_t)(port >> 8), low = (uint8_t)port;
    return (gn_aggregator_child){.mac_to = {2, 'g', 'n', 1, high, low},
                                 .mac_from = {2, 'g', 'n', 0, 0, 1},
                                 .ip_from = {10, 255, 255, 254},
                                 .ip_to = {10, high, low, 1},
                                 .udp_from = UDP_PORT,
                                 .udp_to = UDP_PORT,
                                 .port = port};
}

gn_status gn_hardware_add_job(gn_hardware *h, unsigned index, gn_error *error)
{
    const gn_switch_job *job = gn_switch_job_at(h->sw, index);
    uint32_t words[GN_AGGREGATOR_CHILD_WORDS];
    const unsigned log2 = (unsigned)__builtin_ctz(job->slots);
    const bool dense = job->format == GN_AGG_DENSE;
    if ((job->format != GN_AGG_INT32 && !dense) || job->has_parent || job->children > GN_AGGREGATOR_CHILDREN)
        return gn_fail(error, GN_INVALID, "the hardware adds int32 and dense of at most %d children, as the root",
                       GN_AGGREGATOR_CHILDREN);
    // All of it before the hardware hears of the job's number.
    bool failed = put(h, GN_AGGREGATOR_LIMIT, gn_mirror_slot_values(h->sw), error) ||
                  put(h, gn_aggregator_job_address(index, 1),
                      gn_aggregator_info(job->gen, job->children, job->level, log2), error) ||
                  put(h, gn_aggregator_job_address(index, 2), gn_mirror_first_slot(h->sw, index), error) ||
                  put(h, gn_aggregator_job_address(index, 3), job->slots, error);
    for (unsigned i = 0; i < job->children; i++) {
        h->child[index][i] = child_at(job->port[i]);
        gn_aggregator_child_words(&h->child[index][i], words);
        for (unsigned w = 0; w < GN_AGGREGATOR_CHILD_WORDS && !failed; w++)
            failed = put(h, gn_aggregator_child_address(index, i, w), words[w], error);
    }
    failed = failed || put(h, gn_aggregator_job_address(index, 0),
                           gn_aggregator_number(job->job, true, dense, job->bound_exp), error);
    return failed ? error->status : GN_OK;
}

gn_status gn_hardware_remove_job(gn_hardware *h, unsigned index, gn_error *error)
{
    return put(h, gn_aggregator_job_address(index, 0), gn_aggregator_number(0, false, false, 0), error);
}

gn_hardware_way gn_hardware_look(const gn_hardware *h, const uint8_t *datagram, size_t bytes, gn_agg_packet *packet)
{
    if (!bytes || bytes > GN_RTL_SWITCH_FRAME - HEADERS) return GN_HARDWARE_CORE;
    if (gn_agg_parse(datagram, bytes, packet)) return GN_HARDWARE_TAKES;
    if (packet->flags & GN_AGG_FLOAT) return GN_HARDWARE_CORE;
    if (!packet->shimmed || packet->compressed) return GN_HARDWARE_TAKES;
    return gn_mirror_job_index(h->sw, packet->job) < 0 ? GN_HARDWARE_CORE : GN_HARDWARE_REFUSES;
}

static void put16(uint8_t *at, size_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

/// Makes a frame of a datagram that is already in its place. `down`: to the child, or from it.
static void head(const gn_aggregator_child *c, bool down, uint8_t *frame, size_t bytes)
{
    uint8_t *ip = frame + ETHERNET, *udp = ip + IPV4;
    memcpy(frame, down ? c->mac_to : c->mac_from, 6);
    memcpy(frame + 6, down ? c->mac_from : c->mac_to, 6);
    memcpy(frame + 12, (const uint8_t[]){0x08, 0x00, 0x45, c->tos}, 4);
    put16(ip + 2, IPV4 + UDP + bytes);
    memcpy(ip + 4, (const uint8_t[]){0, 0, 0x40, 0, TTL, GN_PROTOCOL_UDP, 0, 0}, 8);
    memcpy(ip + 12, down ? c->ip_from : c->ip_to, 4);
    memcpy(ip + 16, down ? c->ip_to : c->ip_from, 4);
    put16(ip + 10, gn_checksum_finish(gn_checksum_add(0, ip, IPV4)));
    put16(udp, down ? c->udp_from : c->udp_to);
    put16(udp + 2, down ? c->udp_to : c->udp_from);
    put16(udp + 4, UDP + bytes);
    put16(udp + 6, 0);
    const uint32_t pseudo = gn_checksum_add((uint32_t)(GN_PROTOCOL_UDP + UDP + bytes), ip + 12, 8);
    const uint16_t sum = gn_checksum_finish(gn_checksum_add(pseudo, udp, UDP + bytes));
    put16(udp + 6, sum ? sum : 0xffff);
}

static gn_status wrong(const gn_hardware *h, gn_error *error)
{
    return gn_fail(error, GN_CORRUPT, "the hardware: %s", gn_rtl_switch_fault(h->rtl));
}

gn_status gn_hardware_take(gn_hardware *h, uint16_t port, const uint8_t *datagram, size_t bytes, gn_mirrored *what,
                           unsigned *results, gn_error *error)
{
    const gn_aggregator_child from = child_at(port);
    gn_rtl_event e;
    memcpy(h->in + HEADERS, datagram, bytes);
    head(&from, false, h->in, bytes);
    h->packets++;
    if (gn_rtl_switch_put(h->rtl, port, h->in, HEADERS + bytes, &e)) return wrong(h, error);
    const gn_switch_job *job = gn_switch_job_at(h->sw, e.index);
    const bool nobodys = e.verdict == GN_DROP_MALFORMED || e.verdict == GN_DROP_JOB;
    if (!nobodys && !job) return gn_fail(error, GN_CORRUPT, "the hardware: it names a job that is not here");
    if (e.verdict >= GN_DROPS && e.verdict != GN_AGGREGATOR_ADDED && e.verdict != GN_AGGREGATOR_WHOLE &&
        e.verdict != GN_AGGREGATOR_REPEATED)
        return gn_fail(error, GN_CORRUPT, "the hardware: its verdict %u has no meaning here", e.verdict);
    *what = (gn_mirrored){.reason = e.verdict < GN_DROPS ? (gn_drop)e.verdict : GN_DROP_NONE,
                          .added = e.verdict == GN_AGGREGATOR_ADDED || e.verdict == GN_AGGREGATOR_WHOLE,
                          .job_index = e.index,
                          .slot = e.slot,
                          .version = e.version,
                          .whole = e.whole,
                          .poison = e.poison,
                          .seen = e.seen,
                          .psn = e.psn,
                          .values = e.values,
                          .priority = e.priority,
                          .flags = (uint8_t)((e.ecn ? GN_AGG_ECN : 0) | (e.late ? GN_AGG_LATE : 0)),
                          .exponent = e.exponent,
                          .next = e.next};
    h->job_index = e.index;
    h->child_index = 0;
    h->to_all = e.verdict == GN_AGGREGATOR_WHOLE;
    if (e.verdict == GN_AGGREGATOR_REPEATED)
        while (h->child_index < job->children && job->port[h->child_index] != port) h->child_index++;
    *results = e.verdict == GN_AGGREGATOR_WHOLE ? job->children : e.verdict == GN_AGGREGATOR_REPEATED;
    return GN_OK;
}

gn_status gn_hardware_result(gn_hardware *h, uint16_t *port, const uint8_t **datagram, size_t *bytes, gn_error *error)
{
    const long got = gn_rtl_switch_get(h->rtl, h->out, sizeof h->out, port);
    if (got < 0) return wrong(h, error);
    if (!got) return gn_fail(error, GN_TIMEOUT, "the hardware: a result does not come");
    const gn_aggregator_child *to = &h->child[h->job_index][h->child_index % GN_AGGREGATOR_CHILDREN];
    if (h->to_all) h->child_index++;
    if (got < HEADERS + GN_AGG_HEADER) return gn_fail(error, GN_CORRUPT, "the hardware: a result of %ld bytes", got);
    *bytes = (size_t)got - HEADERS;
    *datagram = h->out + HEADERS;
    // What a child's host would look at: addresses, lengths, both checksums.
    memcpy(h->expected + HEADERS, *datagram, *bytes);
    head(to, true, h->expected, *bytes);
    if (*port == to->port && !memcmp(h->out, h->expected, HEADERS)) return GN_OK;
    return gn_fail(error, GN_CORRUPT, "the hardware: the headers of a result of %ld bytes to port %u are wrong", got,
                   *port);
}

uint64_t gn_hardware_packets(const gn_hardware *h)
{
    return h->packets;
}

uint64_t gn_hardware_cycles(const gn_hardware *h)
{
    return gn_rtl_switch_cycles(h->rtl);
}
