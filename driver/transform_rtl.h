// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_TRANSFORM_RTL_H
#define GRADNIC_DRIVER_TRANSFORM_RTL_H
/// The Verilog NIC as a transform: IP packets get an Ethernet header for the way through it, heads go with them as side-band, rules,
/// bypass and counters are its registers. Only in builds with GRADNIC_RTL.

#include "driver/transform.h"

extern const gn_transform gn_transform_rtl;

#endif
