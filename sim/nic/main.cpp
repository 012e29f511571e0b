// SPDX-License-Identifier: Apache-2.0
// gradnic-sim-nic: `gradnic sim nic` becomes this program, with the same arguments.
#include <cstdio>
#include <cstdlib>

#include <pcap/pcap.h>

#include "report.h"
#include "tools/kit/cli.h"

namespace
{

// The capture of --pcap-wire.
class Capture
{
  public:
    Capture(const gn_sim_nic_options &o)
    {
        if (!o.pcap_wire) return;
        gn_error error;
        check(gn_output_check_inputs(o.pcap_wire, &o.input, 1, &error), error);
        check(gn_output_open(&output_, o.pcap_wire, o.result.force, &error), error);
        pcap_ = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, 262144, PCAP_TSTAMP_PRECISION_NANO);
        dumper_ = pcap_ ? pcap_dump_fopen(pcap_, gn_output_stream(output_)) : nullptr;
        if (!dumper_) throw std::runtime_error(std::string(o.pcap_wire) + ": the capture cannot be started");
    }
    ~Capture()
    {
        if (pcap_) pcap_close(pcap_);
        gn_output_abort(output_);
    }
    Capture(const Capture &) = delete;
    Capture &operator=(const Capture &) = delete;

    void add(const sim::LinkFrame &frame)
    {
        if (!dumper_) return;
        pcap_pkthdr header = {};
        header.ts.tv_sec = static_cast<time_t>(frame.start / 1000000000000u);
        header.ts.tv_usec = static_cast<suseconds_t>(frame.start % 1000000000000u / 1000);  // in ns
        header.len = header.caplen = static_cast<bpf_u_int32>(frame.bytes.size() - sim::FCS_BYTES);
        pcap_dump(reinterpret_cast<u_char *>(dumper_), &header, frame.bytes.data());
    }
    void commit()
    {
        if (!output_) return;
        gn_error error;
        gn_output *output = output_;
        output_ = nullptr;
        pcap_dump_flush(dumper_);  // errors stay with the stream
        check(gn_output_commit(output, &error), error);
    }

  private:
    static void check(gn_status status, const gn_error &error)
    {
        if (status) throw std::runtime_error(error.text);
    }
    gn_output *output_ = nullptr;
    pcap_t *pcap_ = nullptr;
    pcap_dumper_t *dumper_ = nullptr;
};

// The file of --json=FILE.
struct Results {
    explicit Results(const gn_sim_nic_options &o)
    {
        gn_error error;
        if (gn_result_open(&file, &o.result, o.pcap_wire, &o.input, 1, &error)) throw std::runtime_error(error.text);
    }
    ~Results() { gn_result_abort(&file); }
    Results(const Results &) = delete;
    Results &operator=(const Results &) = delete;

    gn_result_file file = {};
};

gn_sim_nic_options options;

void simulate()
{
    const sim::Traffic traffic = sim::load_traffic(options);
    sim::Traffic back;
    if (options.duplex) back = sim::turned(traffic);
    Capture capture(options);
    Results results(options);
    gn_progress progress;
    sim::System system(
        "system", options, traffic, back, [&capture](const sim::LinkFrame &frame) { capture.add(frame); },
        [&progress](uint64_t frames) { gn_progress_update(&progress, frames); });
    gn_progress_start_units(&progress, options.input, "frames", traffic.frames.size() + back.frames.size(),
                            options.result.quiet);
    sc_core::sc_start();
    gn_progress_end(&progress);
    if (!system.outcome.wrong.empty()) throw std::runtime_error(system.outcome.wrong);
    if (!system.finished()) throw std::runtime_error("the simulation ran out of events");
    capture.commit();
    sim::print_report(system.outcome, options, options.duplex ? 2 : 1, results.file);
}

}  // namespace

int sc_main(int, char **argv)
{
    // The library reports that the simulation was stopped. That is not news.
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    try {
        simulate();
    } catch (const std::exception &e) {
        gn_cli_error(argv[0], "%s", e.what());
        return GN_EXIT_FAILED;
    }
    return GN_EXIT_OK;
}

int main(int argc, char **argv)
{
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    static char name[] = "gradnic sim nic";
    if (argc) argv[0] = name;
    gn_sim_nic_parse(&options, argc, argv);
    return sc_core::sc_elab_and_sim(argc, argv);
}
