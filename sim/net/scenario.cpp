// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include <algorithm>

#include <gradnic/worker.h>

#include "fields.h"

namespace sim_net
{

uint64_t JobSetup::values() const
{
    uint64_t sum = 0;
    for (const Tensor &tensor : tensors) sum += tensor.values;
    return sum;
}

uint64_t Scenario::total_values() const
{
    uint64_t sum = 0;
    for (const JobSetup &job : jobs) sum += job.values() * job.iterations * job.workers;
    return sum;
}

uint64_t Scenario::values_of_packet(const JobSetup &job) const
{
    return job.exchange == Exchange::SWITCH ? packet_values : SEGMENT / sizeof(float);
}

uint64_t Scenario::packet_bytes(const JobSetup &job) const
{
    if (job.exchange != Exchange::SWITCH) return SEGMENT + TCP_MORE + link.overhead_bytes;
    return GN_AGG_HEADER + packet_values * value_bytes() + link.overhead_bytes;
}

namespace
{

const Mode modes[] = {
    {"partitioned", GN_PARTITIONED, GN_RESULTS_SERVER, GN_PREEMPT_BY_PRIORITY},
    {"switchml", GN_PARTITIONED, GN_RESULTS_SERVER, GN_PREEMPT_BY_PRIORITY},
    {"shared", GN_SHARED, GN_RESULTS_SERVER, GN_PREEMPT_BY_PRIORITY},
    {"atp", GN_SHARED, GN_RESULTS_HELD, GN_PREEMPT_BY_PRIORITY},
    {"preemptive", GN_PREEMPTIVE, GN_RESULTS_SERVER, GN_PREEMPT_BY_PRIORITY},
    {"dsa", GN_PREEMPTIVE, GN_RESULTS_DIRECT, GN_PREEMPT_BY_PRIORITY},
    {"always", GN_PREEMPTIVE, GN_RESULTS_DIRECT, GN_PREEMPT_ALWAYS},
    {"alternately", GN_PREEMPTIVE, GN_RESULTS_DIRECT, GN_PREEMPT_ALTERNATELY},
};

const struct {
    const char *name;
    Exchange exchange;
} exchanges[] = {
    {"switch", Exchange::SWITCH},
    {"ring", Exchange::RING},
    {"group-ring", Exchange::GROUP_RING},
    {"direct", Exchange::DIRECT},
    {"worker-aggregator", Exchange::AGGREGATOR},
    {"servers", Exchange::SERVERS},
};

constexpr uint64_t HOUR_NS = 3600000000000u;
constexpr uint64_t MOST_VALUES = 1u << 28;
constexpr uint64_t MOST_ITERATIONS = 1000000;
constexpr uint64_t MOST_WORKERS = GN_WORKER_RANKS_MAX;
constexpr size_t MOST_LEVELS = 10;
constexpr size_t MOST_TENSORS = 1000;
constexpr size_t MOST_LAYERS = 1000;

// Ethernet takes 38 bytes with its gap, IP 20, UDP 8.
constexpr LinkSetup usual = {10000000000u, 1000, 0, 0, 66, 0};

// What is left out is as in `otherwise`.
LinkSetup read_link(Fields f, const LinkSetup &otherwise)
{
    LinkSetup link = {};
    link.rate = f.number("rate_bit_s", otherwise.rate, 1000000, 1000000000000u);
    link.delay_ns = f.number("delay_ns", otherwise.delay_ns, 0, 1000000000);
    link.queue_bytes = f.number("queue_bytes", otherwise.queue_bytes, 0, 1u << 30);
    link.ecn_bytes = f.number("ecn_bytes", otherwise.ecn_bytes, 0, 1u << 30);
    link.overhead_bytes = f.number("overhead_bytes", otherwise.overhead_bytes, 0, 1000);
    link.loss = f.real("loss", otherwise.loss, 0, 0.5);
    f.end();
    return link;
}

void read_switch(Fields f, Scenario &s)
{
    const std::string name = f.text("mode", modes[0].name);
    std::string names;
    const Mode *found = nullptr;
    for (const Mode &mode : modes) {
        if (name == mode.name) found = &mode;
        names += std::string(names.empty() ? "" : ", ") + mode.name;
    }
    if (!found) f.wrong("mode", "has to be one of " + names);
    s.mode = *found;
    s.switch_slots = f.number("slots", 1024, 1, 16u * GN_AGG_SLOTS_MAX);
    if (json_t *tree = f.list("tree", MOST_LEVELS))
        for (size_t i = 0; i < json_array_size(tree); i++)
            s.tree.push_back(f.number_of(json_array_get(tree, i), "tree", 1, MOST_WORKERS));
    const uint64_t levels = s.tree.empty() ? 1 : s.tree.size(), most = levels - 1;
    s.own_levels = f.number("own_levels", 0, 0, most);
    if (s.mode.memory == GN_PARTITIONED) s.own_levels = levels;
    f.end();
}

Tensor read_tensor(Fields f, size_t layers)
{
    Tensor tensor = {};
    tensor.values = f.number("values", 250000, 1, MOST_VALUES);
    tensor.compute_ns = f.number("compute_ns", 0, 0, HOUR_NS);
    tensor.layer = f.number("layer", layers ? 1 : 0, layers ? 1 : 0, layers);
    f.end();
    return tensor;
}

void read_network(Fields &f, JobSetup &job)
{
    if (json_t *forward = f.list("forward_ns", MOST_LAYERS))
        for (size_t i = 0; i < json_array_size(forward); i++)
            job.forward_ns.push_back(f.number_of(json_array_get(forward, i), "forward_ns", 0, HOUR_NS));
    json_t *tensors = f.list("tensors", MOST_TENSORS);
    if (tensors) {
        for (const char *name : {"values", "vectors", "compute_ns"})
            if (f.get(name)) f.wrong(name, "is for jobs without tensors");
        job.iterations = f.number("iterations", 1, 1, MOST_ITERATIONS);
        for (size_t i = 0; i < json_array_size(tensors); i++)
            job.tensors.push_back(
                read_tensor(Fields(json_array_get(tensors, i), f.where() + ".tensors[" + std::to_string(i) + "]"),
                            job.forward_ns.size()));
        return;
    }
    if (!job.forward_ns.empty()) f.wrong("forward_ns", "is for jobs with tensors");
    job.iterations = f.number("vectors", 1, 1, MOST_ITERATIONS);
    Tensor tensor = {};
    tensor.values = f.number("values", 250000, 1, MOST_VALUES);
    tensor.compute_ns = f.number("compute_ns", 0, 0, HOUR_NS);
    job.tensors.push_back(tensor);
}

// How the job's ranks exchange, and what only one of the ways has.
void read_exchange(Fields &f, JobSetup &job)
{
    const std::string name = f.text("exchange", exchanges[0].name);
    std::string names;
    bool found = false;
    for (const auto &known : exchanges) {
        if (name == known.name) job.exchange = known.exchange;
        found |= name == known.name;
        names += std::string(names.empty() ? "" : ", ") + known.name;
    }
    if (!found) f.wrong("exchange", "has to be one of " + names);
    const bool around_switch = job.exchange == Exchange::SWITCH;
    for (const char *field : {"slots", "first_window", "priority"})
        if (!around_switch && f.get(field)) f.wrong(field, "is for jobs with exchange switch");
    for (const char *field : {"payload_bytes", "window_bytes", "ratio", "ratio_back", "engine_bit_s", "gather_first"})
        if (around_switch && f.get(field)) f.wrong(field, "is for jobs with another exchange than switch");
    if (job.exchange != Exchange::GROUP_RING && f.get("group"))
        f.wrong("group", "is for jobs with exchange group-ring");
    PeerSetup &peer = job.peer;
    peer.group = f.number("group", 1, 1, MOST_WORKERS);
    if (job.workers % peer.group) f.wrong("group", "has to divide the number of workers");
    peer.payload_bytes = f.number("payload_bytes", SEGMENT, 4, 1u << 20) / 4 * 4;
    peer.window_bytes = f.number("window_bytes", 1u << 20, 4, 1u << 30);
    if (peer.window_bytes < peer.payload_bytes) f.wrong("window_bytes", "has to be payload_bytes or more");
    peer.ratio = f.real("ratio", 1, 1, 1000);
    peer.ratio_back = f.real("ratio_back", peer.ratio, 1, 1000);
    peer.engine_rate = f.number("engine_bit_s", 0, 0, 1000000000000u);
    const bool ring = job.exchange == Exchange::RING || job.exchange == Exchange::GROUP_RING;
    if (ring && f.get("gather_first")) f.wrong("gather_first", "is for jobs with owners of blocks, not rings");
    peer.gather_first = f.flag("gather_first");
}

JobSetup read_job(Fields f, size_t index)
{
    JobSetup job = {};
    job.name = f.text("name", "job" + std::to_string(index));
    job.workers = f.number("workers", 2, 1, MOST_WORKERS);
    read_exchange(f, job);
    job.slots = f.power_of_two("slots", 64, GN_AGG_SLOTS_MAX);
    job.first_window = f.number("first_window", 0, 0, GN_AGG_SLOTS_MAX);
    json_t *priority = f.get("priority");
    job.auto_priority = json_is_string(priority) && std::string(json_string_value(priority)) == "auto";
    job.priority = job.auto_priority ? 1 : f.number("priority", 256, 0, 65535);
    job.start_ns = f.number("start_ns", 0, 0, HOUR_NS);
    job.straggle_ns = f.number("straggle_ns", 0, 0, HOUR_NS);
    read_network(f, job);
    f.end();
    return job;
}

// Whether the jobs fit the switches. Without a tree there is one switch for all.
void check_tree(Scenario &s, const std::string &file)
{
    uint64_t most = 1, switched = 0, room = 1;
    for (const JobSetup &job : s.jobs) {
        most = std::max(most, job.workers);
        if (job.exchange == Exchange::SWITCH) switched = std::max(switched, job.workers);
    }
    const bool given = !s.tree.empty();
    if (!given) s.tree.push_back(most);
    for (const uint64_t children : s.tree) {
        room *= children;
        if (std::min(switched, children) > GN_AGG_WORKERS_MAX)
            throw std::runtime_error(file + ": a switch has at most " + std::to_string(GN_AGG_WORKERS_MAX) +
                                     " children of a job, and one is to have " +
                                     std::to_string(std::min(switched, children)) +
                                     (given ? ": see switch.tree" : "; give it a switch.tree"));
    }
    if (room < most)
        throw std::runtime_error(file + ": switch.tree has room for " + std::to_string(room) +
                                 " workers of a job, and one has " + std::to_string(most));
}

void check_links(const Scenario &s, const std::string &file)
{
    for (const JobSetup &job : s.jobs)
        if (s.loses() && job.peer.payload_bytes > SEGMENT)
            throw std::runtime_error(file + ": " + job.name + " has payload_bytes of a burst (" +
                                     std::to_string(job.peer.payload_bytes) +
                                     "), and links that lose packets; give it 1448, or links without loss");
    if (s.loses() && s.mode.results == GN_RESULTS_DIRECT)
        throw std::runtime_error(file + ": switch.mode is " + s.mode.name +
                                 ", where a result that is lost is gone; take preemptive, or links without loss and "
                                 "queue_bytes");
}

void check_mode(const Scenario &s, const std::string &file, uint64_t slots)
{
    if (s.own_levels && slots > s.switch_slots)
        throw std::runtime_error(file + ": switch.slots is " + std::to_string(s.switch_slots) + ", and the jobs need " +
                                 std::to_string(slots) + "; give it more, or them fewer");
}

}  // namespace

Scenario read_scenario(json_t *root, const std::string &file)
{
    if (!json_is_object(root)) throw std::runtime_error(file + ": it is not an object with link, switch and jobs");
    Fields f(root, file + ": scenario");
    Scenario s = {};
    s.link = read_link(Fields(f.get("link"), file + ": link"), usual);
    s.uplink = read_link(Fields(f.get("uplink"), file + ": uplink"), s.link);
    read_switch(Fields(f.get("switch"), file + ": switch"), s);
    s.packet_values = f.number("packet_values", 256, 1, GN_AGG_VALUES_MAX);
    const std::string format = f.text("format", "int32");
    s.format = format == "half" ? GN_AGG_HALF : GN_AGG_INT32;
    if (format != "half" && format != "int32") f.wrong("format", "has to be int32 or half");
    s.rto_min_ns = f.number("rto_min_ns", 0, 0, 1000000000);
    s.limit_s = f.real("limit_s", 100, 0, 3600);
    s.sample_ns = f.number("sample_ns", 0, 0, HOUR_NS);
    json_t *jobs = f.list("jobs", GN_SWITCH_JOBS_MAX);
    if (!jobs) f.wrong("jobs", "is missing: a list of jobs");
    uint64_t slots = 0;
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        s.jobs.push_back(read_job(Fields(json_array_get(jobs, i), file + ": jobs[" + std::to_string(i) + "]"), i));
        if (s.jobs.back().exchange == Exchange::SWITCH) slots += s.jobs.back().slots;
    }
    f.end();
    check_tree(s, file);
    check_links(s, file);
    check_mode(s, file, slots);
    return s;
}

}  // namespace sim_net
