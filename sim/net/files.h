// SPDX-License-Identifier: Apache-2.0
// Files that the options name. They are opened before anything is simulated, and have their names
// when they are complete.
#pragma once

#include <stdexcept>
#include <string>

#include "json.h"
#include "tools.h"

namespace sim_net
{

class OutputFile
{
  public:
    // `path` NULL: there is none, and what is written goes nowhere.
    OutputFile(const char *path, const gn_sim_net_options &options)
    {
        if (path) check(gn_output_check_inputs(path, &options.scenario, 1, &error_));
        if (path) check(gn_output_open(&output_, path, options.result.force, &error_));
    }
    ~OutputFile() { gn_output_abort(output_); }
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;

    FILE *stream() { return gn_output_stream(output_); }
    void commit()
    {
        gn_output *output = output_;
        output_ = nullptr;
        if (output) check(gn_output_commit(output, &error_));
    }
    void write(const std::string &text)
    {
        if (output_) fwrite(text.data(), 1, text.size(), stream());  // commit() tells of errors
        commit();
    }

  private:
    void check(gn_status status)
    {
        if (status) throw std::runtime_error(error_.text);
    }
    gn_error error_ = {};
    gn_output *output_ = nullptr;
};

// The file of --json=FILE.
class JsonFile
{
  public:
    explicit JsonFile(const gn_sim_net_options &options) : options_(options.result)
    {
        gn_error error;
        if (gn_result_open(&file_, &options_, nullptr, &options.scenario, 1, &error))
            throw std::runtime_error(error.text);
    }
    ~JsonFile() { gn_result_abort(&file_); }
    JsonFile(const JsonFile &) = delete;
    JsonFile &operator=(const JsonFile &) = delete;

    // There, and on standard output, as the options say.
    void write(Json json)
    {
        gn_error error;
        if (gn_result_write(&file_, &options_, json.release(), stdout, &error)) throw std::runtime_error(error.text);
    }

  private:
    const gn_result_options options_;
    gn_result_file file_ = {};
};

struct Files {
    explicit Files(const gn_sim_net_options &options)
        : json(options), csv(options.csv_file, options), svg(options.svg_file, options),
          timeline_svg(options.timeline[GN_SIM_NET_SVG], options),
          timeline_csv(options.timeline[GN_SIM_NET_CSV], options)
    {
    }
    JsonFile json;
    OutputFile csv, svg, timeline_svg, timeline_csv;
};

}  // namespace sim_net
