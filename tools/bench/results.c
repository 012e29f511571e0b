// SPDX-License-Identifier: Apache-2.0
#include "results.h"

#include "tools/kit/cli.h"
#include "tools/kit/command.h"
#include "tools/kit/output.h"

static gn_status write_results(const gn_bench *b, gn_output *out, gn_error *error)
{
    json_t *files = json_array(), *results = b->results(b->context);
    for (size_t i = 0; i < b->file_count; i++) json_array_append_new(files, json_string(b->files[i]));
    json_t *all =
        json_pack("{s:s, s:o, s:o}", "benchmark", b->name, "environment", gn_json_environment(), "files", files);
    gn_status wrong = json_object_update(all, results) ? gn_fail_memory(error) : GN_OK;
    if (b->file->json && !wrong) wrong = gn_json_print(json_incref(all), stdout, error);
    if (out && !wrong) wrong = gn_json_print(json_incref(all), gn_output_stream(out), error);
    json_decref(results);
    json_decref(all);
    return wrong;
}

int gn_bench_report(const gn_bench *b)
{
    gn_error error;
    gn_output *out = NULL;
    gn_status wrong = GN_OK;
    if (b->file->output) {
        wrong = gn_output_check_inputs(b->file->output, (const char *const *)b->files, b->file_count, &error);
        if (!wrong) wrong = gn_output_open(&out, b->file->output, b->file->force, &error);
    }
    if (!wrong) wrong = b->run(b->context, &error);
    if (!wrong) wrong = write_results(b, out, &error);
    if (wrong)
        gn_output_abort(out);
    else if (out)
        wrong = gn_output_commit(out, &error);
    if (wrong) gn_cli_error(b->program, "%s", error.text);
    return wrong ? GN_EXIT_FAILED : GN_EXIT_OK;
}
