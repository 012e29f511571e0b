// SPDX-License-Identifier: Apache-2.0
#include "host/ending.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static pthread_t reader;

/// Libraries start threads before main(), OpenBLAS for one, that do not block signals. The kernel
/// gives such a thread a signal of the process. It must not end the process there.
static void pass_on(int number)
{
    const int before = errno;
    pthread_kill(reader, number);
    errno = before;
}

int gn_ending_open(void)
{
    sigset_t ending;
    sigemptyset(&ending);
    for (int i = 0; i < NUMBERS; i++) sigaddset(&ending, numbers[i]);
    pthread_sigmask(SIG_BLOCK, &ending, NULL);  // first: an action here would call itself
    const struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    reader = pthread_self();
    for (int i = 0; i < NUMBERS; i++) {
        struct sigaction before;
        // What nohup, or a shell for its background, has ignored stays ignored.
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of that file
    return signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool gn_ending_waits(void)
{
    sigset_t waiting;
    bool any = false;
    if (sigpending(&waiting)) return false;
    for (int i = 0; i < NUMBERS; i++) any |= numbers[i] != SIGHUP && sigismember(&waiting, numbers[i]) == 1;
    return any;
}

gn_ending gn_ending_next(int fd, bool reloads)
{
    struct signalfd_siginfo signal;
    gn_ending asked = GN_ENDING_NONE;
    while (read(fd, &signal, sizeof signal) == sizeof signal) {
        const bool reload = signal.ssi_signo == SIGHUP && reloads;
        if (!reload) asked = GN_ENDING_NOW;
        if (reload && !asked) asked = GN_ENDING_RELOAD;
    }
    return asked;
}
