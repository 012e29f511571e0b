// SPDX-License-Identifier: Apache-2.0
// Strangers at the door: they get their time, give way, and never keep out one who is expected.
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/lobby.h"
#include "net/tcp.h"
#include "suite.h"

enum { ROOM = 8, WORDS = 4 };

static gn_lobby lobby;
static gn_endpoint at[GN_DOORS_MAX];

static void begin(void)
{
    ck_assert_int_eq(gn_lobby_open(&lobby, ROOM), GN_OK);
    for (int door = 0; door < GN_DOORS_MAX; door++) {
        at[door] = (gn_endpoint){.ip.version = 4, .ip.bytes = {127, 0, 0, 1}};
        const int listener = gn_tcp_listen(&at[door], false, 0);
        ck_assert_int_ge(listener, 0);
        gn_lobby_add_door(&lobby, (gn_door){.listener = listener, .in_room = WORDS, .out_room = 16});
    }
}

static void end(void)
{
    for (int door = 0; door < GN_DOORS_MAX; door++) gn_close(&lobby.door[door].listener);
    gn_lobby_close(&lobby);
    ck_assert_uint_eq(lobby.count, 0);
}

/// Knocks, and says something if `words` is not NULL. @return the socket
static int knock(int door, const char *words)
{
    const int fd = gn_tcp_connect(&at[door], NULL, 0);
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    ck_assert(fd >= 0 && poll(&p, 1, 5000) == 1 && !gn_socket_connected(fd));
    if (words) ck_assert_int_eq(send(fd, words, strlen(words), MSG_NOSIGNAL), (ssize_t)strlen(words));
    return fd;
}

/// Whoever begins with "rank" is known.
static int parse(const uint8_t *bytes, size_t available, void *frame)
{
    (void)frame;
    if (memcmp(bytes, "rank", available < WORDS ? available : WORDS) != 0) return -1;
    return available < WORDS ? 0 : WORDS;
}

/// One round of an owner. @return how many have said who they are
static unsigned serve(int longest_ms)
{
    struct pollfd set[GN_DOORS_MAX + ROOM];
    const uint64_t now = gn_now();
    unsigned known = 0;
    const int wait = gn_ms_until(gn_lobby_due(&lobby, now), now);
    (void)poll(set, gn_lobby_poll(&lobby, set, now), wait >= 0 && wait < longest_ms ? wait : longest_ms);
    gn_lobby_serve(&lobby, set);
    for (unsigned i = lobby.count; i-- > 0;) {
        gn_stranger *s = &lobby.strangers[i];
        const int found = gn_framed_next(s->connection, parse, NULL);
        if (found > 0) {
            gn_framed_free(gn_lobby_admit(&lobby, i));
            known++;
        } else if (found || gn_stranger_is_over(s, gn_now())) {
            gn_lobby_dismiss(&lobby, i);
        }
    }
    gn_lobby_accept(&lobby);
    ck_assert_uint_le(lobby.count, ROOM);
    return known;
}

static unsigned serve_for(uint64_t span, unsigned wanted)
{
    unsigned known = 0;
    for (const uint64_t start = gn_now(); known < wanted && gn_elapsed(start, gn_now()) < span;) known += serve(10);
    return known;
}

/// Has the lobby closed it?
static bool sent_away(int fd)
{
    char byte;
    const ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);
    return !got || (got < 0 && errno == ECONNRESET);
}

START_TEST(test_those_who_speak_are_known)
{
    const int a = knock(0, "rank"), b = knock(1, "rank"), wrong = knock(0, "rang"), half = knock(0, "ra");
    ck_assert_uint_eq(serve_for(5 * GN_SECOND, 2), 2);
    ck_assert_uint_eq(serve_for(100 * GN_MILLISECOND, 1), 0);
    ck_assert(sent_away(wrong) && !sent_away(half));
    ck_assert_uint_eq(lobby.count, 1);
    ck_assert_int_eq(send(half, "nk", 2, MSG_NOSIGNAL), 2);
    ck_assert_uint_eq(serve_for(5 * GN_SECOND, 1), 1);
    close(a), close(b), close(wrong), close(half);
}
END_TEST

