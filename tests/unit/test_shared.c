// SPDX-License-Identifier: Apache-2.0
// Memory that two ranks share: every byte arrives once and in order, sleepers wake, and what the
// other end may get wrong is refused.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm_ranks.h"
#include "ring/group.h"
#include "ring/shared.h"
#include "suite.h"

enum { ROOM = 1 << 20, TOTAL = 5000000 };

static uint8_t offer[GN_SHARED_OFFER];
static gn_shared *one, *other;

static void setup(void)
{
    one = gn_shared_make(gn_shared_room(2), offer);
    ck_assert_ptr_nonnull(one);
    other = gn_shared_take(offer);
    ck_assert_ptr_nonnull(other);
}

static void teardown(void)
{
    gn_shared_free(one);
    gn_shared_free(other);
    gn_shared_free(NULL);
}

/// The bytes of docs/collectives-protocol.md. Number of the file and random bytes are any.
START_TEST(bytes_of_an_offer)
{
    const uint64_t room = gn_shared_room(2), memory = (12 << 10) + 2 * room, process = (uint64_t)getpid();
    static const uint8_t magic[8] = {'G', 'N', 'S', 'H', 'M', 2, 0, 0};
    ck_assert_mem_eq(offer, magic, sizeof magic);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(offer[8 + i], process >> 8 * i & 0xff);
        ck_assert_uint_eq(offer[16 + i], memory >> 8 * i & 0xff);
        ck_assert_uint_eq(offer[20 + i], 0);
    }
    ck_assert_uint_eq(sizeof offer, 40);
}
END_TEST

/// Who took an offer keeps no descriptor of it, and closes no other that has got the number since.
START_TEST(descriptors_of_others_stay)
{
    const int mine = open("/dev/null", O_RDONLY);
    ck_assert_int_ge(mine, 0);
    gn_shared_free(other);
    other = NULL;
    ck_assert_int_ne(fcntl(mine, F_GETFD), -1);
    close(mine);
}
END_TEST

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 2654435761u >> 13);
}

