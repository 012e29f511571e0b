// SPDX-License-Identifier: Apache-2.0
// The file of "file:///path": whatever else lies at the path stays as it is.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring/bootstrap/meeting_file.h"
#include "suite.h"

static char folder[] = "/tmp/gradnic-test-XXXXXX";
static gn_meeting_file file;
static gn_error error;
static const gn_endpoint here = {.ip = {.version = 4, .bytes = {127, 0, 0, 1}}, .port = 4711};

static void begin(void)
{
    strcpy(folder, "/tmp/gradnic-test-XXXXXX");
    ck_assert(mkdtemp(folder));
    file = (gn_meeting_file){.fd = -1};
    snprintf(file.path, sizeof file.path, "%s/meet", folder);
}

static void end(void)
{
    gn_meeting_file_remove(&file);
    unlink(file.path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    ck_assert(out && fputs(text, out) >= 0 && !fclose(out));
}

static void has(const char *path, const char *text)
{
    char found[512] = "";
    FILE *in = fopen(path, "r");
    ck_assert_msg(in != NULL, "%s is gone", path);
    found[fread(found, 1, sizeof found - 1, in)] = 0;
    fclose(in);
    ck_assert_str_eq(found, text);
}

static bool finds(uint16_t port)
{
    gn_endpoint address = {0};
    gn_status status;
    const bool found = gn_meeting_file_find(&file, &address, &status, &error);
    ck_assert_int_eq(status, GN_OK);
    return found && address.port == port;
}

START_TEST(made_found_and_removed)
{
    struct stat made;
    ck_assert(!finds(4711));
    ck_assert_int_eq(gn_meeting_file_write(&file, &here, &error), GN_OK);
    has(file.path, "gradnic-rendezvous 1 127.0.0.1 4711\n");
    ck_assert(!stat(file.path, &made) && (made.st_mode & 0777) == 0600);
    ck_assert(finds(4711));
    gn_meeting_file_remove(&file);
    ck_assert(access(file.path, F_OK));
    gn_meeting_file_remove(&file);  // again: nothing
}
END_TEST

static const char *const others[] = {
    "weights of a month\n",
    "\n",
    "gradnic-rendezvous 1 127.0.0.1 99999\n",
    "gradnic-rendezvous 2 127.0.0.1 4711\n",
    "gradnic-rendezvous 1 127.0.0.1 4711\nand more\n",
    "gradnic-rendezvous 1 127.0.0.1 4711",
};

START_TEST(other_files_stay)
{
    char wanted[600];
    snprintf(wanted, sizeof wanted,
             "%s: is not a rendezvous file of gradnic's, and stays as it is; choose another path", file.path);
    put(file.path, others[_i]);
    ck_assert_fails(gn_meeting_file_write(&file, &here, &error), wanted);
    ck_assert_int_eq(error.status, GN_INVALID);
    has(file.path, others[_i]);
    ck_assert(!finds(4711));
    gn_meeting_file_remove(&file);
    has(file.path, others[_i]);
}
END_TEST

START_TEST(no_link_is_followed)
{
    char target[128], wanted[600];
    gn_endpoint address;
    gn_status status;
    const char *text = _i ? "gradnic-rendezvous 1 127.0.0.1 4711\n" : "weights of a month\n";
    snprintf(target, sizeof target, "%s/target", folder);
    snprintf(wanted, sizeof wanted, "%s: is a symbolic link, and a rendezvous does not follow one", file.path);
    put(target, text);
    ck_assert(!symlink(target, file.path));
    ck_assert_fails(gn_meeting_file_write(&file, &here, &error), wanted);
    ck_assert(!gn_meeting_file_find(&file, &address, &status, &error));
    ck_assert_int_eq(status, GN_INVALID);
    ck_assert_str_eq(error.text, wanted);
    has(target, text);
    unlink(target);
    // Nor one that leads nowhere.
    ck_assert_fails(gn_meeting_file_write(&file, &here, &error), wanted);
    ck_assert(access(target, F_OK));
}
END_TEST

START_TEST(what_is_no_file_stays)
{
    struct stat there;
    ck_assert(!(_i ? mkfifo(file.path, 0600) : mkdir(file.path, 0700)));
    ck_assert_int_ne(gn_meeting_file_write(&file, &here, &error), GN_OK);
    ck_assert(!finds(4711));
    gn_meeting_file_remove(&file);
    ck_assert(!lstat(file.path, &there) && (_i ? S_ISFIFO(there.st_mode) : S_ISDIR(there.st_mode)));
    rmdir(file.path);
}
END_TEST

/// Where everybody may put files, one of somebody else is no rank 0's. Its lock is not waited for.
START_TEST(strangers_are_refused)
{
    gn_endpoint address;
    gn_status status;
    if (geteuid()) {
        printf("strangers_are_refused: SKIPPED, it takes root to give a file away\n");
        return;
    }
    put(file.path, "gradnic-rendezvous 1 127.0.0.1 4712\n");
    ck_assert(!chown(file.path, 65534, 65534));
    const int fd = open(file.path, O_RDONLY);
    ck_assert(!flock(fd, LOCK_EX | LOCK_NB));
    ck_assert(finds(4712));
    ck_assert(!chmod(folder, 01777));
    ck_assert(!gn_meeting_file_find(&file, &address, &status, &error));
    ck_assert_int_eq(status, GN_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "belongs to another account (65534)"));
    ck_assert_int_eq(gn_meeting_file_write(&file, &here, &error), GN_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "belongs to another account (65534)"));
    has(file.path, "gradnic-rendezvous 1 127.0.0.1 4712\n");
    // Where root's files belong to another account (NFS), those of that account are root's own.
    setfsuid(65534);
    ck_assert(finds(4712));
    setfsuid(0);
    close(fd);
    ck_assert(!chown(file.path, 0, 0));
    ck_assert_int_eq(gn_meeting_file_write(&file, &here, &error), GN_OK);
    ck_assert(finds(4711));
}
END_TEST

