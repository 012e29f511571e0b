// SPDX-License-Identifier: Apache-2.0
// Ranks that a launcher has started, and that are told nothing else: where they meet, and what they
// say when that cannot be known. Launchers are played by their variables.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "free_port.h"
#include "launcher_variables.h"
#include "net/address.h"
#include "own_interface.h"
#include "ring/bootstrap/job_meeting.h"
#include "suite.h"

enum { SIZE = 3 };

static char folder[64];  ///< XDG_RUNTIME_DIR of the tests
static gn_rendezvous meeting;
static gn_error error;
static int pmi_fd;  ///< as Hydra's proxy makes it

static void set_number(const char *name, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    setenv(name, text, 1);
}

static void be_open_mpi(int rank, int local)
{
    set_number("OMPI_COMM_WORLD_RANK", rank);
    set_number("OMPI_COMM_WORLD_SIZE", SIZE);
    set_number("OMPI_COMM_WORLD_LOCAL_SIZE", local);
    setenv("PMIX_NAMESPACE", "prterun-host-1@1", 1);
}

static void be_hydra(int rank)
{
    set_number("PMI_RANK", rank);
    set_number("PMI_SIZE", SIZE);
    set_number("MPI_LOCALNRANKS", SIZE);
    set_number("PMI_FD", pmi_fd);
}

/// With its own store at MASTER_PORT.
static void be_torchrun(int rank, int local)
{
    set_number("RANK", rank);
    set_number("WORLD_SIZE", SIZE);
    set_number("LOCAL_RANK", rank % local);
    set_number("LOCAL_WORLD_SIZE", local);
    setenv("MASTER_ADDR", "localhost", 1);
    if (!getenv("MASTER_PORT")) setenv("MASTER_PORT", "29500", 1);
    setenv("TORCHELASTIC_RUN_ID", "none", 1);
    setenv("TORCHELASTIC_RESTART_COUNT", "0", 1);
    setenv("TORCHELASTIC_USE_AGENT_STORE", "True", 1);
}

static void be_slurm(int rank, const char *hosts)
{
    set_number("SLURM_PROCID", rank);
    set_number("SLURM_STEP_NUM_TASKS", SIZE);
    setenv("SLURM_JOB_ID", "1001", 1);
    setenv("SLURM_STEP_ID", "3", 1);
    setenv("SLURM_STEP_NODELIST", hosts, 1);
}

static gn_status choose(int rank)
{
    return gn_meeting_choose(NULL, rank, SIZE, &meeting, &error);
}

static void begin(void)
{
    int pair[2];
    forget_launchers();
    snprintf(folder, sizeof folder, "/tmp/gradnic-test-XXXXXX");
    ck_assert(mkdtemp(folder) && !setenv("XDG_RUNTIME_DIR", folder, 1));
    ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    pmi_fd = pair[0];
}

/// Nothing is left in the folder.
static void end(void)
{
    ck_assert_msg(!rmdir(folder), "%s is not empty", folder);
}

// They meet ---------------------------------------------------------------------------------------

enum { OPEN_MPI, HYDRA, SLURM, TORCHRUN, SLURM_HOSTS, TORCHRUN_HOSTS };

typedef struct told {
    bool rank, meeting;
} told;

static void listen_to(void *context, gn_log_level level, const char *text)
{
    told *t = context;
    t->rank |= level == GN_LOG_INFO && !strncmp(text, "rank ", 5) && strstr(text, " of 3 from ");
    t->meeting |= level == GN_LOG_INFO && (strstr(text, "are on this host, and meet at ") ||
                                           strstr(text, "the first host") || strstr(text, "as torchrun has its store"));
}

/// Whether all of this process's TCP connections stay on this host.
static bool on_loopback(void)
{
    for (int fd = 0; fd < 256; fd++) {
        struct sockaddr_storage address = {0};
        socklen_t length = sizeof address;
        if (getsockname(fd, (struct sockaddr *)&address, &length)) continue;
        const gn_endpoint endpoint = gn_endpoint_from_sockaddr(&address);
        if (endpoint.ip.version && !gn_ip_is_loopback(&endpoint.ip)) return false;
    }
    return true;
}

