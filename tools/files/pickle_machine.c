// SPDX-License-Identifier: Apache-2.0
// The stack machine of a pickle, with the instructions that torch.save() uses and the few names
// that it needs. It makes objects of its own; it has no way to call anything.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "little.h"
#include "pickle.h"
#include "pickle_object.h"

enum { PROTOCOL_MAX = 5 };
static const uint32_t NOTHING = UINT32_MAX;

typedef enum meaning { ORDERED_DICT, REBUILD_TENSOR, REBUILD_PARAMETER, STORAGE } meaning;

static const struct {
    const char *module, *name;
    meaning meaning;
    gn_pickle_type type;
} names[] = {
    {"collections", "OrderedDict", ORDERED_DICT, {0}},
    {"torch._utils", "_rebuild_tensor_v2", REBUILD_TENSOR, {0}},
    {"torch._utils", "_rebuild_parameter", REBUILD_PARAMETER, {0}},
    {"torch", "FloatStorage", STORAGE, {"float32", true, GN_FLOAT32}},
    {"torch", "HalfStorage", STORAGE, {"float16", true, GN_FLOAT16}},
    {"torch", "BFloat16Storage", STORAGE, {"bfloat16", true, GN_BFLOAT16}},
    {"torch", "DoubleStorage", STORAGE, {"float64", true, GN_FLOAT64}},
    {"torch", "LongStorage", STORAGE, {"int64", false, 0}},
    {"torch", "IntStorage", STORAGE, {"int32", false, 0}},
    {"torch", "ShortStorage", STORAGE, {"int16", false, 0}},
    {"torch", "CharStorage", STORAGE, {"int8", false, 0}},
    {"torch", "ByteStorage", STORAGE, {"uint8", false, 0}},
    {"torch", "BoolStorage", STORAGE, {"bool", false, 0}},
    {"torch", "ComplexFloatStorage", STORAGE, {"complex64", false, 0}},
    {"torch", "ComplexDoubleStorage", STORAGE, {"complex128", false, 0}},
};

const gn_pickle_type *gn_pickle_storage_type(const gn_pickle_node *global)
{
    if (global->kind != GN_PICKLE_GLOBAL || names[global->number].meaning != STORAGE) return NULL;
    return &names[global->number].type;
}

static gn_status bad(gn_pickle_machine *m, const char *what)
{
    return gn_fail(m->error, GN_CORRUPT, "%s: byte %zu of the pickle: %s", m->file, m->at, what);
}

/// Makes room for one more element of an array.
static gn_status grow(gn_pickle_machine *m, void *array, size_t size, size_t count, size_t *room)
{
    void **at = array;
    if (count < *room) return GN_OK;
    if (count >= GN_PICKLE_NODES) return bad(m, "the pickle makes too many objects");
    const size_t more = *room ? 2 * *room : 256;
    void *larger = realloc(*at, more * size);
    if (!larger) return gn_fail_memory(m->error);
    *at = larger;
    *room = more;
    return GN_OK;
}

static gn_status push(gn_pickle_machine *m, gn_pickle_ref ref)
{
    const gn_status wrong = grow(m, &m->stack, sizeof *m->stack, m->depth, &m->stack_room);
    if (!wrong) m->stack[m->depth++] = ref;
    return wrong;
}

static gn_status push_new(gn_pickle_machine *m, gn_pickle_kind kind, int64_t number)
{
    gn_status wrong = grow(m, &m->nodes, sizeof *m->nodes, m->node_count, &m->node_room);
    if (wrong) return wrong;
    m->nodes[m->node_count] = (gn_pickle_node){kind, NOTHING, NOTHING, 0, number};
    return push(m, (gn_pickle_ref)m->node_count++);
}

/// The object at the top of the stack, less `below`; NULL and an error if it is not there or of
/// another kind.
static gn_pickle_node *peek(gn_pickle_machine *m, size_t below, gn_pickle_kind kind)
{
    gn_pickle_node *node = m->depth > below ? &m->nodes[m->stack[m->depth - 1 - below]] : NULL;
    if (node && node->kind == kind) return node;
    bad(m, "an object is not of the kind that is needed here");
    return NULL;
}

