// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { COLUMNS_MAX = 32 };

struct gn_table {
    char **rows;  // row 0: the titles
    size_t count, capacity;
    bool failed;
};

static void append(gn_table *table, char *row)
{
    if (row && table->count == table->capacity) {
        const size_t capacity = table->capacity ? table->capacity * 2 : 16;
        char **rows = realloc(table->rows, capacity * sizeof *rows);
        if (rows) {
            table->rows = rows;
            table->capacity = capacity;
        }
    }
    if (!row || table->count == table->capacity) {
        table->failed = true;
        free(row);
        return;
    }
    table->rows[table->count++] = row;
}

gn_table *gn_table_new(const char *columns)
{
    gn_table *table = calloc(1, sizeof *table);
    if (table) append(table, strdup(columns));
    return table;
}

void gn_table_row(gn_table *table, const char *cells, ...)
{
    if (!table) return;
    char *row = NULL;
    va_list args;
    va_start(args, cells);
    if (vasprintf(&row, cells, args) < 0) row = NULL;
    va_end(args);
    append(table, row);
}

/// Columns on the screen. UTF-8 continuation bytes take none.
static int width_of(const char *cell, size_t bytes)
{
    int width = 0;
    for (size_t i = 0; i < bytes; i++) width += ((unsigned char)cell[i] & 0xc0) != 0x80;
    return width;
}

/// The next cell of a row, of `*bytes` bytes. NULL behind the last.
static const char *next_cell(const char **row, size_t *bytes)
{
    if (!*row) return NULL;
    const char *cell = *row;
    *bytes = strcspn(cell, "|");
    *row = cell[*bytes] ? cell + *bytes + 1 : NULL;
    return cell;
}

static void measure(const gn_table *table, int width[COLUMNS_MAX], bool left[COLUMNS_MAX])
{
    for (size_t r = 0; r < table->count; r++) {
        const char *row = table->rows[r], *cell;
        size_t bytes;
        for (int c = 0; c < COLUMNS_MAX && (cell = next_cell(&row, &bytes)); c++) {
            const bool mark = !r && *cell == '<';
            if (mark) left[c] = true;
            const int w = width_of(cell, bytes) - mark;
            if (w > width[c]) width[c] = w;
        }
    }
}

static void print_row(const char *row, const int *width, const bool *left, FILE *stream)
{
    const char *cell;
    size_t bytes;
    for (int c = 0; c < COLUMNS_MAX && (cell = next_cell(&row, &bytes)); c++) {
        if (*cell == '<' && left[c]) cell++, bytes--;
        const int space = width[c] - width_of(cell, bytes);
        fprintf(stream, "%s%*s%.*s", c ? "  " : "", left[c] ? 0 : space, "", (int)bytes, cell);
        if (left[c] && row) fprintf(stream, "%*s", space, "");
    }
}

void gn_table_free(gn_table *table)
{
    if (!table) return;
    for (size_t r = 0; r < table->count; r++) free(table->rows[r]);
    free(table->rows);
    free(table);
}

int gn_table_print(gn_table *table, FILE *stream)
{
    if (!table) return -1;
    int width[COLUMNS_MAX] = {0};
    bool left[COLUMNS_MAX] = {false};
    measure(table, width, left);
    const bool colour = gn_cli_colour(stream);
    for (size_t r = 0; r < table->count; r++) {
        if (colour && !r) fputs("\033[1m", stream);
        print_row(table->rows[r], width, left, stream);
        fputs(colour && !r ? "\033[0m\n" : "\n", stream);
    }
    const bool failed = table->failed || ferror(stream);
    gn_table_free(table);
    return failed ? -1 : 0;
}
