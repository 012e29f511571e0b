// SPDX-License-Identifier: Apache-2.0
// One direction of a link: rate, delay, a queue with marks, loss. It has one date for all datagrams
// that fly, because they arrive in order.
#pragma once

#include <functional>

#include "agenda.h"
#include "datagram.h"
#include "net/splitmix.h"
#include "scenario.h"
#include "watcher.h"

namespace sim_net
{

// From 0 up to 1, without 1.
inline double uniform(uint64_t &state)
{
    return static_cast<double>(splitmix64(&state) >> 11) * 0x1p-53;
}

struct LinkCounters {
    uint64_t packets, bytes;  // that arrived; bytes of the link's time
    uint64_t lost, dropped, marked;
};

// A queue in a ring of memory.
template <typename T> class Ring
{
  public:
    bool empty() const { return head_ == tail_; }
    T &front() { return items_[head_ & mask()]; }
    // Items that come to the front some steps later.
    void prefetch(size_t steps) const { __builtin_prefetch(&items_[(head_ + steps) & mask()]); }
    void pop() { head_++; }
    void push(T item)
    {
        if (tail_ - head_ == items_.size()) grow();
        items_[tail_++ & mask()] = std::move(item);
    }

  private:
    size_t mask() const { return items_.size() - 1; }
    void grow()
    {
        std::vector<T> larger(2 * items_.size());
        for (size_t i = head_; i != tail_; i++) larger[i & (larger.size() - 1)] = std::move(items_[i & mask()]);
        items_ = std::move(larger);
    }
    size_t head_ = 0, tail_ = 0;
    std::vector<T> items_ = std::vector<T>(16);
};

class Link : public Source
{
  public:
    using Receiver = std::function<void(const Datagram &, bool marked)>;

    Link(Agenda &agenda, const LinkSetup &setup, uint64_t seed, Receiver receiver)
        : agenda_(agenda), s_(setup), random_(seed), receiver_(std::move(receiver))
    {
        agenda.join(*this);
    }
    LinkCounters counters = {};

    void watch(Watcher &watcher) { watcher_ = &watcher; }
    Ends ends;

    // When the next datagram would leave at once.
    uint64_t free_ps() const { return free_ps_; }

    void send(const Datagram &datagram)
    {
        const uint64_t now = agenda_.now_ps(), bytes = datagram.size() + s_.overhead_bytes;
        const uint64_t start = free_ps_ > now ? free_ps_ : now;
        if (s_.queue_bytes && start - now > time_of(s_.queue_bytes)) {
            counters.dropped++;
            tell({now, 0, Hop::DROPPED}, datagram);
            return;
        }
        const bool marked = s_.ecn_bytes && start - now > time_of(s_.ecn_bytes);
        free_ps_ = start + time_of(bytes);
        counters.marked += marked;
        if (s_.loss > 0 && uniform(random_) < s_.loss) {
            counters.lost++;
            tell({start, 0, Hop::LOST}, datagram);
            return;
        }
        const uint64_t arrival = free_ps_ + s_.delay_ns * 1000;
        if (flying_.empty()) agenda_.plan(*this, arrival);
        flying_.push({arrival, datagram, marked});
        counters.packets++;
        counters.bytes += bytes;
        tell({start, arrival, marked ? Hop::MARKED : Hop::ARRIVES}, datagram);
    }

    void due() override
    {
        const Flight flight = std::move(flying_.front());
        flying_.pop();
        if (!flying_.empty()) {
            agenda_.plan(*this, flying_.front().arrival_ps);
            flying_.front().datagram.prefetch();
            flying_.prefetch(SOON);
        }
        receiver_(flight.datagram, flight.marked);
    }

  private:
    static constexpr size_t SOON = 4;  // flights, of which a line of memory has two or three
    struct Flight {
        uint64_t arrival_ps = 0;
        Datagram datagram;
        bool marked = false;
    };

    void tell(const Hop &hop, const Datagram &datagram)
    {
        if (watcher_) watcher_->see(ends, hop, datagram);
    }

    // At most 2^30 bytes, so the product stays below 2^64 in steps of 1000.
    uint64_t time_of(uint64_t bytes)
    {
        if (bytes == last_bytes_) return last_time_;  // divisions take longer than the rest
        last_bytes_ = bytes;
        return last_time_ = bytes * 8 * 1000000000u / s_.rate * 1000 + rest(bytes);
    }
    uint64_t rest(uint64_t bytes) const { return bytes * 8 * 1000000000u % s_.rate * 1000 / s_.rate; }

    Agenda &agenda_;
    const LinkSetup s_;
    uint64_t random_, free_ps_ = 0, last_bytes_ = 0, last_time_ = 0;
    Receiver receiver_;
    Ring<Flight> flying_;
    Watcher *watcher_ = nullptr;
};

}  // namespace sim_net
