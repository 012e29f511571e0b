// SPDX-License-Identifier: Apache-2.0
// The clock of a NIC. It sleeps while nothing is on its way in the NIC, and wakes on its own grid.
// So pauses in a capture cost no time.
#pragma once

#include "pins.h"

namespace sim
{

inline uint64_t now_ps()
{
    return sc_core::sc_time_stamp().value();
}

inline sc_core::sc_time ps(uint64_t count)
{
    return sc_core::sc_time::from_value(count);
}

SC_MODULE(Clock)
{
    Signal<bool> clk{"clk"};
    sc_core::sc_event wake;
    unsigned active = 0;     // frames between a host and its MAC's line, either way
    bool may_sleep = false;  // nothing else needs the clock

    SC_HAS_PROCESS(Clock);
    Clock(sc_core::sc_module_name, uint64_t period_ps) : period(period_ps)
    {
        SC_METHOD(toggle);
    }
    const uint64_t period;

  private:
    static constexpr unsigned QUIET = 64;  // cycles after which pipelines are empty

    void toggle()
    {
        if (sleeping_) {  // woken: up with the next edge of the grid
            sleeping_ = false;
            const uint64_t behind = now_ps() % period;
            next_trigger(ps(behind ? period - behind : period));
            return;
        }
        high_ = !high_;
        clk.write(high_);
        if (high_) {
            next_trigger(ps(period / 2));
            return;
        }
        quiet_ = active || !may_sleep ? 0 : quiet_ + 1;
        sleeping_ = quiet_ > QUIET;
        if (sleeping_)
            next_trigger(wake);
        else
            next_trigger(ps(period - period / 2));
    }
    bool high_ = false, sleeping_ = false;
    unsigned quiet_ = 0;
};

}  // namespace sim
