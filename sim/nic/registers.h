// SPDX-License-Identifier: Apache-2.0
// The registers of gn_nic_regs, for software: a driver that reads and writes them over AXI4-Lite.
#pragma once

#include <deque>
#include <functional>

#include "driver/nic_registers.h"
#include "pins.h"

namespace sim
{

// The place of a counter: 64 bits, low word first.
struct CounterRegister {
    std::string name;
    uint32_t address;
};
const std::vector<CounterRegister> &transmit_registers();
const std::vector<CounterRegister> &receive_registers();

// Does one access after the other. To be stepped at every clock edge.
class RegisterDriver
{
  public:
    explicit RegisterDriver(Registers &port) : port_(port) {}

    void write(uint32_t address, uint32_t value) { queue_.push_back({true, address, value, nullptr}); }
    void read(uint32_t address, std::function<void(uint32_t)> done)
    {
        queue_.push_back({false, address, 0, std::move(done)});
    }
    // Sets rules and bypass, as a driver does at its start.
    void configure(const gn_rule *rules, size_t count, bool bypass, uint32_t host_mtu);
    // Reads all counters, as they are at one moment.
    void collect(Counters &transmit, Counters &receive);

    bool idle() const { return queue_.empty(); }
    // Throws when the NIC refuses an access or does not answer.
    void step();

  private:
    struct Access {
        bool write;
        uint32_t address, value;
        std::function<void(uint32_t)> done;
    };
    void start(const Access &access);
    void finish(uint32_t response, uint32_t value);

    Registers &port_;
    std::deque<Access> queue_;
    bool running_ = false;
    unsigned waited_ = 0;
};

}  // namespace sim
