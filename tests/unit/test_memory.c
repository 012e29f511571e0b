// SPDX-License-Identifier: Apache-2.0
// What memory is available, from files as a machine, or a container, has them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/memory.h"
#include "suite.h"

static char root[] = "/tmp/gradnic-memory-XXXXXX";

static void make_root(void)
{
    strcpy(root + strlen(root) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
}

static void put(const char *path, const char *text)
{
    char whole[200];
    const int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *at = strchr(whole + strlen(root) + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        (void)mkdir(whole, 0700);
        *at = '/';
    }
    ck_assert_int_lt(length, (int)sizeof whole);
    FILE *file = fopen(whole, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void meminfo(void)
{
    put("/proc/meminfo", "MemTotal:       24683568 kB\nMemFree:          20000 kB\nMemAvailable:     1000000 kB\n");
}

START_TEST(the_machine_says)
{
    ck_assert_uint_eq(gn_memory_available(root), UINT64_MAX);
    meminfo();
    ck_assert_uint_eq(gn_memory_available(root), 1024000000);
    put("/proc/self/cgroup", "nonsense\n0::\n0::/gone\n4:memory:/gone\n");
    ck_assert_uint_eq(gn_memory_available(root), 1024000000);
    ck_assert_uint_gt(gn_memory_available(""), 0);
}
END_TEST

START_TEST(version_2_limits_it)
{
    meminfo();
    put("/proc/self/cgroup", "1:name=systemd:/\n0::/a/b\n");
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("/sys/fs/cgroup/a/b/memory.current", "5000\n");
    ck_assert_uint_eq(gn_memory_available(root), 1024000000);
    put("/sys/fs/cgroup/a/memory.max", "100000\n");  // the group above it
    put("/sys/fs/cgroup/a/memory.current", "60000\n");
    ck_assert_uint_eq(gn_memory_available(root), 40000);
    put("/sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 30000\nactive_file 7\n");
    ck_assert_uint_eq(gn_memory_available(root), 70000);
    put("/sys/fs/cgroup/a/b/memory.max", "6000\n");
    ck_assert_uint_eq(gn_memory_available(root), 1000);
    put("/sys/fs/cgroup/a/b/memory.current", "7000\n");
    ck_assert_uint_eq(gn_memory_available(root), 0);
}
END_TEST

START_TEST(version_1_limits_it)
{
    meminfo();
    put("/proc/self/cgroup", "9:cpu:/\n4:memory:/docker/1\n0::/\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9000000\n");  // as it looks from inside
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "8000000\n");
    put("/sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 500000\n");
    ck_assert_uint_eq(gn_memory_available(root), 1500000);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    ck_assert_uint_eq(gn_memory_available(root), 1024000000);
}
END_TEST

int main(void)
{
    return RUN_SUITE("memory", make_root, remove_root, the_machine_says, version_2_limits_it, version_1_limits_it);
}
