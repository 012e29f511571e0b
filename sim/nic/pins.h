// SPDX-License-Identifier: Apache-2.0
// The ports of gn_nic_top as signals, and AXI4-Stream beat by beat: a writer and a reader, which a
// module steps once per clock edge. A signal that is read at an edge has its value from before the
// edge, so both sides see the same handshake.
#pragma once

#include <systemc>

#include "ethernet.h"
#include "host/beat.h"

namespace sim
{

constexpr size_t BEAT = GRADNIC_SIM_WIDTH / 8;  // bytes
using Beat = sc_dt::sc_bv<GRADNIC_SIM_WIDTH>;
using Keep = axis::Keep<BEAT>;
template <class T> using Signal = sc_core::sc_signal<T>;

// User is the type of tuser: bool for one bit, uint32_t for up to 32, as Verilator makes ports.
template <class User> struct Stream {
    Signal<Beat> tdata;
    Signal<Keep> tkeep;
    Signal<bool> tlast, tvalid, tready;
    Signal<User> tuser;
    // What goes with a frame, and its length: for wrappers; nobody here looks at them.
    Signal<bool> side;
    Signal<uint32_t> length;
};

// Frames that do not leave. Nobody here looks at them, but they must be taken.
struct Dropped {
    Signal<bool> side, valid, ready;
};

struct Registers {
    Signal<uint32_t> awaddr, wdata, wstrb, bresp, araddr, rdata, rresp;
    Signal<bool> awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
};

struct Pins {
    Signal<bool> rst;
    Stream<uint32_t> from_host;  // tuser {bad, stored, head}
    Stream<bool> to_wire;        // the outputs have no tuser
    Stream<bool> from_wire;      // tuser bad
    Stream<bool> to_host;
    Dropped tx_drop, rx_drop;
    Registers axil;
};

// Nic: gn_nic_top, Verilated, or anything with the same ports.
template <class Nic> void bind(Nic &nic, Pins &p, Signal<bool> &clk)
{
    nic.clk(clk);
    nic.rst(p.rst);
    nic.s_axis_host_tdata(p.from_host.tdata);
    nic.s_axis_host_tkeep(p.from_host.tkeep);
    nic.s_axis_host_tlast(p.from_host.tlast);
    nic.s_axis_host_tuser(p.from_host.tuser);
    nic.s_axis_host_tvalid(p.from_host.tvalid);
    nic.s_axis_host_tready(p.from_host.tready);
    nic.m_axis_wire_tdata(p.to_wire.tdata);
    nic.m_axis_wire_tkeep(p.to_wire.tkeep);
    nic.m_axis_wire_tlast(p.to_wire.tlast);
    nic.m_axis_wire_tvalid(p.to_wire.tvalid);
    nic.m_axis_wire_tready(p.to_wire.tready);
    nic.s_axis_wire_tdata(p.from_wire.tdata);
    nic.s_axis_wire_tkeep(p.from_wire.tkeep);
    nic.s_axis_wire_tlast(p.from_wire.tlast);
    nic.s_axis_wire_tuser(p.from_wire.tuser);
    nic.s_axis_wire_tvalid(p.from_wire.tvalid);
    nic.s_axis_wire_tready(p.from_wire.tready);
    nic.m_axis_host_tdata(p.to_host.tdata);
    nic.m_axis_host_tkeep(p.to_host.tkeep);
    nic.m_axis_host_tlast(p.to_host.tlast);
    nic.m_axis_host_tvalid(p.to_host.tvalid);
    nic.m_axis_host_tready(p.to_host.tready);
    nic.s_axis_host_side(p.from_host.side);
    nic.m_axis_wire_side(p.to_wire.side);
    nic.m_axis_wire_length(p.to_wire.length);
    nic.s_axis_wire_side(p.from_wire.side);
    nic.m_axis_host_side(p.to_host.side);
    nic.m_axis_host_length(p.to_host.length);
    nic.tx_drop_side(p.tx_drop.side);
    nic.tx_drop_valid(p.tx_drop.valid);
    nic.tx_drop_ready(p.tx_drop.ready);
    p.tx_drop.ready.write(true);
    nic.rx_drop_side(p.rx_drop.side);
    nic.rx_drop_valid(p.rx_drop.valid);
    nic.rx_drop_ready(p.rx_drop.ready);
    p.rx_drop.ready.write(true);
    nic.s_axil_awaddr(p.axil.awaddr);
    nic.s_axil_awvalid(p.axil.awvalid);
    nic.s_axil_awready(p.axil.awready);
    nic.s_axil_wdata(p.axil.wdata);
    nic.s_axil_wstrb(p.axil.wstrb);
    nic.s_axil_wvalid(p.axil.wvalid);
    nic.s_axil_wready(p.axil.wready);
    nic.s_axil_bresp(p.axil.bresp);
    nic.s_axil_bvalid(p.axil.bvalid);
    nic.s_axil_bready(p.axil.bready);
    nic.s_axil_araddr(p.axil.araddr);
    nic.s_axil_arvalid(p.axil.arvalid);
    nic.s_axil_arready(p.axil.arready);
    nic.s_axil_rdata(p.axil.rdata);
    nic.s_axil_rresp(p.axil.rresp);
    nic.s_axil_rvalid(p.axil.rvalid);
    nic.s_axil_rready(p.axil.rready);
}

// Writes the beat of a frame that begins at byte `at`. The parameters are signals, or ports of a
// module.
template <class Data, class Keeps, class Flag>
void write_beat(Data &tdata, Keeps &tkeep, Flag &tlast, const Bytes &frame, size_t at)
{
    const auto beat = axis::cut<BEAT>(frame, at);
    Beat data;
    for (int i = 0; i < static_cast<int>(BEAT / 4); i++) data.set_word(i, beat.words[i]);
    tdata.write(data);
    tkeep.write(beat.keep);
    tlast.write(beat.last);
}

inline void append_beat(Bytes &frame, const Beat &beat, Keep keep)
{
    axis::BeatOf<BEAT> plain = {{}, keep, false};
    for (int i = 0; i < static_cast<int>(BEAT / 4); i++) plain.words[i] = beat.get_word(i);
    axis::append(frame, plain);
}

// Gives frames to a sink.
template <class User> class Writer
{
  public:
    explicit Writer(Stream<User> &port) : port_(port) {}

    bool busy() const { return busy_; }
    bool offering() const { return offering_; }
    const Bytes &frame() const { return frame_; }

    void begin(Bytes frame)
    {
        frame_ = std::move(frame);
        at_ = 0;
        busy_ = true;
    }
    // To be called first at an edge. @return whether the beat that was offered has been taken. If
    // it was the last, busy() is false from then on.
    bool taken()
    {
        if (!offering_ || !port_.tready.read()) return false;
        offering_ = false;
        at_ += BEAT;
        busy_ = at_ < frame_.size();
        return true;
    }
    // To be called last at an edge. Offers the next beat, once all of it is among the frame's first
    // `available` bytes.
    void offer(User user, size_t available = SIZE_MAX)
    {
        if (busy_ && !offering_ && std::min(at_ + BEAT, frame_.size()) <= available) {
            write_beat(port_.tdata, port_.tkeep, port_.tlast, frame_, at_);
            port_.tuser.write(user);
            offering_ = true;
        }
        port_.tvalid.write(offering_);
    }

  private:
    Stream<User> &port_;
    Bytes frame_;
    size_t at_ = 0;
    bool busy_ = false, offering_ = false;
};

// Takes frames from a source.
class Reader
{
  public:
    explicit Reader(Stream<bool> &port) : port_(port) {}

    // To be called at an edge. @return bytes of the beat that has been taken; 0 for none
    size_t taken()
    {
        if (!port_.tvalid.read() || !port_.tready.read()) return 0;
        if (done_) frame_.clear();
        const size_t before = frame_.size();
        append_beat(frame_, port_.tdata.read(), port_.tkeep.read());
        done_ = port_.tlast.read();
        return frame_.size() - before;
    }
    // Whether that beat was the last of frame().
    bool done() const { return done_; }
    const Bytes &frame() const { return frame_; }
    bool stalled() const { return port_.tvalid.read() && !port_.tready.read(); }
    void ready(bool ready) { port_.tready.write(ready); }

  private:
    Stream<bool> &port_;
    Bytes frame_;
    bool done_ = false;
};

}  // namespace sim
