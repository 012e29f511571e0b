// SPDX-License-Identifier: Apache-2.0
#include "ring/bootstrap/signs.h"

#include "ring/bootstrap/roster.h"

/// Twice this is long enough for suspicion, four times for giving up. Until all have come, each
/// rank goes by its own timeout, and rank 0 by the least that it knows. Then the least of all is
/// everyone's.
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
        gn_guests_tell(boot, frame, length);
    else if (boot->said_hello)
        (void)gn_framed_send(boot->home, frame, length);
}

uint64_t gn_bootstrap_beat_until(const gn_bootstrap *boot)
{
    return boot->beat_at < boot->deadline ? boot->beat_at : boot->deadline;
}

void gn_bootstrap_all_here(gn_bootstrap *boot)
{
    const uint64_t now = gn_now(), allowed = boot->table.timeout_ms * GN_MILLISECOND;
    // However late the last one came, there is time to find out who is silent.
    boot->deadline = now + allowed;
    boot->patience = allowed / 2;
    boot->beat_at = boot->all_here = now;
}

void gn_bootstrap_ready(gn_bootstrap *boot)
{
    boot->deadline += 2 * beat_span(boot);
}

/// How long it has said nothing. Before all had come, some had reason to say little.
static uint64_t silence_of(const gn_bootstrap *boot, const gn_framed *connection, uint64_t now)
{
    return gn_elapsed(connection->heard > boot->all_here ? connection->heard : boot->all_here, now);
}

static gn_status look_for_silent_rank(const gn_bootstrap *boot, uint64_t limit, gn_error *error)
{
    const uint64_t now = gn_now();
    uint64_t longest = 0;
    int quietest = -1;
    for (int rank = 1; rank < boot->size; rank++) {
        if (!boot->guest[rank].connection) continue;
        const uint64_t silent = silence_of(boot, boot->guest[rank].connection, now);
        if (silent < limit || (quietest >= 0 && silent <= longest)) continue;
        longest = silent;
        quietest = rank;
    }
    if (quietest < 0) return GN_OK;
    return gn_fail(error, GN_PEER_LOST, "no sign of life from rank %d (%s) for %.3g s while the group was set up",
                   quietest, boot->guest[quietest].name, gn_seconds(longest));
}

static gn_status look_for_silent_home(const gn_bootstrap *boot, uint64_t limit, gn_error *error)
{
    const uint64_t silent = boot->home ? silence_of(boot, boot->home, gn_now()) : 0;
    if (!boot->home || silent < limit) return GN_OK;
    if (!boot->home_speaks)
        return gn_fail(error, GN_TIMEOUT,
                       "rank 0 did not come: %s takes the connection, but has said nothing for %.3g s (is rank 0 "
                       "stopped, or is it another program's port?)",
                       boot->home_name, gn_seconds(silent));
    return gn_fail(error, GN_PEER_LOST, "no sign of life from rank 0 (%s) for %.3g s while the group was set up",
                   boot->home_name, gn_seconds(silent));
}

static gn_status look_for_silence(const gn_bootstrap *boot, uint64_t limit, gn_error *error)
{
    return boot->rank ? look_for_silent_home(boot, limit, error) : look_for_silent_rank(boot, limit, error);
}

gn_status gn_bootstrap_alive(const gn_bootstrap *boot, gn_error *error)
{
    return boot->patience ? look_for_silence(boot, boot->patience, error) : GN_OK;
}

gn_status gn_bootstrap_explain(const gn_bootstrap *boot, gn_status status, gn_error *error)
{
    gn_error silence;
    // As long as ranks are missing, rank 0 rather names those.
    if (status != GN_TIMEOUT || (!boot->rank && !boot->patience)) return status;
    const gn_status found = look_for_silence(boot, 2 * beat_span(boot), &silence);
    if (!found) return status;
    *error = silence;
    return found;
}
