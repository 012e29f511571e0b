// SPDX-License-Identifier: Apache-2.0
#include "ring/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/error.h"

enum { MOST = 4 };

/// A text that waits.
typedef struct line {
    const gn_comm_config *config;  ///< only compared: the communicator may be gone when it is said
    void (*log)(void *context, gn_log_level level, const char *text);
    void *context;
    pid_t process;
    struct line *next;
    gn_log_level level;
    char text[GN_ERROR_TEXT];
} line;

static _Thread_local unsigned held;     ///< locks
static _Thread_local unsigned waiting;  ///< lines
static _Thread_local unsigned missed;   ///< for which there was no room
static _Thread_local line lines[MOST];

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t said = PTHREAD_COND_INITIALIZER;
static line *list;  ///< list_lock: the lines of all threads

static void keep(const gn_comm_config *config, gn_log_level level, const char *format, va_list arguments)
{
    if (waiting == MOST) {
        missed++;
        return;
    }
    line *l = &lines[waiting++];
    l->config = config;
    l->log = config->log;
    l->context = config->log_context;
    l->process = getpid();
    l->level = level;
    vsnprintf(l->text, sizeof l->text, format, arguments);
    pthread_mutex_lock(&list_lock);
    l->next = list;
    list = l;
    pthread_mutex_unlock(&list_lock);
}

static void forget(const line *l)
{
    pthread_mutex_lock(&list_lock);
    line **link = &list;
    while (*link != l) link = &(*link)->next;
    *link = l->next;
    pthread_cond_broadcast(&said);
    pthread_mutex_unlock(&list_lock);
}

/// What `log` itself brings about waits behind what was there.
static void say(void)
{
    held++;
    for (unsigned i = 0; i < waiting; i++) {
        line *l = &lines[i];
        l->log(l->context, l->level, l->text);
        if (missed && i + 1 == MOST) {
            char more[64];
            snprintf(more, sizeof more, "and %u more texts, for which there was no room", missed);
            l->log(l->context, GN_LOG_WARNING, more);
        }
        forget(l);
    }
    waiting = missed = 0;
    held--;
}

void gn_log_text(const gn_comm_config *config, gn_log_level level, const char *format, ...)
{
    if (!config->log) return;
    va_list arguments;
    va_start(arguments, format);
    if (held) {
        keep(config, level, format, arguments);
    } else {
        char text[GN_ERROR_TEXT];
        vsnprintf(text, sizeof text, format, arguments);
        config->log(config->log_context, level, text);
    }
    va_end(arguments);
}

void gn_log_drain(const gn_comm_config *config)
{
    const pid_t process = getpid();
    pthread_mutex_lock(&list_lock);
    for (const line *l = list; l;) {
        const bool its = l->config == config && l->process == process;
        if (its) pthread_cond_wait(&said, &list_lock);
        l = its ? list : l->next;
    }
    pthread_mutex_unlock(&list_lock);
}

void gn_log_hold(void)
{
    pthread_mutex_lock(&list_lock);
}

void gn_log_release(void)
{
    pthread_mutex_unlock(&list_lock);
}

/// The lines of other threads lie in memory that the child's next thread gets, and nobody says
/// them. Whoever waited for `said` is not here, either.
void gn_log_forked(void)
{
    for (line **link = &list; *link;) {
        const bool own = *link >= lines && *link < lines + MOST;
        if (own)
            link = &(*link)->next;
        else
            *link = (*link)->next;
    }
    said = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    gn_log_release();
}

void gn_lock(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    held++;
}

bool gn_try_lock(pthread_mutex_t *lock)
{
    if (pthread_mutex_trylock(lock)) return false;
    held++;
    return true;
}

void gn_unlock(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    if (!--held && waiting) say();
}
