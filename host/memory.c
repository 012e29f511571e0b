// SPDX-License-Identifier: Apache-2.0
#include "host/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/// How a version of control groups names its files. Page cache that has not been used for a while
/// counts as used, but is available.
typedef struct group_files {
    const char *folder, *limit, *used, *reclaimable;
} group_files;

static const group_files version1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                     "total_inactive_file"},
                         version2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

/// Reads the number behind `name` at the beginning of a line. NULL: the number that the file begins
/// with.
/// @return false when there is none
static bool read_number(const char *path, const char *name, uint64_t *number)
{
    char line[256];
    bool found = false;
    FILE *file = fopen(path, "re");
    const size_t length = name ? strlen(name) : 0;
    while (file && !found && fgets(line, sizeof line, file))
        found = (!name || !strncmp(line, name, length)) && sscanf(line + length, "%" SCNu64, number) == 1;
    if (file) fclose(file);
    return found;
}

/// What one group allows. Without a limit, the file holds "max", or a number larger than any
/// memory.
static uint64_t group_has(const char *root, const group_files *files, const char *group)
{
    char path[PATH_MAX];
    uint64_t limit, used, reclaimable = 0;
    snprintf(path, sizeof path, "%s%s%s/%s", root, files->folder, group, files->limit);
    if (!read_number(path, NULL, &limit)) return UINT64_MAX;
    snprintf(path, sizeof path, "%s%s%s/%s", root, files->folder, group, files->used);
    if (!read_number(path, NULL, &used)) return UINT64_MAX;
    snprintf(path, sizeof path, "%s%s%s/memory.stat", root, files->folder, group);
    (void)read_number(path, files->reclaimable, &reclaimable);
    used -= reclaimable < used ? reclaimable : used;
    return limit > used ? limit - used : 0;
}

/// What a group and those above it allow. In a container, only its own group and those below it can
/// be seen.
static uint64_t groups_have(const char *root, const group_files *files, char *group)
{
    uint64_t least = UINT64_MAX;
    for (;;) {
        const uint64_t has = group_has(root, files, group);
        char *end = strrchr(group, '/');
        if (has < least) least = has;
        if (!end) return least;
        *end = 0;
    }
}

uint64_t gn_memory_available(const char *root)
{
    char path[PATH_MAX], line[PATH_MAX];
    uint64_t least = UINT64_MAX, kib;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    if (read_number(path, "MemAvailable:", &kib)) least = kib * 1024;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {  // "4:memory:/path", "0::/path"
        char *group = strstr(line, ":/");
        line[strcspn(line, "\n")] = 0;
        if (!group) continue;
        const bool second = !strncmp(line, "0::", 3), first = strstr(line, ":memory:") == strchr(line, ':');
        const uint64_t has = second  ? groups_have(root, &version2, group + 1)
                             : first ? groups_have(root, &version1, group + 1)
                                     : UINT64_MAX;
        if (has < least) least = has;
    }
    if (file) fclose(file);
    return least;
}
