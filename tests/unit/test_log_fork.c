// SPDX-License-Identifier: Apache-2.0
// A process is forked while another thread is within `log`. Texts of the child's threads do not
// mix with what that thread had to say.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring/log.h"
#include "suite.h"

static atomic_bool within, go_on;
static atomic_int heard;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void slow_log(void *context, gn_log_level level, const char *text)
{
    (void)context, (void)level, (void)text;
    heard++;
    within = true;
    while (!go_on) usleep(1000);
}

static gn_comm_config config;

static void *speak(void *unused)
{
    gn_lock(&mutex);
    gn_log_text(&config, GN_LOG_ERROR, "one");
    gn_log_text(&config, GN_LOG_ERROR, "two");
    gn_unlock(&mutex);
    return unused;
}

/// Also gets the memory of the thread that the parent has.
static void speak_in_child(void)
{
    pthread_t thread;
    alarm(20);
    go_on = true;
    heard = 0;
    for (int i = 0; i < 3; i++) {
        if (pthread_create(&thread, NULL, speak, NULL)) _exit(8);
        gn_log_drain(&config);
        pthread_join(thread, NULL);
        gn_log_drain(&config);
    }
    _exit(heard == 6 ? 0 : 9);
}

START_TEST(test_fork_within_a_text)
{
    pthread_t thread;
    int status;
    config.log = slow_log;
    ck_assert(!pthread_create(&thread, NULL, speak, NULL));
    while (!within) usleep(1000);
    gn_log_hold();
    const pid_t child = fork();
    if (!child) {
        gn_log_forked();
        speak_in_child();
    }
    gn_log_release();
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    go_on = true;
    gn_log_drain(&config);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(heard, 2);
}
END_TEST

/// Who forks within `log` goes on with its own texts, in both processes.
static void forking_log(void *context, gn_log_level level, const char *text)
{
    (void)context, (void)level, (void)text;
    int status = 0;
    if (heard++) return;
    gn_log_hold();
    const pid_t child = fork();
    if (!child) {
        gn_log_forked();
        go_on = true;  // as a mark of the child
        return;
    }
    gn_log_release();
    ck_assert(waitpid(child, &status, 0) == child && !status);
}

START_TEST(test_fork_by_a_text)
{
    config.log = forking_log;
    speak(NULL);
    if (go_on) {
        alarm(20);
        gn_log_drain(&config);
        _exit(heard == 2 ? 0 : 9);
    }
    ck_assert_int_eq(heard, 2);
}
END_TEST

int main(void)
{
    return RUN_TESTS("log and fork", test_fork_within_a_text, test_fork_by_a_text);
}
