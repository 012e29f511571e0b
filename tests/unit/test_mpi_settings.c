// SPDX-License-Identifier: Apache-2.0
// The environment of programs of MPI: what is not set, each value, both ends of each range, and
// what is wrong.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mpi/settings.h"
#include "suite.h"

static const char *const names[] = {"GRADNIC_MPI",       "GRADNIC_SUMMARY", "GRADNIC_MIN_BYTES", "GRADNIC_TIMEOUT_MS",
                                    "GRADNIC_ALGORITHM", "GRADNIC_CODEC",   "GRADNIC_BOUND",     "GRADNIC_SCALE",
                                    "GRADNIC_INTERFACE", "GRADNIC_SWITCH"};

static gn_mpi_settings settings;
static gn_error error;

static void setup(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
}

/// These settings are taken: "NAME=VALUE" up to NULL; an end of NAME alone is empty.
#define TAKEN(...) read_all((const char *const[]){__VA_ARGS__, NULL}, NULL)
#define REFUSED(words, ...) read_all((const char *const[]){__VA_ARGS__, NULL}, words)

static void read_all(const char *const *given, const char *words)
{
    char text[200];
    setup();
    for (; *given; given++) {
        snprintf(text, sizeof text, "%s", *given);
        char *value = strchr(text, '=');
        *value++ = 0;
        setenv(text, value, 1);
    }
    error.text[0] = 0;
    const gn_status status = gn_mpi_settings_read(&settings, &error);
    ck_assert_int_eq(status, words ? GN_INVALID : GN_OK);
    ck_assert_str_eq(error.text, words ? words : "");
}

START_TEST(nothing_is_set)
{
    const gn_comm_config usual = gn_comm_config_default();
    TAKEN("GRADNIC_MPI=");
    ck_assert_uint_eq(settings.least, 65536);
    ck_assert(!settings.summary);
    ck_assert_int_eq(settings.comm.timeout_ms, 300000);
    ck_assert_int_eq(settings.comm.algorithm, usual.algorithm);
    ck_assert(!settings.comm.quantise);
    ck_assert_int_eq(settings.comm.scale, usual.scale);
    ck_assert_ptr_null(settings.comm.interface);
    ck_assert_ptr_null(settings.comm.switch_address);
    // Empty is not set.
    TAKEN("GRADNIC_MIN_BYTES=", "GRADNIC_TIMEOUT_MS=", "GRADNIC_SUMMARY=", "GRADNIC_ALGORITHM=", "GRADNIC_CODEC=",
          "GRADNIC_BOUND=", "GRADNIC_SCALE=", "GRADNIC_INTERFACE=");
    ck_assert_uint_eq(settings.least, 65536);
    ck_assert(!settings.comm.quantise);
    ck_assert_ptr_null(settings.comm.interface);
}
END_TEST

START_TEST(yes_and_no)
{
    TAKEN("GRADNIC_MPI=yes", "GRADNIC_SUMMARY=yes");
    ck_assert(settings.summary && settings.least == 65536);
    TAKEN("GRADNIC_MPI=1", "GRADNIC_SUMMARY=1");
    ck_assert(settings.summary && settings.least == 65536);
    TAKEN("GRADNIC_MPI=no", "GRADNIC_SUMMARY=no");
    ck_assert(!settings.summary && settings.least == SIZE_MAX);
    TAKEN("GRADNIC_MPI=0", "GRADNIC_SUMMARY=0", "GRADNIC_MIN_BYTES=1");
    ck_assert(!settings.summary && settings.least == SIZE_MAX);
    REFUSED("GRADNIC_MPI is 'Yes': want yes or no", "GRADNIC_MPI=Yes");
    REFUSED("GRADNIC_SUMMARY is '01': want yes or no", "GRADNIC_SUMMARY=01");
}
END_TEST

START_TEST(numbers)
{
    TAKEN("GRADNIC_MIN_BYTES=1", "GRADNIC_TIMEOUT_MS=1");
    ck_assert(settings.least == 1 && settings.comm.timeout_ms == 1);
    TAKEN("GRADNIC_MIN_BYTES=999999999", "GRADNIC_TIMEOUT_MS=999999999");
    ck_assert(settings.least == 999999999 && settings.comm.timeout_ms == 999999999);
    REFUSED("GRADNIC_MIN_BYTES is '0': want a number, 1 to 999999999", "GRADNIC_MIN_BYTES=0");
    REFUSED("GRADNIC_MIN_BYTES is '1000000000': want a number, 1 to 999999999", "GRADNIC_MIN_BYTES=1000000000");
    REFUSED("GRADNIC_TIMEOUT_MS is '-1': want a number, 1 to 999999999", "GRADNIC_TIMEOUT_MS=-1");
}
END_TEST

START_TEST(algorithms)
{
    for (gn_algorithm a = 0; a < GN_ALGORITHMS; a++) {
        char text[100];
        snprintf(text, sizeof text, "GRADNIC_ALGORITHM=%s", gn_algorithm_name(a));
        TAKEN(text);
        ck_assert_int_eq(settings.comm.algorithm, a);
    }
    REFUSED("GRADNIC_ALGORITHM is 'rings': want ring, direct, auto, switch, ...", "GRADNIC_ALGORITHM=rings");
    TAKEN("GRADNIC_INTERFACE=eth7", "GRADNIC_SWITCH=10.0.0.9:4000");
    ck_assert_str_eq(settings.comm.interface, "eth7");
    ck_assert_str_eq(settings.comm.switch_address, "10.0.0.9:4000");
}
END_TEST

