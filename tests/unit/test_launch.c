// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "net/clock.h"
#include "suite.h"
#include "tools/kit/cli.h"
#include "tools/kit/command.h"
#include "tools/kit/launch.h"

static char folder[] = "/tmp/gradnic-test-launch-XXXXXX";

static void make_folder(void)
{
    strcpy(folder, "/tmp/gradnic-test-launch-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
}

/// The last entry of TMPDIR, in `path`. @return how many there are
static int last_entry(char path[300])
{
    int count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; (e = readdir(dir));) {
        if (*e->d_name == '.') continue;
        snprintf(path, 300, "%s/%.200s", folder, e->d_name);
        count++;
    }
    closedir(dir);
    return count;
}

static int count_entries(void)
{
    char ignored[300];
    return last_entry(ignored);
}

/// Fails unless the launcher left nothing in TMPDIR.
static void remove_folder(void)
{
    ck_assert_msg(!rmdir(folder), "something was left in %s", folder);
}

static void nap(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/// The rendezvous can be written to, and is the same for all.
static int write_rendezvous(unsigned rank, const char *rendezvous, void *context)
{
    (void)context;
    if (strncmp(rendezvous, "file:///", 8)) return GN_EXIT_FAILED;
    FILE *file = fopen(rendezvous + 7, "a");
    if (!file) return GN_EXIT_FAILED;
    fprintf(file, "%u", rank);
    return fclose(file) ? GN_EXIT_FAILED : GN_EXIT_OK;
}

static int fail_as_told(unsigned rank, const char *rendezvous, void *context)
{
    (void)rendezvous;
    const char what = ((const char *)context)[rank];
    if (what == 'k') raise(SIGKILL);
    signal(SIGTERM, what == 's' ? SIG_IGN : SIG_DFL);  // stubborn; Check has a handler of its own
    if (what == 'h' || what == 's') nap(60000);
    if (what == 'e' || what == 'l') {
        if (what == 'l') nap(100);
        gn_cli_error("gradnic test", "rank %u: failed", rank);
        return GN_EXIT_FAILED;
    }
    return what - '0';
}

/// The result and what was said on stderr.
static int launch(const char *plan, char *said, size_t room)
{
    int pipe_fd[2];
    ck_assert(!pipe(pipe_fd));
    const int before = dup(2);
    dup2(pipe_fd[1], 2);
    close(pipe_fd[1]);
    gn_launch launch = {"gradnic test", (unsigned)strlen(plan), fail_as_told, (void *)(uintptr_t)plan, 300, 0};
    const int result = gn_launch_ranks(&launch);
    dup2(before, 2);
    close(before);
    size_t length = 0;
    for (ssize_t n; length + 1 < room && (n = read(pipe_fd[0], said + length, room - 1 - length)) > 0;)
        length += (size_t)n;
    said[length] = 0;
    close(pipe_fd[0]);
    return result;
}

START_TEST(all_ranks_run_and_nothing_stays)
{
    make_folder();
    gn_launch launch = {"gradnic test", 5, write_rendezvous, NULL, 1000, 0};
    ck_assert_int_eq(gn_launch_ranks(&launch), GN_EXIT_OK);
    remove_folder();
}
END_TEST

START_TEST(a_folder_that_is_not_there)
{
    char said[1024];
    setenv("TMPDIR", "/nowhere", 1);
    ck_assert_int_eq(launch("00", said, sizeof said), 1);
    ck_assert_ptr_nonnull(strstr(said, ": No such file or directory (TMPDIR names another folder)\n"));
}
END_TEST

START_TEST(results_of_ranks)
{
    char said[1024];
    make_folder();
    ck_assert_int_eq(launch("000", said, sizeof said), 0);
    ck_assert_str_eq(said, "");
    ck_assert_int_eq(launch("0100", said, sizeof said), 1);
    ck_assert_str_eq(said, "");
    ck_assert_int_eq(launch("0020", said, sizeof said), 2);
    remove_folder();
}
END_TEST

START_TEST(a_killed_rank_is_named)
{
    char said[1024];
    make_folder();
    ck_assert_int_eq(launch("00k0", said, sizeof said), 1);
    ck_assert_str_eq(said, "gradnic test: rank 2 was killed by signal 9 (Killed)\n");
    remove_folder();
}
END_TEST

START_TEST(a_killed_rank_is_named_though_others_failed_before)
{
    char said[1024];
    make_folder();
    ck_assert_int_eq(launch("11k1", said, sizeof said), 1);
    ck_assert_str_eq(said, "gradnic test: rank 2 was killed by signal 9 (Killed)\n");
    remove_folder();
}
END_TEST

START_TEST(the_others_get_their_grace_and_no_more)
{
    char said[1024];
    make_folder();
    const uint64_t start = gn_now();
    ck_assert_int_eq(launch("s0ksh", said, sizeof said), 1);
    const uint64_t took = gn_now() - start;
    ck_assert_uint_ge(took, 290000000u);
    ck_assert_uint_lt(took, 10000000000u);
    ck_assert_ptr_nonnull(strstr(said, "rank 2 was killed by signal 9"));
    ck_assert_ptr_nonnull(strstr(said, "rank 0 did not end and was killed"));
    ck_assert_ptr_nonnull(strstr(said, "rank 3 did not end and was killed"));
    ck_assert_ptr_null(strstr(said, "rank 4"));
    ck_assert_ptr_null(strstr(said, "rank 0 was"));
    ck_assert_ptr_null(strstr(said, "rank 3 was"));
    remove_folder();
}
END_TEST

// A rank that waits for the one that failed is ended, and says nothing.
START_TEST(who_waits_is_ended)
{
    char said[1024];
    make_folder();
    const uint64_t start = gn_now();
    ck_assert_int_eq(launch("h1hh", said, sizeof said), 1);
    ck_assert_uint_lt(gn_now() - start, 1900000000u);
    ck_assert_str_eq(said, "");
    remove_folder();
}
END_TEST

// The cause is said once more at the end, but not when it stands alone.
START_TEST(the_first_error_is_repeated)
{
    char said[1024];
    make_folder();
    ck_assert_int_eq(launch("0el", said, sizeof said), 1);
    ck_assert_str_eq(said, "gradnic test: rank 1: failed\ngradnic test: rank 2: failed\n"
                           "gradnic test: the first error was: rank 1: failed\n");
    ck_assert_int_eq(launch("00e", said, sizeof said), 1);
    ck_assert_str_eq(said, "gradnic test: rank 2: failed\n");
    remove_folder();
}
END_TEST

static int say_pid_and_hang(unsigned rank, const char *rendezvous, void *context)
{
    (void)rank, (void)rendezvous;
    const pid_t pid = getpid();
    if (write(*(int *)context, &pid, sizeof pid) != sizeof pid) return 1;
    nap(60000);
    return 0;
}

/// Starts a launcher with 3 hanging ranks and sends it signal `number`. Checks that it dies of that
/// and takes the ranks along.
static void end_by(int number)
{
    int pipe_fd[2];
    ck_assert(!pipe(pipe_fd));
    const pid_t launcher = fork();
    if (!launcher) {
        signal(SIGINT, SIG_DFL);  // Check has handlers of its own
        signal(SIGTERM, SIG_DFL);
        signal(SIGALRM, SIG_DFL);
        signal(number, SIG_DFL);  // nohup has SIGHUP ignored, and so does the launcher then
        gn_launch launch = {"gradnic test", 3, say_pid_and_hang, &pipe_fd[1], 300, 0};
        _exit(gn_launch_ranks(&launch));
    }
    close(pipe_fd[1]);
    pid_t rank[3];
    for (int i = 0; i < 3; i++) ck_assert_int_eq(read(pipe_fd[0], &rank[i], sizeof rank[i]), sizeof rank[i]);
    kill(launcher, number);
    int status;
    ck_assert_int_eq(waitpid(launcher, &status, 0), launcher);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == number);
    char byte;  // the write end closes when the last rank is gone
    ck_assert_int_eq(read(pipe_fd[0], &byte, 1), 0);
    close(pipe_fd[0]);
}

