// SPDX-License-Identifier: Apache-2.0
#include "pipeline.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/kit/units.h"

enum { BUFFERS_MAX = GN_THREADS_MAX + 2 };

typedef enum buffer_state { EMPTY, FILLED, TAKEN, DONE } buffer_state;

typedef struct buffer {
    void *item;
    buffer_state state;
    gn_error error;  // from working on it
} buffer;

typedef struct run {
    const gn_pipeline *pipeline;
    pthread_mutex_t lock;  // protects everything below
    pthread_cond_t filled, done;
    buffer *buffers;
    unsigned buffer_count;
    bool stop;
    uint64_t next_to_work;  // items are numbered; item i is in buffer i % buffer_count
} run;

static void work_on(run *r, buffer *b)
{
    b->error.status = r->pipeline->work(r->pipeline->context, b->item, &b->error);
}

static void *worker(void *argument)
{
    run *r = argument;
    pthread_mutex_lock(&r->lock);
    for (;;) {
        buffer *b = &r->buffers[r->next_to_work % r->buffer_count];
        if (r->stop) break;
        if (b->state != FILLED) {
            pthread_cond_wait(&r->filled, &r->lock);
            continue;
        }
        b->state = TAKEN;
        r->next_to_work++;
        pthread_mutex_unlock(&r->lock);
        work_on(r, b);
        pthread_mutex_lock(&r->lock);
        b->state = DONE;
        pthread_cond_signal(&r->done);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static void set_state(run *r, buffer *b, buffer_state state)
{
    pthread_mutex_lock(&r->lock);
    b->state = state;
    if (state == FILLED) pthread_cond_signal(&r->filled);
    pthread_mutex_unlock(&r->lock);
}

/// Whether a buffer is done. Waits for it if `wait`.
static bool is_done(run *r, const buffer *b, bool wait)
{
    pthread_mutex_lock(&r->lock);
    while (wait && b->state != DONE) pthread_cond_wait(&r->done, &r->lock);
    const bool done = b->state == DONE;
    pthread_mutex_unlock(&r->lock);
    return done;
}

/// The calling thread reads ahead as far as there are buffers, and writes in order.
static gn_status feed(run *r, gn_error *error)
{
    const gn_pipeline *p = r->pipeline;
    gn_error read = {.status = GN_OK};  // reported after earlier items, which may be the cause
    bool end = false;
    for (uint64_t head = 0, tail = 0; !end || tail < head;) {
        buffer *oldest = &r->buffers[tail % r->buffer_count];
        const bool room = !end && head - tail < r->buffer_count;
        if (tail < head && is_done(r, oldest, !room)) {
            if (oldest->error.status) {
                *error = oldest->error;
                return error->status;
            }
            gn_status wrong = p->write(p->context, oldest->item, error);
            if (wrong) return wrong;
            set_state(r, oldest, EMPTY);
            tail++;
            continue;
        }
        if (!room) continue;
        buffer *next = &r->buffers[head % r->buffer_count];
        if (p->read(p->context, next->item, &end, &read)) end = true;
        if (end) continue;
        set_state(r, next, FILLED);
        head++;
    }
    if (read.status) *error = read;
    return read.status;
}

static gn_status run_alone(const gn_pipeline *p, gn_error *error)
{
    void *item = p->buffer_new(p->context);
    if (!item) return gn_fail_memory(error);
    gn_status wrong;
    for (bool end = false;;) {
        wrong = p->read(p->context, item, &end, error);
        if (wrong || end) break;
        wrong = p->work(p->context, item, error);
        if (!wrong) wrong = p->write(p->context, item, error);
        if (wrong) break;
    }
    p->buffer_free(item);
    return wrong;
}

static gn_status run_threads(run *r, unsigned threads, gn_error *error)
{
    pthread_t thread[GN_THREADS_MAX];
    unsigned started = 0;
    while (started < threads && !pthread_create(&thread[started], NULL, worker, r)) started++;
    gn_status wrong = started ? feed(r, error) : gn_fail(error, GN_NO_MEMORY, "no thread could be started");
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_broadcast(&r->filled);
    pthread_mutex_unlock(&r->lock);
    for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
    return wrong;
}

gn_status gn_pipeline_run(const gn_pipeline *p, gn_error *error)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = p->threads ? p->threads : processors > 0 ? (unsigned)processors : 1;
    const size_t affordable = p->buffer_bytes ? GN_PIPELINE_BYTES / p->buffer_bytes : BUFFERS_MAX;
    if (threads > GN_THREADS_MAX) threads = GN_THREADS_MAX;
    if (threads + 2 > affordable) threads = affordable > 3 ? (unsigned)affordable - 2 : 1;
    if (threads == 1) return run_alone(p, error);

    run r = {.pipeline = p,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .filled = PTHREAD_COND_INITIALIZER,
             .done = PTHREAD_COND_INITIALIZER,
             .buffer_count = threads + 2};
    r.buffers = calloc(r.buffer_count, sizeof *r.buffers);
    bool complete = r.buffers != NULL;
    for (unsigned i = 0; complete && i < r.buffer_count; i++)
        complete = (r.buffers[i].item = p->buffer_new(p->context)) != NULL;
    gn_status wrong = complete ? run_threads(&r, threads, error) : gn_fail_memory(error);
    for (unsigned i = 0; r.buffers && i < r.buffer_count; i++)
        if (r.buffers[i].item) p->buffer_free(r.buffers[i].item);
    free(r.buffers);
    return wrong;
}

gn_status gn_parse_threads(const char *text, unsigned *threads, gn_error *error)
{
    uint64_t n = 0;
    gn_status wrong = gn_parse_number(text, 0, GN_THREADS_MAX, &n, error);
    if (!wrong) *threads = (unsigned)n;
    return wrong;
}
