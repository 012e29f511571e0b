// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_AGGREGATE_NET_H
#define GRADNIC_TESTS_AGGREGATE_NET_H
/// Jobs of workers, parameter servers and switches under a network that loses, repeats, delays, marks and reorders what it likes. No clock: in each step one
/// of the packets on their way is taken, any of them, and when there is none, time goes on to the next deadline.

#include <stdbool.h>

#include <gradnic/ps.h>
#include <gradnic/switch.h>
#include <gradnic/worker.h>

#include "unit/suite.h"

enum { NET_JOBS = 4, NET_WORKERS = 16, NET_SWITCHES = 8, NET_FLIGHTS = 4096, NET_DATAGRAM = 9000 };

typedef struct net_options {
    gn_memory_mode mode;  ///< of the root
    unsigned jobs;        ///< that share the switches
    unsigned leaves;      ///< 1: one switch; more: that many under a root
    unsigned mids;        ///< between leaves and root, as many leaves under each; 0: none
    unsigned workers;     ///< per leaf and job
    unsigned
        share_from;  ///< level from which on switches have the root's mode (which has it always); those below are partitioned
    gn_agg_format format;
    int bound_exp;
    uint16_t slots, packet_values;
    uint16_t array;               ///< slots that all jobs share, in modes shared and preemptive
    unsigned loss, repeat, mark;  ///< per mille
    bool timeless;                ///< no time passes: nobody may have to wait for a timer
    uint64_t seed;
} net_options;

typedef struct net_flight {
    int to;         ///< switch number, or one of NET_TO_
    uint16_t port;  ///< at which it comes in
    size_t bytes;
    uint8_t *data;
} net_flight;

/// Where a packet that is not for a switch goes.
enum { NET_TO_PS = 1000, NET_TO_WORKER = 2000 };

typedef struct net_job {
    uint16_t gen;
    gn_worker *worker[NET_WORKERS];
    gn_ps *ps;                              ///< NULL in mode partitioned
    bool stirred[NET_WORKERS], ps_stirred;  ///< given something since asked what there is to send
    uint64_t steps_left;
} net_job;

/// Where a switch stands. Its children are workers, or the switches from first_child on.
typedef struct net_place {
    unsigned level, parent, bit;  ///< bit: which of its parent's children it is
    unsigned children, first_child;
    gn_memory_mode mode;
    unsigned counts_level, bits;  ///< whose contributions it counts, and how many make a chunk whole
} net_place;

typedef struct net {
    net_options options;
    uint64_t random;
    unsigned ranks, switches;  ///< workers of a job; the root is the last switch
    net_job job[NET_JOBS];
    net_place place[NET_SWITCHES];
    gn_switch sw[NET_SWITCHES];
    void *memory[NET_SWITCHES], *before;  ///< of the switches; for net_remember()
    int64_t now, wake;                    ///< wake: not after anybody's deadline
    net_flight flight[NET_FLIGHTS];
    unsigned flights;
    uint64_t delivered, lost, repeated, overrun;
} net;

uint64_t net_random(net *n);
unsigned net_below(net *n, unsigned limit);

void net_open(net *n, const net_options *options);
void net_close(net *n);

/// All workers of a job, its parameter server and the switches' part of it begin anew, with the next generation. Packets of the old one stay on their way.
void net_restart(net *n, unsigned job);

/// Every worker of the job begins to sum send[rank] to recv[rank].
void net_post(net *n, unsigned job, float *const *send, float *const *recv, size_t count);

bool net_done(const net *n, unsigned job);

/// One packet, or some time. Fails the test when a job does not end.
void net_step(net *n);

/// No packets on their way any more: all of them are delivered, without loss.
void net_drain(net *n);

/// What net_check_shared() wants to know of a switch ahead of a packet, into memory as large as the switch's.
void net_remember(const gn_switch *sw, void *before);

/// What must hold after each packet at a switch that shares its slots; `before` from net_remember().
void net_check_shared(const gn_switch *sw, const void *before, const gn_action *actions, unsigned count);

#endif
