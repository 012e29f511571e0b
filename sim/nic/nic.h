// SPDX-License-Identifier: Apache-2.0
// The NIC itself, behind the ports of gn_nic_top.
#pragma once

#include <memory>

#include "pins.h"

namespace sim
{

// Makes the behavioural model of so many lanes, or the Verilated hardware, which has one. Throws
// when the hardware was not built.
std::unique_ptr<sc_core::sc_module> make_nic(bool rtl, unsigned lanes, const char *name, Pins &pins, Signal<bool> &clk);

}  // namespace sim
