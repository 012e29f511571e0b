// SPDX-License-Identifier: Apache-2.0
// A host and its DMA: it gives frames to the NIC and takes frames from it.
#pragma once

#include <functional>

#include "clock.h"
#include "direction.h"
#include "traffic.h"

namespace sim
{

SC_MODULE(Host)
{
    struct Setup {
        const Traffic &traffic;
        Pins &pins;
        Clock &clock;
        Direction &out, &in;
        Model &model;  // of this host's NIC
        gn_sim_pace pace;
        uint64_t pace_rate;
        size_t fifo_full;  // bytes in the FIFO behind the NIC: then it waits for the link
        std::function<void(const std::string &)> fail;
        std::function<void()> delivered;
    };

    SC_HAS_PROCESS(Host);
    Host(sc_core::sc_module_name, Setup setup);

    void start(uint64_t now);  // frames are sent from then on
    bool done() const
    {
        return next_ == s_.traffic.frames.size() && !writer_.busy();
    }
    // Whether the next frame comes so late that the clock may sleep until then.
    bool waiting() const;

  private:
    void cycle();
    void send();
    void begin();
    void receive();
    uint64_t due() const;  // when the next frame may be given

    Setup s_;
    Writer<uint32_t> writer_;
    Reader reader_;
    size_t next_ = 0;
    bool started_ = false;
    uint64_t started_at_ = 0, free_at_ = 0;
    uint64_t offered_ = 0, lag_ = 0;
    int head_ = 0;
};

}  // namespace sim
