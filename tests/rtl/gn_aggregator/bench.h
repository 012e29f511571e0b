// SPDX-License-Identifier: Apache-2.0
// gn_aggregator beside the C core: both get the same packets, and what comes out is compared.
#pragma once
#include <algorithm>
#include <deque>
#include <vector>

#include "Vgn_aggregator.h"
#include "Vgn_aggregator___024root.h"

#include "tests/rtl/common/axis.h"
#include "tests/rtl/gn_aggregator/datagrams.h"

using bench::Bytes;
using bench::fail;

// What the core has said about a datagram.
struct Expected {
    unsigned verdict;
    unsigned index, slot;
    bool version;
    gn_copy copy;
    bool adds;
};
struct Result {
    Bytes frame;
    unsigned port;
};

class Bench
{
  public:
    explicit Bench(const bench::Options &o)
        : random_{o.seed ^ 0xa66}, stream_(o, [this](bench::Frame &f) { result(f); })
    {
        const gn_switch_config config = {
            SLOTS, VALUES, JOBS, GN_PARTITIONED, 0, GN_RESULTS_SERVER, GN_PREEMPT_BY_PRIORITY};
        memory_.resize(gn_switch_bytes(&config) / 8 + 1);
        if (gn_switch_init(&sw_, &config, memory_.data(), memory_.size() * 8)) fail("no core");
        stream_.user_in_last = true;
        stream_.user_mask = 0x1ffff;
        stream_.every = [this](Vgn_aggregator &top) { look(top); };
        write(GN_AGGREGATOR_LIMIT, VALUES);
    }

    void dismiss()
    {
        for (const Job &j : jobs_) {
            gn_switch_remove_job(&sw_, j.job.job);
            write(gn_aggregator_job_address(j.index, 0), gn_aggregator_number(j.job.job, 0, 0, 0));
        }
        jobs_.clear();
    }
    // Jobs of any kind, as many as there are, instead of those that were here.
    void admit()
    {
        dismiss();
        for (unsigned i = 0, slots = SLOTS; i < JOBS && slots; i++) {
            const unsigned most = slots >= 4 ? 3 : slots >= 2 ? 2 : 1, log2 = random_.below(most);
            begin(1 + random_.below(CHILDREN), 1u << log2, random_.below(3), random_.percent(50));
            slots -= 1u << log2;
        }
    }
    // One job goes, and another gets its slots. What the rest have summed up stays.
    void replace()
    {
        const unsigned i = random_.below(static_cast<uint32_t>(jobs_.size())), slots = jobs_[i].job.slots;
        gn_switch_remove_job(&sw_, jobs_[i].job.job);
        write(gn_aggregator_job_address(jobs_[i].index, 0), gn_aggregator_number(jobs_[i].job.job, 0, 0, 0));
        jobs_.erase(jobs_.begin() + i);
        begin(1 + random_.below(CHILDREN), slots, random_.below(3), random_.percent(50));
        settle();
    }
    // A reset while packets are anywhere inside. Software then begins all jobs again.
    void restart()
    {
        for (unsigned i = 0; i < 40; i++) any(30);
        restart(random_.below(400), 1 + random_.below(3));
    }
    void restart(unsigned cycles, unsigned length)
    {
        for (; cycles; cycles--) stream_.step();
        stream_.reset(length);
        expected_.clear(), results_.clear();
        others_ = bad_ = 0;
        write(GN_AGGREGATOR_LIMIT, VALUES);
    }
    // One job.
    Job &begin(unsigned children, unsigned slots, unsigned level, bool dense)
    {
        Job j = {};
        j.job.job = static_cast<uint16_t>(random_.next()), j.job.gen = static_cast<uint16_t>(random_.next());
        j.job.slots = static_cast<uint16_t>(slots), j.job.level = static_cast<uint8_t>(level);
        j.job.children = static_cast<uint8_t>(children);
        if (dense) j.job.format = GN_AGG_DENSE, j.job.bound_exp = static_cast<int>(random_.below(20)) - 3;
        for (unsigned c = 0; c < children; c++) {
            gn_aggregator_child &child = j.child[c];
            for (uint8_t &b : child.mac_to) b = static_cast<uint8_t>(random_.next());
            for (uint8_t &b : child.mac_from) b = static_cast<uint8_t>(random_.next());
            for (uint8_t &b : child.ip_to) b = static_cast<uint8_t>(random_.next());
            for (uint8_t &b : child.ip_from) b = static_cast<uint8_t>(random_.next());
            child.udp_from = static_cast<uint16_t>(random_.next()),
            child.udp_to = static_cast<uint16_t>(random_.next());
            child.tos = static_cast<uint8_t>(random_.next());
            child.port = j.job.port[c] = static_cast<uint16_t>(random_.next());
        }
        if (gn_switch_add_job(&sw_, &j.job)) fail("the core takes no job of %u children, %u slots", children, slots);
        j.index = sw_.state->job_of[j.job.job] - 1u;
        for (unsigned s = 0; s < slots; s++) j.psn.push_back(s);
        tell(j);
        jobs_.push_back(j);
        return jobs_.back();
    }

