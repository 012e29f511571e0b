// SPDX-License-Identifier: Apache-2.0
#include "dump.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/files/npy.h"
#include "tools/kit/output.h"

/// Whether a file holds exactly these bytes.
static bool holds(const char *path, const char *bytes, size_t count)
{
    char part[4096];
    size_t at = 0, got = 1;
    FILE *file = fopen(path, "rbe");
    if (!file) return false;
    while (got && at <= count) {
        got = fread(part, 1, sizeof part, file);
        if (got > count - at || memcmp(part, bytes + at, got) != 0) break;
        at += got;
    }
    const bool same = !got && !ferror(file) && at == count;
    (void)fclose(file);
    return same;
}

/// Whether a training that goes on has written this file before.
static bool is_there(const char *path, const float *values, const uint64_t *shape, unsigned dimensions)
{
    char *bytes = NULL;
    size_t count = 0;
    gn_error ignored;
    FILE *memory = access(path, F_OK) ? NULL : open_memstream(&bytes, &count);
    if (!memory) return false;
    const bool wrong = gn_npy_write(memory, values, shape, dimensions, &ignored);
    const bool same = !fclose(memory) && !wrong && holds(path, bytes, count);
    free(bytes);
    return same;
}

static gn_status write_tensor(const char *path, const float *values, const uint64_t *shape, unsigned dimensions,
                              gn_dump_mode mode, gn_error *error)
{
    gn_output *output;
    if (mode == GN_DUMP_AGAIN && is_there(path, values, shape, dimensions)) return GN_OK;
    gn_status wrong = gn_output_open(&output, path, mode == GN_DUMP_OVER, error);
    if (wrong) return wrong;
    wrong = gn_npy_write(gn_output_stream(output), values, shape, dimensions, error);
    if (!wrong) return gn_output_commit(output, error);
    gn_output_abort(output);
    return gn_fail(error, GN_INVALID, "%s: %s", path, error->text);
}

/// Whether gn_dump_gradient() would write a file of this name.
static bool would_be_written(const char *name, uint64_t every, unsigned first, unsigned last)
{
    uint64_t step;
    unsigned rank, layer;
    int taken = 0;
    if (sscanf(name, "step%" SCNu64 "-rank%u-layer%u-%n", &step, &rank, &layer, &taken) != 3 || !taken) return false;
    return (!strcmp(name + taken, "weight.npy") || !strcmp(name + taken, "bias.npy")) && step && step % every == 0 &&
           rank >= first && rank <= last;
}

gn_status gn_dump_prepare(const char *folder, uint64_t every, unsigned first, unsigned last, gn_dump_mode mode,
                          gn_error *error)
{
    if (mkdir(folder, 0777) && errno != EEXIST) return gn_fail(error, GN_IO, "%s: %s", folder, strerror(errno));
    DIR *listing = opendir(folder);
    if (!listing || access(folder, W_OK | X_OK)) {
        gn_status wrong = gn_fail(error, GN_IO, "%s: %s", folder, strerror(errno));
        if (listing) closedir(listing);
        return wrong;
    }
    gn_status wrong = GN_OK;
    for (const struct dirent *entry; mode == GN_DUMP_NEW && !wrong && (entry = readdir(listing));)
        if (would_be_written(entry->d_name, every, first, last))
            wrong = gn_fail(error, GN_INVALID, "%s/%s: exists already; --force overwrites it", folder, entry->d_name);
    closedir(listing);
    return wrong;
}

gn_status gn_dump_gradient(const gn_mlp *mlp, const char *folder, uint64_t step, int rank, gn_dump_mode mode,
                           gn_error *error)
{
    gn_status wrong = GN_OK;
    for (unsigned l = 0; l < mlp->layers && !wrong; l++) {
        char path[PATH_MAX];
        const uint64_t in = gn_mlp_columns(mlp, l), out = gn_mlp_rows(mlp, l);
        const float *weight = mlp->gradient + mlp->offset[l];
        snprintf(path, sizeof path, "%s/step%05" PRIu64 "-rank%d-layer%u-weight.npy", folder, step, rank, l + 1);
        wrong = write_tensor(path, weight, (const uint64_t[]){out, in}, 2, mode, error);
        if (wrong) break;
        snprintf(path, sizeof path, "%s/step%05" PRIu64 "-rank%d-layer%u-bias.npy", folder, step, rank, l + 1);
        wrong = write_tensor(path, weight + in * out, &out, 1, mode, error);
    }
    return wrong;
}
