// SPDX-License-Identifier: Apache-2.0
#include "driver/rtl/rtl_nic.h"

#include <verilated.h>

#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "Vgn_nic_top.h"

#include "host/beat.h"

namespace
{

constexpr size_t FRAME_MAX = 128 * 1024;  // longer than any frame: this one does not end
constexpr unsigned REGISTER_CYCLES = 1000;
constexpr unsigned SLICE = 32;  // cycles that a thread keeps the clock

struct Frame {
    std::vector<uint8_t> bytes;
    unsigned user;
};

// One direction: frames that wait to go in, the one that comes out, and those that came out.
struct Side {
    std::deque<Frame> waiting;
    size_t sent = 0;  // bytes of the first
    std::vector<uint8_t> coming;
    std::deque<std::vector<uint8_t>> done;
    const char *fault = nullptr;
    unsigned idle = 0;  // cycles since a beat moved

    // Puts the next beat, if there is one, on a stream's signals.
    template <class Data, class Keep, class Bit, class User>
    void drive(Data &data, Keep &keep, Bit &last, Bit &valid, User &user) const
    {
        valid = !waiting.empty();
        if (!valid) return;
        const Frame &frame = waiting.front();
        const axis::Beat beat = axis::cut(frame.bytes, sent);
        for (size_t i = 0; i < axis::BEAT / 4; i++) data[i] = beat.words[i];
        keep = beat.keep;
        last = beat.last;
        user = static_cast<User>(beat.last ? frame.user : 0);
    }

    void taken()
    {
        idle = 0;
        sent += axis::BEAT;
        if (sent < waiting.front().bytes.size()) return;
        waiting.pop_front();
        sent = 0;
    }

    template <class Data> void given(const Data &data, uint32_t keep, bool last)
    {
        idle = 0;
        if (!keep || (keep & (keep + 1))) return fail("a beat does not keep its first bytes");
        if (!last && ~keep) return fail("a beat in the middle of a frame is not full");
        axis::Beat beat = {{}, keep, last};
        for (size_t i = 0; i < axis::BEAT / 4; i++) beat.words[i] = data[i];
        axis::append(coming, beat);
        if (coming.size() > FRAME_MAX) return fail("a frame does not end");
        if (!last) return;
        done.push_back(std::move(coming));
        coming.clear();
    }

    void fail(const char *what)
    {
        if (!fault) fault = what;
    }
};

}  // namespace

struct gn_rtl_nic {
    VerilatedContext context;
    std::unique_ptr<Vgn_nic_top> top;
    std::mutex lock;  // of all that is in here
    Side side[2];

    gn_rtl_nic()
    {
        // Nothing may depend on the content of a register or a memory after power-up.
        context.randReset(2);
        context.randSeed(1);
        context.threads(1);  // only those of the callers
        top = std::make_unique<Vgn_nic_top>(&context);
        top->rst = 1;
        top->m_axis_wire_tready = top->m_axis_host_tready = 1;
        top->tx_drop_ready = top->rx_drop_ready = 1;
        top->s_axil_awvalid = top->s_axil_wvalid = top->s_axil_arvalid = 0;
        top->s_axil_bready = top->s_axil_rready = 1;
        top->s_axil_wstrb = 0xf;
        for (int i = 0; i < 8; i++) tick();
        top->rst = 0;
        tick();
    }

    ~gn_rtl_nic() { top->final(); }

    // The first half of a cycle: afterwards all signals are as the clock's edge will find them.
    void settle()
    {
        const Side &tx = side[GN_RTL_TX], &rx = side[GN_RTL_RX];
        top->clk = 0;
        tx.drive(top->s_axis_host_tdata, top->s_axis_host_tkeep, top->s_axis_host_tlast, top->s_axis_host_tvalid,
                 top->s_axis_host_tuser);
        rx.drive(top->s_axis_wire_tdata, top->s_axis_wire_tkeep, top->s_axis_wire_tlast, top->s_axis_wire_tvalid,
                 top->s_axis_wire_tuser);
        top->eval();
    }

    void edge()
    {
        Side &tx = side[GN_RTL_TX], &rx = side[GN_RTL_RX];
        tx.idle++;
        rx.idle++;
        if (!top->rst) {
            if (top->s_axis_host_tvalid && top->s_axis_host_tready) tx.taken();
            if (top->s_axis_wire_tvalid && top->s_axis_wire_tready) rx.taken();
            if (top->m_axis_wire_tvalid)
                tx.given(top->m_axis_wire_tdata, top->m_axis_wire_tkeep, top->m_axis_wire_tlast);
            if (top->m_axis_host_tvalid)
                rx.given(top->m_axis_host_tdata, top->m_axis_host_tkeep, top->m_axis_host_tlast);
        }
        top->clk = 1;
        top->eval();
    }

