// SPDX-License-Identifier: Apache-2.0
#include "results.h"

#include "tools/kit/command.h"
#include "tools/kit/output.h"

static gn_message write_results(const gn_bench *b, gn_output *out)
{
    json_t *files = json_array(), *results = b->results(b->context);
    for (size_t i = 0; i < b->file_count; i++) json_array_append_new(files, json_string(b->files[i]));
    json_t *all =
        json_pack("{s:s, s:o, s:o}", "benchmark", b->name, "environment", gn_json_environment(), "files", files);
    gn_message wrong = json_object_update(all, results) ? "out of memory" : NULL;
    if (b->file->json && !wrong) wrong = gn_json_print(json_incref(all), stdout);
    if (out && !wrong) wrong = gn_json_print(json_incref(all), gn_output_stream(out));
    json_decref(results);
    json_decref(all);
    return wrong;
}

int gn_bench_report(const gn_bench *b)
{
    gn_output *out = NULL;
    gn_message wrong = NULL;
    if (b->file->output) {
        wrong = gn_output_check_inputs(b->file->output, (const char *const *)b->files, b->file_count);
        if (!wrong) wrong = gn_output_open(&out, b->file->output, b->file->force);
    }
    if (!wrong) wrong = b->run(b->context);
    if (!wrong) wrong = write_results(b, out);
    if (wrong)
        gn_output_abort(out);
    else if (out)
        wrong = gn_output_commit(out);
    if (wrong) gn_cli_error(b->program, "%s", wrong);
    return wrong ? GN_EXIT_FAILED : GN_EXIT_OK;
}
