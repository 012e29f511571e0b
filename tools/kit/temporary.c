// SPDX-License-Identifier: Apache-2.0
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/temporary_folder.h"

gn_status gn_temporary_open(FILE **stream, gn_error *error)
{
    char path[PATH_MAX];
    const char *folder = gn_temporary_folder();
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {  // such as NFS
        snprintf(path, sizeof path, "%s/gradnic-XXXXXX", folder);
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0) unlink(path);
    }
    *stream = fd < 0 ? NULL : fdopen(fd, "w+b");
    if (*stream) return GN_OK;
    const int reason = errno;
    if (fd >= 0) close(fd);
    return gn_fail(error, GN_IO, "a temporary file in %s: %s (TMPDIR names another folder)", folder, strerror(reason));
}

gn_status gn_temporary_copy(FILE *from, FILE *to, const char *to_name, gn_error *error)
{
    char buffer[65536];
    size_t n;
    rewind(from);
    errno = 0;
    while ((n = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, n, to) != n) return gn_fail(error, GN_IO, "%s: %s", to_name, strerror(errno));
    return ferror(from) ? gn_fail(error, GN_IO, "temporary file: %s", strerror(errno)) : GN_OK;
}
