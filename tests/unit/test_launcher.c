// SPDX-License-Identifier: Apache-2.0
// Rank and size from the variables of launchers: which one is asked, what is refused, and lists of
// hosts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher_variables.h"
#include "net/host_list.h"
#include "net/launcher.h"
#include "suite.h"

static gn_error error;
static gn_place place;

/// The environment holds these settings and no other launcher's.
static void say(const char *const *settings)
{
    forget_launchers();
    for (; *settings; settings++) {
        char name[64];
        const char *sign = strchr(*settings, '=');
        snprintf(name, sizeof name, "%.*s", (int)(sign - *settings), *settings);
        setenv(name, sign + 1, 1);
    }
}

enum { SETTINGS = 8 };

START_TEST(each_launcher_is_found)
{
    static const struct {
        const char *settings[SETTINGS], *text;
        gn_launcher_kind by;
        bool disputed;
    } cases[] = {
        {{"RANK=2", "WORLD_SIZE=8"}, "rank 2 of 8 from the environment (RANK)", GN_BY_ENVIRONMENT, false},
        {{"RANK=2", "WORLD_SIZE=8", "TORCHELASTIC_RUN_ID=none"},
         "rank 2 of 8 from torchrun (RANK)",
         GN_BY_ENVIRONMENT,
         false},
        {{"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=8", "PMIX_RANK=2"},
         "rank 2 of 8 from Open MPI (OMPI_COMM_WORLD_RANK)",
         GN_BY_OPEN_MPI,
         false},
        {{"PMI_RANK=0", "PMI_SIZE=256"}, "rank 0 of 256 from MPICH's Hydra (PMI_RANK)", GN_BY_PMI, false},
        {{"SLURM_STEP_ID=0", "SLURM_PROCID=2", "SLURM_NTASKS=8"},
         "rank 2 of 8 from Slurm (SLURM_PROCID)",
         GN_BY_SLURM,
         false},
        // The step is what counts, not the allocation.
        {{"SLURM_STEP_ID=3", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_NTASKS=8"},
         "rank 1 of 2 from Slurm (SLURM_PROCID)",
         GN_BY_SLURM,
         false},
        // srun --mpi=pmix, --mpi=pmi2
        {{"SLURM_STEP_ID=0", "SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=8", "PMIX_RANK=2"},
         "rank 2 of 8 from Slurm (SLURM_PROCID)",
         GN_BY_SLURM,
         false},
        {{"SLURM_STEP_ID=0", "SLURM_PROCID=2", "SLURM_NTASKS=8", "PMI_RANK=2", "PMI_SIZE=8", "PMI_JOBID=1.0"},
         "rank 2 of 8 from Slurm (SLURM_PROCID)",
         GN_BY_SLURM,
         false},
        // mpiexec within a job of Slurm, whose steps are then Hydra's helpers
        {{"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "PMI_RANK=3", "PMI_SIZE=4"},
         "rank 3 of 4 from MPICH's Hydra (PMI_RANK); not taken: rank 1 of 2 from Slurm (SLURM_PROCID)",
         GN_BY_PMI,
         true},
        // srun torchrun
        {{"RANK=5", "WORLD_SIZE=8", "SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2"},
         "rank 5 of 8 from the environment (RANK); not taken: rank 1 of 2 from Slurm (SLURM_PROCID)",
         GN_BY_ENVIRONMENT,
         true},
        {{"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=8", "PMIX_RANK=3"},
         "rank 2 of 8 from Open MPI (OMPI_COMM_WORLD_RANK); not taken: rank 3 of 8 from PMIx (PMIX_RANK)",
         GN_BY_OPEN_MPI,
         true},
        // What is broken further down does not matter.
        {{"RANK=0", "WORLD_SIZE=1", "PMI_RANK=x"}, "rank 0 of 1 from the environment (RANK)", GN_BY_ENVIRONMENT, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        say(cases[i].settings);
        ck_assert_msg(gn_place_find(-1, -1, &place, &error) == GN_OK, "%zu: %s", i, error.text);
        ck_assert_str_eq(place.text, cases[i].text);
        ck_assert_int_eq(place.by, cases[i].by);
        ck_assert_int_eq(place.disputed, cases[i].disputed);
    }
}
END_TEST

START_TEST(wrong_variables_are_named)
{
    static const struct {
        const char *settings[SETTINGS], *text;
        gn_launcher_kind by;
    } cases[] = {
        {{0}, "no ranks: set RANK and WORLD_SIZE, or start with a launcher (torchrun, mpirun, srun)", GN_LAUNCHERS},
        {{"RANK=0"}, "no ranks: RANK is set in the environment, and WORLD_SIZE is not", GN_BY_ENVIRONMENT},
        {{"PMI_SIZE=2"}, "no ranks: PMI_SIZE is set in the environment, and PMI_RANK is not", GN_BY_PMI},
        {{"SLURM_STEP_ID=0", "SLURM_PROCID=0"},
         "no ranks: SLURM_PROCID is set in the environment, and SLURM_NTASKS is not",
         GN_BY_SLURM},
        {{"RANK=x", "WORLD_SIZE=2"}, "RANK is 'x' in the environment: want 0 to 1", GN_BY_ENVIRONMENT},
        {{"RANK=", "WORLD_SIZE=2"}, "RANK is '' in the environment: want 0 to 1", GN_BY_ENVIRONMENT},
        {{"RANK=1 ", "WORLD_SIZE=2"}, "RANK is '1 ' in the environment: want 0 to 1", GN_BY_ENVIRONMENT},
        {{"RANK=0", "WORLD_SIZE=+2"}, "WORLD_SIZE is '+2' in the environment: want 1 to 256", GN_BY_ENVIRONMENT},
        {{"RANK=0", "WORLD_SIZE=99999999999999999999"},
         "WORLD_SIZE is '99999999999999999999' in the environment: want 1 to 256",
         GN_BY_ENVIRONMENT},
        {{"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=2"},
         "OMPI_COMM_WORLD_RANK is '2' in the environment: want 0 to 1",
         GN_BY_OPEN_MPI},
        {{"PMI_RANK=0", "PMI_SIZE=257"}, "PMI_SIZE is '257' in the environment: want 1 to 256", GN_BY_PMI},
        {{"PMIX_RANK=0"},
         "no ranks: PMIX_RANK is set, and PMIx has no variable for the number of ranks: set RANK and WORLD_SIZE",
         GN_BY_PMIX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        say(cases[i].settings);
        ck_assert_fails(gn_place_find(-1, -1, &place, &error), cases[i].text);
        ck_assert_int_eq(place.by, cases[i].by);
    }
}
END_TEST

// A batch script, an interactive shell (its step has a number of its own) and a shell after salloc
// are in the job, and no ranks.
START_TEST(a_shell_of_slurm_is_no_rank)
{
    static const char *const shells[][SETTINGS] = {
        {"SLURM_PROCID=0", "SLURM_NTASKS=4"},
        {"SLURM_PROCID=0", "SLURM_NTASKS=4", "SLURM_STEP_ID=4294967290"},
        {"SLURM_PROCID=0", "SLURM_NTASKS=4", "SLURM_STEP_ID=4294967291"},
        {"SLURM_STEP_ID=0", "SLURM_NTASKS=4"},
    };
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        say(shells[i]);
        ck_assert_int_eq(gn_place_find(-1, -1, &place, &error), GN_INVALID);
        ck_assert_int_eq(place.by, GN_LAUNCHERS);
    }
}
END_TEST

START_TEST(what_is_given_is_not_asked_for)
{
    const char *const open_mpi[] = {"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=8", NULL};
    const char *const wrong[] = {"RANK=x", "WORLD_SIZE=y", NULL}, *const size[] = {"WORLD_SIZE=4", NULL};
    say(wrong);
    ck_assert_int_eq(gn_place_find(1, 2, &place, &error), GN_OK);
    ck_assert(place.rank == 1 && place.size == 2 && place.by == GN_LAUNCHERS && !*place.text);
    say(open_mpi);
    ck_assert_int_eq(gn_place_find(-1, 4, &place, &error), GN_OK);
    ck_assert_str_eq(place.text, "rank 2 of 4 from Open MPI (OMPI_COMM_WORLD_RANK)");
    ck_assert_int_eq(gn_place_find(7, -1, &place, &error), GN_OK);
    ck_assert_str_eq(place.text, "rank 7 of 8 from Open MPI (OMPI_COMM_WORLD_SIZE)");
    ck_assert_fails(gn_place_find(-1, 2, &place, &error),
                    "OMPI_COMM_WORLD_RANK is '2' in the environment: want 0 to 1");
    ck_assert_fails(gn_place_find(8, -1, &place, &error),
                    "rank 8: OMPI_COMM_WORLD_SIZE is 8 in the environment, and ranks count from 0");
    say(size);  // without a launcher, WORLD_SIZE alone is enough for a rank that is given
    ck_assert_int_eq(gn_place_find(3, -1, &place, &error), GN_OK);
    ck_assert_int_eq(place.size, 4);
}
END_TEST

START_TEST(a_job_is_its_ranks_alone)
{
    const char *const both[] = {"RANK=2", "WORLD_SIZE=8", "OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=8", NULL};
    const char *const pmix[] = {"PMIX_RANK=2", NULL}, *const none[] = {"RANK=2", "WORLD_SIZE=8", NULL};
    say(both);
    ck_assert(gn_launcher_of(2, 8) && gn_launcher_of(2, 8)->kind == GN_BY_OPEN_MPI);
    ck_assert(!gn_launcher_of(1, 8) && !gn_launcher_of(2, 4) && !gn_launcher_of(-1, -1));
    say(pmix);
    ck_assert(gn_launcher_of(2, 8) && gn_launcher_of(2, 8)->kind == GN_BY_PMIX && !gn_launcher_of(1, 8));
    say(none);
    ck_assert(!gn_launcher_of(2, 8));
}
END_TEST

START_TEST(ranks_of_this_host)
{
    int local;
    const char *const settings[] = {"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=8", NULL};
    say(settings);
    const gn_launcher *l = gn_launcher_of(2, 8);
    ck_assert(l != NULL);
    ck_assert(!gn_launcher_local_size(l, 8, &local, &error) && !local);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
    ck_assert(!gn_launcher_local_size(l, 8, &local, &error) && local == 4);
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "4", 1);
    ck_assert_fails(gn_launcher_local_size(l, 8, &local, &error),
                    "OMPI_COMM_WORLD_LOCAL_RANK is '4' in the environment: want 0 to 3");
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "9", 1);
    ck_assert_fails(gn_launcher_local_size(l, 8, &local, &error),
                    "OMPI_COMM_WORLD_LOCAL_SIZE is '9' in the environment: want 1 to 8");
}
END_TEST

START_TEST(lists_of_hosts)
{
    static const struct {
        const char *list, *first;
        bool only;
    } good[] = {
        {"n1", "n1", true},
        {"node-1.example.org", "node-1.example.org", true},
        {"n[3]", "n3", true},
        {"n[3-3]", "n3", true},
        {"n[1-3,7]", "n1", false},
        {"n[08-11]", "n08", false},
        {"n[7,9]-ib", "n7-ib", false},
        {"rack[1-2]n[08-11]", "rack1n08", false},
        {"login,n[1-3]", "login", false},
        {"n[1],m[2]", "n1", false},
    };
    static const char *const bad[] = {"",      ",",     "n1,",  ",n1",   "n[",     "n[]",     "n[1", "n[1-",
                                      "n[1-]", "n]1",   "n[a]", "n[1]]", "n 1",    "n[1,,2]", "n/1", "n[1-2-3]",
                                      "n[-1]", "n1;n2", "\n",   "[,]",   "n1,m[1", "n1,,m"};
    char host[GN_HOST_TEXT], list[2 * GN_HOST_TEXT];
    bool only;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(gn_host_list_first(good[i].list, host, &only), "%s", good[i].list);
        ck_assert_str_eq(host, good[i].first);
        ck_assert_msg(only == good[i].only, "%s", good[i].list);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!gn_host_list_first(bad[i], host, &only), "%s", bad[i]);
    for (int length = GN_HOST_TEXT - 2; length <= GN_HOST_TEXT; length++) {  // room for the zero byte
        snprintf(list, sizeof list, "%0*d", length, 0);
        ck_assert_int_eq(gn_host_list_first(list, host, &only), length < GN_HOST_TEXT);
        snprintf(list, sizeof list, "n[%0*d-1]", length - 1, 0);
        ck_assert_int_eq(gn_host_list_first(list, host, &only), length < GN_HOST_TEXT);
    }
}
END_TEST

int main(void)
{
    return RUN_TESTS("launcher", each_launcher_is_found, wrong_variables_are_named, a_shell_of_slurm_is_no_rank,
                     what_is_given_is_not_asked_for, a_job_is_its_ranks_alone, ranks_of_this_host, lists_of_hosts);
}
