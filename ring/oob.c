// SPDX-License-Identifier: Apache-2.0
// What travels beside the data: who calls what, agreements, signs of life, and bad news, which every rank passes on in all
// directions before it stops. Everything that touches a out-of-band connection holds `lock`.
#include "oob.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bootstrap.h"
#include "life.h"
#include "net/clock.h"

static const char *const op_names[] = {"sum", "average"};

uint64_t gn_oob_beat_span(const gn_comm *comm)
{
    const uint64_t quarter = gn_comm_timeout(comm) / 4;
    return quarter < GN_SECOND ? quarter : GN_SECOND;
}

static void send_to_others(gn_comm *comm, const gn_neighbour *except, const uint8_t *frame, size_t length)
{
    for (int i = 0; i < comm->neighbour_count; i++)
        if (&comm->neighbours[i] != except) gn_connection_send(&comm->neighbours[i].oob, frame, length);
}

/// Keeps the first error and tells the neighbours. lock held.
static void fail_locked(gn_comm *comm, gn_status status, int culprit, int reporter, const gn_neighbour *from,
                        const char *text)
{
    if (comm->dead) return;
    comm->dead = true;
    comm->died = gn_now();
    gn_failure failure = {.status = (uint8_t)status,
                          .culprit = culprit < 0 ? GN_NO_RANK : (uint16_t)culprit,
                          .reporter = (uint16_t)reporter};
    snprintf(failure.text, sizeof failure.text, "%.399s", text);
    uint8_t frame[GN_FRAME_MAX];
    send_to_others(comm, from, frame, gn_failure_write(frame, &failure));
    if (reporter == comm->rank) {
        gn_fail(&comm->error, status, "%s", text);
    } else {
        char name[GN_ENDPOINT_TEXT] = "?";
        if (reporter < comm->size) gn_comm_name(comm, reporter, name);
        // Who was stopped for a while learns that it is itself the one.
        const bool own = culprit == comm->rank && status == GN_PEER_LOST;
        gn_fail(&comm->error, status, "%s%.300s (reported by rank %d, %s)",
                own ? "this rank was given up by the others: " : "", text, reporter, name);
    }
    gn_log_text(&comm->config, GN_LOG_ERROR, "%s: %.300s", gn_status_string(status), comm->error.text);
}

static void fail_by(gn_comm *comm, const gn_failure *failure, const gn_neighbour *from)
{
    int culprit = failure->culprit < comm->size ? failure->culprit : -1;
    fail_locked(comm, (gn_status)failure->status, culprit, failure->reporter, from, failure->text);
}

void gn_oob_fail_locked(gn_comm *comm, gn_status status, int culprit, const char *text)
{
    fail_locked(comm, status, culprit, comm->rank, NULL, text);
}