static void run_launched(int rank, const ranks *group, void *argument)
{
    const int way = *(int *)argument;
    told t = {0};
    (void)group;
    if (way == OPEN_MPI) be_open_mpi(rank, SIZE);
    if (way == HYDRA) be_hydra(rank);
    if (way == SLURM) be_slurm(rank, "n1");
    if (way == TORCHRUN) be_torchrun(rank, SIZE);
    if (way == TORCHRUN_HOSTS) be_torchrun(rank, 1);
    if (way == SLURM_HOSTS) be_slurm(rank, getenv("OWN_HOST"));
    gn_comm_config config = gn_comm_config_default();
    config.timeout_ms = 20000;
    config.log = listen_to;
    config.log_context = &t;
    for (int again = 0; again < 2; again++) {  // a program may make several groups, one after the other
        gn_comm *comm = rank_init(rank, group, &config);
        if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
        RANK_CHECK(comm && gn_comm_rank(comm) == rank && gn_comm_size(comm) == SIZE && t.rank && t.meeting);
        RANK_CHECK(way == SLURM_HOSTS || on_loopback());
        float value = (float)rank;
        RANK_CHECK(!gn_allreduce(comm, &value, &value, 1, GN_SUM) && value == 3);
        gn_comm_free(comm);
    }
}

static void all_meet(int way)
{
    ranks group;
    ranks_start(&group, SIZE, run_launched, &way);
    ranks_wait(&group, 60);
    for (int rank = 0; rank < SIZE; rank++)
        ck_assert_msg(!group.exits[rank], "rank %d: %s", rank, group.reports[rank].text);
    ranks_free(&group);
}

START_TEST(test_one_host)
{
    all_meet(_i);
}
END_TEST

START_TEST(test_several_hosts_of_slurm)
{
    own_interface own;
    char list[GN_IP_TEXT + 8];
    if (!own_interface_find(&own)) return;
    snprintf(list, sizeof list, "%s,other", own.address);
    setenv("OWN_HOST", list, 1);
    set_number("GRADNIC_MASTER_PORT", free_port());
    all_meet(SLURM_HOSTS);
}
END_TEST

// The port that torchrun names is its own.
START_TEST(test_beside_the_store_of_torchrun)
{
    const int store = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof a;
    ck_assert(!bind(store, (struct sockaddr *)&a, sizeof a) && !listen(store, 16));
    ck_assert(!getsockname(store, (struct sockaddr *)&a, &length));
    set_number("MASTER_PORT", ntohs(a.sin_port));
    all_meet(_i);
    close(store);
}
END_TEST

// A rank 0 with the same name for its job was killed, and its port is another program's now.
START_TEST(test_stale_file)
{
    const int other = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof a;
    ck_assert(!bind(other, (struct sockaddr *)&a, sizeof a) && !listen(other, 16));
    ck_assert(!getsockname(other, (struct sockaddr *)&a, &length));
    be_slurm(0, "n1");
    ck_assert_int_eq(choose(0), GN_OK);
    FILE *file = fopen(meeting.file.path, "w");
    ck_assert(file);
    fprintf(file, "gradnic-rendezvous 1 127.0.0.1 %u\n", ntohs(a.sin_port));
    fclose(file);
    all_meet(SLURM);
    ck_assert_int_lt(accept(other, NULL, NULL), 0);
    close(other);
}
END_TEST

// Where they meet ---------------------------------------------------------------------------------

static uint64_t job_of(int rank)
{
    ck_assert_msg(choose(rank) == GN_OK, "%s", error.text);
    ck_assert(meeting.is_file && meeting.one_host && !strncmp(meeting.file.path, folder, strlen(folder)));
    return meeting.job;
}