static gn_status append(gn_pickle_machine *m, gn_pickle_ref to, gn_pickle_ref item)
{
    const gn_status wrong = grow(m, &m->items, sizeof *m->items, m->item_count, &m->item_room);
    if (wrong) return wrong;
    gn_pickle_node *node = &m->nodes[to];
    const uint32_t place = (uint32_t)m->item_count++;
    m->items[place] = (gn_pickle_item){item, NOTHING};
    if (node->count++)
        m->items[node->last].next = place;
    else
        node->first = place;
    node->last = place;
    return GN_OK;
}

/// Takes `count` objects off the stack and appends them to the object below them.
static gn_status gather(gn_pickle_machine *m, size_t count, gn_pickle_kind kind)
{
    if (!peek(m, count, kind)) return m->error->status;
    if (kind == GN_PICKLE_DICT && count % 2) return bad(m, "a key has no value");
    const gn_pickle_ref to = m->stack[m->depth - 1 - count];
    gn_status wrong = GN_OK;
    for (size_t i = 0; i < count && !wrong; i++) {
        const gn_pickle_ref item = m->stack[m->depth - count + i];
        if (m->nodes[item].kind == GN_PICKLE_MARK) return bad(m, "a mark is where an object must be");
        wrong = append(m, to, item);
    }
    m->depth -= count;
    return wrong;
}

/// How many objects lie above the topmost mark.
static gn_status above_mark(gn_pickle_machine *m, size_t *count)
{
    for (*count = 0; *count < m->depth; ++*count)
        if (m->nodes[m->stack[m->depth - 1 - *count]].kind == GN_PICKLE_MARK) return GN_OK;
    return bad(m, "there is no mark");
}

/// Removes the mark below the top `count` objects.
static void remove_mark(gn_pickle_machine *m, size_t count)
{
    gn_pickle_ref *mark = &m->stack[m->depth - 1 - count];
    memmove(mark, mark + 1, count * sizeof *mark);
    m->depth--;
}

static gn_status append_marked(gn_pickle_machine *m, gn_pickle_kind kind)
{
    size_t count = 0;
    gn_status wrong = above_mark(m, &count);
    if (wrong) return wrong;
    remove_mark(m, count);
    return gather(m, count, kind);
}

/// Makes a tuple of the top `count` objects.
static gn_status make_tuple(gn_pickle_machine *m, size_t count)
{
    if (m->depth < count) return bad(m, "the stack is empty");
    gn_status wrong = push_new(m, GN_PICKLE_TUPLE, 0);
    if (wrong) return wrong;
    const gn_pickle_ref tuple = m->stack[--m->depth];
    gn_pickle_ref *first = &m->stack[m->depth - count];
    for (size_t i = 0; i < count && !wrong; i++) {
        if (m->nodes[first[i]].kind == GN_PICKLE_MARK) return bad(m, "a mark is where an object must be");
        wrong = append(m, tuple, first[i]);
    }
    m->depth -= count;
    return wrong ? wrong : push(m, tuple);
}

static gn_status make_marked_tuple(gn_pickle_machine *m)
{
    size_t count = 0;
    gn_status wrong = above_mark(m, &count);
    if (wrong) return wrong;
    remove_mark(m, count);
    return make_tuple(m, count);
}

static gn_status take(gn_pickle_machine *m, size_t bytes, const uint8_t **at)
{
    if (m->count - m->at < bytes) return bad(m, "the pickle ends too early");
    *at = m->bytes + m->at;
    m->at += bytes;
    return GN_OK;
}

static gn_status take_number(gn_pickle_machine *m, unsigned bytes, uint64_t *number)
{
    const uint8_t *at = NULL;
    const gn_status wrong = take(m, bytes, &at);
    if (!wrong) *number = gn_little(at, bytes);
    return wrong;
}

/// A string with its length in `length_bytes` before it.
static gn_status push_string(gn_pickle_machine *m, unsigned length_bytes)
{
    uint64_t length = 0;
    const uint8_t *at = NULL;
    gn_status wrong = take_number(m, length_bytes, &length);
    if (!wrong && length > m->count) wrong = bad(m, "the pickle ends too early");
    if (!wrong) wrong = take(m, (size_t)length, &at);
    if (!wrong) wrong = push_new(m, GN_PICKLE_STRING, 0);
    if (wrong) return wrong;
    gn_pickle_node *node = &m->nodes[m->node_count - 1];
    node->first = (uint32_t)(at - m->bytes);
    node->count = (uint32_t)length;
    return GN_OK;
}

