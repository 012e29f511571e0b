// SPDX-License-Identifier: Apache-2.0
// Every collective of every type, with 1 to 5 ranks, is what a plain loop gives.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "ring/collectives/types.h"
#include "suite.h"

typedef struct plan {
    gn_offload offload;  ///< GN_OFFLOAD_AUTO: no quantising
    gn_profile profile;
    gn_type type;
    bool async;
    gn_algorithm algorithm;
} plan;

enum { GUARD = 16 };

static gn_comm *plan_init(int rank, const ranks *group, const plan *p)
{
    gn_comm_config config = rank_config(rank, group);
    config.segment_bytes = 4096;
    config.algorithm = p->algorithm;
    config.quantise = p->offload != GN_OFFLOAD_AUTO;
    config.offload = p->offload;
    RANK_CHECK(!gn_codec_init(&config.codec, p->profile, 10));
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
    RANK_CHECK(comm);
    return comm;
}

/// A whole number, small enough that sums of it are exact in every type. Of bytes any number.
static int number(gn_type type, int rank, size_t i)
{
    const uint64_t x = ((uint64_t)rank + 1) * 0x9E3779B97F4A7C15u + i * 0xD1B54A32D192ED03u;
    const int small = (int)((x >> 33) % 41) - 20;
    return type == GN_U8 ? (int)(x >> 40 & 255) : i / 300 % 3 == 1 ? 0 : small;
}

static void put(gn_type type, void *vector, size_t i, double value)
{
    const float single = (float)value;
    switch (type) {
    case GN_F64:
        ((double *)vector)[i] = value;
        break;
    case GN_I32:
        ((int32_t *)vector)[i] = (int32_t)value;
        break;
    case GN_I64:
        ((int64_t *)vector)[i] = (int64_t)value;
        break;
    case GN_U8:
        ((uint8_t *)vector)[i] = (uint8_t)(int)value;
        break;
    default:
        gn_type_store(type, &single, (uint8_t *)vector + i * gn_type_bytes(type), 1);
    }
}

/// A vector with a guard behind it.
static void *vector_new(gn_type type, size_t count)
{
    const size_t bytes = count * gn_type_bytes(type);
    uint8_t *vector = malloc(bytes + GUARD);
    RANK_CHECK(vector);
    memset(vector, 0xA5, bytes + GUARD);
    return vector;
}

static void *filled(gn_type type, int rank, size_t first, size_t count)
{
    void *vector = vector_new(type, count);
    for (size_t i = 0; i < count; i++) put(type, vector, i, number(type, rank, first + i));
    return vector;
}

/// Element i of all ranks, combined.
static void put_combined(gn_type type, gn_op op, int size, size_t from, void *vector, size_t i)
{
    double all = number(type, 0, from);
    for (int r = 1; r < size; r++) {
        const double value = number(type, r, from);
        all = op == GN_MIN ? (value < all ? value : all) : op == GN_MAX ? (value > all ? value : all) : all + value;
    }
    if (op == GN_AVERAGE) all = type == GN_F64 ? all / size : (double)((float)all / (float)size);
    put(type, vector, i, all);
}

/// Runs a call, and compares what it gave.
static void run(gn_comm *comm, const plan *p, const gn_call *call, const void *wanted, size_t count)
{
    const size_t bytes = count * gn_type_bytes(call->type);
    gn_request *request;
    gn_status status;
    if (p->async) {
        status = gn_comm_start(comm, call, &request);
        if (!status) status = gn_wait(request);
    } else {
        status = gn_comm_run(comm, call);
    }
    if (status) fprintf(stderr, "%s: %s\n", gn_status_string(status), gn_comm_last_error(comm));
    RANK_CHECK(!status);
    if (!wanted) return;
    const bool same = !memcmp(call->recv, wanted, bytes);
    if (!same)
        fprintf(stderr, "rank %d of %d: %s, %s, %s, %zu elements\n", gn_comm_rank(comm), gn_comm_size(comm),
                gn_collective_name(call->collective), gn_op_name(call->op), gn_type_name(call->type), count);
    RANK_CHECK(same);
    for (int i = 0; i < GUARD; i++) RANK_CHECK(((uint8_t *)call->recv)[bytes + (size_t)i] == 0xA5);
}

