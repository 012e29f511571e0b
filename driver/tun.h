// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_TUN_H
#define GRADNIC_DRIVER_TUN_H
/// The host's side: a TUN device, which carries IP packets without Ethernet. The host gives
/// segments of up to 64 KiB whose checksums are left to the NIC, and takes such segments. See
/// Linux' Documentation/networking/tuntap.rst, and virtio 1.2 section 5.1.6 for the header.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <linux/virtio_net.h>

#include "net/address.h"

typedef struct gn_tun_config {
    const char *name;  ///< of the device; may hold %d, as the kernel allows
    bool existing;     ///< attach to a persistent device as it is (no privilege needed)
    bool no_offload;   ///< neither segments nor partial checksums
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

/// Opens the device, sets it up and brings it up.
gn_status gn_tun_open(gn_tun *tun, const gn_tun_config *config, gn_error *error);
/// Closes it. A device that gn_tun_open() made vanishes, with its addresses and routes.
void gn_tun_close(gn_tun *tun);

/// Reads one segment: its virtio header and `*length` bytes of packet.
/// @return 1; 0 when there is none now; -1 on failure (errno)
int gn_tun_read(const gn_tun *tun, struct virtio_net_hdr *header, void *packet, size_t capacity, size_t *length);

/// Writes one segment of `count` pieces. vector[0] must be a struct virtio_net_hdr.
/// @return false when the host did not take it
bool gn_tun_write(const gn_tun *tun, const struct iovec *vector, int count);

#endif
