// SPDX-License-Identifier: Apache-2.0
// The clock of the simulation: who is due when. A few hundred sources have one date each, so a heap
// of dates is short. (SystemC's kernel did this before. It took longer than switch and workers.)
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

namespace sim_net
{

// Something that has to do something at a time.
class Source
{
  public:
    virtual ~Source() = default;
    virtual void due() = 0;

  private:
    friend class Agenda;
    static constexpr uint64_t NEVER = ~0ull;
    uint64_t at_ps_ = NEVER;
    uint32_t number_ = 0;
};

class Agenda
{
  public:
    uint64_t now_ps() const { return now_ps_; }
    int64_t now_ns() const { return static_cast<int64_t>(now_ps_ / 1000); }

    // At the same time the source that joined first is due first.
    void join(Source &source)
    {
        source.number_ = static_cast<uint32_t>(sources_.size());
        sources_.push_back(&source);
    }

    // Its only date. An earlier one does not count any more.
    void plan(Source &source, uint64_t at_ps)
    {
        if (source.at_ps_ == at_ps) return;
        source.at_ps_ = at_ps;
        dates_.push({at_ps, source.number_});
    }

    // Goes on to the next date until then. false: there is none.
    bool step(uint64_t until_ps)
    {
        while (!dates_.empty()) {
            const Date date = dates_.top();
            if (date.first > until_ps) return false;
            dates_.pop();
            Source &source = *sources_[date.second];
            if (source.at_ps_ != date.first) continue;  // it was put off
            source.at_ps_ = Source::NEVER;
            now_ps_ = date.first;
            source.due();
            return true;
        }
        return false;
    }

  private:
    using Date = std::pair<uint64_t, uint32_t>;
    uint64_t now_ps_ = 0;
    std::vector<Source *> sources_;
    std::priority_queue<Date, std::vector<Date>, std::greater<>> dates_;
};

}  // namespace sim_net
