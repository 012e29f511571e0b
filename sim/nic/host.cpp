// SPDX-License-Identifier: Apache-2.0
#include "host.h"

namespace sim
{

Host::Host(sc_core::sc_module_name, Setup setup)
    : s_(std::move(setup)), writer_(s_.pins.from_host), reader_(s_.pins.to_host)
{
    SC_METHOD(cycle);
    sensitive << s_.clock.clk.posedge_event();
    dont_initialize();
}

void Host::start(uint64_t now)
{
    started_ = true;
    started_at_ = free_at_ = now;
}

uint64_t Host::due() const
{
    return s_.pace == GN_SIM_PACE_STAMPS ? started_at_ + s_.traffic.frames[next_].stamp_ps : free_at_;
}

bool Host::waiting() const
{
    return !writer_.busy() && (next_ == s_.traffic.frames.size() || due() > now_ps() + 2 * s_.clock.period);
}

void Host::cycle()
{
    if (s_.pins.rst.read()) {
        writer_.offer(0);
        reader_.ready(false);
        return;
    }
    try {
        send();
        receive();
    } catch (const std::exception &e) {
        s_.fail(e.what());
    }
}

void Host::send()
{
    const uint64_t now = now_ps();
    if (writer_.offering() && !s_.pins.from_host.tready.read()) {
        s_.out.transmit_in.stalled(now);
        if (s_.out.transmit_level < s_.fifo_full) s_.out.engine_stalls++;
    }
    if (writer_.taken()) {
        s_.out.transmit_in.taken(now);
        if (!writer_.busy()) s_.out.in_transmit.push_back({next_, offered_, s_.model.transmit(writer_.frame(), head_)});
    }
    if (started_ && !writer_.busy() && next_ < s_.traffic.frames.size()) {
        if (due() <= now)
            begin();
        else
            s_.clock.wake.notify(ps(due() - now));
    }
    writer_.offer(head_ == GN_HEAD_STORED ? 4u : static_cast<uint32_t>(head_));
}

void Host::begin()
{
    const uint64_t due_before = due();
    const Bytes &frame = s_.traffic.frames[next_++].bytes;
    Direction &d = s_.out;
    offered_ = now_ps();
    // With stamps, a host that is behind stays behind. Only what it falls back further counts.
    if (s_.pace != GN_SIM_PACE_MAX) {
        const uint64_t asked = due_before + s_.clock.period, lag = offered_ > asked ? offered_ - asked : 0;
        d.behind += lag > lag_ ? lag - lag_ : 0;
        if (s_.pace == GN_SIM_PACE_STAMPS) lag_ = lag;
    }
    d.whole.mark(offered_);
    d.frames++;
    d.frame_bytes += frame.size();
    d.payload_bytes += payload_bytes(frame);
    d.plain_link_bytes += link_bytes(frame.size());
    d.in_flight++;
    s_.clock.active++;
    head_ = s_.model.head(frame);
    // A host that was held up does not catch up. A host that the clock's grid made late does.
    if (s_.pace == GN_SIM_PACE_RATE)
        free_at_ = std::max(free_at_, offered_ - std::min(offered_, s_.clock.period)) +
                   bytes_ps(link_bytes(frame.size()), s_.pace_rate);
    writer_.begin(frame);
}

void Host::receive()
{
    const uint64_t now = now_ps();
    Direction &d = s_.in;
    if (reader_.taken()) {
        d.receive_out.taken(now);
        if (reader_.done()) {
            const Passage passage = d.arrived(d.in_receive, "NIC " + d.to + ", receive", reader_.frame());
            d.whole.mark(now);
            d.delivered++;
            d.delivered_payload += payload_bytes(reader_.frame());
            d.latencies.push_back(now - passage.offered);
            d.in_flight--;
            s_.clock.active--;
            s_.delivered();
        }
    }
    reader_.ready(true);
}

}  // namespace sim
