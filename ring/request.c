// SPDX-License-Identifier: Apache-2.0
#include "ring/request.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ring/collective.h"
#include "ring/collectives/call.h"
#include "ring/failure.h"
#include "ring/oob.h"
#include "ring/peers/peers.h"

/// The queue owns it until it is done, and the caller from start to gn_wait().
struct gn_request {
    gn_comm *comm;
    gn_call call;
    size_t *counts;  ///< a copy of those of the call, or NULL
    bool is_letter;  ///< a message, and no collective
    gn_letter letter;
    gn_request *next;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;         ///< lock
    gn_status status;  ///< lock
};

struct gn_queue {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    gn_request *first, *last;  ///< lock
    bool stop;                 ///< lock
};

static void complete(gn_request *request, gn_status status)
{
    pthread_mutex_lock(&request->lock);
    request->done = true;
    request->status = status;
    pthread_cond_signal(&request->changed);
    pthread_mutex_unlock(&request->lock);
}

/// The next collective; NULL: messages are under way, or it is all over.
static gn_request *take(gn_comm *comm, bool *over)
{
    struct gn_queue *queue = comm->queue;
    pthread_mutex_lock(&queue->lock);
    bool busy;
    while (!(busy = gn_peers_busy(comm)) && !queue->first && !queue->stop)
        pthread_cond_wait(&queue->changed, &queue->lock);
    gn_request *request = queue->first;
    if (request) queue->first = request->next;
    if (!queue->first) queue->last = NULL;
    *over = !request && !busy;
    pthread_mutex_unlock(&queue->lock);
    return request;
}

/// Messages go on while a collective waits, too.
static void *progress(void *argument)
{
    gn_comm *comm = argument;
    for (bool over = false; !over;) {
        gn_request *request = take(comm, &over);
        if (request)
            complete(request, gn_collective_run(comm, &request->call));
        else if (!over)
            (void)gn_peers_step(comm);
    }
    return NULL;
}

gn_status gn_comm_occupy(gn_comm *comm, const char *call)
{
    if (!atomic_exchange(&comm->occupied, true)) return GN_OK;
    return gn_oob_refuse(comm, call, "another thread, or the caller of a handler, is in a call of this communicator");
}

void gn_comm_vacate(gn_comm *comm)
{
    atomic_store(&comm->occupied, false);
}

static gn_status start_queue(gn_comm *comm)
{
    struct gn_queue *queue = calloc(1, sizeof *queue);
    if (!queue) return GN_NO_MEMORY;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    comm->queue = queue;
    sigset_t all, before;  // the application's signals are not for a library's thread
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&queue->thread, NULL, progress, comm);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed) return GN_OK;
    comm->queue = NULL;
    free(queue);
    return GN_NO_MEMORY;
}

/// Without a queue, a thread may be at work itself.
static gn_status need_queue(gn_comm *comm)
{
    if (comm->queue) return GN_OK;
    const gn_status status = gn_comm_occupy(comm, "start");
    if (status) return status;
    const gn_status started = comm->queue ? GN_OK : start_queue(comm);
    gn_comm_vacate(comm);
    return started;
}

static gn_request *new_request(gn_comm *comm, const gn_call *call)
{
    gn_request *request = calloc(1, sizeof *request);
    if (!request) return NULL;
    request->comm = comm;
    request->call = *call;
    if (!call->counts) return request;
    const size_t bytes = (size_t)comm->size * sizeof *call->counts;
    request->call.counts = request->counts = malloc(bytes);
    if (request->counts) {
        memcpy(request->counts, call->counts, bytes);
        return request;
    }
    free(request);
    return NULL;
}

static gn_status enqueue(gn_comm *comm, const gn_call *call, gn_request **started)
{
    gn_request *request = new_request(comm, call);
    if (!request) return GN_NO_MEMORY;
    gn_status status = need_queue(comm);
    if (status) {
        free(request->counts);
        free(request);
        return status;
    }
    pthread_mutex_init(&request->lock, NULL);
    pthread_cond_init(&request->changed, NULL);
    struct gn_queue *queue = comm->queue;
    pthread_mutex_lock(&queue->lock);
    if (queue->last)
        queue->last->next = request;
    else
        queue->first = request;
    queue->last = request;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    gn_peers_ring(comm);  // it may be waiting for messages
    *started = request;
    return GN_OK;
}

