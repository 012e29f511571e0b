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
/// packet. A regular file that is not empty is refused, or overwritten with `force`, but never
/// through a symbolic link: the caller may be root, and the folder another user's. Such a file
/// keeps what it has until gn_captures_begin(): whoever may still fail does all else first.
/// @return NULL with `error` set
gn_capture *gn_capture_new(const char *path, bool force, gn_error *error);
/// Begins `count` captures, of which some may be NULL. When one fails, files of before mostly have
/// what they had, and the new ones go with gn_capture_close().
/// @return GN_OK, GN_IO
gn_status gn_captures_begin(gn_capture *const *captures, size_t count, gn_error *error);

/// Both of it.
gn_capture *gn_capture_open(const char *path, bool force, gn_error *error);
/// The same with `fd`, which is open for writing and is taken over. A regular file is emptied, but
/// not standard output ("-"). `path` is for messages otherwise.
gn_capture *gn_capture_take(int fd, const char *path, gn_error *error);
/// Completes the file. One that was made and has not begun is removed. NULL allowed.
/// @return GN_OK, or GN_IO when something could not be written
gn_status gn_capture_close(gn_capture *capture);

/// Writes one packet, in up to two pieces. A NULL `capture` does nothing.
void gn_capture_packet(gn_capture *capture, const uint8_t *head, size_t head_bytes, const uint8_t *body,
                       size_t body_bytes);

/// A NULL `capture` has counted nothing.
gn_capture_counters gn_capture_count(gn_capture *capture);

#endif