START_TEST(both_ways)
{
    static uint8_t bytes[ROOM + 1000], back[ROOM + 1000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = byte_at(i);
    for (int way = 0; way < 2; way++) {
        gn_shared *from = way ? other : one, *to = way ? one : other;
        ck_assert_int_eq(gn_shared_read(to, back, 10), 0);
        ck_assert_int_eq(gn_shared_write(from, bytes, sizeof bytes), ROOM);
        ck_assert_int_eq(gn_shared_write(from, bytes, 1), 0);
        ck_assert_int_eq(gn_shared_read(to, back, 1000), 1000);
        ck_assert_int_eq(gn_shared_write(from, bytes + ROOM, 1000), 1000);  // around the end
        ck_assert_int_eq(gn_shared_read(to, back + 1000, sizeof back), ROOM);
        ck_assert_mem_eq(bytes, back, sizeof bytes);
        ck_assert_int_eq(gn_shared_read(to, back, sizeof back), 0);
    }
}
END_TEST

typedef struct pump {
    gn_shared *shared;
    int bell[2];  // read, write
} pump;

static void sleep_unless_ready(pump *p, bool sleeps)
{
    char bells[64];
    struct pollfd wait = {.fd = p->bell[0], .events = POLLIN};
    if (!sleeps) return;
    ck_assert_int_eq(poll(&wait, 1, 20000), 1);  // a lost wake-up ends the test
    ck_assert_int_gt(read(p->bell[0], bells, sizeof bells), 0);
}

static void wake(pump *p)
{
    if (gn_shared_must_wake(p->shared)) ck_assert_int_eq(write(p->bell[1], "", 1), 1);
}

static void *write_all(void *argument)
{
    pump *p = argument;
    uint8_t bytes[70000];
    for (size_t at = 0, step = 1; at < TOTAL; step = step * 7 % 69997 + 1) {
        const size_t n = step < TOTAL - at ? step : TOTAL - at;
        for (size_t i = 0; i < n; i++) bytes[i] = byte_at(at + i);
        for (size_t done = 0; done < n;) {
            const ssize_t sent = gn_shared_write(p->shared, bytes + done, n - done);
            ck_assert_int_ge(sent, 0);
            if (sent > 0)
                wake(p);
            else
                sleep_unless_ready(p, gn_shared_sleep_to_write(p->shared));
            done += (size_t)sent;
        }
        at += n;
    }
    return NULL;
}

START_TEST(sleepers_wake)
{
    int to_reader[2], to_writer[2];
    ck_assert(!pipe(to_reader) && !pipe(to_writer));
    pump writer = {one, {to_writer[0], to_reader[1]}}, reader = {other, {to_reader[0], to_writer[1]}};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, write_all, &writer), 0);
    static uint8_t bytes[50000];
    unsigned wrong = 0;
    for (size_t at = 0; at < TOTAL;) {
        const ssize_t got = gn_shared_read(other, bytes, at % 3 ? sizeof bytes : 100);
        ck_assert_int_ge(got, 0);
        if (got > 0)
            wake(&reader);
        else
            sleep_unless_ready(&reader, gn_shared_sleep_to_read(other));
        for (ssize_t i = 0; i < got; i++) wrong += bytes[i] != byte_at(at + (size_t)i);
        at += (size_t)got;
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

// A note is there until the next but one, and says whether its reader has to be called, too.
START_TEST(notes)
{
    uint8_t note[GN_SHARED_NOTE], long_note[GN_SHARED_NOTE];
    memset(long_note, 7, sizeof long_note);
    for (int way = 0; way < 2; way++) {
        gn_shared *from = way ? other : one, *to = way ? one : other;
        ck_assert_uint_eq(gn_shared_told(to, 0, note), 0);
        ck_assert(gn_shared_tell(from, 0, "zero", 4));
        ck_assert_uint_eq(gn_shared_told(from, 0, note), 0);  // not to oneself
        ck_assert(gn_shared_tell(from, 1, long_note, sizeof long_note));
        ck_assert_uint_eq(gn_shared_told(to, 0, note), 4);
        ck_assert_mem_eq(note, "zero", 4);
        ck_assert_uint_eq(gn_shared_told(to, 1, note), sizeof long_note);
        ck_assert_mem_eq(note, long_note, sizeof long_note);
        ck_assert_uint_eq(gn_shared_told(to, 2, note), 0);
        gn_shared_sleep_to_be_told(to, true);
        ck_assert(!gn_shared_tell(from, 2, "two", 3));
        ck_assert_uint_eq(gn_shared_told(to, 0, note), 0);
        ck_assert_uint_eq(gn_shared_told(to, 2, note), 3);
        gn_shared_sleep_to_be_told(to, false);
        ck_assert(gn_shared_tell(from, 3, "three", 5));
    }
}
END_TEST

// The other end scribbles over everything.
START_TEST(wrong_indices)
{
    uint8_t bytes[100] = {0};
    char path[64];
    uint32_t pid, fd;
    memcpy(&pid, offer + 8, 4);
    memcpy(&fd, offer + 12, 4);
    snprintf(path, sizeof path, "/proc/%u/fd/%u", pid, fd);
    const int file = open(path, O_RDWR);
    ck_assert_int_ge(file, 0);
    const off_t size = lseek(file, 0, SEEK_END);
    uint64_t junk = 1;
    for (off_t at = 0; at < size; at += 8) {
        junk = junk * 6364136223846793005u + 1442695040888963407u;
        ck_assert_int_eq(pwrite(file, &junk, sizeof junk, at), sizeof junk);
    }
    ck_assert_int_eq(gn_shared_write(one, bytes, sizeof bytes), -1);
    ck_assert_int_eq(gn_shared_read(one, bytes, sizeof bytes), -1);
    ck_assert(!gn_shared_sleep_to_read(one) && !gn_shared_sleep_to_write(one));
    uint8_t note[GN_SHARED_NOTE];
    const uint64_t number[2] = {2, 1};  // a note of far too many bytes
    for (off_t at = 0; at + 16 <= size; at += 64) {
        ck_assert_int_eq(pwrite(file, &number[0], 8, at), 8);
        ck_assert_int_eq(pwrite(file, (uint32_t[]){UINT32_MAX}, 4, at + 8), 4);
    }
    ck_assert_uint_eq(gn_shared_told(one, 1, note), 0);
    ck_assert_int_ne(ftruncate(file, 0), 0);  // it cannot shrink below its users
    close(file);
}
END_TEST

static void refused(const uint8_t bytes[GN_SHARED_OFFER])
{
    gn_shared *shared = gn_shared_take(bytes);
    ck_assert_ptr_null(shared);
}

/// A sanitizer may have a thread of its own, by whose number the memory is found, too.
static bool names_own_thread(const uint8_t bytes[GN_SHARED_OFFER])
{
    char path[64];
    uint32_t pid;
    memcpy(&pid, bytes + 8, 4);
    snprintf(path, sizeof path, "/proc/self/task/%u", pid);
    return pid != (uint32_t)getpid() && !access(path, F_OK);
}

// An offer may name any file of any process here.
START_TEST(wrong_offers)
{
    uint8_t wrong[GN_SHARED_OFFER];
    gn_shared_offer_none(wrong);
    refused(wrong);
    for (size_t at = 0; at < GN_SHARED_OFFER; at++) {
        memcpy(wrong, offer, sizeof wrong);
        wrong[at] ^= 1;
        if ((at < 12 || at >= 16) && !names_own_thread(wrong)) refused(wrong);
    }
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    char name[] = "/tmp/gradnic-test-XXXXXX";
    const int plain = mkstemp(name), loose = memfd_create("loose", MFD_ALLOW_SEALING);
    const off_t size = 8192 + 2 * ROOM + 4096;
    ck_assert(plain >= 0 && loose >= 0);
    const int others[] = {0, ends[0], ends[1], plain, loose, 9999};
    for (off_t bytes = 0; bytes < 4 * ROOM; bytes += bytes ? 4096 : size - 4 * 4096) {
        ck_assert(!ftruncate(plain, bytes) && !ftruncate(loose, bytes));
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            memcpy(wrong, offer, sizeof wrong);
            const uint32_t fd = (uint32_t)others[i];
            memcpy(wrong + 12, &fd, 4);
            refused(wrong);
        }
        if (bytes > size + 4 * 4096) break;
    }
    unlink(name);
}
END_TEST

