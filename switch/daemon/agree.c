// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/agree.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "switch/daemon/above.h"
#include "switch/daemon/limits.h"

/// A field that all children must have the same value in.
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
    TERM(packet_values),   TERM(priority), TERM(channels)};

static int value_of(const term *t, const gn_admission_join *join)
{
    const char *at = (const char *)join + t->offset;
    uint16_t wide;
    if (t->bytes == 1) return t->is_signed ? *(const int8_t *)at : *(const uint8_t *)at;
    memcpy(&wide, at, sizeof wide);
    return wide;
}

/// Bit, ranks and UDP ports must not be those of a child that is there.
static gn_status check_place(const gn_job *job, const gn_session *session, const gn_admission_join *join,
                             gn_error *error)
{
    char other[GN_CALLED];
    const gn_ranks ranks = gn_join_ranks(join);
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++) {
        if (!(job->joined >> i & 1)) continue;
        const gn_admission_join *there = &job->join[i];
        const gn_ranks theirs = gn_join_ranks(there);
        const int both = gn_ranks_common(&ranks, &theirs);
        const gn_endpoint *one = &job->child[i]->remote, *two = &session->remote;
        const bool same_host = !gn_ip_compare(&one->ip, &two->ip) && one->scope == two->scope;
        gn_job_called(job, i, other);
        if (i == join->bit)
            return gn_fail(error, GN_INVALID, "bit %u of job '%s' is taken by %s", i, join->name, other);
        if (both >= 0)
            return gn_fail(error, GN_INVALID, "rank %d of job '%s' is there already: %s", both, join->name, other);
        for (unsigned c = 0; same_host && c < join->channels; c++)
            if (there->udp_port[c] == join->udp_port[c])
                return gn_fail(error, GN_INVALID, "UDP port %u of channel %u is taken by %s", join->udp_port[c], c,
                               other);
    }
    return GN_OK;
}

/// Whether the job has come round in a circle: the switch that asks was asked by this one, or by
/// one above it.
static bool comes_back(const gn_job *job, const gn_admission_join *join)
{
    return join->asker != GN_ASKER_WORKER && gn_job_bit_of(job, join->rank) >= 0;
}

/// Below one switch, either all are workers, or all are switches.
static gn_status mixed(const gn_job *job, const char *asks, const char *there, gn_error *error)
{
    const bool is_worker = gn_job_terms(job)->asker == GN_ASKER_WORKER;
    return gn_fail(error, GN_INVALID,
                   "job '%s' has a worker here, %s, and below it %s: is each switch above the other (--parent)?",
                   gn_job_terms(job)->name, is_worker ? there : asks, is_worker ? asks : there);
}

/// Who contributes below a switch that shares its slots and says this level. @return text, or a
/// constant
static const char *contributors(unsigned level, char text[64])
{
    if (!level) return "workers";
    snprintf(text, 64, "switches of level %u with slots of their own", level - 1);
    return text;
}

/// Whether switches of this level can be beside each other.
static gn_status check_level(const gn_admission_join *first, const gn_admission_join *join, const char *there,
                             const char *asks, gn_error *error)
{
    char ours[64], theirs[64];
    if (!first->bits != !join->bits)
        return gn_fail(error, GN_INVALID,
                       "all switches below one have to share their slots, or none (--mode): %s does%s, %s does%s", asks,
                       join->bits ? "" : " not", there, first->bits ? "" : " not");
    if (first->level == join->level) return GN_OK;
    if (first->bits)
        return gn_fail(error, GN_INVALID, "kinds of children are mixed (--mode): %s has %s, %s has %s", there,
                       contributors(first->level, ours), asks, contributors(join->level, theirs));
    return gn_fail(error, GN_INVALID,
                   "switches below one have to be at the same height above the workers: %s has level %u, %s %u", there,
                   first->level, asks, join->level);
}

gn_status gn_job_check_child(const gn_job *job, const gn_session *session, const gn_admission_join *join,
                             gn_error *error)
{
    const gn_admission_join *first = gn_job_terms(job);
    char asks[GN_CALLED], there[GN_CALLED];
    gn_join_called(join, session->name, asks);
    gn_job_called(job, job->first, there);
    if (first->asker != join->asker) return mixed(job, asks, there, error);
    if (job->phase == GN_JOB_ASKING && comes_back(job, join))
        return gn_fail(error, GN_INVALID,
                       "job '%s' comes back from the switch %s: rank %u is below this one already. Is each above the "
                       "other (--parent)?",
                       join->name, session->name, join->rank);
    if (job->phase != GN_JOB_FORMING)
        return gn_fail(error, GN_INVALID, "job '%s' is complete already; another run needs another name", join->name);
    if (check_level(first, join, there, asks, error)) return error->status;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        const int theirs = value_of(&terms[i], join), ours = value_of(&terms[i], first);
        if (theirs != ours)
            return gn_fail(error, GN_INVALID, "%s of job '%s': %s says %d, %s says %d", terms[i].name, join->name,
                           there, ours, asks, theirs);
    }
    return check_place(job, session, join, error);
}

