// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_DRIVER_NIC_H
#define GRADNIC_DRIVER_NIC_H
/// A NIC in user space: host <-> TUN device <-> engine <-> UDP <-> peers. It has two threads, `out`
/// (host to wire) and `in` (wire to host). The caller's own thread serves the control socket until
/// a signal ends it.

#include <gradnic/frame.h>

#include "driver/engine.h"
#include "driver/steer.h"
#include "driver/tun.h"
#include "net/fault.h"

enum {
    GN_NIC_ADDRESSES_MAX = 8,
    GN_NIC_QUEUE_DEFAULT = 500,      ///< segments between the host and the NIC
    GN_NIC_BUFFER_DEFAULT = 4 << 20  ///< bytes of the wire's receive buffer; to send: a quarter
};

struct gn_nic;

typedef struct gn_nic_config {
    // Host side.
    const char *device;
    bool existing;  ///< the device is persistent and stays as it is
    bool no_offload;
    gn_prefix addresses[GN_NIC_ADDRESSES_MAX];
    size_t address_count;
    unsigned queue_length;
    gn_steer_config steer;
    // Wire side.
    gn_endpoint listen;  ///< version 0: any address, port GN_PORT_DEFAULT or listen.port
    gn_peers *peers;     ///< not sealed; gn_nic_open() takes it over, whatever it returns
    unsigned wire_mtu;   ///< underlay MTU; 0: the smallest on the way to the peers
    size_t buffer_bytes;
    uint64_t rate;  ///< bits per second; 0: unlimited
    gn_fault_config fault;
    // In between.
    const gn_engine *engine;
    gn_rule rules[GN_RULES_MAX];
    size_t rule_count;
    size_t flow_capacity;
    gn_cut cut;           ///< GN_CUT_FILL only for an engine that takes whole segments
    bool bypass;          ///< nothing is compressed
    bool no_restore;      ///< packets from the wire pass as they are; for the host of a switch
    size_t max_restored;  ///< bytes of the longest packet that is restored; 0: 65535
    bool guard;           ///< flows that do not look like gradients are left alone
    // Around it.
    const char *control;  ///< path of the control socket; NULL: none
    gn_endpoint metrics;  ///< counters over HTTP; version 0: none
    const char *user;     ///< to become after opening; NULL: gn_account_default() if root
    const char *pcap_host, *pcap_wire;
    bool overwrite;  ///< captures that exist already
    /// SIGHUP: called in the thread of gn_nic_run(). NULL: SIGHUP ends the NIC.
    void (*reload)(void *context, struct gn_nic *nic);
    void *reload_context;
} gn_nic_config;

typedef struct gn_nic gn_nic;

/// Refuses a peer that is this NIC itself, unless one of its prefixes has an address of this host:
/// a table of peers may have a line for each host. Names that are not looked up yet are left out.
/// @return GN_OK, GN_INVALID, GN_IO
gn_status gn_nic_check_peers(const gn_nic_config *config, gn_error *error);

/// Refuses what can be seen before anything is opened: a wire's MTU, where one is given, that
/// leaves the device too little.
/// @return GN_OK, GN_INVALID
gn_status gn_nic_check(const gn_nic_config *config, gn_error *error);

/// Opens everything, then gives up all privileges that are no longer needed. To be called from a
/// process with one thread.
gn_status gn_nic_open(gn_nic **nic, const gn_nic_config *config, gn_error *error);
/// Runs until SIGTERM or SIGINT (or SIGHUP, without `reload`), or until a thread fails. Tells the
/// service manager when it is ready (host/notify.h).
gn_status gn_nic_run(gn_nic *nic, gn_error *error);
/// Removes everything that gn_nic_open() made. NULL allowed.
void gn_nic_close(gn_nic *nic);

/// The device's name and the host-facing MTU, for messages.
const char *gn_nic_device(const gn_nic *nic);
unsigned gn_nic_mtu(const gn_nic *nic);
/// What the engine has compared. @return false for an engine that compares nothing
bool gn_nic_comparison(const gn_nic *nic, gn_comparison *comparison);

#endif
