// SPDX-License-Identifier: Apache-2.0
// One direction of the link: delay, lost frames, wrong bits. The seed alone decides what happens to
// the n-th frame.
#pragma once

#include <functional>

#include "mac.h"
#include "net/splitmix.h"

namespace sim
{

struct Random {
    uint64_t state;

    bool happens(double probability) { return static_cast<double>(splitmix64(&state) >> 11) * 0x1p-53 < probability; }
};

SC_MODULE(Link)
{
    struct Setup {
        uint64_t delay_ps;
        double loss, corrupt;
        uint64_t seed;
        Direction &direction;
    };

    SC_HAS_PROCESS(Link);
    Link(sc_core::sc_module_name, const Setup &setup) : s_(setup), random_{setup.seed}
    {
        SC_METHOD(deliver);
        sensitive << event_;
        dont_initialize();
    }
    Mac *receiver = nullptr;

    void send(LinkFrame frame)
    {
        const bool lost = random_.happens(s_.loss), corrupt = random_.happens(s_.corrupt);
        const uint64_t bit = splitmix64(&random_.state) % (frame.bytes.size() * 8);
        if (lost) {
            s_.direction.lost++;
            s_.direction.in_flight--;
            return;
        }
        if (corrupt) {
            s_.direction.corrupted++;
            frame.bytes[bit / 8] = static_cast<uint8_t>(frame.bytes[bit / 8] ^ 1u << bit % 8);
        }
        frame.start += s_.delay_ps;
        if (flying_.empty()) event_.notify(ps(frame.start - now_ps()));
        flying_.push_back(std::move(frame));
    }

  private:
    void deliver()
    {
        LinkFrame frame = std::move(flying_.front());
        flying_.pop_front();
        if (!flying_.empty()) event_.notify(ps(flying_.front().start - now_ps()));
        receiver->arrive(std::move(frame));
    }

    const Setup s_;
    Random random_;
    std::deque<LinkFrame> flying_;
    sc_core::sc_event event_;
};

}  // namespace sim
