// SPDX-License-Identifier: Apache-2.0
// Anybody may connect to rank 0's port. A stranger that does not say a proper HELLO within a few
// seconds is sent away, and disturbs nobody (net/lobby.h).
#include "ring/bootstrap/server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "net/socket.h"
#include "net/tcp.h"
#include "ring/bootstrap/roster.h"
#include "ring/bootstrap/signs.h"
#include "ring/bootstrap/terms.h"
#include "ring/config.h"
#include "ring/group.h"
#include "ring/groups/grouping.h"
#include "ring/log.h"

_Static_assert((int)GN_GREETING_EXCHANGE_VERSION != (int)GN_PROTOCOL_VERSION,
               "a rank without a secret must see another version");

// Opening and closing -----------------------------------------------------------------------------

static gn_status open_lobby(gn_bootstrap *boot, gn_error *error)
{
    const unsigned room = GN_STRANGERS_MAX + (unsigned)boot->size;
    boot->poll_set = calloc(GN_DOORS_MAX + room + (unsigned)boot->size, sizeof *boot->poll_set);
    if (!boot->poll_set || gn_lobby_open(&boot->lobby, room)) return gn_fail_memory(error);
    gn_greeting_answer(&boot->door, &boot->secret, GN_GREETING_EXCHANGE, 0, NULL);
    gn_lobby_add_door(&boot->lobby, (gn_door){.listener = boot->listener,
                                              .in_room = GN_CONNECTION_BUFFER,
                                              .out_room = GN_CONNECTION_BUFFER,
                                              .greeting = &boot->door});
    return GN_OK;
}

/// The first address of the rendezvous that is this host's; the first of all if none is.
static gn_status find_own(const gn_bootstrap *boot, gn_endpoint *address, gn_error *error)
{
    gn_addresses found;
    const gn_status wrong = gn_rendezvous_addresses(&boot->rendezvous, &found, error);
    if (wrong) return wrong;
    unsigned i = 0;
    while (found.count > 1 && i < found.count && !gn_endpoint_is_own(&found.at[i])) i++;
    *address = found.at[i < found.count ? i : 0];
    return GN_OK;
}

gn_status gn_server_open(gn_bootstrap *boot, gn_error *error)
{
    gn_endpoint address = boot->local;
    if (!boot->rendezvous.is_file) {
        const gn_status status = find_own(boot, &address, error);
        if (status) return status;
    }
    if (boot->listener < 0) boot->listener = gn_tcp_listen(&address, false, 0);
    if (boot->listener < 0 && errno == EADDRNOTAVAIL) {
        // The name that others use is not an address of this host (NAT, containers).
        gn_endpoint any = {.ip.version = address.ip.version, .port = boot->rendezvous.port};
        boot->listener = gn_tcp_listen(&any, false, 0);
    }
    if (boot->listener < 0) {
        const int reason = errno;
        char name[GN_ENDPOINT_TEXT];
        return gn_fail(error, GN_IO, "rank 0 cannot listen at the rendezvous %s: %s%s",
                       gn_endpoint_format(&address, name), strerror(reason),
                       reason == EADDRINUSE
                           ? " (where a launcher keeps its own store there, set GRADNIC_MASTER_PORT to a free port)"
                           : "");
    }
    const gn_status status = open_lobby(boot, error);
    return status ? status : gn_rendezvous_publish(&boot->rendezvous, &address, error);
}

static void close_door(gn_bootstrap *boot)
{
    gn_close(&boot->listener);
    boot->lobby.door[0].listener = -1;
}

