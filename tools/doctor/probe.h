// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_DOCTOR_PROBE_H
#define GRADNIC_TOOLS_DOCTOR_PROBE_H
/// The datagrams of `gradnic doctor PEER` and `gradnic doctor --listen`. A question says with which
/// ToS it was sent, and how long the answer is to be. The answer says with which ToS the question
/// came, and is sent with the question's own. So both directions are seen.
///
/// Anybody can send to the listener, under any address. So an answer is never longer than its
/// question, one question has one answer, and nothing is kept of a question.
///
/// | offset | size | field |
/// | --- | --- | --- |
/// | 0 | 4 | "GNdr" |
/// | 4 | 1 | version, 1 |
/// | 5 | 1 | 1 question, 2 answer |
/// | 6 | 1 | ToS with which it was sent |
/// | 7 | 1 | answer: ToS with which the question came |
/// | 8 | 8 | number of the run, drawn by who asks |
/// | 16 | 4 | number of the question |
/// | 20 | 4 | bytes of this datagram |
/// | 24 | 4 | bytes of the answer |
/// | 28 | 4 | 0 |
///
/// Zeros follow. Integers are in network order. Pure functions; the only place that parses it.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GN_PROBE_HEAD = 32,     ///< bytes of the shortest
    GN_PROBE_MAX = 65507,   ///< bytes of the longest: what UDP carries over IPv4
    GN_PROBE_PORT = 7779,   ///< UDP port of the listener when none is given
    GN_PROBE_QUESTION = 1,  ///< types
    GN_PROBE_ANSWER = 2
};

typedef struct gn_probe {
    uint8_t type, tos, tos_seen;
    uint64_t run;
    uint32_t number;
    uint32_t bytes;         ///< of this datagram
    uint32_t answer_bytes;  ///< at most those of the question
} gn_probe;

/// Writes probe->bytes bytes, from GN_PROBE_HEAD to GN_PROBE_MAX.
void gn_probe_write(const gn_probe *probe, uint8_t *out);

/// @return false: it is no probe of this version, not as long as it says, or asks for more than it
/// brings
bool gn_probe_read(const uint8_t *data, size_t bytes, gn_probe *probe);

/// Makes the answer to what came with `tos`. @return false: it is no question
bool gn_probe_answer(const uint8_t *data, size_t bytes, uint8_t tos, gn_probe *answer);

#endif
