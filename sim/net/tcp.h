// SPDX-License-Identifier: Apache-2.0
// One direction of a connection of TCP over links that lose packets: which packets are under way,
// which are lost, and how many there may be (Reno's window, selective acknowledgements, a probe for
// the last packet, a timeout of 200 ms and more). Links keep the order. So what an acknowledged
// packet has overtaken is lost.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "piece.h"

namespace sim_net
{

class TcpSender
{
  public:
    // At most so many packets under way.
    explicit TcpSender(double most) : most_(most) {}

    bool may_send() const { return static_cast<double>(flying_) < window_; }
    bool has_lost() const { return lost_ > 0; }
    // A packet leaves for the first time. It gets its number.
    void send(Piece &piece, int64_t now);
    // The first one that is lost leaves again.
    Piece resend(int64_t now);
    // This packet is there, and all below `piece.in_order`.
    void acknowledge(const Piece &piece, int64_t now);
    // When timeout() is due; below 0: nothing is under way.
    int64_t deadline() const { return flying_ ? since_ + (probed_ ? timeout_ns_ : probe_ns()) : -1; }
    // Nothing has come for so long: the last packet counts as lost, and after that all do.
    void timeout(int64_t now);
    uint64_t resent() const { return resent_; }

  private:
    struct Packet {
        Piece piece;
        uint64_t order;  // of all that have left
        int64_t sent;
        bool arrived, lost, again;
    };
    int64_t probe_ns() const;
    void arrive(Packet &packet);
    void lose(Packet &packet);
    void measure(int64_t round_trip);
    void cut(double window);

    const double most_;
    std::deque<Packet> packets_;  // from number first_ on
    uint64_t first_ = 0, orders_ = 0, flying_ = 0, lost_ = 0, resent_ = 0;
    uint64_t newest_ = 0;   // the highest order that has arrived, plus 1
    uint64_t recover_ = 0;  // the window is not cut again before this number
    double window_ = 10, threshold_ = 1e9;
    double smoothed_ = 0, deviation_ = 0;  // of round trips, in ns
    int64_t timeout_ns_ = 1000000000, since_ = 0;
    bool probed_ = false;
};

class TcpReceiver
{
  public:
    // Takes a packet, and appends to `out` what is in order now. @return the first number that is
    // missing
    uint64_t take(const Piece &piece, std::vector<Piece> &out);

  private:
    uint64_t next_ = 0;
    std::map<uint64_t, Piece> early_;
};

}  // namespace sim_net
