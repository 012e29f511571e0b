// SPDX-License-Identifier: Apache-2.0
#include "pickle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pickle_object.h"

enum { VISITS_MAX = GN_PICKLE_NODES };

typedef struct search {
    gn_pickle_machine machine;
    gn_pickle_found found;
    void *context;
    uint32_t visits;
    char path[GN_TENSOR_NAME_MAX + 1];
} search;

static gn_status bad(const search *s, const char *what)
{
    if (!*s->path) return gn_fail(s->machine.error, GN_CORRUPT, "%s: its tensor: %s", s->machine.file, what);
    return gn_fail(s->machine.error, GN_CORRUPT, "%s: tensor '%s': %s", s->machine.file, gn_label(s->path).s, what);
}

/// The items of a tuple of integers that are not negative; false: it is anything else.
static bool read_sizes(const gn_pickle_machine *m, gn_pickle_ref tuple, uint64_t sizes[GN_TENSOR_DIMENSIONS],
                       unsigned *count)
{
    const gn_pickle_node *node = &m->nodes[tuple];
    if (node->count > GN_TENSOR_DIMENSIONS) return false;
    *count = node->count;
    uint32_t at = node->first;
    for (unsigned i = 0; i < *count; i++, at = m->items[at].next) {
        const gn_pickle_node *item = &m->nodes[m->items[at].ref];
        if (item->kind != GN_PICKLE_INT || item->number < 0) return false;
        sizes[i] = (uint64_t)item->number;
    }
    return true;
}

/// Whether the values lie one behind the other, last index fastest. The stride of a dimension of
/// one value does not matter.
static bool is_dense(const uint64_t *shape, const uint64_t *stride, unsigned dimensions, bool first_fastest)
{
    uint64_t expected = 1;
    for (unsigned i = 0; i < dimensions; i++) {
        const unsigned d = first_fastest ? i : dimensions - 1 - i;
        if (shape[d] == 1) continue;
        if (stride[d] != expected) return false;
        expected *= shape[d];
    }
    return true;
}

static gn_status report_tensor(search *s, const gn_pickle_node *node)
{
    const gn_pickle_machine *m = &s->machine;
    gn_pickle_ref items[4], parts[3];
    uint32_t at = node->first;
    for (unsigned i = 0; i < 4; i++, at = m->items[at].next) items[i] = m->items[at].ref;
    at = m->nodes[items[0]].first;
    for (unsigned i = 0; i < 3; i++, at = m->items[at].next) parts[i] = m->items[at].ref;
    const gn_pickle_type *type = gn_pickle_storage_type(&m->nodes[parts[0]]);
    const gn_pickle_node *key = &m->nodes[parts[1]];
    const int64_t offset = m->nodes[items[1]].number, held = m->nodes[parts[2]].number;

    uint64_t shape[GN_TENSOR_DIMENSIONS], stride[GN_TENSOR_DIMENSIONS];
    unsigned dimensions, strides;
    if (!read_sizes(m, items[2], shape, &dimensions) || !read_sizes(m, items[3], stride, &strides) ||
        dimensions != strides)
        return bad(s, "its size or its strides are impossible");
    gn_tensor tensor = {.name = s->path, .is_float = type->is_float, .shaped = true, .dtype = type->dtype};
    snprintf(tensor.type, sizeof tensor.type, "%s", type->name);
    tensor.dimensions = dimensions;
    tensor.shape = shape;
    if (!gn_shape_count(shape, dimensions, &tensor.count)) return bad(s, "its shape is impossibly large");
    if (offset < 0 || held < 0 || tensor.count > (uint64_t)held || (uint64_t)offset > (uint64_t)held - tensor.count)
        return bad(s, "it reaches beyond its storage");
    tensor.offset = (uint64_t)offset;
    if (node->number && tensor.is_float) {
        bad(s, "its sign is in a note beside its values; save it as tensor.resolve_neg()");
        return m->error->status = GN_UNSUPPORTED;
    }
    if (tensor.count && !is_dense(shape, stride, dimensions, false)) {
        tensor.fortran_order = is_dense(shape, stride, dimensions, true);
        if (!tensor.fortran_order && tensor.is_float) {
            bad(s, "its values do not lie one behind the other; save it as tensor.contiguous()");
            return m->error->status = GN_UNSUPPORTED;
        }
    }
    char storage[GN_PICKLE_STORAGE_NAME];
    if (key->count >= sizeof storage || memchr(m->bytes + key->first, 0, key->count))
        return bad(s, "its storage has an impossible key");
    memcpy(storage, m->bytes + key->first, key->count);
    storage[key->count] = 0;
    return s->found(s->context, &(gn_pickle_tensor){&tensor, storage, (uint64_t)held}, m->error);
}

