// SPDX-License-Identifier: Apache-2.0
// Groups of ranks of a group. All ranks say what they want in one all_gather. Each group meets at
// its first rank, whose address the table of ranks has, and whose port the all_gather brings.
#include <errno.h>
#include <string.h>

#include "net/socket.h"
#include "net/tcp.h"
#include "ring/collectives/call.h"
#include "ring/config.h"
#include "ring/failure.h"
#include "ring/group.h"
#include "ring/request.h"

enum { COLOUR, KEY, PORT, REASON, WORDS };

/// Where this rank listens, if it becomes the first of a group.
static int open_door(const gn_comm *comm, int32_t words[WORDS])
{
    gn_endpoint local = gn_address_endpoint(&comm->table.address[comm->rank], 0, 0);
    const int fd = gn_tcp_listen(&local, false, 0);
    words[PORT] = fd < 0 ? 0 : local.port;
    words[REASON] = fd < 0 ? errno : 0;
    return fd;
}

/// The members of this rank's group, in the order of their keys and then of their ranks.
typedef struct members {
    int size, own;  ///< own: this rank's number in the group
    int first;      ///< rank of the first one
} members;

static bool is_before(int32_t (*all)[WORDS], int a, int b)
{
    return all[a][KEY] < all[b][KEY] || (all[a][KEY] == all[b][KEY] && a < b);
}

static members find_members(const gn_comm *comm, int32_t (*all)[WORDS])
{
    members m = {.first = comm->rank};
    for (int r = 0; r < comm->size; r++) {
        if (all[r][COLOUR] != all[comm->rank][COLOUR]) continue;
        m.size++;
        m.own += is_before(all, r, comm->rank);
        if (is_before(all, r, m.first)) m.first = r;
    }
    return m;
}

/// `door`: this rank's, where it is the first of the group. It is used or closed.
static gn_status join(gn_comm *comm, const members *m, int32_t (*all)[WORDS], int door, gn_comm **sub)
{
    gn_comm_config config = comm->config;
    char rendezvous[GN_ENDPOINT_TEXT + 8] = "tcp://", name[GN_ENDPOINT_TEXT];
    config.rank = m->own;
    config.size = m->size;
    config.timeout_ms = comm->timeout_ms;
    config.segment_bytes = comm->segment;
    config.interface = comm->interface;
    config.secret_file = comm->secret_file;
    config.groups = comm->grouping;
    config.switch_address = comm->switch_address;
    if (m->size > 1) {
        if (all[m->first][PORT] < 1 || all[m->first][PORT] > UINT16_MAX) {
            gn_error error;
            const gn_status status =
                gn_fail(&error, GN_IO, "rank %d at %s cannot listen for a group of ranks: %s", m->first,
                        gn_rank_name(&comm->table, m->first, name), strerror(all[m->first][REASON]));
            gn_config_init_failed(&error);
            gn_close(&door);
            return status;
        }
        const gn_endpoint at = gn_address_endpoint(&comm->table.address[m->first], (uint16_t)all[m->first][PORT], 0);
        strcat(rendezvous, gn_endpoint_format(&at, name));
    }
    config.rendezvous = m->size > 1 ? rendezvous : NULL;
    return gn_comm_init_at(sub, &config, door);
}

gn_status gn_comm_split(gn_comm *comm, int colour, int key, gn_comm **sub)
{
    int32_t own[WORDS] = {[COLOUR] = colour, [KEY] = key}, all[GN_RANKS_MAX][WORDS];
    if (sub) *sub = NULL;
    if (!comm) return GN_INVALID;
    if (!sub) return gn_oob_refuse(comm, "split", "sub is NULL");
    int door = comm->size > 1 ? open_door(comm, own) : -1;
    const gn_status status = gn_run_call(
        comm, &(gn_call){.collective = GN_ALL_GATHER, .type = GN_I32, .send = own, .recv = all, .count = WORDS});
    const bool joins = !status && colour >= 0;
    const members m = joins ? find_members(comm, all) : (members){.own = -1};
    if (m.own || m.size == 1) gn_close(&door);
    return joins ? join(comm, &m, all, door, sub) : status;
}
