// SPDX-License-Identifier: Apache-2.0
#include "each_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/kit/cli.h"
#include "tools/kit/command.h"
#include "tools/kit/json.h"

struct gn_each_file {
    const gn_file_options *options;
    bool folder;     // -o names one
    char **outputs;  // of this run
    size_t count;
};

bool gn_each_file_is_folder(const char *path)
{
    struct stat st;
    const size_t length = strlen(path);
    return (length && path[length - 1] == '/') || (!stat(path, &st) && S_ISDIR(st.st_mode));
}

char *gn_each_file_name(const char *path, size_t length, const char *tensor, const char *suffix)
{
    char *name;
    if (asprintf(&name, "%.*s%s%s%s", (int)length, path, tensor ? "." : "", tensor ? tensor : "", suffix) < 0)
        return NULL;
    for (char *at = name + length; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("._-", *at)) *at = '_';
    return name;
}

/// -o FOLDER: the file's own name in it. The caller frees it.
static char *within(const char *folder, const char *path)
{
    char *result;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const bool ends = folder[strlen(folder) - 1] == '/';
    return asprintf(&result, "%s%s%s", folder, ends ? "" : "/", name) < 0 ? NULL : result;
}

static bool is_same(const char *a, const char *b)
{
    struct stat x, y;
    return !strcmp(a, b) || (!stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

static gn_status check_output(const gn_each_file *each, const char *path, gn_error *error)
{
    const gn_result_options *result = &each->options->result;
    if (!strcmp(path, "-")) {
        if (result->json)
            return gn_fail(error, GN_INVALID, "--json and the output would both go to standard output; give -o OUT");
        return GN_OK;
    }
    if (result->json_file && !strcmp(result->json_file, path))
        return gn_fail(error, GN_INVALID, "%s: another option writes this file, too", path);
    for (size_t i = 0; i < each->count; i++)
        if (is_same(each->outputs[i], path))
            return gn_fail(error, GN_INVALID, "%s: an earlier file of this run was written there", path);
    return gn_output_check_inputs(path, each->options->paths, each->options->count, error);
}

gn_status gn_each_file_output(gn_each_file *each, const char *path, const char **output, gn_error *error)
{
    const char *given = each->options->output;
    if (each->folder && !strcmp(path, "-"))
        return gn_fail(error, GN_INVALID, "%s: is a folder; standard input needs a file as OUT", given);
    char *own = each->folder ? within(given, path) : strdup(given ? given : path);
    if (!own) return gn_fail_memory(error);
    const gn_status wrong = check_output(each, own, error);
    if (wrong) {
        free(own);
        return wrong;
    }
    each->outputs[each->count++] = own;
    *output = own;
    return GN_OK;
}

/// What the work asked for last was not written: a later file may be.
static void take_back(gn_each_file *each, size_t count)
{
    while (each->count > count) free(each->outputs[--each->count]);
}

/// Works on all files. @return how many failed
static size_t work_on_all(gn_each_file *each, const char *program, gn_each_file_work work, void *context,
                          json_t *summaries)
{
    size_t failed = 0;
    for (size_t i = 0; i < each->options->count; i++) {
        gn_error error;
        json_t *summary = NULL;
        const size_t written = each->count;
        if (work(context, each, i, &summary, &error)) {
            gn_cli_error(program, "%s", error.text);
            take_back(each, written);
            failed++;
        } else {
            json_array_append_new(summaries, summary);
        }
    }
    return failed;
}

/// One file: its summary. Several: a list of them, and how many failed.
static json_t *results(const gn_each_file *each, json_t *summaries, size_t failed)
{
    if (each->options->count > 1) return json_pack("{s:O, s:o}", "files", summaries, "failed", gn_json_count(failed));
    return json_incref(json_array_get(summaries, 0));
}

int gn_each_file_run(const gn_file_options *options, const char *program, gn_each_file_work work, void *context)
{
    gn_error error;
    gn_result_file file;
    gn_each_file each = {.options = options, .folder = options->output && gn_each_file_is_folder(options->output)};
    if (options->output && options->count > 1 && !each.folder) {
        gn_cli_error(program, "--output: '%s' is not a folder; several files need one", options->output);
        return GN_EXIT_USAGE;
    }
    if (gn_result_open(&file, &options->result, NULL, options->paths, options->count, &error)) {
        gn_cli_error(program, "%s", error.text);
        return GN_EXIT_FAILED;
    }
    json_t *summaries = json_array();
    each.outputs = calloc(options->count, sizeof *each.outputs);
    size_t failed = each.outputs ? work_on_all(&each, program, work, context, summaries) : options->count;
    if (failed == options->count) {
        gn_result_abort(&file);
    } else if (gn_result_write(&file, &options->result, results(&each, summaries, failed), stdout, &error)) {
        gn_cli_error(program, "%s", error.text);
        failed++;
    }
    json_decref(summaries);
    for (size_t i = 0; i < each.count; i++) free(each.outputs[i]);
    free(each.outputs);
    return failed ? GN_EXIT_FAILED : GN_EXIT_OK;
}
