// SPDX-License-Identifier: Apache-2.0
// One direction of a link: rate, delay, a queue with marks, loss. One event serves all datagrams
// that fly, because they arrive in order.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <systemc>

#include "net/splitmix.h"
#include "scenario.h"

namespace sim_net
{

using Datagram = std::shared_ptr<const std::vector<uint8_t>>;

inline uint64_t now_ps()
{
    return sc_core::sc_time_stamp().value();
}

inline int64_t now_ns()
{
    return static_cast<int64_t>(now_ps() / 1000);
}

inline sc_core::sc_time ps(uint64_t count)
{
    return sc_core::sc_time::from_value(count);
}

// From 0 up to 1, without 1.
inline double uniform(uint64_t &state)
{
    return static_cast<double>(splitmix64(&state) >> 11) * 0x1p-53;
}

struct LinkCounters {
    uint64_t packets, bytes;  // that arrived; bytes of the link's time
    uint64_t lost, dropped, marked;
};

SC_MODULE(Link)
{
    using Receiver = std::function<void(const Datagram &, bool marked)>;

    SC_HAS_PROCESS(Link);
    Link(sc_core::sc_module_name, const LinkSetup &setup, uint64_t seed, Receiver receiver)
        : s_(setup), random_(seed), receiver_(std::move(receiver))
    {
        SC_METHOD(deliver);
        sensitive << event_;
        dont_initialize();
    }
    LinkCounters counters = {};

    // When the next datagram would leave at once.
    uint64_t free_ps() const
    {
        return free_ps_;
    }

    void send(const Datagram &datagram)
    {
        const uint64_t now = now_ps(), bytes = datagram->size() + s_.overhead_bytes;
        const uint64_t start = free_ps_ > now ? free_ps_ : now;
        if (s_.queue_bytes && start - now > time_of(s_.queue_bytes)) {
            counters.dropped++;
            return;
        }
        const bool marked = s_.ecn_bytes && start - now > time_of(s_.ecn_bytes);
        free_ps_ = start + time_of(bytes);
        counters.marked += marked;
        if (s_.loss > 0 && uniform(random_) < s_.loss) {
            counters.lost++;
            return;
        }
        const uint64_t arrival = free_ps_ + s_.delay_ns * 1000;
        if (flying_.empty()) event_.notify(ps(arrival - now));
        flying_.push_back({arrival, datagram, marked});
        counters.packets++;
        counters.bytes += bytes;
    }

  private:
    struct Flight {
        uint64_t arrival_ps;
        Datagram datagram;
        bool marked;
    };

    // At most 2^30 bytes, so the product stays below 2^64 in steps of 1000.
    uint64_t time_of(uint64_t bytes) const
    {
        return bytes * 8 * 1000000000u / s_.rate * 1000 + rest(bytes);
    }
    uint64_t rest(uint64_t bytes) const
    {
        return bytes * 8 * 1000000000u % s_.rate * 1000 / s_.rate;
    }

    void deliver()
    {
        const Flight flight = std::move(flying_.front());
        flying_.pop_front();
        if (!flying_.empty()) event_.notify(ps(flying_.front().arrival_ps - now_ps()));
        receiver_(flight.datagram, flight.marked);
    }

    const LinkSetup s_;
    uint64_t random_, free_ps_ = 0;
    Receiver receiver_;
    std::deque<Flight> flying_;
    sc_core::sc_event event_;
};

}  // namespace sim_net
