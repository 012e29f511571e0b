// SPDX-License-Identifier: Apache-2.0
#include "net/whole_file.h"

#include <errno.h>
#include <stdint.h>
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