// `gradnic train -N 4 2>&1 | head -1`: a rank dies of the closed pipe. So does the launcher that
// says so, and it takes its folder along.
START_TEST(nothing_stays_when_nobody_reads)
{
    make_folder();
    int pipe_fd[2], status;
    ck_assert(!pipe(pipe_fd));
    close(pipe_fd[0]);  // ahead of the launcher, which may be quick
    const pid_t launcher = fork();
    if (!launcher) {
        signal(SIGPIPE, SIG_DFL);
        signal(SIGTERM, SIG_DFL);  // Check has a handler of its own
        dup2(pipe_fd[1], 2);
        close(pipe_fd[1]);
        gn_launch launch = {"gradnic test", 3, fail_as_told, (void *)(uintptr_t) "0eh", 300, 0};
        _exit(gn_launch_ranks(&launch));
    }
    close(pipe_fd[1]);
    ck_assert_int_eq(waitpid(launcher, &status, 0), launcher);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
    remove_folder();
}
END_TEST

START_TEST(signals_end_everything)
{
    make_folder();
    end_by(SIGINT);
    end_by(SIGTERM);
    end_by(SIGHUP);
    // Batch systems send these before they kill.
    end_by(SIGQUIT);
    end_by(SIGPIPE);
    end_by(SIGXCPU);
    end_by(SIGALRM);
    end_by(SIGUSR1);
    end_by(SIGUSR2);
    remove_folder();
    make_folder();
    end_by(SIGKILL);  // cannot clean up after itself, but the ranks go, and so does the folder later
    ck_assert_int_eq(count_entries(), 1);
    gn_launch launch = {"gradnic test", 1, write_rendezvous, NULL, 1000, 0};
    ck_assert_int_eq(gn_launch_ranks(&launch), GN_EXIT_OK);
    remove_folder();
}
END_TEST

