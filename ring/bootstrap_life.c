// SPDX-License-Identifier: Apache-2.0
// Signs of life while a group is set up, between rank 0 and each other rank: who has been stopped keeps its connections, and those who wait for
// what it was to do next would name the wrong one.
#include "bootstrap.h"

#include "clock.h"

/// Twice this is long enough for suspicion, four times for a verdict. Until all have come each goes by its own time, and rank 0 sends as often as the
/// least of those that it knows asks for; then that is everyone's.
static double beat_seconds(const gn_bootstrap *boot)
{
    const double eighth = boot->table.timeout_ms / 8e3;
    return eighth < 1 ? eighth : 1;
}

void gn_bootstrap_beat(gn_bootstrap *boot)
{
    static const gn_alive here = {0};
    uint8_t frame[GN_FRAME_MAX];
    const double now = gn_now();
    if (now < boot->beat_at) return;
    boot->beat_at = now + beat_seconds(boot);
    const size_t length = gn_alive_write(frame, &here);
    if (!boot->rank)
        gn_server_broadcast(boot, frame, length);
    else if (boot->home)
        gn_connection_send(boot->home, frame, length);
}

double gn_bootstrap_beat_until(const gn_bootstrap *boot)
{
    return boot->beat_at < boot->deadline ? boot->beat_at : boot->deadline;
}

void gn_bootstrap_all_here(gn_bootstrap *boot)
{
    const double now = gn_now(), allowed = boot->table.timeout_ms * 1e-3;
    boot->deadline = now + allowed;  // however late the last one came: what is silent now is to be found out
    boot->patience = allowed / 2;
    boot->beat_at = boot->home_heard = now;  // until now some had reason to say little
    for (int i = 0; i < boot->guest_count; i++) boot->guests[i]->heard = now;
}

void gn_bootstrap_ready(gn_bootstrap *boot)
{
    boot->deadline += 2 * beat_seconds(boot);
}

/// The rank that has said nothing for longest. NULL: there is none, or not for so long.
static const gn_guest *quietest(const gn_bootstrap *boot, double silent, double now)
{
    const gn_guest *found = NULL;
    for (int i = 0; i < boot->guest_count; i++) {
        const gn_guest *guest = boot->guests[i];
        if (guest->rank >= 0 && now - guest->heard >= silent && (!found || guest->heard < found->heard)) found = guest;
    }
    return found;
}

static gn_status look_for_silence(const gn_bootstrap *boot, double silent, gn_error *error)
{
    const double now = gn_now();
    if (!boot->rank) {
        const gn_guest *guest = quietest(boot, silent, now);
        if (!guest) return GN_OK;
        return gn_fail(error, GN_PEER_LOST, "no sign of life from rank %d (%s) for %.3g s while the group was set up",
                       guest->rank, guest->name, now - guest->heard);
    }
    if (!boot->home || boot->home->fd < 0 || now - boot->home_heard < silent) return GN_OK;
    if (!boot->home_speaks)
        return gn_fail(error, GN_TIMEOUT,
                       "rank 0 did not come: %s takes the connection, but has said nothing for %.3g s (is rank 0 "
                       "stopped, or is it another program's port?)",
                       boot->home_name, now - boot->home_heard);
    return gn_fail(error, GN_PEER_LOST, "no sign of life from rank 0 (%s) for %.3g s while the group was set up",
                   boot->home_name, now - boot->home_heard);
}

gn_status gn_bootstrap_alive(const gn_bootstrap *boot, gn_error *error)
{
    return boot->patience > 0 ? look_for_silence(boot, boot->patience, error) : GN_OK;
}

gn_status gn_bootstrap_explain(const gn_bootstrap *boot, gn_status status, gn_error *error)
{
    gn_error silence;
    // As long as not all have come, rank 0 rather says who has not.
    if (status != GN_TIMEOUT || (!boot->rank && boot->patience <= 0)) return status;
    const gn_status found = look_for_silence(boot, 2 * beat_seconds(boot), &silence);
    if (!found) return status;
    *error = silence;
    return found;
}
