// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "doctor.h"
#include "tools/kit/units.h"

enum { MEBIBYTE = 1 << 20, PROBE_BYTES = 4 * MEBIBYTE, SHM_LEAST = 64 * MEBIBYTE };

/// What two ranks of one host do: the one makes memory, the other opens it.
/// @return what failed, or NULL; errno says why
static const char *try_memory(void)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < PROBE_BYTES) {
        errno = EFBIG;
        return "the limit of file sizes (ulimit -f)";
    }
    char path[64];
    const char *failed = NULL;
    int again = -1;
    const int fd = memfd_create("gradnic-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return "memfd_create";
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    if ((errno = posix_fallocate(fd, 0, PROBE_BYTES)))
        failed = "4 MiB of it";
    else if ((again = open(path, O_RDWR | O_CLOEXEC)) < 0)
        failed = "opening it through /proc";
    const int reason = errno;
    if (again >= 0) close(again);
    close(fd);
    errno = reason;
    return failed;
}

static void find_shm(gn_findings *findings)
{
    static const char means[] = "gradnic does not use it. MPI and the data loaders of PyTorch do.";
    static const char fix[] = "mount -o remount,size=1G /dev/shm; in Docker: --shm-size=1g";
    struct statvfs room;
    if (statvfs("/dev/shm", &room) || access("/dev/shm", W_OK | X_OK)) {
        gn_find(findings, "shm", GN_LEVEL_WARN, means, fix, "/dev/shm: %s", strerror(errno));
        return;
    }
    const uint64_t all = (uint64_t)room.f_blocks * room.f_frsize, rest = (uint64_t)room.f_bavail * room.f_frsize;
    const bool small = rest < SHM_LEAST;
    gn_find(findings, "shm", small ? GN_LEVEL_WARN : GN_LEVEL_OK, means, small ? fix : NULL,
            "/dev/shm: %s, of which %s are free", gn_human_bytes(all).s, gn_human_bytes(rest).s);
}

void gn_doctor_memory(gn_findings *findings)
{
    const char *failed = try_memory();
    const int reason = errno;
    if (failed)
        gn_find(findings, "memory", GN_LEVEL_WARN, "Ranks of one host exchange over TCP, which is slower.",
                "allow memfd_create and a readable /proc; raise ulimit -f and the memory of the container",
                "no memory between processes: %s: %s", failed, strerror(reason));
    else
        gn_find(findings, "memory", GN_LEVEL_OK, "Ranks of one host exchange through it.", NULL,
                "memory between processes (memfd) can be made and shared");
    find_shm(findings);
}
