// SPDX-License-Identifier: Apache-2.0
#include "results.h"

#include <stdlib.h>
#include <string.h>

#include "tools/files/values.h"
#include "tools/kit/cli.h"
#include "tools/kit/command.h"
#include "tools/kit/output.h"

/// The results with name, environment and files; NULL if memory is short.
static json_t *all_results(const gn_bench *b)
{
    json_t *files = json_array(), *results = b->results(b->context);
    for (size_t i = 0; i < b->file_count; i++) json_array_append_new(files, gn_json_name(b->files[i]));
    json_t *all =
        json_pack("{s:s, s:o, s:o}", "benchmark", b->name, "environment", gn_json_environment(), "files", files);
    if (json_object_update(all, results)) {
        json_decref(all);
        all = NULL;
    }
    json_decref(results);
    return all;
}

/// The results replace no file that is read later, FILE:NAME among them.
static gn_status spare_files(const gn_bench *b, gn_error *error)
{
    gn_status wrong = GN_OK;
    for (size_t i = 0; i < b->file_count && !wrong; i++) {
        char *path;
        const char *tensor;
        wrong = gn_values_split(b->files[i], &path, &tensor, error);
        if (!wrong && strcmp(path, "-") != 0) gn_output_spare_path(path);
        free(path);
    }
    return wrong;
}

int gn_bench_report(const gn_bench *b)
{
    gn_error error;
    gn_result_file file = {0};
    gn_status wrong = spare_files(b, &error);
    if (!wrong) wrong = gn_result_open(&file, b->options, NULL, (const char *const *)b->files, b->file_count, &error);
    if (!wrong) wrong = b->run(b->context, &error);
    if (!wrong) wrong = gn_result_write(&file, b->options, all_results(b), stdout, &error);
    gn_result_abort(&file);
    if (wrong) gn_cli_error(b->program, "%s", error.text);
    return wrong ? GN_EXIT_FAILED : GN_EXIT_OK;
}
