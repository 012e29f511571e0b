// SPDX-License-Identifier: Apache-2.0
#include "comm_ranks.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring/group.h"

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void *ranks_share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(memory != MAP_FAILED);
    return memory;
}

void ranks_start(ranks *group, int size, rank_function function, void *argument)
{
    static unsigned serial;
    memset(group, 0, sizeof *group);
    group->size = size;
    snprintf(group->rendezvous, sizeof group->rendezvous, "file:///tmp/gradnic-test-%d-%u", (int)getpid(), serial++);
    group->reports = ranks_share(sizeof(report) * RANKS_MAX);
    fflush(NULL);
    for (int rank = 0; rank < size; rank++) {
        const pid_t pid = fork();
        if (!pid) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            function(rank, group, argument);
            _exit(0);
        }
        // Not in the child: every ck_assert writes to the file that Check's runner reads.
        ck_assert(pid > 0);
        group->pids[rank] = pid;
    }
}

void ranks_wait(ranks *group, double seconds)
{
    double until = seconds_now() + seconds;
    int left = group->size, late = 0;
    for (int rank = 0; rank < group->size; rank++) group->exits[rank] = -1;
    while (left) {
        for (int rank = 0; rank < group->size; rank++) {
            if (group->exits[rank] != -1) continue;
            int status;
            if (waitpid(group->pids[rank], &status, WNOHANG) != group->pids[rank]) continue;
            group->exits[rank] = status;
            left--;
        }
        if (left && !late && seconds_now() > until) {
            late = left;
            for (int rank = 0; rank < group->size; rank++)
                if (group->exits[rank] == -1) {
                    fprintf(stderr, "rank %d has not ended\n", rank);
                    kill(group->pids[rank], SIGKILL);
                }
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    ck_assert_msg(!late, "%d ranks hang", late);
}

void ranks_free(ranks *group)
{
    munmap(group->reports, sizeof(report) * RANKS_MAX);
    unlink(group->rendezvous + 7);
}

void ranks_run(int size, rank_function function, void *argument, double seconds)
{
    ranks group;
    ranks_start(&group, size, function, argument);
    ranks_wait(&group, seconds);
    for (int rank = 0; rank < size; rank++)
        ck_assert_msg(group.exits[rank] == 0, "rank %d of %d: wait status %#x", rank, size,
                      (unsigned)group.exits[rank]);
    ranks_free(&group);
}

gn_comm_config rank_config(int rank, const ranks *group)
{
    gn_comm_config config = gn_comm_config_default();
    config.rank = rank;
    config.size = group->size;
    config.rendezvous = group->rendezvous;
    config.interface = "lo";
    config.timeout_ms = 20000;
    return config;
}

gn_comm *rank_init(int rank, const ranks *group, const gn_comm_config *config)
{
    gn_comm *comm;
    report *r = &group->reports[rank];
    double start = seconds_now();
    r->status = gn_comm_init(&comm, config);
    r->seconds = seconds_now() - start;
    if (r->status) snprintf(r->text, sizeof r->text, "%s", gn_comm_last_error(NULL));
    return comm;
}

gn_comm *rank_meet(int rank, const ranks *group, const gn_comm_config *config)
{
    gn_comm_config patient = *config;
    patient.timeout_ms = 30000;
    gn_comm *comm = rank_init(rank, group, &patient);
    if (comm) comm->timeout_ms = config->timeout_ms;
    return comm;
}

uint64_t hash_values(const float *values, size_t count)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = (hash ^ bits) * 0x100000001B3u;
    }
    return hash;
}

float sample(uint64_t seed, size_t index)
{
    uint64_t x = (seed + 1) * 0x9E3779B97F4A7C15u + index * 0xD1B54A32D192ED03u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    float unit = (float)(int32_t)(uint32_t)x * 0x1p-31f;
    return unit * unit * unit * (x >> 60 ? 0.25f : 1.0f);
}
