// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_KIT_WITH_PARENT_H
#define GRADNIC_TOOLS_KIT_WITH_PARENT_H
/// For a process that was forked off: it ends together with its parent, however that ends.

#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

/// `parent`: getpid() before fork(). @return false: the parent has ended already
static inline bool gn_end_with_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent;
}

#endif
