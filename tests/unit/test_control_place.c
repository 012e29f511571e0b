// SPDX-License-Identifier: Apache-2.0
// Where a control socket may be: what is replaced and what stays, whose it is, what is said where
// it cannot be had. And what a client says of a daemon that does not answer.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/control.h"
#include "suite.h"

enum { NOBODY = 65534 };

static char folder[] = "/tmp/gradnic-place-XXXXXX", path[64], start[4096];
static const gn_account own = {0};
static gn_account other;
static gn_error error;

static void begin(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert(!chmod(folder, 0755));
    snprintf(path, sizeof path, "%s/s.sock", folder);
    other = (gn_account){.user = NOBODY, .group = NOBODY, .change = !geteuid()};
    ck_assert_ptr_nonnull(getcwd(start, sizeof start));
}

static void end(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void fails(const char *at, const gn_account *account, const char *said)
{
    char whole[200];
    const int before = open(".", O_PATH | O_DIRECTORY);
    struct stat was, is;
    ck_assert(!fstat(before, &was));
    ck_assert_ptr_null(gn_control_open(at, account, &error));
    snprintf(whole, sizeof whole, "%s: %s", at, said);
    ck_assert_str_eq(error.text, whole);
    ck_assert(!stat(".", &is) && is.st_ino == was.st_ino && is.st_dev == was.st_dev);
    close(before);
}

static struct stat found(const char *at)
{
    struct stat file;
    ck_assert_msg(!lstat(at, &file), "%s: %s", at, strerror(errno));
    return file;
}

START_TEST(only_its_owner_may_ask)
{
    const mode_t before = umask(0);
    gn_control *control = gn_control_open(path, &own, &error);
    ck_assert_msg(control != NULL, "%s", error.text);
    ck_assert_uint_eq(found(path).st_mode, S_IFSOCK | 0600);
    ck_assert_uint_eq(umask(before), 0);  // that of the process stays
    gn_control_close(control);
    ck_assert(access(path, F_OK));
    gn_control_close(NULL);
}
END_TEST

START_TEST(at_first_there_are_no_clients)
{
    struct pollfd watched[GN_CONTROL_POLL];
    gn_control *control = gn_control_open(path, &own, &error);
    ck_assert_ptr_nonnull(control);
    ck_assert_int_eq(gn_control_prepare(control, watched), -1);
    ck_assert(watched[0].fd >= 0 && watched[0].events == POLLIN);
    for (unsigned i = 1; i < GN_CONTROL_POLL; i++) ck_assert_int_eq(watched[i].fd, -1);
    gn_control_close(control);
    ck_assert_int_eq(gn_control_prepare(NULL, watched), -1);
    for (unsigned i = 0; i < GN_CONTROL_POLL; i++) ck_assert_int_eq(watched[i].fd, -1);
}
END_TEST

START_TEST(a_socket_that_nobody_answers_is_replaced)
{
    gn_control *first = gn_control_open(path, &own, &error), *second;
    ck_assert_ptr_nonnull(first);
    fails(path, &own,
          "Address already in use (another gradnic answers there, or it is not a socket; -c PATH names "
          "another place)");
    ck_assert(!unlink(path));
    second = gn_control_open(path, &own, &error);
    ck_assert_ptr_nonnull(second);
    gn_control_close(first);  // not its own any more
    ck_assert_uint_eq(found(path).st_mode, S_IFSOCK | 0600);
    gn_control_close(second);

    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    ck_assert(!bind(fd, (struct sockaddr *)&address, sizeof address));
    const ino_t stale = found(path).st_ino;
    second = gn_control_open(path, &own, &error);
    ck_assert_msg(second != NULL, "%s", error.text);
    ck_assert(found(path).st_ino != stale || found(path).st_mode == (S_IFSOCK | 0600));
    close(fd);
    gn_control_close(second);
}
END_TEST

/// Opens it, says whether it has it, and keeps it until `hold` ends.
static pid_t fork_daemon(int told, int hold)
{
    const pid_t child = fork();
    if (child) return child;
    gn_error why;
    char has = gn_control_open(path, &own, &why) != NULL;
    if (write(told, &has, 1) != 1) _exit(9);
    (void)!read(hold, &has, 1);
    _exit(0);
}

// One that has bound its socket, and does not listen yet, looks as if nobody had it.
START_TEST(of_two_at_once_one_has_it)
{
    enum { ROUNDS = 300 };
    for (int round = 0; round < ROUNDS; round++) {
        int told[2], hold[2];
        char has[2];
        ck_assert(!pipe(told) && !pipe(hold));
        const pid_t one = fork_daemon(told[1], hold[0]), two = fork_daemon(told[1], hold[0]);
        for (int i = 0; i < 2; i++) ck_assert_int_eq(read(told[0], &has[i], 1), 1);
        ck_assert_msg(has[0] + has[1] == 1, "%d of two have the socket in round %d", has[0] + has[1], round);
        ck_assert(write(hold[1], "..", 2) == 2 && waitpid(one, NULL, 0) == one && waitpid(two, NULL, 0) == two);
        for (int i = 0; i < 2; i++) close(told[i]), close(hold[i]);
    }
}
END_TEST

START_TEST(any_other_file_stays)
{
    static const char *const in_use =
        "Address already in use (another gradnic answers there, or it is not a socket; -c PATH names another place)";
    char target[80];
    FILE *file = fopen(path, "w");
    fputs("mine", file);
    fclose(file);
    fails(path, &own, in_use);
    ck_assert_int_eq(found(path).st_size, 4);
    snprintf(target, sizeof target, "%s/link", folder);
    ck_assert(!symlink(path, target));
    fails(target, &own, in_use);
    ck_assert(S_ISLNK(found(target).st_mode));
    ck_assert(!unlink(path) && !mkdir(path, 0700));
    fails(path, &own, in_use);
}
END_TEST

START_TEST(folders)
{
    char deep[80], deeper[96];
    snprintf(deep, sizeof deep, "%s/new/s.sock", folder);
    gn_control *control = gn_control_open(deep, &own, &error);
    ck_assert_msg(control != NULL, "%s", error.text);
    gn_control_close(control);
    snprintf(deep, sizeof deep, "%s/new", folder);
    ck_assert_uint_eq(found(deep).st_mode & 07777 & ~022u, 0755);
    snprintf(deeper, sizeof deeper, "%s/no/such/s.sock", folder);
    fails(deeper, &own,
          "No such file or directory (-c PATH names another place; with -c none there is no control socket)");
    // A folder that cannot be made for another reason than one that is missing.
    ck_assert(!gn_control_open("/sys/gradnic-none/s.sock", &own, &error));
    ck_assert_msg(!strstr(error.text, "No such file"), "%s", error.text);
    ck_assert(!chdir(folder));
    control = gn_control_open("here.sock", &own, &error);  // no folder at all
    ck_assert_msg(control != NULL, "%s", error.text);
    ck_assert(!access("here.sock", F_OK));
    gn_control_close(control);
    ck_assert(access("here.sock", F_OK));
    ck_assert(!chdir(start));
}
END_TEST

START_TEST(lengths_of_a_path)
{
    char longest[120];
    const struct sockaddr_un address;
    memset(longest, 'x', sizeof longest);
    longest[sizeof address.sun_path] = 0;
    ck_assert_ptr_null(gn_control_open(longest, &own, &error));
    ck_assert_msg(strstr(error.text, ": the path of a control socket has 1 to 107 bytes") != NULL, "%s", error.text);
    ck_assert_ptr_null(gn_control_open("", &own, &error));
    ck_assert_int_eq(error.status, GN_INVALID);
    ck_assert(!chdir(folder));
    longest[sizeof address.sun_path - 1] = 0;
    gn_control *control = gn_control_open(longest, &own, &error);
    ck_assert_msg(control != NULL, "%s", error.text);
    gn_control_close(control);
    ck_assert(!chdir(start));
}
END_TEST

// The account that root becomes owns the socket. A folder that is made belongs to root.
START_TEST(whose_it_is)
{
    char new[64], deep[80];
    if (geteuid()) return;
    gn_control *control = gn_control_open(path, &other, &error);
    ck_assert_msg(control != NULL, "%s", error.text);
    ck_assert_uint_eq(found(path).st_uid, NOBODY);
    ck_assert_uint_eq(found(path).st_gid, NOBODY);
    ck_assert_uint_eq(found(folder).st_uid, 0);
    gn_control_close(control);

    snprintf(new, sizeof new, "%s/new", folder);
    snprintf(deep, sizeof deep, "%s/s.sock", new);
    const mode_t before = umask(0);
    control = gn_control_open(deep, &other, &error);
    umask(before);
    ck_assert_msg(control != NULL, "%s", error.text);
    ck_assert_uint_eq(found(new).st_uid, 0);
    ck_assert_uint_eq(found(new).st_gid, 0);
    ck_assert_uint_eq(found(new).st_mode, S_IFDIR | 0755);
    ck_assert_uint_eq(found(deep).st_uid, NOBODY);
    ck_assert_uint_eq(found(deep).st_mode, S_IFSOCK | 0600);
    gn_control_close(control);
}
END_TEST

/// A folder with such an owner, group and mode; `said` is why it is refused, or NULL.
static const struct {
    uid_t user;
    gid_t group;
    mode_t mode;
    const char *said;
} kinds[] = {
    {0, 0, 0755, NULL},
    {0, 0, 0775, "Permission denied (the account of --user may not write there; --control names another place)"},
    {0, 1, 0755, NULL},
    {0, 1, 0775, "others can write into its folder, and could put another socket there (chmod go-w, or -c PATH)"},
    {0, NOBODY, 0775, NULL},
    {0, 0, 0757, "others can write into its folder, and could put another socket there (chmod go-w, or -c PATH)"},
    {0, 0, 01777, NULL},
    {NOBODY, NOBODY, 0700, NULL},
    {NOBODY, NOBODY, 0500,
     "Permission denied (the account of --user may not write there; --control names another place)"},
    {1, 1, 0755,
     "its folder belongs to account daemon, who could put another socket there (-c PATH names another place)"}};

START_TEST(folders_of_others)
{
    if (geteuid()) return;
    ck_assert(!chown(folder, kinds[_i].user, kinds[_i].group) && !chmod(folder, kinds[_i].mode));
    if (kinds[_i].said) {
        fails(path, &other, kinds[_i].said);
    } else {
        gn_control *control = gn_control_open(path, &other, &error);
        ck_assert_msg(control != NULL, "%s", error.text);
        ck_assert_uint_eq(found(path).st_uid, NOBODY);
        ck_assert_uint_eq(found(path).st_gid, NOBODY);
        gn_control_close(control);
        ck_assert(access(path, F_OK));
    }
    ck_assert_uint_eq(geteuid(), 0);  // all rights are back
    ck_assert_uint_eq(getegid(), 0);
}
END_TEST

static gn_control *serving;

static char *double_it(void *context, const char *text, size_t length)
{
    const size_t times = *(const size_t *)context;
    char *answer = malloc(length * times + 1);
    for (size_t i = 0; i < times; i++) memcpy(answer + i * length, text, length);
    answer[length * times] = 0;
    return answer;
}

static void *serve(void *context)
{
    struct pollfd watched[GN_CONTROL_POLL];
    for (;;) {
        const int wait_ms = gn_control_prepare(serving, watched);
        if (poll(watched, GN_CONTROL_POLL, wait_ms < 0 || wait_ms > 20 ? 20 : wait_ms) < 0) break;
        pthread_testcancel();
        gn_control_serve(serving, watched, double_it, context);
    }
    return NULL;
}

START_TEST(answers_of_all_lengths)
{
    static const size_t lengths[] = {1, 2047, 2048, 4095, 4096, 4097, 8191, 8192, 65535, 65536};
    static char request[GN_CONTROL_REQUEST_MAX + 3];
    size_t times = 1;
    pthread_t thread;
    serving = gn_control_open(path, &own, &error);
    ck_assert_ptr_nonnull(serving);
    ck_assert(!pthread_create(&thread, NULL, serve, &times));
    for (times = 1; times <= 20; times += 19)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            memset(request, 'a', lengths[i]);
            request[lengths[i] - 1] = 'z';
            request[lengths[i]] = 0;
            char *answer = gn_control_ask(path, "test", request, &error);
            ck_assert_msg(answer != NULL, "%s", error.text);
            ck_assert_uint_eq(strlen(answer), times * lengths[i]);
            ck_assert(!strncmp(answer, request, lengths[i]) && answer[strlen(answer) - 1] == 'z');
            free(answer);
        }
    memset(request, 'a', sizeof request - 1);
    request[sizeof request - 2] = 0;
    char *answer = gn_control_ask(path, "test", request, &error);
    ck_assert_ptr_nonnull(answer);
    ck_assert_ptr_nonnull(strstr(answer, "\"error\": \"the request is longer than 65536 bytes\""));
    free(answer);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    gn_control_close(serving);
}
END_TEST

