// SPDX-License-Identifier: Apache-2.0
#include "comm_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

enum { STEPS = 3 };

/// What two NICs on the way do to a gradient.
void as_nics_do(void *codec, float *values, size_t count)
{
    gn_quantise(codec, values, values, NULL, count);
}

static gn_comm *plan_init(int rank, const ranks *group, const plan *p, gn_codec *codec)
{
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = p->algorithm;
    config.switch_address = p->switch_address;
    char number[] = "number:0";
    if (p->numbers) number[7] = p->numbers[rank];
    config.groups = p->numbers ? number : p->groups;
    config.group_offload = p->group_offload;
    config.quantise = true;
    config.aggregator_weights = p->weights;
    config.scale = p->scale ? GN_SCALE_AUTO : GN_SCALE_NONE;
    config.segment_bytes = p->segment;
    config.offload = p->offload;
    config.no_shared_memory = p->tcp;
    RANK_CHECK(!gn_codec_init(&config.codec, p->profile, p->bound_exp));
    *codec = config.codec;
    if (p->offload == GN_OFFLOAD_NIC) config.wire = as_nics_do, config.wire_context = codec;
    gn_comm *comm = rank_init(rank, group, &config);
    if (!comm) fprintf(stderr, "rank %d: %s\n", rank, group->reports[rank].text);
    RANK_CHECK(comm);
    return comm;
}

/// Values that codecs treat apart, among others.
static float value_of(const plan *p, int rank, int step, size_t i)
{
    static const float strange[] = {0,         -0.f,     40.f,     -31.98f, 32.03f,   -1e9f,    3e38f,
                                    0x1p-149f, 0x1p-13f, INFINITY, NAN,     -0x1p14f, 16383.4f, 63.9999f};
    const uint64_t seed = (uint64_t)(100 * step + rank);
    if (p->raw) return 1e6f * sample((uint64_t)rank, i);
    if (p->strange && i % 97 == (size_t)(13 * rank) % 97) return strange[(i / 97 + (size_t)rank) % 14];
    if (i / 500 % 3 == 1) return 0;  // runs of zeros
    return 0.1f * sample(seed, i);
}

/// All NaN are one: which of two survives an addition is not said.
static uint64_t hash_without_nan(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(values[i])) values[i] = NAN;
    return hash_values(values, count);
}

static void run_plan(int rank, const ranks *group, void *argument)
{
    const plan *p = argument;
    gn_codec codec;
    gn_comm *comm = plan_init(rank, group, p, &codec);
    const size_t room = (p->count + 1) * sizeof(float);
    float *send = malloc(room), *recv = p->in_place ? send : malloc(room), *residual = calloc(p->count + 1, 4);
    RANK_CHECK(send && recv && residual);
    report *mine = &group->reports[rank];
    for (int step = 0; step < STEPS; step++) {
        for (size_t i = 0; i < p->count; i++) send[i] = value_of(p, rank, step, i);
        recv[p->count] = 4711;
        const gn_bucket bucket = {.send = send,
                                  .recv = recv,
                                  .count = p->count,
                                  .op = p->op,
                                  .residual = p->feedback ? residual : NULL,
                                  .id = 3};
        const gn_status status = gn_allreduce_bucket(comm, &bucket);
        if (status) fprintf(stderr, "%s: %s\n", gn_status_string(status), gn_comm_last_error(comm));
        RANK_CHECK(!status && recv[p->count] == 4711);
        for (size_t i = 0; !p->in_place && i < p->count; i++) {
            const float given = value_of(p, rank, step, i);
            RANK_CHECK(!memcmp(&given, &send[i], sizeof given));
        }
        mine->hash = mine->hash * 31 + hash_without_nan(recv, p->count);
    }
    mine->values[0] = hash_without_nan(residual, p->count);
    const gn_comm_stats stats = gn_comm_get_stats(comm);
    mine->values[1] = stats.sent_bytes;
    mine->values[2] = stats.sent_wire_bytes;
    mine->values[3] = stats.group_sent_bytes;
    mine->values[4] = stats.group_sent_wire_bytes;
    mine->values[5] = stats.group_received_bytes;
    gn_comm_free(comm);
    if (recv != send) free(recv);
    free(send);
    free(residual);
}

outcome run(int size, plan p)
{
    ranks group;
    outcome all = {0};
    ranks_start(&group, size, run_plan, &p);
    ranks_wait(&group, 60);
    for (int rank = 0; rank < size; rank++) {
        ck_assert_msg(group.exits[rank] == 0, "%s %s %s: rank %d of %d: exit %#x", gn_algorithm_name(p.algorithm),
                      gn_profile_name(p.profile), gn_offload_name(p.offload), rank, size, (unsigned)group.exits[rank]);
        ck_assert_msg(group.reports[rank].hash == group.reports[0].hash, "%s %s %s: rank %d of %d has other bits",
                      gn_algorithm_name(p.algorithm), gn_profile_name(p.profile), gn_offload_name(p.offload), rank,
                      size);
        all.residuals[rank] = group.reports[rank].values[0];
        all.sent += group.reports[rank].values[1];
        all.wire += group.reports[rank].values[2];
        all.group_sent += group.reports[rank].values[3];
        all.group_wire += group.reports[rank].values[4];
        all.group_received += group.reports[rank].values[5];
    }
    all.hash = group.reports[0].hash;
    ranks_free(&group);
    return all;
}
