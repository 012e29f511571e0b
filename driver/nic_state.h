// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_NIC_STATE_H
#define GRADNIC_DRIVER_NIC_STATE_H
/// The state of a NIC, which its threads share. Each direction has a lock. The direction's thread
/// holds it while it works on one segment or batch, never while it waits for work. The control
/// thread takes the locks to read counters or to change settings. Whoever needs both takes out's
/// first.

#include <pthread.h>
#include <stdatomic.h>

#include "driver/capture.h"
#include "driver/coalescer.h"
#include "driver/datapath.h"
#include "driver/guard.h"
#include "driver/nic.h"
#include "driver/onward.h"
#include "driver/rate.h"
#include "driver/wire.h"
#include "net/clock.h"

enum {
    /// A thread that finds nothing looks again this often before it sleeps. It gives way to others
    /// in between. To be woken costs more than to look, so a short round trip takes a quarter less.
    GN_PATIENCE = 20,
    GN_BATCH_BYTES = 65536,        ///< one read of either side
    GN_RESTORED_BYTES = 4 * 65536  ///< packets restored but not yet handed over
};

typedef struct gn_out {
    pthread_mutex_t lock;
    gn_rate rate;
    gn_fault *fault;
    gn_cut cut;
    gn_guard *guard;                 ///< asked while config.guard
    uint64_t segments, bytes;        ///< taken from the host, as it handed them over
    uint64_t no_peer;                ///< packets to a destination that no peer has: dropped
    uint64_t not_ip;                 ///< packets that are not whole IP packets: dropped
    uint64_t told_too_big;           ///< ICMP messages to the host about them
    uint64_t uncuttable;             ///< segments that the engine refused: dropped
    uint64_t bad_checksum;           ///< packets that were damaged before they came: as they are
    uint64_t packets, packet_bytes;  ///< IP packets given to the wire, as sent
    uint64_t too_big_seen;           ///< wire.too_big when the paths were last asked
    uint64_t paths_asked;            ///< gn_now() of that
    uint64_t host_told;              ///< gn_now() of the last ICMP message
    gn_wire_counters wire;
    gn_wire_packet outgoing[GN_BURST_PACKETS];
    gn_burst burst;
    uint8_t segment[GN_BATCH_BYTES + 64];
} gn_out;

typedef struct gn_in {
    pthread_mutex_t lock;
    uint64_t batches, datagrams, bytes;  ///< from anyone; bytes as on the link, with all headers
    uint64_t unknown_sender;             ///< datagrams from no peer: dropped
    gn_ip source;                        ///< the last packet's, and the peer it belongs to
    const gn_peer *source_peer;
    gn_peer *answered;  ///< its `asked` is new, and out does not have it yet; NULL: nobody's
    gn_coalescer coalescer;
    uint8_t batch[GN_BATCH_BYTES];
    uint8_t restored[GN_RESTORED_BYTES];
} gn_in;

struct gn_nic {
    gn_nic_config config;
    gn_tun tun;
    gn_wire wire;
    gn_onward onward;
    gn_steer steer;
    gn_endpoint listen;     ///< where the wire hears
    gn_datapath *datapath;  ///< the engine, and what belongs around it
    bool partial;           ///< restored packets leave their checksum to the host
    gn_capture *pcap_host, *pcap_wire;
    unsigned wire_mtu;                            ///< of the underlay
    unsigned packet_mtu;                          ///< of IP packets: less the encapsulation
    unsigned wire_mtu_opened, packet_mtu_opened;  ///< both at the start: never exceeded
    atomic_uint told_mtu;                         ///< by a router, with --steer mark; 0: none
    _Atomic uint64_t told_at;                     ///< gn_now() of that
    struct gn_control *control;                   ///< NULL: none
    struct gn_metrics *metrics;                   ///< NULL: none
    int stop_event;                               ///< eventfd: readable when the threads are to end
    int signals;                                  ///< of gn_ending_open(); -1: not yet
    atomic_bool stop;
    atomic_int failure;  ///< errno of a thread that gave up
    uint64_t started;    ///< gn_now()
    gn_out *out;
    gn_in *in;
};

/// Waits until `fd` is readable (-1: none), the NIC is to stop, or `timeout` nanoseconds have
/// passed (UINT64_MAX: never).
void gn_nic_wait(const gn_nic *nic, int fd, uint64_t timeout);
/// Ends both threads. `reason` is the errno that made it necessary, or 0.
void gn_nic_stop(gn_nic *nic, int reason);
/// Whether the engine has failed for good; then it also ends both threads. To be called when the
/// engine gave nothing.
bool gn_nic_stop_if_failed(gn_nic *nic);

// in.c, out.c

/// Handles one batch of untrusted bytes, which lies in nic->in->batch. Called with in's lock held.
void gn_in_batch(gn_nic *nic, const gn_wire_batch *batch);

/// The threads; the argument is the gn_nic.
void *gn_out_thread(void *nic);
void *gn_in_thread(void *nic);

#endif
