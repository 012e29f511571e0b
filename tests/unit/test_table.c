// SPDX-License-Identifier: Apache-2.0
// Tables as they are printed: widths in columns of the screen, sides, missing and surplus cells.
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "tools/kit/table.h"

/// Prints and frees a table, and compares.
static void prints(gn_table *table, const char *expected)
{
    char *text;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(gn_table_print(table, stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(sides_and_widths)
{
    gn_table *table = gn_table_new("<name|n|<unit|last");
    gn_table_row(table, "a|%d|MB|x", 12345);
    gn_table_row(table, "longer name|%d|B/s|", 7);
    prints(table, "name             n  unit  last\n"
                  "a            12345  MB       x\n"
                  "longer name      7  B/s       \n");
}
END_TEST

/// Two bytes of UTF-8 are one column, wherever they stand.
START_TEST(columns_of_the_screen)
{
    gn_table *table = gn_table_new("<w|ä");
    gn_table_row(table, "µs|1");
    gn_table_row(table, "äöü|22");
    prints(table, "w     ä\n"
                  "µs    1\n"
                  "äöü  22\n");
}
END_TEST

/// A '<' marks a column in its title alone, and in each row what stands behind one is printed
/// without it where the column is to the left.
START_TEST(marks)
{
    gn_table *table = gn_table_new("a|<b");
    gn_table_row(table, "<1|2");
    prints(table, " a  b\n<1  2\n");
}
END_TEST

START_TEST(cells_that_are_missing)
{
    gn_table *table = gn_table_new("<a|b|c");
    gn_table_row(table, "1");
    gn_table_row(table, "%s", "");
    gn_table_row(table, "1||3");
    gn_table_row(table, "1|2|3|44");  // a column without a title
    prints(table, "a  b  c\n"
                  "1\n"
                  "\n"
                  "1     3\n"
                  "1  2  3  44\n");
}
END_TEST

START_TEST(many_rows)
{
    static char expected[200 * 8];
    char *at = expected;
    gn_table *table = gn_table_new("<n");
    at += sprintf(at, "n\n");
    for (int i = 100; i < 200; i++) {
        gn_table_row(table, "%d", i);
        at += sprintf(at, "%d\n", i);
    }
    prints(table, expected);
}
END_TEST

START_TEST(without_a_table_or_a_disk)
{
    gn_table_row(NULL, "x");
    gn_table_free(NULL);
    ck_assert_int_eq(gn_table_print(NULL, stdout), -1);
    FILE *full = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(full);
    setvbuf(full, NULL, _IONBF, 0);
    ck_assert_int_eq(gn_table_print(gn_table_new("a"), full), -1);
    fclose(full);
    gn_table *table = gn_table_new("a");
    gn_table_row(table, "1");
    gn_table_free(table);
}
END_TEST

int main(void)
{
    return RUN_TESTS("table", sides_and_widths, columns_of_the_screen, marks, cells_that_are_missing, many_rows,
                     without_a_table_or_a_disk);
}
