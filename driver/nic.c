// SPDX-License-Identifier: Apache-2.0
// A NIC from its opening to its end: opens all parts, starts the threads, serves the control
// socket.
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "driver/host_mtu.h"
#include "driver/metrics.h"
#include "driver/netlink.h"
#include "driver/nic_state.h"
#include "driver/request.h"
#include "driver/stats.h"
#include "host/control.h"
#include "host/ending.h"
#include "host/log.h"
#include "host/metrics.h"
#include "host/notify.h"
#include "host/privilege.h"
#include "host/warn.h"
#include "net/socket.h"

static gn_endpoint listen_on(const gn_nic_config *config)
{
    gn_endpoint listen = config->listen;
    if (!listen.port) listen.port = GN_PORT_DEFAULT;
    if (listen.ip.version) return listen;
    listen.ip.version = 4;
    for (size_t i = 0; i < gn_peers_count(config->peers); i++)
        if (gn_peers_at(config->peers, i)->endpoint.ip.version == 6) listen.ip.version = 6;
    return listen;
}

// In an overlay, a packet to the peer itself must not be routed into the device: it would be
// wrapped for ever.
static gn_status check_loops(const gn_nic *nic, gn_error *error)
{
    char text[GN_ENDPOINT_TEXT];
    for (size_t i = 0; i < gn_peers_count(nic->config.peers); i++) {
        const gn_peer *peer = gn_peers_at(nic->config.peers, i);
        if (nic->config.steer.mode != GN_STEER_OVERLAY || !gn_peers_route(nic->config.peers, &peer->endpoint.ip))
            continue;
        return gn_fail(
            error, GN_INVALID,
            "the address of peer %s lies in an overlay prefix; use --steer to carry the hosts' own addresses",
            gn_endpoint_format(&peer->endpoint, text));
    }
    return GN_OK;
}

static unsigned largest_encapsulation(const gn_peers *peers)
{
    unsigned largest = 0;
    for (size_t i = 0; i < gn_peers_count(peers); i++) {
        const unsigned bytes = gn_wire_encapsulation(gn_peers_at(peers, i));
        if (bytes > largest) largest = bytes;
    }
    return largest;
}

static gn_status check_mtu(const gn_nic_config *config, unsigned wire_mtu, gn_error *error)
{
    const unsigned overhead = largest_encapsulation(config->peers);
    const unsigned least = overhead + GN_SHIM_BYTES + (overhead == 48 ? 1280 : 576);
    char text[GN_ENDPOINT_TEXT];
    if (wire_mtu < least)
        return gn_fail(error, GN_INVALID, "a wire MTU of %u is too small; it must be at least %u", wire_mtu, least);
    const unsigned least6 = overhead + GN_SHIM_BYTES + 1280;
    for (size_t i = 0; i < config->address_count; i++)
        if (config->addresses[i].ip.version == 6 && wire_mtu < least6)
            return gn_fail(error, GN_INVALID,
                           "address %s: IPv6 needs a device MTU of 1280 (RFC 8200), so the wire MTU must be at "
                           "least %u, not %u",
                           gn_prefix_format(&config->addresses[i], text), least6, wire_mtu);
    return GN_OK;
}

gn_status gn_nic_check(const gn_nic_config *config, gn_error *error)
{
    return config->wire_mtu ? check_mtu(config, config->wire_mtu, error) : GN_OK;
}

