// SPDX-License-Identifier: Apache-2.0
#include "ring/turn.h"

#include <stdio.h>
#include <string.h>

#include "ring/failure.h"
#include "ring/neighbours.h"
#include "ring/shared.h"

// Headers -----------------------------------------------------------------------------------------

static void describe_op(const gn_op_header *h, char *text, size_t room)
{
    const char *name = gn_collective_name((gn_collective)h->kind), *type = gn_type_name((gn_type)h->type);
    const char *op = gn_op_name((gn_op)h->op);
    const unsigned long long count = h->count;
    char what[64], bucket[32] = "";
    snprintf(what, sizeof what, "%llu %s%svalues", count, h->type == GN_F32 ? "" : type, h->type == GN_F32 ? "" : " ");
    if (h->bucket != GN_BUCKET_NONE) snprintf(bucket, sizeof bucket, ", bucket %u", h->bucket);
    switch (h->kind) {
    case GN_BARRIER:
        snprintf(text, room, "barrier");
        break;
    case GN_ALLREDUCE:
        snprintf(text, room, "%s of %s%s, %s", op, what, bucket, gn_algorithm_name((gn_algorithm)h->algorithm));
        break;
    case GN_REDUCE_SCATTER:
        snprintf(text, room, "%s: %s of %s%s", name, op, what, bucket);
        break;
    case GN_REDUCE:
        snprintf(text, room, "%s: %s of %s to rank %u%s", name, op, what, h->root, bucket);
        break;
    case GN_ALL_GATHER:
        snprintf(text, room, "%s of %s%s", name, what, h->op ? ", compressed" : "");
        break;
    case GN_ALL_TO_ALL:
        snprintf(text, room, "%s of %s", name, what);
        break;
    case GN_TRANSFER:
        snprintf(text, room, "%s of %s from rank %u to rank %u", name, what, h->root, h->to);
        break;
    default:
        snprintf(text, room, "%s of %s, root %u", name, what, h->root);
    }
}

/// Two calls that are the same in words: says what else differs.
static void describe_rest(const gn_op_header *h, bool shapes, char *text, size_t room)
{
    if (shapes)
        snprintf(text, room, "counts of ranks with CRC %08x", h->shape);
    else
        snprintf(text, room, "scale 2^%d", h->exponent);
}

static bool same_call(const gn_op_header *a, const gn_op_header *b)
{
    return a->kind == b->kind && a->op == b->op && a->algorithm == b->algorithm && a->count == b->count &&
           a->bucket == b->bucket && a->exponent == b->exponent && a->type == b->type && a->root == b->root &&
           a->to == b->to && a->shape == b->shape;
}

/// Compares what a neighbour calls with what we call.
static void compare_header_locked(gn_comm *comm, gn_turn *turn, int index)
{
    const gn_op_header *a = &comm->own_header, *b = &turn->header[index];
    const gn_neighbour *neighbour = &comm->neighbours[index];
    if (same_call(a, b)) {
        turn->headers++;
        return;
    }
    char ours[128], theirs[128], own[GN_ENDPOINT_TEXT];
    gn_error error;
    describe_op(a, ours, sizeof ours);
    describe_op(b, theirs, sizeof theirs);
    gn_rank_name(&comm->table, comm->rank, own);
    if (!strcmp(ours, theirs)) {
        describe_rest(a, a->shape != b->shape, ours, sizeof ours);
        describe_rest(b, a->shape != b->shape, theirs, sizeof theirs);
    }
    gn_fail(&error, GN_MISMATCH, "collective %llu: rank %d (%s) called %s; rank %d (%s) called %s",
            (unsigned long long)a->sequence, neighbour->rank, neighbour->name, theirs, comm->rank, own, ours);
    gn_oob_fail_locked(comm, &error);
}

/// The turn that a neighbour may speak of: ours, or the one after. @return NULL for any other
static gn_turn *turn_of(gn_comm *comm, uint64_t sequence)
{
    if (sequence != comm->sequence && sequence != comm->sequence + 1) return NULL;
    return &comm->turn[sequence % 2];
}