gn_status gn_oob_fail(gn_comm *comm, gn_status status, int culprit, const char *format, ...)
{
    char text[GN_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&comm->lock);
    gn_oob_fail_locked(comm, status, culprit, text);
    status = comm->error.status;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

gn_status gn_oob_refuse(gn_comm *comm, const char *wrong)
{
    pthread_mutex_lock(&comm->lock);
    if (!comm->dead) gn_fail(&comm->error, GN_INVALID, "rank %d called allreduce wrongly: %s", comm->rank, wrong);
    pthread_mutex_unlock(&comm->lock);
    return GN_INVALID;
}

void gn_oob_take_later(gn_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    if (comm->later_from) fail_by(comm, &comm->later, comm->later_from);
    pthread_mutex_unlock(&comm->lock);
}

gn_status gn_oob_state(gn_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    gn_status status = comm->dead ? comm->error.status : GN_OK;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

gn_status gn_oob_usable(gn_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    gn_status status = !comm->dead ? GN_OK : comm->unheard ? comm->error.status : GN_DEAD;
    comm->unheard = false;
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
                 h->bucket, gn_algorithm_name((gn_algorithm)h->algorithm));
}

/// Compares what a neighbour calls with what we call. lock held.
static void compare_header(gn_comm *comm, gn_turn *turn, int index)
{
    const gn_op_header *a = &comm->own_header, *b = &turn->header[index];
    gn_neighbour *neighbour = &comm->neighbours[index];
    if (a->kind == b->kind && a->op == b->op && a->algorithm == b->algorithm && a->count == b->count &&
        a->bucket == b->bucket && a->exponent == b->exponent) {
        turn->headers++;
        return;
    }
    char ours[96], theirs[96], text[GN_ERROR_TEXT], own[GN_ENDPOINT_TEXT];
    describe_op(a, ours, sizeof ours);
    describe_op(b, theirs, sizeof theirs);
    gn_comm_name(comm, comm->rank, own);
    if (!strcmp(ours, theirs))
        snprintf(ours, sizeof ours, "scale 2^%d", a->exponent),
            snprintf(theirs, sizeof theirs, "scale 2^%d", b->exponent);
    snprintf(text, sizeof text, "collective %llu: rank %d (%s) called %s; rank %d (%s) called %s",
             (unsigned long long)a->sequence, neighbour->rank, neighbour->name, theirs, comm->rank, own, ours);
    fail_locked(comm, GN_MISMATCH, -1, comm->rank, NULL, text);
}

/// The slot of a sequence number that a neighbour may speak of: ours, or the one after. NULL for any other. lock held.
static gn_turn *turn_of(gn_comm *comm, uint64_t sequence)
{
    if (sequence != comm->sequence && sequence != comm->sequence + 1) return NULL;
    return &comm->turn[sequence % 2];
}

static bool add_value(gn_comm *comm, gn_turn *turn, int round_index, int origin, int value)
{
    gn_round *round = &turn->round[round_index];
    if (origin >= comm->size || (round->seen[origin / 8] >> (origin % 8) & 1)) return false;
    round->seen[origin / 8] |= (uint8_t)(1u << (origin % 8));
    if (!round->count++ || value > round->value) round->value = (int16_t)value;
    if (round->count < comm->size) return true;
    round->done = true;
    if (comm->config.algorithm == GN_RING || comm->rank) return true;
    gn_agree agreed = {.sequence = turn->sequence, .round = (uint8_t)round_index, .value = round->value};
    uint8_t frame[GN_FRAME_MAX];
    send_to_others(comm, NULL, frame, gn_agree_write(frame, GN_MSG_AGREED, &agreed));
    return true;
}

/// A value that goes round the ring, or to rank 0.
static bool take_agree(gn_comm *comm, gn_agree agree)
{
    gn_turn *turn = turn_of(comm, agree.sequence);
    if (!turn || !add_value(comm, turn, agree.round, agree.origin, agree.value)) return false;
    if (comm->config.algorithm != GN_RING || agree.hops <= 1) return true;
    agree.hops--;
    uint8_t frame[GN_FRAME_MAX];
    gn_connection_send(&comm->neighbours[1].oob, frame, gn_agree_write(frame, GN_MSG_AGREE, &agree));
    return true;
}

static bool take_agreed(gn_comm *comm, const gn_agree *agreed)
{
    gn_turn *turn = turn_of(comm, agreed->sequence);
    if (!turn || comm->config.algorithm == GN_RING || !comm->rank) return false;
    turn->round[agreed->round].value = agreed->value;
    turn->round[agreed->round].done = true;
    return true;
}

static bool take_header(gn_comm *comm, int index, const gn_op_header *header)
{
    // Our right neighbour's header is not waited for: it may come when its data has long gone round.
    if (header->sequence < comm->sequence) return true;
    gn_turn *turn = turn_of(comm, header->sequence);
    if (!turn || turn->have_header[index]) return false;
    turn->have_header[index] = 1;
    turn->header[index] = *header;
    if (comm->own_header_set && header->sequence == comm->sequence) compare_header(comm, turn, index);
    return true;
}

void gn_oob_offer(gn_comm *comm, int round, int value)
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
    add_value(comm, &comm->turn[comm->sequence % 2], round, comm->rank, value);
    if (ring || comm->rank) gn_connection_send(&comm->neighbours[ring ? 1 : 0].oob, frame, length);
    pthread_mutex_unlock(&comm->lock);
}