static void allreduces(gn_comm *comm, const plan *p, size_t count)
{
    const int rank = gn_comm_rank(comm), size = gn_comm_size(comm);
    for (gn_op op = GN_SUM; op < GN_OPS; op++) {
        if (op == GN_AVERAGE && p->type >= GN_I32) continue;
        void *send = filled(p->type, rank, 0, count), *recv = vector_new(p->type, count),
             *wanted = malloc(count * 8 + 8);
        for (size_t i = 0; i < count; i++) put_combined(p->type, op, size, i, wanted, i);
        gn_call call = {
            .collective = GN_ALLREDUCE, .type = p->type, .op = op, .send = send, .recv = recv, .count = count};
        run(comm, p, &call, wanted, count);
        call.recv = send;
        run(comm, p, &call, wanted, count);
        free(send);
        free(recv);
        free(wanted);
    }
}

/// Blocks of all ranks: `uneven` cuts them in different sizes, and one of them has none.
static size_t cut(int size, size_t count, bool uneven, size_t counts[RANKS_MAX])
{
    size_t all = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = uneven ? (r % 3 == 1 ? 0 : count * (size_t)(r + 1) / 2 + (size_t)r) : count;
        all += counts[r];
    }
    return all;
}

static void scattered(gn_comm *comm, const plan *p, size_t count, bool uneven)
{
    const int rank = gn_comm_rank(comm), size = gn_comm_size(comm);
    size_t counts[RANKS_MAX], first = 0;
    const size_t all = cut(size, count, uneven, counts), own = counts[rank];
    for (int r = 0; r < rank; r++) first += counts[r];
    void *send = filled(p->type, rank, 0, all), *recv = vector_new(p->type, own), *wanted = malloc(all * 8 + 8);
    for (gn_op op = GN_SUM; op < GN_OPS; op++) {
        if (op == GN_AVERAGE && p->type >= GN_I32) continue;
        for (size_t i = 0; i < own; i++) put_combined(p->type, op, size, first + i, wanted, i);
        const gn_call call = {.collective = GN_REDUCE_SCATTER,
                              .type = p->type,
                              .op = op,
                              .send = send,
                              .recv = recv,
                              .count = count,
                              .counts = uneven ? counts : NULL};
        run(comm, p, &call, wanted, own);
    }
    free(send);
    free(recv);
    free(wanted);
}

static void gathered(gn_comm *comm, const plan *p, size_t count, bool uneven)
{
    const int rank = gn_comm_rank(comm), size = gn_comm_size(comm);
    size_t counts[RANKS_MAX], at = 0, first = 0;
    const size_t all = cut(size, count, uneven, counts), width = gn_type_bytes(p->type);
    for (int r = 0; r < rank; r++) first += counts[r];
    void *send = filled(p->type, rank, 7, counts[rank]), *recv = vector_new(p->type, all);
    void *wanted = malloc(all * 8 + 8);
    for (int r = 0; r < size; r++)
        for (size_t i = 0; i < counts[r]; i++) put(p->type, wanted, at++, number(p->type, r, 7 + i));
    gn_call call = {.collective = GN_ALL_GATHER,
                    .type = p->type,
                    .send = send,
                    .recv = recv,
                    .count = count,
                    .counts = uneven ? counts : NULL};
    run(comm, p, &call, wanted, all);
    // In place, and with the codec, which leaves whole numbers as they are.
    memset(recv, 0, all * width);
    memcpy((uint8_t *)recv + first * width, send, counts[rank] * width);
    call.send = (uint8_t *)recv + first * width;
    call.lossy = p->offload != GN_OFFLOAD_AUTO && gn_type_staged(p->type) == GN_F32 && p->profile != GN_PAPER;
    run(comm, p, &call, wanted, all);
    free(send);
    free(recv);
    free(wanted);
}

