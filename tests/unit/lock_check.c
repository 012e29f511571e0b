// SPDX-License-Identifier: Apache-2.0
// Every unit test is linked with this (--wrap): a mutex that is given back, or waited with, by who
// does not hold it ends the program, and so does one that is taken twice. glibc lets the first pass
// without a word, and the second stands still for ever.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __real_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until);

#ifdef __GLIBC__
static _Thread_local pid_t last;  ///< its number when it took a lock

/// As glibc notes it. After a fork the child's thread has another number than the parent's, which
/// has taken some locks for it.
static bool is_own(const pthread_mutex_t *mutex)
{
    static _Thread_local pid_t first;
    const pid_t owner = mutex->__data.__owner;
    if (!first) first = gettid();
    return owner && (owner == first || owner == last || owner == gettid());
}

static void note(void)
{
    last = gettid();
}

static bool is_plain(const pthread_mutex_t *mutex)
{
    return (mutex->__data.__kind & 127) == PTHREAD_MUTEX_NORMAL;
}
#else
static bool is_own(const pthread_mutex_t *mutex)
{
    return mutex != NULL;
}

static bool is_plain(const pthread_mutex_t *mutex)
{
    return !mutex;
}

static void note(void) {}
#endif

static void want(bool right, const char *what)
{
    if (right) return;
    fprintf(stderr, "lock_check: %s\n", what);
    abort();
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    want(!is_plain(mutex) || !is_own(mutex), "a mutex is taken twice by one thread");
    const int status = __real_pthread_mutex_lock(mutex);
    note();
    return status;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    want(!is_plain(mutex) || is_own(mutex), "a mutex is given back that this thread does not hold");
    return __real_pthread_mutex_unlock(mutex);
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    want(!is_plain(mutex) || is_own(mutex), "a wait with a mutex that this thread does not hold");
    return __real_pthread_cond_wait(condition, mutex);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    want(!is_plain(mutex) || is_own(mutex), "a wait with a mutex that this thread does not hold");
    return __real_pthread_cond_timedwait(condition, mutex, until);
}
