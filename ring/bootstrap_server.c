// SPDX-License-Identifier: Apache-2.0
// Rank 0's half of the bootstrap. Anybody may connect to its port: a guest who does not say a proper HELLO within a few seconds is
// sent away, and nothing it does disturbs the others.
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bootstrap.h"
#include "net/clock.h"

enum { STRANGERS_MAX = 64 };
static const uint64_t stranger_span = 5 * GN_SECOND;
static const uint64_t grace_span =
    50 * GN_MILLISECOND;  // a rank says HELLO within this time, even where all room is taken

gn_status gn_server_open(gn_bootstrap *boot, gn_error *error)
{
    gn_endpoint address = boot->local;
    if (!boot->rendezvous.is_file) {
        gn_status status = gn_resolve(boot->rendezvous.host, boot->rendezvous.port, &address, error);
        if (status) return status;
    }
    boot->listener = gn_tcp_listen(&address, false, 0);
    if (boot->listener < 0 &&
        errno == EADDRNOTAVAIL) {  // the name others use is not an address of this host (NAT, containers)
        gn_endpoint any = {.ip.version = address.ip.version, .port = boot->rendezvous.port};
        boot->listener = gn_tcp_listen(&any, false, 0);
    }
    if (boot->listener < 0) {
        char name[GN_ENDPOINT_TEXT];
        gn_endpoint_format(&address, name);
        return gn_fail(error, GN_IO, "rank 0 cannot listen at the rendezvous %s: %s%s", name, strerror(errno),
                       errno == EADDRINUSE
                           ? " (where a launcher keeps its own store there, set GRADNIC_MASTER_PORT to a free port)"
                           : "");
    }
    boot->roster.present[0] = 1;
    return gn_rendezvous_publish(&boot->rendezvous, &address, error);
}

static void mark(gn_roster *roster, int rank)
{
    roster->present[rank / 8] |= (uint8_t)(1u << (rank % 8));
}

static void remove_guest(gn_bootstrap *boot, int index)
{
    gn_guest *guest = boot->guests[index];
    const int rank = guest->rank;
    gn_connection_close(&guest->connection);
    free(guest);
    boot->guests[index] = boot->guests[--boot->guest_count];
    if (rank < 0) return;
    uint8_t frame[GN_FRAME_MAX];
    boot->by_rank[rank] = NULL;
    boot->roster.present[rank / 8] &= (uint8_t) ~(1u << (rank % 8));
    mark(&boot->lost, rank);
    gn_server_broadcast(boot, frame, gn_roster_write(frame, &boot->roster));
}

/// Room for one more guest, if need be that of the stranger who has been silent for longest. Ranks that have said HELLO never take
/// more than their share. @return false when everyone came just now.
static bool make_room(gn_bootstrap *boot, uint64_t now)
{
    int oldest = -1, room = boot->size + STRANGERS_MAX;
    if (!boot->guests) {  // the first
        boot->guests = calloc((size_t)room, sizeof(gn_guest *));
        boot->guest_room = boot->guests ? room : 0;
        return boot->guests;
    }
    if (boot->guest_count < boot->guest_room) return true;
    for (int i = 0; i < boot->guest_count; i++)
        // as many as are counted are there: NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
        if (boot->guests[i]->rank < 0 && (oldest < 0 || boot->guests[i]->since < boot->guests[oldest]->since))
            oldest = i;
    if (oldest < 0 || now < boot->guests[oldest]->since + grace_span) return false;
    remove_guest(boot, oldest);
    return true;
}

static void accept_guests(gn_bootstrap *boot)
{
    gn_endpoint from;
    uint64_t now = gn_now();
    while (make_room(boot, now)) {
        int fd = gn_tcp_accept(boot->listener, &from);
        if (fd < 0) return;
        gn_guest *guest = malloc(sizeof *guest);
        if (!guest) {
            gn_close(&fd);
            continue;
        }
        gn_connection_open(&guest->connection, fd);
        gn_endpoint_format(&from, guest->name);
        guest->since = guest->heard = now;
        guest->rank = -1;
        guest->ready = false;
        boot->guests[boot->guest_count++] = guest;
    }
}

void gn_server_broadcast(gn_bootstrap *boot, const uint8_t *frame, size_t length)
{
    for (int i = 0; i < boot->guest_count; i++)
        if (boot->guests[i]->rank >= 0) gn_connection_send(&boot->guests[i]->connection, frame, length);
}

