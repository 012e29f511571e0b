// SPDX-License-Identifier: Apache-2.0
#include "mac.h"

namespace sim
{

Mac::Mac(sc_core::sc_module_name, Setup setup)
    : s_(std::move(setup)), reader_(s_.pins.to_wire), writer_(s_.pins.from_wire)
{
    SC_METHOD(cycle);
    sensitive << s_.clock.clk.posedge_event();
    dont_initialize();
    SC_METHOD(line);
    sensitive << line_event_;
    dont_initialize();
}

void Mac::cycle()
{
    if (s_.pins.rst.read()) {
        reader_.ready(false);
        return;
    }
    try {
        from_nic();
        to_nic();
    } catch (const std::exception &e) {
        s_.fail(e.what());
    }
}

void Mac::from_nic()
{
    if (reader_.stalled()) s_.out.transmit_out.stalled(now_ps());
    if (const size_t bytes = reader_.taken()) {
        s_.out.transmit_out.taken(now_ps());
        stored_ += bytes;
        if (reader_.done()) {
            const Passage passage =
                s_.out.arrived(s_.out.in_transmit, "NIC " + s_.out.from + ", transmit", reader_.frame());
            queue_.push_back({reader_.frame(), passage.number, passage.offered});
            if (!sending_) line_event_.notify(sc_core::SC_ZERO_TIME);
        }
    }
    // One more beat may be on its way.
    const uint64_t level = transmit_level();
    reader_.ready(level + 2 * BEAT <= s_.fifo_bytes);
    s_.out.transmit_fifo.sample(s_.out.transmit_level = level);
}

// A frame on the line leaves byte by byte.
uint64_t Mac::transmit_level() const
{
    if (!sending_) return stored_;
    const uint64_t sent = (now_ps() - sending_since_) * (s_.rate / 1000) / 8 / 1000000000u;
    const uint64_t left = sent > PREAMBLE_BYTES ? sent - PREAMBLE_BYTES : 0;
    return stored_ - std::min<uint64_t>(left, queue_.front().bytes.size());
}

void Mac::line()
{
    const uint64_t now = now_ps();
    if (sending_) {  // the gap is over
        sending_ = false;
        stored_ -= queue_.front().bytes.size();
        queue_.pop_front();
        s_.clock.active--;
    }
    if (queue_.empty()) return;
    sending_ = true;
    sending_since_ = now;
    const Queued &frame = queue_.front();
    const uint64_t taken = link_bytes(frame.bytes.size());
    LinkFrame out;
    out.bytes = frame.bytes;
    out.start = now + bytes_ps(PREAMBLE_BYTES, s_.rate);
    out.number = frame.number;
    out.offered = frame.offered;
    if (out.bytes.size() < FRAME_MIN) out.bytes.resize(FRAME_MIN);
    const uint32_t fcs = frame_check_sequence(out.bytes.data(), out.bytes.size());
    for (unsigned i = 0; i < FCS_BYTES; i++) out.bytes.push_back(static_cast<uint8_t>(fcs >> 8 * i));
    s_.out.link_frames++;
    s_.out.link_bytes += taken;
    s_.out.link.mark(now);
    s_.out.link.mark(now + bytes_ps(taken, s_.rate));
    s_.out.whole.mark(now + bytes_ps(taken - GAP_BYTES, s_.rate));  // also when it is lost
    line_event_.notify(ps(bytes_ps(taken, s_.rate)));
    s_.send(std::move(out));
}

uint64_t Mac::arrived_bytes(const LinkFrame &frame) const
{
    const uint64_t now = now_ps();
    if (now >= frame.start + bytes_ps(frame.bytes.size(), s_.rate)) return frame.bytes.size() - FCS_BYTES;
    const uint64_t bytes = (now - frame.start) * (s_.rate / 1000) / 8 / 1000000000u;
    // The last byte does not count before the FCS has come.
    return std::min<uint64_t>(bytes, frame.bytes.size() - FCS_BYTES - 1);
}

uint64_t Mac::receive_level() const
{
    uint64_t level = 0;
    for (const LinkFrame &frame : arrived_) level += arrived_bytes(frame);
    return level - given_;
}

static bool fcs_holds(const Bytes &bytes)
{
    const size_t length = bytes.size() - FCS_BYTES;
    uint32_t fcs = 0;
    for (unsigned i = 0; i < FCS_BYTES; i++) fcs |= static_cast<uint32_t>(bytes[length + i]) << 8 * i;
    return fcs == frame_check_sequence(bytes.data(), length);
}

void Mac::arrive(LinkFrame frame)
{
    if (receive_level() + frame.bytes.size() > s_.fifo_bytes) {
        s_.in.overflowed++;
        s_.in.in_flight--;
        return;
    }
    s_.clock.active++;
    s_.clock.wake.notify(sc_core::SC_ZERO_TIME);
    frame.bad = !fcs_holds(frame.bytes);
    arrived_.push_back(std::move(frame));
}

void Mac::to_nic()
{
    if (writer_.offering() && !s_.pins.from_wire.tready.read()) s_.in.receive_in.stalled(now_ps());
    if (writer_.taken()) {
        s_.in.receive_in.taken(now_ps());
        given_ += BEAT;
        if (!writer_.busy()) {
            const LinkFrame frame = std::move(arrived_.front());
            arrived_.pop_front();
            given_ = 0;
            std::optional<Bytes> expected;
            if (frame.bad)
                s_.in.dropped_bad++;
            else if (!(expected = s_.model.receive(writer_.frame())))
                s_.in.refused++;
            if (expected) {
                s_.in.in_receive.push_back({frame.number, frame.offered, std::move(*expected)});
            } else {
                s_.in.in_flight--;
                s_.clock.active--;
            }
        }
    }
    if (!writer_.busy() && !arrived_.empty()) {
        Bytes frame = arrived_.front().bytes;
        frame.resize(frame.size() - FCS_BYTES);
        writer_.begin(std::move(frame));
    }
    if (writer_.busy())
        writer_.offer(arrived_.front().bad, arrived_bytes(arrived_.front()));
    else
        writer_.offer(false);
    s_.in.receive_fifo.sample(receive_level());
}

}  // namespace sim
