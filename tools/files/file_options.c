// SPDX-License-Identifier: Apache-2.0
#include "file_options.h"

#include "pipeline.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/option_values.h"

bool gn_file_option_parse(int key, char *arg, struct argp_state *state, gn_file_options *options)
{
    gn_error error;
    switch (key) {
    case 'o':
        options->output = arg;
        return true;
    case 'j':
        gn_option_check(state, key, gn_parse_threads(arg, &options->threads, &error), &error);
        return true;
    case GN_OPTION_FORMAT:
        gn_option_check(state, key, gn_parse_format(arg, &options->format, &error), &error);
        return true;
    case GN_OPTION_KERNEL:
        gn_option_check(state, key, gn_parse_kernel(arg, &options->kernel, &error), &error);
        return true;
    default:
        return gn_result_option_parse(key, arg, &options->result);
    }
}

bool gn_file_argument_parse(int key, char *arg, struct argp_state *state, gn_file_options *options)
{
    if (key == ARGP_KEY_ARG) {
        if (options->input) argp_error(state, "one FILE at a time");
        options->input = arg;
        return true;
    }
    if (key == ARGP_KEY_NO_ARGS) {
        argp_error(state, "no FILE; '-' is standard input");
        return true;
    }
    return gn_file_option_parse(key, arg, state, options);
}