// With many ranks on a host each pair has less, and no rank has more than 4 MiB each way.
/// A limit of file sizes would end the process by a signal.
START_TEST(no_larger_than_files_may_be)
{
    struct rlimit before, small = {.rlim_cur = 4096};
    ck_assert(!getrlimit(RLIMIT_FSIZE, &before));
    small.rlim_max = before.rlim_max;
    ck_assert(!setrlimit(RLIMIT_FSIZE, &small));
    ck_assert_ptr_null(gn_shared_make(gn_shared_room(1), offer));
    ck_assert(!setrlimit(RLIMIT_FSIZE, &before));
}
END_TEST

START_TEST(room_of_many)
{
    static uint8_t bytes[ROOM], back[ROOM];
    static const int neighbours[] = {0, 1, 4, 5, 31, 255};
    static const size_t rooms[] = {ROOM, ROOM, ROOM, ROOM / 2, ROOM / 8, ROOM / 64};
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = byte_at(i);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        ck_assert_uint_eq(gn_shared_room(neighbours[i]), rooms[i]);
        uint8_t its[GN_SHARED_OFFER];
        gn_shared *from = gn_shared_make(rooms[i], its), *to = gn_shared_take(its);
        ck_assert(from && to);
        for (int way = 0; way < 2; way++) {
            gn_shared *a = way ? to : from, *b = way ? from : to;
            ck_assert_int_eq(gn_shared_write(a, bytes, sizeof bytes), (ssize_t)rooms[i]);
            ck_assert_int_eq(gn_shared_write(a, bytes, 1), 0);
            ck_assert_int_eq(gn_shared_read(b, back, sizeof back), (ssize_t)rooms[i]);
            ck_assert_mem_eq(bytes, back, rooms[i]);
        }
        gn_shared_taken(from);
        refused(its);  // its file is closed
        gn_shared_free(from);
        gn_shared_free(to);
    }
}
END_TEST

typedef struct how {
    bool off[2];
    bool expected;
} how;

/// Of that the values go over TCP though the other rank is here.
static void note_tcp(void *context, gn_log_level level, const char *text)
{
    *(int *)context += level == GN_LOG_INFO && strstr(text, " shares no memory with this rank (") != NULL;
}

