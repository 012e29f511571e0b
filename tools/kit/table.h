// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_TABLE_H
#define GRADNIC_TOOLS_KIT_TABLE_H
/// Aligned columns for people: a header, rows; as wide as what is in them.

#include <stdio.h>

typedef struct gn_table gn_table;

/// `columns`: titles separated by '|'; one that begins with '<' is aligned to the left, others to the right:
/// "<codec|ratio|max error". NULL when memory is short (all functions below accept that and do nothing).
gn_table *gn_table_new(const char *columns);

/// Appends a row; `cells` are separated by '|', missing ones are empty. Printf-like.
void gn_table_row(gn_table *table, const char *cells, ...) __attribute__((format(printf, 2, 3)));

/// Prints the table (title in bold on a terminal) and frees it. -1 when memory ran out on the way or printing failed.
int gn_table_print(gn_table *table, FILE *stream);

#endif
