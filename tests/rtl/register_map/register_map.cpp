// SPDX-License-Identifier: Apache-2.0
// gn_nic_regs against driver/nic_register_map.h, which is made of rtl/nic/registers.json: every
// address is read and written. There are the registers of the description and no others. They hold
// what it says after a reset, keep the bits that it says, and refuse writes as it says.
#include <map>

#include "Vgn_nic_regs.h"

#include "driver/nic_registers.h"
#include "tests/rtl/common/axil.h"

using bench::fail;

namespace
{

enum Access { READ, WRITE, COMMAND };
enum { RULES = 4 };

struct Register {
    const char *name;
    Access access;
    long long reset;  // -1: the build says it
    uint32_t bits;    // that are kept, of one that can be written
};

std::map<uint32_t, Register> described()
{
    std::map<uint32_t, Register> all;
#define ROW(name, access, reset) all[GN_REG_##name] = {#name, access, reset, 0};
    GN_NIC_REGISTER_ROWS(ROW)
#undef ROW
    all[GN_REG_CONTROL].bits = 3;
    all[GN_REG_MTU].bits = all[GN_REG_MAX_RESTORED].bits = 0xffff;
    for (uint32_t rule = 0; rule < RULES; rule++) {
        uint32_t at = GN_REG_RULES + rule * GN_REG_RULE_STEP;
#define ROW(bits, reset) all[at] = {"a rule", WRITE, rule ? 0 : reset, bits}, at += 4;
        GN_NIC_RULE_WORD_ROWS(ROW)
#undef ROW
    }
    const auto counters = [&all](const char *block, uint32_t base, unsigned count) {
        for (unsigned word = 0; word < 2 * count; word++) all[base + 4 * word] = {block, READ, 0, 0};
    };
    counters("a counter from the host", GN_REG_TX, GN_TX_REGISTERS);
    for (uint32_t rule = 0; rule < RULES; rule++)
        counters("a counter of a rule", GN_REG_TX_RULES + rule * GN_REG_TX_RULE_STEP, GN_TX_RULE_REGISTERS);
    counters("a counter from the wire", GN_REG_RX, GN_RX_REGISTERS);
    return all;
}

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), axil_(*model_.operator->(), o.seed)
    {
        model_->rst = 1;
        model_->tx_event_valid = model_->rx_event_valid = 0;
        model_->tx_event_dropped_bad = model_->tx_event_dropped_long = 0;
        model_->rx_event_dropped_bad = model_->rx_event_dropped_long = 0;
        model_->tx_event_flow_added = model_->tx_event_flow_evicted = model_->tx_event_flow_closed = 0;
        model_.rise();
        model_->rst = 0;
    }
    // @return the answer
    unsigned read(uint32_t address, uint32_t &value)
    {
        unsigned got = 0;
        axil_.read(address, [&](uint32_t data, unsigned answer) { value = data, got = answer; });
        settle();
        return got;
    }
    unsigned write(uint32_t address, uint32_t value)
    {
        unsigned got = 0;
        axil_.write(address, value, 15, [&](unsigned answer) { got = answer; });
        settle();
        return got;
    }

  private:
    void settle()
    {
        for (unsigned cycles = 0; axil_.busy(); cycles++) {
            if (cycles > 1000) fail("no answer");
            axil_.drive();
            model_.settle();
            axil_.sample();
            model_.rise();
        }
    }
    bench::Model<Vgn_nic_regs> model_;
    bench::Axil<Vgn_nic_regs> axil_;
};

}  // namespace

int main(int argc, char **argv)
{
    Bench b(bench::options(argc, argv));
    const std::map<uint32_t, Register> all = described();
    uint32_t value = 0;
    for (uint32_t at = 0; at < 0x1000; at += 4) {
        const auto found = all.find(at);
        const unsigned answer = b.read(at, value);
        if (found == all.end()) {
            if (answer == bench::AXIL_OKAY) fail("%03x is a register that is not described", at);
            continue;
        }
        const Register &r = found->second;
        if (answer != bench::AXIL_OKAY) fail("%03x, %s, is not there", at, r.name);
        if (r.reset >= 0 && value != r.reset)
            fail("%03x, %s, is %08x after a reset, should be %08llx", at, r.name, value, r.reset);
    }
    for (uint32_t at = 0; at < 0x1000; at += 4) {
        const auto found = all.find(at);
        const bool writable = found != all.end() && found->second.access != READ;
        if ((b.write(at, ~0u) == bench::AXIL_OKAY) != writable)
            fail("%03x can%s be written", at, writable ? "not" : "");
        if (!writable || at == GN_REG_COMMIT) continue;
        const uint32_t want = found->second.access == COMMAND ? 0 : found->second.bits;
        b.read(at, value);
        if (value != want) fail("%03x, %s, keeps %08x, should keep %08x", at, found->second.name, value, want);
    }
    printf("%zu registers\n", all.size());
    return 0;
}