START_TEST(stale_address_is_replaced)
{
    put(file.path, "gradnic-rendezvous 1 192.0.2.1 12345\n");
    ck_assert(!finds(12345));  // nobody holds its lock
    ck_assert_int_eq(gn_meeting_file_write(&file, &here, &error), GN_OK);
    has(file.path, "gradnic-rendezvous 1 127.0.0.1 4711\n");
    ck_assert(finds(4711));
    gn_meeting_file_remove(&file);
    ck_assert(access(file.path, F_OK));
}
END_TEST

// As mktemp makes it: it is the user's, and stays.
START_TEST(empty_file_is_used_and_stays)
{
    put(file.path, "");
    ck_assert_int_eq(gn_meeting_file_write(&file, &here, &error), GN_OK);
    ck_assert(finds(4711));
    gn_meeting_file_remove(&file);
    has(file.path, "");
    ck_assert(!finds(4711));
}
END_TEST

// Somebody has put another file there in the meantime.
START_TEST(only_the_own_file_is_removed)
{
    ck_assert_int_eq(gn_meeting_file_write(&file, &here, &error), GN_OK);
    ck_assert(!unlink(file.path));
    put(file.path, "weights of a month\n");
    gn_meeting_file_remove(&file);
    has(file.path, "weights of a month\n");
}
END_TEST

START_TEST(one_rank_0_at_a_time)
{
    gn_meeting_file second = file;
    char wanted[600];
    snprintf(wanted, sizeof wanted, "%s: another rank 0 holds this rendezvous file; use another path for each job",
             file.path);
    ck_assert_int_eq(gn_meeting_file_write(&file, &here, &error), GN_OK);
    ck_assert_fails(gn_meeting_file_write(&second, &here, &error), wanted);
    ck_assert_int_eq(error.status, GN_MISMATCH);
    ck_assert(finds(4711));
}
END_TEST

/// Jobs whose rank 0 was killed leave a file. The next job on the host removes it.
START_TEST(files_of_killed_jobs_go)
{
    enum { STALE, EMPTY, HELD, FOREIGN, OTHER, LINK, FILES };
    static const char *const names[FILES] = {[STALE] = "gradnic-rendezvous-0123456789abcdef",
                                             [EMPTY] = "gradnic-rendezvous-00000000000000ff",
                                             [HELD] = "gradnic-rendezvous-1111111111111111",
                                             [FOREIGN] = "gradnic-rendezvous-2222222222222222",
                                             [OTHER] = "gradnic-rendezvous-3",
                                             [LINK] = "gradnic-rendezvous-4444444444444444"};
    static const char line[] = "gradnic-rendezvous 1 127.0.0.1 4711\n";
    char path[FILES][600];
    for (int i = 0; i < FILES; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", folder, names[i]);
        if (i != LINK) put(path[i], i == EMPTY ? "" : i == FOREIGN ? "my notes" : line);
    }
    ck_assert(!symlink(names[OTHER], path[LINK]));
    gn_meeting_file held = {.fd = -1};
    snprintf(held.path, sizeof held.path, "%.500s", path[HELD]);
    ck_assert(!gn_meeting_file_write(&held, &here, &error));
    snprintf(file.path, sizeof file.path, "%s/gradnic-rendezvous-5555555555555555", folder);
    ck_assert(!gn_meeting_file_write(&file, &here, &error));
    gn_meeting_file_sweep(&file);
    for (int i = 0; i < FILES; i++) ck_assert_msg(!access(path[i], F_OK) == (i != STALE && i != EMPTY), "%s", names[i]);
    ck_assert(!access(file.path, F_OK));
    has(path[FOREIGN], "my notes");
    gn_meeting_file_remove(&held);
    for (int i = 0; i < FILES; i++) (void)unlink(path[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("meeting_file");
    TCase *all = tcase_create("meeting_file");
    tcase_add_checked_fixture(all, begin, end);
    tcase_add_test(all, made_found_and_removed);
    tcase_add_loop_test(all, other_files_stay, 0, sizeof others / sizeof *others);
    tcase_add_loop_test(all, no_link_is_followed, 0, 2);
    tcase_add_loop_test(all, what_is_no_file_stays, 0, 2);
    tcase_add_test(all, strangers_are_refused);
    tcase_add_test(all, stale_address_is_replaced);
    tcase_add_test(all, empty_file_is_used_and_stays);
    tcase_add_test(all, only_the_own_file_is_removed);
    tcase_add_test(all, one_rank_0_at_a_time);
    tcase_add_test(all, files_of_killed_jobs_go);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
