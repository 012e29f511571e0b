// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_AS_VALUES_H
#define GRADNIC_NET_AS_VALUES_H
/// Bytes as binary32 values that no profile of the NIC changes. They are NaN or infinity, which
/// always travel as they are. Each value carries 3 bytes in its sign and mantissa. So a marked
/// connection carries nothing but binary32 values. Pure functions.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GN_AS_VALUES_IN = 3, GN_AS_VALUES_OUT = 4 };  ///< bytes that go into a value; its bytes

/// Writes `count` values, from 3 * `count` bytes.
void gn_as_values_write(const uint8_t *bytes, size_t count, uint8_t *values);

/// The inverse. @return false when a value is none of these
bool gn_as_values_read(const uint8_t *values, size_t count, uint8_t *bytes);

#endif
