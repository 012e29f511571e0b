// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/grant.h"

#include "switch/daemon/limits.h"

/// Channels of the shard that are in use.
static unsigned load_of(const gn_shard *shard)
{
    unsigned used = 0;
    for (unsigned i = 0; i < shard->channel_count; i++) used += shard->channels[i].used;
    return used;
}

/// Adds the places and slots of jobs that wait for an answer from above. They belong to these jobs,
/// though nobody uses them yet.
static void count_asked(const gn_switchd *daemon, const gn_job *but, uint64_t *taken, uint32_t *slots)
{
    for (const gn_job *job = daemon->jobs; job; job = job->next) {
        if (job == but || job->phase != GN_JOB_ASKING) continue;
        for (unsigned c = 0; c < gn_job_terms(job)->channels; c++) {
            if (taken) taken[job->shard[c]] |= 1ull << job->channel[c];
            if (slots) slots[job->shard[c]] += job->welcome.slots;
        }
    }
}

/// Channels of all shards that neither are used nor belong to a job that waits for an answer.
static unsigned free_channels(const gn_switchd *daemon, const gn_job *but)
{
    uint64_t taken[GN_SWITCHD_SHARDS_MAX] = {0};
    unsigned count = gn_limits_channels(daemon);
    count_asked(daemon, but, taken, NULL);
    for (unsigned i = 0; i < daemon->shards; i++)
        count -= load_of(daemon->shard[i]) + (unsigned)__builtin_popcountll(taken[i]);
    return count;
}

/// Each channel goes to the shard that has least to do. @return false when there is no place for
/// one
static bool find_places(const gn_switchd *daemon, gn_job *job)
{
    uint64_t taken[GN_SWITCHD_SHARDS_MAX] = {0};
    unsigned load[GN_SWITCHD_SHARDS_MAX] = {0};
    const unsigned channels = gn_job_terms(job)->channels;
    count_asked(daemon, job, taken, NULL);
    for (unsigned i = 0; i < daemon->shards; i++)
        load[i] = load_of(daemon->shard[i]) + (unsigned)__builtin_popcountll(taken[i]);
    for (unsigned c = 0; c < channels; c++) {
        unsigned least = 0;
        for (unsigned i = 1; i < daemon->shards; i++)
            if (load[i] < load[least]) least = i;
        const int channel = gn_shard_free_channel(daemon->shard[least], taken[least]);
        if (channel < 0) return false;
        taken[least] |= 1ull << channel;
        load[least]++;
        job->shard[c] = (uint8_t)least;
        job->channel[c] = (uint8_t)channel;
    }
    return true;
}

/// How many slots of a shard have to stay free, of so many. A job with an address that has none may
/// have half of what is left of the reserve, so there is something for the next one.
static uint32_t kept_back(const gn_switchd *daemon, const gn_share *share, uint32_t unused)
{
    const uint32_t reserve = gn_limits_reserved_slots(daemon);
    if (!share->has_none) return reserve;
    return (unused < reserve ? unused : reserve) / 2;
}

/// What stops a job from having so many slots for each channel; GN_LIMITS: nothing.
static gn_switchd_limit stops(const gn_switchd *daemon, const gn_job *job, const gn_share *share, unsigned slots)
{
    const unsigned channels = gn_job_terms(job)->channels;
    const uint64_t all = (uint64_t)slots * channels;
    uint32_t asked[GN_SWITCHD_SHARDS_MAX] = {0}, needed[GN_SWITCHD_SHARDS_MAX] = {0};
    gn_switchd_limit limit = GN_LIMITS;
    if (all > daemon->config.quota) return GN_LIMIT_QUOTA;
    if (all > share->slots) return GN_LIMIT_ADDRESS_SLOTS;
    count_asked(daemon, job, NULL, asked);
    for (unsigned c = 0; c < channels; c++) needed[job->shard[c]] += slots;
    for (unsigned i = 0; i < daemon->shards; i++) {
        const uint32_t total = daemon->shard[i]->slots_free, unused = total > asked[i] ? total - asked[i] : 0;
        if (!needed[i]) continue;
        if (needed[i] > unused) return GN_LIMIT_SLOTS;
        const bool least = share->has_none && slots == 1;
        if (!least && unused - needed[i] < kept_back(daemon, share, unused)) limit = GN_LIMIT_RESERVE;
    }
    return limit;
}

