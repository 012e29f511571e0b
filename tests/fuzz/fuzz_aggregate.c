// SPDX-License-Identifier: Apache-2.0
// Any datagrams for a switch, a worker and a parameter server. What comes out is always a packet
// that can be parsed, and malformed datagrams change nothing.
//
// Input: a format and memory mode, then a row of packets. Each has a port (or: for the parameter
// server; after some time), a length, and the bytes of a datagram. Its CRCs are put right so that
// fields get past them.
#include <stdlib.h>
#include <string.h>

#include <gradnic/ps.h>
#include <gradnic/shim.h>
#include <gradnic/switch.h>
#include <gradnic/worker.h>
#include <zlib.h>

#include "fuzz.h"

enum { VALUES = 40, SLOTS = 2, ROOM = 1024, PARENT_PORT = 2, PS_PORT = 3, TO_PS = 200, LATER = 201, STEP_NS = 3000000 };
// The first jobs have a format each. LEAF and ROOT are of the hierarchy that shares its slots.
// HALF and HALF_LEAF have format half, and the latter a parent.
enum { LEAF = GN_AGG_DENSE + 1, ROOT, HALF, HALF_LEAF, JOBS };

static void repair(uint8_t *datagram, size_t bytes)
{
    uint8_t *header = datagram;
    if (bytes >= GN_SHIM_BYTES && datagram[0] == 'G' && datagram[1] == 'N') {
        gn_shim shim = {.version = datagram[2] >> 4,
                        .kind = datagram[2] & 15,
                        .bound_exp = (int8_t)datagram[3],
                        .length = (uint16_t)(datagram[4] << 8 | datagram[5]),
                        .head = datagram[6]};
        gn_shim_write(&shim, datagram);
        header += GN_SHIM_BYTES;
        bytes -= GN_SHIM_BYTES;
    }
    if (bytes < GN_AGG_HEADER) return;
    const uint32_t crc = (uint32_t)crc32(0, header, 28);
    for (int i = 0; i < 4; i++) header[28 + i] = (uint8_t)(crc >> (24 - 8 * i));
}

static void open_switch(gn_switch *sw, void *memory, size_t bytes, const gn_switch_config *config)
{
    if (gn_switch_init(sw, config, memory, bytes)) abort();
    for (unsigned i = 0; i < JOBS; i++) {
        const gn_agg_format format = i < LEAF ? (gn_agg_format)i : i < HALF ? GN_AGG_LATTICE : GN_AGG_HALF;
        const bool below = config->mode ? i == LEAF || i == HALF_LEAF : i == GN_AGG_LATTICE || i == HALF_LEAF;
        if (!config->mode && (i == LEAF || i == ROOT)) continue;
        gn_switch_job job = {.job = (uint16_t)i,
                             .gen = 1,
                             .format = format,
                             .bound_exp = 10,
                             .slots = SLOTS,
                             .children = 2,
                             .port = {0, 1},
                             .has_parent = below,
                             .parent_port = PARENT_PORT,
                             .parent_bit = i == LEAF,
                             .parent_fanin = i == LEAF ? 3 : 2,
                             .ps_port = PS_PORT};
        if (i == ROOT) {
            job.bits = 3;
            job.first_bit[1] = 1;
        }
        if (gn_switch_add_job(sw, &job)) abort();
    }
}

static void give_switch(gn_switch *sw, gn_ps *ps, int64_t now, uint16_t port, const uint8_t *datagram, size_t bytes)
{
    static uint8_t out[ROOM];
    gn_agg_packet parsed;
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    const uint64_t before = gn_switch_hash(sw);
    const unsigned count = gn_switch_rx(sw, (uint64_t)now, port, datagram, bytes, actions);
    if (!count || count > GN_SWITCH_ACTIONS_MAX) abort();
    if (gn_agg_parse(datagram, bytes, &parsed) && gn_switch_hash(sw) != before) abort();
    if (actions[0].kind == GN_TO_NOBODY && actions[0].reason && gn_switch_hash(sw) != before) abort();
    for (unsigned i = 0; i < count; i++) {
        const size_t written = gn_action_write(sw, &actions[i], out, sizeof out);
        if (actions[i].kind == GN_TO_NOBODY) continue;
        if (!written || written > gn_agg_bound(VALUES) || gn_agg_parse(out, written, &parsed)) abort();
        if (actions[i].kind == GN_TO_PS) gn_ps_rx(ps, now, out, written);
    }
}

