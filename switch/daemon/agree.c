// SPDX-License-Identifier: Apache-2.0
// What children say of their job: must be possible for this switch, and the same from all.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "switch/daemon/jobs.h"

typedef struct term {
    const char *name;
    size_t offset;
    uint8_t bytes;
    bool is_signed;
} term;

#define TERM(name)                                                                                                     \
    {                                                                                                                  \
#name, offsetof(gn_admission_join, name), sizeof(((gn_admission_join *)0)->name), false                        \
    }
static const term terms[] = {
    TERM(ranks),           TERM(children), TERM(parent_bit),
    TERM(parent_children), TERM(format),   {"bound_exp", offsetof(gn_admission_join, bound_exp), 1, true},
    TERM(packet_values),   TERM(priority), TERM(streams)};

static int value_of(const term *t, const gn_admission_join *join)
{
    const char *at = (const char *)join + t->offset;
    uint16_t wide;
    if (t->bytes == 1) return t->is_signed ? *(const int8_t *)at : *(const uint8_t *)at;
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static bool place_taken(const gn_job *job, const gn_session *session, const gn_admission_join *join, char *why,
                        size_t room)
{
    char other[GN_CALLED];
    const gn_ranks ranks = gn_join_ranks(join);
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++) {
        if (!(job->joined >> i & 1)) continue;
        const gn_admission_join *there = &job->join[i];
        const gn_ranks theirs = gn_join_ranks(there);
        const int both = gn_ranks_common(&ranks, &theirs);
        const bool same_host = !gn_ip_compare(&job->child[i]->peer.ip, &session->peer.ip);
        gn_job_called(job, i, other);
        if (i == join->bit) return snprintf(why, room, "bit %u of job '%s' is taken by %s", i, join->name, other) > 0;
        if (both >= 0)
            return snprintf(why, room, "rank %d of job '%s' is there already: %s", both, join->name, other) > 0;
        for (unsigned s = 0; same_host && s < join->streams; s++)
            if (there->udp_port[s] == join->udp_port[s])
                return snprintf(why, room, "UDP port %u, of stream %u, is that of %s", join->udp_port[s], s, other) > 0;
    }
    return false;
}

/// Whether a switch that was asked by this one, or by one above it, asks in turn.
static bool comes_back(const gn_job *job, const gn_admission_join *join)
{
    return join->asker != GN_ASKER_WORKER && gn_job_bit_of(job, join->rank) >= 0;
}

/// Below one switch all are workers, or all are switches.
static bool mixed(const gn_job *job, const char *asks, const char *there, char *why, size_t room)
{
    const bool is_worker = gn_job_terms(job)->asker == GN_ASKER_WORKER;
    return snprintf(why, room,
                    "job '%s' has a worker here, %s, and below it %s: is each switch above the other (--parent)?",
                    gn_job_terms(job)->name, is_worker ? there : asks, is_worker ? asks : there) > 0;
}

/// Who contributes below a switch that shares its slots and says this level.
static const char *contributors(unsigned level, char text[64])
{
    if (!level) return "workers";
    snprintf(text, 64, "switches of level %u with slots of their own", level - 1);
    return text;
}

bool gn_job_disagrees(const gn_job *job, const gn_session *session, const gn_admission_join *join, char *why,
                      size_t room)
{
    const gn_admission_join *first = gn_job_terms(job);
    char asks[GN_CALLED], there[GN_CALLED];
    gn_join_called(join, session->name, asks);
    gn_job_called(job, job->first, there);
    if (first->asker != join->asker) return mixed(job, asks, there, why, room);
    if (job->state == GN_JOB_ASKING && comes_back(job, join))
        return snprintf(why, room,
                        "job '%s' comes back from the switch %s: rank %u is below this one already. Is each above the "
                        "other (--parent)?",
                        join->name, session->name, join->rank) > 0;
    if (job->state != GN_JOB_FORMING)
        return snprintf(why, room, "job '%s' is complete already; another run needs another name", join->name) > 0;
    if (!first->bits != !join->bits)
        return snprintf(why, room,
                        "all switches below one have to share their slots, or none (--mode): %s does%s, %s does%s",
                        asks, join->bits ? "" : " not", there, first->bits ? "" : " not") > 0;
    if (first->bits && first->level != join->level) {
        char ours[64], theirs[64];
        return snprintf(why, room, "kinds of children are mixed (--mode): %s has %s, %s has %s", there,
                        contributors(first->level, ours), asks, contributors(join->level, theirs)) > 0;
    }
    if (first->level != join->level)
        return snprintf(why, room,
                        "switches below one have to be at the same height above the workers: %s has level %u, %s %u",
                        there, first->level, asks, join->level) > 0;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        const int theirs = value_of(&terms[i], join), ours = value_of(&terms[i], first);
        if (theirs != ours)
            return snprintf(why, room, "%s of job '%s': %s says %d, %s says %d", terms[i].name, join->name, there, ours,
                            asks, theirs) > 0;
    }
    return place_taken(job, session, join, why, room);
}

