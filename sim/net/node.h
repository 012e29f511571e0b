// SPDX-License-Identifier: Apache-2.0
// A switch with the links that leave it. Datagrams for the switch go through its core, which is the
// daemon's. Others are passed on to their host.
#pragma once

#include <memory>

#include <gradnic/switch.h>

#include "host.h"

namespace sim_net
{

class Node
{
  public:
    Node(Agenda &agenda, Pool &pool, const Scenario &scenario, size_t level, std::string name);
    Node(const Node &) = delete;
    Node &operator=(const Node &) = delete;

    // Connects a host, or a switch below. Each takes two seeds. @return the port
    uint16_t connect(Host &host, uint64_t &seeds);
    uint16_t connect(Node &below, uint64_t &seeds);
    // A host is behind a port. Other hosts are above.
    void add_route(uint32_t host, uint16_t port);
    uint16_t parent_port() const { return parent_port_; }
    void add_job(const gn_switch_job &job);

    const gn_switch &core() const { return switch_; }
    // Of a job; NULL: it is not here.
    const gn_switch_counters *counters(uint16_t job) const;
    const std::string &name() const { return name_; }
    const std::vector<std::unique_ptr<Link>> &links() const { return links_; }

  private:
    void arrive(uint16_t port, const Datagram &datagram, bool marked);
    void pass_on(const Datagram &datagram);
    void carry_out(const gn_action &action);

    static constexpr uint16_t NONE = 0xffff;
    Agenda &agenda_;
    Pool &pool_;
    const Scenario &s_;
    const std::string name_;
    gn_switch switch_ = {};
    std::vector<uint64_t> memory_;
    std::vector<Link *> out_;                   // by port
    std::vector<std::unique_ptr<Link>> links_;  // with hosts and switches below, in both directions
    std::vector<uint16_t> routes_;              // by host
    uint16_t parent_port_ = NONE;
};

}  // namespace sim_net
