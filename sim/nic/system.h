// SPDX-License-Identifier: Apache-2.0
// The whole simulated system: two hosts, two NICs, two MACs with two FIFOs each, and a link each
// way. It goes through reset, settings, traffic and counters to its end.
#pragma once

#include "host.h"
#include "link.h"
#include "nic.h"
#include "registers.h"

namespace sim
{

// The results of a system, during its run and afterwards.
struct Outcome {
    Direction directions[2];           // a to b, b to a
    Counters transmit[2], receive[2];  // the NICs' registers
    std::string wrong;                 // empty: all went well
};

SC_MODULE(System)
{
    using Tap = std::function<void(const LinkFrame &)>;  // gets frames as a MAC sends them

    SC_HAS_PROCESS(System);
    System(sc_core::sc_module_name, const gn_sim_nic_options &options, const Traffic &a, const Traffic &b, Tap tap,
           std::function<void(uint64_t)> progress);

    Outcome outcome;
    bool finished() const
    {
        return phase_ == DONE;
    }

  private:
    struct Node {
        std::unique_ptr<Clock> clock;
        Pins pins;
        std::unique_ptr<sc_core::sc_module> nic;
        std::unique_ptr<Model> model;
        std::unique_ptr<Mac> mac;
        std::unique_ptr<Host> host;
        std::unique_ptr<Link> link;  // from this node
        std::unique_ptr<RegisterDriver> registers;
        unsigned cycles = 0;  // in RESET and DRAIN
    };
    enum Phase { RESET, SETTINGS, TRAFFIC, DRAIN, COUNTERS, DONE };

    void build(int i, const Traffic &traffic, const Tap &tap);
    void cycle(Node & node);
    void cycle_a()
    {
        cycle(nodes_[0]);
    }
    void cycle_b()
    {
        cycle(nodes_[1]);
    }
    void step();
    bool counted(unsigned cycles) const
    {
        return nodes_[0].cycles >= cycles && nodes_[1].cycles >= cycles;
    }
    void stay_awake();
    void watch();
    void compare() const;
    void fail(const std::string &why);
    bool registers_idle() const
    {
        return nodes_[0].registers->idle() && nodes_[1].registers->idle();
    }

    const gn_sim_nic_options &o_;
    Node nodes_[2];
    std::function<void(uint64_t)> progress_;
    Phase phase_ = RESET;
    uint64_t moved_ = 0, moved_at_ = 0;
};

}  // namespace sim
