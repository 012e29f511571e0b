// SPDX-License-Identifier: Apache-2.0
#include "rings.h"

#include <stdexcept>

namespace sim_net
{

Rings::Rings(Connections &connections, const JobSetup &job, uint64_t weight, uint64_t total)
    : connections_(connections), ranks_(job.workers), group_(job.exchange == Exchange::RING ? 1 : job.peer.group),
      own_weight_(weight), total_(total)
{
    plan();
    stage_ = stages_.size();  // nothing has begun
}

// With groups: each rank sums a part within its group, across the groups, and hands it round.
void Rings::plan()
{
    const uint32_t rank = connections_.own();
    Stage all = {{}, rank, true, true, 0, 0};
    if (group_ == 1 || group_ == ranks_) {
        for (uint32_t i = 0; i < ranks_; i++) all.members.push_back(i);
        stages_ = {all};
        return;
    }
    const auto group = static_cast<uint32_t>(group_);
    const uint32_t first = rank / group * group;
    Stage within = {{}, rank - first, true, false, 0, 0}, across = {{}, rank / group, true, true, 0, 0};
    for (uint32_t i = 0; i < group; i++) within.members.push_back(first + i);
    for (uint32_t i = rank - first; i < ranks_; i += group) across.members.push_back(i);
    Stage round = within;
    round.sums = false;
    round.hands_round = true;
    stages_ = {within, across, round};
}

uint64_t Rings::start_of(const Stage &stage, uint64_t block) const
{
    return stage.offset + stage.bytes / 4 * block / stage.members.size() * 4;
}

uint64_t Rings::length_of(const Stage &stage, uint64_t block) const
{
    return start_of(stage, block + 1) - start_of(stage, block);
}

void Rings::begin(uint64_t vector, uint64_t bytes)
{
    vector_ = vector;
    bytes_ = bytes;
    whole_ = checked_ = 0;
    weight_ = next_weight_ = own_weight_;
    for (Stage &stage : stages_) stage.bytes = bytes;
    if (stages_.size() > 1) {
        const Stage &within = stages_[0];
        const uint64_t mine = (within.position + 1) % within.members.size();
        stages_[1].offset = start_of(within, mine);
        stages_[1].bytes = length_of(within, mine);
    }
    stage_ = 0;
    start();
}

// In a ring of n, this rank begins with its own block. It then takes the others' up to its right
// neighbour's, which is whole here, and passes sums on until it has all.
void Rings::start()
{
    const Stage &stage = stages_[stage_];
    const uint64_t n = stage.members.size(), right = (stage.position + 1) % n;
    awaited_ = 0;
    if (stage.sums) awaited_ += stage.bytes - length_of(stage, stage.position);
    if (stage.hands_round) awaited_ += stage.bytes - length_of(stage, right);
    const uint64_t block = stage.sums ? stage.position : right;
    Piece piece = {vector_, start_of(stage, block), length_of(stage, block), weight_, 0, 0, 0, !stage.sums, false, 0,
                   0};
    piece.stage = static_cast<uint32_t>(stage_);
    piece.hop = static_cast<uint32_t>(stage.sums ? 0 : n - 1);
    if (n > 1) connections_.send(stage.members[right], piece);
    if (n == 1) whole(stage.bytes, weight_);
    if (!awaited_) {
        advance();
        return;
    }
    const std::vector<Piece> there = std::move(later_);
    later_.clear();
    for (const Piece &p : there) take(p);
}

void Rings::take(const Piece &piece)
{
    if (piece.stage == stage_)
        handle(piece);
    else
        later_.push_back(piece);
}

void Rings::pass_on(Piece piece, uint64_t weight, bool back)
{
    const Stage &stage = stages_[stage_];
    piece.hop++;
    piece.weight = weight;
    piece.back = back;
    connections_.send(stage.members[(stage.position + 1) % stage.members.size()], piece);
}

void Rings::handle(const Piece &piece)
{
    const Stage &stage = stages_[stage_];
    const uint64_t n = stage.members.size();
    awaited_ -= piece.bytes;
    if (piece.hop + 1 < n) {
        const uint64_t weight = piece.weight + weight_;
        const bool is_whole = piece.hop + 2 == n;
        if (is_whole) next_weight_ = weight;
        if (is_whole && stage.hands_round) whole(piece.bytes, weight);
        if (!is_whole || stage.hands_round) pass_on(piece, weight, is_whole);
    } else {
        whole(piece.bytes, piece.weight);
        if (piece.hop + 3 < 2 * n) pass_on(piece, piece.weight, true);
    }
    if (!awaited_) advance();
}

void Rings::whole(uint64_t bytes, uint64_t weight)
{
    whole_ += bytes;
    checked_ += bytes * weight;
}

void Rings::advance()
{
    weight_ = next_weight_;
    if (++stage_ < stages_.size())
        start();
    else if (whole_ != bytes_ || checked_ != bytes_ * total_)
        throw std::runtime_error("a ring's sum is wrong at rank " + std::to_string(connections_.own()));
}

}  // namespace sim_net
