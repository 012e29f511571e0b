// SPDX-License-Identifier: Apache-2.0
// gn_nic_regs against a register file and counters in C++: every address read and written with all
// strobes, reads and writes at the same time, with gaps on all five channels; rules that change
// together; events as dense as they may come, snapshots among them, counters past 2^32.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <vector>

#include "Vgn_nic_regs.h"

#include "tests/rtl/common/axil.h"
#include "tests/rtl/common/rules.h"

using bench::fail;

namespace
{

#ifndef GN_RTL_RULES
#define GN_RTL_RULES 4
#endif

#ifndef GN_RTL_FLOWS
#define GN_RTL_FLOWS 0  // as the parameter FLOWS_LOG2
#endif

enum {
    RULES = GN_RTL_RULES,
    CONTROL = 0x00c,
    SNAPSHOT = 0x010,
    COMMIT = 0x014,
    MTU = 0x018,
    MAX_RESTORED = 0x01c,
    FLOWS = 0x020,
    FLOWS_SEED = 0x024,
    RULE = 0x100,
    TX = 0x400,
    TX_RULE = 0x500,
    RX = 0x800
};

using Counters = std::map<uint32_t, uint64_t>;  // by address of the low word

// All the counters that there are.
Counters none()
{
    Counters c;
    for (uint32_t i = 0; i < 19; i++) c[TX + 8 * i] = 0;
    for (uint32_t rule = 0; rule < RULES; rule++)
        for (uint32_t i = 0; i < 5; i++) c[TX_RULE + 0x40 * rule + 8 * i] = 0;
    for (uint32_t i = 0; i < 21; i++) c[RX + 8 * i] = 0;
    return c;
}

struct Event {
    uint32_t bytes, kind, rule, values, payload, wire;

    void count_tx(Counters &c) const
    {
        c[TX]++, c[TX + 8] += bytes;
        const uint32_t of_rule = TX_RULE + 0x40 * rule;
        const bool stored = kind >= 1 && kind <= 3;
        if (kind == 0) c[of_rule]++, c[of_rule + 0x10] += values;
        if (stored) c[of_rule + 8]++, c[TX + 8 * (11 + kind - 1)]++;
        if (kind < 4)
            c[of_rule + 0x18] += payload, c[of_rule + 0x20] += wire;
        else
            c[TX + 0x10]++, c[TX + 8 * (3 + kind - 4)]++;
    }
    void count_rx(Counters &c) const
    {
        c[RX]++, c[RX + 8] += bytes;
        if (kind == 2 || kind == 3) c[RX + 0x10]++;
        if (kind > 10) c[RX + 0x50]++;
        if (kind >= 4 && kind <= 7) c[RX + 0x40] += wire, c[RX + 0x48] += payload;
        if (kind != 2) c[RX + 8 * kind]++;
    }
};

// What can be read and written but for counters, and the rules that stand.
struct Registers {
    std::array<uint32_t, 3 * RULES> written{}, committed{};
    uint32_t control = 0, mtu = 1500, max_restored = 9000;

