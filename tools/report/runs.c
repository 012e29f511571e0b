// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include <string.h>

const char *const gn_run_part_names[GN_RUN_PARTS] = {"compute", "quantise", "sum", "communicate", "update"};

/// Mean times of rank 0, in the order of gn_run_part_names; forward, backward and input are one part.
static gn_status read_parts(gn_run *run, json_t *train, gn_error *error)
{
    json_error_t why;
    double input, forward, backward;
    if (json_unpack_ex(train, &why, 0, "{s:[{s:{s:F, s:F, s:F, s:F, s:F, s:F, s:F}}]}", "ranks", "step_ms_mean",
                       "input", &input, "forward", &forward, "backward", &backward, "quantise", &run->part_ms[1], "sum",
                       &run->part_ms[2], "communicate", &run->part_ms[3], "update", &run->part_ms[4]))
        return gn_fail(error, GN_INVALID, "train: %s", why.text);
    run->part_ms[0] = input + forward + backward;
    return GN_OK;
}

static gn_status read_points(gn_run *run, json_t *train, gn_error *error)
{
    json_t *list = json_object_get(train, "checkpoints"), *point;
    size_t i;
    json_array_foreach(list, i, point)
    {
        if (i == GN_RUN_POINTS_MAX) break;
        json_error_t why;
        if (json_unpack_ex(point, &why, 0, "{s:F, s:F}", "step", &run->point_step[i], "accuracy",
                           &run->point_accuracy[i]))
            return gn_fail(error, GN_INVALID, "train: checkpoint %zu: %s", i, why.text);
        run->points = i + 1;
    }
    return run->points ? GN_OK : gn_fail(error, GN_INVALID, "train: no checkpoints");
}

static gn_status read_run(gn_run *run, json_t *object, gn_error *error)
{
    json_t *train;
    json_error_t why;
    int identical;
    if (json_unpack_ex(object, &why, 0, "{s:s, s:F, s:F, s:F, s:o}", "name", &run->name, "wire_bytes_per_step",
                       &run->wire_bytes, "ratio", &run->ratio, "speedup", &run->speedup, "train", &train))
        return gn_fail(error, GN_INVALID, "%s", why.text);
    if (json_unpack_ex(train, &why, 0, "{s:F, s:F, s:b}", "accuracy", &run->accuracy, "exchange_ms_median",
                       &run->exchange_ms, "replicas_identical", &identical))
        return gn_fail(error, GN_INVALID, "train: %s", why.text);
    run->identical = identical;
    gn_status wrong = read_parts(run, train, error);
    return wrong ? wrong : read_points(run, train, error);
}

static gn_status read_document(gn_runs *runs, gn_error *error)
{
    json_t *list, *object;
    json_error_t why;
    if (json_unpack_ex(runs->document, &why, 0, "{s:{s:s, s:s, s:s, s:i}, s:s, s:i, s:i, s:F, s:F, s:o}", "environment",
                       "date", &runs->date, "cpu", &runs->cpu, "kernel", &runs->kernel, "cores", &runs->cores, "mode",
                       &runs->mode, "workers", &runs->workers, "steps", &runs->steps, "rate_bits", &runs->rate_bits,
                       "parameters", &runs->parameters, "runs", &list))
        return gn_fail(error, GN_INVALID, "%s", why.text);
    size_t i;
    json_array_foreach(list, i, object)
    {
        if (i == GN_RUNS_MAX) return gn_fail(error, GN_INVALID, "more than %d runs", GN_RUNS_MAX);
        gn_status wrong = read_run(&runs->run[i], object, error);
        if (wrong) return gn_fail(error, GN_INVALID, "run %zu: %s", i, error->text);
        runs->count = i + 1;
    }
    return runs->count ? GN_OK : gn_fail(error, GN_INVALID, "no runs");
}

gn_status gn_runs_load(gn_runs *runs, const char *path, gn_error *error)
{
    memset(runs, 0, sizeof *runs);
    json_error_t why;
    runs->document = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (!runs->document) return gn_fail(error, GN_INVALID, "%s: line %d: %s", path, why.line, why.text);
    gn_status wrong = read_document(runs, error);
    if (!wrong) return GN_OK;
    wrong = gn_fail(error, GN_INVALID, "%s: %s", path, error->text);
    gn_runs_free(runs);
    return wrong;
}

void gn_runs_free(gn_runs *runs)
{
    json_decref(runs->document);
    memset(runs, 0, sizeof *runs);
}
