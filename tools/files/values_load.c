// SPDX-License-Identifier: Apache-2.0
// What is made of a source of values: all of them in memory, and notes for people.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/kit/cli.h"
#include "tools/kit/units.h"
#include "values.h"

static void note_left_out(const gn_values *values, const char *program, const char *name)
{
    const gn_tensor_list *list = gn_values_left_out(values);
    if (!list->count) return;
    const gn_tensor *first = &list->tensors[0];
    if (list->count == 1)
        gn_cli_note(program, "%s: '%s' holds %s: left out; only " GN_DTYPES_READ, name, gn_label(first->name).s,
                    gn_label(first->type).s);
    else
        gn_cli_note(program, "%s: %zu tensors are left out (the first is '%s', %s); only " GN_DTYPES_READ, name,
                    list->count, gn_label(first->name).s, gn_label(first->type).s);
}

static void note_float64(const gn_cast *cast, const char *program, const char *name, double bound)
{
    char beyond[96] = "";
    if (cast->beyond)
        snprintf(beyond, sizeof beyond, "; %s beyond its range became infinite", gn_human_count(cast->beyond).s);
    if (cast->largest_error <= 0)
        gn_cli_note(program, "%s: float64 read as float32, without loss%s", name, beyond);
    else
        gn_cli_note(program, "%s: float64 read as float32: values changed by up to %.2g%s%s", name, cast->largest_error,
                    bound > 0 && cast->largest_error > bound ? ", more than the bound" : "", beyond);
}

void gn_values_note(const gn_values *values, const char *program, double bound)
{
    const char *name = gn_input_name(gn_values_input((gn_values *)(uintptr_t)values));
    note_left_out(values, program, name);
    for (gn_dtype d = GN_FLOAT16; d < GN_DTYPE_COUNT; d++) {
        const gn_cast *cast = gn_values_cast(values, d);
        if (!cast->values) continue;
        if (d == GN_FLOAT64)
            note_float64(cast, program, name, bound);
        else
            gn_cli_note(program, "%s: %s read as float32, without loss", name, gn_dtype_name(d));
    }
}

/// Reads to the end. The buffer grows as values come, so a wrong announced count costs no memory.
static gn_status load_all(gn_values *values, float **all, size_t *count, gn_error *error)
{
    const uint64_t announced = gn_values_count(values);
    size_t capacity = announced < 1u << 20 ? (size_t)announced + 1 : 1u << 20;
    float *buffer = malloc(capacity * sizeof *buffer);
    if (!buffer) return gn_fail_memory(error);
    *count = 0;
    for (;;) {
        size_t got = 0;
        gn_status wrong = gn_values_read(values, buffer + *count, capacity - *count, &got, error);
        if (wrong) {
            free(buffer);
            return wrong;
        }
        if (!got) break;
        *count += got;
        if (*count < capacity) continue;
        float *larger = capacity > SIZE_MAX / 8 ? NULL : realloc(buffer, capacity * 2 * sizeof *buffer);
        if (!larger) {
            free(buffer);
            return gn_fail(error, GN_NO_MEMORY, "%s: out of memory", gn_input_name(gn_values_input(values)));
        }
        buffer = larger;
        capacity *= 2;
    }
    *all = buffer;
    return GN_OK;
}

static gn_status load(const char *path, gn_format format, bool notes, float **all, size_t *count, gn_error *error)
{
    gn_values *values;
    gn_status wrong = gn_values_open(&values, path, format, error);
    if (wrong) return wrong;
    wrong = load_all(values, all, count, error);
    if (!wrong && notes) gn_values_note(values, program_invocation_short_name, 0);
    gn_values_close(values);
    return wrong;
}

gn_status gn_values_load(const char *path, gn_format format, float **all, size_t *count, gn_error *error)
{
    return load(path, format, true, all, count, error);
}

gn_status gn_values_load_again(const char *path, gn_format format, float **all, size_t *count, gn_error *error)
{
    return load(path, format, false, all, count, error);
}