    // So many datagrams, of which `wrong` percent are not what a worker that obeys would send.
    void run(unsigned count, unsigned wrong, unsigned burst = 8)
    {
        while (count) {
            const unsigned now = std::min(count, 1 + random_.below(burst));
            for (unsigned i = 0; i < now; i++) any(wrong);
            count -= now;
            if (random_.percent(5)) settle();
        }
        settle();
    }
    // Until all that is inside has come out, and then all is as in the core.
    void settle()
    {
        for (unsigned quiet = 0, still = 0; quiet < std::max(400u, 2u * VALUES); quiet++) {
            const size_t before = expected_.size() + results_.size() + others_;
            stream_.step();
            still++;
            if (expected_.size() + results_.size() + others_ != before) quiet = still = 0;
            if (stream_.pending()) quiet = 0;
            if (still > HANGS) fail("cycle %llu: nothing goes on", now());
        }
        if (!expected_.empty() || !results_.empty() || others_)
            fail("cycle %llu: %zu packets have no verdict, %zu results have not come, %zu frames are not UDP", now(),
                 expected_.size(), results_.size(), others_);
        const unsigned left = top().rootp->gn_aggregator__DOT__reader__DOT__left_reg;
        if (left != VALUES / 2) fail("cycle %llu: of %u beats for results %u are free", now(), VALUES / 2, left);
        compare();
    }

    // A chunk of job `j`: all its children, `values` each.
    void chunk(Job &j, unsigned slot, unsigned values)
    {
        for (unsigned c = 0; c < j.job.children; c++) {
            gn_agg_packet p = obedient(j, slot, c);
            p.values = static_cast<uint16_t>(values);
            send(j, c, p,
                 j.job.format == GN_AGG_DENSE ? streams::integers(random_, values, 10, 20)
                                              : datagrams::small(random_, values),
                 4, false);
        }
    }
    // The same of a job of dense, with these values. Returns the cycles that it may take.
    size_t chunk(Job &j, unsigned slot, const std::vector<std::vector<int32_t>> &values)
    {
        size_t cycles = 0;
        for (unsigned c = 0; c < j.job.children; c++) {
            gn_agg_packet p = obedient(j, slot, c);
            p.values = static_cast<uint16_t>(values[c].size());
            const size_t before = sent_beats;
            send(j, c, p, values[c], 4, false);
            // Of the last child it is all groups that any child has.
            size_t groups = 0;
            for (size_t g = 0; g < streams::groups(values[c]); g++) {
                bool some = streams::some(values[c], g);
                for (unsigned i = 0; i < c && c + 1u == j.job.children; i++) some = some || streams::some(values[i], g);
                groups += some;
            }
            cycles += std::max<size_t>({sent_beats - before, groups, 4});
        }
        const size_t result = (results_.back().frame.size() + 31) / 32;
        return std::max<size_t>({cycles, 11u + 5 * j.job.children, j.job.children * result});
    }