    Registers()
    {
        written[0] = 0x80020028, written[1] = 0xffff0000, written[2] = 10;
        committed = written;
    }
    static int rule_word(uint32_t address)
    {
        const uint32_t rule = (address - RULE) / 16, word = address / 4 % 4;
        return address >= RULE && rule < RULES && word < 3 ? static_cast<int>(3 * rule + word) : -1;
    }
    unsigned write(uint32_t address, uint32_t data, unsigned strobes)
    {
        static const uint32_t kept[] = {0x8003ffff, 0xffffffff, 0x0000ffff};
        uint32_t mask = 0;
        for (unsigned i = 0; i < 4; i++) mask |= strobes >> i & 1 ? 0xffu << 8 * i : 0;
        const int word = rule_word(address);
        if (address == CONTROL)
            control = ((control & ~mask) | (data & mask)) & 3;
        else if (address == MTU)
            mtu = ((mtu & ~mask) | (data & mask)) & 0xffff;
        else if (address == MAX_RESTORED)
            max_restored = ((max_restored & ~mask) | (data & mask)) & 0xffff;
        else if (address == COMMIT)
            committed = data & mask & 1 ? written : committed;
        else if (word >= 0)
            written[word] = ((written[word] & ~mask) | (data & mask)) & kept[word % 3];
        else
            return address == SNAPSHOT ? bench::AXIL_OKAY : bench::AXIL_SLVERR;
        return bench::AXIL_OKAY;
    }
    // data, answer
    std::pair<uint32_t, unsigned> read(uint32_t address) const
    {
        if (address == 0) return {0x474e4943, bench::AXIL_OKAY};
        if (address == 4) return {0x00010002, bench::AXIL_OKAY};
        if (address == 8) return {10 << 16 | RULES << 8 | 7, bench::AXIL_OKAY};
        if (address == CONTROL) return {control, bench::AXIL_OKAY};
        if (address == MTU) return {mtu, bench::AXIL_OKAY};
        if (address == MAX_RESTORED) return {max_restored, bench::AXIL_OKAY};
        if (address == FLOWS) return {GN_RTL_FLOWS, bench::AXIL_OKAY};
        if (address == FLOWS_SEED) return {GN_RTL_FLOWS ? 0x6e6f7661 : 0, bench::AXIL_OKAY};
        if (address == SNAPSHOT || address == COMMIT) return {0, bench::AXIL_OKAY};
        if (rule_word(address) >= 0) return {written[rule_word(address)], bench::AXIL_OKAY};
        return {0, bench::AXIL_SLVERR};
    }
    // as cfg_* are to be
    std::vector<uint32_t> configuration() const
    {
        std::vector<uint32_t> words{control};
        for (unsigned i = 0; i < RULES; i++) {
            const uint32_t match = committed[3 * i], ports = committed[3 * i + 1], how = committed[3 * i + 2];
            const uint64_t bits = bench::rule_bits(match & 0xff, match >> 8 & 0xff, ports & 0xffff, ports >> 16,
                                                   match >> 16 & 3, static_cast<int>(how & 0xff), match >> 31);
            words.push_back(static_cast<uint32_t>(bits));
            words.push_back(static_cast<uint32_t>(bits >> 32));
            words.push_back(how >> 8);
        }
        words.push_back(mtu << 16 | max_restored);
        return words;
    }
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), axil_(*model_.operator->(), o.seed), random_{o.seed ^ 0x4e6}
    {
        reset();
    }

    void reset()
    {
        model_->rst = 1;
        quiet();
        axil_.reset();
        for (unsigned i = 0, cycles = began_ ? 1 + random_.below(3) : 3; i < cycles; i++) model_.rise();
        began_ = true;
        model_->rst = 0;
        registers_ = Registers();
        counted_ = none();
        tx_balance_ = rx_balance_ = -16;
        tx_.clear(), rx_.clear(), tx_done_ = rx_done_ = 0, dropped_ = {};
    }
    void gaps(unsigned idle, unsigned stall) { axil_.idle = idle, axil_.stall = stall; }
    unsigned tx_rate = 0, rx_rate = 0;  // percent of what may come: an event in every second cycle
    bool large = false;                 // events of large frames
    uint64_t registers_read = 0, overlapped = 0;

