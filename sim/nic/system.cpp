// SPDX-License-Identifier: Apache-2.0
#include "system.h"

namespace sim
{

constexpr unsigned RESET_CYCLES = 16, DRAIN_CYCLES = 256;

static uint64_t period_of(uint64_t clock_hz)
{
    return (1000000000000u + clock_hz / 2) / clock_hz;
}

System::System(sc_core::sc_module_name, const gn_sim_nic_options &options, const Traffic &a, const Traffic &b, Tap tap,
               std::function<void(uint64_t)> progress)
    : o_(options), progress_(std::move(progress))
{
    for (int i = 0; i < 2; i++) {
        outcome.directions[i].from = i ? "b" : "a";
        outcome.directions[i].to = i ? "a" : "b";
        outcome.directions[i].transmit_hz = outcome.directions[1 - i].receive_hz = i ? o_.clock_b_hz : o_.clock_hz;
    }
    for (int i = 0; i < 2; i++) build(i, i ? b : a, tap);
    for (int i = 0; i < 2; i++) nodes_[i].link->receiver = nodes_[1 - i].mac.get();
    SC_METHOD(cycle_a);
    sensitive << nodes_[0].clock->clk.posedge_event();
    dont_initialize();
    SC_METHOD(cycle_b);
    sensitive << nodes_[1].clock->clk.posedge_event();
    dont_initialize();
}

void System::build(int i, const Traffic &traffic, const Tap &tap)
{
    Node &node = nodes_[i];
    Direction &out = outcome.directions[i], &in = outcome.directions[1 - i];
    const std::string name = out.from;
    const auto failed = [this](const std::string &why) { fail(why); };
    node.clock = std::make_unique<Clock>(("clock_" + name).c_str(), period_of(out.transmit_hz));
    Clock &clock = *node.clock;
    node.nic = make_nic(o_.rtl, o_.lanes, ("nic_" + name).c_str(), node.pins, clock.clk);
    node.model = std::make_unique<Model>(o_.rules, o_.rule_count, o_.bypass);
    node.model->set_limits(o_.host_mtu + GN_SHIM_BYTES, o_.host_mtu);
    node.registers = std::make_unique<RegisterDriver>(node.pins.axil);
    node.link =
        std::make_unique<Link>(("link_" + name).c_str(), Link::Setup{o_.delay_ns * 1000, o_.loss, o_.corrupt,
                                                                     o_.seed * 2 + static_cast<uint64_t>(i), out});
    Link *link = node.link.get();
    node.mac = std::make_unique<Mac>(("mac_" + name).c_str(),
                                     Mac::Setup{o_.rate, o_.fifo_bytes, node.pins, clock, out, in, *node.model,
                                                [link, tap](LinkFrame frame) {
                                                    tap(frame);
                                                    link->send(std::move(frame));
                                                },
                                                failed});
    // From here on the NIC waits for the link: the FIFO has no room for another frame.
    const size_t fifo_full = o_.fifo_bytes - std::min<size_t>(o_.fifo_bytes / 2, o_.host_mtu + 128);
    node.host = std::make_unique<Host>(
        ("host_" + name).c_str(),
        Host::Setup{traffic, node.pins, clock, out, in, *node.model, o_.pace, o_.pace_rate, fifo_full, failed,
                    [this] { progress_(outcome.directions[0].delivered + outcome.directions[1].delivered); }});
    node.pins.rst.write(true);
}

void System::fail(const std::string &why)
{
    if (outcome.wrong.empty()) outcome.wrong = why;
    sc_core::sc_stop();
}

void System::cycle(Node &node)
{
    try {
        node.registers->step();
        node.cycles++;
        step();
    } catch (const std::exception &e) {
        fail(e.what());
    }
}

// Ratio of the L4 payload of all packets that were transformed.
static double payload_ratio(const gn_tx_counters &c)
{
    uint64_t before = 0, after = 0;
    for (const gn_tx_rule_counters &rule : c.rule) {
        before += rule.payload_bytes;
        after += rule.wire_bytes;
    }
    return after ? static_cast<double>(before) / static_cast<double>(after) : 1;
}

void System::step()
{
    const Direction *d = outcome.directions;
    switch (phase_) {
    case RESET:
        if (!counted(RESET_CYCLES)) return;
        for (Node &node : nodes_) {
            node.pins.rst.write(false);
            node.registers->configure(o_.rules, o_.rule_count, o_.bypass, o_.host_mtu);
        }
        phase_ = SETTINGS;
        return;
    case SETTINGS:
        if (!registers_idle()) return;
        for (Node &node : nodes_) node.host->start(now_ps());
        moved_at_ = now_ps();
        phase_ = TRAFFIC;
        return;
    case TRAFFIC:
        watch();
        for (Node &node : nodes_) node.clock->may_sleep = node.host->waiting();
        if (!nodes_[0].host->done() || !nodes_[1].host->done() || d[0].in_flight || d[1].in_flight) return;
        stay_awake();
        phase_ = DRAIN;
        return;
    case DRAIN:  // nothing may come behind the last frame; it would be caught where it arrives
        if (!counted(DRAIN_CYCLES)) return;
        for (int i = 0; i < 2; i++) nodes_[i].registers->collect(outcome.transmit[i], outcome.receive[i]);
        phase_ = COUNTERS;
        return;
    case COUNTERS:
        if (!registers_idle()) return;
        compare();
        for (int i = 0; i < 2; i++) outcome.directions[i].payload_ratio = payload_ratio(nodes_[i].model->tx());
        phase_ = DONE;
        sc_core::sc_stop();
        return;
    case DONE:
        return;
    }
}

void System::stay_awake()
{
    for (Node &node : nodes_) {
        node.clock->may_sleep = false;
        node.clock->wake.notify(sc_core::SC_ZERO_TIME);
        node.cycles = 0;
    }
}

// Throws when nothing moves although frames are on their way: something has lost a frame.
void System::watch()
{
    uint64_t moved = 0;
    for (const Direction &d : outcome.directions)
        moved += d.transmit_in.beats + d.transmit_out.beats + d.receive_in.beats + d.receive_out.beats + d.link_frames;
    const uint64_t now = now_ps(), frame = bytes_ps(link_bytes(o_.host_mtu + 64), o_.rate);
    if (moved != moved_ || !(nodes_[0].clock->active + nodes_[1].clock->active)) {
        moved_ = moved;
        moved_at_ = now;
    }
    if (now - moved_at_ < 1000000000u + o_.delay_ns * 1000 + 2 * frame) return;
    std::string where;
    for (const Direction &d : outcome.directions)
        where += (where.empty() ? "" : ";") + (" " + d.from + " to " + d.to) + ": " +
                 std::to_string(d.in_transmit.size()) + " to leave NIC " + d.from + ", " +
                 std::to_string(d.in_receive.size()) + " to leave NIC " + d.to;
    throw std::runtime_error("nothing moves any more; frames under way," + where);
}

// The registers must agree with the C model.
void System::compare() const
{
    const auto check = [](const std::string &nic, const Counters &have, Counters want) {
        for (const auto &[name, value] : have)
            if (value != want[name])
                throw std::runtime_error(nic + " counts " + std::to_string(value) + " " + name + ", the C model " +
                                         std::to_string(want[name]));
    };
    for (int i = 0; i < 2; i++) {
        Counters receive = nodes_[i].model->receive_counters();
        receive["dropped_bad"] = outcome.directions[1 - i].dropped_bad;
        check("NIC " + outcome.directions[i].from + ", transmit,", outcome.transmit[i],
              nodes_[i].model->transmit_counters());
        check("NIC " + outcome.directions[i].from + ", receive,", outcome.receive[i], receive);
    }
}

}  // namespace sim
