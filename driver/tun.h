// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_TUN_H
#define GRADNIC_DRIVER_TUN_H
/// The host's side: a TUN device (IP packets, no Ethernet) that takes segments of up to 64 KiB with checksums left to us, and
/// hands over the same. Linux, Documentation/networking/tuntap.rst; virtio 1.2 section 5.1.6 for the header.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <linux/virtio_net.h>

#include "net/address.h"

typedef struct gn_tun_config {
    const char *name;  ///< device; may hold %d, as the kernel allows
    bool existing;     ///< attach to an existing persistent device and leave its settings alone (no privilege needed)
    bool no_offload;   ///< neither segments nor partial checksums: for kernels or measurements without them
    const gn_prefix *addresses;
    size_t address_count;
    unsigned mtu;
    unsigned queue_length;      ///< 0: the kernel's
    unsigned gso_max_segments;  ///< 0: the kernel's
} gn_tun_config;

typedef struct gn_tun {
    int fd;  ///< non-blocking
    unsigned index;
    unsigned mtu;
    bool uso;  ///< the host may hand us UDP segments (Linux 6.2)
    char name[16];
} gn_tun;

/// Opens the device, sets it up and brings it up. @return 0, or -1 with `error` set
gn_status gn_tun_open(gn_tun *tun, const gn_tun_config *config, gn_error *error);
/// Closes it; a device that gn_tun_open() made vanishes, with its addresses and routes.
void gn_tun_close(gn_tun *tun);

/// Reads one segment: its virtio header and `*length` bytes of packet.
/// @return 1; 0 when there is none now; -1 on failure (errno)
int gn_tun_read(const gn_tun *tun, struct virtio_net_hdr *header, void *packet, size_t capacity, size_t *length);

/// Writes one segment of `count` pieces; vector[0] must be a struct virtio_net_hdr. @return false when the host did not take it
bool gn_tun_write(const gn_tun *tun, const struct iovec *vector, int count);

#endif
