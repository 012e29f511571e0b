// SPDX-License-Identifier: Apache-2.0
// nic_regs as software sees it: the map of its registers (rtl/README.md), and a driver that reads and writes over AXI4-Lite.
#pragma once

#include <deque>
#include <functional>

#include "pins.h"

namespace sim
{

// Registers of nic_top.
enum : uint32_t {
    REG_ID = 0x000,
    REG_CONTROL = 0x00c,   // bit 0 bypass transmit, bit 1 bypass receive
    REG_SNAPSHOT = 0x010,  // 1: copies all counters
    REG_COMMIT = 0x014,    // 1: the rules below take effect
    REG_RULES = 0x100,     // 16 bytes each
    REG_TX = 0x400,
    REG_TX_RULES = 0x500,  // 64 bytes each
    REG_RX = 0x800,
    NIC_ID = 0x474e4943,
    NIC_RULES = 4
};

// A rule as its three registers.
struct RuleWords {
    uint32_t match, ports, codec;
};
RuleWords rule_to_words(const gn_rule &rule);
bool rule_from_words(const RuleWords &words, gn_rule &rule);  // false: not enabled

// Where each counter is: 64 bits, low word first.
struct CounterRegister {
    std::string name;
    uint32_t address;
};
const std::vector<CounterRegister> &transmit_registers();
const std::vector<CounterRegister> &receive_registers();

// One access after the other. Stepped at every clock edge.
class RegisterDriver
{
  public:
    explicit RegisterDriver(Registers &port) : port_(port) {}

    void write(uint32_t address, uint32_t value) { queue_.push_back({true, address, value, nullptr}); }
    void read(uint32_t address, std::function<void(uint32_t)> done)
    {
        queue_.push_back({false, address, 0, std::move(done)});
    }
    // Rules and bypass, as a driver sets them at its start.
    void configure(const gn_rule *rules, size_t count, bool bypass);
    // All counters at one moment.
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
