// SPDX-License-Identifier: Apache-2.0
#include "host/ending.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

int gn_ending_open(void)
{
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of that file
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
    return signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
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
