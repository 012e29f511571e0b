// SPDX-License-Identifier: Apache-2.0
// gradnic-sim-net: `gradnic sim net` becomes this program, with the same arguments.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "files.h"
#include "picture.h"
#include "report.h"
#include "runs.h"
#include "timeline.h"

namespace
{

using namespace sim_net;

gn_sim_net_options options;

// Of all runs, in values that have their sum at their worker.
class Progress
{
  public:
    explicit Progress(uint64_t total) : total_(total)
    {
        gn_progress_start_units(&progress_, options.scenario, "sums", total, options.result.quiet);
    }
    ~Progress() { gn_progress_end(&progress_); }
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;
    void update(uint64_t values) { gn_progress_update(&progress_, std::min(before_ + values, total_)); }
    void begin_next(uint64_t values_of_last) { before_ += values_of_last; }

  private:
    const uint64_t total_;
    uint64_t before_ = 0;
    gn_progress progress_ = {};
};

Json read_file()
{
    json_error_t fault;
    const bool standard = !std::strcmp(options.scenario, "-");
    const std::string name = standard ? "standard input" : options.scenario;
    const std::unique_ptr<FILE, int (*)(FILE *)> file(standard ? stdin : fopen(options.scenario, "re"), fclose);
    if (!file) throw std::runtime_error(name + ": " + std::strerror(errno));
    gn_output_spare(fileno(file.get()));
    json_t *root = json_loadf(file.get(), JSON_REJECT_DUPLICATES, &fault);
    const int reason = errno;
    if (root) return Json(root);
    if (ferror(file.get())) throw std::runtime_error(name + ": " + std::strerror(reason));
    throw std::runtime_error(name + ": line " + std::to_string(fault.line) + ": " + fault.text);
}

// The runs, one after the other. The time line and the table of jobs are for a single one.
class Runs
{
  public:
    Runs()
        : root_(read_file()), files_(options), keys_(read_sweeps(options)),
          setups_(setups_of(root_.get(), keys_, options))
    {
        for (const Setup &setup : setups_) scenarios_.push_back(read_scenario(setup.scenario.get(), setup.name));
        if (has_timeline()) timeline_ = std::make_unique<Timeline>(scenarios_[0], options);
        if (options.svg_file || options.timeline[GN_SIM_NET_SVG]) check_pictures();
    }

    void simulate()
    {
        uint64_t total = 0;
        for (const Scenario &scenario : scenarios_) total += scenario.total_values();
        Progress progress(total);
        for (size_t i = 0; i < setups_.size(); i++) {
            network_ = std::make_unique<Network>(scenarios_[i], setups_[i].seed);
            if (timeline_) network_->watch(*timeline_);
            if (!network_->run([&](uint64_t values) { progress.update(values); }))
                throw std::runtime_error(setups_[i].name +
                                         ": the jobs were not done when limit_s was over; give them longer");
            outcomes_.push_back(outcome_of(*network_, setups_[i]));
            progress.begin_next(scenarios_[i].total_values());
        }
    }

    void report()
    {
        const bool single = keys_.empty();
        if (!options.result.json && !options.csv && single) print_jobs(*network_);
        if (!options.result.json && !options.csv && !single) print_runs(keys_, setups_, outcomes_);
        write_csv();
        write_timeline();
        files_.json.write(single ? std::move(outcomes_[0].report)
                                 : sweep_report(root_.get(), keys_, setups_, outcomes_));
    }

  private:
    static bool has_timeline() { return options.timeline[GN_SIM_NET_SVG] || options.timeline[GN_SIM_NET_CSV]; }

    void write_csv()
    {
        const std::string csv = csv_of(keys_, setups_, outcomes_);
        if (options.csv && (fputs(csv.c_str(), stdout) == EOF || fflush(stdout)))
            throw std::runtime_error("the report cannot be written");
        files_.csv.write(csv);
        if (!options.svg_file) return;
        std::vector<std::string> words = {"sweep", options.plotted ? options.plotted : "seconds"};
        for (const SweepKey &key : keys_) words.push_back(key.name);
        draw(words, csv, files_.svg.stream());
        files_.svg.commit();
    }

    void write_timeline()
    {
        if (!timeline_) return;
        files_.timeline_csv.write(timeline_->csv());
        if (!options.timeline[GN_SIM_NET_SVG]) return;
        draw({options.slot < 0 ? "job" : "slot"}, timeline_->csv(), files_.timeline_svg.stream());
        files_.timeline_svg.commit();
    }

    const Json root_;
    Files files_;
    const std::vector<SweepKey> keys_;
    const std::vector<Setup> setups_;
    std::vector<Scenario> scenarios_;
    std::vector<Outcome> outcomes_;
    std::unique_ptr<Timeline> timeline_;
    std::unique_ptr<Network> network_;  // the last
};

}  // namespace

int main(int argc, char **argv)
{
    static char name[] = "gradnic sim net";
    if (argc) argv[0] = name;
    gn_sim_net_parse(&options, argc, argv);
    try {
        Runs runs;
        runs.simulate();
        runs.report();
    } catch (const std::exception &e) {
        gn_cli_error(name, "%s", e.what());
        return GN_EXIT_FAILED;
    }
    return GN_EXIT_OK;
}
