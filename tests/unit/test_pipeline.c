// SPDX-License-Identifier: Apache-2.0
// Reading, working and writing at the same time: every item once, in order, whatever the number of
// threads; the first failure in the order of items; no more buffers than the memory allows.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "tools/files/pipeline.h"

enum { NEVER = -1, BUSY = 3 };

typedef struct item {
    int number, result;
} item;

typedef struct job {
    int count;                              ///< items
    int bad_read, bad_work, bad_write;      ///< the item that fails there; NEVER
    int together;                           ///< works on the first so many wait for one another
    int buffers_most;                       ///< buffer_new() fails after so many; NEVER
    int read, written, made, freed, ahead;  ///< ahead: the most that were read and not yet written
    atomic_int working, worked;
    pthread_mutex_t lock;
    pthread_cond_t here;
} job;

static atomic_int freed;

static void *buffer_new(void *context)
{
    job *j = context;
    if (j->buffers_most != NEVER && j->made >= j->buffers_most) return NULL;
    j->made++;
    return calloc(1, sizeof(item));
}

static void buffer_free(void *buffer)
{
    ck_assert_ptr_nonnull(buffer);
    freed++;
    free(buffer);
}

static gn_status read_one(void *context, void *buffer, bool *end, gn_error *error)
{
    job *j = context;
    item *i = buffer;
    if (j->read == j->bad_read) return gn_fail(error, GN_IO, "read %d", j->read);
    *end = j->read == j->count;
    if (*end) return GN_OK;
    *i = (item){.number = j->read++};
    if (j->read - j->written > j->ahead) j->ahead = j->read - j->written;
    return GN_OK;
}

static gn_status work_one(void *context, void *buffer, gn_error *error)
{
    job *j = context;
    item *i = buffer;
    if (i->number < j->together) {
        pthread_mutex_lock(&j->lock);
        j->working++;
        pthread_cond_broadcast(&j->here);
        while (j->working < j->together) pthread_cond_wait(&j->here, &j->lock);
        pthread_mutex_unlock(&j->lock);
    }
    if (i->number % 7 == BUSY) usleep(200);  // later ones are done earlier
    j->worked++;
    if (i->number == j->bad_work) return gn_fail(error, GN_CORRUPT, "work %d", i->number);
    i->result = 2 * i->number + 1;
    return GN_OK;
}

static gn_status write_one(void *context, void *buffer, gn_error *error)
{
    job *j = context;
    const item *i = buffer;
    if (j->written == j->bad_write) return gn_fail(error, GN_IO, "write %d", j->written);
    ck_assert_int_eq(i->number, j->written);
    ck_assert_int_eq(i->result, 2 * i->number + 1);
    j->written++;
    return GN_OK;
}

static job new_job(int count)
{
    return (job){.count = count,
                 .bad_read = NEVER,
                 .bad_work = NEVER,
                 .bad_write = NEVER,
                 .buffers_most = NEVER,
                 .lock = PTHREAD_MUTEX_INITIALIZER,
                 .here = PTHREAD_COND_INITIALIZER};
}

static gn_status go(job *j, unsigned threads, size_t buffer_bytes, gn_error *error)
{
    const gn_pipeline p = {.context = j,
                           .buffer_new = buffer_new,
                           .buffer_free = buffer_free,
                           .read = read_one,
                           .work = work_one,
                           .write = write_one,
                           .threads = threads,
                           .buffer_bytes = buffer_bytes};
    freed = 0;
    const gn_status status = gn_pipeline_run(&p, error);
    ck_assert_int_eq(freed, j->made);
    return status;
}

static const unsigned some_threads[] = {1, 2, 3, 16, GN_THREADS_MAX, 0};

START_TEST(each_once_and_in_order)
{
    static const int counts[] = {0, 1, 2, 3, 4, 5, 20, 700};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        gn_error error;
        job j = new_job(counts[c]);
        ck_assert_int_eq(go(&j, some_threads[_i], 0, &error), GN_OK);
        ck_assert_int_eq(j.written, counts[c]);
        ck_assert_int_eq(j.worked, counts[c]);
    }
}
END_TEST