static void rooted(gn_comm *comm, const plan *p, size_t count, int root)
{
    const int rank = gn_comm_rank(comm), size = gn_comm_size(comm);
    const size_t all = count * (size_t)size;
    void *send = filled(p->type, rank, 0, all), *recv = vector_new(p->type, all), *wanted = malloc(all * 8 + 8);
    gn_call call = {.type = p->type, .send = send, .recv = recv, .count = all, .root = root};
    call.collective = GN_REDUCE;
    for (size_t i = 0; i < all; i++) put_combined(p->type, GN_SUM, size, i, wanted, i);
    run(comm, p, &call, rank == root ? wanted : NULL, all);

    void *bytes = rank == root ? filled(p->type, root, 0, all) : vector_new(p->type, all);
    gn_call broadcast = {.collective = GN_BROADCAST, .type = p->type, .recv = bytes, .count = all, .root = root};
    for (size_t i = 0; i < all; i++) put(p->type, wanted, i, number(p->type, root, i));
    run(comm, p, &broadcast, wanted, all);
    free(bytes);

    call.collective = GN_GATHER;
    call.count = count;
    for (size_t i = 0; i < all; i++) put(p->type, wanted, i, number(p->type, (int)(i / count), i % count));
    run(comm, p, &call, rank == root ? wanted : NULL, all);
    free(recv);

    recv = call.recv = vector_new(p->type, count);
    call.collective = GN_SCATTER;
    for (size_t i = 0; i < count; i++) put(p->type, wanted, i, number(p->type, root, (size_t)rank * count + i));
    run(comm, p, &call, wanted, count);

    call.collective = GN_TRANSFER;
    call.to = (root + size - 1) % size;
    for (size_t i = 0; i < count; i++) put(p->type, wanted, i, number(p->type, root, i));
    run(comm, p, &call, rank == call.to ? wanted : NULL, count);
    free(send);
    free(recv);
    free(wanted);
}

static void crossed(gn_comm *comm, const plan *p, size_t count)
{
    const int rank = gn_comm_rank(comm), size = gn_comm_size(comm);
    const size_t all = count * (size_t)size;
    void *send = filled(p->type, rank, 0, all), *recv = vector_new(p->type, all), *wanted = malloc(all * 8 + 8);
    for (size_t i = 0; i < all; i++)
        put(p->type, wanted, i, number(p->type, (int)(i / count), (size_t)rank * count + i % count));
    const gn_call call = {.collective = GN_ALL_TO_ALL, .type = p->type, .send = send, .recv = recv, .count = count};
    run(comm, p, &call, wanted, all);
    free(send);
    free(recv);
    free(wanted);
}

static void every_one(gn_comm *comm, const plan *p, size_t count)
{
    allreduces(comm, p, count);
    for (int uneven = 0; uneven < 2; uneven++) {
        scattered(comm, p, count, uneven);
        gathered(comm, p, count, uneven);
    }
    if (!count) return;
    for (int root = 0; root < gn_comm_size(comm); root++) rooted(comm, p, count, root);
    crossed(comm, p, count);
}

static void run_sizes(int rank, const ranks *group, void *argument)
{
    static const size_t counts[] = {0, 1, 2, 5, 511, 1024, 1025, 4097, 20000};
    const plan *p = argument;
    const size_t all = sizeof counts / sizeof *counts - SANITIZED;  // most values are the last one's
    gn_comm *comm = plan_init(rank, group, p);
    // Compressed, every second size is enough: an odd number of ranks has the others.
    const size_t first = p->offload == GN_OFFLOAD_AUTO ? 0 : (size_t)group->size % 2;
    for (size_t i = first; i < all; i += p->offload == GN_OFFLOAD_AUTO ? 1 : 2) every_one(comm, p, counts[i]);
    gn_comm_free(comm);
}

/// Larger than a stage.
static void run_large(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_comm *comm = plan_init(rank, group, p);
    every_one(comm, p, ((size_t)3 << 20) / gn_type_bytes(p->type) + 3);
    gn_comm_free(comm);
}

static void all_right(int size, plan p, rank_function function)
{
    if (SANITIZED && (size == 2 || size == 5)) return;  // of one, odd and even: 1, 3, 4
    ranks group;
    ranks_start(&group, size, function, &p);
    ranks_wait(&group, 120);
    for (int rank = 0; rank < size; rank++)
        ck_assert_msg(group.exits[rank] == 0, "%s, offload %d: rank %d of %d: exit %#x", gn_type_name(p.type),
                      p.offload, rank, size, (unsigned)group.exits[rank]);
    ranks_free(&group);
}