/// Ends the connections, and waits until the guests have ended theirs: then the last message has
/// arrived. A socket that is closed before would answer a guest's next sign of life with a reset,
/// and would not send again what the network lost.
static void see_off(gn_bootstrap *boot, uint64_t until)
{
    struct pollfd set[GN_RANKS_MAX];
    for (int rank = 1; rank < GN_RANKS_MAX; rank++) gn_framed_end(boot->guest[rank].connection);
    for (uint64_t now = gn_now(); now < until; now = gn_now()) {
        nfds_t n = 0, open = 0;
        for (int rank = 1; rank < GN_RANKS_MAX; rank++) {
            set[n] = gn_framed_poll(boot->guest[rank].connection);
            open += set[n++].fd >= 0;
        }
        if (!open) return;
        (void)gn_poll(set, n, gn_ms_until(until, now));
        for (int rank = 1; rank < GN_RANKS_MAX; rank++)
            if (set[rank - 1].fd >= 0) gn_framed_serve(boot->guest[rank].connection, set[rank - 1].revents);
    }
}

static void drop_guests(gn_bootstrap *boot)
{
    for (int rank = 0; rank < GN_RANKS_MAX; rank++) {
        gn_framed_end(boot->guest[rank].connection);
        gn_framed_free(boot->guest[rank].connection);
        boot->guest[rank].connection = NULL;
    }
}

void gn_server_close(gn_bootstrap *boot)
{
    see_off(boot, gn_now() + GN_SECOND);
    drop_guests(boot);
    gn_lobby_close(&boot->lobby);
    close_door(boot);
    free(boot->poll_set);
    boot->poll_set = NULL;
}

// Strangers ---------------------------------------------------------------------------------------

/// Whether a HELLO is one of a rank that is still missing. Anybody can say one that is not.
static gn_status check_place(const gn_bootstrap *boot, const char *name, const gn_hello *hello, gn_error *error)
{
    char own[GN_ENDPOINT_TEXT];
    gn_endpoint_format(&boot->local, own);
    if (hello->job != boot->rendezvous.job)
        return gn_fail(error, GN_MISMATCH,
                       "the rendezvous belongs to another job (GRADNIC_JOB or TORCHELASTIC_RUN_ID differ)");
    if (hello->size != boot->size)
        return gn_fail(error, GN_MISMATCH, "rank %u (%s) has size %u, rank 0 (%s) has size %d", hello->rank, name,
                       hello->size, own, boot->size);
    if (hello->rank >= boot->size || hello->rank == 0)
        return gn_fail(error, GN_MISMATCH, "rank %u came from %s, rank 0 is %s: ranks must be distinct, 0 to %d",
                       hello->rank, name, own, boot->size - 1);
    if (boot->guest[hello->rank].connection)
        return gn_fail(error, GN_MISMATCH, "rank %u came twice: from %s and from %s", hello->rank,
                       boot->guest[hello->rank].name, name);
    return GN_OK;
}

/// Whether a HELLO says what the greeting has proved.
static gn_status check_greeted(const gn_bootstrap *boot, const gn_stranger *stranger, const char *name,
                               const gn_hello *hello, gn_error *error)
{
    const gn_greeting_who *who = &stranger->greeting->who;
    if (!boot->secret.set ||
        (who->role == GN_ROLE_RANK && who->rank == hello->rank && who->size == hello->size && who->job == hello->job))
        return GN_OK;
    return gn_fail(error, GN_MISMATCH, "%s says other things in its HELLO than in its greeting", name);
}

