// SPDX-License-Identifier: Apache-2.0
// gradnic-sim-net: `gradnic sim net` becomes this program, with the same arguments.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "report.h"

namespace
{

gn_sim_net_options options;

// The scenario's JSON, and the file of --json=FILE.
struct Files {
    Files()
    {
        json_error_t fault;
        root = json_load_file(options.scenario, JSON_REJECT_DUPLICATES, &fault);
        if (!root && fault.line < 0)  // it was not opened
            throw std::runtime_error(std::string(options.scenario) + ": " + std::strerror(errno));
        if (!root)
            throw std::runtime_error(std::string(options.scenario) + ": line " + std::to_string(fault.line) + ": " +
                                     fault.text);
        gn_error error;
        if (gn_result_open(&result, &options.result, nullptr, &options.scenario, 1, &error))
            throw std::runtime_error(error.text);
    }
    ~Files()
    {
        json_decref(root);
        gn_result_abort(&result);
    }
    Files(const Files &) = delete;
    Files &operator=(const Files &) = delete;

    json_t *root;
    gn_result_file result = {};
};

void simulate()
{
    Files files;
    sim_net::Network network(sim_net::read_scenario(files.root, options.scenario), options.seed);
    const uint64_t total = network.total_values();
    gn_progress progress;
    gn_progress_start_units(&progress, options.scenario, "sums", total, options.result.quiet);
    const bool done =
        network.run([&](uint64_t values) { gn_progress_update(&progress, values < total ? values : total); });
    gn_progress_end(&progress);
    if (!done)
        throw std::runtime_error(std::string(options.scenario) +
                                 ": the jobs were not done when limit_s was over; give them longer");
    sim_net::print_report(network, files.root, options, files.result);
}

}  // namespace

int main(int argc, char **argv)
{
    static char name[] = "gradnic sim net";
    if (argc) argv[0] = name;
    gn_sim_net_parse(&options, argc, argv);
    try {
        simulate();
    } catch (const std::exception &e) {
        gn_cli_error(name, "%s", e.what());
        return GN_EXIT_FAILED;
    }
    return GN_EXIT_OK;
}