    // Reads and writes at any addresses, with whatever is going on in the other queue.
    void registers(unsigned operations)
    {
        for (unsigned n = 0; n < operations; n++) {
            if (random_.percent(60)) start_write(any_address());
            if (random_.percent(60)) start_read(any_address());
            for (unsigned cycles = random_.below(30); cycles; cycles--) step();
            if (random_.percent(30)) settle();
        }
        settle();
    }
    void every_address()
    {
        for (uint32_t address = 0; address < 0x1000; address += 4) start_read(address), settle();
        for (uint32_t address = 0; address < 0x1000; address += 4)
            if (address != SNAPSHOT)
                for (unsigned strobes = 0; strobes < 16; strobes += address < 0x200 ? 1 : 15) {
                    start_write({address, static_cast<uint32_t>(random_.next()), strobes});
                    settle();
                    start_read(address), settle();
                }
    }
    void events(unsigned cycles)
    {
        for (unsigned i = 0; i < cycles; i++) step();
    }
    // Takes a snapshot while events come, then reads all of it: it must be what the events up to
    // some event gave.
    void snapshot()
    {
        settle();
        const size_t tx_before = tx_.size(), rx_before = rx_.size();
        const auto dropped_before = dropped_;
        command(SNAPSHOT, 1, 1);
        const auto dropped_after = dropped_;
        Counters got;
        for (const auto &c : none())
            got[c.first] = read_word(c.first) | static_cast<uint64_t>(read_word(c.first + 4)) << 32;
        if (got[TX] > tx_.size() || got[RX] > rx_.size()) fail("the snapshot has more packets than there were");
        if (got[TX] + 20 < tx_before || got[RX] + 20 < rx_before)
            fail("the snapshot lacks events that were long counted: %llu of %zu, %llu of %zu",
                 (unsigned long long)got[TX], tx_before, (unsigned long long)got[RX], rx_before);
        for (; tx_done_ < got[TX]; tx_done_++) tx_.at(tx_done_).count_tx(counted_);
        for (; rx_done_ < got[RX]; rx_done_++) rx_.at(rx_done_).count_rx(counted_);
        for (size_t i = 0; i < dropped_.size(); i++) {
            const uint64_t value = got[of_dropped[i]];
            if (value + 12 < dropped_before[i] || value > dropped_after[i])
                fail("there were %llu pulses, counter %03x says %llu", (unsigned long long)dropped_after[i],
                     of_dropped[i], (unsigned long long)value);
            counted_[of_dropped[i]] = value;
        }
        for (const auto &c : counted_)
            if (got[c.first] != c.second)
                fail("counter %03x is %llx, should be %llx after %zu and %zu events", c.first,
                     (unsigned long long)got[c.first], (unsigned long long)c.second, tx_done_, rx_done_);
        // writes that are not a snapshot do not change it
        command(SNAPSHOT, ~1u, 15), command(SNAPSHOT, 1, 14);
        for (unsigned i = 0; i < 4; i++) {
            auto c = got.begin();
            std::advance(c, random_.below(static_cast<uint32_t>(got.size())));
            if (read_word(c->first) != static_cast<uint32_t>(c->second)) fail("the snapshot does not stand still");
        }
    }
    // With no event on its way any more, nothing is missing.
    void complete()
    {
        const unsigned t = tx_rate, r = rx_rate;
        tx_rate = rx_rate = 0;
        for (unsigned i = 0; i < 100; i++) step();
        snapshot();
        if (tx_done_ != tx_.size() || rx_done_ != rx_.size()) fail("events were lost");
        for (size_t i = 0; i < dropped_.size(); i++)
            if (counted_[of_dropped[i]] != dropped_[i]) fail("pulses of counter %03x were lost", of_dropped[i]);
        tx_rate = t, rx_rate = r;
    }
    uint64_t highest() const
    {
        uint64_t most = ~0ull;  // the least of those that large events make large
        for (const uint32_t a :
             {TX + 8u, RX + 8u, RX + 0x40u, RX + 0x48u, TX_RULE + 0x10u, TX_RULE + 0x18u, TX_RULE + 0x20u})
            most = std::min(most, counted_.at(a));
        return most;
    }
    size_t all_events() const { return tx_.size() + rx_.size(); }

  private:
    struct Write {
        uint32_t address, data;
        unsigned strobes;
    };

    Write any_address()
    {
        const uint32_t pick = random_.below(10);
        const uint32_t address = pick < 2   ? 4 * random_.below(10)
                                 : pick < 7 ? RULE + 4 * random_.below(4 * RULES + 2)
                                 : pick < 9 ? static_cast<uint32_t>(COMMIT)
                                            : 4 * random_.below(0x100);
        return {address == SNAPSHOT ? 0x28 : address, static_cast<uint32_t>(random_.next()),
                random_.percent(50) ? 15 : random_.below(16)};
    }
    void start_read(const Write &w) { start_read(w.address); }
    void start_write(const Write &w)
    {
        under_way_.push_back(w);
        axil_.write(w.address | random_.below(4), w.data, w.strobes, [this, w](unsigned answer) {
            const unsigned wanted = registers_.write(w.address, w.data, w.strobes);
            if (answer != wanted) fail("a write to %03x is answered %u, should be %u", w.address, answer, wanted);
            under_way_.erase(under_way_.begin());
        });
    }
    void start_read(uint32_t address)
    {
        // While it is under way, any state of the register is right.
        watched_.push_back({address, {}});
        axil_.read(address | random_.below(4), [this](uint32_t data, unsigned answer) {
            const Watched w = std::move(watched_.front());
            watched_.erase(watched_.begin());
            const bool counter = none().count(w.address & ~7u) != 0;
            const std::pair<uint32_t, unsigned> got{data, answer};
            if (counter ? answer != bench::AXIL_OKAY : std::find(w.right.begin(), w.right.end(), got) == w.right.end())
                fail("cycle %llu: register %03x reads %08x, answer %u; should be %s",
                     (unsigned long long)model_.cycle(), w.address, data, answer,
                     counter ? "answer 0" : alternatives(w.right).c_str());
            registers_read++, overlapped += w.right.size() > 1;
        });
    }
    static std::string alternatives(const std::vector<std::pair<uint32_t, unsigned>> &right)
    {
        std::string all;
        char one[40];
        for (const auto &r : right) {
            snprintf(one, sizeof one, "%s%08x, answer %u", all.empty() ? "" : " or ", r.first, r.second);
            all += one;
        }
        return all;
    }
    void command(uint32_t address, uint32_t data, unsigned strobes)
    {
        start_write({address, data, strobes});
        settle();
    }
    uint32_t read_word(uint32_t address)
    {
        uint32_t value = 0;
        axil_.read(address, [&](uint32_t data, unsigned answer) {
            if (answer != bench::AXIL_OKAY) fail("counter %03x is not there", address);
            value = data;
        });
        settle();
        return value;
    }
    void settle()
    {
        for (unsigned cycles = 0; axil_.busy(); cycles++) {
            if (cycles > 20000) fail("no answer");
            step();
        }
    }

