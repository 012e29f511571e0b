// SPDX-License-Identifier: Apache-2.0
#include "driver/nic_state.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "net/clock.h"

void gn_nic_wait(const gn_nic *nic, int fd, uint64_t timeout)
{
    struct pollfd watched[2] = {{.fd = nic->stop_event, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    const struct timespec limit = gn_timespec(timeout);
    (void)ppoll(watched, fd < 0 ? 1 : 2, timeout == GN_FOREVER ? NULL : &limit, NULL);
}

void gn_nic_stop(gn_nic *nic, int reason)
{
    const uint64_t one = 1;
    if (reason) atomic_store(&nic->failure, reason);
    atomic_store(&nic->stop, true);
    (void)!write(nic->stop_event, &one, sizeof one);
}

bool gn_nic_stop_if_failed(gn_nic *nic)
{
    if (gn_datapath_check(nic->datapath, NULL) == GN_OK) return false;
    gn_nic_stop(nic, EPROTO);
    return true;
}

const char *gn_nic_device(const gn_nic *nic)
{
    return nic->tun.name;
}

unsigned gn_nic_mtu(const gn_nic *nic)
{
    return nic->tun.mtu;
}

bool gn_nic_comparison(const gn_nic *nic, gn_comparison *comparison)
{
    return gn_datapath_comparison(nic->datapath, comparison);
}
