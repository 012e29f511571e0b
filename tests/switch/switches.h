// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_SWITCH_SWITCHES_H
#define GRADNIC_TESTS_SWITCH_SWITCHES_H
/// Switches in processes of their own, and workers in threads, on loopback. For Check tests:
/// whatever goes wrong fails the test.

#include <pthread.h>
#include <sys/types.h>

#include "client.h"
#include "switch/daemon/switchd.h"

enum { CLIENTS_MAX = 16 };

typedef struct running {
    pid_t pid;
    uint16_t port;
    char address[24];  ///< 127.0.0.1:PORT, for those below it
} running;

typedef struct one {
    pthread_t thread;
    sw_client config;
    sw_result result;
} one;

extern one ones[CLIENTS_MAX];                 ///< workers, by number
extern const gn_switchd_config plain_switch;  ///< any port, no bad links

/// A switch in a process of its own, so that it can be killed.
running start(const gn_switchd_config *config);
/// Fails unless it does not even open, and why has this in it.
void does_not_start(const gn_switchd_config *config, const char *what);
/// A parameter server; `in` is what befalls packets on their way to it.
running start_ps(gn_fault_config in);
/// What a root has that shares its slots; windows 0: as many as there are without being told.
gn_switchd_config sharing(const running *ps, gn_memory_mode mode, uint32_t slots, uint32_t windows);
/// Tells it to end; it has to end well.
void stop(const running *r);
/// Without a word.
void slay(const running *r);

/// A worker as most tests want it: bit `rank` of `ranks` children.
sw_client client_of(uint16_t port, const char *name, unsigned rank, unsigned ranks);
/// A worker of four, two below each of two leaves.
sw_client leaf_client(uint16_t port, const char *name, unsigned rank);
void launch(unsigned i, const sw_client *config);
/// All workers of a job, which are as client_of() makes them, from number 0 on.
void launch_all(uint16_t port, const char *name, unsigned count);
/// The same, but they sum until something ends it. Returns when each has summed a vector.
void launch_for_long(uint16_t port, const char *name, unsigned count);
/// Waits until the switch has read what worker i asks for. The job has to wait for others.
void has_asked(unsigned i);
/// Waits until each of them has summed so many vectors.
void under_way(unsigned from, unsigned count, unsigned rounds);
void await(unsigned from, unsigned count);
/// Waits; all sums were right, and the same bits everywhere.
void all_good(unsigned from, unsigned count);
/// Fails unless worker i's error has this in it.
void says(unsigned i, const char *what);
/// The same, with the switch's address for the %s.
void says_address(unsigned i, const char *format, const running *r);

/// Asks for job "neverNUMBER", whose other children do not come, as child `bit`. `from`: the IPv4
/// address to come from, as a number. Does not wait. @return the connection
int ask_in_vain(uint16_t port, uint32_t from, unsigned number, unsigned bit, unsigned children);
/// Lets this process and its children have more files than that.
void allow_files(unsigned count);

#endif