/// As many work at a time as there are threads, and two more are read ahead.
START_TEST(at_the_same_time)
{
    for (unsigned threads = 2; threads < 8; threads++) {
        gn_error error;
        job j = new_job(50);
        j.together = (int)threads;
        ck_assert_int_eq(go(&j, threads, 0, &error), GN_OK);
        ck_assert_int_eq(j.written, 50);
        ck_assert_int_eq(j.made, (int)threads + 2);
        ck_assert_int_le(j.ahead, (int)threads + 2);
        ck_assert_int_ge(j.ahead, (int)threads);
    }
}
END_TEST

/// What comes before a failure is written, and nothing else.
START_TEST(the_first_failure)
{
    static const int places[] = {0, 1, 5, 49};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (int where = 0; where < 3; where++) {
            static const char *const names[] = {"read", "work", "write"};
            char words[40];
            gn_error error;
            job j = new_job(50);
            *(where == 0 ? &j.bad_read : where == 1 ? &j.bad_work : &j.bad_write) = places[p];
            snprintf(words, sizeof words, "%s %d", names[where], places[p]);
            ck_assert_int_eq(go(&j, some_threads[_i], 0, &error), where == 1 ? GN_CORRUPT : GN_IO);
            ck_assert_str_eq(error.text, words);
            ck_assert_int_eq(j.written, places[p]);
        }
    gn_error error;
    job j = new_job(50);  // what is read later fails earlier, and is not told
    j.bad_read = 6;
    j.bad_work = 5;
    ck_assert_int_eq(go(&j, some_threads[_i], 0, &error), GN_CORRUPT);
    ck_assert_str_eq(error.text, "work 5");
}
END_TEST

START_TEST(memory_is_limited)
{
    static const struct {
        unsigned threads;
        size_t bytes;
        int buffers;
    } cases[] = {{16, GN_PIPELINE_BYTES / 18, 18},
                 {16, GN_PIPELINE_BYTES / 17, 17},
                 {16, GN_PIPELINE_BYTES / 4, 4},
                 {16, GN_PIPELINE_BYTES / 3, 1},
                 {16, GN_PIPELINE_BYTES, 1},
                 {16, GN_PIPELINE_BYTES * 2, 1},
                 {GN_THREADS_MAX + 9, 1, GN_THREADS_MAX + 2},
                 {1, 1, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        gn_error error;
        job j = new_job(30);
        ck_assert_int_eq(go(&j, cases[c].threads, cases[c].bytes, &error), GN_OK);
        ck_assert_int_eq(j.written, 30);
        ck_assert_msg(j.made == cases[c].buffers, "case %zu: %d buffers", c, j.made);
    }
    for (int most = 0; most < 4; most++) {
        gn_error error;
        job j = new_job(30);
        j.buffers_most = most;
        ck_assert_int_eq(go(&j, 2, 0, &error), GN_NO_MEMORY);
        ck_assert_int_eq(j.read, 0);
    }
    gn_error error;
    job j = new_job(30);
    j.buffers_most = 0;
    ck_assert_int_eq(go(&j, 1, 0, &error), GN_NO_MEMORY);
}
END_TEST

START_TEST(numbers_of_threads)
{
    unsigned threads = 99;
    gn_error error;
    ck_assert(!gn_parse_threads("0", &threads, &error) && threads == 0);
    ck_assert(!gn_parse_threads("256", &threads, &error) && threads == 256);
    ck_assert_int_ne(gn_parse_threads("257", &threads, &error), GN_OK);
    ck_assert_int_ne(gn_parse_threads("-1", &threads, &error), GN_OK);
    ck_assert_uint_eq(threads, 256);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pipeline");
    TCase *tcase = tcase_create("pipeline");
    const int kinds = sizeof some_threads / sizeof *some_threads;
    tcase_add_loop_test(tcase, each_once_and_in_order, 0, kinds);
    tcase_add_test(tcase, at_the_same_time);
    tcase_add_loop_test(tcase, the_first_failure, 0, kinds);
    tcase_add_test(tcase, memory_is_limited);
    tcase_add_test(tcase, numbers_of_threads);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
