// SPDX-License-Identifier: Apache-2.0
#include "file_options.h"

#include <inttypes.h>
#include <stdlib.h>

#include "pipeline.h"
#include "tools/kit/cli.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/command.h"
#include "tools/kit/json.h"
#include "tools/kit/option_values.h"
#include "tools/kit/table.h"

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
        gn_option_check(state, key, gn_parse_format(arg, &options->choice.format, &error), &error);
        return true;
    case GN_OPTION_KERNEL:
        gn_option_check(state, key, gn_parse_kernel(arg, &options->kernel, &error), &error);
        return true;
    case GN_OPTION_TENSOR:
        if (options->choice.tensor) argp_error(state, "--tensor is given twice; take a glob, as 'layer1.*'");
        options->choice.tensor = arg;
        return true;
    case GN_OPTION_LIST:
        options->list = true;
        return true;
    case GN_OPTION_CAST:
        options->choice.cast = true;
        return true;
    default:
        return gn_result_option_parse(key, arg, &options->result);
    }
}

/// Splits every argument into a path and a tensor's name.
static gn_status split_arguments(gn_file_options *options, gn_error *error)
{
    options->paths = calloc(options->count, sizeof *options->paths);
    options->tensors = calloc(options->count, sizeof *options->tensors);
    if (!options->paths || !options->tensors) return gn_fail_memory(error);
    gn_status wrong = GN_OK;
    for (size_t i = 0; i < options->count && !wrong; i++) {
        char *path = NULL;
        wrong = gn_values_split(options->arguments[i], &path, &options->tensors[i], error);
        options->paths[i] = path;
    }
    return wrong;
}

bool gn_file_arguments_parse(int key, char *arg, struct argp_state *state, gn_file_options *options)
{
    gn_error error;
    switch (key) {
    case ARGP_KEY_ARGS:
        options->arguments = state->argv + state->next;
        options->count = (size_t)(state->argc - state->next);
        gn_option_check(state, key, gn_input_check_list(options->arguments, options->count, &error), &error);
        gn_option_check(state, key, split_arguments(options, &error), &error);
        return true;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no FILE; '-' is standard input");
        return true;
    default:
        return gn_file_option_parse(key, arg, state, options);
    }
}

void gn_file_arguments_free(gn_file_options *options)
{
    for (size_t i = 0; i < options->count; i++) free((char *)(uintptr_t)options->paths[i]);
    free(options->paths);
    free(options->tensors);
}

gn_values_choice gn_file_choice(const gn_file_options *options, size_t index)
{
    gn_values_choice choice = options->choice;
    if (options->tensors[index]) choice.tensor = options->tensors[index];
    return choice;
}

static json_t *tensor_json(const gn_tensor *tensor)
{
    json_t *shape = tensor->shaped ? json_array() : json_null();
    for (unsigned i = 0; tensor->shaped && i < tensor->dimensions; i++)
        json_array_append_new(shape, gn_json_count(tensor->shape[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:b}", "name", tensor->name ? gn_json_name(tensor->name) : json_null(),
                     "type", gn_json_name(tensor->type), "shape", shape, "values",
                     tensor->count == UINT64_MAX ? json_null() : gn_json_count(tensor->count), "fortran_order",
                     tensor->fortran_order);
}

static void list_tensor(gn_table *table, const gn_tensor *tensor)
{
    char shape[256], count[32] = "?";
    gn_tensor_shape_text(tensor, shape, sizeof shape);
    if (tensor->count != UINT64_MAX) snprintf(count, sizeof count, "%" PRIu64, tensor->count);
    gn_table_row(table, "%s|%s|%s|%s", gn_cell(tensor->name).s, gn_cell(tensor->type).s, shape, count);
}

/// Lists one file. The first table has no empty line before it.
static gn_status list_file(const gn_file_options *options, size_t index, bool first, json_t *files, gn_error *error)
{
    gn_values *values;
    gn_values_choice choice = gn_file_choice(options, index);
    choice.any = true;
    gn_status wrong = gn_values_open_choice(&values, options->paths[index], &choice, error);
    if (wrong) return wrong;
    const gn_tensor_list *list = gn_values_tensors(values);
    const char *name = gn_input_name(gn_values_input(values));
    gn_table *table = options->result.json ? NULL : gn_table_new("<tensor|<type|<shape|values");
    json_t *tensors = json_array();
    for (size_t i = 0; i < list->count; i++) {
        json_array_append_new(tensors, tensor_json(&list->tensors[i]));
        list_tensor(table, &list->tensors[i]);
    }
    json_array_append_new(files, json_pack("{s:o, s:o}", "name", gn_json_name(name), "tensors", tensors));
    if (table && options->count > 1) printf("%s%s:\n", first ? "" : "\n", gn_label(name).s);
    if (table && gn_table_print(table, stdout)) wrong = gn_fail(error, GN_IO, "standard output: write error");
    gn_values_close(values);
    return wrong;
}

int gn_file_list(const gn_file_options *options, const char *program)
{
    gn_error error;
    gn_result_file file;
    bool good = true, first = true;
    if (gn_result_open(&file, &options->result, NULL, options->paths, options->count, &error)) {
        gn_cli_error(program, "%s", error.text);
        return GN_EXIT_FAILED;
    }
    json_t *files = json_array();
    for (size_t i = 0; i < options->count; i++) {
        if (list_file(options, i, first, files, &error)) {
            gn_cli_error(program, "%s", error.text);
            good = false;
            continue;
        }
        first = false;
    }
    if (gn_result_write(&file, &options->result, json_pack("{s:o}", "files", files), stdout, &error)) {
        gn_cli_error(program, "%s", error.text);
        good = false;
    }
    return good ? GN_EXIT_OK : GN_EXIT_FAILED;
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