    // A chunk of dense that leaves int32 in its last word alone, before its last packet. All words
    // have values, so adding is slower than what comes in, and packets are added without a gap.
    void overflow_at_the_end(Job &j)
    {
        const unsigned out = 1 + random_.below(j.job.children - 2u), lane = random_.below(8);
        for (unsigned c = 0; c < j.job.children; c++) {
            gn_agg_packet p = obedient(j, 0, c);
            p.values = VALUES;
            std::vector<int32_t> values(VALUES, 1 + static_cast<int32_t>(random_.below(3)));
            if (c == 0 || c == out) values[VALUES - 8 + lane] = INT32_MAX;
            send(j, c, p, values, 4, false);
        }
    }

    bench::Random random_;
    size_t verdicts[20] = {}, poisons = 0, frames_out = 0, frames_other = 0, sent_beats = 0;
    std::vector<Job> jobs_;
    bench::Stream<Vgn_aggregator> stream_;

  private:
    static constexpr unsigned HANGS = 100000;  // cycles in which nothing comes out

    unsigned long long now() const { return stream_.cycle(); }
    Vgn_aggregator &top() { return stream_.top(); }

    // ---- software's words

    void write(uint16_t address, uint32_t data)
    {
        while (top().cfg_busy) stream_.step();
        top().cfg_write = 1, top().cfg_address = address, top().cfg_data = data;
        stream_.step();
        top().cfg_write = 0;
        stream_.step();
    }
    void tell(const Job &j)
    {
        uint32_t words[GN_AGGREGATOR_CHILD_WORDS];
        write(gn_aggregator_job_address(j.index, 1),
              gn_aggregator_info(j.job.gen, j.job.children, j.job.level,
                                 static_cast<unsigned>(__builtin_ctz(j.job.slots))));
        write(gn_aggregator_job_address(j.index, 2), sw_.state->jobs[j.index].first / 2);
        write(gn_aggregator_job_address(j.index, 3), j.job.slots);
        for (unsigned c = 0; c < j.job.children; c++) {
            gn_aggregator_child_words(&j.child[c], words);
            for (unsigned w = 0; w < GN_AGGREGATOR_CHILD_WORDS; w++)
                write(gn_aggregator_child_address(j.index, c, w), words[w]);
        }
        write(gn_aggregator_job_address(j.index, 0),
              gn_aggregator_number(j.job.job, 1, j.job.format == GN_AGG_DENSE, j.job.bound_exp));
    }

    // ---- datagrams

    // What child `c` of a job would send for the chunk that is under way in a slot.
    gn_agg_packet obedient(const Job &j, unsigned slot, unsigned c)
    {
        gn_agg_packet p = {};
        p.type = GN_AGG_GRADIENT;
        p.job = j.job.job, p.gen = j.job.gen, p.level = j.job.level, p.fanin = j.job.children;
        p.psn = j.psn[slot], p.slot = static_cast<uint16_t>(slot), p.version = (p.psn & j.job.slots) != 0;
        p.bitmap = 1ull << c;
        p.exponent = static_cast<int8_t>(p.psn), p.next = static_cast<int8_t>(random_.next());
        p.priority = static_cast<uint16_t>(random_.next());
        // by the chunk, so that all children say the same
        p.values = static_cast<uint16_t>(p.psn * 2654435761u >> 16) % (VALUES + 1);
        if (p.psn % 5 == 0) p.values = 0;
        if (p.psn % 7 == 0) p.values %= 9;
        if (p.psn % 11 == 0) p.values = VALUES;
        if (j.job.format == GN_AGG_DENSE) p.next = static_cast<int8_t>(j.job.bound_exp);
        return p;
    }
    void any(unsigned wrong)
    {
        Job &j = jobs_[random_.below(static_cast<uint32_t>(jobs_.size()))];
        const unsigned slot = random_.below(j.job.slots), c = random_.below(j.job.children);
        gn_agg_packet p = obedient(j, slot, c);
        std::vector<int32_t> values = random_.percent(10) ? datagrams::large(random_, p.values)
                                      : j.job.format == GN_AGG_DENSE
                                          ? datagrams::of_dense(random_, p.values, random_.percent(80) ? 15 : 31)
                                          : datagrams::small(random_, p.values);
        unsigned from = c;
        if (random_.percent(3)) p.flags |= random_.percent(50) ? GN_AGG_ECN : GN_AGG_LATE;
        if (random_.percent(2)) p.flags |= GN_AGG_POISON, p.values = 0, values.clear();
        const bool spoil = random_.percent(wrong), behind = j.job.format == GN_AGG_DENSE && random_.percent(25);
        // the header or, of streams, what is behind it
        if (spoil && !behind) datagrams::spoil_fields(random_, j, p, values, from);
        send(j, from, p, values, random_.percent(80) ? 4 : 6, spoil && (behind || random_.percent(40)));
    }

