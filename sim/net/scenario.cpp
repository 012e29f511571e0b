// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include "fields.h"

namespace sim_net
{

uint64_t JobSetup::values() const
{
    uint64_t sum = 0;
    for (const Tensor &tensor : tensors) sum += tensor.values;
    return sum;
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

constexpr uint64_t HOUR_NS = 3600000000000u;
constexpr uint64_t MOST_VALUES = 1u << 28;
constexpr uint64_t MOST_ITERATIONS = 1000000;
constexpr size_t MOST_TENSORS = 1000;
constexpr size_t MOST_LAYERS = 1000;

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

JobSetup read_job(Fields f, size_t index)
{
    JobSetup job = {};
    job.name = f.text("name", "job" + std::to_string(index));
    job.workers = f.number("workers", 2, 1, GN_AGG_WORKERS_MAX);
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

void check_mode(const Scenario &s, const std::string &file, uint64_t slots)
{
    if (s.mode.memory == GN_PARTITIONED && slots > s.switch_slots)
        throw std::runtime_error(file + ": switch.slots is " + std::to_string(s.switch_slots) + ", and the jobs need " +
                                 std::to_string(slots) + "; give it more, or them fewer");
    if (s.mode.results == GN_RESULTS_DIRECT && (s.link.loss > 0 || s.link.queue_bytes))
        throw std::runtime_error(file + ": switch.mode is " + s.mode.name +
                                 ", where a result that is lost is gone; take preemptive, or links without loss and "
                                 "queue_bytes");
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
    const std::string format = f.text("format", "int32");
    s.format = format == "half" ? GN_AGG_HALF : GN_AGG_INT32;
    if (format != "half" && format != "int32") f.wrong("format", "has to be int32 or half");
    s.rto_min_ns = f.number("rto_min_ns", 0, 0, 1000000000);
    s.limit_s = f.real("limit_s", 100, 3600);
    s.sample_ns = f.number("sample_ns", 0, 0, HOUR_NS);
    json_t *jobs = f.list("jobs", GN_SWITCH_JOBS_MAX);
    if (!jobs) f.wrong("jobs", "is missing: a list of jobs");
    uint64_t slots = 0;
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        s.jobs.push_back(read_job(Fields(json_array_get(jobs, i), file + ": jobs[" + std::to_string(i) + "]"), i));
        slots += s.jobs.back().slots;
    }
    f.end();
    check_mode(s, file, slots);
    return s;
}

}  // namespace sim_net
