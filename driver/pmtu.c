// SPDX-License-Identifier: Apache-2.0
#include "driver/pmtu.h"

#include "driver/host_mtu.h"
#include "driver/netlink.h"
#include "driver/too_big.h"
#include "host/warn.h"
#include "net/clock.h"
#include "net/udp.h"
#include "net/udp_in.h"

/// The path MTU to `endpoint` as the kernel knows it now; 0 when there is no path.
static unsigned mtu_to(const gn_endpoint *endpoint)
{
    int fd = gn_udp_open(gn_ip_family(&endpoint->ip), &(gn_udp_options){0});
    const unsigned mtu = fd >= 0 && !gn_socket_connect(fd, endpoint) ? gn_udp_mtu(fd) : 0;
    gn_close(&fd);
    return mtu;
}

/// Where steering is late, what did not fit into the device, and what the host was told, come back
/// as if they were the wire's. To follow them would lead down and down.
static bool is_echo(const gn_nic *nic, unsigned mtu)
{
    return gn_steer_is_late(&nic->config.steer) && (mtu == nic->tun.mtu || mtu == gn_host_mtu(nic->packet_mtu));
}

/// What is known behind an echo: the MTU of before, and that of the route's link, which may have
/// been lowered since.
static unsigned behind_echo(const gn_nic *nic, const gn_endpoint *to)
{
    gn_path path;
    const bool lowered = !gn_path_find_unlearnt(&to->ip, to->scope, &path) && path.mtu < nic->wire_mtu;
    return lowered ? path.mtu : nic->wire_mtu;
}

static unsigned smallest_now(const gn_nic *nic)
{
    unsigned smallest = nic->wire_mtu_opened;
    for (size_t i = 0; i < gn_peers_count(nic->config.peers); i++) {
        const gn_endpoint *peer = &gn_peers_at(nic->config.peers, i)->endpoint;
        unsigned mtu = mtu_to(peer);
        if (is_echo(nic, mtu)) mtu = behind_echo(nic, peer);
        if (mtu && mtu < smallest) smallest = mtu;
    }
    const unsigned told = atomic_load(&nic->told_mtu);
    return told && told < smallest ? told : smallest;
}

void gn_pmtu_hear(gn_nic *nic, uint64_t now)
{
    const unsigned told = nic->wire.hears ? gn_udp_told(nic->wire.fd) : 0, before = atomic_load(&nic->told_mtu);
    if (told < GN_PMTU_TOLD_LEAST || (before && before < told)) return;
    atomic_store(&nic->told_at, now);
    atomic_store(&nic->told_mtu, told);
}

void gn_pmtu_follow(gn_nic *nic, uint64_t now)
{
    gn_out *out = nic->out;
    const bool refused = out->wire.too_big != out->too_big_seen, lowered = nic->wire_mtu < nic->wire_mtu_opened;
    const bool late = gn_steer_is_late(&nic->config.steer);
    if (!refused && !lowered && !late) return;
    const unsigned pause = refused ? GN_PMTU_AGAIN_MS : late ? GN_PMTU_LOOK_MS : GN_PMTU_RECOVER_MS;
    if (now - out->paths_asked < pause * GN_MILLISECOND) return;
    out->paths_asked = now;
    out->too_big_seen = out->wire.too_big;
    if (gn_elapsed(atomic_load(&nic->told_at), now) > GN_PMTU_TOLD_S * GN_SECOND) atomic_store(&nic->told_mtu, 0);
    const unsigned overhead = nic->wire_mtu_opened - nic->packet_mtu_opened, least = overhead + GN_PMTU_LEAST;
    unsigned mtu = smallest_now(nic);
    if (mtu < least) mtu = least;
    if (mtu == nic->wire_mtu) return;
    gn_warn("%s: the wire's MTU is now %u, not %u; %s", nic->tun.name, mtu, nic->wire_mtu,
            mtu < nic->wire_mtu ? "packets are cut smaller" : "packets are cut larger again");
    nic->wire_mtu = mtu;
    nic->packet_mtu = mtu - overhead;
}

void gn_pmtu_tell_host(gn_nic *nic, const uint8_t *packet, size_t length, uint64_t now)
{
    gn_out *out = nic->out;
    struct virtio_net_hdr virtio = {0};
    uint8_t message[GN_TOO_BIG_BYTES];
    const unsigned fits = gn_host_mtu(nic->packet_mtu);
    if (length <= fits || now - out->host_told < GN_MILLISECOND) return;
    const size_t bytes = gn_too_big_make(packet, length, fits, message);
    if (!bytes) return;
    out->host_told = now;
    const struct iovec vector[2] = {{&virtio, sizeof virtio}, {message, bytes}};
    if (gn_tun_write(&nic->tun, vector, 2)) out->told_too_big++;
}
