// SPDX-License-Identifier: Apache-2.0
// The calls of gradnic/comm.h that are messages between two ranks.
#include <gradnic/comm.h>

#include "ring/collective.h"
#include "ring/failure.h"
#include "ring/peers/peers.h"
#include "ring/request.h"

/// @return NULL, or what is wrong with a message by itself
static const char *wrong(const gn_comm *comm, const gn_letter *letter)
{
    const bool any = !letter->sends && letter->rank == GN_ANY_RANK,
               any_tag = !letter->sends && letter->tag == GN_ANY_TAG;
    if (!any && (letter->rank < 0 || letter->rank >= comm->size))
        return letter->sends ? "to is not a rank" : "from is neither a rank nor GN_ANY_RANK";
    if (letter->tag < 0 && !any_tag)
        return letter->sends ? "the tag is below 0" : "the tag is below 0, and not GN_ANY_TAG";
    if (letter->count && !letter->bytes) return "bytes is NULL";
    return letter->count > PTRDIFF_MAX ? "count is larger than memory" : NULL;
}

static gn_status enter(gn_comm *comm, const gn_letter *letter)
{
    if (!comm) return GN_INVALID;
    const gn_status status = gn_collective_enter(comm);
    if (status) return status;
    const char *why = wrong(comm, letter);
    return why ? gn_oob_refuse(comm, letter->sends ? "send" : "receive", why) : GN_OK;
}

/// On the thread that runs collectives.
static gn_status run(gn_comm *comm, gn_letter *letter)
{
    gn_request *request;
    gn_status status = enter(comm, letter);
    if (status) return status;
    if (comm->queue) {
        status = gn_request_post(comm, letter, &request);
        return status ? status : gn_wait(request);
    }
    status = gn_comm_occupy(comm, letter->sends ? "send" : "receive");
    if (status) return status;
    status = gn_letter_post(comm, letter);
    if (!status) status = gn_letter_await(comm, letter);
    gn_comm_vacate(comm);
    return status;
}

static gn_status start(gn_comm *comm, const gn_letter *letter, gn_request **request)
{
    if (!request) return GN_INVALID;
    *request = NULL;
    const gn_status status = enter(comm, letter);
    return status ? status : gn_request_post(comm, letter, request);
}

static gn_letter sending(const void *bytes, size_t count, int to, int tag)
{
    return (gn_letter){.sends = true, .bytes = (uint8_t *)(uintptr_t)bytes, .count = count, .rank = to, .tag = tag};
}

static gn_letter receiving(void *bytes, size_t count, int from, int tag, gn_received *got)
{
    return (gn_letter){.bytes = bytes, .count = count, .rank = from, .tag = tag, .got = got};
}

gn_status gn_send(gn_comm *comm, const void *bytes, size_t count, int to, int tag)
{
    gn_letter letter = sending(bytes, count, to, tag);
    return run(comm, &letter);
}

gn_status gn_recv(gn_comm *comm, void *bytes, size_t count, int from, int tag, gn_received *got)
{
    gn_letter letter = receiving(bytes, count, from, tag, got);
    return run(comm, &letter);
}

gn_status gn_isend(gn_comm *comm, const void *bytes, size_t count, int to, int tag, gn_request **request)
{
    const gn_letter letter = sending(bytes, count, to, tag);
    return start(comm, &letter, request);
}

gn_status gn_irecv(gn_comm *comm, void *bytes, size_t count, int from, int tag, gn_received *got, gn_request **request)
{
    const gn_letter letter = receiving(bytes, count, from, tag, got);
    return start(comm, &letter, request);
}

gn_status gn_probe(gn_comm *comm, int from, int tag, bool *there, gn_received *found)
{
    const gn_letter letter = receiving(NULL, 0, from, tag, found);
    if (!there) return GN_INVALID;
    *there = false;
    gn_status status = enter(comm, &letter);
    if (!status && !comm->queue && !(status = gn_comm_occupy(comm, "probe"))) {
        status = gn_peers_look(comm);
        gn_comm_vacate(comm);
    }
    if (status) return status;
    gn_lock(&comm->peers->lock);
    const gn_arrival *arrival = gn_letters_find_locked(comm, from, tag);
    *there = arrival != NULL;
    if (arrival && found) *found = (gn_received){.rank = arrival->rank, .tag = arrival->tag, .bytes = arrival->size};
    gn_unlock(&comm->peers->lock);
    return GN_OK;
}
