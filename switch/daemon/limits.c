// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/limits.h"

#include <stdarg.h>
#include <stdio.h>

enum { SITE_BITS = 64 };  ///< of an IPv6 address

// ---- refusing

const char *gn_limits_name(gn_switchd_limit limit)
{
    static const char *const names[GN_LIMITS] = {[GN_LIMIT_JOB_CHANNELS] = "job_channels",
                                                 [GN_LIMIT_QUOTA] = "quota",
                                                 [GN_LIMIT_ADDRESS_CHANNELS] = "address_channels",
                                                 [GN_LIMIT_ADDRESS_SLOTS] = "address_slots",
                                                 [GN_LIMIT_ADDRESS_JOBS] = "address_jobs",
                                                 [GN_LIMIT_ADDRESS_CONNECTIONS] = "address_connections",
                                                 [GN_LIMIT_RESERVE] = "reserve",
                                                 [GN_LIMIT_CHANNELS] = "channels",
                                                 [GN_LIMIT_SLOTS] = "slots",
                                                 [GN_LIMIT_CONNECTIONS] = "connections"};
    return names[limit];
}

gn_status gn_limits_refuse(gn_switchd *daemon, gn_switchd_limit limit, gn_error *error, const char *format, ...)
{
    char text[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    daemon->refused_by[limit]++;
    return gn_fail(error, GN_NO_SPACE, "%s", text);
}

gn_ip gn_limits_site(const gn_ip *from)
{
    return from->version == 6 ? gn_ip_mask(from, SITE_BITS) : *from;
}

// ---- jobs that form

bool gn_limits_concern(const gn_job *job, const gn_ip *site)
{
    for (uint64_t rest = job->joined; rest; rest &= rest - 1)
        if (!gn_ip_compare(&job->site[__builtin_ctzll(rest)], site)) return true;
    return false;
}

gn_status gn_limits_check_forming(gn_switchd *daemon, const gn_job *job, const gn_ip *from, gn_error *error)
{
    char text[GN_IP_TEXT];
    unsigned count = 0;
    const gn_ip site = gn_limits_site(from);
    const unsigned most = daemon->config.address_jobs;
    if (!most || (job && gn_limits_concern(job, &site))) return GN_OK;
    for (const gn_job *other = daemon->jobs; other; other = other->next)
        count += other->phase == GN_JOB_FORMING && gn_limits_concern(other, &site);
    if (count < most) return GN_OK;
    return gn_limits_refuse(daemon, GN_LIMIT_ADDRESS_JOBS, error,
                            "%s waits in %u jobs that are not complete, and one address has at most %u "
                            "(--address-jobs)",
                            gn_ip_format(&site, text), count, most);
}

// ---- channels and slots

unsigned gn_limits_channels(const gn_switchd *daemon)
{
    return daemon->config.channels * daemon->config.shards;
}

unsigned gn_limits_reserved_channels(const gn_switchd *daemon)
{
    return (gn_limits_channels(daemon) * daemon->config.reserve + 50) / 100;
}

unsigned gn_limits_job_channels(const gn_switchd *daemon)
{
    const unsigned most = gn_limits_channels(daemon) - gn_limits_reserved_channels(daemon);
    const unsigned own = daemon->config.job_channels;
    return own && own < most ? own : most;
}

uint32_t gn_limits_reserved_slots(const gn_switchd *daemon)
{
    const uint64_t places = gn_switchd_places(&daemon->config) / daemon->config.shards;
    return (uint32_t)(places * daemon->config.reserve / 100);
}

/// What is left of a limit; none: 0 as limit.
static uint32_t left_of(uint32_t limit, uint32_t held)
{
    return !limit ? UINT32_MAX : limit > held ? limit - held : 0;
}

/// Takes account of what an address has already.
static void count_site(const gn_switchd *daemon, const gn_job *but, const gn_ip *site, gn_share *share)
{
    uint32_t slots = 0, channels = 0;
    for (const gn_job *job = daemon->jobs; job; job = job->next) {
        if (job == but || job->phase == GN_JOB_FORMING || !gn_limits_concern(job, site)) continue;
        channels += job->welcome.channels;
        slots += (uint32_t)job->welcome.channels * job->welcome.slots;
    }
    const uint32_t slots_left = left_of(daemon->config.address_slots, slots),
                   channels_left = left_of(daemon->config.address_channels, channels);
    if (!channels) share->has_none = true;
    if (slots_left < share->slots) share->slots = slots_left;
    if (channels_left < share->channels) share->channels = channels_left;
}

gn_share gn_limits_share(const gn_switchd *daemon, const gn_job *job)
{
    gn_share share = {.slots = UINT32_MAX, .channels = UINT32_MAX};
    uint64_t seen = 0;
    for (uint64_t rest = job->joined; rest; rest &= rest - 1) {
        const gn_ip *site = &job->site[__builtin_ctzll(rest)];
        bool again = false;
        for (uint64_t before = seen; before && !again; before &= before - 1)
            again = !gn_ip_compare(&job->site[__builtin_ctzll(before)], site);
        seen |= rest & -rest;
        if (!again) count_site(daemon, job, site, &share);
    }
    return share;
}
