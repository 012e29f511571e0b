// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_BOOTSTRAP_TERMS_H
#define GRADNIC_RING_BOOTSTRAP_TERMS_H
/// What must be the same on all ranks.

#include <gradnic/comm.h>

#include "ring/message.h"

gn_terms gn_terms_of(const gn_comm_config *config);

/// Says how the first difference reads in `one`: "bound 2^-8".
/// @return false when there is no difference
bool gn_terms_differ(const gn_terms *one, const gn_terms *other, char *text, size_t room);

#endif