static const char *profile_text(uint8_t profile)
{
    const char *name = gn_profile_name((gn_profile)profile);
    return name ? name : "unknown";
}

/// How the first difference reads at one side: "bound 2^-8".
static bool describe_difference(const gn_terms *one, const gn_terms *other, char *text, size_t room)
{
    const char *algorithm = gn_algorithm_name((gn_algorithm)one->algorithm);
    if (one->version != other->version)
        snprintf(text, room, "protocol version %u", one->version);
    else if (one->algorithm != other->algorithm)
        snprintf(text, room, "algorithm %s", algorithm ? algorithm : "unknown");
    else if (one->quantise != other->quantise)
        snprintf(text, room, "quantise %s", one->quantise ? "on" : "off");
    else if (one->profile != other->profile)
        snprintf(text, room, "profile %s", profile_text(one->profile));
    else if (one->bound_exp != other->bound_exp)
        snprintf(text, room, "bound 2^%d", -one->bound_exp);
    else if (one->scale != other->scale)
        snprintf(text, room, "scale %s", one->scale ? "auto" : "none");
    else if (one->scale_target != other->scale_target)
        snprintf(text, room, "scale target 2^%d", one->scale_target);
    else if (one->data_tos != other->data_tos)
        snprintf(text, room, "data ToS 0x%02x", one->data_tos);
    else if (one->aggregator_weights != other->aggregator_weights)
        snprintf(text, room, "aggregator weights %s", one->aggregator_weights ? "on" : "off");
    else if (one->switch_channels != other->switch_channels)
        snprintf(text, room, "%u switch channels", one->switch_channels);
    else
        return false;
    return true;
}

static gn_status check_hello(gn_bootstrap *boot, const gn_guest *guest, const gn_hello *hello, gn_error *error)
{
    char own[GN_ENDPOINT_TEXT], theirs[GN_ENDPOINT_TEXT], ours[64];
    gn_endpoint_format(&boot->local, own);
    if (hello->size != boot->size)
        return gn_fail(error, GN_MISMATCH, "rank %u (%s) has size %u, rank 0 (%s) has size %d", hello->rank,
                       guest->name, hello->size, own, boot->size);
    if (hello->rank >= boot->size || hello->rank == 0)
        return gn_fail(error, GN_MISMATCH, "rank %u came from %s, rank 0 is %s: ranks must be distinct, 0 to %d",
                       hello->rank, guest->name, own, boot->size - 1);
    if (boot->by_rank[hello->rank])
        return gn_fail(error, GN_MISMATCH, "rank %u came twice: from %s and from %s", hello->rank,
                       boot->by_rank[hello->rank]->name, guest->name);
    if (describe_difference(&hello->terms, &boot->terms, theirs, sizeof theirs)) {
        describe_difference(&boot->terms, &hello->terms, ours, sizeof ours);
        return gn_fail(error, GN_MISMATCH, "rank %u (%s) has %s, rank 0 (%s) has %s", hello->rank, guest->name, theirs,
                       own, ours);
    }
    const gn_endpoint listens = gn_address_endpoint(&hello->address, 0, 0);
    gn_endpoint_format(&listens, theirs);
    if (hello->address.family != boot->address.family ||
        gn_ip_is_loopback(&listens.ip) != gn_ip_is_loopback(&boot->local.ip))
        return gn_fail(error, GN_MISMATCH,
                       "rank %u listens at %s, rank 0 at %s, which cannot reach each other: select an interface",
                       hello->rank, theirs, own);
    return GN_OK;
}