bool gn_oob_agreed(gn_comm *comm, int round, int *value)
{
    pthread_mutex_lock(&comm->lock);
    const gn_round *r = &comm->turn[comm->sequence % 2].round[round];
    bool done = r->done;
    *value = r->value;
    pthread_mutex_unlock(&comm->lock);
    return done;
}

/// Rank 0: when every rank has finished more than before, all are told. lock held.
static void look_who_has_finished(gn_comm *comm)
{
    uint64_t least = comm->finished;
    for (int i = 0; i < comm->neighbour_count; i++) {
        const gn_neighbour *neighbour = &comm->neighbours[i];
        if (!neighbour->said_bye && neighbour->finished < least) least = neighbour->finished;
    }
    if (least <= comm->all_finished) return;
    comm->all_finished = least;
    uint8_t frame[GN_FRAME_MAX];
    send_to_others(comm, NULL, frame, gn_done_write(frame, least));
}

static bool take_done(gn_comm *comm, gn_neighbour *neighbour, uint64_t collectives)
{
    if (comm->config.algorithm != GN_SWITCH) return false;
    if (comm->rank)
        comm->all_finished = collectives;
    else
        neighbour->finished = collectives;
    if (!comm->rank) look_who_has_finished(comm);
    return true;
}

void gn_oob_finish(gn_comm *comm, uint64_t collectives)
{
    uint8_t frame[GN_FRAME_MAX];
    const size_t length = gn_done_write(frame, collectives);
    pthread_mutex_lock(&comm->lock);
    comm->finished = collectives;
    if (comm->rank)
        gn_connection_send(&comm->neighbours[0].oob, frame, length);
    else
        look_who_has_finished(comm);
    pthread_mutex_unlock(&comm->lock);
}

bool gn_oob_all_finished(gn_comm *comm, uint64_t collectives)
{
    pthread_mutex_lock(&comm->lock);
    const bool left = comm->rank && comm->neighbours[0].said_bye;
    const bool all = comm->all_finished >= collectives || left;
    pthread_mutex_unlock(&comm->lock);
    return all;
}

bool gn_oob_has_finished(gn_comm *comm, int index, uint64_t collectives)
{
    pthread_mutex_lock(&comm->lock);
    const bool has = comm->neighbours[index].finished >= collectives;
    pthread_mutex_unlock(&comm->lock);
    return has;
}

bool gn_oob_has_header(gn_comm *comm, int index)
{
    pthread_mutex_lock(&comm->lock);
    bool has = comm->turn[comm->sequence % 2].have_header[index];
    pthread_mutex_unlock(&comm->lock);
    return has;
}

