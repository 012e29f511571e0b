// SPDX-License-Identifier: Apache-2.0
// Datagrams that fly. A sum for many workers is one piece of memory, which goes back to the pool
// when the last has it. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace sim_net
{

constexpr uint32_t FOR_SWITCH = ~0u;  // instead of a host's number

// Its bytes follow it in memory.
struct Buffer {
    uint32_t users;
    uint32_t size;
    uint32_t to;
    class Pool *pool;
    uint8_t *bytes() { return reinterpret_cast<uint8_t *>(this + 1); }
};

class Pool
{
  public:
    explicit Pool(size_t room) : room_(room) {}
    size_t room() const { return room_; }
    Buffer *take()
    {
        if (free_.empty()) {
            void *memory = ::operator new(sizeof(Buffer) + room_);
            all_.emplace_back(new (memory) Buffer{0, 0, FOR_SWITCH, this});
            return all_.back().get();
        }
        Buffer *buffer = free_.back();
        free_.pop_back();
        return buffer;
    }
    void give(Buffer *buffer) { free_.push_back(buffer); }

  private:
    const size_t room_;
    struct Release {
        void operator()(Buffer *buffer) const { ::operator delete(buffer); }
    };
    std::vector<std::unique_ptr<Buffer, Release>> all_;
    std::vector<Buffer *> free_;
};

class Datagram
{
  public:
    Datagram() = default;
    explicit Datagram(Pool &pool) : b_(pool.take())
    {
        b_->users = 1;
        b_->to = FOR_SWITCH;
    }
    Datagram(const Datagram &other) : b_(other.b_)
    {
        if (b_) b_->users++;
    }
    Datagram(Datagram &&other) noexcept : b_(std::exchange(other.b_, nullptr)) {}
    Datagram &operator=(Datagram other) noexcept
    {
        std::swap(b_, other.b_);
        return *this;
    }
    ~Datagram()
    {
        if (b_ && !--b_->users) b_->pool->give(b_);
    }
    bool is_there() const { return b_; }
    uint8_t *data() const { return b_->bytes(); }
    // It is used soon. Thousands fly, so it may be far from the processor.
    void prefetch() const
    {
        constexpr size_t LINE = 64;
        const auto *bytes = reinterpret_cast<const uint8_t *>(b_);
        for (size_t at = 0; at < 5 * LINE; at += LINE) __builtin_prefetch(bytes + at);
    }
    size_t size() const { return b_->size; }
    size_t room() const { return b_->pool->room(); }
    // Of the link's time. It may exceed the room: values that nobody looks at are not there.
    void set_size(size_t bytes) { b_->size = static_cast<uint32_t>(bytes); }
    // The host that switches pass it to, or FOR_SWITCH: the first switch adds it.
    uint32_t to() const { return b_->to; }
    void set_to(uint32_t host) { b_->to = host; }

  private:
    Buffer *b_ = nullptr;
};

}  // namespace sim_net
