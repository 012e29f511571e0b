// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "report.h"

namespace sim_net
{

Outcome outcome_of(Network &network, const Setup &setup)
{
    Json report = report_of(network, setup);
    const json_t *jobs = json_object_get(report.get(), "jobs"), *links = json_object_get(report.get(), "links");
    const double count = static_cast<double>(json_array_size(jobs));
    Json row = own(json_object());
    for (const char *name : {GN_SIM_NET_FIELDS}) {
        const std::string field = name == std::string("slowest_seconds") ? "seconds" : name;
        if (json_t *of_links = json_object_get(links, name)) {
            json_object_set(row.get(), name, of_links);
            continue;
        }
        double sum = 0, most = 0;
        uint64_t counts = 0;
        bool real = false;
        size_t i;
        json_t *job;
        json_array_foreach(jobs, i, job)
        {
            const json_t *value = json_object_get(job, field.c_str());
            real |= json_is_real(value);
            sum += json_number_value(value);
            most = std::max(most, json_number_value(value));
            counts += static_cast<uint64_t>(json_integer_value(value));
        }
        json_t *value = !real ? gn_json_count(counts) : gn_json_real(field == name ? sum / count : most);
        json_object_set_new(row.get(), name, value);
    }
    return {std::move(report), std::move(row)};
}

static double number_of(const Outcome &outcome, const char *field)
{
    return json_number_value(json_object_get(outcome.row.get(), field));
}

void print_runs(const std::vector<SweepKey> &keys, const std::vector<Setup> &setups,
                const std::vector<Outcome> &outcomes)
{
    std::string titles;
    for (const SweepKey &key : keys) titles += std::string("<") + gn_cell(key.name.c_str()).s + "|";
    gn_table *table =
        gn_table_new((titles + "time|slowest job|goodput|sent again|collisions|evicted|to the server|lost").c_str());
    for (size_t i = 0; i < setups.size(); i++) {
        std::string cells;
        for (const SweepValue *value : setups[i].values) cells += std::string(gn_cell(value->text.c_str()).s) + "|";
        const auto count = [&](const char *field) {
            return std::to_string(std::lround(number_of(outcomes[i], field)));
        };
        cells += std::string(gn_human_duration(number_of(outcomes[i], "seconds") * 1e9).s) + "|";
        cells += std::string(gn_human_duration(number_of(outcomes[i], "slowest_seconds") * 1e9).s) + "|";
        cells += std::string(gn_human_bits(number_of(outcomes[i], "goodput_bit_s")).s);
        for (const char *field : {"resent", "collisions", "evictions", "to_ps"}) cells += "|" + count(field);
        cells += "|" + std::to_string(std::lround(number_of(outcomes[i], "lost") + number_of(outcomes[i], "dropped")));
        gn_table_row(table, "%s", cells.c_str());
    }
    if (gn_table_print(table, stdout) || fflush(stdout)) throw std::runtime_error("the report cannot be written");
}

Json sweep_report(const json_t *scenario, const std::vector<SweepKey> &keys, const std::vector<Setup> &setups,
                  std::vector<Outcome> &outcomes)
{
    Json sweep = own(json_object()), runs = own(json_array());
    for (const SweepKey &key : keys) {
        Json values = own(json_array());
        for (const SweepValue &value : key.values) json_array_append(values.get(), value.value.get());
        json_object_set_new(sweep.get(), key.name.c_str(), values.release());
    }
    for (size_t i = 0; i < setups.size(); i++) {
        Json run = own(json_object()), values = own(json_object());
        for (size_t k = 0; k < keys.size(); k++)
            json_object_set_new(values.get(), keys[k].name.c_str(), json_deep_copy(setups[i].values[k]->value.get()));
        json_object_set_new(run.get(), "values", values.release());
        json_object_set(run.get(), "row", outcomes[i].row.get());
        json_object_del(outcomes[i].report.get(), "scenario");  // the sweep's, with these values
        json_object_update(run.get(), outcomes[i].report.get());
        json_array_append_new(runs.get(), run.release());
    }
    return own(json_pack("{s:o, s:o, s:o}", "scenario", json_deep_copy(scenario), "sweep", sweep.release(), "runs",
                         runs.release()));
}

static std::string csv_cell(const std::string &text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

// As JSON has it.
static std::string number_text(const json_t *number)
{
    const std::unique_ptr<char, decltype(&free)> text(json_dumps(number, JSON_ENCODE_ANY), &free);
    if (!text) throw std::bad_alloc();
    return text.get();
}

std::string csv_of(const std::vector<SweepKey> &keys, const std::vector<Setup> &setups,
                   const std::vector<Outcome> &outcomes)
{
    std::string csv;
    for (const SweepKey &key : keys)
        if (key.name != "seed") csv += csv_cell(key.name) + ",";
    csv += "seed";
    for (const char *name : {GN_SIM_NET_FIELDS}) csv += std::string(",") + name;
    csv += "\n";
    for (size_t i = 0; i < setups.size(); i++) {
        for (size_t k = 0; k < keys.size(); k++)
            if (keys[k].name != "seed") csv += csv_cell(setups[i].values[k]->text) + ",";
        csv += std::to_string(setups[i].seed);
        for (const char *name : {GN_SIM_NET_FIELDS})
            csv += "," + number_text(json_object_get(outcomes[i].row.get(), name));
        csv += "\n";
    }
    return csv;
}

}  // namespace sim_net
