// SPDX-License-Identifier: Apache-2.0
// The clock of the simulation: who is due when. Each of a few hundred or thousand sources has one
// date, which changes often. So the dates are the leaves of a tree in which the earlier of two goes
// up: a change costs a path, without guesses, and nothing is left behind. (A heap of dates keeps
// those that were put off.)
#pragma once

#include <cstdint>
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
    static constexpr uint64_t NEVER = ~0ull >> 1;  // years
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
        if (sources_.size() > leaves_) grow();
    }

    // Its only date. An earlier one does not count any more.
    void plan(Source &source, uint64_t at_ps)
    {
        if (source.at_ps_ == at_ps) return;
        source.at_ps_ = at_ps;
        if (&source != running_) place(source);  // that one is placed when it is done
    }

    // Goes on to the next date until then. false: there is none.
    bool step(uint64_t until_ps)
    {
        if (!leaves_ || tree_[1].at_ps > until_ps || tree_[1].at_ps == Source::NEVER) return false;
        Source &source = *sources_[tree_[1].number];
        now_ps_ = source.at_ps_;
        source.at_ps_ = Source::NEVER;
        running_ = &source;
        source.due();
        running_ = nullptr;
        replay(source);
        return true;
    }

  private:
    struct Date {
        uint64_t at_ps;
        uint32_t number;  // of the source
    };

    // The date at a place, or the one beside it. At the same time the left one, whose number is
    // lower. Without a branch, which would be a guess.
    Date earlier(const Date &date, size_t at) const
    {
        const Date &beside = tree_[at ^ 1];
        const bool other = beside.at_ps < date.at_ps + (at & 1);
        return {other ? beside.at_ps : date.at_ps, other ? beside.number : date.number};
    }

    // A new date of a source that need not be first. From some place on all above stays as it was.
    void place(const Source &source)
    {
        size_t at = leaves_ + source.number_;
        Date date = {source.at_ps_, source.number_};
        tree_[at] = date;
        for (; at > 1; at >>= 1) {
            date = earlier(date, at);
            Date &above = tree_[at >> 1];
            if (above.at_ps == date.at_ps && above.number == date.number) return;
            above = date;
        }
    }

    // A new date of the source that was first: all above was its own.
    void replay(const Source &source)
    {
        size_t at = leaves_ + source.number_;
        Date date = {source.at_ps_, source.number_};
        tree_[at] = date;
        for (; at > 1; at >>= 1) {
            date = earlier(date, at);
            tree_[at >> 1] = date;
        }
    }

    void grow()
    {
        leaves_ = leaves_ ? 2 * leaves_ : 64;
        tree_.assign(2 * leaves_, {Source::NEVER, 0});
        for (size_t i = 0; i < leaves_; i++)
            tree_[leaves_ + i] = {i < sources_.size() ? sources_[i]->at_ps_ : Source::NEVER, static_cast<uint32_t>(i)};
        for (size_t at = leaves_ - 1; at; at--) tree_[at] = earlier(tree_[2 * at], 2 * at);
    }

    uint64_t now_ps_ = 0;
    std::vector<Source *> sources_;
    const Source *running_ = nullptr;
    size_t leaves_ = 0;
    std::vector<Date> tree_;  // the root is 1, and the children of n are 2n and 2n + 1
};

}  // namespace sim_net
