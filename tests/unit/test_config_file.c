// SPDX-License-Identifier: Apache-2.0
// The lines of a configuration file.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"
#include "tools/kit/config_file.h"

static gn_error error;

static gn_config_file parse(const char *text)
{
    gn_config_file file;
    ck_assert_int_eq(gn_config_parse(&file, text, strlen(text), &error), GN_OK);
    return file;
}

static void expect(const gn_config_line *line, unsigned number, const char *key, const char *value)
{
    ck_assert_uint_eq(line->number, number);
    ck_assert_msg(!line->wrong, "%s", line->wrong);
    ck_assert_str_eq(line->key, key);
    if (value)
        ck_assert_str_eq(line->value, value);
    else
        ck_assert_ptr_null(line->value);
}

START_TEST(keys_and_values)
{
    gn_config_file file = parse("# first\n\nrate = 1gbit\n\tmtu=1500\r\n  bypass  \n"
                                "rule = tos=0x28,k=10   # behind\nuser = a#b\nbuffer =\t4 M\t\r\nlast=x");
    ck_assert_uint_eq(file.count, 7);
    expect(&file.lines[0], 3, "rate", "1gbit");
    expect(&file.lines[1], 4, "mtu", "1500");
    expect(&file.lines[2], 5, "bypass", NULL);
    expect(&file.lines[3], 6, "rule", "tos=0x28,k=10");
    expect(&file.lines[4], 7, "user", "a#b");
    expect(&file.lines[5], 8, "buffer", "4 M");
    expect(&file.lines[6], 9, "last", "x");
    gn_config_free(&file);
}
END_TEST

START_TEST(wrong_lines_are_marked_and_the_others_stay)
{
    gn_config_file file =
        parse("two words = x\n= x\nRate = 1\nkey: x\nrate =\nrate = # x\ngood = 1\n[section]\n--mtu = 3\n");
    ck_assert_uint_eq(file.count, 9);
    for (size_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(file.lines[i].number, i + 1);
        ck_assert_msg(!file.lines[i].wrong == (i == 6), "line %zu", i + 1);
    }
    expect(&file.lines[6], 7, "good", "1");
    expect(&file.lines[8], 9, "--mtu", "3");  // no option has that name
    gn_config_free(&file);
}
END_TEST

START_TEST(a_byte_order_mark_is_skipped)
{
    gn_config_file file = parse("\xEF\xBB\xBFmtu = 1500\n\xEF\xBB\xBFrate = 1gbit\n");
    ck_assert_uint_eq(file.count, 2);
    expect(&file.lines[0], 1, "mtu", "1500");
    ck_assert_ptr_nonnull(file.lines[1].wrong);
    gn_config_free(&file);
}
END_TEST

START_TEST(what_is_no_text_is_refused)
{
    gn_config_file file;
    static char large[GN_CONFIG_BYTES_MAX + 1];
    ck_assert_fails(gn_config_parse(&file, "a\0b", 3, &error), "has a zero byte: it is not a text");
    memset(large, '\n', sizeof large);
    ck_assert_fails(gn_config_parse(&file, large, sizeof large, &error), "longer than 1048576 bytes");
    ck_assert_int_eq(gn_config_parse(&file, large, sizeof large - 1, &error), GN_OK);
    ck_assert_uint_eq(file.count, 0);
    gn_config_free(&file);
}
END_TEST

START_TEST(files)
{
    gn_config_file file;
    char path[64], wanted[128];
    ck_assert_fails(gn_config_load(&file, "/nowhere/x", &error), "/nowhere/x: No such file or directory");
    ck_assert_fails(gn_config_load(&file, "/tmp", &error), "/tmp: not a regular file");
    snprintf(path, sizeof path, "/tmp/gradnic-test-config-%d", (int)getpid());
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    snprintf(wanted, sizeof wanted, "%s: not a regular file", path);
    ck_assert_fails(gn_config_load(&file, path, &error), wanted);
    unlink(path);
    FILE *out = fopen(path, "w");
    ck_assert(out && fputs("a = b\n", out) >= 0 && !fclose(out));
    ck_assert_int_eq(gn_config_load(&file, path, &error), GN_OK);
    ck_assert_uint_eq(file.count, 1);
    expect(&file.lines[0], 1, "a", "b");
    gn_config_free(&file);
    unlink(path);
}
END_TEST

int main(void)
{
    return RUN_TESTS("config_file", keys_and_values, wrong_lines_are_marked_and_the_others_stay,
                     a_byte_order_mark_is_skipped, what_is_no_text_is_refused, files);
}
