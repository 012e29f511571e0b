// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_CAPTURE_H
#define GRADNIC_DRIVER_CAPTURE_H
/// Writes IP packets to a capture file (libpcap, link type RAW). Thread-safe: both directions may
/// write to one file.

#include <stddef.h>
#include <stdint.h>

#include "net/error.h"

typedef struct gn_capture gn_capture;

/// Creates `path`; an old file is overwritten. @return NULL with `error` set
gn_capture *gn_capture_open(const char *path, gn_error *error);
/// Completes the file. NULL allowed. @return GN_OK, or GN_IO when something could not be written
gn_status gn_capture_close(gn_capture *capture);

/// Writes one packet, in up to two pieces. A NULL `capture` does nothing.
void gn_capture_packet(gn_capture *capture, const uint8_t *head, size_t head_bytes, const uint8_t *body,
                       size_t body_bytes);

#endif
