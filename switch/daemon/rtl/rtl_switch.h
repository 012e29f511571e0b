// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_RTL_RTL_SWITCH_H
#define GRADNIC_SWITCH_DAEMON_RTL_RTL_SWITCH_H
/// The aggregator in Verilog (rtl/switch/gn_aggregator.v) in Verilator: frames into it and out of
/// it, and its verdicts. Time passes only while a caller waits. For one thread at a time.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    // What this one is built with.
    GN_RTL_SWITCH_JOBS = 64,
    GN_RTL_SWITCH_SLOTS = 1024,
    GN_RTL_SWITCH_VALUES = 2048,
    GN_RTL_SWITCH_FRAME = 16384  ///< bytes of the longest frame
};

typedef struct gn_rtl_switch gn_rtl_switch;

/// What became of a packet, and the copy of its slot afterwards: the ports event_* of
/// gn_aggregator.v.
typedef struct gn_rtl_event {
    uint8_t verdict;  ///< below 16 a gn_drop, otherwise GN_AGGREGATOR_ (aggregator_words.h)
    uint8_t index;    ///< of the job
    uint16_t slot;
    bool version, used, whole, poison, ecn, late;
    uint8_t seen;
    int8_t exponent, next;
    uint16_t values, priority;
    uint32_t psn;
} gn_rtl_event;

/// A switch that has just been reset. @return NULL when out of memory
gn_rtl_switch *gn_rtl_switch_new(void);
void gn_rtl_switch_free(gn_rtl_switch *hardware);  ///< NULL allowed

/// Writes one of software's words. @return 0, or -1 when the hardware does not get ready for it
int gn_rtl_switch_write(gn_rtl_switch *hardware, uint16_t address, uint32_t word);

/// Sends a frame from `port` into the hardware, and waits for what becomes of it. @return 0; -1:
/// see gn_rtl_switch_fault()
int gn_rtl_switch_put(gn_rtl_switch *hardware, uint16_t port, const uint8_t *frame, size_t bytes, gn_rtl_event *event);

/// Waits for the next frame that leaves. @return its bytes; 0 when nothing moves any more; -1: see
/// gn_rtl_switch_fault()
long gn_rtl_switch_get(gn_rtl_switch *hardware, uint8_t *frame, size_t room, uint16_t *port);

/// Why a call has failed, in words.
const char *gn_rtl_switch_fault(const gn_rtl_switch *hardware);

/// Cycles since it was made.
uint64_t gn_rtl_switch_cycles(const gn_rtl_switch *hardware);

#ifdef __cplusplus
}
#endif
#endif