/// The least that a child asks for. Switches ask for what they can grant themselves, so they may
/// differ.
static unsigned least_asked(const gn_job *job)
{
    unsigned least = gn_job_terms(job)->slots;
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++)
        if (job->join[i].slots < least) least = job->join[i].slots;
    return least;
}

static gn_status reserve_channels(gn_switchd *daemon, gn_job *job, const gn_share *share, gn_error *error)
{
    const unsigned channels = gn_job_terms(job)->channels, unused = free_channels(daemon, job),
                   kept = share->has_none ? 0 : gn_limits_reserved_channels(daemon);
    const char *what = channels == 1 ? "channel" : "channels";
    if (channels > share->channels)
        return gn_limits_refuse(daemon, GN_LIMIT_ADDRESS_CHANNELS, error,
                                "no room for %u more %s: jobs of one address have at most %u (--address-channels)",
                                channels, what, daemon->config.address_channels);
    if (unused >= channels && unused - channels < kept)
        return gn_limits_refuse(daemon, GN_LIMIT_RESERVE, error,
                                "no room for %u more %s: the last %u are kept for addresses that have none yet "
                                "(--channels, --reserve)",
                                channels, what, kept);
    if (find_places(daemon, job)) return GN_OK;
    return gn_limits_refuse(daemon, GN_LIMIT_CHANNELS, error,
                            "no room for %u more %s: other jobs have them (--channels, --shards)", channels, what);
}

gn_status gn_job_reserve(gn_switchd *daemon, gn_job *job, unsigned *slots, gn_error *error)
{
    const gn_share share = gn_limits_share(daemon, job);
    const unsigned channels = gn_job_terms(job)->channels;
    const char *what = channels == 1 ? "channel" : "channels";
    gn_switchd_limit limit = GN_LIMITS;
    if (reserve_channels(daemon, job, &share, error)) return error->status;
    for (*slots = least_asked(job); *slots; *slots /= 2)
        if ((limit = stops(daemon, job, &share, *slots)) == GN_LIMITS) return GN_OK;
    switch (limit) {
    case GN_LIMIT_QUOTA:
        return gn_limits_refuse(daemon, limit, error,
                                "%u channels need a slot each, and a job has at most %u here (--quota)", channels,
                                daemon->config.quota);
    case GN_LIMIT_ADDRESS_SLOTS:
        return gn_limits_refuse(daemon, limit, error,
                                "no slots left for %u %s: jobs of one address have at most %u (--address-slots)",
                                channels, what, daemon->config.address_slots);
    case GN_LIMIT_RESERVE:
        return gn_limits_refuse(daemon, limit, error,
                                "no slots left for %u %s: the last %u%% are kept for addresses that have none yet "
                                "(--slots, --reserve)",
                                channels, what, daemon->config.reserve);
    default:
        return gn_limits_refuse(daemon, limit, error,
                                "no slots left for %u %s: other jobs have them (--slots, --quota)", channels, what);
    }
}

/// A channel of the job, as the core of its shard is to know it.
static gn_switch_job describe(const gn_switchd *daemon, const gn_job *job, unsigned c)
{
    const gn_admission_join *terms = gn_job_terms(job);
    gn_switch_job it = {.job = job->welcome.job[c],
                        .gen = job->welcome.gen[c],
                        .format = (gn_agg_format)terms->format,
                        .bound_exp = terms->bound_exp,
                        .slots = job->welcome.slots,
                        .level = terms->level,
                        .children = terms->children,
                        .has_parent = daemon->config.parent != NULL,
                        .parent_bit = terms->parent_bit,
                        .parent_fanin = terms->parent_children,
                        .leader = GN_AGG_WORKERS_MAX};
    if (terms->bits) it.bits = (uint8_t)gn_job_first_bit(job, terms->children);
    for (unsigned i = 0; terms->bits && i < terms->children; i++) it.first_bit[i] = (uint8_t)gn_job_first_bit(job, i);
    if (gn_switchd_shares_above(&daemon->config)) {
        it.parent_bit = job->welcome.bit;
        it.parent_fanin = job->welcome.fanin;
    } else if (daemon->config.place_fanin) {
        it.parent_bit = daemon->config.place_bit;
        it.parent_fanin = daemon->config.place_fanin;
    }
    for (unsigned i = 0; i < terms->children; i++)
        if (!job->join[i].rank) it.leader = (uint8_t)i;
    return it;
}

