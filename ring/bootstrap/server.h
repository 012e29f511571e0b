// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_BOOTSTRAP_SERVER_H
#define GRADNIC_RING_BOOTSTRAP_SERVER_H
/// The half of rank 0, at whose port all others say HELLO. Functions as in bootstrap.h.

#include "ring/bootstrap/bootstrap.h"

gn_status gn_server_open(gn_bootstrap *boot, gn_error *error);
gn_status gn_server_gather(gn_bootstrap *boot, gn_error *error);
gn_status gn_server_watch(gn_bootstrap *boot, gn_error *error);
gn_status gn_server_commit(gn_bootstrap *boot, gn_error *error);
/// Tells all who have come why the group failed. Strangers have a second at most to say that they
/// are ranks, and hear it, too: otherwise they would look for rank 0 until their deadline.
void gn_server_fail(gn_bootstrap *boot, const uint8_t *frame, size_t length);
void gn_server_close(gn_bootstrap *boot);

#endif
