// SPDX-License-Identifier: Apache-2.0
// What travels beside the data: who calls what, agreements, signs of life, and bad news, which every rank passes on in all
// directions before it stops. Everything that touches a control connection holds `lock`.
#include "bootstrap.h"
#include "clock.h"
#include "group.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const algorithm_names[] = {"ring", "worker-aggregator"};
static const char *const op_names[] = {"sum", "average"};

/// Seconds between signs of life: four fit into a deadline.
static double beat_seconds(const gn_comm *comm)
{
    double quarter = comm->timeout_ms * 0.25e-3;
    return quarter < 1 ? quarter : 1;
}

static void send_to_others(gn_comm *comm, const gn_peer *except, const uint8_t *frame, size_t length)
{
    for (int i = 0; i < comm->peer_count; i++)
        if (&comm->peers[i] != except) gn_connection_send(&comm->peers[i].control, frame, length);
}

/// Keeps the first error and tells the peers. lock held.
static void fail_locked(gn_comm *comm, gn_status status, int culprit, int reporter, const gn_peer *from,
                        const char *text)
{
    if (comm->dead) return;
    comm->dead = true;
    gn_failure failure = {.status = (uint8_t)status,
                          .culprit = culprit < 0 ? GN_NO_RANK : (uint16_t)culprit,
                          .reporter = (uint16_t)reporter};
    snprintf(failure.text, sizeof failure.text, "%.399s", text);
    uint8_t frame[GN_FRAME_MAX];
    send_to_others(comm, from, frame, gn_failure_write(frame, &failure));
    if (reporter == comm->rank) {
        gn_cause_set(&comm->error, status, "%s", text);
    } else {
        char name[GN_NAME] = "?";
        if (reporter < comm->size) gn_comm_name(comm, reporter, name);
        gn_cause_set(&comm->error, status, "%.300s (reported by rank %d, %s)", text, reporter, name);
    }
    gn_log_text(&comm->config, GN_LOG_ERROR, "%s: %.300s", gn_status_string(status), comm->error.text);
}

static void fail_by(gn_comm *comm, const gn_failure *failure, const gn_peer *from)
{
    int culprit = failure->culprit < comm->size ? failure->culprit : -1;
    fail_locked(comm, (gn_status)failure->status, culprit, failure->reporter, from, failure->text);
}