// Sizes around a segment of 4 KiB.
START_TEST(test_sizes)
{
    for (gn_type type = GN_F32; type < GN_TYPES; type++) all_right(_i, (plan){.type = type}, run_sizes);
}
END_TEST

// Compressed by the ranks, or quantised and not compressed: whole numbers are the same.
START_TEST(test_compressed)
{
    for (gn_type type = GN_F32; type <= GN_F16; type++)
        for (gn_profile profile = GN_LATTICE; profile <= GN_DENSE; profile++)
            for (gn_offload offload = GN_OFFLOAD_LIBRARY; offload <= GN_OFFLOAD_NONE; offload += 2)
                all_right(_i, (plan){.type = type, .profile = profile, .offload = offload}, run_sizes);
    all_right(_i, (plan){.type = GN_I64, .profile = GN_DENSE, .offload = GN_OFFLOAD_LIBRARY}, run_sizes);
}
END_TEST

START_TEST(test_requests)
{
    all_right(3, (plan){.type = GN_BF16, .profile = GN_DENSE, .offload = GN_OFFLOAD_LIBRARY, .async = true}, run_sizes);
    all_right(2, (plan){.type = GN_F64, .async = true}, run_sizes);
}
END_TEST

START_TEST(test_large)
{
    all_right(3, (plan){.type = GN_F16, .profile = GN_DENSE, .offload = GN_OFFLOAD_LIBRARY}, run_large);
    all_right(3, (plan){.type = GN_F64}, run_large);
}
END_TEST

// The same over connections between all ranks.
START_TEST(test_direct)
{
    for (gn_type type = GN_F32; type < GN_TYPES; type++)
        all_right(_i, (plan){.type = type, .algorithm = _i & 1 ? GN_AUTO : GN_DIRECT}, run_sizes);
    const gn_offload offload = GN_OFFLOAD_LIBRARY;
    for (gn_type type = GN_F32; type <= GN_F16; type++)
        all_right(_i, (plan){.type = type, .profile = GN_DENSE, .offload = offload, .algorithm = GN_DIRECT}, run_sizes);
}
END_TEST

// Where values cannot go to all ranks, or NICs would compress them: as messages.
START_TEST(test_messages)
{
    for (gn_type type = GN_F32; type < GN_TYPES; type++) {
        all_right(_i, (plan){.type = type, .algorithm = GN_WORKER_AGGREGATOR}, run_sizes);
        if (type % 2 == (gn_type)_i % 2)
            all_right(_i, (plan){.type = type, .profile = GN_DENSE, .offload = GN_OFFLOAD_NIC}, run_sizes);
        else
            all_right(_i,
                      (plan){.type = type, .profile = GN_LATTICE, .offload = GN_OFFLOAD_NIC, .algorithm = GN_DIRECT},
                      run_sizes);
    }
    all_right(
        _i,
        (plan){.profile = GN_DENSE, .offload = GN_OFFLOAD_LIBRARY, .algorithm = GN_WORKER_AGGREGATOR, .async = true},
        run_sizes);
}
END_TEST

START_TEST(test_large_messages)
{
    all_right(3, (plan){.type = GN_F64, .algorithm = GN_WORKER_AGGREGATOR}, run_large);
    all_right(3, (plan){.type = GN_BF16, .profile = GN_DENSE, .offload = GN_OFFLOAD_NIC}, run_large);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("collectives");
    TCase *tcase = tcase_create("collectives");
    tcase_set_timeout(tcase, 200);
    tcase_add_loop_test(tcase, test_sizes, 1, 6);
    tcase_add_loop_test(tcase, test_compressed, 1, 6);
    tcase_add_loop_test(tcase, test_direct, 1, 6);
    tcase_add_loop_test(tcase, test_messages, 1, 6);
    tcase_add_test(tcase, test_large_messages);
    tcase_add_test(tcase, test_requests);
    tcase_add_test(tcase, test_large);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