    void quiet()
    {
        model_->tx_event_valid = model_->rx_event_valid = 0;
        model_->tx_event_dropped_bad = model_->tx_event_dropped_long = model_->rx_event_dropped_bad =
            model_->rx_event_dropped_long = 0;
        model_->tx_event_flow_added = model_->tx_event_flow_evicted = model_->tx_event_flow_closed = 0;
    }
    Event any_event()
    {
        Event e{};
        e.bytes = large ? 0x1ffff - random_.below(16) : random_.below(1 << 17),
        e.rule = large ? 0 : random_.below(RULES);
        e.values = large ? 0x7fff : random_.below(1 << 15);
        e.payload = large ? 0xffff : random_.below(1 << 16), e.wire = large ? 0xfffe : random_.below(1 << 16);
        return e;
    }
    // An event every second cycle at the most, or a burst of 8 and then none for as long as those
    // take.
    void offer_events()
    {
        static const uint32_t rx[] = {2, 3, 4, 5, 6, 7, 7, 11, 12, 13, 14, 15, 16, 17, 20};
        // Not in the first cycles after a reset.
        const auto due = [this](int &balance, unsigned rate) {
            balance = std::min(balance + 1, 16);
            if (!rate || balance < 2) return false;
            if (rate >= 100 || random_.percent(rate))
                balance -= 2;
            else
                return false;
            return true;
        };
        const Event t = any_event(), r = any_event();
        model_->tx_event_valid = due(tx_balance_, tx_rate), model_->rx_event_valid = due(rx_balance_, rx_rate);
        model_->tx_event_length = t.bytes, model_->tx_event_rule = static_cast<uint8_t>(t.rule);
        model_->tx_event_values = static_cast<uint16_t>(t.values);
        model_->tx_event_payload_bytes = t.payload, model_->tx_event_wire_bytes = t.wire;
        model_->tx_event_kind = static_cast<uint8_t>(large ? 0 : random_.below(12));
        model_->rx_event_length = r.bytes, model_->rx_event_payload_bytes = static_cast<uint16_t>(r.payload);
        model_->rx_event_wire_bytes = static_cast<uint16_t>(r.wire);
        model_->rx_event_kind = static_cast<uint8_t>(large ? 4 + random_.below(4) : rx[random_.below(15)]);
        if (model_->tx_event_valid) tx_.push_back(t), tx_.back().kind = model_->tx_event_kind;
        if (model_->rx_event_valid) rx_.push_back(r), rx_.back().kind = model_->rx_event_kind;
        model_->tx_event_dropped_bad = random_.percent(tx_rate),
        model_->tx_event_dropped_long = random_.percent(tx_rate / 2);
        model_->rx_event_dropped_bad = random_.percent(rx_rate / 2),
        model_->rx_event_dropped_long = random_.percent(rx_rate);
        model_->tx_event_flow_added = random_.percent(tx_rate),
        model_->tx_event_flow_evicted = random_.percent(tx_rate / 2);
        model_->tx_event_flow_closed = random_.percent(tx_rate / 3);
        dropped_[4] += model_->tx_event_flow_added, dropped_[5] += model_->tx_event_flow_evicted;
        dropped_[6] += model_->tx_event_flow_closed;
        dropped_[0] += model_->tx_event_dropped_bad, dropped_[1] += model_->tx_event_dropped_long;
        dropped_[2] += model_->rx_event_dropped_bad, dropped_[3] += model_->rx_event_dropped_long;
    }