/// A signed integer of 0 to 8 bytes, as LONG1 has it.
static gn_status push_long(gn_pickle_machine *m)
{
    uint64_t bytes = 0, number = 0;
    const uint8_t *at = NULL;
    gn_status wrong = take_number(m, 1, &bytes);
    if (!wrong) wrong = take(m, (size_t)bytes, &at);
    if (wrong) return wrong;
    if (bytes > 8) return bad(m, "an integer has more than 64 bits");
    if (bytes) number = gn_little(at, (unsigned)bytes);
    if (bytes && bytes < 8 && at[bytes - 1] & 0x80) number |= UINT64_MAX << 8 * bytes;
    return push_new(m, GN_PICKLE_INT, (int64_t)number);
}

static gn_status push_integer(gn_pickle_machine *m, unsigned bytes)
{
    uint64_t number = 0;
    const gn_status wrong = take_number(m, bytes, &number);
    if (wrong) return wrong;
    return push_new(m, GN_PICKLE_INT, bytes == 4 ? (int64_t)(int32_t)(uint32_t)number : (int64_t)number);
}

static gn_status push_float(gn_pickle_machine *m)
{
    const uint8_t *at = NULL;
    const gn_status wrong = take(m, 8, &at);
    return wrong ? wrong : push_new(m, GN_PICKLE_FLOAT, 0);
}

/// Looks a name of Python up among those that are known.
static gn_status push_name(gn_pickle_machine *m, const char *module, size_t module_bytes, const char *name,
                           size_t name_bytes)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].module) == module_bytes && !memcmp(names[i].module, module, module_bytes) &&
            strlen(names[i].name) == name_bytes && !memcmp(names[i].name, name, name_bytes))
            return push_new(m, GN_PICKLE_GLOBAL, (int64_t)i);
    char whole[120];
    snprintf(whole, sizeof whole, "%.*s.%.*s", module_bytes > 50 ? 50 : (int)module_bytes, module,
             name_bytes > 50 ? 50 : (int)name_bytes, name);
    gn_fail(m->error, GN_UNSUPPORTED,
            "%s: byte %zu of the pickle asks for '%s'; gradnic runs no code of files: save the tensors alone, as "
            "torch.save(model.state_dict(), ...)",
            m->file, m->at, gn_label(whole).s);
    return m->error->status;
}

static gn_status take_line(gn_pickle_machine *m, const char **line, size_t *length)
{
    *line = (const char *)m->bytes + m->at;
    const char *end = memchr(*line, '\n', m->count - m->at);
    if (!end) return bad(m, "the pickle ends too early");
    *length = (size_t)(end - *line);
    m->at += *length + 1;
    return GN_OK;
}

static gn_status push_global(gn_pickle_machine *m)
{
    const char *module = NULL, *name = NULL;
    size_t module_bytes = 0, name_bytes = 0;
    gn_status wrong = take_line(m, &module, &module_bytes);
    if (!wrong) wrong = take_line(m, &name, &name_bytes);
    return wrong ? wrong : push_name(m, module, module_bytes, name, name_bytes);
}

/// The same with both names on the stack, as protocol 4 has it.
static gn_status push_stack_global(gn_pickle_machine *m)
{
    const gn_pickle_node *name = peek(m, 0, GN_PICKLE_STRING);
    const gn_pickle_node *module = name ? peek(m, 1, GN_PICKLE_STRING) : NULL;
    if (!module) return m->error->status;
    m->depth -= 2;
    return push_name(m, (const char *)m->bytes + module->first, module->count, (const char *)m->bytes + name->first,
                     name->count);
}

static gn_status put(gn_pickle_machine *m, uint64_t number)
{
    if (!m->depth) return bad(m, "the stack is empty");
    gn_status wrong = GN_OK;
    while (!wrong && m->memo_count <= number) {
        wrong = grow(m, &m->memo, sizeof *m->memo, m->memo_count, &m->memo_room);
        if (!wrong) m->memo[m->memo_count++] = NOTHING;
    }
    if (!wrong) m->memo[number] = m->stack[m->depth - 1];
    return wrong;
}

