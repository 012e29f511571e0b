// SPDX-License-Identifier: Apache-2.0
#include "meeting_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "net/temporary_folder.h"

enum { RANDOM = 6, NAME_SIZE = 96 };  // letters behind the name; the name's size

/// What the folders of this host are called. Not every network file system tells other hosts of
/// locks. Older versions have another name, and no lock: theirs stay.
static void name_here(char name[NAME_SIZE])
{
    struct utsname host;
    snprintf(name, NAME_SIZE, "gradnic-ranks-%.64s-", uname(&host) ? "" : host.nodename);
}

static gn_status refuse(const char *path, gn_error *error)
{
    return gn_fail(error, GN_IO, "%s: %s (TMPDIR names another folder)", path, strerror(errno));
}

/// Whether `fd` is what is called `name` in `folder`.
static bool is_there(int folder, const char *name, int fd)
{
    struct stat there, opened;
    return !fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) && !fstat(fd, &opened) &&
           there.st_ino == opened.st_ino && there.st_dev == opened.st_dev;
}

/// Removes a folder that nobody locks, if it is this user's and has nothing but a rendezvous in it.
static void remove_left(int in, const char *name)
{
    struct stat about;
    const int fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    if (!fstat(fd, &about) && about.st_uid == geteuid() && (about.st_mode & 07777) == 0700 &&
        !flock(fd, LOCK_EX | LOCK_NB) && is_there(in, name, fd)) {
        (void)unlinkat(fd, GN_MEETING_FILE, 0);
        (void)unlinkat(in, name, AT_REMOVEDIR);
    }
    close(fd);
}

static void remove_all_left(const char *in)
{
    char ours[NAME_SIZE];
    name_here(ours);
    DIR *dir = opendir(in);
    const size_t length = strlen(ours);
    for (const struct dirent *e; dir && (e = readdir(dir));)
        if (!strncmp(e->d_name, ours, length) && strlen(e->d_name) == length + RANDOM)
            remove_left(dirfd(dir), e->d_name);
    if (dir) closedir(dir);
}

/// Another launcher may take the folder for one that was left, before it has its lock.
static gn_status make_locked(gn_meeting_folder *f, const char *in, gn_error *error)
{
    enum { TURNS = 100 };
    char ours[NAME_SIZE];
    name_here(ours);
    for (int turn = 0; turn < TURNS; turn++) {
        snprintf(f->path, sizeof f->path, "%s/%sXXXXXX", in, ours);
        if (!mkdtemp(f->path)) return refuse(f->path, error);
        f->lock = open(f->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (f->lock < 0 && errno == ENOENT) continue;
        if (f->lock < 0) {
            refuse(f->path, error);
            (void)rmdir(f->path);
            return error->status;
        }
        // Some file systems have no locks. Then nobody removes what is left.
        if ((!flock(f->lock, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) && is_there(AT_FDCWD, f->path, f->lock))
            return GN_OK;
        close(f->lock);
    }
    errno = EBUSY;
    return refuse(f->path, error);
}

gn_status gn_meeting_folder_make(gn_meeting_folder *folder, gn_error *error)
{
    const char *const in = gn_temporary_folder();
    remove_all_left(in);
    return make_locked(folder, in, error);
}

gn_status gn_meeting_folder_remove(gn_meeting_folder *folder, gn_error *error)
{
    DIR *dir = opendir(folder->path);
    for (const struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) unlinkat(dirfd(dir), e->d_name, 0);
    if (dir) closedir(dir);
    const int failed = rmdir(folder->path);
    const int reason = errno;
    close(folder->lock);
    return failed ? gn_fail(error, GN_IO, "%s: %s", folder->path, strerror(reason)) : GN_OK;
}
