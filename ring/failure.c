// SPDX-License-Identifier: Apache-2.0
#include "ring/failure.h"
#include "ring/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ring/neighbours.h"

/// `reporter` is the rank that has found it out. `from` is the neighbour that has told us, or NULL.
static void fail_locked(gn_comm *comm, const gn_error *error, int reporter, const gn_neighbour *from)
{
    if (comm->dead) return;
    comm->dead = true;
    comm->died = gn_now();
    gn_failure failure = {.status = (uint8_t)error->status,
                          .culprit = error->who < 0 ? GN_NO_RANK : (uint16_t)error->who,
                          .reporter = (uint16_t)reporter};
    snprintf(failure.text, sizeof failure.text, "%s", error->text);
    uint8_t frame[GN_FRAME_MAX];
    gn_neighbours_tell_call_locked(comm);
    gn_neighbours_tell_locked(comm, from, frame, gn_failure_write(frame, &failure));
    if (reporter == comm->rank) {
        comm->error = *error;
    } else {
        char name[GN_ENDPOINT_TEXT] = "?";
        if (reporter < comm->size) gn_rank_name(&comm->table, reporter, name);
        // A rank that was stopped for a while learns that it is itself the culprit.
        const bool own = error->who == comm->rank && error->status == GN_PEER_LOST;
        gn_fail(&comm->error, error->status, "%s%.300s (reported by rank %d, %s)",
                own ? "this rank was given up by the others: " : "", error->text, reporter, name);
        comm->error.who = error->who;
    }
    gn_log_text(&comm->config, GN_LOG_ERROR, "%s: %.300s", gn_status_string(error->status), comm->error.text);
}

void gn_oob_fail_locked(gn_comm *comm, const gn_error *error)
{
    fail_locked(comm, error, comm->rank, NULL);
}

void gn_oob_fail_by_locked(gn_comm *comm, const gn_failure *failure, const gn_neighbour *from)
{
    gn_error error;
    gn_fail(&error, (gn_status)failure->status, "%s", failure->text);
    if (failure->culprit < comm->size) error.who = failure->culprit;
    fail_locked(comm, &error, failure->reporter, from);
}

gn_status gn_oob_fail(gn_comm *comm, gn_status status, int culprit, const char *format, ...)
{
    gn_error error = {.status = status, .who = culprit};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.text, sizeof error.text, format, arguments);
    va_end(arguments);
    gn_lock(&comm->lock);
    gn_oob_fail_locked(comm, &error);
    status = comm->error.status;
    gn_unlock(&comm->lock);
    return status;
}

gn_status gn_oob_no_memory(gn_comm *comm)
{
    return gn_oob_fail(comm, GN_NO_MEMORY, comm->rank, "rank %d is out of memory", comm->rank);
}

gn_status gn_oob_refuse(gn_comm *comm, const char *call, const char *wrong)
{
    gn_lock(&comm->lock);
    if (!comm->dead) gn_fail(&comm->error, GN_INVALID, "rank %d called %s wrongly: %s", comm->rank, call, wrong);
    gn_unlock(&comm->lock);
    return GN_INVALID;
}

void gn_oob_take_later(gn_comm *comm)
{
    gn_lock(&comm->lock);
    if (comm->later_from) gn_oob_fail_by_locked(comm, &comm->later, comm->later_from);
    gn_unlock(&comm->lock);
}

gn_status gn_oob_state_locked(const gn_comm *comm)
{
    return comm->dead ? comm->error.status : GN_OK;
}

gn_status gn_oob_state(gn_comm *comm)
{
    gn_lock(&comm->lock);
    const gn_status status = gn_oob_state_locked(comm);
    gn_unlock(&comm->lock);
    return status;
}

gn_status gn_oob_ready(gn_comm *comm)
{
    gn_lock(&comm->lock);
    const gn_status status = !comm->dead ? GN_OK : comm->unheard ? comm->error.status : GN_DEAD;
    gn_unlock(&comm->lock);
    return status;
}

void gn_oob_told(gn_comm *comm)
{
    gn_lock(&comm->lock);
    comm->unheard = false;
    gn_unlock(&comm->lock);
}

void gn_oob_last_error(gn_comm *comm, char text[GN_ERROR_TEXT])
{
    gn_lock(&comm->lock);
    memcpy(text, comm->error.text, GN_ERROR_TEXT);
    gn_unlock(&comm->lock);
}
