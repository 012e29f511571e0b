// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_AGGREGATE_NET_H
#define GRADNIC_TESTS_AGGREGATE_NET_H
/// Workers and switches under a network that loses, repeats, delays and reorders what it likes. No clock: in each step one of the packets on their way
/// is taken, any of them, and when there is none, time goes on to the next deadline.

#include <stdbool.h>

#include <gradnic/switch.h>
#include <gradnic/worker.h>

enum { NET_WORKERS = 16, NET_SWITCHES = 5, NET_FLIGHTS = 4096, NET_DATAGRAM = 9000 };

typedef struct net_options {
    unsigned leaves;   ///< 1: one switch; more: that many under a root
    unsigned workers;  ///< per leaf
    gn_agg_format format;
    int bound_exp;
    uint16_t slots, packet_values;
    unsigned loss, repeat;  ///< per mille
    uint64_t seed;
} net_options;

typedef struct net_flight {
    int to;         ///< switch number, or -1 - worker
    uint16_t port;  ///< at which it comes in
    size_t bytes;
    uint8_t *data;
} net_flight;

typedef struct net {
    net_options options;
    uint64_t random;
    unsigned ranks, switches;  ///< the root is the last switch
    gn_worker *worker[NET_WORKERS];
    gn_switch sw[NET_SWITCHES];
    void *memory[NET_SWITCHES];
    int64_t now;
    net_flight flight[NET_FLIGHTS];
    unsigned flights;
    uint64_t steps, delivered, lost, repeated, overrun;
    void (*inject)(struct net *);  ///< called now and then; may be NULL
} net;

uint64_t net_random(net *n);
unsigned net_below(net *n, unsigned limit);

void net_open(net *n, const net_options *options);
void net_close(net *n);

/// Every worker sums send[rank] to recv[rank]. Fails the test when it does not end.
void net_allreduce(net *n, float *const *send, float *const *recv, size_t count);

/// Puts a datagram on its way.
void net_put(net *n, int to, uint16_t port, const void *data, size_t bytes);

/// No packets on their way any more: all of them are delivered, without loss.
void net_drain(net *n);

#endif