static bool take_header_locked(gn_comm *comm, int index, const gn_op_header *header)
{
    // Our right neighbour's header is not waited for: it may come when its data has long gone
    // round.
    if (header->sequence < comm->sequence) return true;
    gn_turn *turn = turn_of(comm, header->sequence);
    if (!turn) return false;
    // It may have come another way, too: through memory, or ahead of values.
    if (turn->have_header[index]) return same_call(header, &turn->header[index]);
    turn->have_header[index] = 1;
    turn->header[index] = *header;
    if (comm->own_header_set && header->sequence == comm->sequence) compare_header_locked(comm, turn, index);
    return true;
}

gn_status gn_oob_begin(gn_comm *comm, const gn_op_header *header, bool leads)
{
    uint8_t frame[GN_FRAME_MAX];
    const size_t length = gn_op_header_write(frame, header);
    const uint64_t now = gn_now();
    gn_lock(&comm->lock);
    comm->own_header = *header;
    comm->own_header_set = true;
    comm->leads = leads;
    comm->unheard = false;
    comm->phase = "start";
    comm->data_received = comm->data_expected = comm->wire_sent = comm->wire_received = 0;
    comm->last_progress = comm->looked = now;
    gn_turn *turn = &comm->turn[comm->sequence % 2];
    for (int i = 0; i < comm->neighbour_count; i++) {
        gn_neighbour *neighbour = &comm->neighbours[i];
        neighbour->last_sign = neighbour->last_beat = now;  // the deadline counts from here
        neighbour->came = 0;
        comm->data_sent[i] = 0;
        const bool told = neighbour->shared ? gn_shared_tell(neighbour->shared, comm->sequence, frame, length) : leads;
        if (!told) (void)gn_framed_send(neighbour->oob, frame, length);
    }
    // Behind our header: by that the neighbours tell whether the failure is ahead of them.
    if (comm->later_from) gn_oob_fail_by_locked(comm, &comm->later, comm->later_from);
    for (int i = 0; i < comm->neighbour_count && !comm->dead; i++)
        if (turn->have_header[i]) compare_header_locked(comm, turn, i);
    const gn_status status = gn_oob_state_locked(comm);
    gn_unlock(&comm->lock);
    return status;
}

void gn_oob_end(gn_comm *comm)
{
    gn_lock(&comm->lock);
    gn_turn *turn = &comm->turn[comm->sequence % 2];
    *turn = (gn_turn){.sequence = comm->sequence + 2, .header = turn->header};
    comm->own_header_set = false;
    comm->phase = "a pause";
    comm->data_received = comm->data_expected = 0;
    // Signs of life speak of the next collective from here on.
    for (int i = 0; i < comm->neighbour_count; i++) comm->data_sent[i] = 0;
    comm->sequence++;
    gn_unlock(&comm->lock);
}

/// @return false when the note is not a header of this collective
static bool take_note_locked(gn_comm *comm, int index, const uint8_t *note, size_t length, uint64_t sequence)
{
    gn_frame frame;
    gn_op_header header;
    return gn_frame_parse(note, length, &frame) == (int)length && frame.type == GN_MSG_OP &&
           gn_op_header_read(&frame, &header) && header.sequence == sequence &&
           take_header_locked(comm, index, &header);
}

bool gn_oob_take_lead(gn_comm *comm, int index, const uint8_t *bytes)
{
    gn_lock(&comm->lock);
    const bool taken = take_note_locked(comm, index, bytes, GN_OP_BYTES, comm->sequence);
    gn_unlock(&comm->lock);
    return taken;
}

void gn_oob_listen_locked(gn_comm *comm, int index)
{
    gn_neighbour *neighbour = &comm->neighbours[index];
    uint8_t note[GN_SHARED_NOTE];
    if (!neighbour->shared) return;
    for (uint64_t sequence = comm->sequence; sequence <= comm->sequence + 1 && !comm->dead; sequence++) {
        if (comm->turn[sequence % 2].have_header[index]) continue;
        const size_t length = gn_shared_told(neighbour->shared, sequence, note);
        if (!length) continue;
        neighbour->last_sign = gn_now();
        if (take_note_locked(comm, index, note, length, sequence)) continue;
        gn_error error;
        gn_fail(&error, GN_CORRUPT, "rank %d (%s) left a malformed message in shared memory", neighbour->rank,
                neighbour->name);
        error.who = neighbour->rank;
        gn_oob_fail_locked(comm, &error);
    }
}

