// SPDX-License-Identifier: Apache-2.0
#include "connections.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sim_net
{

constexpr uint64_t SACK = 12;  // bytes of an acknowledgement's option

bool Connections::may_send(const Pipe &pipe) const
{
    if (lossy_) return pipe.tcp->may_send() && (pipe.tcp->has_lost() || has_values(pipe));
    return has_values(pipe) && pipe.under_way + std::min(unit(), pipe.queue[pipe.head].bytes) <= s_.window_bytes;
}

void Connections::list(uint32_t to)
{
    Pipe &pipe = pipes_[to];
    if (pipe.listed || !may_send(pipe)) return;
    pipe.listed = true;
    ready_.push_back(to);
}

void Connections::send(uint32_t to, Piece piece)
{
    if (!piece.bytes) return;
    if (pipes_.empty()) pipes_.resize(hosts_.size());
    piece.from = own_;
    Pipe &pipe = pipes_[to];
    if (lossy_ && !pipe.tcp)
        pipe.tcp = std::make_unique<TcpSender>(static_cast<double>(s_.window_bytes) / static_cast<double>(unit()));
    Piece *last = pipe.head < pipe.queue.size() ? &pipe.queue.back() : nullptr;
    if (last && last->vector == piece.vector && last->stage == piece.stage && last->hop == piece.hop &&
        last->weight == piece.weight && last->offset + last->bytes == piece.offset)
        last->bytes += piece.bytes;
    else
        pipe.queue.push_back(piece);
    list(to);
}

// A NIC compresses each packet of TCP on its own, and their headers stay. Where its engine is
// slower than the link, a packet takes as long as the engine.
uint64_t Connections::wire_bytes(const Piece &piece) const
{
    const double ratio = piece.back ? s_.ratio_back : s_.ratio, bytes = static_cast<double>(piece.bytes);
    const uint64_t packets = (piece.bytes + SEGMENT - 1) / SEGMENT;
    double values = std::ceil(bytes / ratio);
    if (ratio > 1 && s_.engine_rate)
        values = std::max(values, bytes * static_cast<double>(rate_) / static_cast<double>(s_.engine_rate));
    // A link adds the last packet's overhead.
    return static_cast<uint64_t>(values) + packets * TCP_MORE + (packets - 1) * overhead_bytes_;
}

// The next values of a connection, at most a packet.
Piece Connections::cut(Pipe &pipe) const
{
    Piece &rest = pipe.queue[pipe.head];
    Piece piece = rest;
    piece.bytes = std::min(unit(), rest.bytes);
    rest.offset += piece.bytes;
    rest.bytes -= piece.bytes;
    if (!rest.bytes && ++pipe.head == pipe.queue.size()) {
        pipe.queue.clear();
        pipe.head = 0;
    }
    return piece;
}

void Connections::write(Datagram &out, uint32_t to, const Piece &piece) const
{
    std::memcpy(out.data(), &piece, sizeof piece);
    out.set_size(piece.acknowledges ? TCP_MORE + SACK : wire_bytes(piece));
    out.set_to(hosts_[to]);
}

bool Connections::next(int64_t now, Datagram &out)
{
    if (!to_answer_.empty()) {
        write(out, to_answer_.front().first, to_answer_.front().second);
        to_answer_.pop_front();
        return true;
    }
    // What was to be sent again may have arrived meanwhile.
    while (!ready_.empty() && !may_send(pipes_[ready_.front()])) {
        pipes_[ready_.front()].listed = false;
        ready_.pop_front();
    }
    if (ready_.empty()) return false;
    const uint32_t to = ready_.front();
    ready_.pop_front();
    Pipe &pipe = pipes_[to];
    pipe.listed = false;
    const bool again = lossy_ && pipe.tcp->has_lost();
    Piece piece = again ? pipe.tcp->resend(now) : cut(pipe);
    piece.last = !has_values(pipe);
    if (lossy_ && !again) pipe.tcp->send(piece, now);
    pipe.under_way += piece.bytes;
    list(to);
    sent_++;
    write(out, to, piece);
    return true;
}

void Connections::take(int64_t now, const Datagram &datagram, std::vector<Piece> &out)
{
    Piece piece;
    std::memcpy(&piece, datagram.data(), sizeof piece);
    if (!lossy_) {
        out.push_back(piece);
        return;
    }
    if (piece.acknowledges) {
        pipes_[piece.from].tcp->acknowledge(piece, now);
        list(piece.from);
        return;
    }
    if (receivers_.empty()) receivers_.resize(hosts_.size());
    Piece answer;
    answer.acknowledges = true;
    answer.from = own_;
    answer.number = piece.number;
    answer.in_order = receivers_[piece.from].take(piece, out);
    // Of what comes in order, every other packet is acknowledged.
    if (answer.in_order == piece.number + 1 && piece.number % 2 == 0 && !piece.last) return;
    to_answer_.emplace_back(piece.from, answer);
}

void Connections::credit(uint32_t to, uint64_t bytes)
{
    if (lossy_) return;
    pipes_[to].under_way -= bytes;
    list(to);
}

void Connections::catch_up(int64_t now)
{
    for (uint32_t to = 0; lossy_ && to < pipes_.size(); to++) {
        TcpSender *tcp = pipes_[to].tcp.get();
        if (!tcp || tcp->deadline() < 0 || tcp->deadline() > now) continue;
        tcp->timeout(now);
        list(to);
    }
}

int64_t Connections::deadline() const
{
    int64_t first = -1;
    for (size_t to = 0; lossy_ && to < pipes_.size(); to++) {
        const int64_t due = pipes_[to].tcp ? pipes_[to].tcp->deadline() : -1;
        if (due >= 0 && (first < 0 || due < first)) first = due;
    }
    return first;
}

uint64_t Connections::resent() const
{
    uint64_t sum = 0;
    for (const Pipe &pipe : pipes_) sum += pipe.tcp ? pipe.tcp->resent() : 0;
    return sum;
}

}  // namespace sim_net