static int write_and_die(unsigned rank, const char *rendezvous, void *context)
{
    write_rendezvous(rank, rendezvous, context);
    kill(getppid(), SIGKILL);
    nap(60000);
    return 1;
}

/// How many folders are left once the next launcher has gone.
static int left_by_next(void)
{
    gn_launch launch = {"gradnic test", 1, write_rendezvous, NULL, 1000, 0};
    ck_assert_int_eq(gn_launch_ranks(&launch), GN_EXIT_OK);
    return count_entries();
}

// A launcher removes what one left that was killed. Not what somebody still uses, or what is not a
// launcher's.
START_TEST(only_what_is_left_goes)
{
    make_folder();
    const pid_t launcher = fork();
    if (!launcher) {
        gn_launch launch = {"gradnic test", 2, write_and_die, NULL, 300, 0};
        _exit(gn_launch_ranks(&launch));
    }
    int status;
    ck_assert_int_eq(waitpid(launcher, &status, 0), launcher);
    ck_assert_int_eq(count_entries(), 1);
    char left[300], path[400], other[400];
    last_entry(left);
    // Somebody has it.
    const int fd = open(left, O_RDONLY | O_DIRECTORY);
    ck_assert(!flock(fd, LOCK_EX));
    ck_assert_int_eq(left_by_next(), 1);
    ck_assert(!flock(fd, LOCK_UN));
    // Another mode, something in it, a file, a link, an older version's.
    ck_assert(!chmod(left, 0755));
    ck_assert_int_eq(left_by_next(), 1);
    ck_assert(!chmod(left, 0700));
    snprintf(path, sizeof path, "%s/mine", left);
    fclose(fopen(path, "w"));
    ck_assert_int_eq(left_by_next(), 1);
    ck_assert(!unlink(path));
    snprintf(other, sizeof other, "%s/mine", folder);
    ck_assert(!rename(left, other) && !symlink(other, left));
    ck_assert_int_eq(left_by_next(), 2);
    ck_assert(!unlink(left));
    fclose(fopen(left, "w"));
    ck_assert_int_eq(left_by_next(), 2);
    ck_assert(!unlink(left) && !rename(other, left));
    ck_assert_int_eq(left_by_next(), 0);
    close(fd);
    remove_folder();
}
END_TEST

int main(void)
{
    return RUN_TESTS("launch", all_ranks_run_and_nothing_stays, a_folder_that_is_not_there, results_of_ranks,
                     a_killed_rank_is_named, a_killed_rank_is_named_though_others_failed_before,
                     the_others_get_their_grace_and_no_more, who_waits_is_ended, the_first_error_is_repeated,
                     nothing_stays_when_nobody_reads, signals_end_everything, only_what_is_left_goes);
}
