// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_CAPTURE_H
#define GRADNIC_DRIVER_CAPTURE_H
/// Writes IP packets to a capture file (libpcap, link type RAW). Thread-safe: both directions may
/// write to one file.
///
/// What cannot be written ends the capture, not its caller. A file then ends with a whole packet,
/// so that it can be read. The rest is counted. A pipe whose reader stands still gets what it
/// takes, and the other packets are counted as lost.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/error.h"

typedef struct gn_capture gn_capture;

typedef struct gn_capture_counters {
    uint64_t packets;  ///< written
    uint64_t lost;     ///< not written, because writing failed at one of them or before
} gn_capture_counters;

/// Creates `path`; "-" is standard output. A FIFO or a device is written to as it is, packet by
/// packet. A regular file that exists is refused, or overwritten with `force`, but never through a
/// symbolic link: the caller may be root, and the folder another user's.
/// @return NULL with `error` set
gn_capture *gn_capture_open(const char *path, bool force, gn_error *error);
/// The first half of it: the descriptor of a file that has lost nothing yet, or -1. Whoever may
/// still fail opens all that it needs before it takes this one.
int gn_capture_file(const char *path, bool force, gn_error *error);
/// Closes it instead of the second half. Without `force` the file is new, and is removed.
void gn_capture_drop(int fd, const char *path, bool force);
/// Takes over `fd`, which is open for writing, and empties a regular file, but not standard output
/// ("-"). `path` is for messages otherwise.
gn_capture *gn_capture_take(int fd, const char *path, gn_error *error);
/// Completes the file. NULL allowed. @return GN_OK, or GN_IO when something could not be written
gn_status gn_capture_close(gn_capture *capture);

/// Writes one packet, in up to two pieces. A NULL `capture` does nothing.
void gn_capture_packet(gn_capture *capture, const uint8_t *head, size_t head_bytes, const uint8_t *body,
                       size_t body_bytes);

/// A NULL `capture` has counted nothing.
gn_capture_counters gn_capture_count(gn_capture *capture);

#endif
