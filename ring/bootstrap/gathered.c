// SPDX-License-Identifier: Apache-2.0
// Ranks that can gather something already, such as those of an MPI program, need no place to meet.
// They say in one all_gather on which hosts they are, and rank 0 says in a second where it listens.
// A rank that cannot go on says so there, so no rank waits for it.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/interface.h"
#include "net/secret.h"
#include "net/socket.h"
#include "net/tcp.h"
#include "ring/bootstrap/bootstrap.h"
#include "ring/bootstrap/rendezvous.h"
#include "ring/bootstrap/terms.h"
#include "ring/config.h"
#include "ring/group.h"

/// What a rank says to all.
typedef struct note {
    uint64_t host;             ///< hash: ranks with the same reach each other over loopback
    uint64_t job;              ///< hash of its name
    int32_t rank, size;        ///< as it has them
    int32_t has_secret;        ///< 0 or 1
    int32_t status;            ///< not GN_OK: this rank cannot go on, and `text` says why
    gn_terms terms;            ///< with GN_OK
    char text[GN_ERROR_TEXT];  ///< of rank 0 in the second round: the rendezvous
} note;

typedef struct gathering {
    const gn_comm_config *config;
    gn_all_gather_function *all_gather;
    void *context;
    note own, *all;
} gathering;

/// The kernel and its network namespace: what loopback is.
static uint64_t host_here(void)
{
    char boot[64] = "", name[96];
    struct stat space = {0};
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        const ssize_t length = read(fd, boot, sizeof boot - 1);
        boot[length > 0 ? length : 0] = 0;
        close(fd);
    }
    if (!*boot || stat("/proc/self/ns/net", &space)) return 0;  // not known
    snprintf(name, sizeof name, "%s %llu", boot, (unsigned long long)space.st_ino);
    return gn_name_hash(GN_NAME_HASH, name);
}

/// @return GN_OK, or what the first rank with bad news has said, the same at every rank
static gn_status tell(gathering *g, gn_error *error)
{
    const int failed = g->all_gather(g->context, &g->own, g->all, sizeof g->own);
    if (failed) return gn_fail(error, GN_IO, "the all_gather that ranks were to meet by failed with %d", failed);
    for (int rank = 0; rank < g->config->size; rank++) {
        note *n = &g->all[rank];
        n->text[sizeof n->text - 1] = 0;
        if (n->rank != rank || n->size != g->config->size)
            return gn_fail(error, GN_MISMATCH,
                           "the all_gather has rank %d of %d in place %d of %d: ranks and sizes must be its own",
                           n->rank, n->size, rank, g->config->size);
        if (!n->status) continue;
        gn_fail(error, (gn_status)n->status, "rank %d: %.380s", rank, n->text);
        error->who = rank;
        return error->status;
    }
    return GN_OK;
}

/// Whether rank `rank` belongs to rank 0's group, and can work with it.
static gn_status compare_with(const note *first, const note *n, int rank, gn_error *error)
{
    char theirs[64], ours[64];
    if (n->job != first->job)
        return gn_fail(error, GN_MISMATCH,
                       "rank %d belongs to another job than rank 0 (GRADNIC_JOB or TORCHELASTIC_RUN_ID differ)", rank);
    if (n->has_secret != first->has_secret)
        return gn_fail(error, GN_MISMATCH,
                       "rank %d has %s shared secret, and rank 0 has %s (" GN_SECRET_ENVIRONMENT ")", rank,
                       n->has_secret ? "a" : "no", first->has_secret ? "one" : "none");
    if (!gn_terms_differ(&n->terms, &first->terms, theirs, sizeof theirs)) return GN_OK;
    (void)gn_terms_differ(&first->terms, &n->terms, ours, sizeof ours);
    return gn_fail(error, GN_MISMATCH, "rank %d has %s, rank 0 has %s", rank, theirs, ours);
}