static void free_request(gn_request *request)
{
    pthread_mutex_destroy(&request->lock);
    pthread_cond_destroy(&request->changed);
    free(request->counts);
    free(request);
}

/// There is a new message.
static void wake(gn_comm *comm)
{
    struct gn_queue *queue = comm->queue;
    pthread_mutex_lock(&queue->lock);
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    gn_peers_ring(comm);
}

gn_status gn_request_post(gn_comm *comm, const gn_letter *letter, gn_request **started)
{
    gn_request *request = new_request(comm, &(gn_call){0});
    *started = NULL;
    if (!request) return GN_NO_MEMORY;
    pthread_mutex_init(&request->lock, NULL);
    pthread_cond_init(&request->changed, NULL);
    request->is_letter = true;
    request->letter = *letter;
    request->letter.request = request;
    request->letter.tell = complete;
    gn_status status = need_queue(comm);
    if (!status) status = gn_letter_post(comm, &request->letter);
    if (status) {
        free_request(request);
        return status;
    }
    *started = request;
    wake(comm);
    return GN_OK;
}

gn_status gn_iallreduce(gn_comm *comm, const gn_bucket *bucket, gn_request **request)
{
    gn_call call = {.collective = GN_ALLREDUCE};
    if (bucket) call = gn_call_of_bucket(bucket);
    return gn_comm_start(comm, bucket ? &call : NULL, request);
}

gn_status gn_comm_start(gn_comm *comm, const gn_call *call, gn_request **request)
{
    if (!request) return GN_INVALID;
    *request = NULL;
    gn_status status = gn_collective_check(comm, call);
    return status ? status : enqueue(comm, call, request);
}

/// Waits for a change, and looks in between whether the caller is interrupted.
static void await_change_locked(gn_request *request)
{
    if (!request->comm->config.interrupted) {
        pthread_cond_wait(&request->changed, &request->lock);
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += GN_ASK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_cond_clockwait(&request->changed, &request->lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT) return;
    pthread_mutex_unlock(&request->lock);
    gn_oob_ask(request->comm);
    pthread_mutex_lock(&request->lock);
}

gn_status gn_wait_done(gn_request *request, bool *done)
{
    if (!request || !done) return GN_INVALID;
    if (request->is_letter) gn_peers_expect(request->comm, request);
    pthread_mutex_lock(&request->lock);
    // Every collective has a deadline, and every message that is waited for. So this ends.
    while (!request->done) await_change_locked(request);
    gn_status status = request->status;
    pthread_mutex_unlock(&request->lock);
    *done = true;
    free_request(request);
    return status;
}

gn_status gn_wait(gn_request *request)
{
    bool done;
    return gn_wait_done(request, &done);
}

gn_status gn_test(gn_request *request, bool *done)
{
    if (done) *done = !request;  // a caller that asks until it is done must not ask for ever
    if (!request || !done) return GN_INVALID;
    pthread_mutex_lock(&request->lock);
    *done = request->done;
    gn_status status = request->status;
    pthread_mutex_unlock(&request->lock);
    if (*done) free_request(request);
    return status;
}

gn_status gn_run_call(gn_comm *comm, const gn_call *call)
{
    gn_request *request;
    gn_status status = gn_collective_check(comm, call);
    if (!status) status = gn_comm_occupy(comm, gn_collective_name(call->collective));
    if (status) return status;
    if (!comm->queue)
        status = gn_collective_run(comm, call);
    else if (!(status = enqueue(comm, call, &request)))
        status = gn_wait(request);
    gn_comm_vacate(comm);
    return status;
}

void gn_queue_free(gn_comm *comm)
{
    struct gn_queue *queue = comm->queue;
    if (!queue) return;
    pthread_mutex_lock(&queue->lock);
    queue->stop = true;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    gn_peers_expect(comm, NULL);
    gn_peers_ring(comm);
    pthread_join(queue->thread, NULL);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->changed);
    free(queue);
    comm->queue = NULL;
}
