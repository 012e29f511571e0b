// SPDX-License-Identifier: Apache-2.0
#include "nic.h"

#include <stdexcept>

#include "behavioural.h"
#ifdef GRADNIC_SIM_RTL
#include "Vgn_nic_top_sc.h"
#endif

namespace sim
{

template <class Nic, class... Rest>
static std::unique_ptr<sc_core::sc_module> make(const char *name, Pins &pins, Signal<bool> &clk, Rest... rest)
{
    auto nic = std::make_unique<Nic>(name, rest...);
    bind(*nic, pins, clk);
    return nic;
}

std::unique_ptr<sc_core::sc_module> make_nic(bool rtl, unsigned lanes, const char *name, Pins &pins, Signal<bool> &clk)
{
    if (!rtl) return make<Behavioural>(name, pins, clk, lanes);
#ifdef GRADNIC_SIM_RTL
    Verilated::randReset(2);  // random values where nothing is reset; the same in every run
    Verilated::randSeed(1);
    return make<Vgn_nic_top_sc>(name, pins, clk);
#else
    throw std::runtime_error(
        "--model rtl: the simulator was built without the hardware, for want of Verilator; install "
        "verilator (scripts/setup --rtl does), and build with CMake's option GRADNIC_RTL");
#endif
}

}  // namespace sim
