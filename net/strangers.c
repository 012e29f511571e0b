// SPDX-License-Identifier: Apache-2.0
#include "net/strangers.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool gn_folder_is_open(const char *path, char folder[PATH_MAX])
{
    char text[PATH_MAX];
    struct stat about;
    snprintf(text, sizeof text, "%s", path);
    snprintf(folder, PATH_MAX, "%s", dirname(text));
    return !stat(folder, &about) && (about.st_mode & S_IWOTH);
}

/// The owner that the folder's file system gives to a file of this account: with NFS it may be
/// another one (root_squash). @return false: nothing can be made there
static bool owner_there(const char *folder, uid_t *owner)
{
    char path[PATH_MAX + 32];
    struct stat about;
    snprintf(path, sizeof path, "%s/.gradnic-XXXXXX", folder);
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) return false;
    const bool known = !fstat(fd, &about);
    *owner = about.st_uid;
    (void)unlink(path);
    close(fd);
    return known;
}

gn_status gn_strangers_refuse(int fd, const char *path, gn_error *error)
{
    char folder[PATH_MAX];
    struct stat about;
    uid_t own;
    if (fstat(fd, &about)) return gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    if (!about.st_uid || about.st_uid == geteuid() || !gn_folder_is_open(path, folder)) return GN_OK;
    if (owner_there(folder, &own) && own == about.st_uid) return GN_OK;
    return gn_fail(error, GN_INVALID, "%s: belongs to another account (%u), and everybody may put files into %s", path,
                   (unsigned)about.st_uid, folder);
}
