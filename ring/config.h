// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_CONFIG_H
#define GRADNIC_RING_CONFIG_H
/// What follows from a gn_comm_config alone.

#include <gradnic/comm.h>

#include "net/error.h"

/// @return GN_OK, or GN_INVALID with the name of the field that is wrong
gn_status gn_config_check(const gn_comm_config *config, gn_error *error);

/// segment_bytes with its default, as gn_segment_bytes_fit() has it.
uint32_t gn_config_segment(const gn_comm_config *config);
int gn_timeout_ms(const gn_comm_config *config);

/// Keeps the text of a failure for gn_comm_last_error(NULL).
void gn_config_init_failed(const gn_error *error);

#endif