bool gn_oob_is_told(gn_comm *comm, int index)
{
    const gn_neighbour *neighbour = &comm->neighbours[index];
    uint8_t note[GN_SHARED_NOTE];
    if (!neighbour->shared) return false;
    gn_lock(&comm->lock);
    const bool told =
        !comm->turn[comm->sequence % 2].have_header[index] && gn_shared_told(neighbour->shared, comm->sequence, note);
    gn_unlock(&comm->lock);
    return told;
}

bool gn_oob_sleep(gn_comm *comm)
{
    bool there = false;
    gn_lock(&comm->lock);
    for (int i = 0; i < comm->neighbour_count; i++) {
        if (!comm->neighbours[i].shared) continue;
        gn_shared_sleep_to_be_told(comm->neighbours[i].shared, true);
        const bool has = comm->turn[comm->sequence % 2].have_header[i];
        gn_oob_listen_locked(comm, i);
        there |= !has && comm->turn[comm->sequence % 2].have_header[i];
    }
    gn_unlock(&comm->lock);
    return there;
}

void gn_oob_awake(gn_comm *comm)
{
    for (int i = 0; i < comm->neighbour_count; i++)
        if (comm->neighbours[i].shared) gn_shared_sleep_to_be_told(comm->neighbours[i].shared, false);
}

bool gn_oob_has_header(gn_comm *comm, int index)
{
    gn_lock(&comm->lock);
    if (!comm->turn[comm->sequence % 2].have_header[index]) gn_oob_listen_locked(comm, index);
    // One that does not agree with ours has ended the communicator.
    const bool has = comm->turn[comm->sequence % 2].have_header[index] && !comm->dead;
    gn_unlock(&comm->lock);
    return has;
}

// Agreements --------------------------------------------------------------------------------------

/// @return false when there is no such rank, or its value is there already
static bool add_value_locked(gn_comm *comm, gn_turn *turn, int round_index, int origin, int value)
{
    gn_round *round = &turn->round[round_index];
    if (origin >= comm->size || (round->seen[origin / 8] >> (origin % 8) & 1)) return false;
    round->seen[origin / 8] |= (uint8_t)(1u << (origin % 8));
    if (!round->count++ || value > round->value) round->value = (int16_t)value;
    if (round->count < comm->size) return true;
    round->done = true;
    if (comm->config.algorithm == GN_RING || comm->rank) return true;
    const gn_agree agreed = {.sequence = turn->sequence, .round = (uint8_t)round_index, .value = round->value};
    uint8_t frame[GN_FRAME_MAX];
    gn_neighbours_tell_locked(comm, NULL, frame, gn_agree_write(frame, GN_MSG_AGREED, &agreed));
    return true;
}

/// Takes a value that goes round the ring, or to rank 0.
static bool take_agree_locked(gn_comm *comm, gn_agree agree)
{
    gn_turn *turn = turn_of(comm, agree.sequence);
    if (gn_comm_is_mesh(comm) && comm->rank) return false;  // rank 0 collects them
    if (!turn || !add_value_locked(comm, turn, agree.round, agree.origin, agree.value)) return false;
    if (comm->config.algorithm != GN_RING || agree.hops <= 1) return true;
    agree.hops--;
    uint8_t frame[GN_FRAME_MAX];
    (void)gn_framed_send(comm->neighbours[1].oob, frame, gn_agree_write(frame, GN_MSG_AGREE, &agree));
    return true;
}

static bool take_agreed_locked(gn_comm *comm, const gn_neighbour *from, const gn_agree *agreed)
{
    gn_turn *turn = turn_of(comm, agreed->sequence);
    if (!turn || comm->config.algorithm == GN_RING || from->rank) return false;
    turn->round[agreed->round].value = agreed->value;
    turn->round[agreed->round].done = true;
    return true;
}

