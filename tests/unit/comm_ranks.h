// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_COMM_RANKS_H
#define GRADNIC_TESTS_COMM_RANKS_H
/// Several ranks on this machine, each a process, for the tests of the exchange.

#include <sys/types.h>

#include <gradnic/comm.h>

enum { RANKS_MAX = 8 };

/// What a rank leaves for the test to look at; in memory that all share.
typedef struct report {
    gn_status status;
    char text[512];
    double seconds;
    uint64_t hash;
    uint64_t values[8];
} report;

typedef struct ranks {
    int size;
    char rendezvous[128];
    report *reports;  ///< [size], shared
    pid_t pids[RANKS_MAX];
    int exits[RANKS_MAX];  ///< wait status
} ranks;

typedef void (*rank_function)(int rank, const ranks *group, void *argument);

/// Zeros, which this process shares with those that it forks from now on. For munmap().
void *ranks_share(size_t bytes);

/// Forks `size` ranks; each runs `function` and exits 0. Reports start as zeros.
void ranks_start(ranks *group, int size, rank_function function, void *argument);

/// Waits for all of them; one that has not ended after `seconds` is killed and fails the test.
void ranks_wait(ranks *group, double seconds);
void ranks_free(ranks *group);

/// All of it, for ranks that leave nothing to look at: each has to exit with 0.
void ranks_run(int size, rank_function function, void *argument, double seconds);

/// A configuration for this rank over loopback, timeout 20 s.
gn_comm_config rank_config(int rank, const ranks *group);

/// gn_comm_init() that fills the report on failure and returns NULL.
gn_comm *rank_init(int rank, const ranks *group, const gn_comm_config *config);

/// The same, where the configuration's deadline is short and not for meeting: a busy machine may
/// need longer for that. It holds from then on.
gn_comm *rank_meet(int rank, const ranks *group, const gn_comm_config *config);

uint64_t hash_values(const float *values, size_t count);

/// A reproducible gradient-like value in (-1, 1), mostly small.
float sample(uint64_t seed, size_t index);

double seconds_now(void);

/// Fails in a child: exit status 9 with a message.
#define RANK_CHECK(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: rank: %s\n", __FILE__, __LINE__, #condition);                                      \
            _exit(9);                                                                                                  \
        }                                                                                                              \
    } while (0)

#endif