/// What sends a rank away from the meeting, or ends it. Rank 0 would not hear of the first, and
/// wait for the deadline. A rank that comes late would not hear of the second.
/// @return GN_OK, or the same at every rank
static gn_status compare(const gathering *g, gn_error *error)
{
    for (int rank = 1; rank < g->config->size; rank++) {
        if (!compare_with(&g->all[0], &g->all[rank], rank, error)) continue;
        error->who = rank;
        return GN_MISMATCH;
    }
    return GN_OK;
}

static void say_bad_news(gathering *g, const gn_error *why)
{
    g->own.status = (int32_t)why->status;
    memcpy(g->own.text, why->text, sizeof g->own.text);
}

static bool one_host(const gathering *g)
{
    for (int rank = 0; rank < g->config->size; rank++)
        if (!g->all[rank].host || g->all[rank].host != g->all[0].host) return false;
    return true;
}

/// Rank 0: listens where all can reach it.
static gn_status open_door(gathering *g, int *door, gn_error *error)
{
    gn_endpoint local;
    char name[GN_ENDPOINT_TEXT];
    const char *interface = g->config->interface && *g->config->interface ? g->config->interface : NULL;
    const gn_status status = gn_interface_select(interface || !one_host(g) ? interface : "lo", NULL, &local, error);
    if (status) return status;
    *door = gn_tcp_listen(&local, false, 0);
    const int reason = errno;
    snprintf(g->own.text, sizeof g->own.text, "tcp://%s", gn_endpoint_format(&local, name));
    if (*door >= 0) return GN_OK;
    return gn_fail(error, GN_IO, "cannot listen at %s: %s", name, strerror(reason));
}

static gn_status meet(gathering *g, int *door, gn_error *error)
{
    gn_error why;
    gn_rendezvous named;
    gn_rendezvous_init(&named);
    g->own.job = named.job;
    g->own.has_secret = gn_secret_file(g->config->secret_file) != NULL;
    g->own.host = host_here();
    g->own.rank = g->config->rank;
    g->own.size = g->config->size;
    gn_comm_config chosen = *g->config;
    gn_status bad = gn_config_check(g->config, &why);
    if (!bad) gn_comm_config_choose(&chosen);
    if (!bad && chosen.size > 1) bad = gn_bootstrap_check(&chosen, &why);
    if (bad)
        say_bad_news(g, &why);
    else
        g->own.terms = gn_terms_of(&chosen);
    gn_status status = tell(g, error);
    if (!status) status = compare(g, error);
    if (status) return status;
    if (!g->config->rank && open_door(g, door, &why)) say_bad_news(g, &why);
    return tell(g, error);
}

static gn_status check(gn_comm **comm, const gn_comm_config *config, gn_all_gather_function *all_gather,
                       gn_error *error)
{
    if (!comm || !config || !all_gather)
        return gn_fail(error, GN_INVALID, "%s is NULL", !comm ? "comm" : !config ? "config" : "all_gather");
    if (config->size < 1 || config->size > GN_RANKS_MAX)
        return gn_fail(error, GN_INVALID, "size %d: want 1 to %d ranks", config->size, GN_RANKS_MAX);
    if (config->rank < 0 || config->rank >= config->size)
        return gn_fail(error, GN_INVALID, "rank %d of %d: ranks count from 0", config->rank, config->size);
    return GN_OK;
}

gn_status gn_comm_init_gathered(gn_comm **comm, const gn_comm_config *config, gn_all_gather_function *all_gather,
                                void *context)
{
    gn_error error;
    int door = -1;
    if (comm) *comm = NULL;
    gn_status status = check(comm, config, all_gather, &error);
    gathering g = {.config = config, .all_gather = all_gather, .context = context};
    if (!status) g.all = calloc((size_t)config->size, sizeof *g.all);
    if (!status) status = g.all ? meet(&g, &door, &error) : gn_fail_memory(&error);
    if (status) {
        gn_config_init_failed(&error);
        gn_close(&door);
    } else {
        gn_comm_config there = *config;
        there.rendezvous = g.all[0].text;
        status = gn_comm_init_at(comm, &there, door);
    }
    free(g.all);
    return status;
}
