// SPDX-License-Identifier: Apache-2.0
// One direction of the simulated system, from one host's DMA to the other's: frames under way, and
// counters.
#pragma once

#include <deque>
#include <stdexcept>
#include <string>

#include "ethernet.h"

namespace sim
{

// From the first moment that counted to the last, in ps.
struct Window {
    uint64_t first = UINT64_MAX, last = 0;
    void mark(uint64_t now)
    {
        if (now < first) first = now;
        if (now > last) last = now;
    }
    uint64_t length() const { return last > first ? last - first : 0; }
};

// A stream of beats: cycles in which a beat was taken, and in which one was offered but not taken.
struct PortUse {
    Window window;
    uint64_t beats = 0, stalls = 0;
    void taken(uint64_t now)
    {
        beats++;
        window.mark(now);
    }
    void stalled(uint64_t now)
    {
        stalls++;
        window.mark(now);
    }
};

// Bytes in a FIFO, sampled once a cycle.
struct Level {
    uint64_t most = 0;
    double sum = 0;
    void sample(uint64_t bytes)
    {
        if (bytes > most) most = bytes;
        sum += static_cast<double>(bytes);
    }
};

// A frame that a NIC has been given, and the frame that must come out, by the C model.
struct Passage {
    uint64_t number, offered;  // counted from 1; ps
    Bytes expected;
};

struct Direction {
    std::string from, to;
    uint64_t transmit_hz = 0, receive_hz = 0;  // clocks of the NICs

    uint64_t frames = 0, payload_bytes = 0;  // given by the host
    uint64_t frame_bytes = 0;                // ... as they are
    uint64_t plain_link_bytes = 0;           // ... and as the link would carry them, untouched
    uint64_t delivered = 0, delivered_payload = 0;
    double payload_ratio = 1;  // of what was transformed: L4 payload before and after
    uint64_t lost = 0, corrupted = 0, overflowed = 0, dropped_bad = 0, refused = 0;
    uint64_t link_frames = 0, link_bytes = 0;

    PortUse transmit_in, transmit_out, receive_in, receive_out;  // of the NICs
    uint64_t engine_stalls = 0;  // of transmit_in, while the FIFO behind the NIC had room
    // ps by which frames were given too late for the host's pace, because its NIC still took the
    // one before
    uint64_t behind = 0;
    Level transmit_fifo, receive_fifo;
    uint64_t transmit_level = 0;      // bytes in transmit_fifo at the last edge
    Window link;                      // frames on the link
    Window whole;                     // first beat offered to last beat delivered, or lost
    std::vector<uint64_t> latencies;  // ps, host to host

    std::deque<Passage> in_transmit, in_receive;
    uint64_t in_flight = 0;

    // For the frame that `nic` gives now. It must be the oldest of `passages`, as the C model has
    // it. Throws std::runtime_error when it is not.
    Passage arrived(std::deque<Passage> &passages, const std::string &nic, const Bytes &frame) const;
};

}  // namespace sim
