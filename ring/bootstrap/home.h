// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_BOOTSTRAP_HOME_H
#define GRADNIC_RING_BOOTSTRAP_HOME_H
/// The half of the ranks that are not rank 0: they find it, and keep one connection with it.
/// Functions as in bootstrap.h.

#include "ring/bootstrap/bootstrap.h"

gn_status gn_home_gather(gn_bootstrap *boot, gn_error *error);
gn_status gn_home_watch(gn_bootstrap *boot, gn_error *error);
gn_status gn_home_commit(gn_bootstrap *boot, gn_error *error);

#endif