START_TEST(test_those_who_leave_are_forgotten)
{
    const int a = knock(0, NULL), b = knock(0, "ra");
    (void)serve_for(50 * GN_MILLISECOND, 1);
    ck_assert_uint_eq(lobby.count, 2);
    close(a), close(b);
    (void)serve_for(50 * GN_MILLISECOND, 1);
    ck_assert_uint_eq(lobby.count, 0);
}
END_TEST

START_TEST(test_silence_ends)
{
    const uint64_t start = gn_now();
    const int silent = knock(0, NULL), half = knock(0, "r");
    while (!(sent_away(silent) && sent_away(half))) {
        (void)serve(1000);
        ck_assert(gn_elapsed(start, gn_now()) < 2 * GN_LOBBY_PATIENCE);
    }
    ck_assert(gn_elapsed(start, gn_now()) >= GN_LOBBY_PATIENCE);
    ck_assert_uint_eq(lobby.gave_way, 0);
    close(silent), close(half);
}
END_TEST

// An owner may give one another time.
START_TEST(test_time_may_be_changed)
{
    const int fd = knock(0, NULL);
    (void)serve(100);
    ck_assert_uint_eq(lobby.count, 1);
    lobby.strangers[0].until = gn_now() + 100 * GN_MILLISECOND;
    const uint64_t start = gn_now();
    while (lobby.count) (void)serve(10000);
    ck_assert(gn_elapsed(start, gn_now()) < GN_SECOND);
    close(fd);
}
END_TEST

START_TEST(test_the_oldest_gives_way)
{
    int fd[ROOM + 2];
    for (int i = 0; i < ROOM; i++) {
        fd[i] = knock(0, NULL);
        (void)serve(100);
    }
    ck_assert_uint_eq(lobby.count, ROOM);
    (void)serve_for(2 * GN_LOBBY_GRACE, 1);
    ck_assert_uint_eq(lobby.count, ROOM);  // nobody goes while nobody waits
    fd[ROOM] = knock(1, NULL);
    fd[ROOM + 1] = knock(1, NULL);
    (void)serve_for(20 * GN_MILLISECOND, 1);
    for (int i = 0; i < ROOM + 2; i++) ck_assert_int_eq(sent_away(fd[i]), i < 2);
    ck_assert_uint_eq(lobby.gave_way, 2);
    ck_assert_uint_eq(lobby.strangers[ROOM - 1].door, 1);
    for (int i = 0; i < ROOM + 2; i++) close(fd[i]);
}
END_TEST

// All have come just now: nobody goes before the grace is over, and nobody is lost in the queue.
START_TEST(test_grace)
{
    int fd[2 * ROOM + 1];
    for (int i = 0; i < 2 * ROOM; i++) fd[i] = knock(0, NULL);
    fd[2 * ROOM] = knock(0, "rank");
    struct pollfd set[GN_DOORS_MAX + ROOM];
    const uint64_t start = gn_now();
    gn_lobby_accept(&lobby);
    const uint64_t now = gn_now();
    ck_assert_uint_eq(lobby.count, ROOM);
    ck_assert_uint_eq(lobby.gave_way, 0);
    ck_assert_uint_eq(gn_lobby_poll(&lobby, set, now), GN_DOORS_MAX + ROOM);
    ck_assert_int_eq(set[0].fd, -1);  // else poll() would report it again and again
    ck_assert_uint_eq(gn_lobby_due(&lobby, now), lobby.strangers[0].since + GN_LOBBY_GRACE);
    ck_assert_uint_eq(serve_for(5 * GN_SECOND, 1), 1);
    ck_assert(gn_elapsed(start, gn_now()) >= 2 * GN_LOBBY_GRACE);
    ck_assert_uint_eq(lobby.gave_way, ROOM + 1);
    for (int i = 0; i < 2 * ROOM + 1; i++) close(fd[i]);
}
END_TEST

