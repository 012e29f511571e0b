// SPDX-License-Identifier: Apache-2.0
// Linux and its TUN devices. A device is tried in a network namespace of its own, in a process of
// its own. Where there can be no namespace, it is made in this one, without an address, and is gone
// at once.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gradnic/frame.h>

#include "doctor.h"
#include "driver/netlink.h"
#include "driver/steer.h"
#include "driver/tun.h"

enum { PATIENCE_MS = 5000, MTU = 1500 };

typedef enum answer { UNKNOWN, NO, YES } answer;

typedef struct trial {
    bool made;        // the device
    bool apart;       // in a namespace of its own
    answer segments;  // the host may hand over UDP segments (6.2)
    answer by_dscp;   // policy rules by DSCP (6.12)
    char why[200];
} trial;

static bool has_net_admin(void)
{
    char line[128];
    unsigned long long effective = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "CapEff:", 7)) effective = strtoull(line + 7, NULL, 16);
    if (file) fclose(file);
    return effective >> CAP_NET_ADMIN & 1;
}

/// In the child.
static trial try_device(bool admin)
{
    trial t = {.apart = !unshare(CLONE_NEWNET) || !unshare(CLONE_NEWUSER | CLONE_NEWNET)};
    if (!t.apart && !admin) {
        snprintf(t.why, sizeof t.why, "this account may make neither devices nor network namespaces");
        return t;
    }
    gn_tun tun;
    gn_error error;
    t.made = !gn_tun_open(&tun, &(gn_tun_config){.name = "gnd%d", .mtu = MTU}, &error);
    if (!t.made) {
        snprintf(t.why, sizeof t.why, "%.199s", error.text);
        return t;
    }
    t.segments = tun.uso ? YES : NO;
    gn_tun_close(&tun);
    const gn_policy policy = {
        .version = 4, .table = GN_STEER_TABLE, .priority = GN_STEER_PRIORITY, .tos = GN_TOS_GRADIENT};
    if (!t.apart) return t;  // no rules in a network that is in use
    errno = 0;
    if (!gn_policy_add(&policy))
        t.by_dscp = YES;
    else if (errno == EPROTONOSUPPORT)
        t.by_dscp = NO;
    return t;
}

static trial try_apart(bool admin)
{
    trial t = {.made = false};
    int ends[2];
    snprintf(t.why, sizeof t.why, "the process that tried it ended");
    if (pipe2(ends, O_CLOEXEC)) return t;
    const pid_t child = fork();
    if (!child) {
        t = try_device(admin);
        _exit(write(ends[1], &t, sizeof t) != sizeof t);
    }
    close(ends[1]);
    struct pollfd set = {.fd = ends[0], .events = POLLIN};
    trial told;
    if (child > 0 && poll(&set, 1, PATIENCE_MS) > 0 && read(ends[0], &told, sizeof told) == sizeof told) t = told;
    close(ends[0]);
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    return t;
}

static void find_linux(gn_findings *findings, unsigned major, unsigned minor, const char *release)
{
    const bool old = major < 6 || (major == 6 && minor < 1);
    gn_find(findings, "kernel", old ? GN_LEVEL_WARN : GN_LEVEL_OK,
            old ? "gradnic is not tested with kernels before 6.1."
                : "What it lacks, if anything, is in the next lines.",
            old ? "use Linux 6.1 or later" : NULL, "Linux %s", release);
}

static void find_tun(gn_findings *findings, const trial *t, bool admin)
{
    static const char fails[] = "No NIC in user space on this host. Ranks, switch and codec need none.";
    const int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        const bool denied = errno == EACCES;
        gn_find(findings, "tun", GN_LEVEL_FAIL, fails,
                denied ? "chmod 666 /dev/net/tun, as Debian has it"
                       : "modprobe tun; in Docker: --device /dev/net/tun --cap-add NET_ADMIN",
                "/dev/net/tun: %s", strerror(errno));
        return;
    }
    close(fd);
    if (!t->made && (admin || t->apart)) {
        gn_find(findings, "tun", GN_LEVEL_FAIL, fails, "allow TUN devices in this container or kernel", "%s", t->why);
        return;
    }
    gn_find(findings, "tun", admin ? GN_LEVEL_OK : GN_LEVEL_WARN,
            admin ? "A NIC can make its device." : "A NIC cannot make its device from this account.",
            admin ? NULL
                  : "run it as root or as the service; or as root: ip tuntap add dev gn0 mode tun vnet_hdr user NAME",
            "/dev/net/tun can be opened; this process has %sCAP_NET_ADMIN", admin ? "" : "no ");
}

static void find_new_things(gn_findings *findings, const trial *t, bool at_6_2, bool at_6_12)
{
    const bool segments = t->segments ? t->segments == YES : at_6_2, by_dscp = t->by_dscp ? t->by_dscp == YES : at_6_12;
    gn_find(findings, "segments", segments ? GN_LEVEL_OK : GN_LEVEL_WARN,
            segments ? "TCP and UDP reach the NIC in segments of up to 64 KiB."
                     : "Marked UDP reaches the NIC one by one, which is slower. TCP does not.",
            segments ? NULL : "Linux 6.2 and later hands over segments of UDP", "UDP segments through TUN: %s (%s)",
            segments ? "yes" : "no", t->segments ? "tried" : "as the kernel's version says");
    gn_find(findings, "steering", by_dscp ? GN_LEVEL_OK : GN_LEVEL_WARN,
            by_dscp ? "gradnic nic --steer dscp and --steer mark work."
                    : "gradnic nic --steer dscp does not work. The overlay and --steer mark do.",
            by_dscp ? NULL : "use --steer mark, or Linux 6.12 and later", "policy rules by DSCP: %s (%s)",
            by_dscp ? "yes" : "no", t->by_dscp ? "tried" : "as the kernel's version says");
}

void gn_doctor_kernel(gn_findings *findings)
{
    struct utsname system = {0};
    unsigned major = 0, minor = 0;
    uname(&system);
    (void)sscanf(system.release, "%u.%u", &major, &minor);
    find_linux(findings, major, minor, system.release);
    const bool admin = has_net_admin();
    const trial t = try_apart(admin);
    find_tun(findings, &t, admin);
    find_new_things(findings, &t, major > 6 || (major == 6 && minor >= 2), major > 6 || (major == 6 && minor >= 12));
}
