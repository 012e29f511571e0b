// SPDX-License-Identifier: Apache-2.0
// Who is below a job's children, and what people call them.
#include "switch/daemon/job.h"

#include <stdio.h>

unsigned gn_job_first_bit(const gn_job *job, unsigned child)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < child; i++) bits += job->join[i].bits ? job->join[i].bits : 1;
    return bits;
}

/// The child's contribution that has a rank's values, as the child counts contributions; -1: the
/// rank is not below it.
static int contribution_of(const gn_admission_join *join, unsigned rank)
{
    if (join->asker == GN_ASKER_WORKER) return rank == join->rank ? 0 : -1;
    return rank < join->ranks && join->below[rank] != GN_ADMISSION_NOT_BELOW ? join->below[rank] : -1;
}

int gn_job_bit_of(const gn_job *job, unsigned rank)
{
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++) {
        const int at = job->joined >> i & 1 ? contribution_of(&job->join[i], rank) : -1;
        if (at >= 0) return (int)gn_job_first_bit(job, i) + at;
    }
    return -1;
}

gn_ranks gn_join_ranks(const gn_admission_join *join)
{
    gn_ranks ranks = {{0}};
    for (unsigned rank = 0; rank < join->ranks; rank++)
        if (contribution_of(join, rank) >= 0) gn_ranks_add(&ranks, rank);
    return ranks;
}

gn_ranks gn_job_child_ranks(const gn_job *job, unsigned child, uint64_t bits)
{
    const unsigned first = gn_job_first_bit(job, child);
    const gn_admission_join *join = &job->join[child];
    gn_ranks ranks = {{0}};
    for (unsigned rank = 0; rank < join->ranks; rank++) {
        const int at = contribution_of(join, rank);
        if (at >= 0 && bits >> (first + (unsigned)at) % 64 & 1) gn_ranks_add(&ranks, rank);
    }
    return ranks;
}

const char *gn_join_called(const gn_admission_join *join, const char *address, char text[GN_CALLED])
{
    char ranks[40];
    const gn_ranks below = gn_join_ranks(join);
    if (join->asker == GN_ASKER_WORKER) {
        snprintf(text, GN_CALLED, "rank %u (%s)", join->rank, address);
        return text;
    }
    const bool many = gn_ranks_list(&below, ranks, sizeof ranks);
    snprintf(text, GN_CALLED, "switch %s with rank%s %s", address, many ? "s" : "", ranks);
    return text;
}

const char *gn_job_called(const gn_job *job, unsigned child, char text[GN_CALLED])
{
    return gn_join_called(&job->join[child], job->name[child], text);
}