/// Appends a key to the path: a string, or an integer.
static gn_status enter(search *s, const gn_pickle_node *key, size_t length)
{
    const gn_pickle_machine *m = &s->machine;
    char number[24] = "?";
    const char *text = number;
    size_t bytes = 1;
    if (key->kind == GN_PICKLE_STRING) {
        text = (const char *)m->bytes + key->first;
        bytes = key->count;
    } else if (key->kind == GN_PICKLE_INT) {
        bytes = (size_t)snprintf(number, sizeof number, "%" PRId64, key->number);
    }
    if (bytes && memchr(text, 0, bytes)) return bad(s, "a key below it holds a zero byte");
    if (length + bytes + 2 > sizeof s->path) return bad(s, "the path to it is too long");
    if (length) s->path[length++] = '.';
    memcpy(s->path + length, text, bytes);
    s->path[length + bytes] = 0;
    return GN_OK;
}

static gn_status visit(search *s, gn_pickle_ref ref, unsigned depth);

static gn_status visit_items(search *s, const gn_pickle_node *node, unsigned depth)
{
    const gn_pickle_machine *m = &s->machine;
    const size_t length = strlen(s->path);
    gn_status wrong = GN_OK;
    uint32_t at = node->first;
    for (uint32_t i = 0; i < node->count && !wrong; i++, at = m->items[at].next) {
        gn_pickle_node key = {.kind = GN_PICKLE_INT, .number = i};
        if (node->kind == GN_PICKLE_DICT) {
            key = m->nodes[m->items[at].ref];
            at = m->items[at].next, i++;
        }
        wrong = enter(s, &key, length);
        if (!wrong) wrong = visit(s, m->items[at].ref, depth + 1);
        s->path[length] = 0;
    }
    return wrong;
}

/// Looks for tensors. An object may be in several places, or in itself: both are bounded.
static gn_status visit(search *s, gn_pickle_ref ref, unsigned depth)
{
    const gn_pickle_node *node = &s->machine.nodes[ref];
    if (++s->visits > VISITS_MAX) return bad(s, "the pickle holds too many objects");
    if (node->kind == GN_PICKLE_TENSOR) return report_tensor(s, node);
    if (node->kind != GN_PICKLE_DICT && node->kind != GN_PICKLE_LIST && node->kind != GN_PICKLE_TUPLE) return GN_OK;
    if (depth == GN_PICKLE_DEPTH) return bad(s, "it lies too deep in dictionaries and lists");
    return visit_items(s, node, depth);
}

gn_status gn_pickle_read(const uint8_t *bytes, size_t count, const char *file, gn_pickle_found found, void *context,
                         gn_error *error)
{
    search *s = calloc(1, sizeof *s);
    if (!s) return gn_fail_memory(error);
    s->machine = (gn_pickle_machine){.bytes = bytes, .count = count, .file = file, .error = error};
    s->found = found;
    s->context = context;
    gn_pickle_ref result;
    gn_status wrong = gn_pickle_run(&s->machine, &result);
    if (!wrong) wrong = visit(s, result, 0);
    gn_pickle_free(&s->machine);
    free(s);
    return wrong;
}
