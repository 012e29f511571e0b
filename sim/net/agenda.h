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
        place(source);
        return true;
    }

  private:
    struct Date {
        uint64_t at_ps;
        uint32_t number;  // of the source
    };

    // The left one at the same time: its number is lower.
    static const Date &earlier(const Date &left, const Date &right) { return right.at_ps < left.at_ps ? right : left; }

    void place(const Source &source)
    {
        size_t at = leaves_ + source.number_;
        tree_[at].at_ps = source.at_ps_;
        while (at >>= 1) {
            const Date first = earlier(tree_[2 * at], tree_[2 * at + 1]);
            if (tree_[at].at_ps == first.at_ps && tree_[at].number == first.number) return;
            tree_[at] = first;
        }
    }

    void grow()
    {
        leaves_ = leaves_ ? 2 * leaves_ : 64;
        tree_.assign(2 * leaves_, {Source::NEVER, 0});
        for (size_t i = 0; i < leaves_; i++)
            tree_[leaves_ + i] = {i < sources_.size() ? sources_[i]->at_ps_ : Source::NEVER, static_cast<uint32_t>(i)};
        for (size_t at = leaves_ - 1; at; at--) tree_[at] = earlier(tree_[2 * at], tree_[2 * at + 1]);
    }

    uint64_t now_ps_ = 0;
    std::vector<Source *> sources_;
    const Source *running_ = nullptr;
    size_t leaves_ = 0;
    std::vector<Date> tree_;  // the root is 1, and the children of n are 2n and 2n + 1
};

}  // namespace sim_net
