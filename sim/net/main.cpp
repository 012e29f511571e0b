// SPDX-License-Identifier: Apache-2.0
// gradnic-sim-net: `gradnic sim net` becomes this program, with the same arguments.
#include <cstdio>
#include <cstdlib>
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
    sim_net::Star star(sim_net::read_scenario(files.root, options.scenario), options.seed);
    sc_core::sc_start(sc_core::sc_time(star.scenario().limit_s, sc_core::SC_SEC));
    if (!star.finished())
        throw std::runtime_error(std::string(options.scenario) +
                                 ": the jobs were not done when limit_s was over; give them longer");
    sim_net::print_report(star, files.root, options, files.result);
}

}  // namespace

int sc_main(int, char **argv)
{
    // The library reports that the simulation was stopped. That is not news.
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    try {
        simulate();
    } catch (const sc_core::sc_report &e) {  // an exception of a process, which SystemC has wrapped
        gn_cli_error(argv[0], "%s", e.get_msg());
        return GN_EXIT_FAILED;
    } catch (const std::exception &e) {
        gn_cli_error(argv[0], "%s", e.what());
        return GN_EXIT_FAILED;
    }
    return GN_EXIT_OK;
}

int main(int argc, char **argv)
{
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    static char name[] = "gradnic sim net";
    if (argc) argv[0] = name;
    gn_sim_net_parse(&options, argc, argv);
    return sc_core::sc_elab_and_sim(argc, argv);
}
