// SPDX-License-Identifier: Apache-2.0
#include "tensor.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t COUNT_MAX = UINT64_C(1) << 60;

bool gn_shape_count(const uint64_t *shape, unsigned dimensions, uint64_t *count)
{
    *count = 1;
    for (unsigned i = 0; i < dimensions; i++)
        if (!shape[i]) {
            *count = 0;
            return true;
        }
    for (unsigned i = 0; i < dimensions; i++) {
        if (*count > COUNT_MAX / shape[i]) return false;
        *count *= shape[i];
    }
    return true;
}

bool gn_tensor_by_columns(const gn_tensor *tensor)
{
    unsigned longer = 0;  // dimensions: with one alone, all orders are the same
    for (unsigned i = 0; i < tensor->dimensions; i++) longer += tensor->shape[i] > 1;
    return tensor->shaped && tensor->fortran_order && tensor->count && longer > 1;
}

static void tensor_clear(gn_tensor *tensor)
{
    free(tensor->name);
    free(tensor->shape);
}

gn_status gn_tensor_add(gn_tensor_list *list, const gn_tensor *tensor, const char *file, gn_error *error)
{
    if (list->count == GN_TENSORS_MAX)
        return gn_fail(error, GN_UNSUPPORTED, "%s: more than %d tensors", file, GN_TENSORS_MAX);
    if (tensor->name && strlen(tensor->name) > GN_TENSOR_NAME_MAX)
        return gn_fail(error, GN_UNSUPPORTED, "%s: the name '%s' has more than %d bytes", file,
                       gn_label(tensor->name).s, GN_TENSOR_NAME_MAX);
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 16;
        gn_tensor *larger = realloc(list->tensors, room * sizeof *larger);
        if (!larger) return gn_fail_memory(error);
        list->tensors = larger;
        list->room = room;
    }
    gn_tensor copy = *tensor;
    const bool named = tensor->name && *tensor->name;
    copy.name = named ? strdup(tensor->name) : NULL;
    copy.shape = calloc(tensor->dimensions + 1u, sizeof *copy.shape);
    if (!copy.shape || (named && !copy.name)) {
        tensor_clear(&copy);
        return gn_fail_memory(error);
    }
    for (unsigned i = 0; i < tensor->dimensions; i++) copy.shape[i] = tensor->shape[i];
    list->tensors[list->count++] = copy;
    return GN_OK;
}

static int by_name(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

gn_status gn_tensor_check_names(const gn_tensor_list *list, const char *file, gn_error *error)
{
    if (list->count < 2) return GN_OK;
    const char **names = malloc(list->count * sizeof *names);
    if (!names) return gn_fail_memory(error);
    for (size_t i = 0; i < list->count; i++) names[i] = list->tensors[i].name ? list->tensors[i].name : "";
    qsort(names, list->count, sizeof *names, by_name);
    size_t i = 1;
    while (i < list->count && strcmp(names[i - 1], names[i]) != 0) i++;
    const gn_status wrong =
        i == list->count ? GN_OK
                         : gn_fail(error, GN_CORRUPT, "%s: two tensors have the name '%s'", file, gn_label(names[i]).s);
    free(names);
    return wrong;
}

static bool is_chosen(const gn_tensor *tensor, const char *pattern)
{
    if (!pattern) return true;
    return tensor->name && (!strcmp(tensor->name, pattern) || !fnmatch(pattern, tensor->name, 0));
}

/// Why no tensor of `all` was chosen.
static gn_status nothing_chosen(const gn_tensor_list *all, const char *pattern, const gn_tensor_list *left_out,
                                const char *file, gn_error *error)
{
    if (left_out && left_out->count)
        return gn_fail(error, GN_UNSUPPORTED, "%s: '%s' holds %s; only " GN_DTYPES_READ, file,
                       gn_label(left_out->tensors[0].name).s, gn_label(left_out->tensors[0].type).s);
    if (!pattern) return gn_fail(error, GN_INVALID, "%s: holds no tensors", file);
    if (all->count == 1 && !all->tensors[0].name)
        return gn_fail(error, GN_INVALID, "%s: its values have no name; leave '%s' out", file, gn_label(pattern).s);
    return gn_fail(error, GN_INVALID, "%s: no tensor has the name '%s'; --list shows the names", file,
                   gn_label(pattern).s);
}

gn_status gn_tensor_choose(gn_tensor_list *list, const char *pattern, gn_tensor_list *left_out, const char *file,
                           gn_error *error)
{
    gn_tensor_list all = *list;
    *list = (gn_tensor_list){0};
    gn_status wrong = GN_OK;
    for (size_t i = 0; i < all.count && !wrong; i++) {
        const gn_tensor *t = &all.tensors[i];
        if (is_chosen(t, pattern)) wrong = gn_tensor_add(t->is_float || !left_out ? list : left_out, t, file, error);
    }
    if (!wrong && !list->count) wrong = nothing_chosen(&all, pattern, left_out, file, error);
    gn_tensor_list_clear(&all);
    return wrong;
}

void gn_tensor_list_clear(gn_tensor_list *list)
{
    for (size_t i = 0; i < list->count; i++) tensor_clear(&list->tensors[i]);
    free(list->tensors);
    *list = (gn_tensor_list){0};
}

void gn_tensor_shape_text(const gn_tensor *tensor, char *text, size_t room)
{
    if (!tensor->shaped) {
        snprintf(text, room, "?");
        return;
    }
    size_t n = (size_t)snprintf(text, room, "%s", tensor->dimensions ? "" : "scalar");
    for (unsigned i = 0; i < tensor->dimensions && n < room; i++)
        n += (size_t)snprintf(text + n, room - n, "%s%" PRIu64, i ? " x " : "", tensor->shape[i]);
}
