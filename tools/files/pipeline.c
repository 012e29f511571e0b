// SPDX-License-Identifier: Apache-2.0
#include "pipeline.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/kit/units.h"

enum { SLOTS_MAX = GN_THREADS_MAX + 2 };

typedef enum slot_state { EMPTY, FILLED, TAKEN, DONE } slot_state;

typedef struct slot {
    void *item;
    slot_state state;
    gn_error error;  // of the work on it
} slot;

typedef struct run {
    const gn_pipeline *pipeline;
    pthread_mutex_t lock;  // of everything below
    pthread_cond_t filled, done;
    slot *slots;
    unsigned slot_count;
    bool stop;
    uint64_t next_to_work;  // items are numbered; item i is in slot i % slot_count
} run;

static void work_on(run *r, slot *s)
{
    s->error.status = r->pipeline->work(r->pipeline->context, s->item, &s->error);
}

static void *worker(void *argument)
{
    run *r = argument;
    pthread_mutex_lock(&r->lock);
    for (;;) {
        slot *s = &r->slots[r->next_to_work % r->slot_count];
        if (r->stop) break;
        if (s->state != FILLED) {
            pthread_cond_wait(&r->filled, &r->lock);
            continue;
        }
        s->state = TAKEN;
        r->next_to_work++;
        pthread_mutex_unlock(&r->lock);
        work_on(r, s);
        pthread_mutex_lock(&r->lock);
        s->state = DONE;
        pthread_cond_signal(&r->done);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static void set_state(run *r, slot *s, slot_state state)
{
    pthread_mutex_lock(&r->lock);
    s->state = state;
    if (state == FILLED) pthread_cond_signal(&r->filled);
    pthread_mutex_unlock(&r->lock);
}

/// Whether a slot is done; waits for it if `wait`.
static bool is_done(run *r, const slot *s, bool wait)
{
    pthread_mutex_lock(&r->lock);
    while (wait && s->state != DONE) pthread_cond_wait(&r->done, &r->lock);
    const bool done = s->state == DONE;
    pthread_mutex_unlock(&r->lock);
    return done;
}

/// The calling thread: reads ahead as far as there are slots, writes in order.
static gn_status feed(run *r, gn_error *error)
{
    const gn_pipeline *p = r->pipeline;
    gn_error read = {GN_OK};  // what was read before goes on its way first: it may be the cause
    bool end = false;
    for (uint64_t head = 0, tail = 0; !end || tail < head;) {
        slot *oldest = &r->slots[tail % r->slot_count];
        const bool room = !end && head - tail < r->slot_count;
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
        slot *next = &r->slots[head % r->slot_count];
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
    void *item = p->slot_new(p->context);
    if (!item) return gn_fail_memory(error);
    gn_status wrong;
    for (bool end = false;;) {
        wrong = p->read(p->context, item, &end, error);
        if (wrong || end) break;
        wrong = p->work(p->context, item, error);
        if (!wrong) wrong = p->write(p->context, item, error);
        if (wrong) break;
    }
    p->slot_free(item);
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
    const size_t affordable = p->slot_bytes ? GN_PIPELINE_BYTES / p->slot_bytes : SLOTS_MAX;
    if (threads > GN_THREADS_MAX) threads = GN_THREADS_MAX;
    if (threads + 2 > affordable) threads = affordable > 3 ? (unsigned)affordable - 2 : 1;
    if (threads == 1) return run_alone(p, error);

    run r = {.pipeline = p,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .filled = PTHREAD_COND_INITIALIZER,
             .done = PTHREAD_COND_INITIALIZER,
             .slot_count = threads + 2};
    r.slots = calloc(r.slot_count, sizeof *r.slots);
    bool complete = r.slots != NULL;
    for (unsigned i = 0; complete && i < r.slot_count; i++)
        complete = (r.slots[i].item = p->slot_new(p->context)) != NULL;
    gn_status wrong = complete ? run_threads(&r, threads, error) : gn_fail_memory(error);
    for (unsigned i = 0; r.slots && i < r.slot_count; i++)
        if (r.slots[i].item) p->slot_free(r.slots[i].item);
    free(r.slots);
    return wrong;
}

gn_status gn_parse_threads(const char *text, unsigned *threads, gn_error *error)
{
    uint64_t n = 0;
    gn_status wrong = gn_parse_number(text, 0, GN_THREADS_MAX, &n, error);
    if (!wrong) *threads = (unsigned)n;
    return wrong;
}
