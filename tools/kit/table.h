// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_TABLE_H
#define GRADNIC_TOOLS_KIT_TABLE_H
/// Tables for people: a header and rows in aligned columns, as wide as their cells.

#include <stdio.h>

typedef struct gn_table gn_table;

/// `columns`: titles separated by '|': "<codec|ratio|max error". Columns are aligned to the
/// right, or to the left with a '<'.
/// @return NULL if memory is short: the functions below accept that and do nothing
gn_table *gn_table_new(const char *columns);

/// Appends a row. `cells` are separated by '|'; missing cells are empty. Printf-like.
void gn_table_row(gn_table *table, const char *cells, ...) __attribute__((format(printf, 2, 3)));

/// Frees a table that is not to be printed.
void gn_table_free(gn_table *table);

/// Prints the table and frees it. The titles are bold on a terminal.
/// @return -1 if memory was short or printing failed
int gn_table_print(gn_table *table, FILE *stream);

#endif
