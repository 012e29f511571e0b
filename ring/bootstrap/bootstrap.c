// SPDX-License-Identifier: Apache-2.0
#include "ring/bootstrap/bootstrap.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "net/interface.h"
#include "net/launcher.h"
#include "net/socket.h"
#include "ring/bootstrap/home.h"
#include "ring/bootstrap/job_meeting.h"
#include "ring/bootstrap/listen.h"
#include "ring/bootstrap/roster.h"
#include "ring/bootstrap/server.h"
#include "ring/bootstrap/signs.h"
#include "ring/bootstrap/terms.h"
#include "ring/config.h"
#include "ring/groups/grouping.h"
#include "ring/log.h"

enum { FEW_FILES = 8 };  ///< that a rank opens until it has found rank 0; rank 0 has one more for each rank

_Static_assert((int)GN_LAUNCHER_SIZE_MAX == (int)GN_RANKS_MAX, "launchers start as many ranks as a group may have");

static gn_status read_rank_and_size(gn_bootstrap *boot, gn_error *error)
{
    const int given = boot->config->size;
    gn_place place;
    if (given >= 0 && (given < 1 || given > GN_RANKS_MAX))
        return gn_fail(error, GN_INVALID, "size %d: want 1 to %d ranks", given, GN_RANKS_MAX);
    const gn_status status = gn_place_find(boot->config->rank, given, &place, error);
    boot->rank = place.rank;
    boot->size = place.size;
    if (status) return status;
    if (boot->rank >= boot->size)
        return gn_fail(error, GN_INVALID, "rank %d of %d: ranks count from 0", boot->rank, boot->size);
    if (*place.text) gn_log_text(boot->config, GN_LOG_INFO, "%s", place.text);
    return GN_OK;
}

/// Where rank 0 listens, its name must not be one that leads other hosts to themselves.
static gn_status check_reach(const gn_bootstrap *boot, const gn_addresses *own, gn_error *error)
{
    if (!boot->rendezvous.several_hosts || !gn_ip_is_loopback(&own->at[0].ip)) return GN_OK;
    return gn_fail(error, GN_INVALID,
                   "%s leads to loopback on this host (/etc/hosts), where ranks on other hosts do not find rank 0: "
                   "set MASTER_ADDR to an address of this host, and MASTER_PORT",
                   boot->rendezvous.host);
}

/// A wrong interface is told before rank 0 is looked for.
static gn_status check_interface(const gn_comm_config *config, gn_error *error)
{
    gn_endpoint any;
    return config->interface && *config->interface ? gn_interface_select(config->interface, NULL, &any, error) : GN_OK;
}

/// Whether `count` more files can be open here.
static gn_status check_files(int count, gn_error *error)
{
    int files[GN_RANKS_MAX + FEW_FILES], made = 0, reason = 0;
    while (made < count && !reason) {
        const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
            reason = errno;
        else
            files[made++] = fd;
    }
    for (int i = 0; i < made; i++) gn_close(&files[i]);
    if (!reason) return GN_OK;
    return gn_fail(error, GN_IO, "no room for the %d open files of a group: %s%s", count, strerror(reason),
                   gn_files_hint(reason));
}

gn_status gn_bootstrap_check(const gn_comm_config *config, gn_error *error)
{
    gn_secret secret;
    gn_switch_route route;
    gn_status status = gn_secret_read(&secret, config->secret_file, error);
    gn_secret_wipe(&secret);
    if (!status) status = check_interface(config, error);
    if (!status && config->algorithm == GN_SWITCH) status = gn_switch_route_find(config, &route, error);
    return status ? status : check_files(FEW_FILES + (config->rank ? 0 : config->size), error);
}

gn_status gn_bootstrap_open(gn_bootstrap *boot, const gn_comm_config *config, int door, gn_error *error)
{
    *boot = (gn_bootstrap){.config = config, .data_listener = -1, .oob_listener = -1, .listener = door};
    boot->rendezvous.file.fd = -1;
    boot->deadline = gn_now() + (uint64_t)gn_timeout_ms(config) * GN_MILLISECOND;
    boot->terms = gn_terms_of(config);
    gn_grouping grouping;
    if (boot->terms.groups && !gn_grouping_read(config->groups, &grouping, error)) boot->group = grouping.number;
    boot->table.timeout_ms = (uint32_t)gn_timeout_ms(config);
    boot->table.segment_bytes = gn_config_segment(config);
    gn_status status = gn_secret_read(&boot->secret, config->secret_file, error);
    if (!status) status = read_rank_and_size(boot, error);
    boot->roster.size = (uint16_t)boot->size;
    if (!status && boot->size > 1) {
        status = gn_meeting_choose(config->rendezvous, boot->rank, boot->size, &boot->rendezvous, error);
        if (!status && *boot->rendezvous.text) gn_log_text(config, GN_LOG_INFO, "%s", boot->rendezvous.text);
    }
    if (!status && config->algorithm == GN_SWITCH) status = gn_switch_route_find(config, &boot->route, error);
    if (status || boot->size == 1) return status;           // alone: there is nobody to meet
    if (boot->rank) return check_interface(config, error);  // where to listen is known when rank 0 is found

    gn_addresses own;
    if (!boot->rendezvous.is_file) {
        status = gn_rendezvous_addresses(&boot->rendezvous, &own, error);
        if (!status) status = check_reach(boot, &own, error);
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
        gn_server_fail(boot, frame, length);
    else if (boot->said_hello)
        (void)gn_framed_send(boot->home, frame, length);
}

void gn_bootstrap_close(gn_bootstrap *boot)
{
    gn_rendezvous_withdraw(&boot->rendezvous);
    gn_close(&boot->data_listener);
    gn_close(&boot->oob_listener);
    gn_close(&boot->listener);
    gn_server_close(boot);
    gn_framed_end(boot->home);
    gn_framed_free(boot->home);
    boot->home = NULL;
    gn_greeting_wipe(&boot->greeting);
    gn_secret_wipe(&boot->secret);
}
