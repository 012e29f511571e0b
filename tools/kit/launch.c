// SPDX-License-Identifier: Apache-2.0
#include "launch.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "progress.h"

typedef struct family {
    const gn_launch *launch;
    pid_t *pid;  // 0: ended
    unsigned alive;
    int result;
    uint64_t deadline;  // of those that are left; 0: none yet
    int caught;         // the signal that ends it all; 0: none
    bool signalled;     // the ranks were sent a signal from here: that they ended by one is no news
    sigset_t before;    // the caller's mask, which the ranks get back
} family;

static void signal_all(family *f, int number)
{
    f->signalled = true;
    for (unsigned r = 0; r < f->launch->ranks; r++)
        if (f->pid[r]) kill(f->pid[r], number);
}

/// The others are given `ms` to end by themselves, unless less is left already.
static void hurry(family *f, unsigned ms)
{
    const uint64_t deadline = gn_clock_ns() + (uint64_t)ms * 1000000;
    if (!f->deadline || deadline < f->deadline) f->deadline = deadline;
}

static void note_end(family *f, unsigned rank, int status)
{
    f->pid[rank] = 0;
    f->alive--;
    if (WIFEXITED(status) && !WEXITSTATUS(status)) return;
    if (WIFSIGNALED(status) && !f->signalled)  // one that failed on its own has said why itself
        gn_cli_error(f->launch->program, "rank %u was killed by signal %d (%s)", rank, WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
    if (!f->result) f->result = WIFEXITED(status) ? WEXITSTATUS(status) : GN_EXIT_FAILED;
    hurry(f, f->launch->grace_ms);
}

static void reap(family *f)
{
    for (unsigned r = 0; r < f->launch->ranks; r++) {
        int status;
        if (f->pid[r] && waitpid(f->pid[r], &status, WNOHANG) == f->pid[r]) note_end(f, r, status);
    }
}

/// Waits for a child to end, a signal or the deadline.
static void wait_for_news(family *f, const sigset_t *signals)
{
    struct timespec limit = {.tv_sec = 3600};
    if (f->deadline) {
        const uint64_t now = gn_clock_ns(), left = now < f->deadline ? f->deadline - now : 0;
        if (!left) {
            for (unsigned r = 0; r < f->launch->ranks; r++)
                if (f->pid[r] && !f->caught) gn_cli_error(f->launch->program, "rank %u did not end; killed", r);
            signal_all(f, SIGKILL);
            f->deadline = UINT64_MAX;  // nothing survives that
            return;
        }
        if (left < 3600u * UINT64_C(1000000000)) {
            limit.tv_sec = (time_t)(left / 1000000000);
            limit.tv_nsec = (long)(left % 1000000000);
        }
    }
    const int number = sigtimedwait(signals, NULL, &limit);
    if (number <= 0 || number == SIGCHLD) return;
    f->caught = number;
    signal_all(f, SIGTERM);
    hurry(f, 2000);
}

static void start_ranks(family *f, const char *rendezvous)
{
    const gn_launch *launch = f->launch;
    const pid_t parent = getpid();
    for (unsigned r = 0; r < launch->ranks; r++) {
        fflush(NULL);
        const pid_t pid = fork();
        if (!pid) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) _exit(GN_EXIT_FAILED);  // it died before that took hold
            sigprocmask(SIG_SETMASK, &f->before, NULL);
            exit(launch->run(r, rendezvous, launch->context));
        }
        if (pid < 0) {
            gn_cli_error(launch->program, "rank %u cannot be started: %s", r, strerror(errno));
            f->result = GN_EXIT_FAILED;
            signal_all(f, SIGTERM);
            return;
        }
        f->pid[r] = pid;
        f->alive++;
    }
}

/// SIGCHLD, and what ends a program, unless whoever started it wants that ignored (nohup).
static sigset_t awaited_signals(void)
{
    static const int deadly[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction now;
        if (!sigaction(deadly[i], NULL, &now) && now.sa_handler != SIG_IGN) sigaddset(&signals, deadly[i]);
    }
    return signals;
}

static void remove_folder(const char *program, const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) unlinkat(dirfd(dir), e->d_name, 0);
    if (dir) closedir(dir);
    if (rmdir(folder)) gn_cli_note(program, "%s: %s", folder, strerror(errno));
}

int gn_launch_ranks(const gn_launch *launch)
{
    const char *tmp = getenv("TMPDIR");
    char folder[PATH_MAX], rendezvous[PATH_MAX + 32];
    snprintf(folder, sizeof folder, "%s/gradnic-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
    family f = {.launch = launch, .pid = calloc(launch->ranks, sizeof *f.pid)};
    if (!f.pid || !mkdtemp(folder)) {
        gn_cli_error(launch->program, "%s: %s", folder, strerror(errno));
        free(f.pid);
        return GN_EXIT_FAILED;
    }
    snprintf(rendezvous, sizeof rendezvous, "file://%s/rendezvous", folder);
    const sigset_t signals = awaited_signals();
    sigprocmask(SIG_BLOCK, &signals, &f.before);
    start_ranks(&f, rendezvous);
    for (reap(&f); f.alive; reap(&f)) wait_for_news(&f, &signals);
    remove_folder(launch->program, folder);
    free(f.pid);
    sigprocmask(SIG_SETMASK, &f.before, NULL);
    if (f.caught) raise(f.caught);
    return f.result;
}
