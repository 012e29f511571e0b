// SPDX-License-Identifier: Apache-2.0
// A rank's connections with others. Values arrive in order, and a limited number of bytes is under
// way. Over links that lose nothing, acknowledgements take neither time nor bytes. Over others
// there is TCP (tcp.h).
#pragma once

#include <deque>
#include <memory>

#include "datagram.h"
#include "piece.h"
#include "scenario.h"
#include "tcp.h"

namespace sim_net
{

class Connections
{
  public:
    // `hosts`: numbers of all members of the job.
    Connections(const PeerSetup &setup, const Scenario &scenario, uint32_t own, const std::vector<uint32_t> &hosts)
        : s_(setup), overhead_bytes_(scenario.link.overhead_bytes), rate_(scenario.link.rate), lossy_(scenario.loses()),
          own_(own), hosts_(hosts)
    {
    }
    uint32_t own() const { return own_; }
    // Of values that travel together, at most.
    uint64_t unit() const { return s_.payload_bytes; }

    // Sends any number of bytes to another member, behind what is to go there already.
    void send(uint32_t to, Piece piece);
    // The next packet. Those to several members take turns. false: there is none now.
    bool next(int64_t now, Datagram &out);
    // Takes a packet. `out`: what is there now, in order.
    void take(int64_t now, const Datagram &datagram, std::vector<Piece> &out);
    // Of what was sent to a member, so much has been taken there. Only where nothing is lost.
    void credit(uint32_t to, uint64_t bytes);
    // Does what is due because nothing has come; when that is next, or below 0.
    void catch_up(int64_t now);
    int64_t deadline() const;
    uint64_t sent() const { return sent_; }  // packets with values
    uint64_t resent() const;

  private:
    struct Pipe {
        std::vector<Piece> queue;
        size_t head = 0;
        uint64_t under_way = 0;
        bool listed = false;  // in ready_
        std::unique_ptr<TcpSender> tcp;
    };
    bool has_values(const Pipe &pipe) const { return pipe.head < pipe.queue.size(); }
    bool may_send(const Pipe &pipe) const;
    void list(uint32_t to);
    Piece cut(Pipe &pipe) const;
    void write(Datagram &out, uint32_t to, const Piece &piece) const;
    uint64_t wire_bytes(const Piece &piece) const;

    const PeerSetup s_;
    const uint64_t overhead_bytes_, rate_;
    const bool lossy_;
    const uint32_t own_;
    const std::vector<uint32_t> &hosts_;
    std::vector<Pipe> pipes_;  // by member
    std::deque<uint32_t> ready_;
    std::vector<TcpReceiver> receivers_;                // by member
    std::deque<std::pair<uint32_t, Piece>> to_answer_;  // acknowledgements, and for whom
    uint64_t sent_ = 0;
};

// How a rank sums its vectors with others.
class Summing
{
  public:
    virtual ~Summing() = default;
    virtual void begin(uint64_t vector, uint64_t bytes) = 0;
    // A piece of this vector.
    virtual void take(const Piece &piece) = 0;
    virtual bool done() const = 0;
};

}  // namespace sim_net
