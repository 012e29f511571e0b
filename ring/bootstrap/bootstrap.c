// SPDX-License-Identifier: Apache-2.0
#include "ring/bootstrap/bootstrap.h"

#include <stdlib.h>
#include <string.h>

#include "net/socket.h"
#include "ring/bootstrap/home.h"
#include "ring/bootstrap/listen.h"
#include "ring/bootstrap/roster.h"
#include "ring/bootstrap/server.h"
#include "ring/bootstrap/signs.h"
#include "ring/bootstrap/terms.h"
#include "ring/config.h"

/// What an environment variable says, for messages.
static const char *environment_text(const char *name)
{
    const char *text = getenv(name);
    return text ? text : "";
}

static gn_status read_rank_and_size(gn_bootstrap *boot, gn_error *error)
{
    boot->rank = boot->config->rank;
    boot->size = boot->config->size;
    if (boot->size < 0 && !gn_environment_number("WORLD_SIZE", GN_RANKS_MAX + 1, &boot->size))
        return gn_fail(error, GN_INVALID, "WORLD_SIZE is '%s': want the number of ranks, 1 to %d",
                       environment_text("WORLD_SIZE"), GN_RANKS_MAX);
    if (boot->size < 1 || boot->size > GN_RANKS_MAX)
        return gn_fail(error, GN_INVALID, "size %d: want 1 to %d ranks", boot->size, GN_RANKS_MAX);
    if (boot->rank < 0 && !gn_environment_number("RANK", GN_RANKS_MAX, &boot->rank))
        return gn_fail(error, GN_INVALID, "RANK is '%s': want 0 to %d", environment_text("RANK"), boot->size - 1);
    if (boot->rank >= boot->size)
        return gn_fail(error, GN_INVALID, "rank %d of %d: ranks count from 0", boot->rank, boot->size);
    return GN_OK;
}

gn_status gn_bootstrap_open(gn_bootstrap *boot, const gn_comm_config *config, gn_error *error)
{
    *boot = (gn_bootstrap){.config = config, .data_listener = -1, .oob_listener = -1, .listener = -1};
    boot->rendezvous.file.fd = -1;
    boot->deadline = gn_now() + (uint64_t)gn_timeout_ms(config) * GN_MILLISECOND;
    boot->terms = gn_terms_of(config);
    boot->table.timeout_ms = (uint32_t)gn_timeout_ms(config);
    gn_status status = gn_secret_read(&boot->secret, config->secret_file, error);
    if (!status) status = read_rank_and_size(boot, error);
    boot->roster.size = (uint16_t)boot->size;
    if (!status && boot->size > 1) status = gn_rendezvous_parse(config->rendezvous, &boot->rendezvous, error);
    if (!status && config->algorithm == GN_SWITCH) status = gn_switch_route_find(config, &boot->route, error);
    if (status || boot->size == 1) return status;  // alone: there is nobody to meet
    if (boot->rank) return GN_OK;                  // where to listen is known when rank 0 is found

    gn_addresses own;
    if (!boot->rendezvous.is_file) {
        status = gn_rendezvous_addresses(&boot->rendezvous, &own, error);
        if (status) return status;
    }
    status = gn_bootstrap_listen(boot, boot->rendezvous.is_file ? NULL : &own.at[0], error);
    return status ? status : gn_server_open(boot, error);
}

gn_status gn_bootstrap_gather(gn_bootstrap *boot, gn_error *error)
{
    return boot->rank ? gn_home_gather(boot, error) : gn_server_gather(boot, error);
}

gn_status gn_bootstrap_watch(gn_bootstrap *boot, gn_error *error)
{
    return boot->rank ? gn_home_watch(boot, error) : gn_server_watch(boot, error);
}

gn_status gn_bootstrap_commit(gn_bootstrap *boot, gn_error *error)
{
    gn_bootstrap_ready(boot);
    return boot->rank ? gn_home_commit(boot, error) : gn_server_commit(boot, error);
}

void gn_bootstrap_fail(gn_bootstrap *boot, const gn_error *error)
{
    const int reporter = error->who == GN_NOBODY ? boot->rank : error->who;
    gn_failure failure = {.status = (uint8_t)error->status, .culprit = GN_NO_RANK, .reporter = (uint16_t)reporter};
    memcpy(failure.text, error->text, sizeof error->text);
    uint8_t frame[GN_FRAME_MAX];
    const size_t length = gn_failure_write(frame, &failure);
    if (!boot->rank)
        gn_guests_tell(boot, frame, length);
    else if (boot->said_hello)
        (void)gn_framed_send(boot->home, frame, length);
}

void gn_bootstrap_close(gn_bootstrap *boot)
{
    gn_rendezvous_withdraw(&boot->rendezvous);
    gn_close(&boot->data_listener);
    gn_close(&boot->oob_listener);
    gn_server_close(boot);
    gn_framed_end(boot->home);
    gn_framed_free(boot->home);
    boot->home = NULL;
    gn_greeting_wipe(&boot->greeting);
    gn_secret_wipe(&boot->secret);
}
