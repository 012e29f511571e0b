// SPDX-License-Identifier: Apache-2.0
#include "timeline.h"

#include <cinttypes>
#include <stdexcept>

namespace sim_net
{

constexpr size_t MOST_ROWS = 100000;  // all lie in memory, and a picture has a mark for each

static const char *kind_of(const gn_agg_packet &packet)
{
    switch (packet.type) {
    case GN_AGG_GRADIENT:
        if (!packet.values) return "exponent";
        return packet.flags & GN_AGG_RESENT ? "values again" : "values";
    case GN_AGG_RESULT:
        return packet.values ? "result" : "agreed exponent";
    case GN_AGG_EVICTED:
        return "to the server";
    case GN_AGG_REMIND_SWITCH:
    case GN_AGG_REMIND_WORKER:
        return "reminder";
    case GN_AGG_QUERY:
        return "question";
    default:
        return "no integers";
    }
}

Timeline::Timeline(const Scenario &scenario, const gn_sim_net_options &options)
    : slot_(options.slot), from_ns_(options.from_ns), until_ns_(options.until_ns),
      csv_("sent_ns,arrived_ns,what,fate,from,to,chunk,slot,bytes\n")
{
    const std::string file = options.scenario;
    size_t at = 0;
    while (options.job && at < scenario.jobs.size() && scenario.jobs[at].name != options.job) at++;
    if (at == scenario.jobs.size()) throw std::runtime_error(file + ": --job: there is no job " + options.job);
    const JobSetup &setup = scenario.jobs[at];
    if (setup.exchange != Exchange::SWITCH)
        throw std::runtime_error(file + ": --timeline is of a job with exchange switch, and " + setup.name +
                                 " has another");
    if (slot_ >= static_cast<int64_t>(setup.slots))
        throw std::runtime_error(file + ": --slot: " + setup.name + " has slots 0 to " +
                                 std::to_string(setup.slots - 1));
    job_ = static_cast<uint16_t>(at + 1);
}

void Timeline::see(const Ends &ends, const Hop &hop, const Datagram &datagram)
{
    static const char *const fates[] = {"arrived", "marked", "lost", "dropped"};
    gn_agg_packet packet;
    if (datagram.to() != FOR_SWITCH || gn_agg_parse(datagram.data(), datagram.size(), &packet)) return;
    if (packet.job != job_ || (slot_ >= 0 && packet.slot != slot_)) return;
    if (hop.begin_ps / 1000 < from_ns_ || hop.begin_ps / 1000 >= until_ns_) return;
    if (rows_++ == MOST_ROWS)
        throw std::runtime_error("more than " + std::to_string(MOST_ROWS) +
                                 " packets for the time line: give it a --slot, or an --until");
    char row[160], end[32] = "";
    if (hop.fate == Hop::ARRIVES || hop.fate == Hop::MARKED)
        snprintf(end, sizeof end, "%" PRIu64 ".%03" PRIu64, hop.end_ps / 1000, hop.end_ps % 1000);
    snprintf(row, sizeof row, "%" PRIu64 ".%03" PRIu64 ",%s,%s,%s,%s,%s,%" PRIu32 ",%u,%zu\n", hop.begin_ps / 1000,
             hop.begin_ps % 1000, end, kind_of(packet), fates[hop.fate], ends.from.c_str(), ends.to.c_str(), packet.psn,
             packet.slot, datagram.size());
    csv_ += row;
}

}  // namespace sim_net
