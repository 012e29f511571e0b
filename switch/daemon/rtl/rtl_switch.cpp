// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/rtl/rtl_switch.h"

#include <verilated.h>

#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <vector>

#include "Vgn_aggregator.h"

#include "host/beat.h"

namespace
{

constexpr unsigned PATIENCE = 20000;  // cycles without a beat or a verdict: nothing comes any more

struct Frame {
    std::vector<uint8_t> bytes;
    uint16_t port = 0;
};

}  // namespace

struct gn_rtl_switch {
    VerilatedContext context;
    std::unique_ptr<Vgn_aggregator> top;
    const std::vector<uint8_t> *going = nullptr;  // the frame that goes in
    size_t sent = 0;
    uint16_t from = 0;
    Frame coming;
    std::deque<Frame> done;
    gn_rtl_event event = {};
    bool has_event = false, unjudged = false;
    const char *fault = nullptr;
    uint64_t cycles = 0, moved = 0;

    gn_rtl_switch()
    {
        // Nothing may depend on the content of a register or a memory after power-up.
        context.randReset(2);
        context.randSeed(1);
        context.threads(1);
        top = std::make_unique<Vgn_aggregator>(&context);
        top->rst = 1;
        top->m_axis_tready = 1;
        top->cfg_write = 0;
        for (int i = 0; i < 8; i++) tick();
        top->rst = 0;
        tick();
    }

    ~gn_rtl_switch() { top->final(); }

    void fail(const char *what)
    {
        if (!fault) fault = what;
    }

    void tick()
    {
        top->clk = 0;
        top->s_axis_tvalid = going != nullptr;
        if (going) {
            const axis::Beat beat = axis::cut(*going, sent);
            for (size_t i = 0; i < axis::BEAT / 4; i++) top->s_axis_tdata[i] = beat.words[i];
            top->s_axis_tkeep = beat.keep;
            top->s_axis_tlast = beat.last;
            top->s_axis_tuser = from;
        }
        top->eval();
        if (!top->rst) look();
        top->clk = 1;
        top->eval();
        cycles++;
    }

    void look()
    {
        if (top->s_axis_tvalid && top->s_axis_tready) {
            moved = cycles;
            sent += axis::BEAT;
            if (sent >= going->size()) going = nullptr;
        }
        if (top->event_dropped_bad || top->event_dropped_long || top->event_not_udp) unjudged = true;
        if (top->event_valid) judged();
        if (top->m_axis_tvalid) given();
    }

    void judged()
    {
        moved = cycles;
        if (has_event) fail("it has judged one packet twice");
        has_event = true;
        event.verdict = top->event_verdict, event.index = top->event_index;
        event.slot = top->event_slot, event.version = top->event_version;
        event.used = top->event_used, event.whole = top->event_whole, event.poison = top->event_poison;
        event.ecn = top->event_ecn, event.late = top->event_late, event.seen = top->event_seen;
        event.exponent = static_cast<int8_t>(top->event_exponent), event.next = static_cast<int8_t>(top->event_next);
        event.values = top->event_values, event.priority = top->event_priority, event.psn = top->event_psn;
    }

    void given()
    {
        moved = cycles;
        const uint32_t keep = top->m_axis_tkeep;
        axis::Beat beat = {{}, keep, top->m_axis_tlast != 0};
        if (!keep || (keep & (keep + 1)) || (!beat.last && ~keep)) return fail("a beat does not keep its first bytes");
        for (size_t i = 0; i < axis::BEAT / 4; i++) beat.words[i] = top->m_axis_tdata[i];
        axis::append(coming.bytes, beat);
        if (coming.bytes.size() > GN_RTL_SWITCH_FRAME) return fail("a frame does not end");
        if (!beat.last) return;
        coming.port = top->m_axis_tuser;
        done.push_back(std::move(coming));
        coming = {};
    }

    bool waiting() const { return !fault && cycles - moved < PATIENCE; }
};

gn_rtl_switch *gn_rtl_switch_new(void)
{
    try {
        return new gn_rtl_switch;
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void gn_rtl_switch_free(gn_rtl_switch *hardware)
{
    delete hardware;
}

int gn_rtl_switch_write(gn_rtl_switch *h, uint16_t address, uint32_t word)
{
    for (unsigned i = 0; h->top->cfg_busy; i++) {
        if (i == PATIENCE) return -1;
        h->tick();
    }
    h->top->cfg_write = 1;
    h->top->cfg_address = address;
    h->top->cfg_data = word;
    h->tick();
    h->top->cfg_write = 0;
    h->tick();
    return 0;
}

int gn_rtl_switch_put(gn_rtl_switch *h, uint16_t port, const uint8_t *frame, size_t bytes, gn_rtl_event *event)
{
    try {
        const std::vector<uint8_t> whole(frame, frame + bytes);
        h->going = &whole;
        h->sent = 0;
        h->from = port;
        h->has_event = h->unjudged = false;
        h->moved = h->cycles;
        while (!h->has_event && !h->unjudged && h->waiting()) h->tick();
        h->going = nullptr;
    } catch (const std::bad_alloc &) {
        h->fail("out of memory");
    }
    if (h->unjudged) h->fail("it takes a packet for something else");
    if (!h->has_event) h->fail("it does not answer: a packet went in, and nothing has moved for 20000 cycles");
    *event = h->event;
    return h->fault ? -1 : 0;
}

long gn_rtl_switch_get(gn_rtl_switch *h, uint8_t *frame, size_t room, uint16_t *port)
{
    h->moved = h->cycles;
    try {
        while (h->done.empty() && h->waiting()) h->tick();
    } catch (const std::bad_alloc &) {
        h->fail("out of memory");
    }
    if (h->fault) return -1;
    if (h->done.empty()) return 0;
    const Frame &first = h->done.front();
    const size_t bytes = first.bytes.size();
    if (bytes > room) {
        h->fail("a frame is longer than any packet");
        return -1;
    }
    std::memcpy(frame, first.bytes.data(), bytes);
    *port = first.port;
    h->done.pop_front();
    return static_cast<long>(bytes);
}

const char *gn_rtl_switch_fault(const gn_rtl_switch *hardware)
{
    return hardware->fault ? hardware->fault : "nothing is wrong";
}

uint64_t gn_rtl_switch_cycles(const gn_rtl_switch *hardware)
{
    return hardware->cycles;
}