/// The keys of a channel's datagrams, where a secret is set.
static void make_keys(const gn_switchd *daemon, const gn_job *job, unsigned c, gn_channel_keys *keys)
{
    const gn_admission_join *terms = gn_job_terms(job);
    const uint16_t number = job->welcome.job[c], gen = job->welcome.gen[c];
    *keys = (gn_channel_keys){.sealed = daemon->secret.set};
    if (!keys->sealed) return;
    for (unsigned i = 0; i < terms->children; i++) gn_greeting_key_up(&job->child[i]->greeting, c, keys->from[i]);
    gn_greeting_key_down(&daemon->door, terms->name, number, gen, keys->down);
    if (!job->above) return;
    gn_greeting_key_up(&job->above->greeting, c, keys->up);
    gn_greeting_key_down(&job->above->greeting, terms->name, number, gen, keys->from_above);
}

/// A child, or what is above, at this UDP port. It hears datagrams from the address alone that it
/// has connected to. A switch that listens on all addresses would send from any.
static gn_far_end far_end(const gn_switchd *daemon, const gn_session *session, uint16_t udp_port)
{
    gn_far_end end = {.at = session->remote};
    gn_endpoint local;
    end.at.port = udp_port;
    const bool any = gn_ip_is_any(&daemon->listen.ip) && session->connection;
    if (any && gn_socket_local(session->connection->fd, &local)) end.here = local.ip;
    return end;
}

static gn_status start_ps_channel(gn_switchd *daemon, gn_job *job, unsigned c)
{
    const gn_admission_join *terms = gn_job_terms(job);
    const gn_ps_config config = {.job = job->welcome.job[c],
                                 .gen = job->welcome.gen[c],
                                 .format = (gn_agg_format)terms->format,
                                 .bound_exp = terms->bound_exp,
                                 .slots = job->welcome.slots,
                                 .packet_values = terms->packet_values,
                                 .level = (uint8_t)(terms->level - 1),
                                 .children = job->fanin};
    const gn_far_end below = far_end(daemon, job->child[job->first], terms->udp_port[c]);
    gn_channel_keys keys;
    // Its one child is the switch, whatever its number of contributors.
    make_keys(daemon, job, c, &keys);
    return gn_shard_add_ps(daemon->shard[job->shard[c]], job->channel[c], &config, &below, &keys);
}

static gn_status start_channel(gn_switchd *daemon, gn_job *job, unsigned c, const gn_far_end *above)
{
    gn_far_end children[GN_AGG_WORKERS_MAX];
    gn_switch_job it = describe(daemon, job, c);
    for (unsigned i = 0; i < it.children; i++) children[i] = far_end(daemon, job->child[i], job->join[i].udp_port[c]);
    gn_channel_keys keys;
    make_keys(daemon, job, c, &keys);
    return gn_shard_add(daemon->shard[job->shard[c]], job->channel[c], &it, children, above, &keys);
}

/// Whether rank 0 is here, or above.
static bool has_leader(const gn_switchd *daemon, const gn_job *job)
{
    bool found = daemon->config.parent || daemon->config.role == GN_SWITCHD_PS;
    for (unsigned i = 0; i < gn_job_terms(job)->children; i++) found |= !job->join[i].rank;
    return found;
}

gn_status gn_job_start(gn_switchd *daemon, gn_job *job, gn_error *error)
{
    const unsigned channels = gn_job_terms(job)->channels;
    if (!has_leader(daemon, job))
        return gn_fail(error, GN_INVALID, "rank 0 is none of the children, and not below one of them");
    for (unsigned c = 0; c < channels; c++) {
        gn_far_end above = {.at.port = 0};
        if (job->above) above = far_end(daemon, job->above, job->welcome.udp_port[c]);
        const gn_status status = daemon->config.role == GN_SWITCHD_PS
                                     ? start_ps_channel(daemon, job, c)
                                     : start_channel(daemon, job, c, job->above ? &above : NULL);
        if (status)
            return gn_fail(error, status, "channel %u with %u slots: %s", c, job->welcome.slots,
                           status == GN_NO_SPACE ? "no room in one piece (--slots)" : gn_status_string(status));
        job->reserved++;
        job->welcome.udp_port[c] = daemon->shard[job->shard[c]]->channels[job->channel[c]].udp_port;
    }
    return GN_OK;
}

void gn_job_stop(gn_switchd *daemon, gn_job *job)
{
    while (job->reserved) {
        job->reserved--;
        gn_shard_remove(daemon->shard[job->shard[job->reserved]], job->channel[job->reserved]);
    }
}