    // To both. `damage`: some bit is another.
    void send(Job &j, unsigned child, const gn_agg_packet &p, const std::vector<int32_t> &values, int version,
              bool damage)
    {
        // Some come in the other format.
        const bool dense = (j.job.format == GN_AGG_DENSE) != (damage && random_.percent(10));
        Bytes datagram = dense && !values.empty() ? datagrams::stream(random_, p, values, damage, noisy_)
                                                  : datagrams::words(p, values);
        if (damage && random_.percent(70)) {
            if (random_.percent(30))
                datagram.resize(1 + random_.below(static_cast<uint32_t>(datagram.size() + 8)));
            else
                datagram[random_.below(random_.percent(50)
                                           ? std::min<uint32_t>(32, static_cast<uint32_t>(datagram.size()))
                                           : static_cast<uint32_t>(datagram.size()))] ^=
                    static_cast<uint8_t>(1 << random_.below(8));
        }
        Bytes frame = datagrams::wrap(datagram, version, j.child[child].port);
        const bool lost = random_.percent(lossy_) && datagrams::spoil_frame(random_, frame);
        if (noisy_ && !lost) datagrams::surround(random_, frame);
        const unsigned port =
            noisy_ && random_.percent(2) ? static_cast<unsigned>(random_.below(65536)) : j.child[child].port;
        const bool bad = !lost && random_.percent(lossy_);
        sent_beats += (frame.size() + 31) / 32;
        stream_.send(frame, (bad ? 0x10000u : 0u) | port);
        if (bad) bad_++;
        if (lost) others_++;
        if (!bad && !lost) judge(j, datagram, static_cast<uint16_t>(port));
    }

    // What the core says of it is what has to come.
    void judge(Job &j, const Bytes &datagram, uint16_t port)
    {
        gn_action actions[GN_SWITCH_ACTIONS_MAX];
        gn_agg_packet p;
        const gn_agg_fault fault = gn_agg_parse(datagram.data(), datagram.size(), &p);
        const unsigned count = gn_switch_rx(&sw_, 0, port, datagram.data(), datagram.size(), actions);
        if (count != 1) fail("the core says %u things", count);
        const gn_action &a = actions[0];
        Expected e = {};
        const bool early = a.kind == GN_TO_NOBODY &&
                           (a.reason == GN_DROP_MALFORMED || a.reason == GN_DROP_JOB || a.reason == GN_DROP_GEN ||
                            a.reason == GN_DROP_SLOT || (a.reason == GN_DROP_FORMAT && p.values > VALUES));
        if (early)
            e.verdict = a.reason;
        else if (!fault && p.flags & GN_AGG_FLOAT)
            e.verdict = GN_AGGREGATOR_SOFTWARE;
        else if (a.kind == GN_TO_NOBODY)
            e.verdict = a.reason ? a.reason : static_cast<unsigned>(GN_AGGREGATOR_ADDED);
        else
            e.verdict = a.kind == GN_TO_GROUP ? GN_AGGREGATOR_WHOLE : GN_AGGREGATOR_REPEATED;
        if (e.verdict >= GN_DROP_STALE && e.verdict != GN_AGGREGATOR_SOFTWARE && !early) {
            Job &mine = p.job == j.job.job ? j : *std::find_if(jobs_.begin(), jobs_.end(), [&](const Job &other) {
                return other.job.job == p.job;
            });
            const uint32_t copy = sw_.state->jobs[mine.index].first + 2u * p.slot + p.version;
            e.adds = true;
            e.index = mine.index, e.slot = copy / 2, e.version = copy & 1;
            e.copy = gn_state_copies(&sw_)[copy];
            if (e.verdict == GN_AGGREGATOR_WHOLE) {
                for (unsigned c = 0; c < mine.job.children; c++) answer(mine, a, c);
                // the workers go on when they have the result
                if (mine.psn[p.slot] == p.psn) mine.psn[p.slot] += mine.job.slots;
            } else if (e.verdict == GN_AGGREGATOR_REPEATED) {
                for (unsigned c = 0; c < mine.job.children; c++)
                    if (p.bitmap >> c & 1) answer(mine, a, c);
            }
        }
        expected_.push_back(e);
    }

