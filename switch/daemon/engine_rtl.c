// SPDX-License-Identifier: Apache-2.0
// The engine `rtl`: the aggregator in Verilog adds. What it has done is entered in the shard's
// core.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "switch/daemon/hardware.h"

typedef struct engine {
    gn_switch *sw;
    gn_hardware *hardware;
} engine;

static void close_engine(void *state)
{
    engine *e = state;
    if (!e) return;
    gn_hardware_free(e->hardware);
    free(e);
}

static gn_status open_engine(void **state, gn_switch *sw, gn_error *error)
{
    engine *e = calloc(1, sizeof *e);
    if (!e || !(e->hardware = gn_hardware_new(sw))) {
        close_engine(e);
        return gn_fail_memory(error);
    }
    e->sw = sw;
    *state = e;
    return GN_OK;
}

static gn_status add_job(void *state, unsigned job_index, gn_error *error)
{
    const engine *e = state;
    return gn_hardware_add_job(e->hardware, job_index, error);
}

static gn_status remove_job(void *state, unsigned job_index, gn_error *error)
{
    const engine *e = state;
    return gn_hardware_remove_job(e->hardware, job_index, error);
}

static gn_status take(void *state, uint64_t now_ns, uint16_t port, const uint8_t *datagram, size_t bytes,
                      const gn_switch_sink *sink, bool *taken, gn_error *error)
{
    engine *e = state;
    gn_agg_packet packet;
    gn_mirrored what = {.reason = GN_DROP_FORMAT};
    unsigned results = 0;
    const gn_hardware_way way = gn_hardware_look(e->hardware, datagram, bytes, &packet);
    *taken = way != GN_HARDWARE_CORE;
    if (!*taken) return GN_OK;
    if (way == GN_HARDWARE_REFUSES)
        what.job_index = (unsigned)gn_mirror_job_index(e->sw, packet.job);
    else if (gn_hardware_take(e->hardware, port, datagram, bytes, &what, &results, error))
        return error->status;
    gn_mirror_enter(e->sw, now_ns, bytes, &packet, &what);
    while (results--) {
        const uint8_t *result;
        uint16_t to;
        if (gn_hardware_result(e->hardware, &to, &result, &bytes, error)) return error->status;
        sink->send(sink->context, to, result, bytes);
    }
    return GN_OK;
}

static void describe(const void *state, char *text, size_t room)
{
    const engine *e = state;
    snprintf(text, room, "%" PRIu64 " packets in %" PRIu64 " cycles", gn_hardware_packets(e->hardware),
             gn_hardware_cycles(e->hardware));
}

const gn_switch_engine gn_switch_engine_rtl = {.name = "rtl",
                                               .limits = &gn_hardware_limits,
                                               .open = open_engine,
                                               .close = close_engine,
                                               .add_job = add_job,
                                               .remove_job = remove_job,
                                               .take = take,
                                               .describe = describe};
