// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_ENGINE_PAIR_H
#define GRADNIC_TESTS_ENGINE_PAIR_H
/// An engine under test beside the engine `model`. Both get the same segments and packets. Both
/// must give the same.

#include "driver/datapath.h"
#include "packets.h"

enum { PAIR_ROOM = 66000, PAIR_MTU = 1472 };

typedef struct engine_pair {
    gn_datapath *tested, *model;
    bool differs;                 ///< on purpose: what the engine gives is not compared
    gn_burst burst, expected;     ///< of the last segment, by engine and model
    uint8_t segment[PAIR_ROOM];   ///< the last one
    uint8_t restored[PAIR_ROOM];  ///< the last packet received, by the engine, unless it passed
    float values[16384];          ///< what payloads are made of
} engine_pair;

/// The rules that pair_traffic() is made for: ToS 0x28, dense 2^-10; ToS 0x48, paper 2^-7, head 12.
void pair_open(engine_pair *pair, const gn_engine *engine);
/// The same, but nothing longer than `max_restored` bytes is restored.
void pair_open_limited(engine_pair *pair, const gn_engine *engine, size_t max_restored);
void pair_close(engine_pair *pair);

/// Builds a segment. Its payload is `bytes` bytes of `values`, from byte `at` on. `gso_size` 0: it
/// is not to be cut.
gn_segment pair_build(engine_pair *pair, packet p, size_t at, size_t bytes, unsigned gso_size);
/// Through both; Check fails when they differ. @return what the engine answered
gn_status pair_transmit(engine_pair *pair, packet p, size_t at, size_t bytes, unsigned gso_size);
/// The packets of `expected` through both receivers.
void pair_receive_all(engine_pair *pair);
/// Gives one packet to both receivers. A packet that they write is in `restored`.
/// @return the engine's verdict
gn_verdict pair_receive(engine_pair *pair, const uint8_t *bytes, size_t length);

/// Sends whatever a host hands to its NIC, there and back. About 500 packets of these kinds:
/// - both IP versions
/// - TCP in and out of phase, with and without options, SYN and FIN
/// - UDP
/// - packets that no rule matches, and packets that cannot be cut
void pair_traffic(engine_pair *pair);
/// Turns bypass on. What the peer has compressed is restored all the same, and nothing is
/// compressed any more.
void pair_bypass(engine_pair *pair);
/// Opens and closes a pair that restores nothing, whatever the bypass of the way to the wire is.
void pair_no_restore(engine_pair *pair, const gn_engine *engine);

#endif