static void run_pair(int rank, const ranks *group, void *argument)
{
    const how *h = argument;
    gn_comm_config config = rank_config(rank, group);
    int told = 0;
    config.no_shared_memory = h->off[rank];
    config.log = note_tcp;
    config.log_context = &told;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm && told == (!h->expected && !h->off[rank]));
    for (int i = 0; i < comm->neighbour_count; i++) RANK_CHECK((comm->neighbours[i].shared != NULL) == h->expected);
    enum { COUNT = 700001 };
    float *values = malloc(COUNT * sizeof *values);
    RANK_CHECK(values);
    for (int step = 0; step < 5; step++) {
        for (int i = 0; i < COUNT; i++) values[i] = (float)(i + rank);
        RANK_CHECK(!gn_allreduce(comm, values, values, COUNT, GN_SUM));
        for (int i = 0; i < COUNT; i++) RANK_CHECK(values[i] == (float)(2 * i + 1));
    }
    gn_comm_free(comm);
    free(values);
}

// Ranks of one host find each other, unless one of them does not want it.
START_TEST(ranks_of_one_host)
{
    static const how cases[] = {
        {{false, false}, true}, {{true, false}, false}, {{false, true}, false}, {{true, true}, false}};
    how h = cases[_i];
    ranks_run(2, run_pair, &h, 30);
}
END_TEST

// A rank leaves a note that is not the header of this collective.
static void run_scribbler(int rank, const ranks *group, void *argument)
{
    const int *kind = argument;
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = GN_DIRECT;
    config.timeout_ms = 5000;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    float value = 1;
    if (rank) {
        const gn_op_header header = {.sequence = 7, .type = GN_F32};
        uint8_t frame[GN_FRAME_MAX] = {1};
        const size_t length = *kind ? gn_op_header_write(frame, &header) : 9;
        (void)gn_shared_tell(comm->neighbours[0].shared, comm->sequence, frame, length);
        usleep(500000);
    } else {
        RANK_CHECK(gn_allreduce(comm, &value, &value, 1, GN_SUM) == GN_CORRUPT);
        RANK_CHECK(strstr(gn_comm_last_error(comm), "rank 1 (127.0.0.1) left a malformed message in shared memory"));
    }
    gn_comm_free(comm);
}

START_TEST(wrong_notes)
{
    ranks_run(2, run_scribbler, &_i, 30);
}
END_TEST

// Barriers and small sums in turns, with ranks that are late: no rank passes before all have come.
static void run_meeting(int rank, const ranks *group, void *argument)
{
    const gn_algorithm *algorithm = argument;
    gn_comm_config config = rank_config(rank, group);
    config.algorithm = *algorithm;
    gn_comm *comm = rank_init(rank, group, &config);
    RANK_CHECK(comm);
    for (int turn = 0; turn < 300; turn++) {
        float value = (float)(turn + rank);
        if (turn % 37 == rank) usleep(3000);  // longer than a rank looks before it sleeps
        RANK_CHECK(!gn_barrier(comm));
        RANK_CHECK(!gn_allreduce(comm, &value, &value, 1, GN_SUM));
        RANK_CHECK(value == (float)(3 * turn + 3));
    }
    gn_comm_free(comm);
}

START_TEST(meetings)
{
    gn_algorithm algorithm = _i ? GN_DIRECT : GN_RING;
    ranks_run(3, run_meeting, &algorithm, 30);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shared");
    TCase *tcase = tcase_create("shared"), *pairs = tcase_create("ranks");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, bytes_of_an_offer);
    tcase_add_test(tcase, descriptors_of_others_stay);
    tcase_add_test(tcase, both_ways);
    tcase_add_test(tcase, sleepers_wake);
    tcase_add_test(tcase, notes);
    tcase_add_test(tcase, wrong_indices);
    tcase_add_test(tcase, wrong_offers);
    tcase_add_test(tcase, room_of_many);
    tcase_add_test(tcase, no_larger_than_files_may_be);
    tcase_set_timeout(pairs, 60);
    tcase_add_loop_test(pairs, ranks_of_one_host, 0, 4);
    tcase_add_loop_test(pairs, wrong_notes, 0, 2);
    tcase_add_loop_test(pairs, meetings, 0, 2);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, pairs);
    return suite_run(suite);
}
