// SPDX-License-Identifier: Apache-2.0
#include "host/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 64 };

gn_status gn_control_address(const char *path, struct sockaddr_un *address, gn_error *error)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof address->sun_path)
        return gn_fail(error, GN_INVALID, "%.80s: the path of a control socket has 1 to %zu bytes", path,
                       sizeof address->sun_path - 1);
    memcpy(address->sun_path, path, strlen(path) + 1);
    return GN_OK;
}

// A new folder is root's, so that only root can put a socket there. Older versions gave the default
// folder to the account; it is taken back. @return 0, or why it could not be made
static int make_folder(const char *folder, const gn_account *account)
{
    const bool made = !mkdir(folder, 0755);
    const int reason = made || errno == EEXIST ? 0 : errno;
    if (!account->change || (!made && strcmp(folder, GN_CONTROL_FOLDER) != 0)) return reason;
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return reason;
    if (!fchown(fd, 0, 0)) (void)!fchmod(fd, 0755);
    close(fd);
    return reason;
}

// Whether strangers could put a socket there, or replace one. In a folder with the sticky bit, only
// a file's owner can.
static gn_status check_folder(const char *path, const gn_account *account, gn_error *error)
{
    struct stat folder;
    char owner[40];
    if (stat(".", &folder)) return gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    if (folder.st_uid && folder.st_uid != account->user && folder.st_uid != geteuid())
        return gn_fail(error, GN_IO,
                       "%s: its folder belongs to account %s, who could put another socket there (-c PATH names "
                       "another place)",
                       path, gn_account_name(folder.st_uid, owner, sizeof owner));
    const bool group = account->change && folder.st_gid && folder.st_gid != account->group;
    if (folder.st_mode & S_ISVTX || !(folder.st_mode & (S_IWOTH | (group ? S_IWGRP : 0)))) return GN_OK;
    return gn_fail(error, GN_IO,
                   "%s: others can write into its folder, and could put another socket there (chmod go-w, or -c PATH)",
                   path);
}

// connect() also answers ECONNREFUSED for every file that is not a socket.
static bool is_stale(const struct sockaddr_un *address)
{
    struct stat found;
    if (lstat(address->sun_path, &found) || !S_ISSOCK(found.st_mode)) return false;
    const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0) return false;
    const bool refused = connect(probe, (const struct sockaddr *)address, sizeof *address) && errno == ECONNREFUSED;
    close(probe);
    return refused;
}

// Another daemon may be between its bind() and its listen(), and would look stale. Strangers can
// hold the lock, too, so nobody waits for long. @return what to close; -1: nothing
static int lock_folder(void)
{
    enum { TIMES = 25, PAUSE_US = 20000 };
    const int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; folder >= 0 && i < TIMES && flock(folder, LOCK_EX | LOCK_NB); i++) {
        if (errno != EWOULDBLOCK && errno != EINTR) break;  // there are no locks here
        usleep(PAUSE_US);
    }
    return folder;
}

static int bind_private(int fd, const struct sockaddr_un *address)
{
    const int folder = lock_folder();
    const mode_t before = umask(0177);
    int status = bind(fd, (const struct sockaddr *)address, sizeof *address);
    if (status && errno == EADDRINUSE && is_stale(address)) {
        status = unlink(address->sun_path);
        if (!status) status = bind(fd, (const struct sockaddr *)address, sizeof *address);
    }
    if (!status) status = listen(fd, BACKLOG);
    const int reason = errno;
    umask(before);
    if (folder >= 0) close(folder);
    errno = reason;
    return status;
}

// In a folder that others can write to, the bound name may be something else a moment later. So all
// is done there with the account's rights.
static int bind_as(int fd, const struct sockaddr_un *address, const gn_account *account)
{
    const gid_t group = getegid();
    if (setegid(account->group)) return -1;
    int status = seteuid(account->user);
    if (!status) {
        status = bind_private(fd, address);
        const int reason = errno;
        if (seteuid(0)) return -1;
        errno = reason;
    }
    const int reason = errno;
    if (setegid(group)) return -1;
    errno = reason;
    return status;
}

// Binds with the folder as working directory, so that no part of the path can be exchanged
// meanwhile.
static int bind_here(int fd, const struct sockaddr_un *address, const gn_account *account)
{
    struct stat folder;
    if (!account->change) return bind_private(fd, address);
    if (stat(".", &folder)) return -1;
    if (folder.st_uid || folder.st_mode & (S_IWGRP | S_IWOTH)) return bind_as(fd, address, account);
    // Root's own folder, where nobody else can change a name.
    if (bind_private(fd, address)) return -1;
    if (!lchown(address->sun_path, account->user, account->group)) return 0;
    const int reason = errno;
    (void)unlink(address->sun_path);
    errno = reason;
    return -1;
}

// @return 0; -1 with errno, or with `error` where that says more
static int bind_in(int fd, const char *path, const char *folder, const char *name, const gn_account *account,
                   gn_error *error)
{
    struct sockaddr_un address;
    gn_error ignored;
    if (gn_control_address(name, &address, &ignored)) return -1;
    const int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (before < 0) return -1;
    int status = -1;
    if (!chdir(folder)) {
        status = check_folder(path, account, error) ? -1 : bind_here(fd, &address, account);
        const int reason = errno;
        if (fchdir(before))
            status = -1;
        else
            errno = reason;
    }
    const int reason = errno;
    close(before);
    errno = reason;
    return status;
}

static const char *hint(int reason, const gn_account *account)
{
    if (reason == EADDRINUSE)
        return " (another gradnic answers there, or it is not a socket; -c PATH names another place)";
    if (reason == EACCES && account->change)
        return " (the account of --user may not write there; --control names another place)";
    if (reason == ENOENT || reason == EACCES || reason == EROFS)
        return " (-c PATH names another place; with -c none there is no control socket)";
    return "";
}

int gn_control_listen(const char *path, const gn_account *account, gn_error *error)
{
    struct sockaddr_un address;
    if (gn_control_address(path, &address, error)) return -1;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
        return -1;
    }
    char *slash = strrchr(address.sun_path, '/');
    const char *folder = slash == address.sun_path ? "/" : slash ? address.sun_path : ".";
    if (slash) *slash = 0;
    const int unmade = slash && slash != address.sun_path ? make_folder(folder, account) : 0;
    error->status = GN_OK;
    if (!bind_in(fd, path, folder, slash ? slash + 1 : path, account, error)) return fd;
    const int reason = errno == ENOENT && unmade ? unmade : errno;
    if (!error->status) gn_fail(error, GN_IO, "%s: %s%s", path, strerror(reason), hint(reason, account));
    close(fd);
    return -1;
}
