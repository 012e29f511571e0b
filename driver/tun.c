// SPDX-License-Identifier: Apache-2.0
#include "driver/tun.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "driver/netlink.h"

// From Linux 6.2. Debian 12 builds with the headers of 6.1.
#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

static gn_status attach(gn_tun *tun, const gn_tun_config *config, gn_error *error)
{
    tun->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tun->fd < 0) {
        const int reason = errno;
        return gn_fail(error, GN_IO, "/dev/net/tun: %s%s", strerror(reason),
                       reason == EACCES ? " (this account must be able to read and write it)"
                                        : " (is the tun module loaded?)");
    }
    struct ifreq request = {.ifr_flags = (short)(IFF_TUN | IFF_NO_PI | IFF_VNET_HDR)};
    if (strlen(config->name) >= sizeof request.ifr_name)
        return gn_fail(error, GN_INVALID, "device name '%.40s' is longer than 15 bytes", config->name);
    memcpy(request.ifr_name, config->name, strlen(config->name) + 1);
    // A device that is there already is somebody's: it would keep our addresses and routes.
    if (!config->existing) request.ifr_flags = (short)(request.ifr_flags | IFF_TUN_EXCL);
    if (config->existing && !if_nametoindex(config->name))
        return gn_fail(error, GN_INVALID,
                       "%s: no such device; as root: ip tuntap add dev %s mode tun vnet_hdr user NAME", config->name,
                       config->name);
    if (ioctl(tun->fd, TUNSETIFF, &request)) {
        const int reason = errno;
        const char *hint =
            reason == EPERM ? " (creating a device needs CAP_NET_ADMIN; an existing one must belong to you)"
            : reason == EINVAL && config->existing ? " (make it with: ip tuntap add ... mode tun vnet_hdr)"
            : reason == EBUSY && config->existing  ? " (another process has it open)"
            : reason == EBUSY ? " (there is such a device: -d names another one; --existing uses it as it is)"
                              : "";
        return gn_fail(error, GN_IO, "%s: cannot attach to the TUN device: %s%s", config->name, strerror(reason), hint);
    }
    memcpy(tun->name, request.ifr_name, sizeof tun->name);
    tun->index = if_nametoindex(tun->name);
    return GN_OK;
}

static gn_status offload(gn_tun *tun, const gn_tun_config *config, gn_error *error)
{
    const unsigned long tcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN, udp = TUN_F_USO4 | TUN_F_USO6;
    if (config->no_offload) {
        if (!ioctl(tun->fd, TUNSETOFFLOAD, 0UL)) return GN_OK;
        return gn_fail(error, GN_IO, "%s: cannot turn off offloads: %s", tun->name, strerror(errno));
    }
    tun->uso = !ioctl(tun->fd, TUNSETOFFLOAD, tcp | udp);
    if (tun->uso || !ioctl(tun->fd, TUNSETOFFLOAD, tcp)) return GN_OK;
    return gn_fail(error, GN_IO, "%s: cannot set offloads: %s", tun->name, strerror(errno));
}

static gn_status set_up(gn_tun *tun, const gn_tun_config *config, gn_error *error)
{
    gn_link link = {.mtu = config->mtu, .queue_length = config->queue_length};
    if (gn_link_set(tun->index, &link))
        return gn_fail(error, GN_IO, "%s: cannot set an MTU of %u: %s", tun->name, config->mtu, strerror(errno));
    for (size_t i = 0; i < config->address_count; i++) {
        char text[GN_PREFIX_TEXT];
        if (gn_address_add(tun->index, &config->addresses[i]))
            return gn_fail(error, GN_IO, "%s: cannot add address %s: %s", tun->name,
                           gn_prefix_format(&config->addresses[i], text), strerror(errno));
    }
    // For speed alone: one segment of the host then fills one system call of ours. Not every kernel
    // lets it be set.
    link = (gn_link){.gso_max_segments = config->gso_max_segments};
    if (config->gso_max_segments) (void)gn_link_set(tun->index, &link);
    link = (gn_link){.up = true};
    if (gn_link_set(tun->index, &link))
        return gn_fail(error, GN_IO, "%s: cannot bring it up: %s", tun->name, strerror(errno));
    return GN_OK;
}

gn_status gn_tun_open(gn_tun *tun, const gn_tun_config *config, gn_error *error)
{
    *tun = (gn_tun){.fd = -1};
    if (attach(tun, config, error)) goto failed;
    if (offload(tun, config, error)) goto failed;
    if (!config->existing && set_up(tun, config, error)) goto failed;
    if (gn_link_mtu(tun->index, &tun->mtu)) {
        gn_fail(error, GN_IO, "%s: cannot read its MTU: %s", tun->name, strerror(errno));
        goto failed;
    }
    return GN_OK;
failed:
    gn_tun_close(tun);
    return error->status;
}

void gn_tun_close(gn_tun *tun)
{
    if (tun->fd >= 0) close(tun->fd);
    tun->fd = -1;
}

int gn_tun_read(const gn_tun *tun, struct virtio_net_hdr *header, void *packet, size_t capacity, size_t *length)
{
    struct iovec vector[2] = {{header, sizeof *header}, {packet, capacity}};
    const ssize_t bytes = readv(tun->fd, vector, 2);
    if (bytes < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    *length = (size_t)bytes > sizeof *header ? (size_t)bytes - sizeof *header : 0;
    return 1;
}

bool gn_tun_write(const gn_tun *tun, const struct iovec *vector, int count)
{
    ssize_t bytes;
    do bytes = writev(tun->fd, vector, count);
    while (bytes < 0 && errno == EINTR);
    return bytes > 0;
}
