// SPDX-License-Identifier: Apache-2.0
// Each frame that goes in is heard of once, in order: it leaves with the side-band that it came
// with and with its length beside it, or its side-band comes out as that of a frame that was
// dropped.
#pragma once

#include <deque>

#include "axis.h"

namespace bench
{

class Tokens
{
  public:
    // The next frame, in the order in which they are sent.
    void sent(uint64_t side, bool leaves) { expected_.push_back({side, leaves}); }
    void left(const Frame &f)
    {
        next(f.side, true);
        if (f.length != f.bytes.size())
            fail("a frame of %zu bytes says that it has %llu", f.bytes.size(), number(f.length));
    }
    void dropped(uint64_t side)
    {
        next(side, false);
        drops++;
    }
    bool empty() const { return expected_.empty(); }
    void clear() { expected_.clear(); }

    uint64_t drops = 0;

  private:
    struct Token {
        uint64_t side;
        bool leaves;
    };
    static unsigned long long number(uint64_t n) { return n; }

    void next(uint64_t side, bool leaves)
    {
        if (expected_.empty()) fail("side-band %llx comes out, which no frame had", number(side));
        const Token want = expected_.front();
        expected_.pop_front();
        if (want.side != side || want.leaves != leaves)
            fail("side-band %llx %s; the next is %llx, which should %s", number(side), leaves ? "leaves" : "is dropped",
                 number(want.side), want.leaves ? "leave" : "be dropped");
    }
    std::deque<Token> expected_;
};

}  // namespace bench
