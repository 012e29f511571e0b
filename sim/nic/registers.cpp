// SPDX-License-Identifier: Apache-2.0
#include "registers.h"

#include <memory>
#include <stdexcept>

namespace sim
{

constexpr unsigned PATIENCE = 1000;  // cycles for one access

RuleWords rule_to_words(const gn_rule &rule)
{
    return {1u << 31 | static_cast<uint32_t>(rule.codec.profile) << 16 | static_cast<uint32_t>(rule.protocol) << 8 |
                rule.tos,
            static_cast<uint32_t>(rule.port_high) << 16 | rule.port_low,
            static_cast<uint32_t>(rule.head) << 8 | (static_cast<uint32_t>(rule.codec.bound_exp) & 0xff)};
}

bool rule_from_words(const RuleWords &words, gn_rule &rule)
{
    rule = {};
    rule.tos = static_cast<uint8_t>(words.match);
    rule.protocol = static_cast<uint8_t>(words.match >> 8);
    rule.port_low = static_cast<uint16_t>(words.ports);
    rule.port_high = static_cast<uint16_t>(words.ports >> 16);
    rule.head = static_cast<uint8_t>(words.codec >> 8);
    gn_codec_init(&rule.codec, static_cast<gn_profile>(words.match >> 16 & 3), static_cast<int8_t>(words.codec));
    return words.match >> 31;
}

static std::vector<CounterRegister> lay_out(uint32_t base, const std::vector<std::string> &names)
{
    std::vector<CounterRegister> registers;
    for (const std::string &name : names) {
        registers.push_back({name, base});
        base += 8;
    }
    return registers;
}

const std::vector<CounterRegister> &transmit_registers()
{
    static const std::vector<CounterRegister> registers = [] {
        std::vector<CounterRegister> all =
            lay_out(REG_TX, {"packets", "bytes", "passed", "pass_bypass", "pass_no_rule", "pass_not_ip",
                             "pass_fragment", "pass_extension", "pass_protocol", "pass_empty", "pass_too_big",
                             "stored_no_gain", "stored_no_syn", "stored_syn", "dropped_bad", "dropped_long"});
        for (uint32_t i = 0; i < NIC_RULES; i++) {
            const std::string rule = "rule" + std::to_string(i) + "_";
            const auto more = lay_out(REG_TX_RULES + 0x40 * i, {rule + "compressed", rule + "stored", rule + "values",
                                                                rule + "payload_bytes", rule + "wire_bytes"});
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }();
    return registers;
}

const std::vector<CounterRegister> &receive_registers()
{
    static const std::vector<CounterRegister> registers =
        lay_out(REG_RX, {"packets",         "bytes",          "passed",           "foreign",
                         "restored_stored", "restored_paper", "restored_lattice", "restored_dense",
                         "wire_bytes",      "payload_bytes",  "malformed",        "bad_version",
                         "bad_kind",        "bad_bound",      "bad_head",         "bad_length",
                         "bad_stream",      "bad_checksum",   "dropped_bad",      "dropped_long"});
    return registers;
}

void RegisterDriver::configure(const gn_rule *rules, size_t count, bool bypass)
{
    read(REG_ID, [](uint32_t id) {
        if (id != NIC_ID) throw std::runtime_error("the NIC's registers: no ID");
    });
    for (uint32_t i = 0; i < NIC_RULES; i++) {
        const RuleWords words = i < count ? rule_to_words(rules[i]) : RuleWords{0, 0, 0};
        write(REG_RULES + 16 * i, words.match);
        write(REG_RULES + 16 * i + 4, words.ports);
        write(REG_RULES + 16 * i + 8, words.codec);
    }
    write(REG_COMMIT, 1);
    write(REG_CONTROL, bypass ? 3 : 0);
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
    write(REG_SNAPSHOT, 1);
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
