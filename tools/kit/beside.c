// SPDX-License-Identifier: Apache-2.0
#include "beside.h"

#include <errno.h>
#include <libgen.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

gn_status gn_beside_self(char path[PATH_MAX], gn_error *error)
{
    return realpath("/proc/self/exe", path) ? GN_OK : gn_fail(error, GN_IO, "/proc/self/exe: %s", strerror(errno));
}

gn_status gn_beside_find(const char *what, const char *installed, const char *checkout, char path[PATH_MAX],
                         gn_error *error)
{
    const char *const places[] = {installed, checkout};
    char self[PATH_MAX];
    gn_status wrong = gn_beside_self(self, error);
    if (wrong) return wrong;
    const char *folder = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char candidate[PATH_MAX + 64];
        snprintf(candidate, sizeof candidate, "%s/%s", folder, places[i]);
        if (realpath(candidate, path) && !access(path, X_OK)) return GN_OK;
    }
    return gn_fail(error, GN_UNSUPPORTED, "%s is neither at %s/%s nor at %s/%s", what, folder, installed, folder,
                   checkout);
}
