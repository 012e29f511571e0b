// SPDX-License-Identifier: Apache-2.0
// Who is below a job's children, and what people call them.
#include <stdio.h>

#include "switch/daemon/jobs.h"

unsigned gn_job_first_bit(const gn_job *job, unsigned child)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < child; i++) bits += job->join[i].bits ? job->join[i].bits : 1;
    return bits;
}

/// The child's contribution that has a rank's values, as the child counts them; -1: the rank is not below it.
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

const char *gn_job_child_name(const gn_job *job, unsigned bit, char *text, size_t room)
{
    snprintf(text, room, "%u (rank %u, %s)", bit, job->join[bit].rank,
             job->child[bit] ? job->child[bit]->name : "gone");
    return text;
}

const char *gn_job_bits(uint64_t bits, char *text, size_t room)
{
    size_t used = 0;
    *text = 0;
    for (unsigned i = 0; i < 64 && used + 12 < room; i++) {
        if (!(bits >> i & 1)) continue;
        unsigned last = i;
        while (last < 63 && bits >> (last + 1) & 1) last++;
        used += (size_t)snprintf(text + used, room - used, last == i ? "%s%u" : "%s%u-%u", used ? ", " : "", i, last);
        i = last;
    }
    return text;
}