/// Whether who asks has taken this switch for something else: a parent, a parameter server, a switch for workers.
static bool mistaken(const gn_switchd *daemon, const gn_session *session, const gn_admission_join *join, char *why,
                     size_t room)
{
    const bool is_ps = daemon->config.role == GN_SWITCHD_PS;
    if (join->instance == daemon->instance)
        return snprintf(why, room, "%s %s is this switch itself", gn_switchd_above_option(daemon),
                        gn_switchd_above_text(daemon)) > 0;
    if (is_ps && join->asker == GN_ASKER_WORKER)
        return snprintf(why, room, "this is a parameter server: it is asked by switches (--ps), not by workers") > 0;
    if (is_ps && join->asker == GN_ASKER_SWITCH)
        return snprintf(why, room, "this is a parameter server, and the switch %s asks it as its parent (--parent)",
                        session->name) > 0;
    if (!is_ps && join->asker == GN_ASKER_PS_SWITCH)
        return snprintf(why, room,
                        "this is a switch, and the switch %s asks it as its parameter server (--ps), which one with "
                        "--role ps would be",
                        session->name) > 0;
    return false;
}

bool gn_job_impossible(const gn_switchd *daemon, const gn_session *session, const gn_admission_join *join, char *why,
                       size_t room)
{
    const gn_switchd_config *config = &daemon->config;
    const bool has_parent = config->parent;
    if (mistaken(daemon, session, join, why, room)) return true;
    if (join->packet_values > config->slot_values)
        return snprintf(why, room, "packet_values is %u, and this switch's slots have %u values (--values)",
                        join->packet_values, config->slot_values) > 0;
    if (join->streams > config->streams * daemon->shards)
        return snprintf(why, room, "streams is %u, and this switch takes %u (--streams, --shards)", join->streams,
                        config->streams * daemon->shards) > 0;
    if (join->bits && config->mode == GN_PARTITIONED)
        return snprintf(why, room,
                        "a switch below shares its slots, and this one does not: above such a switch all have to "
                        "(--mode)") > 0;
    if (has_parent && !config->place_fanin && !join->parent_children)
        return snprintf(why, room,
                        "this switch has a parent, %s, and its place there is not said: parent_children is 0 (--place)",
                        config->parent) > 0;
    if (!has_parent && join->parent_children)
        return snprintf(why, room,
                        "the ranks name %u different switches, or addresses of one (parent_children is %u), and this "
                        "switch has none above it: give all ranks the same, or start this one with --parent",
                        join->parent_children, join->parent_children) > 0;
    if (!has_parent && !join->level && !join->bits && join->children != join->ranks)
        return snprintf(why, room, "the only switch of %u ranks has %u children", join->ranks, join->children) > 0;
    if (has_parent && join->level >= 14)
        return snprintf(why, room, "level is %u, and a switch with a parent has at most 13", join->level) > 0;
    return false;
}

bool gn_job_lacks(const gn_switchd *daemon, const gn_job *job, char *why, size_t room)
{
    const gn_admission_join *first = gn_job_terms(job);
    const unsigned bits = gn_job_first_bit(job, first->children);
    if (bits > GN_AGG_WORKERS_MAX)
        return snprintf(why, room, "%u contribute below this switch, and where slots are shared at most %u can", bits,
                        GN_AGG_WORKERS_MAX) > 0;
    if (first->bits && !first->level && !daemon->config.parent && bits != first->ranks)
        return snprintf(why, room, "the switches below have %u of %u ranks", bits, first->ranks) > 0;
    return false;
}
