// SPDX-License-Identifier: Apache-2.0
#include "ring/oob.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring/failure.h"
#include "ring/neighbours.h"
#include "ring/turn.h"

// Reading -----------------------------------------------------------------------------------------

static bool take_failure_locked(gn_comm *comm, int index, const gn_frame *frame)
{
    gn_neighbour *neighbour = &comm->neighbours[index];
    gn_failure failure;
    if (!gn_failure_read(frame, &failure)) return false;
    gn_oob_listen_locked(comm, index);
    // A neighbour that has begun the next collective has finished this one. So all ranks are in
    // this one, and all that this rank needs is on its way.
    const bool ahead = comm->own_header_set && comm->turn[(comm->sequence + 1) % 2].have_header[index];
    if (!ahead || failure.status == GN_ABORTED) {
        gn_oob_fail_by_locked(comm, &failure, neighbour);
        return true;
    }
    if (!comm->later_from) {
        comm->later = failure;
        comm->later_from = neighbour;
    }
    neighbour->failed_ahead = true;
    return true;
}

/// @return false for a message that a correct neighbour does not send now
static bool take_message_locked(gn_comm *comm, int index, const gn_frame *frame)
{
    gn_neighbour *neighbour = &comm->neighbours[index];
    gn_alive alive;
    switch (frame->type) {
    case GN_MSG_ALIVE:
        if (!gn_alive_read(frame, &alive)) return false;
        neighbour->announced_sequence = alive.sequence;
        neighbour->announced_sent = alive.data_sent;
        return true;
    case GN_MSG_FAIL:
        return take_failure_locked(comm, index, frame);
    case GN_MSG_BYE:
        neighbour->said_bye = true;
        gn_oob_neighbour_left_locked(comm);
        return gn_bye_read(frame, &neighbour->why);
    default:
        return gn_oob_take_turn_locked(comm, index, frame);
    }
}

static void lost_locked(gn_comm *comm, const gn_neighbour *neighbour)
{
    const bool closed = neighbour->oob->state == GN_FRAMED_CLOSED;
    gn_error error;
    gn_fail(&error, GN_PEER_LOST, "rank %d (%s) lost: out-of-band connection %s in %s, %llu of %llu bytes received",
            neighbour->rank, neighbour->name, closed ? "closed" : "does not take messages", comm->phase,
            (unsigned long long)comm->data_received, (unsigned long long)comm->data_expected);
    error.who = neighbour->rank;
    gn_oob_fail_locked(comm, &error);
}

void gn_oob_read_locked(gn_comm *comm, int index)
{
    gn_neighbour *neighbour = &comm->neighbours[index];
    gn_frame frame;
    for (bool more = true; more && !comm->dead;) {
        more = gn_framed_fill(neighbour->oob);
        if (more) neighbour->last_sign = gn_now();
        for (int found; !comm->dead && (found = gn_connection_next(neighbour->oob, &frame));) {
            if (found > 0 && take_message_locked(comm, index, &frame)) continue;
            gn_error error;
            gn_fail(&error, GN_CORRUPT, "rank %d (%s) sent a malformed out-of-band message", neighbour->rank,
                    neighbour->name);
            error.who = neighbour->rank;
            gn_oob_fail_locked(comm, &error);
        }
    }
    const bool over = neighbour->oob->state == GN_FRAMED_CLOSED || neighbour->oob->overflow;
    if (over && !comm->dead && !neighbour->said_bye && !neighbour->failed_ahead) lost_locked(comm, neighbour);
}

// Signs of life -----------------------------------------------------------------------------------

uint64_t gn_oob_beat_span(const gn_comm *comm)
{
    const uint64_t quarter = gn_comm_timeout(comm) / 4;
    return quarter < GN_SECOND ? quarter : GN_SECOND;
}

static void beat_one_locked(gn_comm *comm, int index)
{
    gn_framed *oob = comm->neighbours[index].oob;
    // A neighbour that does not read them is in no collective. It will find enough when it comes,
    // and they must not fill the room for other messages.
    if (!comm->own_header_set) gn_framed_flush(oob);
    if (!comm->own_header_set && gn_framed_unsent(oob)) return;
    const gn_alive alive = {.sequence = comm->sequence, .data_sent = comm->data_sent[index]};
    uint8_t frame[GN_FRAME_MAX];
    (void)gn_framed_send(oob, frame, gn_alive_write(frame, &alive));
}

uint64_t gn_oob_beat_locked(gn_comm *comm, uint64_t now)
{
    const uint64_t beat = gn_oob_beat_span(comm);
    uint64_t next = now + beat;
    for (int i = 0; i < comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &comm->neighbours[i];
        if (now >= neighbour->last_beat + beat) {
            neighbour->last_beat = now;
            beat_one_locked(comm, i);
        }
        if (neighbour->last_beat + beat < next) next = neighbour->last_beat + beat;
    }
    return next;
}

// The ends ----------------------------------------------------------------------------------------

gn_status gn_oob_abort(gn_comm *comm, const char *reason)
{
    gn_error error;
    char own[GN_ENDPOINT_TEXT];
    if (!reason) reason = "no reason given";
    if (comm->size > 1)
        gn_fail(&error, GN_ABORTED, "rank %d (%s) aborted: %.250s", comm->rank,
                gn_rank_name(&comm->table, comm->rank, own), reason);
    else  // alone, it has no address
        gn_fail(&error, GN_ABORTED, "rank %d aborted: %.250s", comm->rank, reason);
    error.who = comm->rank;
    gn_lock(&comm->lock);
    gn_oob_fail_locked(comm, &error);
    gn_unlock(&comm->lock);
    const uint64_t one = 1;
    return write(comm->wake, &one, sizeof one) == sizeof one ? GN_OK : GN_IO;
}

void gn_oob_ask(gn_comm *comm)
{
    const gn_comm_config *config = &comm->config;
    if (!config->interrupted || syscall(SYS_gettid) != getpid() || gn_oob_state(comm)) return;
    if (config->interrupted(config->interrupted_context)) (void)gn_oob_abort(comm, "interrupted");
}

void gn_oob_leave(gn_comm *comm)
{
    uint8_t frame[GN_FRAME_MAX];
    gn_lock(&comm->lock);
    const size_t length = gn_bye_write(frame, &comm->why);
    if (!comm->dead) gn_neighbours_tell_call_locked(comm);
    for (int i = 0; i < comm->neighbour_count; i++) {
        if (!comm->dead) (void)gn_framed_send(comm->neighbours[i].oob, frame, length);
        gn_framed_end(comm->neighbours[i].oob);
    }
    gn_unlock(&comm->lock);
}