// Finds the smallest MTU on the way to any peer, and the room that the largest encapsulation
// leaves.
static gn_status find_mtu(gn_nic *nic, gn_error *error)
{
    unsigned smallest = nic->config.wire_mtu;
    char text[GN_ENDPOINT_TEXT];
    gn_status (*const find)(const gn_ip *, uint32_t, gn_path *) =
        gn_steer_is_late(&nic->config.steer) ? gn_path_find_unlearnt : gn_path_find;
    for (size_t i = 0; i < gn_peers_count(nic->config.peers); i++) {
        const gn_peer *peer = gn_peers_at(nic->config.peers, i);
        gn_path path;
        const bool unknown = find(&peer->endpoint.ip, peer->endpoint.scope, &path) != GN_OK;
        if (nic->config.wire_mtu && !unknown && path.mtu < nic->config.wire_mtu)
            gn_warn("--mtu %u: the path to peer %s carries only %u", nic->config.wire_mtu,
                    gn_endpoint_format(&peer->endpoint, text), path.mtu);
        if (nic->config.wire_mtu) continue;
        if (unknown)
            return gn_fail(error, GN_IO, "no route to peer %s (%s); --mtu sets the wire's MTU without asking",
                           gn_endpoint_format(&peer->endpoint, text), strerror(errno));
        if (!smallest || path.mtu < smallest) smallest = path.mtu;
    }
    nic->wire_mtu = smallest > 65535 ? 65535 : smallest;
    nic->packet_mtu = nic->wire_mtu - largest_encapsulation(nic->config.peers);
    nic->wire_mtu_opened = nic->wire_mtu;
    nic->packet_mtu_opened = nic->packet_mtu;
    return check_mtu(&nic->config, nic->wire_mtu, error);
}

static unsigned segments_per_call(const gn_nic *nic)
{
    const unsigned fits = GN_WIRE_BATCH_BYTES / nic->packet_mtu;
    return fits > GN_WIRE_SEGMENTS_MAX ? GN_WIRE_SEGMENTS_MAX : fits;
}

static gn_status open_device(gn_nic *nic, gn_error *error)
{
    const gn_nic_config *config = &nic->config;
    const gn_tun_config device = {
        .name = config->device,
        .existing = config->existing,
        .no_offload = config->no_offload,
        .addresses = config->addresses,
        .address_count = config->address_count,
        .mtu = gn_host_mtu(nic->packet_mtu),
        .queue_length = config->queue_length,
        .gso_max_segments = segments_per_call(nic),
    };
    if (gn_tun_open(&nic->tun, &device, error)) return error->status;
    if (nic->tun.mtu > nic->packet_mtu - GN_SHIM_BYTES)
        return gn_fail(error, GN_INVALID, "%s: its MTU of %u does not fit the wire; as root: ip link set %s mtu %u",
                       nic->tun.name, nic->tun.mtu, nic->tun.name, nic->packet_mtu - GN_SHIM_BYTES);
    // The owner of a persistent device routes to it, too.
    if (config->existing && config->steer.mode == GN_STEER_OVERLAY) return GN_OK;
    return gn_steer_open(&nic->steer, &config->steer, nic->tun.index, config->peers, config->rules, config->rule_count,
                         error);
}

static gn_status open_wire(gn_nic *nic, gn_error *error)
{
    const int family = gn_ip_reaches(&nic->config.listen.ip);
    if (gn_peers_resolve(nic->config.peers, family, error) || gn_nic_check_peers(&nic->config, error))
        return error->status;
    nic->listen = listen_on(&nic->config);
    if (gn_peers_seal(nic->config.peers, nic->listen.ip.version == 4 ? AF_INET : AF_INET6, error)) return error->status;
    if (check_loops(nic, error) || find_mtu(nic, error)) return error->status;
    return gn_wire_open(&nic->wire, &nic->listen,
                        nic->config.buffer_bytes ? nic->config.buffer_bytes : GN_NIC_BUFFER_DEFAULT,
                        gn_steer_is_late(&nic->config.steer), error);
}

static gn_status engine_error(const gn_nic *nic, const gn_error *why, gn_error *error)
{
    return gn_fail(error, GN_INVALID, "engine %s: %.300s", nic->config.engine->name, why->text);
}

static gn_status open_engine(gn_nic *nic, gn_error *error)
{
    const gn_nic_config *config = &nic->config;
    // A capture is to hold packets as they were sent, with their checksums.
    nic->partial = !config->no_offload && !config->pcap_host && config->engine->partial_checksum;
    const gn_engine_config engine = {.rules = config->rules,
                                     .rule_count = config->rule_count,
                                     .flow_capacity = config->flow_capacity,
                                     .bypass = config->bypass,
                                     .no_restore = config->no_restore,
                                     .partial_checksum = nic->partial,
                                     .max_restored = config->max_restored};
    gn_error why;
    if (gn_datapath_open(&nic->datapath, config->engine, &engine, &why)) return engine_error(nic, &why, error);
    nic->out->cut = config->cut;
    gn_rate_set(&nic->out->rate, config->rate, gn_now());
    nic->out->fault = gn_fault_new(&config->fault);
    nic->out->guard = gn_guard_new(nic->tun.name);
    if (!nic->out->fault || !nic->out->guard) return gn_fail_memory(error);
    return GN_OK;
}

