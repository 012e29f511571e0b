// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <unistd.h>

#include "driver/nic_private.h"

static bool ended(const gn_nic *nic)
{
    return atomic_load_explicit(&nic->stop, memory_order_relaxed);
}

static bool is_split(const gn_nic *nic)
{
    return atomic_load(&nic->share.split);
}

// Nothing was found for the `looked`th time. @return whether to look again before going to sleep: not when giving way took
// long, for then others want this core, and who sleeps is given it back sooner than who gives way.
static bool look_again(unsigned *looked)
{
    if (*looked >= GN_PATIENCE) return false;
    const uint64_t before = gn_now();
    sched_yield();
    *looked = gn_now() - before > GN_PATIENCE_NS ? GN_PATIENCE : *looked + 1;
    return true;
}

// As much of host to wire as lies between two batches from the wire. @return as gn_out_step(); 0 when it sent something.
static uint64_t out_steps(gn_nic *nic, bool *readable)
{
    uint64_t wait = gn_out_step(nic, readable);
    if (wait) return wait;
    for (unsigned i = 1; i < GN_OUT_STEPS && !wait; i++) wait = gn_out_step(nic, readable);
    return 0;
}

void *gn_first_thread(void *argument)
{
    gn_nic *nic = argument;
    const uint64_t one = 1;
    unsigned looked = 0;
    while (!ended(nic)) {
        size_t bytes;
        bool readable = false;
        const bool split = is_split(nic), heard = gn_in_step(nic, &bytes);
        const uint64_t wait = split ? UINT64_MAX : out_steps(nic, &readable);
        if (heard || !wait) {
            looked = 0;
            if (gn_share_round(&nic->share, bytes) && !split) (void)!write(nic->call_event, &one, sizeof one);
        } else if (!(split || readable) || !look_again(&looked)) {
            gn_nic_wait(nic, nic->wire.fd, readable ? nic->tun.fd : -1, wait);
        }
    }
    return NULL;
}

static void wait_for_call(const gn_nic *nic)
{
    uint64_t calls;
    gn_nic_wait(nic, nic->call_event, -1, UINT64_MAX);
    (void)!read(nic->call_event, &calls, sizeof calls);
}

void *gn_second_thread(void *argument)
{
    gn_nic *nic = argument;
    unsigned looked = 0;
    while (!ended(nic)) {
        if (!is_split(nic)) {
            wait_for_call(nic);
            continue;
        }
        bool readable;
        const uint64_t wait = gn_out_step(nic, &readable);
        if (!wait)
            looked = 0;
        else if (!readable || !look_again(&looked))
            gn_nic_wait(nic, readable ? nic->tun.fd : -1, -1, wait);
    }
    return NULL;
}
