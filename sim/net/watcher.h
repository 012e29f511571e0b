// SPDX-License-Identifier: Apache-2.0
// Who looks at the packets on links.
#pragma once

#include <cstdint>
#include <string>

#include "datagram.h"

namespace sim_net
{

// Of one direction of a link: "worker 3", "switch", "server".
struct Ends {
    std::string from, to;
};

// A packet on one link. In ps: when the link began to carry it, and when the last bit is there.
struct Hop {
    enum Fate { ARRIVES, MARKED, LOST, DROPPED };  // marked ones arrive, too
    uint64_t begin_ps, end_ps;
    Fate fate;
};

class Watcher
{
  public:
    virtual ~Watcher() = default;
    virtual void see(const Ends &ends, const Hop &hop, const Datagram &datagram) = 0;
};

}  // namespace sim_net