    // The frame that child `c` is to get.
    void answer(const Job &j, const gn_action &action, unsigned c)
    {
        Bytes out(gn_agg_bound(VALUES));
        const size_t bytes = gn_action_write(&sw_, &action, out.data(), out.size());
        if (!bytes) fail("the core writes nothing");
        const gn_aggregator_child &to = j.child[c];
        Bytes frame(HEADERS);
        memcpy(frame.data(), to.mac_to, 6), memcpy(frame.data() + 6, to.mac_from, 6);
        frame[12] = 0x08;
        uint8_t *ip = frame.data() + 14;
        const size_t length = 28 + bytes;
        ip[0] = 0x45, ip[1] = to.tos, ip[2] = static_cast<uint8_t>(length >> 8), ip[3] = static_cast<uint8_t>(length);
        ip[6] = 0x40, ip[8] = 64, ip[9] = 17;
        memcpy(ip + 12, to.ip_from, 4), memcpy(ip + 16, to.ip_to, 4);
        ip[20] = static_cast<uint8_t>(to.udp_from >> 8), ip[21] = static_cast<uint8_t>(to.udp_from);
        ip[22] = static_cast<uint8_t>(to.udp_to >> 8), ip[23] = static_cast<uint8_t>(to.udp_to);
        ip[24] = static_cast<uint8_t>((length - 20) >> 8), ip[25] = static_cast<uint8_t>(length - 20);
        frame.insert(frame.end(), out.begin(), out.begin() + static_cast<long>(bytes));
        packet_fix(frame.data() + 14);
        if (!packet_valid(frame.data() + 14, frame.size() - 14)) fail("the bench has made no packet");
        results_.push_back({frame, to.port});
    }

    // ---- what comes out

    void look(Vgn_aggregator &t)
    {
        if (t.event_not_udp) {
            if (!others_) fail("cycle %llu: a frame is not UDP, and none such was sent", now());
            others_--, frames_other++;
        }
        if (t.event_dropped_bad) {
            if (!bad_) fail("cycle %llu: a frame was bad, and none such was sent", now());
            bad_--;
        }
        if (t.event_dropped_long) fail("cycle %llu: a frame is too long", now());
        if (!t.event_valid) return;
        if (expected_.empty()) fail("cycle %llu: a verdict, %u, on nothing", now(), t.event_verdict);
        const Expected e = expected_.front();
        expected_.pop_front();
        verdicts[e.verdict]++;
        if (t.event_verdict != e.verdict)
            fail("cycle %llu: verdict %u, should be %u", now(), t.event_verdict, e.verdict);
        if (!e.adds) return;
        poisons += e.copy.poison;
        if (t.event_index != e.index || t.event_slot != e.slot || t.event_version != e.version)
            fail("cycle %llu: job %u, slot %u, version %u, should be %u, %u, %u", now(), t.event_index, t.event_slot,
                 t.event_version, e.index, e.slot, e.version);
        if (e.verdict < GN_AGGREGATOR_ADDED) return;
        const gn_copy &c = e.copy;
        if (t.event_psn != c.psn || t.event_seen != c.seen || t.event_values != c.values || !t.event_used ||
            t.event_whole != (c.state == GN_COPY_DONE) || t.event_poison != c.poison ||
            t.event_ecn != ((c.flags & GN_AGG_ECN) != 0) || t.event_late != ((c.flags & GN_AGG_LATE) != 0) ||
            static_cast<int8_t>(t.event_exponent) != c.exponent || static_cast<int8_t>(t.event_next) != c.next ||
            t.event_priority != c.priority)
            fail("cycle %llu: psn %u, seen %02x, %u values, whole %u, poison %u: should be %u, %02x, %u, %u, %u", now(),
                 t.event_psn, t.event_seen, t.event_values, t.event_whole, t.event_poison, c.psn,
                 static_cast<unsigned>(c.seen), c.values, c.state == GN_COPY_DONE, c.poison);
    }

