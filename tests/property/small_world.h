// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_SMALL_WORLD_H
#define GRADNIC_TESTS_SMALL_WORLD_H
/// Two or three workers, one switch or a small tree of them, perhaps a parameter server, and the
/// packets between them. All of it is one piece of memory: a state that can be copied, changed by
/// one event, and given up. There is one world at a time.

#include <gradnic/switch.h>

#include "switch/ps.h"
#include "switch/state.h"
#include "switch/worker.h"

enum {
    WORKERS = 3,
    SWITCHES = 3,
    SLOTS = 2 /* at most */,
    VALUES = 2,
    COUNT = 5,
    FLIGHTS = 40,
    DATAGRAM = 96,
    MEMORY = 256
};
enum { HOSTS = WORKERS + 1, PS = WORKERS };  ///< workers, and the parameter server
enum { TO_PS = -1, TO_SWITCH = -2, PARENT_PORT = 8, PS_PORT = 9 };

/// The last switch is the root. The others, if any, are leaves. A worker's number is its bit at the
/// root.
typedef struct small_tree {
    unsigned switches, workers, slots;
    unsigned first[SWITCHES];  ///< workers of each leaf are those from this one on
} small_tree;

typedef struct small_flight {
    int8_t to;  ///< worker, TO_PS, or TO_SWITCH less the switch's number
    uint8_t port, bytes;
    uint8_t data[DATAGRAM];
    uint64_t digest;  ///< of all of it
} small_flight;

typedef struct small_worker {
    gn_worker state;
    gn_worker_slot slots[SLOTS];
    uint16_t due[SLOTS];
    int32_t integers[VALUES];
    float recv[COUNT];
} small_worker;

typedef struct small_ps {
    gn_ps state;
    gn_ps_entry entries[2 * SLOTS];
    int32_t sums[2 * SLOTS * VALUES];
    uint32_t due[2 * SLOTS];
} small_ps;

/// A state of all of them.
typedef struct small {
    small_worker worker[WORKERS];
    small_ps ps;
    uint64_t added;  ///< by switch 0
    uint64_t memory[SWITCHES]
                   [MEMORY / 8];  ///< the switches' slots; the rest of each memory, 90 KiB, is the same in all states
    uint8_t flights, faults,
        early;  ///< packets on their way; faults left: losses, repetitions, hosts held up; timers that may still fire early
    uint8_t held;                  ///< bits: hosts that are held up, with packets that they could send
    small_flight flight[FLIGHTS];  ///< last, because those that are not there are not copied
} small;

extern const small_tree *small_shape;
extern gn_switch small_switch[SWITCHES];  ///< in the states that they were last put in
extern bool small_has_ps;                 ///< memory is shared

/// Makes workers that have begun to sum `values`, each its own. Their first packets are on their
/// way. Free with small_close().
small *small_open(const small_tree *shape, gn_memory_mode mode, gn_agg_format format, const float (*values)[COUNT]);
void small_close(small *s);

small *small_clone(const small *from);
void small_discard(small *s);

/// Puts the switches in their states.
void small_put_switches(const small *s);

/// Contributions that switch 0 has added, in the state that it was last put in.
uint64_t small_added(void);

/// What a host does with its packets.
typedef enum small_manner {
    SMALL_SENDS,  ///< sends all there are, unless it is held up
    SMALL_HOLDS   ///< is held up from now on, if there are any (after a timer, behind the first)
} small_manner;

/// The packet arrives, and leads to others.
/// @return whether a host is held up now that was not before
bool small_deliver(small *s, const small_flight *f, small_manner manner);

/// All that the host waits for is late. It is not held up. @return as small_deliver()
bool small_fire(small *s, unsigned host, small_manner manner);

/// A host that is held up sends one packet.
void small_send_one(small *s, unsigned host);

/// The numbers of slots or entries that a host has packets for, in their order; 0: none.
uint64_t small_due(const small *s, unsigned host);

/// Whether the host may wait for something.
bool small_has_timer(const small *s, unsigned host);

bool small_done(const small *s);

#endif
