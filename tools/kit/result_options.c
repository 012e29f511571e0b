// SPDX-License-Identifier: Apache-2.0
#include "result_options.h"

#include <string.h>

#include "json.h"

bool gn_result_option_parse(int key, const char *arg, gn_result_options *options)
{
    switch (key) {
    case 'q':
        options->quiet = true;
        return true;
    case 'f':
    case GN_OPTION_FORCE:
        options->force = true;
        return true;
    case GN_OPTION_JSON:
        if (arg && strcmp(arg, "-") != 0)
            options->json_file = arg;
        else
            options->json = true;
        return true;
    default:
        return false;
    }
}

gn_status gn_result_open(gn_result_file *file, const gn_result_options *options, const char *other,
                         const char *const *inputs, size_t count, gn_error *error)
{
    const char *path = options->json_file;
    file->output = NULL;
    if (!path) return GN_OK;
    if (other && !strcmp(path, other))
        return gn_fail(error, GN_INVALID, "%s: another option writes this file, too", path);
    const gn_status wrong = gn_output_check_inputs(path, inputs, count, error);
    return wrong ? wrong : gn_output_open(&file->output, path, options->force, error);
}

gn_status gn_result_write(gn_result_file *file, const gn_result_options *options, json_t *json, FILE *stream,
                          gn_error *error)
{
    gn_status wrong = json ? GN_OK : gn_fail_memory(error);
    if (!wrong && options->json) wrong = gn_json_print(json_incref(json), stream, error);
    if (!wrong && file->output && gn_json_print(json_incref(json), gn_output_stream(file->output), error)) {
        const gn_error why = *error;
        wrong = gn_fail(error, why.status, "%.300s: %.300s", gn_output_name(file->output), why.text);
    }
    json_decref(json);
    if (wrong) gn_result_abort(file);
    if (wrong || !file->output) return wrong;
    gn_output *output = file->output;
    file->output = NULL;
    return gn_output_commit(output, error);
}

void gn_result_abort(gn_result_file *file)
{
    gn_output_abort(file->output);
    file->output = NULL;
}
