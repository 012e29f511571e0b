// SPDX-License-Identifier: Apache-2.0
#include "ring/groups/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring/groups/grouping.h"
#include "ring/log.h"

static void add(const gn_comm *comm, gn_circle *circle, int rank)
{
    const bool own = rank == comm->rank;
    if (own) circle->own = circle->size;
    circle->index[circle->size++] = own ? -1 : (int16_t)gn_comm_index_of(comm, rank);
}

/// Finds who is beside this rank.
static void close_circle(gn_circle *circle)
{
    if (circle->own < 0 || circle->size < 2) return;
    circle->left = circle->index[(circle->own + circle->size - 1) % circle->size];
    circle->right = circle->index[(circle->own + 1) % circle->size];
}

static int group_of(const gn_comm *comm, int rank)
{
    return comm->table.group[rank];
}

/// Ranks of the smallest and the largest group.
static void measure(const gn_comm *comm, int *groups, int *least, int *most)
{
    int sizes[GN_RANKS_MAX] = {0};
    *groups = 0;
    for (int rank = 0; rank < comm->size; rank++)
        if (!sizes[group_of(comm, rank)]++) ++*groups;
    *least = *most = sizes[0];
    for (int g = 1; g < *groups; g++) {
        if (sizes[g] < *least) *least = sizes[g];
        if (sizes[g] > *most) *most = sizes[g];
    }
}

/// The ranks that have position `position` in their groups.
static void find_across(const gn_comm *comm, int position, gn_circle *across)
{
    int seen[GN_RANKS_MAX] = {0};
    for (int rank = 0; rank < comm->size; rank++)
        if (seen[group_of(comm, rank)]++ == position) add(comm, across, rank);
    close_circle(across);
}

/// The first rank of each group, by its address.
static void list_hosts(const gn_comm *comm, char *text, size_t room)
{
    int groups = 0;
    size_t used = 0;
    *text = 0;
    for (int rank = 0; rank < comm->size && used + 1 < room; rank++) {
        char name[GN_ENDPOINT_TEXT];
        if (group_of(comm, rank) != groups) continue;
        const int more =
            snprintf(text + used, room - used, "%s%s", groups++ ? ", " : ": ", gn_rank_name(&comm->table, rank, name));
        if (more > 0) used += (size_t)more;
    }
}

static void say(const gn_comm *comm, int least, int most)
{
    const gn_comm_config *config = &comm->config;
    char how[48], sizes[32], hosts[200] = "";
    gn_grouping_say(comm->groups->by, how, sizeof how);
    if (comm->groups->by == GN_GROUPS_BY_HOST) list_hosts(comm, hosts, sizeof hosts);
    snprintf(sizes, sizeof sizes, least == most ? "%d" : "%d to %d", least, most);
    const bool plain = config->offload == GN_OFFLOAD_LIBRARY && !comm->groups->inner_coded;
    gn_log_text(config, GN_LOG_INFO, "%s: %d group%s of %s, %s%s%s", gn_algorithm_name(config->algorithm),
                comm->groups->count, comm->groups->count == 1 ? "" : "s", sizes, how, hosts,
                plain ? "; not compressed within a group" : "");
}

gn_status gn_groups_make(gn_comm *comm, gn_error *error)
{
    struct gn_groups *groups = calloc(1, sizeof *groups);
    gn_grouping grouping;
    int least, most;
    if (!groups) return gn_fail_memory(error);
    comm->groups = groups;
    measure(comm, &groups->count, &least, &most);
    (void)gn_grouping_read(comm->grouping, &grouping, error);  // it was checked
    groups->by = grouping.by;
    groups->inner_coded = comm->config.group_offload == GN_OFFLOAD_LIBRARY;
    groups->scattered = comm->config.algorithm == GN_GROUP_RING && least == most;
    groups->inner.own = groups->across.own = -1;
    for (int rank = 0; rank < comm->size; rank++)
        if (group_of(comm, rank) == group_of(comm, comm->rank)) add(comm, &groups->inner, rank);
    close_circle(&groups->inner);
    find_across(comm, groups->scattered ? groups->inner.own : 0, &groups->across);
    if (!comm->rank && comm->size > 1) say(comm, least, most);
    return GN_OK;
}

size_t gn_comm_workers(const gn_comm *comm)
{
    const struct gn_groups *g = comm->groups;
    if (!g) return comm->rank ? 0 : (size_t)comm->size - 1;
    const gn_algorithm algorithm = comm->config.algorithm;
    const int within = algorithm == GN_AGGREGATORS && !g->inner.own ? g->inner.size - 1 : 0;
    const int above = algorithm != GN_GROUP_RING && !g->across.own ? g->across.size - 1 : 0;
    return (size_t)(within > above ? within : above);
}
