// SPDX-License-Identifier: Apache-2.0
// The numbers of profile dense by name, as its own code has them.
#include "dense.h"
#include "lane.h"

#define NUMBER(name)                                                                                                   \
    {                                                                                                                  \
#name, name                                                                                                    \
    }
#define CLASS(c)                                                                                                       \
    {"planes", GN_CLASS_PLANES(c)}, {"bytes", GN_CLASS_BYTES(c)},                                                      \
    {                                                                                                                  \
        "unsigned", GN_CLASS_UNSIGNED(c)                                                                               \
    }
#define FOUR_CLASSES(c) CLASS(c), CLASS((c) + 1), CLASS((c) + 2), CLASS((c) + 3)

static const gn_constant rows[] = {
    NUMBER(GN_GROUP),     NUMBER(GN_QUAD_GROUPS),     NUMBER(GN_QUAD_HEADER), NUMBER(GN_RUN_ITEM),
    NUMBER(GN_RUN_QUADS), NUMBER(GN_CLASS_COUNT),     NUMBER(GN_CLASS_WORDS), NUMBER(GN_LATTICE_MAX),
    NUMBER(GN_PART),      NUMBER(GN_PART_ITEM_SHIFT), FOUR_CLASSES(0),        FOUR_CLASSES(4),
    FOUR_CLASSES(8),      FOUR_CLASSES(12),
};

const gn_constant *gn_dense_constants(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}