// The owner stands still for longer than the grace, as on a busy machine. A rank that has spoken
// meanwhile is read before anybody gives way.
START_TEST(test_grace_of_an_owner_that_stood_still)
{
    int fd[2 * ROOM];
    const int rank = knock(0, "rank");
    for (int i = 0; i < 2 * ROOM; i++) fd[i] = knock(0, NULL);
    gn_lobby_accept(&lobby);
    ck_assert_uint_eq(lobby.count, ROOM);
    usleep(2 * GN_LOBBY_GRACE / 1000);
    gn_lobby_accept(&lobby);
    ck_assert_uint_eq(lobby.gave_way, 0);
    ck_assert_uint_eq(serve(0), 1);
    ck_assert_uint_eq(lobby.gave_way, ROOM - 1);
    for (int i = 0; i < 2 * ROOM; i++) close(fd[i]);
    close(rank);
}
END_TEST

/// Strangers who say nothing: those who have been sent away come again.
static void flood(int *strangers, int count, int doors)
{
    for (int i = 0; i < count; i++) {
        if (strangers[i] >= 0 && sent_away(strangers[i])) gn_close(&strangers[i]);
        if (strangers[i] < 0) strangers[i] = knock(i % doors, NULL);
    }
}

// Strangers come all the time, at one door or both, more than there is room for. Ranks come in
// between, and each is heard.
START_TEST(test_a_flood_keeps_no_rank_out)
{
    enum { FLOOD = 100, RANKS = 6 };
    int strangers[FLOOD], ranks[RANKS];
    const uint64_t start = gn_now();
    for (int i = 0; i < FLOOD; i++) strangers[i] = -1;
    flood(strangers, FLOOD, 1 + _i);
    unsigned known = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        ranks[rank] = knock(rank % GN_DOORS_MAX, "rank");
        known += serve(0);
        flood(strangers, FLOOD, 1 + _i);
    }
    while (known < RANKS) {
        known += serve(5);
        flood(strangers, FLOOD, 1 + _i);
        ck_assert_msg(gn_elapsed(start, gn_now()) < 20 * GN_SECOND, "%u of %d ranks are known", known, RANKS);
    }
    ck_assert_uint_gt(lobby.gave_way, FLOOD / 2);
    for (int i = 0; i < FLOOD; i++) gn_close(&strangers[i]);
    for (int rank = 0; rank < RANKS; rank++) close(ranks[rank]);
}
END_TEST

START_TEST(test_room_may_be_changed)
{
    int fd[4];
    for (int i = 0; i < 4; i++) fd[i] = knock(0, NULL);
    lobby.room = 0;
    (void)serve_for(20 * GN_MILLISECOND, 1);
    ck_assert_uint_eq(lobby.count, 0);
    ck_assert_uint_eq(gn_lobby_due(&lobby, gn_now()), GN_FOREVER);
    lobby.room = ROOM;
    (void)serve_for(20 * GN_MILLISECOND, 1);
    ck_assert_uint_eq(lobby.count, 4);
    lobby.room = 2;  // those who are here stay
    (void)serve_for(2 * GN_LOBBY_GRACE, 1);
    ck_assert_uint_eq(lobby.count, 4);
    for (int i = 0; i < 4; i++) close(fd[i]);
}
END_TEST

// A queue that is full at one door keeps nobody out at the other.
START_TEST(test_doors_take_turns)
{
    int fd[6 * ROOM];
    for (int i = 0; i < 6 * ROOM; i++) fd[i] = knock(0, NULL);
    const int rank = knock(1, "rank");
    ck_assert_uint_eq(serve_for(GN_LOBBY_GRACE - 1, 1), 1);  // in the first round
    for (int i = 0; i < 6 * ROOM; i++) close(fd[i]);
    close(rank);
}
END_TEST

