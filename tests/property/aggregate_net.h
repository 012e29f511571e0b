// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TESTS_AGGREGATE_NET_H
#define GRADNIC_TESTS_AGGREGATE_NET_H
/// Jobs of workers, parameter servers and switches under a network. The network loses, repeats,
/// delays, marks and reorders what it likes. There is no clock. Each step is one of these:
/// - One of the packets on their way arrives, any of them.
/// - One of the hosts that have something to send gives one packet, any of them.
///
/// More may have come in before a host sends, as when it is busy or its socket is full. When there
/// is neither packet nor sender, time goes on to the next deadline.

#include <stdbool.h>

#include <gradnic/ps.h>
#include <gradnic/switch.h>
#include <gradnic/worker.h>

#include "unit/suite.h"

enum {
    NET_JOBS = 4,
    NET_WORKERS = 16,
    NET_SEATS,  ///< of a job's hosts: its workers and, last, its parameter server
    NET_PS = NET_SEATS - 1,
    NET_SWITCHES = 8,
    NET_SLOTS = 8,
    NET_FLIGHTS = 4096,
    NET_DATAGRAM = 9000,
    NET_HOLD = 1000,  ///< steps that a host may keep a packet that it could send
    NET_SLOW = 17     ///< a slow packet is overtaken for less than 2^NET_SLOW steps
};

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
    unsigned slow;                ///< per mille: packets that many others overtake
    unsigned pace;                ///< per mille: how often a host sends ahead of a packet's arrival; 1000: always
    bool timeless;                ///< no time passes: nobody may have to wait for a timer
    uint64_t packets;             ///< when these have arrived, no more vectors begin
    uint64_t seed;
} net_options;

typedef struct net_flight {
    int to;          ///< switch number, or NET_TO_HOST and on
    uint16_t port;   ///< at which it comes in
    uint64_t until;  ///< step from which on it is taken like others; before, hardly
    size_t bytes;
    uint8_t *data;
} net_flight;

/// Where a packet that is not for a switch goes: job * NET_SEATS + seat from here on.
enum { NET_TO_HOST = 1000 };

typedef struct net_job {
    uint16_t gen;
    gn_worker *worker[NET_WORKERS];
    gn_ps *ps;              ///< NULL in mode partitioned
    bool ready[NET_SEATS];  ///< may have something to send: is in net.ready
    bool busy[NET_SEATS];   ///< has turns more seldom than others
    uint64_t latest[NET_SEATS]
                   [NET_SLOTS];  ///< for net_check_sent(): of which chunk, and what of it, each has sent last
    uint64_t steps_left;
} net_job;

/// A host whose turn to send is to come.
typedef struct net_turn {
    uint8_t job, seat;
    uint64_t since;  ///< in steps
} net_turn;

/// What a test may want to know to have happened.
typedef struct net_account {
    uint64_t lost, repeated, overrun, restarts;
    uint64_t between;     ///< packets that came to a host whose turn to send had yet to come
    uint64_t fallbacks;   ///< chunks summed in binary32, at all workers
    uint64_t told_again;  ///< sums in binary32 that were asked for again
} net_account;

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
    int64_t now, wake;                    ///< wake: not after anybody's deadline who is not in `ready`
    net_flight flight[NET_FLIGHTS];
    unsigned flights;
    net_turn ready[NET_JOBS * NET_SEATS];  ///< who has waited for longest is first
    unsigned ready_count;
    uint64_t steps, delivered;
    net_account account;
} net;

uint64_t net_random(net *n);
unsigned net_below(net *n, unsigned limit);

void net_open(net *n, const net_options *options);
void net_close(net *n);

/// All workers of a job, its parameter server and the switches' part of it begin anew, with the
/// next generation. Packets of the old one stay on their way.
void net_restart(net *n, unsigned job);

/// A worker of the job begins to sum.
void net_post(net *n, unsigned job, unsigned rank, const float *send, float *recv, size_t count);

/// Whether nothing is on its way, and nobody has anything to send before a deadline.
bool net_idle(const net *n);

/// One packet arrives or is sent, or some time passes. Fails the test when a job does not end.
void net_step(net *n);

/// No packets on their way any more, nor any to be sent: all of them are delivered, without loss.
void net_drain(net *n);

/// A packet that a host sends.
void net_check_sent(net *n, unsigned job, unsigned seat, const void *datagram, size_t bytes);

/// Remembers what net_check_shared() wants to know of a switch before a packet. `before` is as
/// large as the switch's memory.
void net_remember(const gn_switch *sw, void *before);

/// Checks what must hold after each packet at a switch that shares its slots. `before` comes from
/// net_remember().
void net_check_shared(const gn_switch *sw, const void *before, const gn_action *actions, unsigned count);

#endif
