// SPDX-License-Identifier: Apache-2.0
#include "net/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t gn_whole_file_read(int fd, void *bytes, size_t room)
{
    size_t used = 0;
    while (used < room) {
        const ssize_t got = read(fd, (uint8_t *)bytes + used, room - used);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (!got) break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

int gn_whole_file_open(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

char *gn_whole_file_load(int fd, const char *path, size_t most, size_t *size, gn_error *error)
{
    struct stat file;
    char *bytes = NULL;
    if (fd < 0 || fstat(fd, &file)) {
        gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(file.st_mode)) {
        gn_fail(error, GN_INVALID, "%s: not a regular file", path);
    } else if (!(bytes = malloc(most + 1))) {
        gn_fail_memory(error);
    } else {
        const ssize_t got = gn_whole_file_read(fd, bytes, most + 1);
        if (got >= 0) {
            *size = (size_t)got;
            return bytes;
        }
        gn_fail(error, GN_IO, "%s: %s", path, strerror(errno));
    }
    free(bytes);
    return NULL;
}