// This process has no more sockets: the oldest gives way, and otherwise nobody spins.
START_TEST(test_sockets_run_out)
{
    struct rlimit limit, before;
    struct pollfd set[GN_DOORS_MAX + ROOM];
    char lack[GN_LOBBY_LACK];
    const int a = knock(0, NULL), b = knock(0, NULL), rank = knock(0, "rank");
    ck_assert(!getrlimit(RLIMIT_NOFILE, &before));
    const int spare = dup(rank);  // the next number that is free
    ck_assert(spare >= 0 && !close(spare));
    limit = before;
    limit.rlim_cur = (rlim_t)spare + 1;
    ck_assert(!setrlimit(RLIMIT_NOFILE, &limit));
    ck_assert_str_eq(gn_lobby_lack(&lobby, "rank 0", lack), "");
    gn_lobby_accept(&lobby);
    ck_assert_uint_eq(lobby.count, 1);
    const uint64_t now = gn_now();
    ck_assert_uint_eq(gn_lobby_poll(&lobby, set, now), GN_DOORS_MAX + 1);
    ck_assert(now >= lobby.shut_until || set[0].fd == -1);
    ck_assert(gn_lobby_due(&lobby, now) <= now + GN_LOBBY_GRACE);
    ck_assert_str_eq(gn_lobby_lack(&lobby, "rank 0", lack),
                     "; rank 0 had no room for connections: Too many open files (raise ulimit -n)");
    ck_assert_uint_eq(serve_for(5 * GN_SECOND, 1), 1);
    ck_assert_uint_eq(lobby.gave_way, 2);
    ck_assert(!setrlimit(RLIMIT_NOFILE, &before));
    close(a), close(b), close(rank);
}
END_TEST

// The owner keeps what an admitted one says next, and may answer those it sends away.
START_TEST(test_words_and_answers)
{
    char got[16] = "";
    const int rank = knock(0, "rankmore"), stranger = knock(0, "?");
    while (lobby.count < 2) {
        gn_lobby_accept(&lobby);
        usleep(1000);
    }
    for (int i = 0; i < 20; i++, usleep(1000))
        for (unsigned k = 0; k < 2; k++) (void)gn_framed_fill(lobby.strangers[k].connection);
    ck_assert(gn_framed_send(lobby.strangers[1].connection, "go away", 7));
    gn_framed_end(lobby.strangers[1].connection);
    gn_lobby_dismiss(&lobby, 1);
    ck_assert_int_eq(recv(stranger, got, sizeof got, 0), 7);
    int fd = gn_framed_release(gn_lobby_admit(&lobby, 0));
    ck_assert_int_eq(recv(fd, got, sizeof got, 0), 4);
    ck_assert_mem_eq(got, "more", 4);
    gn_close(&fd);
    close(rank), close(stranger);
}
END_TEST

/// What the lobby has sent to `fd` until it closed its side. @return bytes
static size_t last_words(int fd, char *got, size_t size)
{
    size_t count = 0;
    for (ssize_t n; (n = recv(fd, got + count, size - count, 0)) > 0;) count += (size_t)n;
    return count;
}

/// A rank that has been admitted. `fd`: its side.
static gn_framed *admitted(int *fd)
{
    *fd = knock(0, NULL);
    const int flags = fcntl(*fd, F_GETFL);
    ck_assert(!fcntl(*fd, F_SETFL, flags & ~O_NONBLOCK));
    for (int i = 0; i < 1000 && !lobby.count; i++, usleep(1000)) gn_lobby_accept(&lobby);
    return gn_lobby_admit(&lobby, lobby.count - 1);
}