/// Whether a rank of this group can work with the others. If not, the group cannot be.
static gn_status check_terms(const gn_bootstrap *boot, const char *name, const gn_hello *hello, gn_error *error)
{
    char own[GN_ENDPOINT_TEXT], theirs[GN_ENDPOINT_TEXT], ours[64];
    gn_endpoint_format(&boot->local, own);
    if (gn_terms_differ(&hello->terms, &boot->terms, theirs, sizeof theirs)) {
        (void)gn_terms_differ(&boot->terms, &hello->terms, ours, sizeof ours);
        return gn_fail(error, GN_MISMATCH, "rank %u (%s) has %s, rank 0 (%s) has %s", hello->rank, name, theirs, own,
                       ours);
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

/// Tells a stranger why it is sent away.
static void refuse(gn_stranger *stranger, const gn_error *why)
{
    uint8_t frame[GN_FRAME_MAX];
    gn_failure failure = {.status = (uint8_t)why->status, .culprit = GN_NO_RANK, .reporter = 0};
    memcpy(failure.text, why->text, sizeof why->text);
    (void)gn_framed_send(stranger->connection, frame, gn_failure_write(frame, &failure));
    gn_framed_end(stranger->connection);
}

/// Stranger `index` is a rank.
static void admit(gn_bootstrap *boot, unsigned index, const gn_hello *hello, const char *name)
{
    uint8_t frame[GN_FRAME_MAX];
    gn_guest *guest = &boot->guest[hello->rank];
    *guest = (gn_guest){.connection = gn_lobby_admit(&boot->lobby, index),
                        .at_switch = hello->at_switch,
                        .switch_values = hello->switch_values,
                        .group = hello->group};
    memcpy(guest->name, name, sizeof guest->name);
    if (hello->timeout_ms < boot->table.timeout_ms) {
        boot->table.timeout_ms = hello->timeout_ms;
        boot->beat_at = 0;
    }
    const uint32_t segment = gn_segment_bytes_fit(hello->segment_bytes);
    if (segment < boot->table.segment_bytes) boot->table.segment_bytes = segment;
    boot->table.address[hello->rank] = hello->address;
    gn_roster_add(&boot->roster, hello->rank);
    gn_guests_tell(boot, frame, gn_roster_write(frame, &boot->roster));
}

/// Says how many were sent away without a word, once their span of time is over.
static void log_held(gn_bootstrap *boot, uint64_t now)
{
    const uint64_t held = gn_log_limit_rest(&boot->sent_away, now);
    if (held) gn_log_text(boot->config, GN_LOG_WARNING, "and %" PRIu64 " more were sent away", held);
}

/// Sends away somebody that is no missing rank of this group. The group goes on without it. If a
/// rank is still missing at the end, this may be why. `words`: the reason, as it reads here.
static void send_away(gn_bootstrap *boot, unsigned index, const char *name, const gn_error *why, const char *words)
{
    refuse(&boot->lobby.strangers[index], why);
    gn_lobby_dismiss(&boot->lobby, index);
    snprintf(boot->last_sent_away, sizeof boot->last_sent_away, "%s: %.220s", name, words);
    const uint64_t now = gn_now();
    log_held(boot, now);
    if (gn_log_limit_take(&boot->sent_away, now))
        gn_log_text(boot->config, GN_LOG_WARNING, "%s was sent away: %s", name, words);
}

/// Takes the first message of stranger `index`. Who is no missing rank is sent away. A rank that
/// cannot work with the others ends the setting up for all. When the group has failed already, the
/// rank is told why. @return GN_OK, GN_MISMATCH
static gn_status take_hello(gn_bootstrap *boot, unsigned index, const gn_frame *frame, gn_error *error)
{
    gn_stranger *stranger = &boot->lobby.strangers[index];
    gn_hello hello;
    gn_error why;
    char name[GN_ENDPOINT_TEXT] = "";
    gn_endpoint_format(&stranger->from, name);
    if (frame->type != GN_MSG_HELLO || !gn_hello_read(frame, &hello)) {
        gn_lobby_dismiss(&boot->lobby, index);
        return GN_OK;
    }
    if (check_greeted(boot, stranger, name, &hello, &why) || check_place(boot, name, &hello, &why)) {
        send_away(boot, index, name, &why, why.text);
        return GN_OK;
    }
    if (boot->last_words) {
        (void)gn_framed_send(stranger->connection, boot->last_words, boot->last_words_length);
        gn_lobby_see_off(&boot->lobby, gn_lobby_admit(&boot->lobby, index), GN_SECOND);
        return GN_OK;
    }
    const gn_status status = check_terms(boot, name, &hello, error);
    if (status)
        refuse(stranger, error);
    else
        admit(boot, index, &hello, name);
    return status;
}

/// The greeting of stranger `index` has failed. Programs that speak another protocol may be many:
/// they get no word. Of a HELLO, a beginning may have come.
static void end_greeting(gn_bootstrap *boot, unsigned index)
{
    const gn_stranger *stranger = &boot->lobby.strangers[index];
    char own[GN_ENDPOINT_TEXT], here[GN_ENDPOINT_TEXT + 16], name[GN_ENDPOINT_TEXT], text[GN_GREETING_WHY];
    gn_frame frame;
    gn_error why;
    if (stranger->greeting->fault == GN_GREETING_NONE_THERE && gn_connection_next(stranger->connection, &frame) < 0) {
        gn_lobby_dismiss(&boot->lobby, index);
        return;
    }
    snprintf(here, sizeof here, "rank 0 (%s)", gn_endpoint_format(&boot->local, own));
    gn_endpoint_format(&stranger->from, name);
    gn_fail(&why, GN_MISMATCH, "%s", gn_greeting_why(stranger->greeting, here, name, text));
    send_away(boot, index, name, &why, gn_greeting_why(stranger->greeting, here, "it", text));
}

static gn_status read_strangers(gn_bootstrap *boot, gn_error *error)
{
    for (unsigned i = boot->lobby.count; i-- > 0;) {
        gn_stranger *stranger = &boot->lobby.strangers[i];
        const gn_greeting_step step = gn_stranger_greet(stranger);
        gn_frame frame;
        if (step == GN_GREETING_FAILED) {
            end_greeting(boot, i);
            continue;
        }
        if (step == GN_GREETING_PENDING) {
            if (gn_stranger_is_over(stranger, gn_now())) gn_lobby_dismiss(&boot->lobby, i);
            continue;
        }
        const int found = gn_connection_next(stranger->connection, &frame);
        if (found > 0) {
            const gn_status status = take_hello(boot, i, &frame, error);
            if (status) return status;
        } else if (found || gn_stranger_is_over(stranger, gn_now())) {
            gn_lobby_dismiss(&boot->lobby, i);
        }
    }
    return GN_OK;
}

// Ranks -------------------------------------------------------------------------------------------

/// Another rank reports its failure. The others are to be told.
static gn_status take_report(const gn_bootstrap *boot, int rank, const gn_failure *failure, gn_error *error)
{
    char name[GN_ENDPOINT_TEXT];
    gn_rank_name(&boot->table, rank, name);  // where it listens, as others call it
    gn_fail(error, (gn_status)failure->status, "%.300s (reported by rank %d, %s)", failure->text, rank, name);
    error->who = rank;
    return error->status;
}

/// Takes what a rank has said. `*over`: it is gone, or said what it must not.
static gn_status read_guest(gn_bootstrap *boot, int rank, bool *over, gn_error *error)
{
    gn_guest *guest = &boot->guest[rank];
    gn_frame frame;
    gn_failure failure;
    gn_framed_flush(guest->connection);
    gn_framed_fill(guest->connection);
    for (int found; !*over && (found = gn_connection_next(guest->connection, &frame));) {
        if (found < 0 || (frame.type == GN_MSG_FAIL && !gn_failure_read(&frame, &failure)))
            *over = true;
        else if (frame.type == GN_MSG_FAIL)
            return take_report(boot, rank, &failure, error);
        else if (frame.type == GN_MSG_READY)
            guest->ready = true;
    }
    if (guest->connection->state == GN_FRAMED_CLOSED) *over = true;
    return GN_OK;
}

static void forget_guest(gn_bootstrap *boot, int rank)
{
    uint8_t frame[GN_FRAME_MAX];
    gn_framed_free(boot->guest[rank].connection);
    boot->guest[rank] = (gn_guest){0};
    gn_roster_remove(&boot->roster, rank);
    gn_roster_add(&boot->lost, rank);
    gn_guests_tell(boot, frame, gn_roster_write(frame, &boot->roster));
}

/// Takes what everybody has said. `may_leave`: a rank may go, and come again.
static gn_status read_all(gn_bootstrap *boot, bool may_leave, gn_error *error)
{
    gn_status status = read_strangers(boot, error);
    for (int rank = 1; rank < boot->size && !status; rank++) {
        bool over = false;
        if (!boot->guest[rank].connection) continue;
        status = read_guest(boot, rank, &over, error);
        if (status || !over) continue;
        if (!may_leave)
            return gn_fail(error, GN_PEER_LOST, "rank %d (%s) lost while the group was set up", rank,
                           boot->guest[rank].name);
        forget_guest(boot, rank);
    }
    gn_bootstrap_beat(boot);
    return status ? status : gn_bootstrap_alive(boot, error);
}

/// Waits until somebody says something, at most for `ms`, and reads what strangers say.
static void await_all(gn_bootstrap *boot, int ms)
{
    nfds_t n = gn_lobby_poll(&boot->lobby, boot->poll_set, gn_now());
    for (int rank = 1; rank < boot->size; rank++) boot->poll_set[n++] = gn_framed_poll(boot->guest[rank].connection);
    (void)gn_poll(boot->poll_set, n, ms);
    log_held(boot, gn_now());
    gn_lobby_serve(&boot->lobby, boot->poll_set);
}

/// Milliseconds until there is something to do though nobody says anything.
static int idle_ms(const gn_bootstrap *boot)
{
    const uint64_t now = gn_now();
    const uint64_t due[] = {gn_lobby_due(&boot->lobby, now), gn_bootstrap_beat_until(boot),
                            gn_log_limit_due(&boot->sent_away)};
    uint64_t first = due[0];
    for (unsigned i = 1; i < sizeof due / sizeof *due; i++)
        if (due[i] < first) first = due[i];
    return gn_ms_until(first, now);
}

// The steps ---------------------------------------------------------------------------------------

/// Which ranks share a switch, and the packets that all routes take.
static void gather_switches(gn_bootstrap *boot)
{
    const gn_address *at[GN_RANKS_MAX];
    unsigned switches = 0;
    boot->table.switch_values = (uint16_t)boot->route.values;
    for (int rank = 0; rank < boot->size; rank++) {
        const gn_guest *guest = &boot->guest[rank];
        const gn_address *mine = rank ? &guest->at_switch : &boot->route.place;
        unsigned i = 0;
        while (i < switches && !gn_address_same(at[i], mine)) i++;
        if (i == switches) at[switches++] = mine;
        boot->table.switch_index[rank] = (uint8_t)i;
        if (rank && guest->switch_values < boot->table.switch_values) boot->table.switch_values = guest->switch_values;
    }
}

static void gather_groups(gn_bootstrap *boot)
{
    uint16_t numbers[GN_RANKS_MAX] = {boot->group};
    for (int rank = 1; rank < boot->size; rank++) numbers[rank] = boot->guest[rank].group;
    if (gn_algorithm_has_groups(boot->config->algorithm)) gn_grouping_divide(boot->terms.groups, numbers, &boot->table);
}

static gn_status not_all_came(const gn_bootstrap *boot, gn_error *error)
{
    char missing[160], lost[160], away[sizeof boot->last_sent_away + 32] = "", lack[GN_LOBBY_LACK];
    gn_roster others = {.size = (uint16_t)boot->size};  // all but those who had come once
    for (int rank = 0; rank < boot->size; rank++)
        if (gn_roster_has(&boot->roster, rank) || !gn_roster_has(&boot->lost, rank)) gn_roster_add(&others, rank);
    gn_roster_missing(&boot->roster, missing, sizeof missing);
    if (*boot->last_sent_away) snprintf(away, sizeof away, "; sent away was %s", boot->last_sent_away);
    (void)gn_lobby_lack(&boot->lobby, "rank 0", lack);
    if (gn_roster_is_complete(&others))
        return gn_fail(error, GN_TIMEOUT, "%s did not come within %u ms%s%s", missing, boot->table.timeout_ms, lack,
                       away);
    gn_roster_missing(&others, lost, sizeof lost);
    return gn_fail(error, GN_TIMEOUT, "%s did not come within %u ms; %s had come, and closed the connection again%s%s",
                   missing, boot->table.timeout_ms, lost, lack, away);
}

gn_status gn_server_gather(gn_bootstrap *boot, gn_error *error)
{
    gn_roster_add(&boot->roster, 0);
    while (!gn_roster_is_complete(&boot->roster)) {
        if (gn_now() >= boot->deadline) return not_all_came(boot, error);
        await_all(boot, idle_ms(boot));
        const gn_status status = read_all(boot, true, error);
        // Nobody knows better than rank 0 who has not come.
        if (status) return status == GN_TIMEOUT ? not_all_came(boot, error) : status;
        gn_lobby_accept(&boot->lobby);
    }
    boot->table.size = (uint16_t)boot->size;
    boot->table.address[0] = boot->address;
    gather_switches(boot);
    gather_groups(boot);
    gn_bootstrap_all_here(boot);
    if (getrandom(boot->table.token, GN_TOKEN_BYTES, 0) != GN_TOKEN_BYTES)
        return gn_fail(error, GN_IO, "getrandom: %s", strerror(errno));
    gn_rendezvous_withdraw(&boot->rendezvous);
    close_door(boot);
    uint8_t frame[GN_FRAME_MAX];
    gn_guests_tell(boot, frame, gn_rank_table_write(frame, &boot->table));
    return GN_OK;
}

gn_status gn_server_watch(gn_bootstrap *boot, gn_error *error)
{
    await_all(boot, 0);
    return read_all(boot, false, error);
}

gn_status gn_server_commit(gn_bootstrap *boot, gn_error *error)
{
    uint8_t frame[GN_FRAME_MAX];
    while (true) {
        const gn_status status = read_all(boot, false, error);
        if (status) return status;
        gn_roster ready = {.size = (uint16_t)boot->size};
        for (int rank = 0; rank < boot->size; rank++)
            if (!rank || boot->guest[rank].ready) gn_roster_add(&ready, rank);
        if (gn_roster_is_complete(&ready)) break;
        if (gn_now() >= boot->deadline) {
            char missing[240];
            gn_roster_missing(&ready, missing, sizeof missing);
            return gn_fail(error, GN_TIMEOUT, "%s could not connect to their neighbours within %d ms", missing,
                           gn_timeout_ms(boot->config));
        }
        await_all(boot, idle_ms(boot));
    }
    gn_guests_tell(boot, frame, gn_empty_write(frame, GN_MSG_GO));
    // Who does not go does not hold up the others for longer: they would think that rank 0 is lost.
    const uint64_t until = gn_now() + boot->patience;
    see_off(boot, until < boot->deadline ? until : boot->deadline);
    drop_guests(boot);
    return GN_OK;
}

// When it fails -----------------------------------------------------------------------------------

/// Whether somebody in the lobby may still turn out to be a rank, or has not heard all yet.
static bool is_heard_out(const gn_lobby *lobby, uint64_t now)
{
    for (unsigned i = 0; i < lobby->count; i++) {
        const gn_stranger *s = &lobby->strangers[i];
        const bool greets = s->greeting && s->greeting->said, leaves = s->connection->state == GN_FRAMED_ENDING;
        if (greets || leaves || now < s->since + GN_LOBBY_GRACE) return false;
    }
    return true;
}

void gn_server_fail(gn_bootstrap *boot, const uint8_t *frame, size_t length)
{
    enum { TURN_MS = 10 };
    gn_error ignored;
    uint64_t now = gn_now();
    const uint64_t until = now + GN_SECOND;
    gn_guests_tell(boot, frame, length);
    if (!boot->poll_set) return;
    boot->last_words = frame;
    boot->last_words_length = length;
    gn_lobby_accept(&boot->lobby);
    for (; now < until && !is_heard_out(&boot->lobby, now); now = gn_now()) {
        (void)gn_poll(boot->poll_set, gn_lobby_poll(&boot->lobby, boot->poll_set, now), TURN_MS);
        gn_lobby_serve(&boot->lobby, boot->poll_set);
        (void)read_strangers(boot, &ignored);
        gn_lobby_accept(&boot->lobby);
    }
    boot->last_words = NULL;
}