gn_status gn_oob_begin(gn_comm *comm, const gn_op_header *header)
{
    uint8_t frame[GN_FRAME_MAX];
    size_t length = gn_op_header_write(frame, header);
    const uint64_t now = gn_now();
    pthread_mutex_lock(&comm->lock);
    comm->own_header = *header;
    comm->own_header_set = true;
    comm->unheard = false;
    comm->phase = "start";
    comm->data_received = comm->data_expected = 0;
    comm->last_progress = comm->looked = now;
    gn_turn *turn = &comm->turn[comm->sequence % 2];
    for (int i = 0; i < comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &comm->neighbours[i];
        neighbour->last_sign = neighbour->last_beat = now;  // the deadline counts from here
        comm->data_sent[i] = 0;
        gn_connection_send(&neighbour->oob, frame, length);
    }
    if (comm->later_from)
        fail_by(comm, &comm->later, comm->later_from);  // behind our header, so that others can tell too
    for (int i = 0; i < comm->neighbour_count && !comm->dead; i++)
        if (turn->have_header[i]) compare_header(comm, turn, i);
    gn_status status = comm->dead ? comm->error.status : GN_OK;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

void gn_oob_end(gn_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    gn_turn *turn = &comm->turn[comm->sequence % 2];
    gn_op_header *header = turn->header;
    *turn = (gn_turn){.sequence = comm->sequence + 2, .header = header};
    comm->own_header_set = false;
    comm->phase = "a pause";
    comm->data_received = comm->data_expected = 0;
    for (int i = 0; i < comm->neighbour_count; i++)
        comm->data_sent[i] = 0;  // signs of life speak of the next one from here on
    comm->sequence++;
    pthread_mutex_unlock(&comm->lock);
}

// Reading ---------------------------------------------------------------------------------------------------------------

static bool take_failure(gn_comm *comm, int index, const gn_frame *frame)
{
    gn_neighbour *neighbour = &comm->neighbours[index];
    gn_failure failure;
    if (!gn_failure_read(frame, &failure)) return false;
    // Who has begun the next collective has finished this one: all ranks are in it, and all this one needs is on its way.
    if (failure.status != GN_ABORTED && comm->own_header_set &&
        comm->turn[(comm->sequence + 1) % 2].have_header[index]) {
        if (!comm->later_from) comm->later = failure, comm->later_from = neighbour;
        neighbour->failed_ahead = true;
        return true;
    }
    fail_by(comm, &failure, neighbour);
    return true;
}

/// @return false for a message that a correct neighbour does not send now.
static bool take_message(gn_comm *comm, int index, const gn_frame *frame)
{
    gn_neighbour *neighbour = &comm->neighbours[index];
    gn_op_header header;
    gn_agree agree;
    gn_alive alive;
    uint64_t collectives;
    switch (frame->type) {
    case GN_MSG_OP:
        return gn_op_header_read(frame, &header) && take_header(comm, index, &header);
    case GN_MSG_AGREE:
        return gn_agree_read(frame, &agree) && take_agree(comm, agree);
    case GN_MSG_AGREED:
        return gn_agree_read(frame, &agree) && take_agreed(comm, &agree);
    case GN_MSG_ALIVE:
        if (!gn_alive_read(frame, &alive)) return false;
        neighbour->announced_sequence = alive.sequence;
        neighbour->announced_sent = alive.data_sent;
        return true;
    case GN_MSG_DONE:
        return gn_done_read(frame, &collectives) && take_done(comm, neighbour, collectives);
    case GN_MSG_FAIL:
        return take_failure(comm, index, frame);
    case GN_MSG_BYE:
        neighbour->said_bye = true;
        if (comm->config.algorithm == GN_SWITCH && !comm->rank) look_who_has_finished(comm);
        return gn_bye_read(frame, &neighbour->why);
    default:
        return false;
    }
}

void gn_oob_read_locked(gn_comm *comm, int index)
{
    gn_neighbour *neighbour = &comm->neighbours[index];
    char text[GN_ERROR_TEXT];
    gn_frame frame;
    bool more = true;
    while (more && !comm->dead) {
        more = gn_connection_fill(&neighbour->oob);
        if (more) neighbour->last_sign = gn_now();
        for (int found; !comm->dead && (found = gn_connection_next(&neighbour->oob, &frame));) {
            if (found > 0 && take_message(comm, index, &frame)) continue;
            snprintf(text, sizeof text, "rank %d (%s) sent a malformed out-of-band message", neighbour->rank,
                     neighbour->name);
            fail_locked(comm, GN_CORRUPT, neighbour->rank, comm->rank, NULL, text);
        }
    }
    if (comm->dead || !(neighbour->oob.closed || neighbour->oob.overflow) || neighbour->said_bye) return;
    if (neighbour->failed_ahead) return;
    snprintf(text, sizeof text, "rank %d (%s) lost: out-of-band connection %s in %s, %llu of %llu bytes received",
             neighbour->rank, neighbour->name, neighbour->oob.closed ? "closed" : "does not take messages", comm->phase,
             (unsigned long long)comm->data_received, (unsigned long long)comm->data_expected);
    fail_locked(comm, GN_PEER_LOST, neighbour->rank, comm->rank, NULL, text);
}

uint64_t gn_oob_beat_locked(gn_comm *comm, uint64_t now)
{
    uint64_t beat = gn_oob_beat_span(comm), next = now + beat;
    for (int i = 0; i < comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &comm->neighbours[i];
        if (now >= neighbour->last_beat + beat) {
            neighbour->last_beat = now;
            // Who does not read them is in no collective, and will find enough when he comes: they must not fill the room for others.
            if (!comm->own_header_set) gn_connection_flush(&neighbour->oob);
            if (!comm->own_header_set && neighbour->oob.out_used) continue;
            gn_alive alive = {.sequence = comm->sequence, .data_sent = comm->data_sent[i]};
            uint8_t frame[GN_FRAME_MAX];
            gn_connection_send(&neighbour->oob, frame, gn_alive_write(frame, &alive));
        }
        if (neighbour->last_beat + beat < next) next = neighbour->last_beat + beat;
    }
    return next;
}

gn_status gn_oob_poll(gn_comm *comm, struct pollfd *data, int count, int wait)
{
    struct pollfd *set = comm->poll_set;
    nfds_t n = 0;
    for (int i = 0; i < count; i++) set[n++] = data[i];
    set[n++] = (struct pollfd){.fd = comm->wake, .events = POLLIN};
    const uint64_t now = gn_now(), others_due = gn_life_serve(comm, now);
    pthread_mutex_lock(&comm->lock);
    const uint64_t own_due = gn_oob_beat_locked(comm, now);
    for (int i = 0; i < comm->neighbour_count; i++) {
        gn_connection *c = &comm->neighbours[i].oob;
        set[n++] =
            (struct pollfd){.fd = c->closed ? -1 : c->fd, .events = (short)(POLLIN | (c->out_used ? POLLOUT : 0))};
    }
    gn_status status = comm->dead ? comm->error.status : GN_OK;
    pthread_mutex_unlock(&comm->lock);
    if (status) return status;

    int due = gn_ms_until(own_due < others_due ? own_due : others_due, now);
    const uint64_t before = wait ? gn_now() : 0;
    int found = poll(set, n, wait >= 0 && wait < due ? wait : due);
    if (wait) {
        pthread_mutex_lock(&comm->stats_lock);
        comm->stats.wait_seconds += gn_seconds(gn_now() - before);
        pthread_mutex_unlock(&comm->stats_lock);
    }
    for (int i = 0; i < count; i++) data[i].revents = found > 0 ? set[i].revents : 0;
    if (found <= 0) return GN_OK;
    pthread_mutex_lock(&comm->lock);
    for (int i = 0; i < comm->neighbour_count; i++) {
        short events = set[count + 1 + i].revents;
        if (events & POLLOUT) gn_connection_flush(&comm->neighbours[i].oob);
        if (events & (POLLIN | POLLHUP | POLLERR)) gn_oob_read_locked(comm, i);
    }
    status = comm->dead ? comm->error.status : GN_OK;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

// The ends --------------------------------------------------------------------------------------------------------------

gn_status gn_oob_abort(gn_comm *comm, const char *reason)
{
    char text[GN_ERROR_TEXT], own[GN_ENDPOINT_TEXT];
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

void gn_oob_leave(gn_comm *comm)
{
    uint8_t frame[GN_FRAME_MAX], rest[4096];
    gn_life_leave(comm);
    pthread_mutex_lock(&comm->lock);
    size_t length = gn_bye_write(frame, &comm->why);
    for (int i = 0; i < comm->neighbour_count; i++) {
        gn_connection *c = &comm->neighbours[i].oob;
        if (!comm->dead) gn_connection_send(c, frame, length);
        gn_connection_flush(c);
        if (c->fd < 0) continue;
        shutdown(c->fd, SHUT_WR);
        // Unread bytes would turn the close into a reset, which could overtake what we have just said.
        while (recv(c->fd, rest, sizeof rest, MSG_DONTWAIT) > 0) continue;
    }
    pthread_mutex_unlock(&comm->lock);
}