/// Whether the asker has taken this switch for something else: a parent, a parameter server, a
/// switch for workers.
static gn_status check_role(const gn_switchd *daemon, const gn_session *session, const gn_admission_join *join,
                            gn_error *error)
{
    const bool is_ps = daemon->config.role == GN_SWITCHD_PS;
    if (join->instance == daemon->instance)
        return gn_fail(error, GN_INVALID, "%s %s is this switch itself", gn_switchd_above_option(daemon),
                       gn_switchd_above_text(daemon));
    if (is_ps && join->asker == GN_ASKER_WORKER)
        return gn_fail(error, GN_INVALID, "this is a parameter server: switches ask it (--ps), workers do not");
    if (is_ps && join->asker == GN_ASKER_SWITCH)
        return gn_fail(error, GN_INVALID,
                       "this is a parameter server, and the switch %s asks it as its parent (--parent)", session->name);
    if (!is_ps && join->asker == GN_ASKER_PS_SWITCH)
        return gn_fail(error, GN_INVALID,
                       "this is a switch, and the switch %s asks it as its parameter server (--ps): a parameter server "
                       "runs with --role ps",
                       session->name);
    return GN_OK;
}

/// Whether the switch's engine can add such a job.
static gn_status check_engine(const gn_switchd_config *config, const gn_admission_join *join, gn_error *error)
{
    const gn_switch_engine_limits *limits = config->engine ? config->engine->limits : NULL;
    if (!limits) return GN_OK;
    if (join->format != GN_AGG_INT32 && join->format != GN_AGG_DENSE)
        return gn_fail(
            error, GN_INVALID,
            "this switch adds int32 and dense alone (--engine %s): take format int32 (0) or dense (2), not %u",
            config->engine->name, join->format);
    if (join->children > limits->children)
        return gn_fail(error, GN_INVALID, "children is %u, and this switch has room for %u (--engine %s)",
                       join->children, limits->children, config->engine->name);
    return GN_OK;
}

gn_status gn_job_check_possible(gn_switchd *daemon, const gn_session *session, const gn_admission_join *join,
                                gn_error *error)
{
    const gn_switchd_config *config = &daemon->config;
    const bool has_parent = config->parent;
    if (check_role(daemon, session, join, error)) return error->status;
    if (join->packet_values > config->slot_values)
        return gn_fail(error, GN_INVALID, "packet_values is %u, and this switch's slots have %u values (--values)",
                       join->packet_values, config->slot_values);
    if (join->channels > config->channels * daemon->shards)
        return gn_fail(error, GN_INVALID, "channels is %u, and this switch takes %u (--channels, --shards)",
                       join->channels, config->channels * daemon->shards);
    if (join->channels > gn_limits_job_channels(daemon))
        return gn_limits_refuse(daemon, GN_LIMIT_JOB_CHANNELS, error,
                                "channels is %u, and one job has at most %u of %u here (--job-channels, --reserve)",
                                join->channels, gn_limits_job_channels(daemon), gn_limits_channels(daemon));
    if (check_engine(config, join, error)) return error->status;
    if (join->bits && config->mode == GN_PARTITIONED)
        return gn_fail(error, GN_INVALID,
                       "a switch below shares its slots, and this one does not: above such a switch all have to "
                       "(--mode)");
    if (has_parent && !config->place_fanin && !join->parent_children)
        return gn_fail(error, GN_INVALID,
                       "this switch has a parent, %s, and nobody says its place there: parent_children is 0 (--place)",
                       config->parent);
    if (!has_parent && join->parent_children)
        return gn_fail(error, GN_INVALID,
                       "the ranks name %u different switches, or addresses of one (parent_children is %u), and this "
                       "switch has none above it: give all ranks the same, or start this one with --parent",
                       join->parent_children, join->parent_children);
    if (!has_parent && !join->level && !join->bits && join->children != join->ranks)
        return gn_fail(error, GN_INVALID, "the only switch of %u ranks has %u children", join->ranks, join->children);
    if (has_parent && join->level >= 14)
        return gn_fail(error, GN_INVALID, "level is %u, and a switch with a parent has at most 13", join->level);
    return GN_OK;
}

gn_status gn_job_check_whole(const gn_switchd *daemon, const gn_job *job, gn_error *error)
{
    const gn_admission_join *first = gn_job_terms(job);
    const unsigned bits = gn_job_first_bit(job, first->children);
    if (bits > GN_AGG_WORKERS_MAX)
        return gn_fail(error, GN_INVALID, "%u contribute below this switch, and where slots are shared at most %u can",
                       bits, GN_AGG_WORKERS_MAX);
    if (first->bits && !first->level && !daemon->config.parent && bits != first->ranks)
        return gn_fail(error, GN_INVALID, "the switches below have %u of %u ranks", bits, first->ranks);
    return GN_OK;
}