static gn_status put_numbered(gn_pickle_machine *m, unsigned bytes)
{
    uint64_t number = 0;
    const gn_status wrong = take_number(m, bytes, &number);
    return wrong ? wrong : put(m, number);
}

static gn_status get(gn_pickle_machine *m, unsigned bytes)
{
    uint64_t number = 0;
    const gn_status wrong = take_number(m, bytes, &number);
    if (wrong) return wrong;
    if (number >= m->memo_count || m->memo[number] == NOTHING) return bad(m, "nothing has this number in the memo");
    return push(m, m->memo[number]);
}

/// Takes the first items of the tuple at the top of the stack; false if it has fewer.
static bool first_items(const gn_pickle_machine *m, gn_pickle_ref tuple, gn_pickle_ref *items, uint32_t count)
{
    const gn_pickle_node *node = &m->nodes[tuple];
    if (node->kind != GN_PICKLE_TUPLE || node->count < count) return false;
    uint32_t at = node->first;
    for (uint32_t i = 0; i < count; i++, at = m->items[at].next) items[i] = m->items[at].ref;
    return true;
}

static bool is(const gn_pickle_machine *m, gn_pickle_ref ref, gn_pickle_kind kind)
{
    return m->nodes[ref].kind == kind;
}

/// A storage, from ('storage', type, key, location, count).
static gn_status push_storage(gn_pickle_machine *m)
{
    gn_pickle_ref items[5];
    if (!m->depth) return bad(m, "the stack is empty");
    const gn_pickle_ref tuple = m->stack[--m->depth];
    if (!first_items(m, tuple, items, 5) || !gn_pickle_storage_type(&m->nodes[items[1]]) ||
        !is(m, items[2], GN_PICKLE_STRING) || !is(m, items[4], GN_PICKLE_INT))
        return bad(m, "a persistent object is not a storage of torch");
    gn_status wrong = push_new(m, GN_PICKLE_STORAGE, 0);
    if (wrong) return wrong;
    const gn_pickle_ref storage = m->stack[m->depth - 1];
    wrong = append(m, storage, items[1]);
    if (!wrong) wrong = append(m, storage, items[2]);
    return wrong ? wrong : append(m, storage, items[4]);
}

/// Whether the arguments of _rebuild_tensor_v2 end with something that changes values: `metadata`
/// says of a tensor that its values are to be negated or conjugated when they are read.
static bool has_metadata(const gn_pickle_machine *m, gn_pickle_ref arguments)
{
    gn_pickle_ref items[7];
    if (!first_items(m, arguments, items, 7) || is(m, items[6], GN_PICKLE_NONE)) return false;
    return !is(m, items[6], GN_PICKLE_DICT) || m->nodes[items[6]].count;
}

/// _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks, metadata)
static gn_status push_tensor(gn_pickle_machine *m, gn_pickle_ref arguments)
{
    gn_pickle_ref items[4];
    if (!first_items(m, arguments, items, 4) || !is(m, items[0], GN_PICKLE_STORAGE) ||
        !is(m, items[1], GN_PICKLE_INT) || !is(m, items[2], GN_PICKLE_TUPLE) || !is(m, items[3], GN_PICKLE_TUPLE))
        return bad(m, "a tensor is not made of a storage, an offset, a size and strides");
    gn_status wrong = push_new(m, GN_PICKLE_TENSOR, has_metadata(m, arguments));
    const gn_pickle_ref tensor = wrong ? 0 : m->stack[m->depth - 1];
    for (unsigned i = 0; i < 4 && !wrong; i++) wrong = append(m, tensor, items[i]);
    return wrong;
}

/// Does what torch and Python would do with one of the known names. Nothing else can be called.
static gn_status reduce(gn_pickle_machine *m)
{
    const gn_pickle_node *arguments = peek(m, 0, GN_PICKLE_TUPLE);
    const gn_pickle_node *global = arguments ? peek(m, 1, GN_PICKLE_GLOBAL) : NULL;
    gn_pickle_ref item;
    if (!global) return m->error->status;
    const gn_pickle_ref tuple = m->stack[m->depth - 1];
    m->depth -= 2;
    switch (names[global->number].meaning) {
    case ORDERED_DICT:
        if (arguments->count) return bad(m, "an OrderedDict has arguments");
        return push_new(m, GN_PICKLE_DICT, 0);
    case REBUILD_TENSOR:
        return push_tensor(m, tuple);
    case REBUILD_PARAMETER:
        if (!first_items(m, tuple, &item, 1) || !is(m, item, GN_PICKLE_TENSOR))
            return bad(m, "a parameter is not made of a tensor");
        return push(m, item);
    default:
        return bad(m, "a storage is called as a function");
    }
}