/// Takes the first message of a guest. @return false when the guest is to be sent away.
static bool take_hello(gn_bootstrap *boot, gn_guest *guest, const gn_frame *frame, gn_status *status, gn_error *error)
{
    gn_hello hello;
    uint8_t out[GN_FRAME_MAX];
    if (frame->type != GN_MSG_HELLO || !gn_hello_read(frame, &hello)) return false;
    if (hello.job != boot->rendezvous.job) {
        gn_failure failure = {.status = GN_MISMATCH,
                              .culprit = GN_NO_RANK,
                              .reporter = 0,
                              .text =
                                  "the rendezvous belongs to another job (GRADNIC_JOB or TORCHELASTIC_RUN_ID differ)"};
        gn_connection_send(&guest->connection, out, gn_failure_write(out, &failure));
        gn_log_text(boot->config, GN_LOG_WARNING, "%s wanted to join with another job's name: sent away", guest->name);
        return false;
    }
    *status = check_hello(boot, guest, &hello, error);
    if (*status) {
        gn_failure failure = {.status = (uint8_t)*status, .culprit = GN_NO_RANK, .reporter = 0};
        memcpy(failure.text, error->text, sizeof error->text);
        gn_connection_send(&guest->connection, out, gn_failure_write(out, &failure));
        return true;
    }
    guest->rank = hello.rank;
    guest->at_switch = hello.at_switch;
    guest->switch_values = hello.switch_values;
    if (hello.timeout_ms < boot->table.timeout_ms) {
        boot->table.timeout_ms = hello.timeout_ms;
        boot->beat_at = 0;
    }
    boot->by_rank[hello.rank] = guest;
    boot->table.address[hello.rank] = hello.address;
    mark(&boot->roster, hello.rank);
    gn_server_broadcast(boot, out, gn_roster_write(out, &boot->roster));
    return true;
}

/// Handles one guest's bytes. @return false when it is to be removed.
static bool read_guest(gn_bootstrap *boot, gn_guest *guest, gn_status *status, gn_error *error)
{
    gn_frame frame;
    if (gn_connection_fill(&guest->connection)) guest->heard = gn_now();
    for (int found; (found = gn_connection_next(&guest->connection, &frame));) {
        if (found < 0) return false;
        if (guest->rank < 0) {
            if (!take_hello(boot, guest, &frame, status, error)) return false;
            if (*status) return true;
        } else if (frame.type == GN_MSG_READY) {
            guest->ready = true;
        } else if (frame.type == GN_MSG_FAIL) {
            char name[GN_ENDPOINT_TEXT];
            gn_failure failure;
            if (!gn_failure_read(&frame, &failure)) return false;
            boot->reporter = guest->rank;
            gn_bootstrap_name(boot, guest->rank, name);  // where it listens, as others call it
            *status = gn_fail(error, (gn_status)failure.status, "%.300s (reported by rank %d, %s)", failure.text,
                              guest->rank, name);
            return true;
        }
    }
    if (guest->rank < 0 && gn_now() > guest->since + stranger_span) return false;
    return !guest->connection.closed;
}

static gn_status read_guests(gn_bootstrap *boot, bool may_leave, gn_error *error)
{
    gn_status status = GN_OK;
    for (int i = boot->guest_count - 1; i >= 0 && !status; i--) {
        gn_guest *guest = boot->guests[i];
        gn_connection_flush(&guest->connection);
        if (read_guest(boot, guest, &status, error)) continue;
        if (guest->rank >= 0 && !may_leave)
            return gn_fail(error, GN_PEER_LOST, "rank %d (%s) lost while the group was set up", guest->rank,
                           guest->name);
        remove_guest(boot, i);
    }
    gn_bootstrap_beat(boot);
    return status ? status : gn_bootstrap_alive(boot, error);
}

/// Waits until a guest says something, at most until the deadline (and not long, so that strangers are sent away).
static void await_guests(gn_bootstrap *boot, bool accepting)
{
    struct pollfd *set = malloc(((size_t)boot->guest_count + 1) * sizeof *set);
    if (!set) return;
    nfds_t n = 0;
    bool room = boot->guest_count < boot->guest_room || !boot->guest_room;  // else someone must grow old first
    if (accepting && room) set[n++] = (struct pollfd){.fd = boot->listener, .events = POLLIN};
    for (int i = 0; i < boot->guest_count; i++)
        set[n++] = (struct pollfd){.fd = boot->guests[i]->connection.fd,
                                   .events = (short)(POLLIN | (boot->guests[i]->connection.out_used ? POLLOUT : 0))};
    int wait = gn_ms_until(gn_bootstrap_beat_until(boot), gn_now());
    int longest = room ? 1000 : 20;
    (void)poll(set, n, wait < longest ? wait : longest);
    free(set);
}

static int ranks_present(const gn_bootstrap *boot)
{
    int present = 1;
    for (int rank = 1; rank < boot->size; rank++) present += boot->by_rank[rank] != NULL;
    return present;
}

