// SPDX-License-Identifier: Apache-2.0
#include "beside.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

gn_message gn_beside_self(char path[PATH_MAX])
{
    return realpath("/proc/self/exe", path) ? NULL : gn_message_format("/proc/self/exe: %s", strerror(errno));
}

gn_message gn_beside_find(const char *what, const char *installed, const char *checkout, char path[PATH_MAX])
{
    const char *const places[] = {installed, checkout};
    char self[PATH_MAX];
    gn_message wrong = gn_beside_self(self);
    if (wrong) return wrong;
    const char *folder = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char candidate[PATH_MAX + 64];
        snprintf(candidate, sizeof candidate, "%s/%s", folder, places[i]);
        if (realpath(candidate, path) && !access(path, X_OK)) return NULL;
    }
    return gn_message_format("%s is neither at %s/%s nor at %s/%s", what, folder, installed, folder, checkout);
}
