// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_RING_LOG_H
#define GRADNIC_RING_LOG_H
/// What the caller's `log` is told, and the locks under which he is not told.
///
/// A `log` may ask the library for something. So it is never called while this thread holds one of
/// the library's locks: it would wait for ever. Texts wait until the thread has let go of all.

#include <pthread.h>
#include <stdbool.h>

#include <gradnic/comm.h>

/// Gives `log` a line, unless it is NULL: now, or in the last gn_unlock() of this thread.
void gn_log_text(const gn_comm_config *config, gn_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Waits until no thread has texts for this configuration. Its `log_context` may go then.
void gn_log_drain(const gn_comm_config *config);

/// No text is added or said in between: for the moment in which a process is forked off.
void gn_log_hold(void);
void gn_log_release(void);
void gn_log_forked(void);  ///< the same, in the new process

void gn_lock(pthread_mutex_t *lock);
/// @return false when another thread has it
bool gn_try_lock(pthread_mutex_t *lock);
void gn_unlock(pthread_mutex_t *lock);

#endif