/// Which ranks share a switch, and the packets that all routes take.
static void gather_switches(gn_bootstrap *boot)
{
    const gn_address *at[GN_RANKS_MAX];
    unsigned switches = 0;
    boot->table.switch_values = (uint16_t)boot->route.values;
    for (int rank = 0; rank < boot->size; rank++) {
        const gn_guest *guest = boot->by_rank[rank];
        const gn_address *mine = rank ? &guest->at_switch : &boot->route.place;
        unsigned i = 0;
        while (i < switches && !gn_address_same(at[i], mine)) i++;
        if (i == switches) at[switches++] = mine;
        boot->table.switch_index[rank] = (uint8_t)i;
        if (rank && guest->switch_values < boot->table.switch_values) boot->table.switch_values = guest->switch_values;
    }
}

static gn_status not_all_came(const gn_bootstrap *boot, gn_error *error)
{
    char missing[160], lost[160];
    gn_roster others = {.size = (uint16_t)boot->size};  // but for those who had come once
    bool any = false;
    for (int i = 0; i < GN_RANKS_MAX / 8; i++) {
        others.present[i] = (uint8_t)(boot->roster.present[i] | ~boot->lost.present[i]);
        any |= others.present[i] != 0xFF;
    }
    gn_roster_missing(&boot->roster, missing, sizeof missing);
    if (!any) return gn_fail(error, GN_TIMEOUT, "%s did not come within %u ms", missing, boot->table.timeout_ms);
    gn_roster_missing(&others, lost, sizeof lost);
    return gn_fail(error, GN_TIMEOUT, "%s did not come within %u ms; %s had come, and closed the connection again",
                   missing, boot->table.timeout_ms, lost);
}

gn_status gn_server_gather(gn_bootstrap *boot, gn_error *error)
{
    while (ranks_present(boot) < boot->size) {
        if (gn_now() >= boot->deadline) return not_all_came(boot, error);
        await_guests(boot, true);
        accept_guests(boot);
        gn_status status = read_guests(boot, true, error);  // a rank that goes before all have come may come again
        if (status) return status == GN_TIMEOUT ? not_all_came(boot, error) : status;  // nobody knows it better
    }
    boot->table.size = (uint16_t)boot->size;
    boot->table.address[0] = boot->address;
    gather_switches(boot);
    gn_bootstrap_all_here(boot);
    if (getrandom(boot->table.token, GN_TOKEN_BYTES, 0) != GN_TOKEN_BYTES)
        return gn_fail(error, GN_IO, "getrandom: %s", strerror(errno));
    gn_rendezvous_withdraw(&boot->rendezvous);
    gn_close(&boot->listener);
    uint8_t frame[GN_FRAME_MAX];
    gn_server_broadcast(boot, frame, gn_rank_table_write(frame, &boot->table));
    return GN_OK;
}

gn_status gn_server_watch(gn_bootstrap *boot, gn_error *error)
{
    return read_guests(boot, false, error);
}

gn_status gn_server_commit(gn_bootstrap *boot, gn_error *error)
{
    while (true) {
        gn_status status = read_guests(boot, false, error);
        if (status) return status;
        gn_roster ready = {.size = (uint16_t)boot->size, .present = {1}};
        int count = 1;
        for (int rank = 1; rank < boot->size; rank++) {
            if (!boot->by_rank[rank] || !boot->by_rank[rank]->ready) continue;
            mark(&ready, rank);
            count++;
        }
        if (count == boot->size) break;
        if (gn_now() >= boot->deadline) {
            char missing[240];
            gn_roster_missing(&ready, missing, sizeof missing);
            return gn_fail(error, GN_TIMEOUT, "%s could not connect to their neighbours within %d ms", missing,
                           gn_timeout_ms(boot->config));
        }
        await_guests(boot, false);
    }
    uint8_t frame[GN_FRAME_MAX];
    gn_server_broadcast(boot, frame, gn_empty_write(frame, GN_MSG_GO));
    return GN_OK;
}

void gn_server_close(gn_bootstrap *boot)
{
    for (int i = 0; i < boot->guest_count; i++) {
        gn_connection_flush(&boot->guests[i]->connection);
        gn_connection_close(&boot->guests[i]->connection);
        free(boot->guests[i]);
    }
    free(boot->guests);
    boot->guests = NULL;
    boot->guest_count = 0;
    gn_close(&boot->listener);
}
