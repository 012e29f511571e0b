// SPDX-License-Identifier: Apache-2.0
// The engine `lockstep`: every packet goes through the core and through the aggregator in Verilog.
// What becomes of it, the copy of its slot and all results have to be the same. What the hardware
// makes is handed on. The first difference ends the switch.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "switch/daemon/hardware.h"

typedef struct lockstep {
    gn_switch *sw;
    gn_hardware *hardware;
    uint8_t *expected;  // a result by the core
    size_t room;
} lockstep;

static void close_lockstep(void *state)
{
    lockstep *l = state;
    if (!l) return;
    gn_hardware_free(l->hardware);
    free(l->expected);
    free(l);
}

static gn_status open_lockstep(void **state, gn_switch *sw, gn_error *error)
{
    lockstep *l = calloc(1, sizeof *l);
    if (l) {
        l->sw = sw;
        l->room = gn_agg_bound(GN_AGG_VALUES_MAX);
        l->expected = malloc(l->room);
        l->hardware = gn_hardware_new(sw);
    }
    if (!l || !l->expected || !l->hardware) {
        close_lockstep(l);
        return gn_fail_memory(error);
    }
    *state = l;
    return GN_OK;
}

static gn_status add_job(void *state, unsigned job_index, gn_error *error)
{
    const lockstep *l = state;
    return gn_hardware_add_job(l->hardware, job_index, error);
}

static gn_status remove_job(void *state, unsigned job_index, gn_error *error)
{
    const lockstep *l = state;
    return gn_hardware_remove_job(l->hardware, job_index, error);
}

static gn_status differ(const lockstep *l, gn_error *error, const char *what, uint64_t model, uint64_t rtl)
{
    return gn_fail(error, GN_CORRUPT, "packet %" PRIu64 ": %s: model %" PRIu64 ", rtl %" PRIu64,
                   gn_hardware_packets(l->hardware), what, model, rtl);
}

/// The copies of the packet's slot.
static gn_status compare_copies(const lockstep *l, const gn_mirrored *rtl, gn_error *error)
{
    const gn_mirrored model = gn_mirror_expected(l->sw, rtl);
    const struct {
        const char *name;
        int64_t model, rtl;
    } rows[] = {{"psn", model.psn, rtl->psn},
                {"seen", (int64_t)model.seen, (int64_t)rtl->seen},
                {"values", model.values, rtl->values},
                {"whole", model.whole, rtl->whole},
                {"poison", model.poison, rtl->poison},
                {"flags", model.flags, rtl->flags},
                {"exponent", model.exponent, rtl->exponent},
                {"next", model.next, rtl->next},
                {"priority", model.priority, rtl->priority}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].model != rows[i].rtl)
            return differ(l, error, rows[i].name, (uint64_t)rows[i].model, (uint64_t)rows[i].rtl);
    return GN_OK;
}

/// What became of the packet, as the core says it.
static gn_status compare_verdicts(const lockstep *l, const gn_action *action, const gn_mirrored *rtl, unsigned results,
                                  gn_error *error)
{
    const gn_drop reason = action->kind == GN_TO_NOBODY ? action->reason : GN_DROP_NONE;
    const unsigned expected = action->kind == GN_TO_NOBODY ? 0
                              : action->kind == GN_TO_PORT ? 1
                                                           : gn_switch_job_at(l->sw, action->job_index)->children;
    if (reason != rtl->reason) return differ(l, error, "reason to drop it", reason, rtl->reason);
    if (expected != results) return differ(l, error, "results", expected, results);
    return rtl->added ? compare_copies(l, rtl, error) : GN_OK;
}

static gn_status hand_on(lockstep *l, const gn_action *action, unsigned results, const gn_switch_sink *sink,
                         gn_error *error)
{
    const size_t expected = results ? gn_action_write(l->sw, action, l->expected, l->room) : 0;
    while (results--) {
        const uint8_t *result;
        size_t bytes, at = 0;
        uint16_t to;
        if (gn_hardware_result(l->hardware, &to, &result, &bytes, error)) return error->status;
        if (bytes != expected) return differ(l, error, "bytes of the result", expected, bytes);
        while (at < bytes && result[at] == l->expected[at]) at++;
        if (at < bytes)
            return gn_fail(error, GN_CORRUPT, "packet %" PRIu64 ": byte %zu of the result: model %02x, rtl %02x",
                           gn_hardware_packets(l->hardware), at, l->expected[at], result[at]);
        sink->send(sink->context, to, result, bytes);
    }
    return GN_OK;
}

static gn_status take(void *state, uint64_t now_ns, uint16_t port, const uint8_t *datagram, size_t bytes,
                      const gn_switch_sink *sink, bool *taken, gn_error *error)
{
    lockstep *l = state;
    gn_agg_packet packet;
    gn_mirrored rtl = {.reason = GN_DROP_FORMAT};
    gn_action actions[GN_SWITCH_ACTIONS_MAX];
    unsigned results;
    const gn_hardware_way way = gn_hardware_look(l->hardware, datagram, bytes, &packet);
    *taken = way != GN_HARDWARE_CORE;
    if (!*taken) return GN_OK;
    if (way == GN_HARDWARE_REFUSES) {
        rtl.job_index = (unsigned)gn_mirror_job_index(l->sw, packet.job);
        gn_mirror_enter(l->sw, now_ns, bytes, &packet, &rtl);
        return GN_OK;
    }
    const unsigned count = gn_switch_rx(l->sw, now_ns, port, datagram, bytes, actions);
    if (gn_hardware_take(l->hardware, port, datagram, bytes, &rtl, &results, error)) return error->status;
    if (count != 1) return differ(l, error, "actions", count, 1);
    return compare_verdicts(l, &actions[0], &rtl, results, error) || hand_on(l, &actions[0], results, sink, error)
               ? error->status
               : GN_OK;
}

static void describe(const void *state, char *text, size_t room)
{
    const lockstep *l = state;
    snprintf(text, room, "%" PRIu64 " packets compared in %" PRIu64 " cycles", gn_hardware_packets(l->hardware),
             gn_hardware_cycles(l->hardware));
}

const gn_switch_engine gn_switch_engine_lockstep = {.name = "lockstep",
                                                    .limits = &gn_hardware_limits,
                                                    .open = open_lockstep,
                                                    .close = close_lockstep,
                                                    .add_job = add_job,
                                                    .remove_job = remove_job,
                                                    .take = take,
                                                    .describe = describe};
