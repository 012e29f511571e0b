// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_ONE_SWITCH_H
#define GRADNIC_TESTS_ONE_SWITCH_H
/// One switch, packet by packet: for tests of what it does with each packet. Values are words of
/// the bitmap, so that a sum shows what is in it.

#include <gradnic/switch.h>

enum { SLOTS = 4, VALUES = 3, CHILDREN = 3, ALL = 7, PS_PORT = 100 };

extern gn_switch sw;
extern gn_action actions[GN_SWITCH_ACTIONS_MAX];  ///< of the last packet
extern uint8_t out[256];
extern gn_agg_packet sent;  ///< the first action's packet, read again

/// A job of three children, ports 10 * job and on.
gn_switch_job job_of(uint16_t job);

/// A new switch for two jobs.
void begin(gn_memory_mode mode, uint32_t slots, uint32_t windows);
void begin_with(const gn_switch_config *config);
void end(void);

gn_agg_packet header(gn_agg_type type, uint16_t job, uint32_t psn, uint64_t bitmap);

/// Gives the switch a packet at a port: from a child, or from the job's parameter server. It leads
/// to one action.
void give_at(uint16_t port, const gn_agg_packet *packet);
/// The same for any number of actions, which is returned. expect_action() makes one of them the one
/// that the functions below look at, in the order in which they are to be done.
unsigned give_for_actions(uint16_t port, const gn_agg_packet *packet);
void expect_action(unsigned index);
void give(uint16_t job, uint32_t psn, unsigned child, uint16_t priority, uint8_t flags);
void give_from_ps(gn_agg_type type, uint16_t job, uint32_t psn, uint64_t bitmap);

void expect_drop(gn_drop reason);
void expect_to_ps(gn_agg_type type, uint16_t job, uint32_t psn, uint64_t bitmap);

#endif