    void step()
    {
        offer_events();
        axil_.drive();
        model_.settle();
        Registers after = registers_;  // a write under way may have been done
        if (!under_way_.empty())
            after.write(under_way_.front().address, under_way_.front().data, under_way_.front().strobes);
        for (Watched &w : watched_)
            for (const auto &value : {registers_.read(w.address), after.read(w.address)})
                if (std::find(w.right.begin(), w.right.end(), value) == w.right.end()) w.right.push_back(value);
        const std::vector<uint32_t> stands = configuration();
        if (stands != registers_.configuration() && stands != after.configuration()) fail_configuration(stands, after);
        axil_.sample();
        model_.rise();
    }
    // Which of them, and what they should be: as before the write that is under way, or as after
    // it.
    [[noreturn]] void fail_configuration(const std::vector<uint32_t> &got, const Registers &after)
    {
        const std::vector<uint32_t> before = registers_.configuration(), then = after.configuration();
        static const char *const parts[] = {"cfg_rules, low word", "cfg_rules, high word", "cfg_heads"};
        for (size_t i = 0; i < got.size(); i++)
            if (got[i] != before[i] || got[i] != then[i])
                fprintf(stderr, "%s is %08x, should be %08x%s%08x\n",
                        !i ? "the switches"
                        : i + 1 == got.size()
                            ? "the limits"
                            : ("rule " + std::to_string((i - 1) / 3) + ", " + parts[(i - 1) % 3]).c_str(),
                        got[i], before[i], before[i] == then[i] ? " = " : " or ", then[i]);
        if (under_way_.empty())
            fail("cycle %llu: the configuration changes without a write", (unsigned long long)model_.cycle());
        const Write &w = under_way_.front();
        fail("cycle %llu: the configuration is a mixture of before and after a write of %08x to %03x, strobes %x, or "
             "neither",
             (unsigned long long)model_.cycle(), w.data, w.address, w.strobes);
    }
    std::vector<uint32_t> configuration()
    {
        std::vector<uint32_t> words{static_cast<uint32_t>(model_->cfg_tx_bypass | model_->cfg_rx_bypass << 1)};
        for (unsigned i = 0; i < RULES; i++)
            for (unsigned n : {2 * i, 2 * i + 1, ~0u})
                words.push_back(n != ~0u ? word(model_->cfg_rules, n)
                                         : word(model_->cfg_heads, i / 4) >> 8 * (i % 4) & 0xff);
        words.push_back(static_cast<uint32_t>(model_->cfg_mtu) << 16 | model_->cfg_max_restored);
        return words;
    }
    template <class Port> static uint32_t word(const Port &port, unsigned n)
    {
        if constexpr (std::is_integral_v<Port>)
            return static_cast<uint32_t>(static_cast<uint64_t>(port) >> 32 * n);
        else
            return port[n];
    }

    struct Watched {
        uint32_t address;
        std::vector<std::pair<uint32_t, unsigned>> right;
    };

    bench::Model<Vgn_nic_regs> model_;
    bench::Axil<Vgn_nic_regs> axil_;
    bench::Random random_;
    bool began_ = false;
    Registers registers_;
    std::vector<Write> under_way_;
    std::vector<Watched> watched_;
    Counters counted_;
    std::vector<Event> tx_, rx_;
    size_t tx_done_ = 0, rx_done_ = 0;
    int tx_balance_ = 0, rx_balance_ = 0;
    // What has a pulse of its own, by counter: frames dropped, flows.
    static constexpr uint32_t of_dropped[] = {TX + 14 * 8, TX + 15 * 8, RX + 18 * 8, RX + 19 * 8,
                                              TX + 16 * 8, TX + 17 * 8, TX + 18 * 8};
    std::array<uint64_t, std::size(of_dropped)> dropped_{};
};

}  // namespace

int main(int argc, char **argv)
{
    Bench b(bench::options(argc, argv));

    b.complete();  // all 0
    b.every_address();
    for (unsigned round = 0; round < 16; round++) {
        b.gaps(round % 4 * 30, round / 4 * 30);
        b.tx_rate = round % 3 * 50, b.rx_rate = round % 5 * 25;
        b.registers(2000);
        b.events(round * 20);
        b.snapshot();
        if (round % 2) b.complete();
        if (round % 5 == 4) b.reset();
    }
    b.gaps(0, 0);
    for (unsigned round = 0; round < 30; round++) b.registers(1 + round), b.reset();
    b.reset();
    b.tx_rate = b.rx_rate = 100;  // from the first cycle on, without a pause
    for (unsigned round = 0; round < 200; round++) b.events(round), b.snapshot();
    b.complete();
    b.large = true;
    for (unsigned round = 0; round < 30; round++) b.events(20000), b.snapshot();
    b.complete();

    printf("%llu registers read, %llu while they were written; %zu events; counters above %llx\n",
           (unsigned long long)b.registers_read, (unsigned long long)b.overlapped, b.all_events(),
           (unsigned long long)b.highest());
    if (b.overlapped < 50 || b.highest() >> 32 == 0) fail("not all that was to be met was met");
    return 0;
}