    void result(bench::Frame &f)
    {
        frames_out++;
        if (results_.empty())
            fail("cycle %llu: a frame that nobody has asked for: %s", now(), bench::describe(f.bytes).c_str());
        const Result &r = results_.front();
        if (f.bytes != r.frame)
            fail("cycle %llu: result %zu: %s\n  %s", now(), frames_out, bench::difference(f.bytes, r.frame).c_str(),
                 bench::describe(f.bytes).c_str());
        if (f.user != r.port)
            fail("cycle %llu: result to port %u, should be %u", now(), static_cast<unsigned>(f.user), r.port);
        results_.pop_front();
    }

    template <size_t N> static bool bit(const VlWide<N> &set, unsigned n) { return set[n / 32] >> n % 32 & 1; }
    static bool bit(uint32_t set, unsigned n) { return set >> n & 1; }

    // All copies and sums of all jobs.
    void compare()
    {
        const auto *root = top().rootp;
        for (const Job &j : jobs_)
            for (unsigned i = 0; i < 2u * j.job.slots; i++) {
                const uint32_t copy = sw_.state->jobs[j.index].first + i;
                const gn_copy &c = gn_state_copies(&sw_)[copy];
                const auto &state = copy & 1 ? root->gn_aggregator__DOT__judge__DOT__copy_1__DOT__store[copy / 2]
                                             : root->gn_aggregator__DOT__judge__DOT__copy_0__DOT__store[copy / 2];
                const bool used = state[1] >> 20 & 1;
                if (used != (c.state != GN_COPY_EMPTY)) fail("job %u, copy %u: empty and not", j.index, i);
                if (!used) continue;
                if (state[0] != c.psn || (state[1] & 0xff) != c.seen)
                    fail("job %u, copy %u: psn %u, seen %02x", j.index, i, state[0], state[1] & 0xff);
                if (c.poison) continue;
                const int32_t *sums = gn_state_sums(&sw_, copy);
                const auto &row = root->gn_aggregator__DOT__add__DOT__rows__DOT__store[copy];
                for (unsigned v = 0; v < c.values; v++) {
                    if (!bit(row, v / 8)) {  // none has contributed to this word: it is zero, whatever it holds
                        if (sums[v])
                            fail("cycle %llu: job %u, copy %u, value %u is not there, should be %08x", now(), j.index,
                                 i, v, static_cast<unsigned>(sums[v]));
                        continue;
                    }
                    const auto &word =
                        root->gn_aggregator__DOT__add__DOT__sums__DOT__store[(copy << GN_RTL_BEATS_LOG2) + v / 8];
                    if (static_cast<int32_t>(word[v % 8]) != sums[v])
                        fail("cycle %llu: job %u, copy %u, value %u: %08x, should be %08x", now(), j.index, i, v,
                             word[v % 8], static_cast<unsigned>(sums[v]));
                }
            }
    }

  public:
    bool noisy_ = true;   // some frames come in at another port
    unsigned lossy_ = 0;  // percent of frames that are bad, and of those that are not UDP

  private:
    gn_switch sw_;
    std::vector<uint64_t> memory_;
    std::deque<Expected> expected_;
    std::deque<Result> results_;
    size_t others_ = 0, bad_ = 0;
};
