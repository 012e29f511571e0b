// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"
#include "tools/kit/cli.h"
#include "tools/kit/codec_options.h"
#include "tools/kit/json.h"
#include "tools/kit/output.h"
#include "tools/kit/units.h"

static gn_error error;  // of the last failure

START_TEST(bounds)
{
    int k = 99;
    ck_assert_int_eq(gn_parse_bound("10", &k, &error), GN_OK);
    ck_assert_int_eq(k, 10);
    ck_assert_int_eq(gn_parse_bound("2^-6", &k, &error), GN_OK);
    ck_assert_int_eq(k, 6);
    ck_assert_int_eq(gn_parse_bound("2^3", &k, &error), GN_OK);
    ck_assert_int_eq(k, -3);
    ck_assert_int_eq(gn_parse_bound("-31", &k, &error), GN_OK);
    ck_assert_int_eq(k, -31);
    static const char *const bad[] = {"",     "x",   "2^",  "2^-",         "10x", "2^-1.5", "0.001",
                                      "1e-3", "127", "-32", "99999999999", " 10", "+3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        k = 77;
        ck_assert_int_ne(gn_parse_bound(bad[i], &k, &error), GN_OK);
        ck_assert_int_eq(k, 77);
    }
    ck_assert_fails(gn_parse_bound("1e-3", &k, &error), "'1e-3' is not a bound; write it as 2^-10, or 10 for short");
    ck_assert_fails(gn_parse_bound("2^-127", &k, &error),
                    "bound 2^-127 is outside of every profile's range, 2^31 (k = -31) to 2^-126 (k = 126)");
}
END_TEST

