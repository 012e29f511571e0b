// SPDX-License-Identifier: Apache-2.0
#include "net/strangers.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
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

gn_status gn_strangers_refuse(int fd, const char *path, gn_error *error)
{
    char folder[PATH_MAX];
    struct stat about;
    if (fstat(fd, &about)) return gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    if (!about.st_uid || about.st_uid == geteuid() || !gn_folder_is_open(path, folder)) return GN_OK;
    return gn_fail(error, GN_INVALID, "%s: belongs to another account (%u), and everybody may put files into %s", path,
                   (unsigned)about.st_uid, folder);
}
