// SPDX-License-Identifier: Apache-2.0
// Peers that break the rules without sending a wrong byte: children that never read, strangers that
// take their time, a parent that grants more than was asked for, one that lets a job wait.
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "net/clock.h"
#include "net/log_limit.h"
#include "net/tcp.h"
#include "switch/daemon/session.h"
#include "switches.h"
#include "unit/suite.h"
#include "wire_peer.h"

/// Asks for a job as `c` would. Its datagrams come from a port where nobody is.
static void ask_as(wire_peer *p, const sw_client *c)
{
    gn_admission frame = {.type = GN_ADMISSION_JOIN, .join = c->join};
    frame.join.patience_ms = 1000 * PEER_PATIENCE_S;
    for (unsigned i = 0; i < frame.join.channels; i++) frame.join.udp_port[i] = (uint16_t)(1 + i);
    peer_say(p, &frame);
}

// It asks and asks, and never reads an answer. The kernel's buffers hold some, the switch's own two
// frames. Then the child is given up, and the others are told why.
START_TEST(a_child_that_never_reads_is_given_up)
{
    const running r = start(&plain_switch);
    sw_client c = client_of(r.port, "deaf", 0, 2), other = client_of(r.port, "deaf", 1, 2);
    uint8_t ping[GN_ADMISSION_MAX], many[1 << 14];
    const size_t bytes = gn_admission_write(&(gn_admission){.type = GN_ADMISSION_PING}, ping);
    wire_peer p;
    peer_connect(&p, r.port, 4096);
    ask_as(&p, &c);
    other.timeout_ms = 1000 * PEER_PATIENCE_S;
    launch(1, &other);
    ck_assert_int_eq(peer_hear(&p).type, GN_ADMISSION_WELCOME);
    for (size_t at = 0; at + bytes <= sizeof many; at += bytes) memcpy(many + at, ping, bytes);
    size_t sent = 0;
    const uint64_t until = gn_now() + PEER_PATIENCE_S * GN_SECOND;
    for (ssize_t got; (got = send(p.fd, many, sizeof many - sizeof many % bytes, MSG_NOSIGNAL)) > 0;) {
        sent += (size_t)got;
        ck_assert_uint_lt(gn_now(), until);
    }
    ck_assert(errno == EPIPE || errno == ECONNRESET);
    ck_assert_uint_gt(sent, 0);
    await(1, 1);
    says(1, "gone: rank 0 (127.0.0.1:"), says(1, ") is lost: does not read what it is sent");
    peer_close(&p);
    c = client_of(r.port, "after", 0, 1);
    launch(0, &c);
    all_good(0, 1);
    stop(&r);
}
END_TEST

// Five seconds from the connection on, whatever is said meanwhile. It may be nothing, a JOIN drop
// by drop, or PINGs.
START_TEST(strangers_have_five_seconds)
{
    enum { SILENT, DRIPS, PINGS, ALL };
    const running r = start(&plain_switch);
    const sw_client c = client_of(r.port, "drips", 0, 1);
    uint8_t join[GN_ADMISSION_MAX], ping[GN_ADMISSION_MAX], answers[4096];
    const size_t whole = gn_admission_write(&(gn_admission){.type = GN_ADMISSION_JOIN, .join = c.join}, join),
                 bytes = gn_admission_write(&(gn_admission){.type = GN_ADMISSION_PING}, ping);
    wire_peer p[ALL];
    uint64_t ended[ALL] = {0};
    const uint64_t begin = gn_now();
    for (int i = 0; i < ALL; i++) peer_connect(&p[i], r.port, 0);
    for (size_t at = 0; !ended[SILENT] || !ended[DRIPS] || !ended[PINGS]; at++, usleep(100000)) {
        ck_assert_uint_lt(gn_now() - begin, PEER_PATIENCE_S * GN_SECOND);
        // One byte less than all of them would be, at most.
        if (at + 1 < whole && !ended[DRIPS]) (void)!send(p[DRIPS].fd, join + at, 1, MSG_NOSIGNAL);
        if (!ended[PINGS]) (void)!send(p[PINGS].fd, ping, bytes, MSG_NOSIGNAL);
        for (int i = 0; i < ALL; i++) {
            const ssize_t got = ended[i] ? 1 : recv(p[i].fd, answers, sizeof answers, MSG_DONTWAIT);
            if (!got || (got < 0 && errno != EAGAIN)) ended[i] = gn_now() - begin;
        }
    }
    for (int i = 0; i < ALL; i++) {
        ck_assert_uint_ge(ended[i], GN_LOBBY_PATIENCE - 10 * GN_MILLISECOND);
        peer_close(&p[i]);
    }
    stop(&r);
}
END_TEST

static int option_of(int fd, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof value;
    ck_assert_int_eq(getsockopt(fd, level, name, &value, &length), 0);
    return value;
}

