// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_ONWARD_H
#define GRADNIC_DRIVER_ONWARD_H
/// The MTU of ways onward: where a NIC's host forwards packets, and a link behind it is narrower
/// than the device. The host tells the sender so by ICMP ("too big"). That passes the NIC, which
/// remembers it. How long restored packets of GN_CUT_FILL are does not depend on the sender's.
///
/// Threads: any.

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/address.h"

enum {
    GN_ONWARD_WAYS = 4096,    ///< places for destinations; of two with one place the later is known
    GN_ONWARD_S = 600,        ///< how long; Linux' own exceptions live as long
    GN_ONWARD_LEAST4 = 552,   ///< as Linux has it (min_pmtu)
    GN_ONWARD_LEAST6 = 1280,  ///< RFC 8200 5
};

typedef struct gn_onward_way {
    gn_ip to;
    unsigned mtu;
    uint64_t told;
} gn_onward_way;

typedef struct gn_onward {
    pthread_mutex_t lock;
    atomic_bool knows;
    gn_onward_way ways[GN_ONWARD_WAYS];
} gn_onward;

void gn_onward_init(gn_onward *onward);
void gn_onward_close(gn_onward *onward);

/// Notes what the host told. `now` is gn_now(). A number that is too small counts as the least.
void gn_onward_note(gn_onward *onward, const gn_ip *to, unsigned mtu, uint64_t now);

/// Whether anything may be known.
bool gn_onward_knows(gn_onward *onward);

/// @return the MTU of the way to that destination; 0 when none is known
unsigned gn_onward_mtu(gn_onward *onward, const gn_ip *to, uint64_t now);

#endif
