// SPDX-License-Identifier: Apache-2.0
// A MAC with a FIFO in each direction. It exchanges beats with the NIC at the NIC's clock, and
// whole frames with the link, with the times of their bits. It sends a frame once it has all of it,
// because a NIC's output has gaps where data compress well.
#pragma once

#include <deque>
#include <functional>

#include "clock.h"
#include "direction.h"

namespace sim
{

// A frame on the link: padded, with its FCS.
struct LinkFrame {
    Bytes bytes;
    uint64_t start;  // ps, of the first bit behind the preamble
    uint64_t number, offered;
    bool bad = false;  // the receiving MAC found a wrong FCS
};

SC_MODULE(Mac)
{
    struct Setup {
        uint64_t rate;  // bits per second
        size_t fifo_bytes;
        Pins &pins;
        Clock &clock;
        Direction &out, &in;
        Model &model;  // of this NIC
        std::function<void(LinkFrame)> send;
        std::function<void(const std::string &)> fail;
    };

    SC_HAS_PROCESS(Mac);
    Mac(sc_core::sc_module_name, Setup setup);

    // To be called when a frame's first bit behind the preamble arrives.
    void arrive(LinkFrame frame);
    bool idle() const
    {
        return queue_.empty() && arrived_.empty() && !sending_;
    }

  private:
    struct Queued {
        Bytes bytes;
        uint64_t number, offered;
    };

    void cycle();
    void step();
    void from_nic();
    void to_nic();
    void line();
    uint64_t transmit_level() const;
    uint64_t receive_level() const;
    uint64_t arrived_bytes(const LinkFrame &frame) const;

    Setup s_;
    Reader reader_;
    Writer<bool> writer_;
    sc_core::sc_event line_event_;
    std::deque<Queued> queue_;  // complete, to be sent; the first is on the line if sending_
    size_t stored_ = 0;         // bytes in queue_, and of the frame that comes from the NIC
    bool sending_ = false;
    uint64_t sending_since_ = 0;
    std::deque<LinkFrame> arrived_;  // to go to the NIC; the first is with writer_
    size_t given_ = 0;               // bytes of it that the NIC has
};

}  // namespace sim