// With the rights of whoever starts the NIC. The files keep what they have: with --force they are
// emptied, and a NIC that does not start must not do that.
static gn_status open_captures(gn_nic *nic, gn_error *error)
{
    const gn_nic_config *c = &nic->config;
    if (c->pcap_host && !(nic->pcap_host = gn_capture_new(c->pcap_host, c->overwrite, error))) return error->status;
    if (c->pcap_wire && !(nic->pcap_wire = gn_capture_new(c->pcap_wire, c->overwrite, error))) return error->status;
    return GN_OK;
}

static gn_nic *allocate(const gn_nic_config *config)
{
    gn_nic *nic = calloc(1, sizeof *nic);
    if (!nic) return NULL;
    nic->config = *config;
    nic->tun.fd = nic->wire.fd = nic->stop_event = nic->signals = -1;
    nic->started = gn_now();
    nic->out = calloc(1, sizeof *nic->out);
    nic->in = calloc(1, sizeof *nic->in);
    if (!nic->out || !nic->in) {
        free(nic->out);
        free(nic->in);
        free(nic);
        return NULL;
    }
    pthread_mutex_init(&nic->out->lock, NULL);
    pthread_mutex_init(&nic->in->lock, NULL);
    gn_onward_init(&nic->onward);
    return nic;
}

gn_status gn_nic_open(gn_nic **out, const gn_nic_config *config, gn_error *error)
{
    gn_account account;
    char text[GN_ENDPOINT_TEXT];
    gn_nic *nic = allocate(config);
    if (!nic) {
        gn_peers_free(config->peers);
        return gn_fail_memory(error);
    }
    nic->stop_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (nic->stop_event < 0) {
        gn_fail(error, GN_IO, "eventfd: %s", strerror(errno));
        goto failed;
    }
    if (gn_account_find(&account, config->user, error)) goto failed;
    if (open_wire(nic, error)) goto failed;
    // From here on there is something to remove, so a signal waits until somebody does that.
    nic->signals = gn_ending_open();
    if (nic->signals < 0) {
        gn_fail(error, GN_IO, "signalfd: %s", strerror(errno));
        goto failed;
    }
    if (open_device(nic, error) || open_engine(nic, error)) goto failed;
    if (gn_coalescer_open(&nic->in->coalescer, &nic->tun, &nic->onward)) {
        gn_fail_memory(error);
        goto failed;
    }
    if (config->control && !(nic->control = gn_control_open(config->control, &account, error))) goto failed;
    if (config->metrics.ip.version && !(nic->metrics = gn_metrics_open(&config->metrics, &gn_nic_metrics, error)))
        goto failed;
    if (open_captures(nic, error)) goto failed;
    // A policy rule outlives the device: removing it needs the capability that made it.
    if (gn_privilege_drop(&account, nic->steer.index && (config->existing || config->steer.mode != GN_STEER_OVERLAY),
                          error))
        goto failed;
    gn_log(GN_SEVERITY_DEBUG, "listening on %s, wire MTU %u, as user %u", gn_endpoint_format(&nic->listen, text),
           nic->wire_mtu, (unsigned)geteuid());
    *out = nic;
    return GN_OK;
failed:
    gn_nic_close(nic);
    return error->status;
}

void gn_nic_close(gn_nic *nic)
{
    if (!nic) return;
    gn_privilege_raise_net_admin();
    gn_steer_close(&nic->steer);
    gn_metrics_close(nic->metrics);
    gn_control_close(nic->control);
    gn_tun_close(&nic->tun);
    gn_wire_close(&nic->wire);
    if (nic->stop_event >= 0) close(nic->stop_event);
    if (nic->signals >= 0) close(nic->signals);
    gn_datapath_close(nic->datapath);
    gn_fault_free(nic->out->fault);
    gn_guard_free(nic->out->guard);
    gn_capture_close(nic->pcap_host);
    gn_capture_close(nic->pcap_wire);
    gn_peers_free(nic->config.peers);
    pthread_mutex_destroy(&nic->out->lock);
    pthread_mutex_destroy(&nic->in->lock);
    gn_onward_close(&nic->onward);
    gn_coalescer_close(&nic->in->coalescer);
    free(nic->out);
    free(nic->in);
    free(nic);
}

