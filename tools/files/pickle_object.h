// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_PICKLE_OBJECT_H
#define GRADNIC_TOOLS_FILES_PICKLE_OBJECT_H
/// Internal to pickle*.c: the objects that a pickle makes. pickle_machine.c makes them, and
/// pickle.c looks for tensors among them.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype.h"
#include "net/error.h"

/// Objects are numbers into gn_pickle_machine.nodes.
typedef uint32_t gn_pickle_ref;

typedef enum gn_pickle_kind {
    GN_PICKLE_MARK,
    GN_PICKLE_NONE,
    GN_PICKLE_BOOL,
    GN_PICKLE_INT,
    GN_PICKLE_FLOAT,
    GN_PICKLE_STRING,
    GN_PICKLE_TUPLE,
    GN_PICKLE_LIST,
    GN_PICKLE_DICT,     // items: key, value, key, value, ...
    GN_PICKLE_GLOBAL,   // a name of Python that this reader knows
    GN_PICKLE_STORAGE,  // items: type, key, count
    GN_PICKLE_TENSOR    // items: storage, offset, size, stride
} gn_pickle_kind;

typedef struct gn_pickle_node {
    gn_pickle_kind kind;
    uint32_t first, last;  // items: numbers into gn_pickle_machine.items; a string's first byte
    uint32_t count;        // of items or bytes
    int64_t number;        // INT, BOOL: the value; GLOBAL: its row in the table of names; TENSOR: 1 with metadata
} gn_pickle_node;

/// An item of a tuple, list or dictionary, and the next one.
typedef struct gn_pickle_item {
    gn_pickle_ref ref;
    uint32_t next;
} gn_pickle_item;

typedef struct gn_pickle_machine {
    const uint8_t *bytes;
    size_t count, at;
    const char *file;
    gn_error *error;
    gn_pickle_node *nodes;
    size_t node_count, node_room;
    gn_pickle_item *items;
    size_t item_count, item_room;
    gn_pickle_ref *stack;
    size_t depth, stack_room;
    gn_pickle_ref *memo;  // UINT32_MAX: empty
    size_t memo_count, memo_room;
} gn_pickle_machine;

/// Runs the pickle. `*result` is what it leaves.
gn_status gn_pickle_run(gn_pickle_machine *machine, gn_pickle_ref *result);
void gn_pickle_free(gn_pickle_machine *machine);

/// A type of storages: what its values are called, and whether they can be read.
typedef struct gn_pickle_type {
    const char *name;
    bool is_float;
    gn_dtype dtype;
} gn_pickle_type;

/// The type of a GLOBAL that is a class of storages; NULL: it is something else.
const gn_pickle_type *gn_pickle_storage_type(const gn_pickle_node *global);

#endif
