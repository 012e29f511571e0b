// SPDX-License-Identifier: Apache-2.0
#include "bootstrap.h"

#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/clock.h"
#include "net/interface.h"

int gn_timeout_ms(const gn_comm_config *config)
{
    return config->timeout_ms > 0 ? config->timeout_ms : 30000;
}

void gn_log_text(const gn_comm_config *config, gn_log_level level, const char *format, ...)
{
    if (!config->log) return;
    char text[GN_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    config->log(config->log_context, level, text);
}

void gn_bootstrap_name(const gn_bootstrap *boot, int rank, char name[GN_ENDPOINT_TEXT])
{
    gn_address_format(&boot->table.address[rank], name);
}

void gn_roster_missing(const gn_roster *roster, char *text, size_t room)
{
    size_t used = 0;
    int missing = 0;
    text[0] = 0;
    for (int rank = 0; rank < roster->size && used < room; rank++) {
        int last = rank;
        while (last < roster->size && !(roster->present[last / 8] >> (last % 8) & 1)) last++;
        if (last == rank) continue;
        missing += last - rank;
        const char *comma = used ? ", " : "";
        int n = last - rank > 1 ? snprintf(text + used, room - used, "%s%d-%d", comma, rank, last - 1)
                                : snprintf(text + used, room - used, "%s%d", comma, rank);
        used += n > 0 ? (size_t)n : 0;
        rank = last;
    }
    char ranks[200];
    snprintf(ranks, sizeof ranks, "%s", text);
    snprintf(text, room, "rank%s %s", missing == 1 ? "" : "s", ranks);
}

static gn_terms terms_of(const gn_comm_config *config)
{
    gn_terms terms = {.version = GN_PROTOCOL_VERSION,
                      .algorithm = (uint8_t)config->algorithm,
                      .quantise = config->quantise,
                      .scale = (uint8_t)config->scale,
                      .data_tos = (uint8_t)config->data_tos,
                      .aggregator_weights = config->aggregator_weights};
    if (config->quantise)
        terms.profile = (uint8_t)config->codec.profile, terms.bound_exp = (int8_t)config->codec.bound_exp;
    if (config->scale == GN_SCALE_AUTO) terms.scale_target = config->scale_target;
    if (config->algorithm == GN_SWITCH) terms.switch_channels = (uint8_t)config->switch_channels;
    return terms;
}

static gn_status read_rank_and_size(gn_bootstrap *boot, gn_error *error)
{
    boot->rank = boot->config->rank;
    boot->size = boot->config->size;
    if (boot->size < 0 && !gn_environment_number("WORLD_SIZE", GN_RANKS_MAX + 1, &boot->size))
        return gn_fail(error, GN_INVALID, "WORLD_SIZE is '%s': want the number of ranks, 1 to %d",
                       getenv("WORLD_SIZE") ? getenv("WORLD_SIZE") : "", GN_RANKS_MAX);
    if (boot->size < 1 || boot->size > GN_RANKS_MAX)
        return gn_fail(error, GN_INVALID, "size %d: want 1 to %d ranks", boot->size, GN_RANKS_MAX);
    if (boot->rank < 0 && !gn_environment_number("RANK", GN_RANKS_MAX, &boot->rank))
        return gn_fail(error, GN_INVALID, "RANK is '%s': want 0 to %d", getenv("RANK") ? getenv("RANK") : "",
                       boot->size - 1);
    if (boot->rank >= boot->size)
        return gn_fail(error, GN_INVALID, "rank %d of %d: ranks count from 0", boot->rank, boot->size);
    return GN_OK;
}

/// Selects this rank's address; `toward` is the rendezvous, or NULL at rank 0 of a rendezvous file.
static gn_status open_listeners(gn_bootstrap *boot, const gn_endpoint *toward, gn_error *error)
{
    gn_status status = gn_interface_select(boot->config->interface, toward, &boot->local, error);
    if (status) return status;
    gn_endpoint data = boot->local, control = boot->local;
    bool weights = boot->config->algorithm == GN_WORKER_AGGREGATOR && boot->config->aggregator_weights;
    const bool wants_data = boot->config->algorithm != GN_SWITCH;
    if (wants_data) boot->data_listener = gn_tcp_listen(&data, false, weights ? 0 : (uint8_t)boot->config->data_tos);
    if (!wants_data || boot->data_listener >= 0) boot->oob_listener = gn_tcp_listen(&control, false, 0);
    if (boot->oob_listener < 0) {
        char name[GN_ENDPOINT_TEXT];
        gn_endpoint_format(&boot->local, name);
        return gn_fail(error, GN_IO, "cannot listen at %s: %s", name, strerror(errno));
    }
    boot->address = gn_address_from(&boot->local.ip);
    boot->address.data_port = wants_data ? data.port : 0;
    boot->address.oob_port = control.port;
    return GN_OK;
}

gn_status gn_bootstrap_open(gn_bootstrap *boot, const gn_comm_config *config, gn_error *error)
{
    *boot = (gn_bootstrap){.config = config, .data_listener = -1, .oob_listener = -1, .listener = -1};
    boot->rendezvous.file_fd = -1;
    boot->deadline = gn_now() + (uint64_t)gn_timeout_ms(config) * GN_MILLISECOND;
    boot->terms = terms_of(config);
    boot->table.timeout_ms = (uint32_t)gn_timeout_ms(config);
    gn_status status = read_rank_and_size(boot, error);
    boot->roster.size = (uint16_t)boot->size;
    if (!status && boot->size > 1) status = gn_rendezvous_parse(config->rendezvous, &boot->rendezvous, error);
    if (!status && config->algorithm == GN_SWITCH) status = gn_switch_route_find(config, &boot->route, error);
    if (status || boot->size == 1) return status;  // alone: nobody to meet
    if (boot->rank) return GN_OK;                  // others learn where to listen once the rendezvous is found

    gn_endpoint toward;
    if (!boot->rendezvous.is_file) {
        status = gn_resolve(boot->rendezvous.host, boot->rendezvous.port, &toward, error);
        if (status) return status;
    }
    status = open_listeners(boot, boot->rendezvous.is_file ? NULL : &toward, error);
    return status ? status : gn_server_open(boot, error);
}

static gn_status say_hello(gn_bootstrap *boot, gn_error *error)
{
    gn_endpoint toward;
    if (boot->oob_listener < 0) {
        if (!gn_socket_remote(boot->home->fd, &toward)) return gn_fail(error, GN_IO, "rendezvous: %s", strerror(errno));
        gn_status status = open_listeners(boot, &toward, error);
        if (status) return status;
    }
    gn_hello hello = {.job = boot->rendezvous.job,
                      .rank = (uint16_t)boot->rank,
                      .size = (uint16_t)boot->size,
                      .terms = boot->terms,
                      .address = boot->address,
                      .at_switch = boot->route.place,
                      .switch_values = (uint16_t)boot->route.values,
                      .timeout_ms = (uint32_t)gn_timeout_ms(boot->config)};
    uint8_t frame[GN_FRAME_MAX];
    gn_connection_send(boot->home, frame, gn_hello_write(frame, &hello));
    return GN_OK;
}

/// For so long, but not beyond the deadline.
static void pause_for(const gn_bootstrap *boot, long ms)
{
    const int left = gn_ms_until(boot->deadline, gn_now());
    (void)poll(NULL, 0, left < ms ? left : (int)ms);
}

/// One attempt to reach rank 0. @return the connected socket or -1; errors that waiting will not mend in `*status`.
static int try_home(gn_bootstrap *boot, char reason[64], gn_status *status, gn_error *error)
{
    gn_endpoint address;
    if (!gn_rendezvous_find(&boot->rendezvous, &address, status, error)) {
        snprintf(reason, 64, "no fresh file %.40s", boot->rendezvous.path);
        return -1;
    }
    gn_endpoint_format(&address, boot->home_name);
    int fd = gn_tcp_connect(&address, NULL, 0);
    int failed = fd < 0 ? errno : 0;
    if (!failed) {
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        uint64_t now = gn_now(), until = now + 3 * GN_SECOND;
        if (until > boot->deadline) until = boot->deadline;
        while (!p.revents && now < until) {
            if (poll(&p, 1, gn_ms_until(until, now)) < 0 && errno != EINTR) break;
            now = gn_now();
        }
        failed = p.revents ? gn_socket_connected(fd) : ETIMEDOUT;
    }
    if (!failed) return fd;
    snprintf(reason, 64, "%s", strerror(failed));
    gn_close(&fd);
    return -1;
}

static gn_status find_home(gn_bootstrap *boot, gn_error *error)
{
    char reason[64] = "it closes our connections";
    long pause_ms = 10;
    while (gn_now() < boot->deadline) {
        gn_status status = GN_OK;
        int fd = try_home(boot, reason, &status, error);
        if (status) return status;
        if (fd >= 0) {
            gn_connection_open(boot->home, fd);
            boot->home_heard = gn_now();
            boot->home_speaks = false;
            return say_hello(boot, error);
        }
        pause_for(boot, pause_ms);
        if (pause_ms < 200) pause_ms += pause_ms / 2;
    }
    return gn_fail(error, GN_TIMEOUT, "rank 0 did not come: no answer at %s within %d ms (%s)",
                   boot->rendezvous.is_file ? boot->rendezvous.path : boot->home_name, gn_timeout_ms(boot->config),
                   reason);
}

/// Rank 0 says itself who has reported what it passes on. What it compares names both sides.
static gn_status take_failure(const gn_bootstrap *boot, const gn_frame *frame, gn_error *error)
{
    gn_failure failure;
    if (!gn_failure_read(frame, &failure)) return gn_fail(error, GN_CORRUPT, "rank 0 sent a malformed failure message");
    if (!failure.reporter && (failure.status == GN_TIMEOUT || failure.status == GN_PEER_LOST))
        return gn_fail(error, (gn_status)failure.status, "%.300s (reported by rank 0, %s)", failure.text,
                       boot->home_name);
    return gn_fail(error, (gn_status)failure.status, "%s", failure.text);
}

/// Handles what rank 0 has sent, until a message of type `until`. `*met`: it came.
static gn_status read_home(gn_bootstrap *boot, gn_message_type until, bool *met, gn_error *error)
{
    gn_frame frame;
    if (gn_connection_fill(boot->home)) boot->home_heard = gn_now(), boot->home_speaks = true;
    for (int found; (found = gn_connection_next(boot->home, &frame));) {
        if (found < 0)
            return gn_fail(error, GN_CORRUPT, "%s does not speak this protocol: is it the right port?",
                           boot->home_name);
        if (frame.type == GN_MSG_FAIL) return take_failure(boot, &frame, error);
        bool good = true;
        if (frame.type == GN_MSG_ROSTER)
            good = gn_roster_read(&frame, &boot->roster) && boot->roster.size == boot->size;
        if (frame.type == GN_MSG_TABLE)
            good = gn_rank_table_read(&frame, &boot->table) && boot->table.size == boot->size;
        if (!good) return gn_fail(error, GN_CORRUPT, "rank 0 sent a malformed message of type %d", frame.type);
        if (frame.type == GN_MSG_TABLE) gn_bootstrap_all_here(boot);
        if (frame.type == until) *met = true;
    }
    gn_bootstrap_beat(boot);
    return gn_bootstrap_alive(boot, error);
}

static gn_status timed_out(gn_bootstrap *boot, gn_message_type until, gn_error *error)
{
    if (until == GN_MSG_GO)
        return gn_fail(error, GN_TIMEOUT, "not all ranks could connect to their neighbours within %d ms",
                       gn_timeout_ms(boot->config));
    char missing[240];
    gn_roster_missing(&boot->roster, missing, sizeof missing);
    return gn_fail(error, GN_TIMEOUT, "%s did not come within %d ms", missing, gn_timeout_ms(boot->config));
}

/// Waits for a message from rank 0. A connection that breaks before the table is there is tried again: rank 0 may have restarted,
/// or a stale rendezvous file led to a stranger.
static gn_status await_home(gn_bootstrap *boot, gn_message_type until, gn_error *error)
{
    bool met = false;
    while (true) {
        gn_status status = read_home(boot, until, &met, error);
        if (status || met) return status;
        const uint64_t now = gn_now();
        if (now >= boot->deadline) return timed_out(boot, until, error);
        if (boot->home->closed && until == GN_MSG_GO)
            return gn_fail(error, GN_PEER_LOST, "rank 0 (%s) lost while the group was set up", boot->home_name);
        if (boot->home->closed) {
            gn_connection_close(boot->home);
            pause_for(boot, 50);
            if ((status = find_home(boot, error))) return status;
            continue;
        }
        struct pollfd p = {.fd = boot->home->fd, .events = POLLIN};
        (void)poll(&p, 1, gn_ms_until(gn_bootstrap_beat_until(boot), now));
        gn_connection_flush(boot->home);
    }
}

gn_status gn_bootstrap_gather(gn_bootstrap *boot, gn_error *error)
{
    if (!boot->rank) return gn_server_gather(boot, error);
    boot->home = malloc(sizeof *boot->home);
    if (!boot->home) return gn_fail_memory(error);
    gn_connection_open(boot->home, -1);
    gn_status status = find_home(boot, error);
    return status ? status : await_home(boot, GN_MSG_TABLE, error);
}

gn_status gn_bootstrap_watch(gn_bootstrap *boot, gn_error *error)
{
    if (!boot->rank) return gn_server_watch(boot, error);
    bool met;
    gn_status status = read_home(boot, GN_MSG_FAIL, &met, error);
    if (!status && boot->home->closed)
        return gn_fail(error, GN_PEER_LOST, "rank 0 (%s) lost while the group was set up", boot->home_name);
    return status;
}

gn_status gn_bootstrap_commit(gn_bootstrap *boot, gn_error *error)
{
    gn_bootstrap_ready(boot);
    if (!boot->rank) return gn_server_commit(boot, error);
    uint8_t frame[GN_FRAME_MAX];
    gn_connection_send(boot->home, frame, gn_empty_write(frame, GN_MSG_READY));
    return await_home(boot, GN_MSG_GO, error);
}

void gn_bootstrap_fail(gn_bootstrap *boot, const gn_error *error)
{
    gn_failure failure = {.status = (uint8_t)error->status,
                          .culprit = GN_NO_RANK,
                          .reporter = (uint16_t)(boot->rank ? boot->rank : boot->reporter)};
    memcpy(failure.text, error->text, sizeof error->text);
    uint8_t frame[GN_FRAME_MAX];
    size_t length = gn_failure_write(frame, &failure);
    if (!boot->rank)
        gn_server_broadcast(boot, frame, length);
    else if (boot->home)
        gn_connection_send(boot->home, frame, length);
}

void gn_bootstrap_close(gn_bootstrap *boot)
{
    gn_rendezvous_withdraw(&boot->rendezvous);
    gn_close(&boot->data_listener);
    gn_close(&boot->oob_listener);
    gn_server_close(boot);
    if (boot->home) gn_connection_close(boot->home);
    free(boot->home);
    boot->home = NULL;
}