/// The kernel asks a host that is silent, and gives it up after ten seconds in all.
static void check_watched(const gn_session *session)
{
    const int fd = session->connection->fd;
    ck_assert_int_eq(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    const int idle = option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), every = option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL),
              probes = option_of(fd, IPPROTO_TCP, TCP_KEEPCNT);
    ck_assert_int_ge(idle, 1);
    ck_assert_int_eq(idle + every * probes, GN_SESSION_SILENCE_S);
    // The same for what was sent and is not acknowledged.
    ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 1000 * GN_SESSION_SILENCE_S);
}

START_TEST(hosts_that_vanish_are_noticed)
{
    uint16_t port;
    const int listener = peer_listen(&port);
    const gn_endpoint to = {.ip = {.version = 4, .bytes = {127, 0, 0, 1}}, .port = port};
    gn_endpoint from;
    gn_error error;
    gn_session *up = gn_session_connect(&to, NULL, &error);
    ck_assert_ptr_nonnull(up);
    check_watched(up);
    const gn_admission_join join = {.asker = GN_ASKER_WORKER};
    const int fd = gn_tcp_accept(listener, &from);
    ck_assert_int_ge(fd, 0);
    gn_session *down =
        gn_session_of_child(gn_framed_new(fd, GN_FRAMED_OPEN, GN_FRAMES_IN, GN_FRAMES_OUT), &from, &join);
    ck_assert_ptr_nonnull(down);
    check_watched(down);
    gn_session_free(up);
    gn_session_free(down);
    close(listener);
}
END_TEST

/// A leaf below a parent that the test plays, and the one worker of a job there.
typedef struct below {
    running leaf;
    int listener;
    char address[32];
} below;

static below start_below(uint32_t slots, const gn_switchd_config *as)
{
    below b;
    uint16_t port;
    gn_switchd_config config = *as;
    b.listener = peer_listen(&port);
    snprintf(b.address, sizeof b.address, "127.0.0.1:%u", port);
    config.parent = b.address;
    config.slots = config.quota = slots;
    config.join_timeout_ns = PEER_PATIENCE_S * GN_SECOND;
    b.leaf = start(&config);
    return b;
}

static void stop_below(const below *b)
{
    stop(&b->leaf);
    close(b->listener);
}

static sw_client worker_below(const below *b, const char *name)
{
    sw_client c = client_of(b->leaf.port, name, 0, 1);
    c.join.parent_children = 1;
    c.timeout_ms = 1000 * PEER_PATIENCE_S;
    return c;
}

/// The leaf asks this parent for the job.
static gn_admission_join asked(wire_peer *p, const below *b)
{
    peer_accept(p, b->listener);
    const gn_admission frame = peer_hear(p);
    ck_assert_int_eq(frame.type, GN_ADMISSION_JOIN);
    return frame.join;
}

static gn_admission welcome_to(const gn_admission_join *join)
{
    gn_admission frame = {.type = GN_ADMISSION_WELCOME,
                          .welcome = {.mode = GN_PARTITIONED, .channels = join->channels, .slots = join->slots}};
    for (unsigned i = 0; i < frame.welcome.channels; i++)
        frame.welcome.job[i] = frame.welcome.gen[i] = frame.welcome.udp_port[i] = (uint16_t)(100 + i);
    return frame;
}

// More slots, and another number of channels: the leaf has neither. It says so, and goes on.
START_TEST(a_parent_that_grants_more_is_refused)
{
    below b = start_below(1024, &plain_switch);
    for (int wrong = 0; wrong < 3; wrong++) {
        wire_peer p;
        sw_client c = worker_below(&b, "greedy");
        c.join.channels = 2;
        launch(0, &c);
        const gn_admission_join join = asked(&p, &b);
        gn_admission answer = welcome_to(&join);
        ck_assert_uint_eq(join.slots, 64);
        if (wrong == 0) answer.welcome.slots = 128;
        if (wrong == 1) answer.welcome.channels = 1;
        if (wrong == 2) answer.welcome.channels = 3, answer.welcome.udp_port[2] = 7;
        peer_say(&p, &answer);
        await(0, 1);
        says(0, "the parent switch 127.0.0.1:");
        says(0, "gives other channels, slots, bits or memory than asked for");
        peer_close(&p);
    }
    stop_below(&b);
}
END_TEST