START_TEST(test_jobs_are_told_apart)
{
    static const char *const names[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"};
    char first[512];
    be_open_mpi(0, SIZE);
    uint64_t job = job_of(0);
    snprintf(first, sizeof first, "%s", meeting.file.path);
    be_open_mpi(1, SIZE);
    ck_assert(job_of(1) == job && !strcmp(first, meeting.file.path));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        setenv(names[i], "another", 1);
        ck_assert(job_of(1) != job && strcmp(first, meeting.file.path) != 0);
        job = meeting.job;
    }
    setenv("GRADNIC_JOB", "named", 1);
    const uint64_t named = job_of(1);
    ck_assert(named != job);

    forget_launchers();
    be_slurm(0, "n1");
    job = job_of(0);
    setenv("SLURM_STEP_ID", "4", 1);
    ck_assert(job_of(0) != job);

    forget_launchers();
    be_hydra(0);
    job = job_of(0);
    fflush(NULL);
    const pid_t child = fork();  // another proxy
    if (!child) {
        int pair[2], status;
        status = socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
        pmi_fd = pair[0];
        be_hydra(0);
        _exit(!status && !choose(0) && meeting.job != job ? 0 : 9);
    }
    int status;
    ck_assert(waitpid(child, &status, 0) == child && !status);
    setenv("PMI_FD", "999", 1);
    ck_assert_fails(choose(0), "MPICH's Hydra does not say which job this is: set MASTER_ADDR and MASTER_PORT (mpiexec "
                               "-genv MASTER_ADDR HOST -genv MASTER_PORT 29500)");
}
END_TEST

START_TEST(test_hosts_of_slurm)
{
    be_slurm(1, "rack[07-09]n[1-2],login");
    ck_assert_int_eq(choose(1), GN_OK);
    ck_assert(!meeting.is_file && meeting.several_hosts);
    ck_assert_str_eq(meeting.host, "rack07n1");
    ck_assert_uint_eq(meeting.port, 20000 + (16 * 1001 + 3) % 10000);
    ck_assert_str_eq(meeting.text, "ranks meet at rack07n1:26019, the first host of SLURM_STEP_NODELIST");
    setenv("GRADNIC_MASTER_PORT", "4711", 1);
    ck_assert(choose(1) == GN_OK && meeting.port == 4711);
    setenv("GRADNIC_MASTER_PORT", "0", 1);
    ck_assert_fails(choose(1), "GRADNIC_MASTER_PORT is '0': want a port, 1 to 65535");
    setenv("SLURM_DISTRIBUTION", "arbitrary", 1);
    ck_assert_fails(choose(1), "the ranks are on several hosts in an arbitrary order (SLURM_DISTRIBUTION), and Slurm "
                               "does not say where rank 0 is: set MASTER_ADDR to its host, and MASTER_PORT (srun "
                               "--export=ALL,MASTER_ADDR=HOST,MASTER_PORT=29500)");
    setenv("SLURM_STEP_NODELIST", "n[1-", 1);
    ck_assert_fails(choose(1), "SLURM_STEP_NODELIST is 'n[1-': want Slurm's list of hosts, as n[1-3,7]");
    unsetenv("SLURM_STEP_NODELIST");
    ck_assert_fails(choose(1), "SLURM_JOB_NODELIST is '': want Slurm's list of hosts, as n[1-3,7]");
    setenv("SLURM_JOB_ID", "x", 1);
    ck_assert_fails(choose(1), "SLURM_JOB_ID is 'x': want a number");
}
END_TEST

START_TEST(test_port_beside_torchrun)
{
    be_torchrun(1, SIZE);
    const uint64_t unnamed = job_of(1);
    char first[512];
    snprintf(first, sizeof first, "%s", meeting.file.path);
    setenv("TORCHELASTIC_RESTART_COUNT", "1", 1);  // after a failure torchrun starts all again
    ck_assert(job_of(1) == unnamed && strcmp(first, meeting.file.path) != 0);
    be_torchrun(1, SIZE - 1);  // two hosts
    ck_assert_int_eq(choose(1), GN_OK);
    ck_assert(!meeting.is_file && !meeting.one_host && meeting.port == 24500);
    ck_assert_str_eq(meeting.host, "localhost");
    ck_assert_str_eq(meeting.text, "ranks meet at localhost:24500, as torchrun has its store at MASTER_PORT, 29500");
    setenv("MASTER_PORT", "65535", 1);
    ck_assert(choose(1) == GN_OK && meeting.port == 20535);
    setenv("MASTER_PORT", "24500", 1);
    ck_assert(choose(1) == GN_OK && meeting.port == 29500);
    set_number("LOCAL_WORLD_SIZE", SIZE + 1);
    ck_assert_fails(choose(1), "LOCAL_WORLD_SIZE is '4' in the environment: want 1 to 3");

    // A group of some of the ranks is not the job.
    be_torchrun(1, SIZE);
    ck_assert(!gn_meeting_choose("env", 0, SIZE - 1, &meeting, &error) && !meeting.is_file && meeting.port == 29500);
    // What somebody has said comes first.
    ck_assert(!gn_meeting_choose("tcp://h:5", 1, SIZE, &meeting, &error) && !meeting.is_file && meeting.port == 5);
    setenv("GRADNIC_MASTER_PORT", "4711", 1);
    ck_assert(choose(1) == GN_OK && !meeting.is_file && meeting.port == 4711);
    unsetenv("GRADNIC_MASTER_PORT");
    setenv("TORCHELASTIC_USE_AGENT_STORE", "False", 1);  // etcd: the port is free
    ck_assert(choose(1) == GN_OK && !meeting.is_file && meeting.port == 24500);
}
END_TEST

