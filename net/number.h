// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_NET_NUMBER_H
#define GRADNIC_NET_NUMBER_H
/// A decimal number as text.

#include <stdbool.h>

/// One to nine decimal digits and nothing else: no sign, no space, no "0x". Pure; any thread.
/// @return false for anything else, and for more than `most`: `number` is then as it was
bool gn_number_parse(const char *text, unsigned most, unsigned *number);

#endif
