// SPDX-License-Identifier: Apache-2.0
// Whom a job waits for before it runs. Only a switch without a parent sees all ranks below it; another one knows its children by number.
#include <stdio.h>
#include <string.h>

#include "switch/daemon/jobs.h"

static gn_ranks absent_ranks(const gn_job *job)
{
    gn_ranks absent = {{0}};
    for (unsigned rank = 0; rank < gn_job_terms(job)->ranks; rank++)
        if (gn_job_bit_of(job, rank) < 0) gn_ranks_add(&absent, rank);
    return absent;
}

const char *gn_job_absent(const gn_switchd *daemon, const gn_job *job, char text[GN_CALLED])
{
    char list[60];
    const unsigned children = gn_job_terms(job)->children;
    const uint64_t missing = gn_job_everyone(job) & ~job->joined;
    const gn_ranks ranks = absent_ranks(job);
    gn_ranks_list(&ranks, list, sizeof list);
    if (!daemon->config.parent && *list && gn_job_terms(job)->asker != GN_ASKER_WORKER) {
        snprintf(text, GN_CALLED, "no switch has come that has rank%s %s below it", strpbrk(list, "-,") ? "s" : "",
                 list);
        return text;
    }
    if (!daemon->config.parent && *list) {
        const bool many = strpbrk(list, "-,");
        snprintf(text, GN_CALLED, "rank%s %s %s not come", many ? "s" : "", list, many ? "have" : "has");
        return text;
    }
    const bool many = missing & (missing - 1);
    snprintf(text, GN_CALLED, "%s %s of 0-%u %s not come", many ? "children" : "child",
             gn_job_bits(missing, list, sizeof list), children - 1, many ? "have" : "has");
    return text;
}

static void above_waits(const gn_switchd *daemon, const gn_job *job, char text[GN_ADMISSION_TEXT])
{
    const char *what = gn_switchd_above(daemon);
    const double silent = gn_job_silence(job, -1, gn_now());
    if (job->above->state == GN_SESSION_CONNECTING)
        snprintf(text, GN_ADMISSION_TEXT, "no connection to the %s %s yet", what, job->above->name);
    else if (silent > 0)
        snprintf(text, GN_ADMISSION_TEXT, "no sign of life from the %s %s for %.3g s", what, job->above->name, silent);
    else if (*job->above_waits)
        snprintf(text, GN_ADMISSION_TEXT, "%s %s: %.160s", what, job->above->name, job->above_waits);
    else
        snprintf(text, GN_ADMISSION_TEXT, "the %s %s has not answered yet", what, job->above->name);
}

const char *gn_job_waits_for(const gn_switchd *daemon, const gn_job *job, char text[GN_ADMISSION_TEXT])
{
    char absent[GN_CALLED];
    *text = 0;
    if (job->state == GN_JOB_ASKING) above_waits(daemon, job, text);
    if (job->state == GN_JOB_FORMING)
        snprintf(text, GN_ADMISSION_TEXT, "%s%s%s", gn_job_absent(daemon, job, absent),
                 *job->refused ? "; refused: " : "", job->refused);
    return text;
}