START_TEST(test_a_first_host_that_is_loopback)
{
    gn_comm_config config = gn_comm_config_default();
    gn_comm *comm;
    be_slurm(0, "localhost,other");
    ck_assert_int_eq(gn_comm_init(&comm, &config), GN_INVALID);
    ck_assert_str_eq(gn_comm_last_error(NULL),
                     "localhost leads to loopback on this host (/etc/hosts), where ranks on other hosts do not find "
                     "rank 0: set MASTER_ADDR to an address of this host, and MASTER_PORT");
}
END_TEST

START_TEST(test_several_hosts_of_others)
{
    be_open_mpi(0, 1);
    ck_assert_fails(choose(0), "1 of 3 ranks are on this host, and Open MPI does not say where rank 0 is: set "
                               "MASTER_ADDR to its host, and MASTER_PORT (mpirun -x MASTER_ADDR=HOST -x "
                               "MASTER_PORT=29500)");
    unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    ck_assert_fails(choose(0), "the ranks may be on several hosts, and Open MPI does not say where rank 0 is: set "
                               "MASTER_ADDR to its host, and MASTER_PORT (mpirun -x MASTER_ADDR=HOST -x "
                               "MASTER_PORT=29500)");
    set_number("OMPI_COMM_WORLD_LOCAL_SIZE", 4);
    ck_assert_fails(choose(0), "OMPI_COMM_WORLD_LOCAL_SIZE is '4' in the environment: want 1 to 3");
}
END_TEST

// What somebody has said comes first, even when it is only half of it.
START_TEST(test_said_comes_first)
{
    be_open_mpi(0, SIZE);
    ck_assert(gn_meeting_choose("tcp://h:5", 0, SIZE, &meeting, &error) == GN_OK && !meeting.is_file);
    ck_assert(gn_meeting_choose("env", 0, SIZE, &meeting, &error) == GN_OK && meeting.is_file);
    setenv("MASTER_PORT", "29500", 1);
    ck_assert_int_eq(choose(0), GN_INVALID);
    ck_assert_msg(!strncmp(error.text, "MASTER_ADDR is not set", 22), "%s", error.text);
    setenv("MASTER_ADDR", "h", 1);
    ck_assert(choose(0) == GN_OK && !meeting.is_file && !strcmp(meeting.host, "h") && !*meeting.text);
    unsetenv("MASTER_ADDR");
    unsetenv("MASTER_PORT");
    // A group of some of the job's ranks is not the job.
    ck_assert_int_eq(gn_meeting_choose(NULL, 0, SIZE - 1, &meeting, &error), GN_INVALID);
}
END_TEST

START_TEST(test_config_check)
{
    gn_comm_config config = gn_comm_config_default();
    ck_assert_int_eq(gn_comm_config_check(&config), GN_INVALID);
    be_open_mpi(0, SIZE);
    ck_assert_int_eq(gn_comm_config_check(&config), GN_OK);
    config.rank = 0;
    config.size = SIZE;
    ck_assert_int_eq(gn_comm_config_check(&config), GN_OK);
    config.size = SIZE + 1;
    ck_assert_int_eq(gn_comm_config_check(&config), GN_INVALID);
}
END_TEST

