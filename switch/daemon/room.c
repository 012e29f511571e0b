// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/room.h"

#include <malloc.h>
#include <stdlib.h>

#include "switch/daemon/jobs.h"
#include "switch/daemon/limits.h"
#include "switch/daemon/serve.h"

enum {
    CHILDREN = GN_SESSIONS_MAX - GN_SESSIONS_UPWARD,  ///< with the strangers among them
    LOBBY_PART = 16,   ///< this part of the room is for strangers, whatever else there is
    OTHER_FILES = 64,  ///< files that are neither channels nor connections
    TIDY_LEAST = 32,   ///< connections that are worth giving memory back
    TIDY_PART = 4      ///< ... when only this part of them is left
};

void gn_room_open(gn_switchd *daemon, uint64_t files)
{
    const uint64_t others = OTHER_FILES + (uint64_t)daemon->config.channels * daemon->config.shards;
    const uint64_t left = files > others ? files - others : 0;
    const uint64_t children = left - left / (GN_SESSIONS_MAX / GN_SESSIONS_UPWARD);
    daemon->room = children > CHILDREN ? CHILDREN : children < LOBBY_PART ? LOBBY_PART : (unsigned)children;
}

static unsigned kept_for_lobby(const gn_switchd *daemon)
{
    return daemon->room / LOBBY_PART;
}

unsigned gn_room_lobby(const gn_switchd *daemon)
{
    const unsigned least = kept_for_lobby(daemon);
    return daemon->sessions + least < daemon->room ? daemon->room - daemon->sessions : least;
}

static bool is_from(const gn_session *session, const gn_ip *site)
{
    const gn_ip own = gn_limits_site(&session->remote.ip);
    return session->connection && !session->upward && !gn_ip_compare(&own, site);
}

static unsigned connections_from(const gn_switchd *daemon, const gn_ip *site)
{
    unsigned count = 0;
    for (unsigned i = 0; i < daemon->sessions; i++) count += is_from(daemon->session[i], site);
    return count;
}

static int compare_sites(const void *a, const void *b)
{
    return gn_ip_compare(a, b);
}

/// The address with most connections to jobs that form. @return how many
static unsigned heaviest(const gn_switchd *daemon, gn_ip *site)
{
    unsigned count = 0, most = 0;
    gn_ip *sites = calloc(daemon->sessions, sizeof *sites);
    for (unsigned i = 0; sites && i < daemon->sessions; i++) {
        const gn_session *session = daemon->session[i];
        if (!session->connection || session->upward || !session->job || session->job->phase != GN_JOB_FORMING) continue;
        sites[count++] = gn_limits_site(&session->remote.ip);
    }
    if (count) qsort(sites, count, sizeof *sites, compare_sites);
    for (unsigned first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && !gn_ip_compare(&sites[first], &sites[next]);) next++;
        if (next - first <= most) continue;
        most = next - first;
        *site = sites[first];
    }
    free(sites);
    return most;
}

/// The job that has formed for longest with a child from there; NULL: none.
static gn_job *oldest_forming(const gn_switchd *daemon, const gn_ip *site)
{
    gn_job *oldest = NULL;  // new jobs are put first
    for (gn_job *job = daemon->jobs; job; job = job->next)
        if (job->phase == GN_JOB_FORMING && gn_limits_concern(job, site)) oldest = job;
    return oldest;
}

/// Ends the oldest job that forms for the address with most connections, if one more from `site`
/// would still have fewer.
static bool give_way(gn_switchd *daemon, unsigned own)
{
    char text[GN_IP_TEXT];
    gn_ip from;
    const unsigned most = heaviest(daemon, &from);
    gn_job *job = most > own + 1 ? oldest_forming(daemon, &from) : NULL;
    if (!job) return false;
    daemon->gave_way++;
    gn_job_end(daemon, job, NULL,
               "it gives way: the switch is full, and %s has most of the connections to jobs that form, %u",
               gn_ip_format(&from, text), most);
    return true;
}

gn_status gn_room_make(gn_switchd *daemon, const gn_ip *from, gn_error *error)
{
    char text[GN_IP_TEXT];
    const gn_ip site = gn_limits_site(from);
    const unsigned all = daemon->room - kept_for_lobby(daemon), most = all / 2;
    if (daemon->sessions < most) return GN_OK;
    gn_switchd_sweep(daemon);
    if (daemon->sessions < most) return GN_OK;
    const unsigned own = connections_from(daemon, &site);
    if (own >= most)
        return gn_limits_refuse(daemon, GN_LIMIT_ADDRESS_CONNECTIONS, error,
                                "%s has %u connections here, and one address has at most half of all",
                                gn_ip_format(&site, text), own);
    if (daemon->sessions < all) return GN_OK;
    if (give_way(daemon, own)) {
        gn_switchd_sweep(daemon);
        return GN_OK;
    }
    return gn_limits_refuse(daemon, GN_LIMIT_CONNECTIONS, error, "all %u connections of this switch are taken", all);
}

void gn_room_tidy(gn_switchd *daemon)
{
    const unsigned now = gn_switchd_connections(daemon);
    if (now > daemon->most_connections) daemon->most_connections = now;
    if (daemon->most_connections < TIDY_LEAST || now > daemon->most_connections / TIDY_PART) return;
    daemon->most_connections = now;
    (void)malloc_trim(0);
}
