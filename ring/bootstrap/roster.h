// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_BOOTSTRAP_ROSTER_H
#define GRADNIC_RING_BOOTSTRAP_ROSTER_H
/// Who has come, and what they are told.

#include "ring/bootstrap/bootstrap.h"

bool gn_roster_has(const gn_roster *roster, int rank);
void gn_roster_add(gn_roster *roster, int rank);
void gn_roster_remove(gn_roster *roster, int rank);
bool gn_roster_is_complete(const gn_roster *roster);
/// "ranks 1-3, 7": those who have not come.
void gn_roster_missing(const gn_roster *roster, char *text, size_t room);

/// Rank 0: sends a message to all who have come.
void gn_guests_tell(gn_bootstrap *boot, const uint8_t *frame, size_t length);

#endif