    void tick()
    {
        settle();
        edge();
    }

    // @return as gn_rtl_nic_write()
    int write(unsigned address, uint32_t value)
    {
        top->s_axil_awaddr = static_cast<uint16_t>(address);
        top->s_axil_wdata = value;
        top->s_axil_awvalid = top->s_axil_wvalid = 1;
        for (unsigned i = 0; i < REGISTER_CYCLES; i++) {
            settle();
            const bool address_taken = top->s_axil_awvalid && top->s_axil_awready;
            const bool data_taken = top->s_axil_wvalid && top->s_axil_wready, answered = top->s_axil_bvalid;
            const int response = top->s_axil_bresp;
            edge();
            if (address_taken) top->s_axil_awvalid = 0;
            if (data_taken) top->s_axil_wvalid = 0;
            if (answered) return response;
        }
        top->s_axil_awvalid = top->s_axil_wvalid = 0;
        return -1;
    }

    int read(unsigned address, uint32_t *value)
    {
        top->s_axil_araddr = static_cast<uint16_t>(address);
        top->s_axil_arvalid = 1;
        for (unsigned i = 0; i < REGISTER_CYCLES; i++) {
            settle();
            const bool address_taken = top->s_axil_arvalid && top->s_axil_arready, answered = top->s_axil_rvalid;
            const int response = top->s_axil_rresp;
            *value = top->s_axil_rdata;
            edge();
            if (address_taken) top->s_axil_arvalid = 0;
            if (answered) return response;
        }
        top->s_axil_arvalid = 0;
        return -1;
    }
};

gn_rtl_nic *gn_rtl_nic_new(void)
{
    try {
        return new gn_rtl_nic;
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void gn_rtl_nic_free(gn_rtl_nic *nic)
{
    delete nic;
}

int gn_rtl_nic_put(gn_rtl_nic *nic, gn_rtl_side side, const uint8_t *header, size_t header_bytes, const uint8_t *packet,
                   size_t packet_bytes, unsigned user)
{
    try {
        Frame frame{{}, user};
        frame.bytes.reserve(header_bytes + packet_bytes);
        frame.bytes.insert(frame.bytes.end(), header, header + header_bytes);
        frame.bytes.insert(frame.bytes.end(), packet, packet + packet_bytes);
        const std::lock_guard<std::mutex> hold(nic->lock);
        nic->side[side].waiting.push_back(std::move(frame));
        return 0;
    } catch (const std::bad_alloc &) {
        return -1;
    }
}

long gn_rtl_nic_get(gn_rtl_nic *nic, gn_rtl_side which, uint8_t *frame, size_t room, unsigned cycles)
{
    Side &side = nic->side[which];
    for (bool first = true;; first = false) {
        const std::lock_guard<std::mutex> hold(nic->lock);
        if (first) side.idle = 0;
        try {
            for (unsigned i = 0; i < SLICE && side.done.empty() && !side.fault && side.idle < cycles; i++) nic->tick();
        } catch (const std::bad_alloc &) {
            side.fail("out of memory");
        }
        if (side.fault) return -1;
        if (!side.done.empty()) {
            const std::vector<uint8_t> &bytes = side.done.front();
            const size_t length = bytes.size();
            if (length > room) {
                side.fail("a frame is longer than any packet");
                return -1;
            }
            std::memcpy(frame, bytes.data(), length);
            side.done.pop_front();
            return static_cast<long>(length);
        }
        if (side.idle >= cycles) return 0;
    }
}

const char *gn_rtl_nic_fault(const gn_rtl_nic *nic, gn_rtl_side side)
{
    return nic->side[side].fault;
}

int gn_rtl_nic_write(gn_rtl_nic *nic, unsigned address, uint32_t value)
{
    const std::lock_guard<std::mutex> hold(nic->lock);
    return nic->write(address, value);
}

int gn_rtl_nic_read(gn_rtl_nic *nic, unsigned address, uint32_t *value)
{
    const std::lock_guard<std::mutex> hold(nic->lock);
    return nic->read(address, value);
}