static char *answer(void *nic, const char *text, size_t length)
{
    gn_log(GN_SEVERITY_DEBUG, "asked on the control socket: %.*s", (int)length, text);
    return gn_nic_request_answer(text, length, nic);
}

static void reload(gn_nic *nic)
{
    gn_notify(GN_NOTICE_RELOADING);
    nic->config.reload(nic->config.reload_context, nic);
    gn_notify(GN_NOTICE_READY);
}

static void serve(gn_nic *nic)
{
    gn_notify(GN_NOTICE_READY);
    while (!atomic_load(&nic->stop)) {
        struct pollfd watched[3 + GN_CONTROL_POLL] = {{.fd = nic->stop_event, .events = POLLIN},
                                                      {.fd = nic->signals, .events = POLLIN},
                                                      {.fd = gn_metrics_fd(nic->metrics), .events = POLLIN}};
        const int timeout = gn_control_prepare(nic->control, watched + 3);
        if (gn_poll(watched, 3 + GN_CONTROL_POLL, timeout) < 0 && errno != EINTR) {
            gn_nic_stop(nic, errno);
            break;
        }
        const gn_ending asked = gn_ending_next(nic->signals, nic->config.reload);
        if (asked == GN_ENDING_NOW) break;
        if (asked == GN_ENDING_RELOAD) reload(nic);
        if (watched[2].revents) gn_metrics_give(nic->metrics, gn_nic_stats(nic));
        gn_control_serve(nic->control, watched + 3, answer, nic);
    }
    gn_notify(GN_NOTICE_STOPPING);
    gn_nic_stop(nic, 0);
}

// Reads the last counters first: lockstep may find a difference in them.
static gn_status check_engine(gn_nic *nic, gn_error *error)
{
    gn_error why;
    gn_datapath_tx_counters(nic->datapath);
    gn_datapath_rx_counters(nic->datapath);
    return gn_datapath_check(nic->datapath, &why) ? engine_error(nic, &why, error) : GN_OK;
}

// The threads move nothing before both are there, and then the captures, which come last.
static gn_status start_threads(gn_nic *nic, pthread_t *out, pthread_t *in, gn_error *error)
{
    gn_capture *const captures[] = {nic->pcap_host, nic->pcap_wire};
    pthread_mutex_lock(&nic->out->lock);
    pthread_mutex_lock(&nic->in->lock);
    const int no_out = pthread_create(out, NULL, gn_out_thread, nic);
    const int no_in = no_out ? no_out : pthread_create(in, NULL, gn_in_thread, nic);
    const gn_status status = no_in ? gn_fail(error, GN_IO, "cannot start a thread: %s", strerror(no_in))
                                   : gn_captures_begin(captures, 2, error);
    if (status) gn_nic_stop(nic, 0);
    pthread_mutex_unlock(&nic->in->lock);
    pthread_mutex_unlock(&nic->out->lock);
    if (status && !no_out) pthread_join(*out, NULL);
    if (status && !no_in) pthread_join(*in, NULL);
    return status;
}

gn_status gn_nic_run(gn_nic *nic, gn_error *error)
{
    pthread_t out, in;
    // The rate limiter sleeps for fractions of a millisecond, where the default slack of 50 us
    // would be an error of 5 %. Threads inherit the slack.
    (void)prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
    if (nic->metrics && gn_metrics_start(nic->metrics, nic->tun.name, error)) return error->status;
    if (start_threads(nic, &out, &in, error)) return error->status;
    serve(nic);
    pthread_join(in, NULL);
    pthread_join(out, NULL);
    if (check_engine(nic, error)) return error->status;
    const int reason = atomic_load(&nic->failure);
    if (reason)
        return gn_fail(error, GN_IO, "%s: %s", nic->tun.name,
                       reason == EBADFD ? "the device has gone" : strerror(reason));
    return GN_OK;
}