static void has(bool quantise, gn_profile profile, int bound_exp)
{
    ck_assert(settings.comm.quantise == quantise);
    ck_assert_int_eq(settings.comm.codec.profile, profile);
    ck_assert_int_eq(settings.comm.codec.bound_exp, bound_exp);
}

START_TEST(codecs)
{
    TAKEN("GRADNIC_CODEC=lattice");  // the bound is the usual one
    has(true, GN_LATTICE, 10);
    TAKEN("GRADNIC_BOUND=2^-6");  // and here the codec
    has(true, GN_DENSE, 6);
    TAKEN("GRADNIC_CODEC=paper", "GRADNIC_BOUND=2^-8");
    has(true, GN_PAPER, 8);
    TAKEN("GRADNIC_CODEC=none", "GRADNIC_BOUND=2^-6");
    has(false, GN_DENSE, 10);
    TAKEN("GRADNIC_CODEC=none", "GRADNIC_BOUND=nonsense");  // nothing is compressed: it is not read
    has(false, GN_DENSE, 10);
    REFUSED("GRADNIC_CODEC is 'zip': want dense, lattice, paper or none", "GRADNIC_CODEC=zip");
}
END_TEST

/// The least and the largest bound of each codec, and one beyond. Larger than 1 has no name.
START_TEST(bounds)
{
    char codec[100], bound[100], words[200];
    int lowest, highest;
    for (gn_profile p = 0; p < GN_PROFILE_COUNT; p++) {
        ck_assert_int_eq(gn_profile_range(p, &lowest, &highest), GN_OK);
        if (lowest < 0) lowest = 0;
        snprintf(codec, sizeof codec, "GRADNIC_CODEC=%s", gn_profile_name(p));
        for (int k = lowest - 1; k <= highest + 1; k++) {
            snprintf(bound, sizeof bound, "GRADNIC_BOUND=2^-%d", k);
            if (k >= lowest && k <= highest) {
                TAKEN(codec, bound);
                has(true, p, k);
                continue;
            }
            snprintf(words, sizeof words, "GRADNIC_BOUND is '2^-%d': want 2^-%d to 2^-%d with %s", k, lowest, highest,
                     gn_profile_name(p));
            REFUSED(words, codec, bound);
        }
    }
    gn_profile_range(GN_DENSE, &lowest, &highest);
    snprintf(words, sizeof words, "GRADNIC_BOUND is '3^-6': want 2^-%d to 2^-%d with dense", lowest > 0 ? lowest : 0,
             highest);
    REFUSED(words, "GRADNIC_BOUND=3^-6");
}
END_TEST

START_TEST(scales)
{
    TAKEN("GRADNIC_SCALE=none");
    ck_assert_int_ne(settings.comm.scale, GN_SCALE_AUTO);
    TAKEN("GRADNIC_SCALE=auto", "GRADNIC_BOUND=2^-6");
    ck_assert_int_eq(settings.comm.scale, GN_SCALE_AUTO);
    REFUSED("GRADNIC_SCALE is 'much': want auto or none", "GRADNIC_SCALE=much", "GRADNIC_BOUND=2^-6");
    REFUSED("GRADNIC_SCALE is auto, but nothing is compressed: set GRADNIC_BOUND, too", "GRADNIC_SCALE=auto");
}
END_TEST

/// Of several wrong ones each is found, whatever else is right.
START_TEST(each_is_looked_at)
{
    REFUSED("GRADNIC_SUMMARY is 'x': want yes or no", "GRADNIC_MPI=yes", "GRADNIC_SUMMARY=x", "GRADNIC_SCALE=y");
    REFUSED("GRADNIC_MPI is 'x': want yes or no", "GRADNIC_MPI=x", "GRADNIC_CODEC=zip");
}
END_TEST

START_TEST(misspelled_ones)
{
    static char *const environment[] = {"PATH=/",          "GRADNIC_BUOND=2^-6", "GRADNIC_BOUND=2^-6", "GRADNIC_MP=no",
                                        "GRADNIC_MPI=yes", "GRADNIC_",           "GRADNIC_JOB=1",      NULL};
    size_t at = 0;
    ck_assert_ptr_eq(gn_mpi_settings_unknown(environment, &at), environment[1]);
    ck_assert_ptr_eq(gn_mpi_settings_unknown(environment, &at), environment[3]);
    ck_assert_ptr_eq(gn_mpi_settings_unknown(environment, &at), environment[5]);
    ck_assert_ptr_null(gn_mpi_settings_unknown(environment, &at));
}
END_TEST

int main(void)
{
    return RUN_SUITE("mpi_settings", setup, NULL, nothing_is_set, yes_and_no, numbers, algorithms, codecs, bounds,
                     scales, each_is_looked_at, misspelled_ones);
}
