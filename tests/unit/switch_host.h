// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_SWITCH_HOST_H
#define GRADNIC_TESTS_SWITCH_HOST_H
/// A root switch for the tests of the exchange: the slot logic behind UDP on loopback. It runs one
/// job at a time, in a process of its own. It has the faults that tests want.

#include <stdint.h>
#include <sys/types.h>

typedef struct switch_faults {
    unsigned loss;        ///< per mille, each way
    unsigned deaf_after;  ///< datagrams, then none is heard any more; 0: always
    const char *refuse;   ///< every JOIN, with this text; NULL: none
    char *told;           ///< shared: the text with which a child has ended the job; NULL: not wanted
    unsigned mute_to;     ///< rank + 1 of the child that gets no results; 0: none
} switch_faults;

typedef struct switch_host {
    pid_t pid;
    char address[32];  ///< for gn_comm_config.switch_address
} switch_host;

void switch_start(switch_host *host, const switch_faults *faults);

/// With a signal: SIGTERM, SIGKILL.
void switch_stop(switch_host *host, int signal_number);

#endif