gn_status gn_control_fail(gn_comm *comm, gn_status status, int culprit, const char *format, ...)
{
    char text[GN_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&comm->lock);
    fail_locked(comm, status, culprit, comm->rank, NULL, text);
    status = comm->error.status;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

gn_status gn_control_refuse(gn_comm *comm, const char *wrong)
{
    pthread_mutex_lock(&comm->lock);
    if (!comm->dead) gn_cause_set(&comm->error, GN_INVALID, "rank %d called allreduce wrongly: %s", comm->rank, wrong);
    pthread_mutex_unlock(&comm->lock);
    return GN_INVALID;
}

gn_status gn_control_state(gn_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    gn_status status = comm->dead ? comm->error.status : GN_OK;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

// Collectives and agreements --------------------------------------------------------------------------------------------

static void describe_op(const gn_op_header *h, char *text, size_t room)
{
    if (h->kind == GN_KIND_BARRIER)
        snprintf(text, room, "barrier");
    else
        snprintf(text, room, "%s of %llu values, bucket %u, %s", op_names[h->op], (unsigned long long)h->count,
                 h->bucket, algorithm_names[h->algorithm]);
}

/// Compares what a peer calls with what we call. lock held.
static void compare_header(gn_comm *comm, gn_slot *slot, int index)
{
    const gn_op_header *a = &comm->own_header, *b = &slot->header[index];
    gn_peer *peer = &comm->peers[index];
    if (a->kind == b->kind && a->op == b->op && a->algorithm == b->algorithm && a->count == b->count &&
        a->bucket == b->bucket && a->exponent == b->exponent) {
        slot->headers++;
        return;
    }
    char ours[96], theirs[96], text[GN_ERROR_TEXT], own[GN_NAME];
    describe_op(a, ours, sizeof ours);
    describe_op(b, theirs, sizeof theirs);
    gn_comm_name(comm, comm->rank, own);
    if (!strcmp(ours, theirs))
        snprintf(ours, sizeof ours, "scale 2^%d", a->exponent),
            snprintf(theirs, sizeof theirs, "scale 2^%d", b->exponent);
    snprintf(text, sizeof text, "collective %llu: rank %d (%s) called %s; rank %d (%s) called %s",
             (unsigned long long)a->sequence, peer->rank, peer->name, theirs, comm->rank, own, ours);
    fail_locked(comm, GN_MISMATCH, -1, comm->rank, NULL, text);
}

/// The slot of a sequence number that a peer may speak of: ours, or the one after. NULL for any other. lock held.
static gn_slot *slot_of(gn_comm *comm, uint64_t sequence)
{
    if (sequence != comm->sequence && sequence != comm->sequence + 1) return NULL;
    return &comm->slot[sequence % 2];
}

static bool add_value(gn_comm *comm, gn_slot *slot, int round_index, int origin, int value)
{
    gn_round *round = &slot->round[round_index];
    if (origin >= comm->size || (round->seen[origin / 8] >> (origin % 8) & 1)) return false;
    round->seen[origin / 8] |= (uint8_t)(1u << (origin % 8));
    if (!round->count++ || value > round->value) round->value = (int16_t)value;
    if (round->count < comm->size) return true;
    round->done = true;
    if (comm->config.algorithm == GN_RING || comm->rank) return true;
    gn_agree agreed = {.sequence = slot->sequence, .round = (uint8_t)round_index, .value = round->value};
    uint8_t frame[GN_FRAME_MAX];
    send_to_others(comm, NULL, frame, gn_agree_write(frame, GN_MSG_AGREED, &agreed));
    return true;
}

/// A value that goes round the ring, or to rank 0.
static bool take_agree(gn_comm *comm, gn_agree agree)
{
    gn_slot *slot = slot_of(comm, agree.sequence);
    if (!slot || !add_value(comm, slot, agree.round, agree.origin, agree.value)) return false;
    if (comm->config.algorithm != GN_RING || agree.hops <= 1) return true;
    agree.hops--;
    uint8_t frame[GN_FRAME_MAX];
    gn_connection_send(&comm->peers[1].control, frame, gn_agree_write(frame, GN_MSG_AGREE, &agree));
    return true;
}

static bool take_agreed(gn_comm *comm, const gn_agree *agreed)
{
    gn_slot *slot = slot_of(comm, agreed->sequence);
    if (!slot || comm->config.algorithm == GN_RING || !comm->rank) return false;
    slot->round[agreed->round].value = agreed->value;
    slot->round[agreed->round].done = true;
    return true;
}

static bool take_header(gn_comm *comm, int index, const gn_op_header *header)
{
    // Our right neighbour's header is not waited for: it may come when its data has long gone round.
    if (header->sequence < comm->sequence) return true;
    gn_slot *slot = slot_of(comm, header->sequence);
    if (!slot || slot->have_header[index]) return false;
    slot->have_header[index] = 1;
    slot->header[index] = *header;
    if (comm->own_header_set && header->sequence == comm->sequence) compare_header(comm, slot, index);
    return true;
}

void gn_control_offer(gn_comm *comm, int round, int value)
{
    if (comm->size == 1) return;
    gn_agree agree = {.sequence = comm->sequence,
                      .origin = (uint16_t)comm->rank,
                      .round = (uint8_t)round,
                      .hops = (uint8_t)(comm->size - 1),
                      .value = (int16_t)value};
    uint8_t frame[GN_FRAME_MAX];
    size_t length = gn_agree_write(frame, GN_MSG_AGREE, &agree);
    bool ring = comm->config.algorithm == GN_RING;
    pthread_mutex_lock(&comm->lock);
    add_value(comm, &comm->slot[comm->sequence % 2], round, comm->rank, value);
    if (ring || comm->rank) gn_connection_send(&comm->peers[ring ? 1 : 0].control, frame, length);
    pthread_mutex_unlock(&comm->lock);
}

bool gn_control_agreed(gn_comm *comm, int round, int *value)
{
    pthread_mutex_lock(&comm->lock);
    const gn_round *r = &comm->slot[comm->sequence % 2].round[round];
    bool done = r->done;
    *value = r->value;
    pthread_mutex_unlock(&comm->lock);
    return done;
}

bool gn_control_has_header(gn_comm *comm, int index)
{
    pthread_mutex_lock(&comm->lock);
    bool has = comm->slot[comm->sequence % 2].have_header[index];
    pthread_mutex_unlock(&comm->lock);
    return has;
}

gn_status gn_control_begin(gn_comm *comm, const gn_op_header *header)
{
    uint8_t frame[GN_FRAME_MAX];
    size_t length = gn_op_header_write(frame, header);
    double now = gn_now();
    pthread_mutex_lock(&comm->lock);
    comm->own_header = *header;
    comm->own_header_set = true;
    comm->last_progress = now;
    gn_slot *slot = &comm->slot[comm->sequence % 2];
    for (int i = 0; i < comm->peer_count; i++) {
        gn_peer *peer = &comm->peers[i];
        peer->last_sign = peer->last_beat = now;  // the deadline counts from here
        comm->data_sent[i] = 0;
        gn_connection_send(&peer->control, frame, length);
    }
    if (comm->later_from)
        fail_by(comm, &comm->later, comm->later_from);  // behind our header, so that others can tell too
    for (int i = 0; i < comm->peer_count && !comm->dead; i++)
        if (slot->have_header[i]) compare_header(comm, slot, i);
    gn_status status = comm->dead ? comm->error.status : GN_OK;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

void gn_control_end(gn_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    gn_slot *slot = &comm->slot[comm->sequence % 2];
    gn_op_header *header = slot->header;
    *slot = (gn_slot){.sequence = comm->sequence + 2, .header = header};
    comm->own_header_set = false;
    comm->sequence++;
    pthread_mutex_unlock(&comm->lock);
}

// Reading ---------------------------------------------------------------------------------------------------------------

static bool take_failure(gn_comm *comm, int index, const gn_frame *frame)
{
    gn_peer *peer = &comm->peers[index];
    gn_failure failure;
    if (!gn_failure_read(frame, &failure)) return false;
    // Who has begun the next collective has finished this one: all ranks are in it, and all this one needs is on its way.
    if (failure.status != GN_ABORTED && comm->own_header_set &&
        comm->slot[(comm->sequence + 1) % 2].have_header[index]) {
        if (!comm->later_from) comm->later = failure, comm->later_from = peer;
        peer->failed_ahead = true;
        return true;
    }
    fail_by(comm, &failure, peer);
    return true;
}

/// @return false for a message that a correct peer does not send now.
static bool take_message(gn_comm *comm, int index, const gn_frame *frame)
{
    gn_peer *peer = &comm->peers[index];
    gn_op_header header;
    gn_agree agree;
    gn_alive alive;
    switch (frame->type) {
    case GN_MSG_OP:
        return gn_op_header_read(frame, &header) && take_header(comm, index, &header);
    case GN_MSG_AGREE:
        return gn_agree_read(frame, &agree) && take_agree(comm, agree);
    case GN_MSG_AGREED:
        return gn_agree_read(frame, &agree) && take_agreed(comm, &agree);
    case GN_MSG_ALIVE:
        if (!gn_alive_read(frame, &alive)) return false;
        peer->announced_sequence = alive.sequence;
        peer->announced_sent = alive.data_sent;
        return true;
    case GN_MSG_FAIL:
        return take_failure(comm, index, frame);
    case GN_MSG_BYE:
        peer->said_bye = true;
        return true;
    default:
        return false;
    }
}

/// lock held.
static void read_peer(gn_comm *comm, int index)
{
    gn_peer *peer = &comm->peers[index];
    char text[GN_ERROR_TEXT];
    gn_frame frame;
    bool more = true;
    while (more && !comm->dead) {
        more = gn_connection_fill(&peer->control);
        if (more) peer->last_sign = gn_now();
        for (int found; !comm->dead && (found = gn_connection_next(&peer->control, &frame));) {
            if (found > 0 && take_message(comm, index, &frame)) continue;
            snprintf(text, sizeof text, "rank %d (%s) sent a malformed control message", peer->rank, peer->name);
            fail_locked(comm, GN_CORRUPT, peer->rank, comm->rank, NULL, text);
        }
    }
    if (comm->dead || !(peer->control.closed || peer->control.overflow) || peer->said_bye) return;
    if (peer->failed_ahead) return;
    snprintf(text, sizeof text, "rank %d (%s) lost: control connection %s in %s, %llu of %llu bytes received",
             peer->rank, peer->name, peer->control.closed ? "closed" : "does not take messages", comm->phase,
             (unsigned long long)comm->data_received, (unsigned long long)comm->data_expected);
    fail_locked(comm, GN_PEER_LOST, peer->rank, comm->rank, NULL, text);
}

/// Signs of life where none was sent for a while. @return ms until the next is due. lock held.
static int send_beats(gn_comm *comm, double now)
{
    double beat = beat_seconds(comm), next = now + beat;
    for (int i = 0; i < comm->peer_count; i++) {
        gn_peer *peer = &comm->peers[i];
        if (now >= peer->last_beat + beat) {
            gn_alive alive = {.sequence = comm->sequence, .data_sent = comm->data_sent[i]};
            uint8_t frame[GN_FRAME_MAX];
            gn_connection_send(&peer->control, frame, gn_alive_write(frame, &alive));
            peer->last_beat = now;
        }
        if (peer->last_beat + beat < next) next = peer->last_beat + beat;
    }
    return gn_ms_until(next, now);
}

gn_status gn_control_poll(gn_comm *comm, struct pollfd *data, int count, int wait)
{
    struct pollfd *set = comm->poll_set;
    nfds_t n = 0;
    for (int i = 0; i < count; i++) set[n++] = data[i];
    set[n++] = (struct pollfd){.fd = comm->wake, .events = POLLIN};
    pthread_mutex_lock(&comm->lock);
    int due = send_beats(comm, gn_now());
    for (int i = 0; i < comm->peer_count; i++) {
        gn_connection *c = &comm->peers[i].control;
        set[n++] =
            (struct pollfd){.fd = c->closed ? -1 : c->fd, .events = (short)(POLLIN | (c->out_used ? POLLOUT : 0))};
    }
    gn_status status = comm->dead ? comm->error.status : GN_OK;
    pthread_mutex_unlock(&comm->lock);
    if (status) return status;

    double before = wait ? gn_now() : 0;
    int found = poll(set, n, wait >= 0 && wait < due ? wait : due);
    if (wait) {
        pthread_mutex_lock(&comm->stats_lock);
        comm->stats.wait_seconds += gn_now() - before;
        pthread_mutex_unlock(&comm->stats_lock);
    }
    for (int i = 0; i < count; i++) data[i].revents = found > 0 ? set[i].revents : 0;
    if (found <= 0) return GN_OK;
    pthread_mutex_lock(&comm->lock);
    for (int i = 0; i < comm->peer_count; i++) {
        short events = set[count + 1 + i].revents;
        if (events & POLLOUT) gn_connection_flush(&comm->peers[i].control);
        if (events & (POLLIN | POLLHUP | POLLERR)) read_peer(comm, i);
    }
    status = comm->dead ? comm->error.status : GN_OK;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

// Deadlines -------------------------------------------------------------------------------------------------------------

/// lock held. Has this peer's data stopped on the way although it sent it and is alive?
static bool data_stuck(const gn_comm *comm, const gn_peer *peer)
{
    return peer->announced_sequence == comm->sequence && peer->announced_sent > comm->data_received &&
           comm->peer_count <= 2;
}

gn_status gn_control_check_deadline(gn_comm *comm, const uint8_t *waiting)
{
    double now = gn_now(), limit = comm->timeout_ms * 1e-3;
    char text[GN_ERROR_TEXT];
    pthread_mutex_lock(&comm->lock);
    for (int i = 0; i < comm->peer_count && !comm->dead; i++) {
        gn_peer *peer = &comm->peers[i];
        if (!waiting[i]) continue;
        if (peer->said_bye && !comm->slot[comm->sequence % 2].have_header[i]) {
            snprintf(text, sizeof text, "rank %d (%s) has left the group (gn_comm_free)", peer->rank, peer->name);
            fail_locked(comm, GN_PEER_LOST, peer->rank, comm->rank, NULL, text);
        } else if (now - peer->last_sign > limit) {
            snprintf(text, sizeof text,
                     "rank %d (%s) lost: no sign of life for %d ms in %s, %llu of %llu bytes received", peer->rank,
                     peer->name, comm->timeout_ms, comm->phase, (unsigned long long)comm->data_received,
                     (unsigned long long)comm->data_expected);
            fail_locked(comm, GN_PEER_LOST, peer->rank, comm->rank, NULL, text);
        } else if (now - comm->last_progress > limit && data_stuck(comm, peer)) {
            snprintf(
                text, sizeof text,
                "rank %d (%s) lost: its data connection has been stuck for %d ms in %s: it sent %llu bytes, %llu came",
                peer->rank, peer->name, comm->timeout_ms, comm->phase, (unsigned long long)peer->announced_sent,
                (unsigned long long)comm->data_received);
            fail_locked(comm, GN_PEER_LOST, peer->rank, comm->rank, NULL, text);
        } else if (now - comm->last_progress > 2 * limit) {
            snprintf(text, sizeof text,
                     "no data for %d ms in %s, %llu of %llu bytes received, waiting for rank %d (%s), which is alive",
                     2 * comm->timeout_ms, comm->phase, (unsigned long long)comm->data_received,
                     (unsigned long long)comm->data_expected, peer->rank, peer->name);
            fail_locked(comm, GN_TIMEOUT, -1, comm->rank, NULL, text);
        }
    }
    gn_status status = comm->dead ? comm->error.status : GN_OK;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

void gn_control_sign(gn_comm *comm, int index, double now)
{
    pthread_mutex_lock(&comm->lock);
    comm->peers[index].last_sign = now;
    comm->last_progress = now;
    pthread_mutex_unlock(&comm->lock);
}

static gn_status await(gn_comm *comm, int index)
{
    uint8_t waiting[GN_RANKS_MAX] = {0};
    if (index >= 0)
        waiting[index] = 1;
    else
        memset(waiting, 1, (size_t)comm->peer_count);
    gn_status status = gn_control_poll(comm, NULL, 0, -1);
    return status ? status : gn_control_check_deadline(comm, waiting);
}

gn_status gn_control_await_header(gn_comm *comm, int index)
{
    gn_status status = gn_control_state(comm);
    while (!status && !gn_control_has_header(comm, index)) status = await(comm, index);
    return status;
}

gn_status gn_control_await_agreement(gn_comm *comm, int round, int *value)
{
    gn_status status = gn_control_state(comm);
    while (!status && !gn_control_agreed(comm, round, value))
        status = await(comm, comm->config.algorithm == GN_RING ? 0 : -1);
    return status;
}

gn_status gn_control_data_lost(gn_comm *comm, int index, int cause)
{
    gn_peer *peer = &comm->peers[index];
    double until = gn_now() + beat_seconds(comm);
    gn_status status = gn_control_state(comm);
    // Whoever stops because of an error says so on the control connection first; give that the time to arrive.
    while (!status && gn_now() < until) status = gn_control_poll(comm, NULL, 0, 10);
    if (status) return status;
    return gn_control_fail(comm, GN_PEER_LOST, peer->rank,
                           "rank %d (%s) lost: data connection %s in %s, %llu of %llu bytes received", peer->rank,
                           peer->name, cause ? strerror(cause) : "closed", comm->phase,
                           (unsigned long long)comm->data_received, (unsigned long long)comm->data_expected);
}

// The ends --------------------------------------------------------------------------------------------------------------

gn_status gn_control_abort(gn_comm *comm, const char *reason)
{
    char text[GN_ERROR_TEXT], own[GN_NAME];
    if (!reason) reason = "no reason given";
    if (comm->size > 1) {
        gn_comm_name(comm, comm->rank, own);
        snprintf(text, sizeof text, "rank %d (%s) aborted: %.250s", comm->rank, own, reason);
    } else {  // alone, it has no address
        snprintf(text, sizeof text, "rank %d aborted: %.250s", comm->rank, reason);
    }
    pthread_mutex_lock(&comm->lock);
    fail_locked(comm, GN_ABORTED, comm->rank, comm->rank, NULL, text);
    pthread_mutex_unlock(&comm->lock);
    uint64_t one = 1;
    return write(comm->wake, &one, sizeof one) == sizeof one ? GN_OK : GN_IO;
}

void gn_control_leave(gn_comm *comm)
{
    uint8_t frame[GN_FRAME_MAX], rest[4096];
    size_t length = gn_empty_write(frame, GN_MSG_BYE);
    pthread_mutex_lock(&comm->lock);
    for (int i = 0; i < comm->peer_count; i++) {
        gn_connection *c = &comm->peers[i].control;
        if (!comm->dead) gn_connection_send(c, frame, length);
        gn_connection_flush(c);
        if (c->fd < 0) continue;
        shutdown(c->fd, SHUT_WR);
        // Unread bytes would turn the close into a reset, which could overtake what we have just said.
        while (recv(c->fd, rest, sizeof rest, MSG_DONTWAIT) > 0) continue;
    }
    pthread_mutex_unlock(&comm->lock);
}
