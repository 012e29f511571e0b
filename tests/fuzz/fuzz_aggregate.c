// SPDX-License-Identifier: Apache-2.0
// Any datagrams that a switch and a worker are given. The input is a row of packets: port, length, then the bytes of a datagram, whose CRCs are put right
// so that fields get past them. What comes out is always a packet that can be parsed, and what is malformed changes nothing.
#include <stdlib.h>
#include <string.h>

#include <gradnic/shim.h>
#include <gradnic/switch.h>
#include <gradnic/worker.h>
#include <zlib.h>

enum { VALUES = 40, SLOTS = 2, ROOM = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    for (gn_agg_format format = 0; format < GN_AGG_FORMATS; format++) {
        gn_switch_job job = {.job = (uint16_t)format,
                             .gen = 1,
                             .format = format,
                             .bound_exp = 10,
                             .slots = SLOTS,
                             .children = 2,
                             .port = {0, 1},
                             .has_parent = format == GN_AGG_LATTICE,
                             .parent_port = 2,
                             .parent_fanin = 2};
        if (gn_switch_add_job(sw, &job)) abort();
    }
}

static void give_switch(gn_switch *sw, uint16_t port, const uint8_t *datagram, size_t bytes)
{
    static uint8_t out[ROOM];
    gn_agg_packet parsed;
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    const uint64_t before = gn_switch_hash(sw);
    const unsigned count = gn_switch_rx(sw, 1, port, datagram, bytes, actions);
    if (!count || count > GN_SWITCH_ACTIONS_MAX) abort();
    if (gn_agg_parse(datagram, bytes, &parsed) && gn_switch_hash(sw) != before) abort();
    if (actions[0].kind == GN_TO_NOBODY && actions[0].reason && gn_switch_hash(sw) != before) abort();
    for (unsigned i = 0; i < count; i++) {
        const size_t written = gn_action_write(sw, &actions[i], out, sizeof out);
        if (actions[i].kind == GN_TO_NOBODY) continue;
        if (!written || written > gn_agg_bound(VALUES) || gn_agg_parse(out, written, &parsed)) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const gn_switch_config config = {.slots = 3 * SLOTS, .slot_values = VALUES, .jobs = 3};
    const size_t need = gn_switch_bytes(&config);
    void *memory = malloc(need);
    gn_switch sw;
    gn_worker *worker;
    float values[3 * VALUES] = {1, -2.5f, 1e9f};
    const gn_worker_config mine = {.job = size ? data[0] % 3 : 0,
                                   .gen = 1,
                                   .ranks = 2,
                                   .children = 2,
                                   .format = size ? data[0] % 3 : 0,
                                   .bound_exp = 10,
                                   .slots = SLOTS,
                                   .packet_values = VALUES};
    if (!memory || gn_worker_new(&worker, &mine)) abort();
    open_switch(&sw, memory, need, &config);
    gn_worker_post(worker, values, values, sizeof values / sizeof *values);
    uint8_t *out = malloc(gn_agg_bound(VALUES));
    if (!out) abort();
    int64_t now = 1;
    for (size_t at = 1; at + 3 <= size;) {
        const uint16_t port = data[at];
        size_t bytes = (size_t)(data[at + 1] << 8 | data[at + 2]);
        at += 3;
        if (bytes > size - at) bytes = size - at;
        uint8_t *datagram = malloc(bytes ? bytes : 1);  // of exactly its size: the sanitizer sees what goes beyond
        if (!datagram) abort();
        memcpy(datagram, data + at, bytes);
        repair(datagram, bytes);
        give_switch(&sw, port, datagram, bytes);
        gn_worker_rx(worker, ++now, datagram, bytes);
        for (size_t sent; (sent = gn_worker_send(worker, now, out, gn_agg_bound(VALUES)));)
            give_switch(&sw, 0, out, sent);
        free(datagram);
        at += bytes;
    }
    gn_worker_free(worker);
    free(memory);
    free(out);
    return 0;
}