// A job's slots and channels are its own before the parent has answered, though nobody uses them
// yet. Afterwards they are free.
START_TEST(slots_of_jobs_that_still_ask_are_taken)
{
    below b = start_below(64, &plain_switch);
    wire_peer first, second;
    sw_client c = worker_below(&b, "asks"), other = worker_below(&b, "comes later");
    launch(0, &c);
    ck_assert_uint_eq(asked(&first, &b).slots, 64);
    launch(1, &other);
    await(1, 1);
    says(1, "no slots left for 1 channel: other jobs have them");
    peer_say(&first, &(gn_admission){.type = GN_ADMISSION_REFUSED, .text = "not today"});
    await(0, 1);
    says(0, "parent switch 127.0.0.1:"), says(0, ": not today");
    launch(1, &other);
    ck_assert_uint_eq(asked(&second, &b).slots, 64);
    peer_say(&second, &(gn_admission){.type = GN_ADMISSION_REFUSED, .text = "nor tomorrow"});
    await(1, 1);
    says(1, ": nor tomorrow");
    peer_close(&first);
    peer_close(&second);
    stop_below(&b);

    // Half of the slots each: the second one gets what is left, and other channels.
    b = start_below(128, &plain_switch);
    c = worker_below(&b, "asks"), other = worker_below(&b, "comes later");
    launch(0, &c);
    const gn_admission_join mine = asked(&first, &b);
    other.join.slots = 128;
    launch(1, &other);
    const gn_admission_join its = asked(&second, &b);
    ck_assert_uint_eq(mine.slots, 64);
    ck_assert_uint_eq(its.slots, 64);
    ck_assert_uint_ne(mine.udp_port[0], its.udp_port[0]);
    for (int i = 0; i < 2; i++)
        peer_say(i ? &second : &first, &(gn_admission){.type = GN_ADMISSION_REFUSED, .text = "enough"});
    await(0, 2);
    peer_close(&first);
    peer_close(&second);
    stop_below(&b);
}
END_TEST

// They are load, too: the next job gets a channel of another shard. It was refused otherwise,
// though that shard had nothing to do.
START_TEST(channels_of_jobs_that_still_ask_are_load)
{
    gn_switchd_config config = plain_switch;
    config.shards = 2;
    config.channels = 1;
    const below b = start_below(128, &config);
    wire_peer parents[2];
    for (unsigned i = 0; i < 2; i++) {
        char name[16];
        snprintf(name, sizeof name, "asks %u", i);
        const sw_client c = worker_below(&b, name);
        launch(i, &c);
        ck_assert_uint_eq(asked(&parents[i], &b).channels, 1);
    }
    const sw_client c = worker_below(&b, "too many");
    launch(2, &c);
    await(2, 1);
    says(2, "no room for 1 more channel: other jobs have them");
    for (unsigned i = 0; i < 2; i++) {
        peer_say(&parents[i], &(gn_admission){.type = GN_ADMISSION_REFUSED, .text = "enough"});
        await(i, 1);
        says(i, ": enough");
        peer_close(&parents[i]);
    }
    stop_below(&b);
}
END_TEST

static void write_line(void *context, const char *text)
{
    (void)dprintf(*(int *)context, "%s\n", text);
}

static unsigned count_of(const char *log, const char *what)
{
    unsigned count = 0;
    for (; (log = strstr(log, what)); log++) count++;
    return count;
}

// Strangers fill their kind of lines, and no other. How many more there were is said when the span
// is over, though nothing else happens then.
START_TEST(what_was_held_back_is_told_in_time)
{
    enum { MORE = 7 };
    static char log[1 << 16];
    static const uint8_t wrong[] = {'G', 'N', 'A', 'D', 2, 0, 0, 0};
    static const char *const told = "\nand 7 more strangers that were refused\n";
    int ends[2];
    gn_switchd_config config = plain_switch;
    ck_assert(!pipe(ends));
    config.log = write_line;
    config.log_context = &ends[1];
    const running r = start(&config);
    close(ends[1]);
    for (unsigned i = 0; i < GN_LOG_LINES + MORE; i++) {
        wire_peer p;
        peer_connect(&p, r.port, 0);
        ck_assert_int_eq(send(p.fd, wrong, sizeof wrong, MSG_NOSIGNAL), sizeof wrong);
        ck_assert_int_eq(peer_hear(&p).type, GN_ADMISSION_REFUSED);
        peer_close(&p);
    }
    const sw_client c = client_of(r.port, "heard", 0, 1);
    launch(0, &c);
    all_good(0, 1);
    size_t length = 0;
    while (!strstr(log, told)) {
        struct pollfd p = {.fd = ends[0], .events = POLLIN};
        ck_assert_int_eq(poll(&p, 1, 1000 * (GN_LOG_SPAN_S + PEER_PATIENCE_S)), 1);
        const ssize_t got = read(ends[0], log + length, sizeof log - 1 - length);
        ck_assert_int_gt(got, 0);
        length += (size_t)got;
    }
    ck_assert_uint_eq(count_of(log, "was refused: it speaks version 2"), GN_LOG_LINES);
    ck_assert_uint_eq(count_of(log, "job 'heard' runs"), 1);
    ck_assert_uint_eq(count_of(log, "job 'heard' is over"), 1);
    ck_assert_uint_eq(count_of(log, " more "), 1);
    stop(&r);
    close(ends[0]);
}
END_TEST

int main(void)
{
    return RUN_TESTS("switchd_peers", a_child_that_never_reads_is_given_up, strangers_have_five_seconds,
                     hosts_that_vanish_are_noticed, a_parent_that_grants_more_is_refused,
                     slots_of_jobs_that_still_ask_are_taken, channels_of_jobs_that_still_ask_are_load,
                     what_was_held_back_is_told_in_time);
}
