// SPDX-License-Identifier: Apache-2.0
// gn_tcp_flows against cmodel/flow.c with sets: SYN, payload, FIN and RST in all mixtures, of so
// many flows that sets run over; ports used again; IPv4 and IPv6, also with equal bits in both;
// with pauses, back to back, with resets.
#include <deque>
#include <vector>

#include "Vgn_tcp_flows.h"

#include "tests/rtl/common/bench.h"

extern "C" {
#include "cmodel/flow.h"
#include "tests/unit/packets.h"
}

using bench::fail;

namespace
{

enum { SEED = 0x6e6f7661, CAPACITY = 1 << GN_RTL_FLOWS, AT_MOST = 9, LEAD = 10 };

struct Flow {
    std::vector<uint8_t> packet;
    gn_headers h;
    uint32_t key[10];
};

struct Asked {
    bool syn, find, end;
    uint64_t cycle;  // of its key
};

struct Answer {
    bool known;
    unsigned head;
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o) : model_(o), random_{o.seed}
    {
        for (unsigned n = 0; n < 3 * CAPACITY; n++) flows_.push_back(make(n));
        reset();
    }
    ~Bench() { gn_flow_free(table_); }

    void reset()
    {
        model_->rst = 1, model_->k_valid = 0, model_->s_valid = 0;
        model_.rise();
        model_->rst = 0;
        if (model_->m_valid || model_->event_added || model_->event_evicted || model_->event_closed)
            fail("after a reset there is an answer to nothing");
        gn_flow_free(table_);
        table_ = gn_flow_new_sets(GN_RTL_FLOWS, SEED);
        if (!table_) fail("no table");
        waiting_.clear(), expected_.clear();
        inside_ = 0, want_ = got_ = {};
    }
    // `used`: so many of the flows; `pause`: percent of cycles in which no key comes.
    void traffic(unsigned count, unsigned used, unsigned pause)
    {
        for (unsigned n = 0; n < count;) {
            if (!random_.percent(pause) && waiting_.size() < 50) key(random_.below(used)), n++;
            step();
        }
        for (unsigned quiet = 0; !waiting_.empty() || !expected_.empty(); quiet++) {
            if (quiet > 10000 + CAPACITY) fail("%zu frames are not answered", expected_.size());
            step();
        }
        for (unsigned i = 0; i < 20; i++) step();
        compare();
    }
    // A frame that asks nothing takes a cycle, another one six.
    void rate(bool asks)
    {
        const uint64_t begin = model_.cycle();
        for (unsigned n = 0; n < 1000; n++) {
            while (waiting_.size() >= 50) step();
            key(random_.below(CAPACITY), asks ? 2 : 0);
            step();
        }
        while (!waiting_.empty() || !expected_.empty()) step();
        const uint64_t cycles = model_.cycle() - begin;
        if (cycles > (asks ? 6030u : 1030u)) fail("1000 frames take %llu cycles", (unsigned long long)cycles);
    }
    uint64_t found = 0, missed = 0, evicted = 0, closed = 0;

