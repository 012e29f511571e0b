// SPDX-License-Identifier: Apache-2.0
#include "tcp.h"

#include <algorithm>
#include <cmath>

namespace sim_net
{

constexpr int64_t MS = 1000000;
constexpr int64_t LEAST_TIMEOUT = 200 * MS, MOST_TIMEOUT = 60000 * MS;

int64_t TcpSender::probe_ns() const
{
    return smoothed_ > 0 ? static_cast<int64_t>(2 * smoothed_) + 2 * MS : timeout_ns_;
}

void TcpSender::send(Piece &piece, int64_t now)
{
    piece.number = first_ + packets_.size();
    packets_.push_back({piece, orders_++, now, false, false, false});
    if (!flying_++) since_ = now;
}

Piece TcpSender::resend(int64_t now)
{
    for (Packet &packet : packets_) {
        if (!packet.lost) continue;
        packet.lost = false;
        packet.again = true;
        packet.order = orders_++;
        packet.sent = now;
        lost_--;
        resent_++;
        if (!flying_++) since_ = now;
        return packet.piece;
    }
    return {};
}

void TcpSender::arrive(Packet &packet)
{
    if (packet.arrived) return;
    packet.arrived = true;
    if (packet.lost)
        lost_--;
    else
        flying_--;
    packet.lost = false;
    newest_ = std::max(newest_, packet.order + 1);
    window_ = std::min(most_, window_ + (window_ < threshold_ ? 1 : 1 / window_));
}

void TcpSender::lose(Packet &packet)
{
    packet.lost = true;
    lost_++;
    flying_--;
}

// RFC 6298.
void TcpSender::measure(int64_t round_trip)
{
    const auto now = static_cast<double>(round_trip);
    deviation_ = smoothed_ > 0 ? 0.75 * deviation_ + 0.25 * std::fabs(now - smoothed_) : now / 2;
    smoothed_ = smoothed_ > 0 ? 0.875 * smoothed_ + 0.125 * now : now;
    timeout_ns_ = std::max(LEAST_TIMEOUT, static_cast<int64_t>(smoothed_ + 4 * deviation_));
}

void TcpSender::cut(double window)
{
    threshold_ = std::max(window_ / 2, 2.0);
    window_ = std::max(window, 1.0);
    recover_ = first_ + packets_.size();
}

void TcpSender::acknowledge(const Piece &piece, int64_t now)
{
    since_ = now;
    probed_ = false;
    if (piece.number >= first_ && piece.number < first_ + packets_.size()) {
        Packet &packet = packets_[piece.number - first_];
        if (!packet.again && !packet.arrived) measure(now - packet.sent);
        arrive(packet);
    }
    while (!packets_.empty() && (first_ < piece.in_order || packets_.front().arrived)) {
        arrive(packets_.front());
        packets_.pop_front();
        first_++;
    }
    for (size_t i = 0; i < packets_.size() && flying_; i++) {
        Packet &packet = packets_[i];
        if (packet.order >= newest_ && !packet.again) break;  // nor has any later one been overtaken
        if (packet.arrived || packet.lost || packet.order >= newest_) continue;
        lose(packet);
        if (first_ + i >= recover_) cut(window_ / 2);
    }
}

void TcpSender::timeout(int64_t now)
{
    since_ = now;
    const bool all = probed_;
    for (size_t i = packets_.size(); i-- > 0;) {
        if (packets_[i].arrived || packets_[i].lost) continue;
        lose(packets_[i]);
        if (!all) break;
    }
    probed_ = true;
    if (!all) return;
    cut(1);
    timeout_ns_ = std::min(2 * timeout_ns_, MOST_TIMEOUT);
}

uint64_t TcpReceiver::take(const Piece &piece, std::vector<Piece> &out)
{
    if (piece.number >= next_) early_.emplace(piece.number, piece);
    for (auto first = early_.begin(); first != early_.end() && first->first == next_; next_++) {
        out.push_back(first->second);
        first = early_.erase(first);
    }
    return next_;
}

}  // namespace sim_net
