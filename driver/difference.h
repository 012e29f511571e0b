// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_DIFFERENCE_H
#define GRADNIC_DRIVER_DIFFERENCE_H
/// A packet that two engines treat differently: in words, and as a capture.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/error.h"

typedef struct gn_bytes {
    const uint8_t *data;  ///< NULL: no packet came out
    size_t length;
} gn_bytes;

typedef struct gn_difference {
    const char *direction;          ///< "transmit" or "receive"
    const char *reference, *other;  ///< names of the engines
    uint64_t number;                ///< of the packet in this direction, from 1
    int head;                       ///< of a packet to transmit
    gn_bytes in, expected, got;
} gn_difference;

/// Whether two packets are the same. Two that did not come out are the same, too.
bool gn_bytes_equal(gn_bytes a, gn_bytes b);

/// Says in `error` which packet differs, and where. Also writes a new file gradnic-lockstep-*.pcap
/// in TMPDIR (/tmp), which the error names. It has up to three packets: as it went in, as expected,
/// as it came out. @return GN_CORRUPT
gn_status gn_difference_report(const gn_difference *difference, gn_error *error);

#endif
