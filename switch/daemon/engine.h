// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_ENGINE_H
#define GRADNIC_SWITCH_DAEMON_ENGINE_H
/// Who adds the packets of a shard:
///
/// | name | what it is | file |
/// | --- | --- | --- |
/// | model | the core in C, gradnic/switch.h | none: the shard asks the core itself |
/// | rtl | the aggregator in Verilog, in Verilator | engine_rtl.c |
/// | lockstep | both, compared bit for bit | engine_lockstep.c |
///
/// Admission and all that takes time stay in software. So the shard's core knows all jobs with any
/// engine, and with `rtl` also what the hardware knows of their slots (switch/mirror.h).

#include <gradnic/switch.h>

#include "net/error.h"

/// What the hardware has room for, in each shard.
typedef struct gn_switch_engine_limits {
    uint32_t slots;
    uint16_t values;
    unsigned jobs, children;
} gn_switch_engine_limits;

/// Takes a datagram that is to be sent to source `port`.
typedef struct gn_switch_sink {
    void (*send)(void *context, uint16_t port, const uint8_t *datagram, size_t bytes);
    void *context;
} gn_switch_sink;

typedef struct gn_switch_engine {
    const char *name;
    const gn_switch_engine_limits *limits;  ///< NULL: those of the core. All else is only set with them

    /// `sw`: the shard's core, which has no jobs yet. It outlives the engine.
    gn_status (*open)(void **state, gn_switch *sw, gn_error *error);
    void (*close)(void *state);  ///< NULL allowed

    /// A job has been added to the core; it is about to be removed from it.
    gn_status (*add_job)(void *state, unsigned job_index, gn_error *error);
    gn_status (*remove_job)(void *state, unsigned job_index, gn_error *error);

    /// As gn_switch_rx(), with what follows from it. `*taken` is false when the core has to do this
    /// one. A failure is for good.
    gn_status (*take)(void *state, uint64_t now_ns, uint16_t port, const uint8_t *datagram, size_t bytes,
                      const gn_switch_sink *sink, bool *taken, gn_error *error);
    /// What it has done, in words.
    void (*describe)(const void *state, char *text, size_t room);
} gn_switch_engine;

extern const gn_switch_engine gn_switch_engine_model;
#ifdef GRADNIC_RTL_SWITCH
extern const gn_switch_engine gn_switch_engine_rtl, gn_switch_engine_lockstep;
#endif

/// The engine of that name. @return NULL when this build has none: `error` says which ones it has,
/// and how to get one that it lacks
const gn_switch_engine *gn_switch_engine_find(const char *name, gn_error *error);

#endif