START_TEST(bound_lists)
{
    int k[3];
    size_t n = 0;
    ck_assert_int_eq(gn_parse_bounds("6,8,2^-10", k, 3, &n, &error), GN_OK);
    ck_assert_uint_eq(n, 3);
    ck_assert(k[0] == 6 && k[1] == 8 && k[2] == 10);
    ck_assert_int_eq(gn_parse_bounds("14", k, 3, &n, &error), GN_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_ne(gn_parse_bounds("6,,8", k, 3, &n, &error), GN_OK);
    ck_assert_int_ne(gn_parse_bounds("6,", k, 3, &n, &error), GN_OK);
    ck_assert_int_ne(gn_parse_bounds("", k, 3, &n, &error), GN_OK);
    ck_assert_int_ne(gn_parse_bounds("1,2,3,4", k, 3, &n, &error), GN_OK);
    ck_assert_fails(gn_parse_bounds("6,2^-6", k, 3, &n, &error), "bound 2^-6 is given twice");
}
END_TEST

START_TEST(numbers_with_units)
{
    uint64_t n = 0;
    ck_assert_int_eq(gn_parse_size("25M", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 25u << 20);
    ck_assert_int_eq(gn_parse_size("4k", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 4096);
    ck_assert_int_eq(gn_parse_size("1GiB", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 1u << 30);
    ck_assert_int_eq(gn_parse_size("123", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 123);
    ck_assert_int_eq(gn_parse_rate("200mbit", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 200000000);
    ck_assert_int_eq(gn_parse_rate("1.5gbit", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 1500000000);
    ck_assert_int_eq(gn_parse_rate("10mbps", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 80000000);
    ck_assert_int_eq(gn_parse_rate("64kibit", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 65536);
    ck_assert_int_eq(gn_parse_frequency("156.25mhz", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 156250000);
    ck_assert_int_eq(gn_parse_frequency("1GHz", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 1000000000);
    ck_assert_int_eq(gn_parse_duration("10ms", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 10000000);
    ck_assert_int_eq(gn_parse_duration("1.5s", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 1500000000);
    ck_assert_int_eq(gn_parse_duration("0", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(gn_parse_duration("2min", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 120000000000);
    double p = 0;
    ck_assert_int_eq(gn_parse_probability("1%", &p, &error), GN_OK);
    ck_assert(fabs(p - 0.01) < 1e-15);
    ck_assert_int_eq(gn_parse_probability("0.25", &p, &error), GN_OK);
    ck_assert(p == 0.25);
    static const char *const bad[] = {
        "", "-1", "x", "1..2", "0x10", "inf", "nan", "1q", "1 M", "9999999999999999999999999T", "."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_ne(gn_parse_size(bad[i], &n, &error), GN_OK);
        ck_assert_int_ne(gn_parse_rate(bad[i], &n, &error), GN_OK);
        ck_assert_int_ne(gn_parse_frequency(bad[i], &n, &error), GN_OK);
        ck_assert_int_ne(gn_parse_duration(bad[i], &n, &error), GN_OK);
        ck_assert_int_ne(gn_parse_seconds(bad[i], &n, &error), GN_OK);
        ck_assert_int_ne(gn_parse_probability(bad[i], &p, &error), GN_OK);
    }
    // Too large is another mistake. Options of durations say their own limit.
    ck_assert_int_ne(gn_parse_size("99999999T", &n, &error), GN_OK);
    ck_assert_str_eq(error.text, "99999999T is too large");
    ck_assert_int_ne(gn_parse_rate("99999999tbit", &n, &error), GN_OK);
    ck_assert_str_eq(error.text, "99999999tbit is too large");
    ck_assert_int_ne(gn_parse_frequency("99999999999ghz", &n, &error), GN_OK);
    ck_assert_str_eq(error.text, "99999999999ghz is too large");
    ck_assert_int_eq(gn_parse_duration("99999999999h", &n, &error), GN_OK);
    ck_assert_uint_eq(n, INT64_MAX);
    ck_assert_int_eq(gn_parse_seconds("99999999999", &n, &error), GN_OK);
    ck_assert_uint_eq(n, INT64_MAX);
    ck_assert_int_ne(gn_parse_frequency("100", &n, &error), GN_OK);
    ck_assert_int_ne(gn_parse_duration("10", &n, &error), GN_OK);
    ck_assert_int_eq(gn_parse_seconds("10", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 10000000000);
    ck_assert_int_eq(gn_parse_seconds("0.5", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 500000000);
    ck_assert_int_eq(gn_parse_seconds("500ms", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 500000000);
    ck_assert_int_ne(gn_parse_size("1.5M", &n, &error), GN_OK);
    ck_assert_int_ne(gn_parse_probability("101%", &p, &error), GN_OK);
    ck_assert_int_eq(gn_parse_number("7", 1, 9, &n, &error), GN_OK);
    ck_assert_uint_eq(n, 7);
    ck_assert_fails(gn_parse_number("12", 1, 9, &n, &error), "12 is outside 1 to 9");
    ck_assert_fails(gn_parse_number("-2", 1, 9, &n, &error), "'-2' is not a number");
    ck_assert_int_ne(gn_parse_number("99999999999999999999999", 1, 9, &n, &error), GN_OK);
}
END_TEST

// To the nearest unit, though 1.005 is a little less in binary.
START_TEST(fractions_are_rounded)
{
    uint64_t n;
    ck_assert_int_eq(gn_parse_duration("1.005us", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 1005);
    ck_assert_int_eq(gn_parse_duration("0.4ns", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(gn_parse_duration("0.6ns", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(gn_parse_rate("1.005kbit", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 1005);
    ck_assert_int_eq(gn_parse_frequency("1.005khz", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 1005);
    ck_assert_int_eq(gn_parse_seconds("0.0000010052", &n, &error), GN_OK);
    ck_assert_uint_eq(n, 1005);
}
END_TEST

// Only 0x makes a number hexadecimal, and nothing makes it octal.
START_TEST(numbers_of_two_bases)
{
    uint64_t n;
    ck_assert_int_eq(gn_parse_any_base("050", 0, 255, &n, &error), GN_OK);
    ck_assert_uint_eq(n, 50);
    ck_assert_int_eq(gn_parse_any_base("09", 0, 255, &n, &error), GN_OK);
    ck_assert_uint_eq(n, 9);
    ck_assert_int_eq(gn_parse_any_base("0x28", 0, 255, &n, &error), GN_OK);
    ck_assert_uint_eq(n, 40);
    ck_assert_int_eq(gn_parse_any_base("0XFF", 0, 255, &n, &error), GN_OK);
    ck_assert_uint_eq(n, 255);
    ck_assert_int_eq(gn_parse_number("010", 0, 255, &n, &error), GN_OK);
    ck_assert_uint_eq(n, 10);
    ck_assert_fails(gn_parse_any_base("256", 0, 255, &n, &error), "256 is outside 0 to 255");
    static const char *const bad[] = {"", "x", "0x", "-1", "+1", " 1", "0x-1", "0x 1", "1x", "0xfg", "0x0x1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(gn_parse_any_base(bad[i], 0, 255, &n, &error) == GN_INVALID, "'%s' was taken", bad[i]);
}
END_TEST

START_TEST(human_numbers)
{
    ck_assert_str_eq(gn_human_bytes(0).s, "0 B");
    ck_assert_str_eq(gn_human_bytes(1000).s, "1000 B");
    ck_assert_str_eq(gn_human_bytes(25u << 20).s, "25 MiB");
    ck_assert_str_eq(gn_human_bytes(1536).s, "1.50 KiB");
    ck_assert_str_eq(gn_human_count(1679082).s, "1.68 M");
    ck_assert_str_eq(gn_human_count(999999).s, "1.00 M");
    ck_assert_str_eq(gn_human_count(12).s, "12");
    // Three digits, rounded; what rounds to a thousand gets the next prefix.
    ck_assert_str_eq(gn_human_count(999).s, "999");
    ck_assert_str_eq(gn_human_count(9994).s, "9.99 k");
    ck_assert_str_eq(gn_human_count(9995).s, "10.0 k");
    ck_assert_str_eq(gn_human_count(99949).s, "99.9 k");
    ck_assert_str_eq(gn_human_count(99950).s, "100 k");
    ck_assert_str_eq(gn_human_count(999499).s, "999 k");
    ck_assert_str_eq(gn_human_count(999500).s, "1.00 M");
    ck_assert_str_eq(gn_human_bytes(1023).s, "1023 B");
    ck_assert_str_eq(gn_human_bytes((1u << 20) - 1).s, "1.00 MiB");
    ck_assert_str_eq(gn_human_rate(1.234e9).s, "1.23 GB/s");
    ck_assert_str_eq(gn_human_bits(2e8).s, "200 Mbit/s");
    ck_assert_str_eq(gn_human_frequency(1e8).s, "100 MHz");
    ck_assert_str_eq(gn_human_duration(12.34e6).s, "12.3 ms");
    ck_assert_str_eq(gn_human_duration(200e9).s, "3 min 20 s");
    ck_assert_str_eq(gn_human_duration(7500e9).s, "2 h 5 min");
    ck_assert_str_eq(gn_human_duration(119.9e9).s, "120 s");
    ck_assert_str_eq(gn_human_duration(179.4e9).s, "2 min 59 s");
    ck_assert_str_eq(gn_human_duration(179.6e9).s, "3 min 0 s");
    ck_assert_str_eq(gn_human_duration(7199.4e9).s, "119 min 59 s");
    ck_assert_str_eq(gn_human_duration(7199.6e9).s, "2 h 0 min");
    ck_assert_str_eq(gn_human_bound(10).s, "2^-10");
    ck_assert_str_eq(gn_human_bound(-3).s, "2^3");
}
END_TEST

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/gradnic-cli-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
    unlink("a");
    unlink("link");
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_msg(rmdir(folder) == 0, "something was left in %s", folder);
}

static void ck_content(const char *path, const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    ck_assert_str_eq(text, expected);
}

static gn_output *open_and_write(const char *path, bool force, const char *text)
{
    gn_output *out = NULL;
    gn_status wrong = gn_output_open(&out, path, force, &error);
    ck_assert_msg(!wrong, "%s", error.text);
    fputs(text, gn_output_stream(out));
    return out;
}

START_TEST(output_appears_when_complete)
{
    make_folder();
    gn_output *out = open_and_write("a", false, "one");
    ck_assert(gn_output_seekable(out));
    ck_assert_int_ne(access("a", F_OK), 0);
    ck_assert_int_eq(gn_output_commit(out, &error), GN_OK);
    ck_content("a", "one");
    ck_assert_fails(gn_output_open(&out, "a", false, &error), "a: exists already; --force overwrites it");
    ck_content("a", "one");
    gn_output_abort(open_and_write("a", true, "two"));
    ck_content("a", "one");
    ck_assert_int_eq(chmod("a", 0640), 0);
    ck_assert_int_eq(gn_output_commit(open_and_write("a", true, "three"), &error), GN_OK);
    ck_content("a", "three");
    struct stat st;
    ck_assert_int_eq(stat("a", &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0640);
    ck_assert_int_ne(gn_output_open(&out, "missing/a", false, &error), GN_OK);
    ck_assert_int_ne(gn_output_open(&out, "/", true, &error), GN_OK);
    remove_folder();
}
END_TEST

START_TEST(output_respects_what_came_in_between_and_links)
{
    make_folder();
    gn_output *out = open_and_write("a", false, "mine");
    FILE *other = fopen("a", "wb");
    fputs("theirs", other);
    fclose(other);
    ck_assert_int_ne(gn_output_commit(out, &error), GN_OK);
    ck_content("a", "theirs");
    ck_assert_int_eq(symlink("a", "link"), 0);
    ck_assert_int_eq(gn_output_commit(open_and_write("link", true, "through"), &error), GN_OK);
    ck_content("a", "through");
    struct stat st;
    ck_assert_int_eq(lstat("link", &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    ck_assert_int_eq(gn_output_commit(open_and_write("/dev/null", false, "nowhere"), &error), GN_OK);
    out = open_and_write("/dev/full", false, "no room");
    ck_assert_fails(gn_output_commit(out, &error), "/dev/full: No space left on device");
    remove_folder();
}
END_TEST

START_TEST(a_signal_removes_the_temporary_file)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGPIPE};
    for (int i = 0; i < 3; i++) {
        make_folder();
        pid_t child = fork();
        if (!child) {
            signal(numbers[i], SIG_DFL);  // Check has its own handler, which this process inherited
            open_and_write("a", false, "part");
            raise(numbers[i]);
            _exit(77);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        ck_assert_int_eq(WTERMSIG(status), numbers[i]);
        remove_folder();  // fails unless empty
    }
}
END_TEST

START_TEST(exit_removes_the_temporary_file)
{
    make_folder();
    pid_t child = fork();
    if (!child) {
        static gn_output *kept;  // reachable at exit, which is what is tested
        kept = open_and_write("a", false, "part");
        exit(kept ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    remove_folder();
}
END_TEST

START_TEST(errors_may_contain_the_error_before)
{
    gn_fail(&error, GN_IO, "inner %d", 1);
    ck_assert_fails(gn_fail(&error, GN_CORRUPT, "outer: %s", error.text), "outer: inner 1");
}
END_TEST

/// "model name" of /proc/cpuinfo; empty where a processor has none.
static void model_name(char name[200])
{
    char line[400];
    FILE *file = fopen("/proc/cpuinfo", "re");
    *name = 0;
    while (file && !*name && fgets(line, sizeof line, file)) (void)sscanf(line, "model name : %199[^\n]", name);
    if (file) fclose(file);
}

START_TEST(json_numbers)
{
    json_t *real = gn_json_real(0.1), *nan_value = gn_json_real(NAN), *big = gn_json_count(UINT64_MAX);
    ck_assert(json_is_real(real) && json_is_null(nan_value));
    ck_assert_int_eq(json_integer_value(big), INT64_MAX);
    json_decref(real);
    json_decref(nan_value);
    json_decref(big);
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    ck_assert_int_eq(gn_json_print(json_pack("{s:i,s:f}", "b", 1, "a", 0x1p-10), stream, &error), GN_OK);
    fclose(stream);
    ck_assert_str_eq(text, "{\n  \"b\": 1,\n  \"a\": 0.0009765625\n}\n");
    free(text);
    ck_assert_int_ne(gn_json_print(NULL, stdout, &error), GN_OK);
    json_t *environment = gn_json_environment();
    ck_assert_str_eq(json_string_value(json_object_get(environment, "gradnic")), GRADNIC_VERSION);
    ck_assert(json_integer_value(json_object_get(environment, "cores")) > 0);
    char model[200];
    model_name(model);
    const char *cpu = json_string_value(json_object_get(environment, "cpu"));
    ck_assert(cpu && *cpu);
    if (*model) ck_assert_msg(!strncmp(cpu, model, 127), "%s is called %s", model, cpu);
    json_decref(environment);
}
END_TEST

int main(void)
{
    return RUN_TESTS("cli", bounds, bound_lists, numbers_with_units, fractions_are_rounded, numbers_of_two_bases,
                     human_numbers, output_appears_when_complete, output_respects_what_came_in_between_and_links,
                     a_signal_removes_the_temporary_file, exit_removes_the_temporary_file,
                     errors_may_contain_the_error_before, json_numbers);
}