// Others could lay files into it.
START_TEST(test_an_open_folder_is_not_used)
{
    be_open_mpi(0, SIZE);
    ck_assert(!chmod(folder, 0755));
    ck_assert_int_eq(choose(0), GN_OK);
    ck_assert(strncmp(meeting.file.path, folder, strlen(folder)) != 0);
    ck_assert(!chmod(folder, 0700));
}
END_TEST

/// As that user with a home: the ranks meet there, also when the folder of somebody else goes.
static int check_home(uid_t uid, const char *taken)
{
    char home[] = "/tmp/gradnic-test-XXXXXX", mine[512] = "";
    struct stat s;
    if (seteuid(0) || !mkdtemp(home) || chown(home, uid, (gid_t)-1) || mkdir(taken, 0755) || seteuid(uid)) return 10;
    setenv("HOME", home, 1);
    for (int turn = 0; turn < 2; turn++) {
        if (choose(0) || strncmp(meeting.file.path, home, strlen(home)) != 0) return 11 + turn;
        snprintf(mine, sizeof mine, "%s", meeting.file.path);
        *strrchr(mine, '/') = 0;
        if (stat(mine, &s) || s.st_uid != uid || (s.st_mode & 0777) != 0700) return 13;
        if (!turn && (seteuid(0) || rmdir(taken) || seteuid(uid))) return 14;
    }
    // In a home that others can write to they could take it away.
    if (rmdir(mine) || chmod(home, 0777) || choose(0) || strncmp(meeting.file.path, taken, strlen(taken)) != 0)
        return 15;
    return rmdir(taken) || seteuid(0) || rmdir(home) ? 16 : 0;
}

/// As a user who has nothing yet, and whose folder somebody else makes first.
static int check_as(uid_t uid)
{
    char path[64], words[200];
    struct stat s;
    snprintf(path, sizeof path, "/tmp/gradnic-%u", uid);
    be_open_mpi(0, SIZE);
    unsetenv("HOME");
    if (symlink(folder, path) || seteuid(uid)) return 1;
    const bool refused = choose(0) == GN_IO;
    snprintf(words, sizeof words, "%s: is not a folder that belongs to user %u with mode 0700", path, uid);
    if (!refused || strncmp(error.text, words, strlen(words)) != 0) return 2;
    if (seteuid(0) || unlink(path) || seteuid(uid)) return 3;
    if (choose(0) || stat(path, &s) || s.st_uid != uid || (s.st_mode & 0777) != 0700) return 4;
    return rmdir(path) ? 5 : check_home(uid, path);
}

START_TEST(test_a_folder_of_somebody_else)
{
    if (geteuid()) {
        fprintf(stderr, "skipped: not root, so nobody else can be played\n");
        return;
    }
    fflush(NULL);
    const pid_t child = fork();
    if (!child) _exit(check_as(1000000 + (uid_t)getpid()));
    int status;
    ck_assert(waitpid(child, &status, 0) == child);
    ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comm launcher");
    TCase *tcase = tcase_create("launcher");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_loop_test(tcase, test_one_host, OPEN_MPI, SLURM_HOSTS);
    tcase_add_loop_test(tcase, test_beside_the_store_of_torchrun, TORCHRUN, TORCHRUN + 1);
    tcase_add_loop_test(tcase, test_beside_the_store_of_torchrun, TORCHRUN_HOSTS, TORCHRUN_HOSTS + 1);
    tcase_add_test(tcase, test_several_hosts_of_slurm);
    tcase_add_test(tcase, test_stale_file);
    tcase_add_test(tcase, test_jobs_are_told_apart);
    tcase_add_test(tcase, test_hosts_of_slurm);
    tcase_add_test(tcase, test_port_beside_torchrun);
    tcase_add_test(tcase, test_a_first_host_that_is_loopback);
    tcase_add_test(tcase, test_several_hosts_of_others);
    tcase_add_test(tcase, test_said_comes_first);
    tcase_add_test(tcase, test_config_check);
    tcase_add_test(tcase, test_an_open_folder_is_not_used);
    tcase_add_test(tcase, test_a_folder_of_somebody_else);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