// One who leaves is told so, though it still talks. It stays until it has hung up.
START_TEST(test_those_who_leave_are_seen_off)
{
    char got[16];
    int fd;
    gn_framed *connection = admitted(&fd);
    ck_assert_int_eq(send(fd, "rank", 4, MSG_NOSIGNAL), 4);
    ck_assert(gn_framed_send(connection, "goodbye", 7));
    gn_lobby_see_off(&lobby, connection, 60 * GN_SECOND);
    ck_assert_int_eq(send(fd, "rank", 4, MSG_NOSIGNAL), 4);
    ck_assert_uint_eq(serve_for(50 * GN_MILLISECOND, 1), 0);  // nobody listens to it
    ck_assert_uint_eq(lobby.count, 1);
    ck_assert_uint_eq(last_words(fd, got, sizeof got), 7);
    ck_assert_mem_eq(got, "goodbye", 7);
    close(fd);
    (void)serve_for(50 * GN_MILLISECOND, 1);
    ck_assert_uint_eq(lobby.count, 0);
    ck_assert_uint_eq(lobby.gave_way, 0);
}
END_TEST

START_TEST(test_those_who_do_not_go_are_sent_away)
{
    int fd;
    gn_framed *connection = admitted(&fd);
    const uint64_t start = gn_now();
    gn_lobby_see_off(&lobby, connection, 100 * GN_MILLISECOND);
    while (lobby.count) (void)serve(10000);
    ck_assert(gn_elapsed(start, gn_now()) >= 100 * GN_MILLISECOND);
    ck_assert(gn_elapsed(start, gn_now()) < GN_SECOND);
    close(fd);
}
END_TEST

// One that has hung up already needs nobody to see it off.
START_TEST(test_those_who_are_gone_are_not_seen_off)
{
    int fd;
    gn_framed *connection = admitted(&fd);
    close(fd);
    struct pollfd p = {.fd = connection->fd, .events = POLLIN};
    ck_assert_int_eq(poll(&p, 1, 5000), 1);
    gn_lobby_see_off(&lobby, connection, 60 * GN_SECOND);
    ck_assert_uint_eq(lobby.count, 0);
}
END_TEST

// Even when the owner has lowered the room, they are taken in as long as there is memory. Then the
// oldest gives way.
START_TEST(test_all_leave_at_once)
{
    int fd[ROOM + 2];
    gn_framed *connection[ROOM + 2];
    for (int i = 0; i < ROOM + 2; i++) connection[i] = admitted(&fd[i]);
    lobby.room = 2;
    for (int i = 0; i < ROOM + 2; i++) {
        ck_assert(gn_framed_send(connection[i], "goodbye", 7));
        gn_lobby_see_off(&lobby, connection[i], 60 * GN_SECOND);
        ck_assert_uint_eq(lobby.count, i < ROOM ? (unsigned)i + 1 : ROOM);
    }
    ck_assert_uint_eq(lobby.gave_way, 2);
    for (int i = 0; i < ROOM + 2; i++) {
        char got[16];
        ck_assert_uint_eq(last_words(fd[i], got, sizeof got), 7);
        close(fd[i]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lobby");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, begin, end);
    tcase_add_test(all, test_those_who_speak_are_known);
    tcase_add_test(all, test_those_who_leave_are_forgotten);
    tcase_add_test(all, test_silence_ends);
    tcase_add_test(all, test_time_may_be_changed);
    tcase_add_test(all, test_the_oldest_gives_way);
    tcase_add_test(all, test_grace);
    tcase_add_test(all, test_grace_of_an_owner_that_stood_still);
    tcase_add_test(all, test_room_may_be_changed);
    tcase_add_loop_test(all, test_a_flood_keeps_no_rank_out, 0, 2);
    tcase_add_test(all, test_doors_take_turns);
    tcase_add_test(all, test_sockets_run_out);
    tcase_add_test(all, test_words_and_answers);
    tcase_add_test(all, test_those_who_leave_are_seen_off);
    tcase_add_test(all, test_those_who_do_not_go_are_sent_away);
    tcase_add_test(all, test_those_who_are_gone_are_not_seen_off);
    tcase_add_test(all, test_all_leave_at_once);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