/// BUILD sets attributes. Those of an OrderedDict (state_dict's _metadata) are of no interest here.
static gn_status build(gn_pickle_machine *m)
{
    if (!peek(m, 1, GN_PICKLE_DICT)) return m->error->status;
    m->depth--;
    return GN_OK;
}

static gn_status begin(gn_pickle_machine *m)
{
    uint64_t protocol = 0;
    const gn_status wrong = take_number(m, 1, &protocol);
    if (wrong) return wrong;
    return protocol >= 2 && protocol <= PROTOCOL_MAX ? GN_OK : bad(m, "the pickle's protocol is not 2 to 5");
}

static gn_status skip_frame(gn_pickle_machine *m)
{
    uint64_t bytes = 0;
    return take_number(m, 8, &bytes);
}

/// One instruction, but STOP.
static gn_status step(gn_pickle_machine *m, uint8_t opcode)
{
    // clang-format off
    switch (opcode) {
    case 0x80: return begin(m);
    case 0x95: return skip_frame(m);
    case '(': return push_new(m, GN_PICKLE_MARK, 0);
    case 'N': return push_new(m, GN_PICKLE_NONE, 0);
    case 0x88: return push_new(m, GN_PICKLE_BOOL, 1);
    case 0x89: return push_new(m, GN_PICKLE_BOOL, 0);
    case 'J': return push_integer(m, 4);
    case 'K': return push_integer(m, 1);
    case 'M': return push_integer(m, 2);
    case 0x8a: return push_long(m);
    case 'G': return push_float(m);
    case 'X': return push_string(m, 4);
    case 0x8c: return push_string(m, 1);
    case ')': return make_tuple(m, 0);
    case 0x85: return make_tuple(m, 1);
    case 0x86: return make_tuple(m, 2);
    case 0x87: return make_tuple(m, 3);
    case 't': return make_marked_tuple(m);
    case ']': return push_new(m, GN_PICKLE_LIST, 0);
    case '}': return push_new(m, GN_PICKLE_DICT, 0);
    case 'a': return gather(m, 1, GN_PICKLE_LIST);
    case 'e': return append_marked(m, GN_PICKLE_LIST);
    case 's': return gather(m, 2, GN_PICKLE_DICT);
    case 'u': return append_marked(m, GN_PICKLE_DICT);
    case 'q': return put_numbered(m, 1);
    case 'r': return put_numbered(m, 4);
    case 0x94: return put(m, m->memo_count);
    case 'h': return get(m, 1);
    case 'j': return get(m, 4);
    case 'c': return push_global(m);
    case 0x93: return push_stack_global(m);
    case 'Q': return push_storage(m);
    case 'R': return reduce(m);
    case 'b': return build(m);
    default: break;
    }
    // clang-format on
    char what[96];
    snprintf(what, sizeof what, "instruction 0x%02x is none that saves tensors", opcode);
    bad(m, what);
    return m->error->status = GN_UNSUPPORTED;
}

gn_status gn_pickle_run(gn_pickle_machine *m, gn_pickle_ref *result)
{
    for (;;) {
        const uint8_t *opcode = NULL;
        gn_status wrong = take(m, 1, &opcode);
        if (wrong) return wrong;
        if (*opcode == '.') break;
        wrong = step(m, *opcode);
        if (wrong) return wrong;
    }
    if (m->depth != 1 || m->nodes[m->stack[0]].kind == GN_PICKLE_MARK)
        return bad(m, "the pickle does not end with one object");
    *result = m->stack[0];
    return GN_OK;
}

void gn_pickle_free(gn_pickle_machine *m)
{
    free(m->nodes);
    free(m->items);
    free(m->stack);
    free(m->memo);
}
