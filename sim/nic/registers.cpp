// SPDX-License-Identifier: Apache-2.0
#include "registers.h"

#include <memory>
#include <stdexcept>

namespace sim
{

constexpr unsigned PATIENCE = 1000;  // cycles for one access

static void lay_out(std::vector<CounterRegister> &all, uint32_t base, const gn_counter_register *registers,
                    unsigned count, const std::string &prefix = "")
{
    for (unsigned i = 0; i < count; i++) all.push_back({prefix + registers[i].name, base + GN_REG_COUNTER * i});
}

const std::vector<CounterRegister> &transmit_registers()
{
    static const std::vector<CounterRegister> registers = [] {
        std::vector<CounterRegister> all;
        lay_out(all, GN_REG_TX, gn_tx_registers, GN_TX_REGISTERS);
        for (unsigned i = 0; i < NIC_RULES; i++)
            lay_out(all, GN_REG_TX_RULES + GN_REG_TX_RULE_STEP * i, gn_tx_rule_registers, GN_TX_RULE_REGISTERS,
                    rule_prefix(i));
        return all;
    }();
    return registers;
}

const std::vector<CounterRegister> &receive_registers()
{
    static const std::vector<CounterRegister> registers = [] {
        std::vector<CounterRegister> all;
        lay_out(all, GN_REG_RX, gn_rx_registers, GN_RX_REGISTERS);
        return all;
    }();
    return registers;
}

void RegisterDriver::configure(const gn_rule *rules, size_t count, bool bypass, uint32_t host_mtu)
{
    read(GN_REG_ID, [](uint32_t id) {
        if (id != GN_NIC_ID) throw std::runtime_error("the NIC's registers: no ID");
    });
    for (uint32_t i = 0; i < NIC_RULES; i++) {
        const gn_rule_words words = i < count ? gn_rule_to_words(&rules[i]) : gn_rule_words{};
        for (uint32_t w = 0; w < GN_RULE_WORDS; w++) write(GN_REG_RULES + GN_REG_RULE_STEP * i + 4 * w, words.word[w]);
    }
    write(GN_REG_COMMIT, 1);
    write(GN_REG_MTU, host_mtu + GN_SHIM_BYTES);
    write(GN_REG_MAX_RESTORED, host_mtu);
    write(GN_REG_CONTROL, gn_nic_control(bypass, bypass));
}

void RegisterDriver::collect(Counters &transmit, Counters &receive)
{
    const auto read_all = [this](const std::vector<CounterRegister> &registers, Counters &counters) {
        for (const CounterRegister &r : registers) {
            read(r.address, [&counters, &r](uint32_t low) { counters[r.name] = low; });
            read(r.address + 4,
                 [&counters, &r](uint32_t high) { counters[r.name] |= static_cast<uint64_t>(high) << 32; });
        }
    };
    write(GN_REG_SNAPSHOT, 1);
    read_all(transmit_registers(), transmit);
    read_all(receive_registers(), receive);
}

void RegisterDriver::start(const Access &access)
{
    running_ = true;
    waited_ = 0;
    if (access.write) {
        port_.awaddr.write(access.address);
        port_.wdata.write(access.value);
        port_.wstrb.write(15);
        port_.awvalid.write(true);
        port_.wvalid.write(true);
        port_.bready.write(true);
    } else {
        port_.araddr.write(access.address);
        port_.arvalid.write(true);
        port_.rready.write(true);
    }
}

void RegisterDriver::finish(uint32_t response, uint32_t value)
{
    const Access access = std::move(queue_.front());
    queue_.pop_front();
    running_ = false;
    port_.bready.write(false);
    port_.rready.write(false);
    if (response) throw std::runtime_error("the NIC's registers: an access was refused");
    if (access.done) access.done(value);
}

void RegisterDriver::step()
{
    if (!running_) {
        if (!queue_.empty()) start(queue_.front());
        return;
    }
    if (port_.awvalid.read() && port_.awready.read()) port_.awvalid.write(false);
    if (port_.wvalid.read() && port_.wready.read()) port_.wvalid.write(false);
    if (port_.arvalid.read() && port_.arready.read()) port_.arvalid.write(false);
    if (port_.bvalid.read() && port_.bready.read())
        finish(port_.bresp.read(), 0);
    else if (port_.rvalid.read() && port_.rready.read())
        finish(port_.rresp.read(), port_.rdata.read());
    else if (++waited_ > PATIENCE)
        throw std::runtime_error("the NIC's registers: no answer");
}

}  // namespace sim
