// SPDX-License-Identifier: Apache-2.0
#include "pipeline.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLOTS_MAX = GN_THREADS_MAX + 2 };

typedef enum slot_state { EMPTY, FILLED, TAKEN, DONE } slot_state;

typedef struct slot {
    void *item;
    slot_state state;
    char wrong[1024];  // a message is its thread's; this copy is everybody's. "": none
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
    gn_message wrong = r->pipeline->work(r->pipeline->context, s->item);
    snprintf(s->wrong, sizeof s->wrong, "%s", wrong ? wrong : "");
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
static gn_message feed(run *r)
{
    const gn_pipeline *p = r->pipeline;
    char read_wrong[1024] = "";  // what was read before goes on its way first: it may be the cause
    bool end = false;
    for (uint64_t head = 0, tail = 0; !end || tail < head;) {
        slot *oldest = &r->slots[tail % r->slot_count];
        const bool room = !end && head - tail < r->slot_count;
        if (tail < head && is_done(r, oldest, !room)) {
            if (oldest->wrong[0]) return gn_message_format("%s", oldest->wrong);
            gn_message wrong = p->write(p->context, oldest->item);
            if (wrong) return wrong;
            set_state(r, oldest, EMPTY);
            tail++;
            continue;
        }
        if (!room) continue;
        slot *next = &r->slots[head % r->slot_count];
        gn_message wrong = p->read(p->context, next->item, &end);
        if (wrong) {
            snprintf(read_wrong, sizeof read_wrong, "%s", wrong);
            end = true;
        }
        if (end) continue;
        set_state(r, next, FILLED);
        head++;
    }
    return *read_wrong ? gn_message_format("%s", read_wrong) : NULL;
}

static gn_message run_alone(const gn_pipeline *p)
{
    void *item = p->slot_new(p->context);
    if (!item) return "out of memory";
    gn_message wrong;
    for (bool end = false;;) {
        wrong = p->read(p->context, item, &end);
        if (wrong || end) break;
        wrong = p->work(p->context, item);
        if (!wrong) wrong = p->write(p->context, item);
        if (wrong) break;
    }
    p->slot_free(item);
    return wrong;
}

static gn_message run_threads(run *r, unsigned threads)
{
    pthread_t thread[GN_THREADS_MAX];
    unsigned started = 0;
    while (started < threads && !pthread_create(&thread[started], NULL, worker, r)) started++;
    gn_message wrong = started ? feed(r) : "no thread could be started";
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_broadcast(&r->filled);
    pthread_mutex_unlock(&r->lock);
    for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
    return wrong;
}

gn_message gn_pipeline_run(const gn_pipeline *p)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = p->threads ? p->threads : processors > 0 ? (unsigned)processors : 1;
    const size_t affordable = p->slot_bytes ? GN_PIPELINE_BYTES / p->slot_bytes : SLOTS_MAX;
    if (threads > GN_THREADS_MAX) threads = GN_THREADS_MAX;
    if (threads + 2 > affordable) threads = affordable > 3 ? (unsigned)affordable - 2 : 1;
    if (threads == 1) return run_alone(p);

    run r = {.pipeline = p,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .filled = PTHREAD_COND_INITIALIZER,
             .done = PTHREAD_COND_INITIALIZER,
             .slot_count = threads + 2};
    r.slots = calloc(r.slot_count, sizeof *r.slots);
    bool complete = r.slots != NULL;
    for (unsigned i = 0; complete && i < r.slot_count; i++)
        complete = (r.slots[i].item = p->slot_new(p->context)) != NULL;
    gn_message wrong = complete ? run_threads(&r, threads) : "out of memory";
    for (unsigned i = 0; r.slots && i < r.slot_count; i++)
        if (r.slots[i].item) p->slot_free(r.slots[i].item);
    free(r.slots);
    return wrong;
}

gn_message gn_parse_threads(const char *text, unsigned *threads)
{
    uint64_t n = 0;
    gn_message wrong = gn_parse_number(text, 0, GN_THREADS_MAX, &n);
    if (!wrong) *threads = (unsigned)n;
    return wrong;
}
