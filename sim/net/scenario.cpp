// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include <set>
#include <stdexcept>

namespace sim_net
{

static const char *const modes[GN_MEMORY_MODES] = {"partitioned", "shared", "preemptive"};

const char *mode_name(gn_memory_mode mode)
{
    return modes[mode];
}

namespace
{

// The fields of one object. A field that nobody has asked for is an error, for it is misspelt.
class Fields
{
  public:
    Fields(json_t *object, std::string where) : object_(object), where_(std::move(where))
    {
        if (object && !json_is_object(object)) throw std::runtime_error(where_ + " is not an object");
    }
    [[noreturn]] void wrong(const std::string &name, const std::string &why) const
    {
        throw std::runtime_error(where_ + "." + name + " " + why);
    }
    json_t *get(const char *name)
    {
        known_.insert(name);
        return json_object_get(object_, name);
    }
    uint64_t number(const char *name, uint64_t otherwise, uint64_t least, uint64_t most)
    {
        json_t *value = get(name);
        if (!value) return otherwise;
        const json_int_t n = json_integer_value(value);
        if (!json_is_integer(value) || n < 0 || static_cast<uint64_t>(n) < least || static_cast<uint64_t>(n) > most)
            wrong(name, "has to be an integer from " + std::to_string(least) + " to " + std::to_string(most));
        return static_cast<uint64_t>(n);
    }
    uint64_t power_of_two(const char *name, uint64_t otherwise, uint64_t most)
    {
        const uint64_t n = number(name, otherwise, 1, most);
        if (n & (n - 1)) wrong(name, "has to be a power of two");
        return n;
    }
    double real(const char *name, double otherwise, double most)
    {
        json_t *value = get(name);
        if (!value) return otherwise;
        const double n = json_number_value(value);
        if (!json_is_number(value) || n < 0 || n > most)
            wrong(name, "has to be a number from 0 to " + std::to_string(most));
        return n;
    }
    std::string text(const char *name, const std::string &otherwise)
    {
        json_t *value = get(name);
        if (!value) return otherwise;
        if (!json_is_string(value)) wrong(name, "has to be a text");
        return json_string_value(value);
    }
    void end() const
    {
        const char *name;
        json_t *value;
        json_object_foreach(object_, name, value) if (!known_.count(name)) wrong(name, "is not a known field");
    }

  private:
    json_t *object_;
    std::string where_;
    std::set<std::string> known_;
};

constexpr uint64_t HOUR_NS = 3600000000000u;

LinkSetup read_link(Fields f)
{
    LinkSetup link = {};
    link.rate = f.number("rate_bit_s", 10000000000u, 1000000, 1000000000000u);
    link.delay_ns = f.number("delay_ns", 1000, 0, 1000000000);
    link.queue_bytes = f.number("queue_bytes", 0, 0, 1u << 30);
    link.ecn_bytes = f.number("ecn_bytes", 0, 0, 1u << 30);
    link.overhead_bytes = f.number("overhead_bytes", 66, 0, 1000);  // Ethernet 38 with its gap, IP 20, UDP 8
    link.loss = f.real("loss", 0, 0.5);
    f.end();
    return link;
}

void read_switch(Fields f, Scenario &s)
{
    const std::string mode = f.text("mode", modes[0]);
    unsigned i = 0;
    while (i < GN_MEMORY_MODES && mode != modes[i]) i++;
    if (i == GN_MEMORY_MODES) f.wrong("mode", "has to be partitioned, shared or preemptive");
    s.mode = static_cast<gn_memory_mode>(i);
    s.switch_slots = f.number("slots", 1024, 1, 16u * GN_AGG_SLOTS_MAX);
    f.end();
}

JobSetup read_job(Fields f, size_t index)
{
    JobSetup job = {};
    job.name = f.text("name", "job" + std::to_string(index));
    job.workers = f.number("workers", 2, 1, GN_AGG_WORKERS_MAX);
    job.values = f.number("values", 250000, 1, 1u << 28);
    job.vectors = f.number("vectors", 1, 1, 1000000);
    job.slots = f.power_of_two("slots", 64, GN_AGG_SLOTS_MAX);
    job.priority = f.number("priority", 256, 0, 65535);
    job.start_ns = f.number("start_ns", 0, 0, HOUR_NS);
    job.compute_ns = f.number("compute_ns", 0, 0, HOUR_NS);
    job.straggle_ns = f.number("straggle_ns", 0, 0, HOUR_NS);
    f.end();
    return job;
}

}  // namespace

Scenario read_scenario(json_t *root, const std::string &file)
{
    if (!json_is_object(root)) throw std::runtime_error(file + ": it is not an object with link, switch and jobs");
    Fields f(root, file + ": scenario");
    Scenario s = {};
    s.link = read_link(Fields(f.get("link"), file + ": link"));
    read_switch(Fields(f.get("switch"), file + ": switch"), s);
    s.packet_values = f.number("packet_values", 256, 1, GN_AGG_VALUES_MAX);
    s.rto_min_ns = f.number("rto_min_ns", 0, 0, 1000000000);
    s.limit_s = f.real("limit_s", 100, 3600);
    json_t *jobs = f.get("jobs");
    constexpr size_t MOST = 64;  // GN_SWITCH_JOBS_MAX
    if (!json_is_array(jobs) || !json_array_size(jobs) || json_array_size(jobs) > MOST)
        f.wrong("jobs", "has to be a list of 1 to 64 jobs");
    uint64_t slots = 0;
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        s.jobs.push_back(read_job(Fields(json_array_get(jobs, i), file + ": jobs[" + std::to_string(i) + "]"), i));
        slots += s.jobs.back().slots;
    }
    f.end();
    if (s.mode == GN_PARTITIONED && slots > s.switch_slots)
        throw std::runtime_error(file + ": switch.slots is " + std::to_string(s.switch_slots) + ", and the jobs need " +
                                 std::to_string(slots) + "; give it more, or them fewer");
    return s;
}

}  // namespace sim_net
