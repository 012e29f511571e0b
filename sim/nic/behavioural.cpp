// SPDX-License-Identifier: Apache-2.0
#include "behavioural.h"

#include <algorithm>

namespace sim
{

constexpr size_t STORE_BEATS = 1024;  // of a lane; BUFFER_LOG2 = 10
constexpr size_t LANE_BYTES = 32;     // that a lane takes or gives in a cycle
constexpr uint64_t LATENCY = 24;      // cycles: parsing, an engine, headers
constexpr uint32_t OKAY = 0, SLVERR = 2;

static size_t beats(size_t bytes, size_t width = BEAT)
{
    return (bytes + width - 1) / width;
}

static uint64_t lane_cycles(size_t bytes)
{
    return beats(bytes, LANE_BYTES);
}

Behavioural::Behavioural(sc_core::sc_module_name, unsigned lanes) : lanes_(lanes), store_beats_(STORE_BEATS * lanes)
{
    SC_METHOD(cycle);
    sensitive << clk.pos();
    dont_initialize();
}

void Behavioural::cycle()
{
    now_++;
    if (rst.read()) {
        reset();
        return;
    }
    const uint32_t user = s_axis_host_tuser.read();
    take(tx_, s_axis_host_tvalid.read(), s_axis_host_tready, s_axis_host_tdata.read(), s_axis_host_tkeep.read(),
         s_axis_host_tlast.read(), user & 8, [&](const Bytes &frame) -> std::optional<Bytes> {
             return model_.transmit(frame, user & 4 ? static_cast<int>(GN_HEAD_STORED) : static_cast<int>(user & 3));
         });
    take(rx_, s_axis_wire_tvalid.read(), s_axis_wire_tready, s_axis_wire_tdata.read(), s_axis_wire_tkeep.read(),
         s_axis_wire_tlast.read(), s_axis_wire_tuser.read(), [&](const Bytes &frame) { return model_.receive(frame); });
    give(tx_, m_axis_wire_tdata, m_axis_wire_tkeep, m_axis_wire_tlast, m_axis_wire_tvalid, m_axis_wire_tready.read());
    give(rx_, m_axis_host_tdata, m_axis_host_tkeep, m_axis_host_tlast, m_axis_host_tvalid, m_axis_host_tready.read());
    writes();
    reads();
}

void Behavioural::reset()
{
    tx_ = rx_ = {};
    tx_.lanes.resize(lanes_);
    rx_.lanes.resize(lanes_);
    const gn_rule rule = gn_rule_default();
    for (gn_rule_words &words : rules_) words = {};
    rules_[0] = gn_rule_to_words(&rule);
    control_ = 0;
    mtu_ = GN_NIC_MTU;
    max_restored_ = GN_NIC_MAX_RESTORED;
    apply();
    write_taken_ = write_answered_ = read_taken_ = read_answered_ = false;
    for (auto *flag : {&s_axis_host_tready, &s_axis_wire_tready, &m_axis_wire_tvalid, &m_axis_host_tvalid,
                       &s_axil_awready, &s_axil_wready, &s_axil_bvalid, &s_axil_arready, &s_axil_rvalid})
        flag->write(false);
}

template <class Ready, class Transform>
void Behavioural::take(Store &store, bool valid, Ready &ready, const Beat &data, Keep keep, bool last, bool bad,
                       const Transform &transform)
{
    if (valid && ready.read()) {
        // A frame that is too long is not kept, so it never waits for room.
        if (store.in.size() <= store_beats_ * BEAT) {
            append_beat(store.in, data, keep);
            store.used++;
        }
        if (last) {
            const size_t room = beats(store.in.size());
            std::optional<Bytes> out;
            if (bad)
                store.dropped_bad++;
            else if (room > store_beats_)
                store.dropped_long++;
            else
                out = transform(store.in);
            const uint64_t from = leaves(store, out, &store == &tx_ ? GN_SHIM_BYTES : 0);
            if (out)
                store.out.push_back({std::move(*out), from, room});
            else
                store.used -= room;
            store.in.clear();
        }
    }
    const bool too_long = store.in.size() > store_beats_ * BEAT, alone = store.out.empty();
    ready.write(store.used + 1 < store_beats_ || alone || too_long);
}

// The first cycle in which the frame that has come in, and becomes `out`, may leave. A shim of so
// many bytes stands ahead of what was rewritten.
uint64_t Behavioural::leaves(Store &store, const std::optional<Bytes> &out, size_t shim) const
{
    if (lanes_ == 1) return now_ + LATENCY;
    const auto less = [](const Lane &a, const Lane &b) { return a.taken < b.taken; };
    Lane &lane = *std::min_element(store.lanes.begin(), store.lanes.end(), less);
    const uint64_t first = now_ + 1 - std::min<uint64_t>(now_ + 1, beats(store.in.size()));
    lane.taken = std::max(now_, std::max(first, lane.taken) + lane_cycles(store.in.size()));
    if (!out) return 0;
    uint64_t cycles = lane_cycles(out->size());
    if (*out != store.in) {  // in pieces: the headers, values or stream, and one cycle between
        const size_t rest = payload_bytes(*out), body = rest - std::min(rest, shim);
        cycles = lane_cycles(out->size() - body) + lane_cycles(body) + 1;
    }
    lane.given = std::max(lane.taken + LATENCY, lane.given) + cycles;
    return lane.given;
}

template <class Data, class Keeps, class Flag, class Valid>
void Behavioural::give(Store &store, Data &data, Keeps &keep, Flag &last, Valid &valid, bool ready)
{
    if (store.valid && ready) {
        store.valid = false;
        store.at += BEAT;
        if (store.at >= store.out.front().bytes.size()) {
            store.used -= store.out.front().room;
            store.out.pop_front();
            store.at = 0;
        }
    }
    if (!store.valid && !store.out.empty() && store.out.front().ready <= now_) {
        write_beat(data, keep, last, store.out.front().bytes, store.at);
        store.valid = true;
    }
    valid.write(store.valid);
}

void Behavioural::writes()
{
    if (write_answered_) {
        if (s_axil_bready.read()) {
            s_axil_bvalid.write(false);
            write_answered_ = false;
        }
    } else if (write_taken_) {
        s_axil_awready.write(false);
        s_axil_wready.write(false);
        s_axil_bvalid.write(true);
        write_taken_ = false;
        write_answered_ = true;
    } else if (s_axil_awvalid.read() && s_axil_wvalid.read()) {
        s_axil_bresp.write(write_register(s_axil_awaddr.read(), s_axil_wdata.read()));
        s_axil_awready.write(true);
        s_axil_wready.write(true);
        write_taken_ = true;
    }
}

void Behavioural::reads()
{
    if (read_answered_) {
        if (s_axil_rready.read()) {
            s_axil_rvalid.write(false);
            read_answered_ = false;
        }
    } else if (read_taken_) {
        s_axil_arready.write(false);
        s_axil_rvalid.write(true);
        read_taken_ = false;
        read_answered_ = true;
    } else if (s_axil_arvalid.read()) {
        uint32_t value = 0;
        s_axil_rresp.write(read_register(s_axil_araddr.read(), value));
        s_axil_rdata.write(value);
        s_axil_arready.write(true);
        read_taken_ = true;
    }
}

uint32_t Behavioural::write_register(uint32_t address, uint32_t value)
{
    if (address == GN_REG_CONTROL) {
        control_ = value & 3;
        model_.set_bypass(control_ & 1, control_ & 2);
    } else if (address == GN_REG_SNAPSHOT) {
        if (value & 1) snapshot();
    } else if (address == GN_REG_COMMIT) {
        if (value & 1) apply();
    } else if (address == GN_REG_MTU || address == GN_REG_MAX_RESTORED) {
        (address == GN_REG_MTU ? mtu_ : max_restored_) = value & 0xffff;
        model_.set_limits(mtu_, max_restored_);
    } else if (address >= GN_REG_RULES && address < GN_REG_RULES + GN_REG_RULE_STEP * NIC_RULES &&
               address % GN_REG_RULE_STEP < 4 * GN_RULE_WORDS) {
        const uint32_t at = address - GN_REG_RULES;
        rules_[at / GN_REG_RULE_STEP].word[at % GN_REG_RULE_STEP / 4] = value;
    } else {
        return SLVERR;
    }
    return OKAY;
}

uint32_t Behavioural::read_register(uint32_t address, uint32_t &value)
{
    const auto counter = counters_.find(address & ~4u);
    if (address == GN_REG_ID)
        value = GN_NIC_ID;
    else if (address == GN_REG_CONTROL)
        value = control_;
    else if (address == GN_REG_MTU)
        value = mtu_;
    else if (address == GN_REG_MAX_RESTORED)
        value = max_restored_;
    else if (counter != counters_.end())
        value = static_cast<uint32_t>(counter->second >> (address & 4 ? 32 : 0));
    else
        return SLVERR;
    return OKAY;
}

void Behavioural::apply()
{
    std::vector<gn_rule> rules;
    for (const gn_rule_words &words : rules_) {
        gn_rule rule;
        // The driver enables the first rules. A rule in between that is off would move the counters
        // of those behind it.
        if (gn_rule_from_words(&words, &rule)) rules.push_back(rule);
    }
    model_.set_rules(rules.data(), rules.size());
    model_.set_bypass(control_ & 1, control_ & 2);
    model_.set_limits(mtu_, max_restored_);
}

void Behavioural::snapshot()
{
    Counters tx = model_.transmit_counters(), rx = model_.receive_counters();
    tx["dropped_bad"] = tx_.dropped_bad;
    tx["dropped_long"] = tx_.dropped_long;
    rx["dropped_bad"] = rx_.dropped_bad;
    rx["dropped_long"] = rx_.dropped_long;
    for (const CounterRegister &r : transmit_registers()) counters_[r.address] = tx[r.name];
    for (const CounterRegister &r : receive_registers()) counters_[r.address] = rx[r.name];
}

}  // namespace sim
