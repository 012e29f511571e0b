// SPDX-License-Identifier: Apache-2.0
#include "switch/daemon/base.h"

#include <stdarg.h>
#include <stdio.h>

void gn_switchd_log(const gn_switchd *daemon, const char *format, ...)
{
    char text[400];
    if (!daemon->config.log) return;
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
