// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_SWITCH_DAEMON_HARDWARE_H
#define GRADNIC_SWITCH_DAEMON_HARDWARE_H
/// The aggregator of rtl/ as software meets it: jobs become its words, datagrams become frames.

#include "switch/daemon/engine.h"
#include "switch/mirror.h"

typedef struct gn_hardware gn_hardware;

extern const gn_switch_engine_limits gn_hardware_limits;

/// @return NULL when out of memory
gn_hardware *gn_hardware_new(const gn_switch *sw);
void gn_hardware_free(gn_hardware *hardware);  ///< NULL allowed

/// A job of the core, and that it is no more.
gn_status gn_hardware_add_job(gn_hardware *hardware, unsigned job_index, gn_error *error);
gn_status gn_hardware_remove_job(gn_hardware *hardware, unsigned job_index, gn_error *error);

/// Who has to look at a datagram.
typedef enum gn_hardware_way {
    GN_HARDWARE_TAKES,
    GN_HARDWARE_CORE,    ///< it never touches a sum: binary32, or longer than any packet
    GN_HARDWARE_REFUSES  ///< left as it was by a NIC, of a job that is here: only the core quantises
} gn_hardware_way;

/// `*packet`: the datagram, parsed; anything when it is malformed.
gn_hardware_way gn_hardware_look(const gn_hardware *hardware, const uint8_t *datagram, size_t bytes,
                                 gn_agg_packet *packet);

/// Sends a datagram from source `port` through. `*what`: what became of it; `*results`: so many
/// results leave because of it.
gn_status gn_hardware_take(gn_hardware *hardware, uint16_t port, const uint8_t *datagram, size_t bytes,
                           gn_mirrored *what, unsigned *results, gn_error *error);
/// Takes the next result. It stays until the next call.
gn_status gn_hardware_result(gn_hardware *hardware, uint16_t *port, const uint8_t **datagram, size_t *bytes,
                             gn_error *error);

/// Packets that went in, and cycles.
uint64_t gn_hardware_packets(const gn_hardware *hardware);
uint64_t gn_hardware_cycles(const gn_hardware *hardware);

#endif
