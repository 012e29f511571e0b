// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/base.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "net/clock.h"

uint64_t gn_switchd_log_rest(gn_switchd *daemon, uint64_t now)
{
    static const char *const kinds[GN_LOG_KINDS] = {[GN_LOG_RUNS] = "jobs that run",
                                                    [GN_LOG_OVER] = "jobs that are over",
                                                    [GN_LOG_NEVER] = "jobs that never ran",
                                                    [GN_LOG_REFUSED] = "ranks and switches that were refused",
                                                    [GN_LOG_STRANGER] = "strangers that were refused",
                                                    [GN_LOG_LACK] = "times without room for connections"};
    uint64_t first = UINT64_MAX;
    for (gn_log_kind kind = GN_LOG_RUNS; kind < GN_LOG_KINDS; kind++) {
        char text[80];
        const uint64_t held = gn_log_limit_rest(&daemon->limit[kind], now),
                       due = gn_log_limit_due(&daemon->limit[kind]);
        if (due < first) first = due;
        if (!held || !daemon->config.log) continue;
        (void)snprintf(text, sizeof text, "and %" PRIu64 " more %s", held, kinds[kind]);
        daemon->config.log(daemon->config.log_context, text);
    }
    return first;
}

void gn_switchd_log(gn_switchd *daemon, gn_log_kind kind, const char *format, ...)
{
    char text[400];
    const uint64_t now = gn_now();
    (void)gn_switchd_log_rest(daemon, now);
    if (!daemon->config.log || (kind != GN_LOG_ITSELF && !gn_log_limit_take(&daemon->limit[kind], now))) return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    daemon->config.log(daemon->config.log_context, text);
}

const char *gn_switchd_address(const gn_switchd *daemon, char *text)
{
    return gn_endpoint_format(&daemon->listen, text);
}

bool gn_switchd_has_secret(const gn_switchd *daemon)
{
    return daemon->secret.set;
}

unsigned gn_switchd_connections(const gn_switchd *daemon)
{
    unsigned count = daemon->lobby.count;
    for (unsigned i = 0; i < daemon->sessions; i++)
        if (daemon->session[i]->connection) count++;
    return count;
}

bool gn_switchd_adopt(gn_switchd *daemon, gn_session *session)
{
    // A child has been counted already, as a stranger.
    const unsigned others = session->upward ? gn_switchd_connections(daemon) : daemon->sessions;
    const bool fits = daemon->sessions < GN_SESSIONS_MAX && others < GN_SESSIONS_MAX;
    if (fits)
        daemon->session[daemon->sessions++] = session;
    else
        gn_session_free(session);
    return fits;
}

// The core of a parameter server adds nothing itself.
gn_switch_config gn_switchd_core(const gn_switchd_config *c)
{
    return (gn_switch_config){.slots = c->role == GN_SWITCHD_PS ? 1 : c->slots / c->shards,
                              .slot_values = c->slot_values,
                              .jobs = (uint16_t)c->channels,
                              .mode = c->mode,
                              .windows = c->mode == GN_PARTITIONED ? 0 : gn_switchd_places(c) / c->shards};
}

uint64_t gn_switchd_memory(const gn_switchd_config *config)
{
    const gn_switch_config core = gn_switchd_core(config);
    if (config->role == GN_SWITCHD_PS) return 2 * sizeof(int32_t) * (uint64_t)config->slots * config->slot_values;
    return (uint64_t)config->shards * gn_switch_bytes(&core);
}