/// Delivers what worker and parameter server have to say. The parameter server asks the switch,
/// which answers it. These rounds end, as long as time stands.
static void collect(gn_switch *sw, gn_ps *ps, gn_worker *worker, int64_t now)
{
    static uint8_t out[ROOM];
    for (size_t bytes; (bytes = gn_worker_send(worker, now, out, sizeof out));) give_switch(sw, ps, now, 0, out, bytes);
    unsigned rounds = 0;
    for (size_t bytes; (bytes = gn_ps_send(ps, now, out, sizeof out));) {
        gn_agg_packet parsed;
        if (++rounds > 1000 || bytes > gn_agg_bound(VALUES) || gn_agg_parse(out, bytes, &parsed)) abort();
        give_switch(sw, ps, now, PS_PORT, out, bytes);
    }
}

static void run(gn_switch *sw, gn_ps *ps, gn_worker *worker, const uint8_t *data, size_t size)
{
    int64_t now = 1;
    for (size_t at = 0; at + 3 <= size;) {
        const uint16_t port = data[at];
        size_t bytes = (size_t)(data[at + 1] << 8 | data[at + 2]);
        at += 3;
        if (bytes > size - at) bytes = size - at;
        uint8_t *datagram = malloc(bytes ? bytes : 1);  // of exactly its size: the sanitizer sees what goes beyond
        if (!datagram) abort();
        memcpy(datagram, data + at, bytes);
        repair(datagram, bytes);
        now += port == LATER ? STEP_NS : 1;
        if (port == TO_PS)
            gn_ps_rx(ps, now, datagram, bytes);
        else
            give_switch(sw, ps, now, port, datagram, bytes);
        gn_worker_rx(worker, now, datagram, bytes);
        collect(sw, ps, worker, now);
        free(datagram);
        at += bytes;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool half = size && data[0] / 9 % 2;
    const gn_agg_format format = half ? GN_AGG_HALF : size ? data[0] % 3 : 0;
    const uint16_t number = half ? HALF : (uint16_t)format;
    const gn_memory_mode mode = size ? data[0] / 3 % 3 : 0;
    // Shared: two slots for the chunks that all jobs have under way.
    const gn_switch_config config = {.slots = mode ? 2 : (JOBS - 2) * SLOTS,
                                     .slot_values = VALUES,
                                     .jobs = JOBS,
                                     .mode = mode,
                                     .windows = JOBS * SLOTS};
    const size_t need = gn_switch_bytes(&config);
    void *memory = malloc(need);
    gn_switch sw;
    gn_worker *worker;
    gn_ps *ps;
    float values[3 * VALUES] = {1, -2.5f, 1e9f};
    const gn_worker_config mine = {.job = number,
                                   .gen = 1,
                                   .ranks = 2,
                                   .children = 2,
                                   .format = format,
                                   .bound_exp = 10,
                                   .slots = SLOTS,
                                   .packet_values = VALUES,
                                   .mode = mode,
                                   .priority = 9};
    const gn_ps_config server = {.job = number,
                                 .gen = 1,
                                 .format = format,
                                 .bound_exp = 10,
                                 .slots = SLOTS,
                                 .packet_values = VALUES,
                                 .children = 2};
    if (!memory || gn_worker_new(&worker, &mine) || gn_ps_new(&ps, &server)) abort();
    open_switch(&sw, memory, need, &config);
    gn_worker_set_halves(worker, half);
    gn_worker_post(worker, values, values, sizeof values / sizeof *values);
    if (size) run(&sw, ps, worker, data + 1, size - 1);
    gn_ps_free(ps);
    gn_worker_free(worker);
    free(memory);
    return 0;
}
