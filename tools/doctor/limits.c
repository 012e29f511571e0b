// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "doctor.h"
#include "net/clock.h"
#include "net/whole_file.h"
#include "tools/kit/units.h"

enum { FILES_LEAST = 1024, CLOCK_ROUNDS = 20, CLOCK_READINGS = 1000, CLOCK_SLOW_NS = 250 };

const char *gn_doctor_line(const char *path, char *text, size_t room)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t bytes = fd < 0 ? -1 : gn_whole_file_read(fd, text, room - 1);
    if (fd >= 0) close(fd);
    text[bytes > 0 ? bytes : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    return text;
}

static void find_cores(gn_findings *findings)
{
    cpu_set_t set;
    const int may = sched_getaffinity(0, sizeof set, &set) ? 0 : CPU_COUNT(&set);
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    const bool one = may == 1;
    gn_find(findings, "cores", one ? GN_LEVEL_WARN : GN_LEVEL_OK,
            one ? "Training, exchange and NIC share one core."
                : "A NIC has two threads, and a rank one for the exchange.",
            one ? "allow more (taskset, cpusets of the container)" : NULL, "this process may use %d of %ld", may, all);
}

static gn_text limit_text(rlim_t limit, bool bytes)
{
    gn_text text = {"unlimited"};
    if (limit == RLIM_INFINITY) return text;
    if (bytes) return gn_human_bytes(limit);
    snprintf(text.s, sizeof text.s, "%llu", (unsigned long long)limit);
    return text;
}

static void find_limits(gn_findings *findings)
{
    struct rlimit files = {0}, locked = {0};
    (void)getrlimit(RLIMIT_NOFILE, &files);
    (void)getrlimit(RLIMIT_MEMLOCK, &locked);
    const bool few = files.rlim_cur < FILES_LEAST;
    gn_find(findings, "files", few ? GN_LEVEL_WARN : GN_LEVEL_OK,
            "A rank has some connections with each of the others, a switch one with each worker. A switch raises its "
            "limit by itself.",
            few ? "ulimit -n 65536; in a unit of systemd: LimitNOFILE=65536" : NULL, "open files: %s, at most %s",
            limit_text(files.rlim_cur, false).s, limit_text(files.rlim_max, false).s);
    gn_find(findings, "memlock", GN_LEVEL_OK, "gradnic locks none. Other libraries do, for RDMA.", NULL,
            "locked memory: %s, at most %s", limit_text(locked.rlim_cur, true).s, limit_text(locked.rlim_max, true).s);
}

static void find_clock(gn_findings *findings)
{
    char source[64];
    bool backwards = false;
    double each = INFINITY;
    // The quickest of some rounds: others are disturbed by other programs.
    for (int round = 0; round < CLOCK_ROUNDS; round++) {
        const uint64_t begun = gn_now();
        uint64_t last = begun;
        for (int i = 0; i < CLOCK_READINGS; i++) {
            const uint64_t now = gn_now();
            backwards |= now < last;
            last = now;
        }
        each = fmin(each, (double)gn_elapsed(begun, last) / CLOCK_READINGS);
    }
    const bool slow = each > CLOCK_SLOW_NS;
    gn_doctor_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source);
    gn_find(findings, "clock",
            backwards ? GN_LEVEL_FAIL
            : slow    ? GN_LEVEL_WARN
                      : GN_LEVEL_OK,
            backwards ? "Deadlines and round trips would be wrong."
            : slow    ? "Each reading is a system call. NIC and switch read it for every batch of packets."
                      : "It is read without a system call.",
            backwards ? "this is a fault of the machine or its hypervisor: choose another clock source"
            : slow    ? "choose tsc or kvm-clock: echo tsc > "
                        "/sys/devices/system/clocksource/clocksource0/current_clocksource"
                      : NULL,
            "source %s; a reading takes %.0f ns%s", *source ? source : "unknown", each,
            backwards ? "; it ran backwards" : "");
}

void gn_doctor_limits(gn_findings *findings)
{
    find_cores(findings);
    find_limits(findings);
    find_clock(findings);
}
