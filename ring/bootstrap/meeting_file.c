// SPDX-License-Identifier: Apache-2.0
#include "ring/bootstrap/meeting_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/resolve.h"
#include "net/socket.h"
#include "net/strangers.h"
#include "ring/message.h"

static gn_status write_line(int fd, const gn_endpoint *address)
{
    char host[GN_IP_TEXT], line[GN_RENDEZVOUS_LINE];
    int length =
        snprintf(line, sizeof line, "gradnic-rendezvous 1 %s %u\n", gn_ip_format(&address->ip, host), address->port);
    if (ftruncate(fd, 0)) return GN_IO;
    return pwrite(fd, line, (size_t)length, 0) == length ? GN_OK : GN_IO;
}

/// The address in a file. False: that is not what it holds.
static bool read_line(int fd, char host[GN_RENDEZVOUS_LINE], uint16_t *port)
{
    char line[GN_RENDEZVOUS_LINE];
    const ssize_t length = pread(fd, line, sizeof line, 0);
    return length > 0 && gn_rendezvous_line_read(line, (size_t)length, host, port);
}

/// Readers hold the lock for an instant each. Another rank 0 holds it for good.
static bool lock_soon(int fd)
{
    for (int tries = 0; tries < 100; tries++) {
        if (!flock(fd, LOCK_EX | LOCK_NB)) return true;
        usleep(10000);
    }
    return false;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/// Opens what lies at the path, or makes a new file. O_NONBLOCK, because a FIFO would wait for a
/// reader.
static gn_status open_file(gn_meeting_file *file, gn_error *error)
{
    enum { COMMON = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK };
    for (int tries = 0; tries < 10; tries++) {  // it may come and go in between
        file->fd = gn_apart(open(file->path, COMMON));
        if (file->fd < 0 && errno == ENOENT) file->fd = gn_apart(open(file->path, COMMON | O_CREAT | O_EXCL, 0600));
        if (file->fd >= 0 || errno != EEXIST) break;
    }
    if (file->fd >= 0) return GN_OK;
    if (errno == ELOOP)
        return gn_fail(error, GN_INVALID, "%s: is a symbolic link, and a rendezvous does not follow one", file->path);
    return gn_fail(error, GN_IO, "%s: %s", file->path, strerror(errno));
}

/// The file is locked. Looks whether it may be written to.
static gn_status check_file(gn_meeting_file *file, bool *gone, gn_error *error)
{
    struct stat opened, there;
    char host[GN_RENDEZVOUS_LINE];
    uint16_t port;
    if (fstat(file->fd, &opened)) return gn_fail(error, GN_IO, "%s: %s", file->path, strerror(errno));
    // Its rank 0 may have removed it before this one got the lock.
    *gone = lstat(file->path, &there) || !same_file(&opened, &there);
    if (*gone) return GN_OK;
    if (!S_ISREG(opened.st_mode) || (opened.st_size && !read_line(file->fd, host, &port)))
        return gn_fail(error, GN_INVALID,
                       "%s: is not a rendezvous file of gradnic's, and stays as it is; choose another path",
                       file->path);
    return GN_OK;
}

static gn_status hold_file(gn_meeting_file *file, bool *gone, gn_error *error)
{
    gn_status status = open_file(file, error);
    if (!status) status = gn_strangers_refuse(file->fd, file->path, error);  // they would keep the lock
    if (!status && !lock_soon(file->fd))
        status = gn_fail(error, GN_MISMATCH,
                         "%s: another rank 0 holds this rendezvous file; use another path for each job", file->path);
    if (!status) status = check_file(file, gone, error);
    if (status || *gone) gn_close(&file->fd);
    return status;
}

gn_status gn_meeting_file_write(gn_meeting_file *file, const gn_endpoint *address, gn_error *error)
{
    bool gone = true;
    struct stat before;
    const bool was_there = !lstat(file->path, &before);
    for (int tries = 0; gone && tries < 10; tries++) {
        const gn_status status = hold_file(file, &gone, error);
        if (status) return status;
    }
    if (gone) return gn_fail(error, GN_IO, "%s: is removed again and again", file->path);
    struct stat opened;
    file->was_empty = was_there && !before.st_size && !fstat(file->fd, &opened) && same_file(&before, &opened);
    if (!write_line(file->fd, address)) return GN_OK;
    gn_fail(error, GN_IO, "%s: %s", file->path, strerror(errno));
    gn_meeting_file_remove(file);
    return GN_IO;
}

void gn_meeting_file_remove(gn_meeting_file *file)
{
    struct stat opened, there;
    if (file->fd < 0) return;
    if (file->was_empty)
        (void)!ftruncate(file->fd, 0);
    else if (!fstat(file->fd, &opened) && !lstat(file->path, &there) && same_file(&opened, &there))
        unlink(file->path);
    gn_close(&file->fd);
}

/// Removes a file of a job, unless somebody holds it. A rank 0 that has opened it and does not hold
/// it yet sees that it is gone, and makes another.
static void sweep_one(int folder, const char *name)
{
    struct stat opened;
    char host[GN_RENDEZVOUS_LINE];
    uint16_t port;
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return;
    if (!fstat(fd, &opened) && S_ISREG(opened.st_mode) && opened.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB) &&
        (!opened.st_size || read_line(fd, host, &port)))
        (void)unlinkat(folder, name, 0);
    close(fd);
}

void gn_meeting_file_sweep(const gn_meeting_file *file)
{
    char path[sizeof file->path], made[64];
    snprintf(path, sizeof path, "%s", file->path);
    char *const slash = strrchr(path, '/');
    if (!slash) return;
    *slash = 0;
    DIR *folder = opendir(path);
    if (!folder) return;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        uint64_t hash;
        if (sscanf(entry->d_name, "gradnic-rendezvous-%16" SCNx64, &hash) != 1) continue;
        snprintf(made, sizeof made, GN_MEETING_JOB, hash);
        if (!strcmp(made, entry->d_name) && strcmp(made, slash + 1) != 0) sweep_one(dirfd(folder), made);
    }
    closedir(folder);
}

bool gn_meeting_file_find(const gn_meeting_file *file, gn_endpoint *address, gn_status *status, gn_error *error)
{
    *status = GN_OK;
    const int fd = open(file->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        if (errno == ELOOP)
            *status =
                gn_fail(error, GN_INVALID, "%s: is a symbolic link, and a rendezvous does not follow one", file->path);
        else if (errno != ENOENT)
            *status = gn_fail(error, GN_IO, "%s: %s", file->path, strerror(errno));
        return false;
    }
    char host[GN_RENDEZVOUS_LINE];
    uint16_t port;
    gn_error ignored;
    *status = gn_strangers_refuse(fd, file->path, error);
    const bool read = read_line(fd, host, &port), stale = !flock(fd, LOCK_SH | LOCK_NB);
    close(fd);
    return !*status && read && !stale && gn_resolve(host, port, address, &ignored) == GN_OK;
}
