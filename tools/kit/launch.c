// SPDX-License-Identifier: Apache-2.0
// A process for each local rank, and a process that waits for them all.
#include "launch.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "command.h"
#include "first_error.h"
#include "meeting_folder.h"
#include "net/clock.h"
#include "with_parent.h"

typedef struct launched {
    const gn_launch *launch;
    pid_t *pid;  // of each rank's process; 0: it has ended
    unsigned alive;
    int result;
    uint64_t deadline;      // of the remaining ranks; 0: none yet
    int caught;             // the signal that ends everything; 0: none
    bool signalled;         // this process sent the ranks a signal, so their ends are not reported
    bool asked;             // the ranks that were left have got SIGTERM
    sigset_t before;        // the caller's mask, which the ranks get back
    gn_first_error *first;  // shared with the ranks
} launched;

static void signal_all(launched *l, int number)
{
    l->signalled = true;
    for (unsigned r = 0; r < l->launch->ranks; r++)
        if (l->pid[r]) kill(l->pid[r], number);
}

/// Gives the other ranks at most `ms` to end by themselves.
static void hurry(launched *l, unsigned ms)
{
    const uint64_t deadline = gn_now() + ms * GN_MILLISECOND;
    if (!l->deadline || deadline < l->deadline) l->deadline = deadline;
}

static void note_end(launched *l, unsigned rank, int status)
{
    l->pid[rank] = 0;
    l->alive--;
    if (WIFEXITED(status) && !WEXITSTATUS(status)) return;
    if (WIFSIGNALED(status) && !l->signalled)  // a rank that exits has printed its own error
        gn_cli_error(l->launch->program, "rank %u was killed by signal %d (%s)", rank, WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
    if (!l->result) l->result = WIFEXITED(status) ? WEXITSTATUS(status) : GN_EXIT_FAILED;
    hurry(l, l->launch->grace_ms ? l->launch->grace_ms : GN_LAUNCH_GRACE_MS);
}

static void reap(launched *l)
{
    for (unsigned r = 0; r < l->launch->ranks; r++) {
        int status;
        if (l->pid[r] && waitpid(l->pid[r], &status, WNOHANG) == l->pid[r]) note_end(l, r, status);
    }
}

/// The deadline has passed: asks the ranks that are left to end, and kills those that do not.
static void end_ranks(launched *l)
{
    enum { LAST_MS = 2000 };
    if (!l->asked && !l->caught) {
        l->asked = true;
        signal_all(l, SIGTERM);
        l->deadline = gn_now() + LAST_MS * GN_MILLISECOND;
        return;
    }
    for (unsigned r = 0; r < l->launch->ranks; r++)
        if (l->pid[r] && !l->caught) gn_cli_error(l->launch->program, "rank %u did not end and was killed", r);
    signal_all(l, SIGKILL);
    l->deadline = UINT64_MAX;  // SIGKILL ends them for sure
}

/// Waits until a process ends, a signal comes, or the deadline passes.
static void wait_for_news(launched *l, const sigset_t *signals)
{
    struct timespec limit = {.tv_sec = 3600};
    if (l->deadline) {
        const uint64_t now = gn_now(), left = now < l->deadline ? l->deadline - now : 0;
        if (!left) {
            end_ranks(l);
            return;
        }
        if (left < 3600 * GN_SECOND) {
            limit.tv_sec = (time_t)(left / GN_SECOND);
            limit.tv_nsec = (long)(left % GN_SECOND);
        }
    }
    const int number = sigtimedwait(signals, NULL, &limit);
    if (number <= 0 || number == SIGCHLD) return;
    l->caught = number;
    signal_all(l, SIGTERM);
    hurry(l, l->launch->end_ms ? l->launch->end_ms : GN_LAUNCH_END_MS);
}

static void start_ranks(launched *l, const char *rendezvous)
{
    const gn_launch *launch = l->launch;
    const pid_t parent = getpid();
    for (unsigned r = 0; r < launch->ranks; r++) {
        fflush(NULL);
        const pid_t pid = fork();
        if (!pid) {
            if (!gn_end_with_parent(parent)) _exit(GN_EXIT_FAILED);
            sigprocmask(SIG_SETMASK, &l->before, NULL);
            exit(launch->run(r, rendezvous, launch->context));
        }
        if (pid < 0) {
            gn_cli_error(launch->program, "rank %u cannot be started: %s", r, strerror(errno));
            l->result = GN_EXIT_FAILED;
            signal_all(l, SIGTERM);
            return;
        }
        l->pid[r] = pid;
        l->alive++;
    }
}

/// The signals to handle: SIGCHLD and those that end a program, except ignored ones (nohup). Batch
/// systems send the last ones. SIGPIPE comes when what is said here has no reader any more
/// (`2>&1 | head`): the folder goes all the same.
static sigset_t awaited_signals(void)
{
    static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2};
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction now;
        if (!sigaction(deadly[i], NULL, &now) && now.sa_handler != SIG_IGN) sigaddset(&signals, deadly[i]);
    }
    return signals;
}

/// What the ranks print comes in any order, and the cause may stand anywhere in it.
static void say_first_error(launched *l)
{
    gn_cli_keep_first(NULL);
    if (!l->first) return;
    if (l->result && !l->caught && atomic_load(&l->first->count) > 1)
        gn_cli_error(l->launch->program, "the first error was: %s", l->first->text);
    munmap(l->first, sizeof *l->first);
}

int gn_launch_ranks(const gn_launch *launch)
{
    char rendezvous[PATH_MAX + 32];
    gn_error error;
    gn_meeting_folder folder;
    launched l = {.launch = launch, .pid = calloc(launch->ranks, sizeof *l.pid)};
    const gn_status wrong = l.pid ? gn_meeting_folder_make(&folder, &error) : gn_fail_memory(&error);
    if (wrong) {
        gn_cli_error(launch->program, "%s", error.text);
        free(l.pid);
        return GN_EXIT_FAILED;
    }
    snprintf(rendezvous, sizeof rendezvous, "file://%s/" GN_MEETING_FILE, folder.path);
    const sigset_t signals = awaited_signals();
    sigprocmask(SIG_BLOCK, &signals, &l.before);
    // Without this memory only the repetition is missing.
    l.first = mmap(NULL, sizeof *l.first, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (l.first == MAP_FAILED) l.first = NULL;
    gn_cli_keep_first(l.first);
    start_ranks(&l, rendezvous);
    for (reap(&l); l.alive; reap(&l)) wait_for_news(&l, &signals);
    if (gn_meeting_folder_remove(&folder, &error)) gn_cli_note(launch->program, "%s", error.text);
    say_first_error(&l);
    free(l.pid);
    sigprocmask(SIG_SETMASK, &l.before, NULL);
    if (l.caught) raise(l.caught);
    return l.result;
}
