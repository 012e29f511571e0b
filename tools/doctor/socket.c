// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <linux/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "doctor.h"
#include "net/udp.h"
#include "tools/kit/units.h"

/// What the switch asks for, for each channel, and has no capability to insist on.
enum { BUFFER = 8 << 20 };

static bool takes(int fd, int option, int value)
{
    return !setsockopt(fd, IPPROTO_UDP, option, &value, sizeof value);
}

static void find_offloads(gn_findings *findings, int fd)
{
    const bool cut = takes(fd, UDP_SEGMENT, 1400), join = takes(fd, UDP_GRO, 1);
    gn_find(findings, "udp", cut && join ? GN_LEVEL_OK : GN_LEVEL_WARN,
            cut && join ? "NIC, switch and workers send and receive many datagrams with one call."
                        : "NIC, switch and workers send or receive datagrams one by one, which is slower.",
            cut && join ? NULL : "Linux 5.0 and later has both", "UDP_SEGMENT: %s, UDP_GRO: %s", cut ? "yes" : "no",
            join ? "yes" : "no");
}

/// The limit that holds for an account without rights. 0: unknown.
static uint64_t limit_of(const char *path)
{
    char text[32];
    return strtoull(gn_doctor_line(path, text, sizeof text), NULL, 10);
}

static void find_buffers(gn_findings *findings, int fd)
{
    int got = 0;
    socklen_t length = sizeof got;
    (void)getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &length);
    uint64_t receive = limit_of("/proc/sys/net/core/rmem_max"), send = limit_of("/proc/sys/net/core/wmem_max");
    if (!receive) receive = (uint64_t)got / 2;  // the kernel counts its own needs, too
    if (!send) send = receive;
    const bool small = receive < BUFFER || send < BUFFER;
    gn_find(findings, "buffers", small ? GN_LEVEL_WARN : GN_LEVEL_OK,
            small ? "Bursts of datagrams are lost and sent again, unless the program has CAP_NET_ADMIN, as a NIC does."
                  : "A switch has all of the 8 MiB that it asks for.",
            small ? "sysctl -w net.core.rmem_max=16777216 net.core.wmem_max=16777216, and a file in /etc/sysctl.d"
                  : NULL,
            "sockets have at most %s to receive and %s to send", gn_human_bytes(receive).s, gn_human_bytes(send).s);
}

void gn_doctor_socket(gn_findings *findings)
{
    int fd = gn_udp_open(AF_INET, &(gn_udp_options){.receive_bytes = BUFFER});
    if (fd < 0) {
        gn_find(findings, "udp", GN_LEVEL_FAIL, "Neither NIC nor switch works here.", "allow sockets of IPv4",
                "UDP socket: %s", strerror(errno));
        return;
    }
    find_offloads(findings, fd);
    find_buffers(findings, fd);
    gn_close(&fd);
}