  private:
    // Of three flows two have the same ports and addresses as far as they can.
    Flow make(unsigned n)
    {
        packet p{};
        p.version = n % 3 ? 4 : 6;
        p.source = static_cast<uint16_t>(1000 + n / 3), p.host = static_cast<uint8_t>(n % 3 + 1);
        Flow f;
        f.packet.resize(200);
        f.packet.resize(packet_build(&p, "data", 4, f.packet.data()));
        if (p.version == 6) {  // its bytes as IPv4 would have them in a key
            uint8_t *addresses = f.packet.data() + 8;
            const uint8_t four[] = {10, 0, 0, 2, 10, 0, 1, 2};
            memset(addresses, 0, 32);
            memcpy(addresses + 4, four, 8);
        }
        if (gn_packet_parse(f.packet.data(), f.packet.size(), &f.h) != GN_PARSE_OK) fail("not a packet");
        uint8_t key[40] = {};
        if (p.version == 6)
            memcpy(key, &f.packet[8], 32);
        else
            memcpy(key + 4, &f.packet[12], 8);
        memcpy(key + 32, &f.packet[f.h.l4], 4);
        key[36] = p.version == 6;
        memcpy(f.key, key, sizeof key);
        return f;
    }
    void key(unsigned n, int how = -1)
    {
        const Flow &f = flows_[n];
        const uint32_t seq = static_cast<uint32_t>(random_.next());
        for (unsigned i = 0; i < 10; i++) model_->k_key[i] = f.key[i];
        model_->k_key[9] |= (seq & 3) << 1;
        model_->k_valid = 1;
        const unsigned kind = how < 0 ? random_.below(8) : how ? 4 : 7;
        Asked a{kind < 3, kind >= 3 && kind < 7, how < 0 && random_.percent(12), model_.cycle()};
        waiting_.push_back(a);

        // as gn_tx_note_flow() does
        Answer answer{};
        uint32_t isn = 0;
        if (a.syn) {
            const gn_flow_added added = gn_flow_add(table_, f.packet.data(), &f.h, seq);
            want_.added += added != GN_FLOW_AGAIN, want_.evicted += added == GN_FLOW_EVICTED;
        } else if (a.find && gn_flow_find(table_, f.packet.data(), &f.h, &isn)) {
            answer = {true, (isn + 1 - seq) & 3};
        }
        if (a.end) want_.closed += gn_flow_remove(table_, f.packet.data(), &f.h);
        found += answer.known, missed += a.find && !answer.known;
        expected_.push_back(answer);
    }
    void step()
    {
        model_->s_valid = 0;
        if (!waiting_.empty() && inside_ < AT_MOST && model_.cycle() >= waiting_.front().cycle + LEAD) {
            const Asked &a = waiting_.front();
            model_->s_valid = 1, model_->s_syn = a.syn, model_->s_find = a.find, model_->s_end = a.end;
            waiting_.pop_front(), inside_++;
        }
        model_.rise();
        model_->k_valid = 0;
        for (unsigned i = 0; i < 10; i++) model_->k_key[i] = static_cast<uint32_t>(random_.next());
        got_.added += model_->event_added, got_.evicted += model_->event_evicted, got_.closed += model_->event_closed;
        if (!model_->m_valid) return;
        if (expected_.empty() || !inside_) fail("an answer that nobody asked for");
        const Answer &want = expected_.front();
        if (model_->m_known != want.known || (want.known && model_->m_head != want.head))
            fail("cycle %llu: known %d, head %d; should be known %d, head %u", (unsigned long long)model_.cycle(),
                 model_->m_known, model_->m_head, want.known, want.head);
        expected_.pop_front(), inside_--;
    }
    void compare()
    {
        if (got_.added != want_.added || got_.evicted != want_.evicted || got_.closed != want_.closed)
            fail("%llu flows added, %llu evicted, %llu closed; should be %llu, %llu, %llu",
                 (unsigned long long)got_.added, (unsigned long long)got_.evicted, (unsigned long long)got_.closed,
                 (unsigned long long)want_.added, (unsigned long long)want_.evicted, (unsigned long long)want_.closed);
        if (want_.added - want_.evicted - want_.closed != gn_flow_count(table_)) fail("the counters do not add up");
        evicted += got_.evicted, closed += got_.closed;
        got_ = want_ = {gn_flow_count(table_), 0, 0};
    }

    struct Counts {
        uint64_t added = 0, evicted = 0, closed = 0;
    };
    bench::Model<Vgn_tcp_flows> model_;
    bench::Random random_;
    gn_flow_table *table_ = nullptr;
    std::vector<Flow> flows_;
    std::deque<Asked> waiting_;
    std::deque<Answer> expected_;
    unsigned inside_ = 0;
    Counts want_, got_;
};

}  // namespace

int main(int argc, char **argv)
{
    Bench b(bench::options(argc, argv));
    for (unsigned round = 0; round < 40; round++) {
        const unsigned part = round % 4, used = part == 0   ? 5
                                                : part == 1 ? CAPACITY / 2
                                                : part == 2 ? CAPACITY
                                                            : 3 * CAPACITY;
        b.traffic(4000 + 4 * CAPACITY, used, round % 3 * 45);
        if (round % 10 == 9) b.reset();
    }
    b.traffic(100, CAPACITY, 0);  // nothing waits until all is forgotten, as after a reset
    b.rate(false);
    b.rate(true);
    b.traffic(4 * CAPACITY, 3 * CAPACITY, 0);
    printf("found %llu, missed %llu, evicted %llu, closed %llu\n", (unsigned long long)b.found,
           (unsigned long long)b.missed, (unsigned long long)b.evicted, (unsigned long long)b.closed);
    if (b.found < 1000 || b.missed < 1000 || b.evicted < 500 || b.closed < 500)
        fail("not all that was to be met was met");
    return 0;
}