void gn_oob_offer(gn_comm *comm, int round, int value)
{
    if (comm->size == 1) return;
    const gn_agree agree = {.sequence = comm->sequence,
                            .origin = (uint16_t)comm->rank,
                            .round = (uint8_t)round,
                            .hops = (uint8_t)(comm->size - 1),
                            .value = (int16_t)value};
    uint8_t frame[GN_FRAME_MAX];
    const size_t length = gn_agree_write(frame, GN_MSG_AGREE, &agree);
    const bool ring = comm->config.algorithm == GN_RING;
    gn_lock(&comm->lock);
    (void)add_value_locked(comm, &comm->turn[comm->sequence % 2], round, comm->rank, value);
    if (ring || comm->rank) (void)gn_framed_send(comm->neighbours[ring ? 1 : 0].oob, frame, length);
    gn_unlock(&comm->lock);
}

bool gn_oob_agreed(gn_comm *comm, int round, int *value)
{
    gn_lock(&comm->lock);
    const gn_round *r = &comm->turn[comm->sequence % 2].round[round];
    const bool done = r->done;
    *value = r->value;
    gn_unlock(&comm->lock);
    return done;
}

// Who has all results -----------------------------------------------------------------------------

/// Rank 0: tells all when every rank has finished more than before.
static void look_who_has_finished_locked(gn_comm *comm)
{
    uint64_t least = comm->finished;
    for (int i = 0; i < comm->neighbour_count; i++) {
        const gn_neighbour *neighbour = &comm->neighbours[i];
        if (!neighbour->said_bye && neighbour->finished < least) least = neighbour->finished;
    }
    if (least <= comm->all_finished) return;
    comm->all_finished = least;
    uint8_t frame[GN_FRAME_MAX];
    gn_neighbours_tell_locked(comm, NULL, frame, gn_done_write(frame, least));
}

void gn_oob_neighbour_left_locked(gn_comm *comm)
{
    if (comm->config.algorithm == GN_SWITCH && !comm->rank) look_who_has_finished_locked(comm);
}

static bool take_done_locked(gn_comm *comm, gn_neighbour *neighbour, uint64_t collectives)
{
    if (comm->config.algorithm != GN_SWITCH) return false;
    if (comm->rank) {
        comm->all_finished = collectives;
    } else {
        neighbour->finished = collectives;
        look_who_has_finished_locked(comm);
    }
    return true;
}

void gn_oob_finish(gn_comm *comm, uint64_t collectives)
{
    uint8_t frame[GN_FRAME_MAX];
    const size_t length = gn_done_write(frame, collectives);
    gn_lock(&comm->lock);
    comm->finished = collectives;
    if (comm->rank)
        (void)gn_framed_send(comm->neighbours[0].oob, frame, length);
    else
        look_who_has_finished_locked(comm);
    gn_unlock(&comm->lock);
}

bool gn_oob_all_finished(gn_comm *comm, uint64_t collectives)
{
    gn_lock(&comm->lock);
    const bool left = comm->rank && comm->neighbours[0].said_bye;
    const bool all = comm->all_finished >= collectives || left;
    gn_unlock(&comm->lock);
    return all;
}

bool gn_oob_has_finished(gn_comm *comm, int index, uint64_t collectives)
{
    gn_lock(&comm->lock);
    const bool has = comm->neighbours[index].finished >= collectives;
    gn_unlock(&comm->lock);
    return has;
}

bool gn_oob_take_turn_locked(gn_comm *comm, int index, const gn_frame *frame)
{
    gn_op_header header;
    gn_agree agree;
    uint64_t collectives;
    switch (frame->type) {
    case GN_MSG_OP:
        return gn_op_header_read(frame, &header) && take_header_locked(comm, index, &header);
    case GN_MSG_AGREE:
        return gn_agree_read(frame, &agree) && take_agree_locked(comm, agree);
    case GN_MSG_AGREED:
        return gn_agree_read(frame, &agree) && take_agreed_locked(comm, &comm->neighbours[index], &agree);
    case GN_MSG_DONE:
        return gn_done_read(frame, &collectives) && take_done_locked(comm, &comm->neighbours[index], collectives);
    default:
        return false;
    }
}
