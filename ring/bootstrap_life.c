// SPDX-License-Identifier: Apache-2.0
// Signs of life while a group is set up, between rank 0 and each other rank: who has been stopped keeps its connections, and those who wait for
// what it was to do next would name the wrong one.
#include "bootstrap.h"
#include "net/clock.h"

/// Twice this is long enough for suspicion, four times for a evidence. Until all have come each goes by its own time, and rank 0 sends as often as the
/// least of those that it knows asks for; then that is everyone's.
static uint64_t beat_span(const gn_bootstrap *boot)
{
    const uint64_t eighth = boot->table.timeout_ms * GN_MILLISECOND / 8;
    return eighth < GN_SECOND ? eighth : GN_SECOND;
}

void gn_bootstrap_beat(gn_bootstrap *boot)
{
    static const gn_alive here = {0};
    uint8_t frame[GN_FRAME_MAX];
    const uint64_t now = gn_now();
    if (now < boot->beat_at) return;
    boot->beat_at = now + beat_span(boot);
    const size_t length = gn_alive_write(frame, &here);
    if (!boot->rank)
        gn_server_broadcast(boot, frame, length);
    else if (boot->home)
        gn_connection_send(boot->home, frame, length);
}

uint64_t gn_bootstrap_beat_until(const gn_bootstrap *boot)
{
    return boot->beat_at < boot->deadline ? boot->beat_at : boot->deadline;
}

void gn_bootstrap_all_here(gn_bootstrap *boot)
{
    const uint64_t now = gn_now(), allowed = boot->table.timeout_ms * GN_MILLISECOND;
    boot->deadline = now + allowed;  // however late the last one came: what is silent now is to be found out
    boot->patience = allowed / 2;
    boot->beat_at = boot->home_heard = now;  // until now some had reason to say little
    for (int i = 0; i < boot->guest_count; i++) boot->guests[i]->heard = now;
}

void gn_bootstrap_ready(gn_bootstrap *boot)
{
    boot->deadline += 2 * beat_span(boot);
}

/// The rank that has said nothing for longest. NULL: there is none, or not for so long.
static const gn_guest *quietest(const gn_bootstrap *boot, uint64_t silent, uint64_t now)
{
    const gn_guest *found = NULL;
    for (int i = 0; i < boot->guest_count; i++) {
        const gn_guest *guest = boot->guests[i];
        if (guest->rank >= 0 && gn_elapsed(guest->heard, now) >= silent && (!found || guest->heard < found->heard))
            found = guest;
    }
    return found;
}

static gn_status look_for_silence(const gn_bootstrap *boot, uint64_t silent, gn_error *error)
{
    const uint64_t now = gn_now();
    if (!boot->rank) {
        const gn_guest *guest = quietest(boot, silent, now);
        if (!guest) return GN_OK;
        return gn_fail(error, GN_PEER_LOST, "no sign of life from rank %d (%s) for %.3g s while the group was set up",
                       guest->rank, guest->name, gn_seconds(gn_elapsed(guest->heard, now)));
    }
    if (!boot->home || boot->home->fd < 0 || gn_elapsed(boot->home_heard, now) < silent) return GN_OK;
    if (!boot->home_speaks)
        return gn_fail(error, GN_TIMEOUT,
                       "rank 0 did not come: %s takes the connection, but has said nothing for %.3g s (is rank 0 "
                       "stopped, or is it another program's port?)",
                       boot->home_name, gn_seconds(gn_elapsed(boot->home_heard, now)));
    return gn_fail(error, GN_PEER_LOST, "no sign of life from rank 0 (%s) for %.3g s while the group was set up",
                   boot->home_name, gn_seconds(gn_elapsed(boot->home_heard, now)));
}

gn_status gn_bootstrap_alive(const gn_bootstrap *boot, gn_error *error)
{
    return boot->patience ? look_for_silence(boot, boot->patience, error) : GN_OK;
}

gn_status gn_bootstrap_explain(const gn_bootstrap *boot, gn_status status, gn_error *error)
{
    gn_error silence;
    // As long as not all have come, rank 0 rather says who has not.
    if (status != GN_TIMEOUT || (!boot->rank && !boot->patience)) return status;
    const gn_status found = look_for_silence(boot, 2 * beat_span(boot), &silence);
    if (!found) return status;
    *error = silence;
    return found;
}