/// The first has been given up. The second one asks in vain.
static void *hang_up_on_two(void *listener)
{
    char request[8];
    for (int i = 0; i < 2; i++) {
        const int fd = accept((int)(intptr_t)listener, NULL, NULL);
        while (recv(fd, request, sizeof request, 0) > 0) continue;
        close(fd);
    }
    return NULL;
}

START_TEST(daemons_that_do_not_answer)
{
    char wanted[200];
    ck_assert_ptr_null(gn_control_ask(path, "NIC", "{}", &error));
    snprintf(wanted, sizeof wanted, "%s: No such file or directory (is the NIC running? --control names its socket)",
             path);
    ck_assert_str_eq(error.text, wanted);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    ck_assert(!bind(fd, (struct sockaddr *)&address, sizeof address));
    ck_assert_ptr_null(gn_control_ask(path, "NIC", "{}", &error));
    snprintf(wanted, sizeof wanted, "%s: Connection refused (is the NIC running? --control names its socket)", path);
    ck_assert_str_eq(error.text, wanted);
    ck_assert(!listen(fd, 1));  // it takes connections, and stands still
    ck_assert_ptr_null(gn_control_ask(path, "NIC", "{}", &error));
    snprintf(wanted, sizeof wanted, "%s: no answer within 5000 ms", path);
    ck_assert_str_eq(error.text, wanted);
    ck_assert_int_eq(error.status, GN_TIMEOUT);
    pthread_t thread;
    ck_assert(!pthread_create(&thread, NULL, hang_up_on_two, (void *)(intptr_t)fd));
    ck_assert_ptr_null(gn_control_ask(path, "NIC", "{}", &error));  // it hangs up without a word
    ck_assert_str_eq(error.text, wanted);
    pthread_join(thread, NULL);
    close(fd);
    ck_assert_ptr_null(gn_control_ask(folder, "NIC", "{}", &error));
    snprintf(wanted, sizeof wanted, "%s: Connection refused (is the NIC running? --control names its socket)", folder);
    ck_assert_str_eq(error.text, wanted);
    ck_assert_ptr_null(gn_control_ask("", "NIC", "{}", &error));
    ck_assert_int_eq(error.status, GN_INVALID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("control_place");
    TCase *all = tcase_create("control_place");
    tcase_add_checked_fixture(all, begin, end);
    tcase_add_test(all, only_its_owner_may_ask);
    tcase_add_test(all, at_first_there_are_no_clients);
    tcase_add_test(all, a_socket_that_nobody_answers_is_replaced);
    tcase_add_test(all, of_two_at_once_one_has_it);
    tcase_add_test(all, any_other_file_stays);
    tcase_add_test(all, folders);
    tcase_add_test(all, lengths_of_a_path);
    tcase_add_test(all, whose_it_is);
    tcase_add_loop_test(all, folders_of_others, 0, sizeof kinds / sizeof *kinds);
    tcase_add_test(all, answers_of_all_lengths);
    tcase_add_test(all, daemons_that_do_not_answer);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
